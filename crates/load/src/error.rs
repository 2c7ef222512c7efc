//! Why there is nothing measured.

use crate::Fault;
use rustix::io::Errno;
use std::fmt::Debug;

/// Why there is nothing measured. Failures of single requests in a run are counted in [`Measured`](crate::Measured) instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be read.
    #[error("`{url}` is no URL to measure: {why}; write it as http://127.0.0.1:8080/path")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The URL leads to another machine.
    #[error(
        "{host} is {address}, which is not this machine; load goes to loopback addresses only, unless you may load that host and say so \
         (`--i-own-this-host`)"
    )]
    NotLoopback {
        /// The host of the URL.
        host: String,
        /// What it stands for.
        address: std::net::IpAddr,
    },
    /// A setting is out of its range.
    #[error("{what} is {is}; give {range}")]
    Setting {
        /// Which.
        what: &'static str,
        /// What was given.
        is: String,
        /// What may be given.
        range: String,
    },
    /// The first exchange failed: nothing was measured.
    #[error("{url}: {fault}; {}", fault.mend())]
    FirstExchange {
        /// What was asked for.
        url: String,
        /// How it failed.
        fault: Fault,
    },
    /// The connections could not be opened.
    #[error(
        "connection {number} of {of} to {address} could not be opened: {source}; {}",
        connect_mend(source)
    )]
    Connect {
        /// Which, from 1.
        number: usize,
        /// How many were wanted.
        of: usize,
        /// Where to.
        address: std::net::SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The system refused what the generator itself needs.
    #[error("{doing}: {source}{}", lack_mend(source).map_or(String::new(), |mend| format!("; {mend}")))]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

fn connect_mend(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::ConnectionRefused => "start the server, or mend its port",
        std::io::ErrorKind::TimedOut => {
            "the server's backlog is full: let it accept, or ask for fewer connections"
        }
        _ => lack_mend(source).unwrap_or(FILES_MEND),
    }
}

const FILES_MEND: &str = "ask for fewer connections, or raise the limit of open files (ulimit -n)";

/// What helps where the generator itself, or its machine, has too little for another connection; `None` for every other error.
pub(crate) fn lack_mend(source: &std::io::Error) -> Option<&'static str> {
    Some(match Errno::from_io_error(source)? {
        Errno::MFILE => FILES_MEND,
        Errno::NFILE => {
            "ask for fewer connections, or raise the machine's limit of open files (sysctl fs.file-max)"
        }
        Errno::ADDRNOTAVAIL => "this machine has no port left: wait a minute, or use keep-alive",
        Errno::NOBUFS | Errno::NOMEM => "ask for fewer connections, or give the system more memory",
        Errno::NOSPC => {
            "ask for fewer connections, or raise what epoll may watch (sysctl fs.epoll.max_user_watches)"
        }
        _ => return None,
    })
}

/// Whether a connection is lacking by the generator's fault or its machine's, whatever the server does.
pub(crate) fn is_own_lack(why: Errno) -> bool {
    lack_mend(&why.into()).is_some()
}

impl Error {
    pub(crate) fn setting(what: &'static str, is: impl Debug, range: impl Into<String>) -> Error {
        Error::Setting {
            what,
            is: format!("{is:?}"),
            range: range.into(),
        }
    }

    /// For `map_err` at a system call.
    pub(crate) fn system<E: Into<std::io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
        move |source| Error::System {
            doing,
            source: source.into(),
        }
    }
}

//! Reasons for a missing measurement.

use crate::Fault;
use rustix::io::Errno;
use std::fmt::Debug;

/// Reason for a missing measurement. Failures of single requests in a run are counted in
/// [`Measured`](crate::Measured) instead.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL cannot be read.
    #[error("`{url}` is no URL to measure: {why}; write it as http://127.0.0.1:8080/path")]
    Url {
        /// The URL as given.
        url: String,
        /// Fault of the URL.
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
        /// Address of the host.
        address: std::net::IpAddr,
    },
    /// No address of the host takes a connection.
    #[error("{url}: no connection ({tried}); start the server, or mend its address")]
    Unreachable {
        /// Requested URL.
        url: String,
        /// Each address, and the system's error for it.
        tried: String,
    },
    /// A request cannot be sent so.
    #[error("{what} cannot be sent: {why}")]
    Request {
        /// The part of it.
        what: String,
        /// Reason and advice.
        why: String,
    },
    /// A setting is out of its range.
    #[error("{what} is {is}; give {range}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// Given value.
        is: String,
        /// Permitted values.
        range: String,
    },
    /// The first exchange failed: nothing was measured.
    #[error("{url}: {fault}; {}", fault.help())]
    FirstExchange {
        /// Requested URL.
        url: String,
        /// Fault of the exchange.
        fault: Fault,
    },
    /// The connections could not be opened.
    #[error(
        "connection {number} of {of} to {address} could not be opened: {source}; {}",
        connect_help(source)
    )]
    Connect {
        /// Number of the connection, from 1.
        number: usize,
        /// Number of wanted connections.
        of: usize,
        /// Address of the connection.
        address: std::net::SocketAddr,
        /// Cause.
        source: std::io::Error,
    },
    /// The system refused a resource that the generator itself needs.
    #[error("{doing}: {source}{}", lack_help(source).map_or(String::new(), |help| format!("; {help}")))]
    System {
        /// Failed action.
        doing: &'static str,
        /// Cause.
        source: std::io::Error,
    },
}

fn connect_help(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::ConnectionRefused => "start the server, or mend its port",
        std::io::ErrorKind::TimedOut => {
            "the server's backlog is full: let it accept, or ask for fewer connections"
        }
        _ => lack_help(source).unwrap_or(FILES_MEND),
    }
}

const FILES_MEND: &str = "ask for fewer connections, or raise the limit of open files (ulimit -n)";

/// Returns the remedy if the generator or its machine lacks a resource for another connection;
/// `None` for every other error.
pub(crate) fn lack_help(source: &std::io::Error) -> Option<&'static str> {
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

/// Checks whether a connection is missing by the generator's fault or its machine's, independent of
/// the server.
pub(crate) fn is_own_lack(why: Errno) -> bool {
    lack_help(&why.into()).is_some()
}

impl Error {
    pub(crate) fn setting(what: &'static str, is: impl Debug, range: impl Into<String>) -> Error {
        Error::Setting {
            what,
            is: format!("{is:?}"),
            range: range.into(),
        }
    }

    /// Returns a function for `map_err` at a system call.
    pub(crate) fn system<E: Into<std::io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Error {
        move |source| Error::System {
            doing,
            source: source.into(),
        }
    }
}

//! Starts the processes of a session, hands on what they write, passes signals, and says how they ended.
//!
//! Each process gets its [`LaunchInfo`](antiphon_panda::platform::LaunchInfo) in its environment. The first one reads our standard input, the others none. A process that fails does not
//! end the others: they are told by the platform that it is lost, and go on where the platform survives that. Nothing outlives us, in whatever way we end: each process
//! has a keeper of the `runner`.
//!
//! ```no_run
//! use antiphon_launch::{Launch, Over};
//!
//! let running = Launch::new(Over::Shm, 4, "./replicated-counter").start()?;
//! let outcome = running.to_end(|line| println!("{line:?}"))?;
//! std::process::exit(outcome.exit_code());
//! # Ok::<(), antiphon_launch::LaunchError>(())
//! ```

mod bootstrap;
mod hosts;
mod lines;
mod mpirun;
mod outcome;
mod remote;
mod running;

pub use bootstrap::Over;
pub use lines::Line;
pub use outcome::{Ended, Outcome};
pub use running::{Running, Signals};

use antiphon_panda::platform::RegistryError;
use antiphon_panda::platform::udp::Faults;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to start.
#[derive(Clone, Debug)]
pub struct Launch {
    over: Over,
    count: u32,
    program: OsString,
    args: Vec<OsString>,
    hosts: Option<PathBuf>,
    faults: Option<Faults>,
    silence: Option<Duration>,
    joinable: Option<String>,
}

/// Why the processes were not started, or not followed to their end.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is nothing to start.
    #[error("a session has at least one process: say how many with -n")]
    Nobody,
    /// Other hosts were asked for where they cannot be had.
    #[error(
        "{over} is memory of this host: use `--over tcp`, `--over udp` or `--over mpi` to reach others, or leave --hosts out"
    )]
    Hosts {
        /// The platform's name.
        over: &'static str,
    },
    /// The file that names the hosts cannot be read, or a host is not known.
    #[error("{}{why}", file.display())]
    HostsFile {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where in it.
        why: String,
    },
    /// There is nothing to reach other hosts by.
    #[error(
        "there is no `{command}`, which starts processes on other hosts: install it (apt-get install openssh-client), or name another command in ANTIPHON_SSH"
    )]
    NoSsh {
        /// What was to be called.
        command: String,
    },
    /// Faults of a network were asked for where there is none.
    #[error("{over} has no network that could be bad: faults are for `--over udp`")]
    Faults {
        /// The platform's name.
        over: &'static str,
    },
    /// A session over Open MPI was to be joined by hand.
    #[error(
        "only mpirun starts processes of a session over mpi, so nobody can join it by hand: use shm, tcp or udp, or leave --joinable out"
    )]
    Joinable,
    /// The session cannot be made to be found.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Open MPI is not installed.
    #[error(
        "there is no `mpirun`, which starts programs over Open MPI: install it (apt-get install openmpi-bin libopenmpi3)"
    )]
    NoMpi,
    /// The place where processes meet could not be made.
    #[error("cannot make a session over {over}: {source}")]
    Session {
        /// The platform's name.
        over: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A process was not started, or not followed to its end.
    #[error(transparent)]
    Process(#[from] antiphon_runner::Error),
}

impl Launch {
    /// A program as `count` processes over a platform.
    pub fn new(over: Over, count: u32, program: impl AsRef<OsStr>) -> Self {
        Self {
            over,
            count,
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            hosts: None,
            faults: None,
            silence: None,
            joinable: None,
        }
    }

    /// Adds arguments of the program.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A file that names the hosts, one on each line, with `slots=N` behind it for more than one process: as `mpirun --hostfile` reads it. For all platforms but
    /// [`Over::Shm`]. `mpirun` reaches the hosts in its own way, else it is `ssh`, or what the variable `ANTIPHON_SSH` names. Sockets are bound to the addresses of the
    /// hosts and to no others. Processes on other hosts read no standard input.
    #[must_use]
    pub fn hosts(mut self, file: Option<impl AsRef<Path>>) -> Self {
        self.hosts = file.map(|file| file.as_ref().to_owned());
        self
    }

    /// A network that loses, doubles and delays datagrams. For [`Over::Udp`].
    #[must_use]
    pub fn faults(mut self, faults: Option<Faults>) -> Self {
        self.faults = faults;
        self
    }

    /// How long a process may be silent before others take it for lost, whatever the program says.
    #[must_use]
    pub fn silence(mut self, silence: Option<Duration>) -> Self {
        self.silence = silence;
        self
    }

    /// Lets processes that this user starts by hand join the session by a name, while it runs: see
    /// [`Registry`](antiphon_panda::platform::Registry). For all platforms but [`Over::Mpi`].
    #[must_use]
    pub fn joinable(mut self, name: Option<impl Into<String>>) -> Self {
        self.joinable = name.map(Into::into);
        self
    }

    /// Starts the processes. If one cannot be started, those that were are ended.
    ///
    /// # Errors
    /// What is missing or was not permitted, with the mend.
    pub fn start(&self) -> Result<Running, LaunchError> {
        if self.count == 0 {
            return Err(LaunchError::Nobody);
        }
        let over = self.over.name();
        if self.hosts.is_some() && self.over == Over::Shm {
            return Err(LaunchError::Hosts { over });
        }
        if self.faults.is_some() && self.over != Over::Udp {
            return Err(LaunchError::Faults { over });
        }
        if self.joinable.is_some() && self.over == Over::Mpi {
            return Err(LaunchError::Joinable);
        }
        match self.over {
            Over::Mpi => mpirun::start(self),
            _ => running::start(self),
        }
    }
}

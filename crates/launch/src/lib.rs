//! The launcher of a session's processes: it starts them, hands on their output, passes signals,
//! and reports how they ended.
//!
//! Each process gets its [`LaunchInfo`](antiphon_panda::platform::LaunchInfo) in its environment.
//! The first one reads the launcher's standard input, the others none. A failed process does not
//! end the others. The platform tells them that it is lost, and they go on where the platform
//! survives that. No process outlives the launcher, in whatever way that ends: each has a keeper of
//! the `runner`.
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
use antiphon_runner::limit_of;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The settings of a session to start.
#[derive(Clone, Debug)]
pub struct Launch {
    over: Over,
    count: u32,
    program: OsString,
    args: Vec<OsString>,
    hosts: Option<PathBuf>,
    begins_here: bool,
    faults: Option<Faults>,
    silence: Option<Duration>,
    joinable: Option<String>,
    is_marked: bool,
    is_quiet: bool,
    start_limit: Duration,
}

/// Default time that a command may take to start a process on another host.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Reason why the processes were not started, or not followed to their end.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is nothing to start.
    #[error("a session has at least one process: say how many with -n")]
    Nobody,
    /// Other hosts were asked for over a platform that cannot reach them.
    #[error(
        "{over} is memory of this host: use `--over tcp`, `--over udp` or `--over mpi` to reach others, or leave --hosts out"
    )]
    Hosts {
        /// The platform's name.
        over: &'static str,
    },
    /// The file that names the hosts cannot be read.
    #[error("{}: {source}; name a file with one host on a line", file.display())]
    NoHostsFile {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file that names the hosts has a fault, or a host is not known.
    #[error("{}{why}", file.display())]
    HostsFile {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where in the file.
        why: String,
    },
    /// There is no command that reaches other hosts.
    #[error(
        "there is no `{command}`, which starts processes on other hosts: install it (apt-get install openssh-client), or name another command in ANTIPHON_SSH"
    )]
    NoSsh {
        /// The command.
        command: String,
    },
    /// Faults of a network were asked for over a platform without one.
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
    /// The session cannot be announced.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Open MPI is not installed.
    #[error(
        "there is no `mpirun`, which starts programs over Open MPI: install it (apt-get install openmpi-bin libopenmpi3)"
    )]
    NoMpi,
    /// The bootstrap could not be made.
    #[error("cannot make a session over {over}: {source}{}", limit_of(.source))]
    Session {
        /// The platform's name.
        over: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The system starts no more threads, of which each process has one here.
    #[error("cannot follow a process: {source}{}", limit_of(.source))]
    NoThread {
        /// What the system said.
        source: io::Error,
    },
    /// A process was not started, or not followed to its end.
    #[error(transparent)]
    Process(#[from] antiphon_runner::Error),
}

impl Launch {
    /// Makes the settings of a program as `count` processes over a platform.
    pub fn new(over: Over, count: u32, program: impl AsRef<OsStr>) -> Self {
        Self {
            over,
            count,
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            hosts: None,
            begins_here: false,
            faults: None,
            silence: None,
            joinable: None,
            is_marked: true,
            is_quiet: false,
            start_limit: START_LIMIT,
        }
    }

    /// Adds arguments of the program.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a file that names the hosts, one on each line, as `mpirun --hostfile` reads it.
    /// `slots=N` behind a name allows more than one process.
    ///
    /// It applies to all platforms but [`Over::Shm`]. `mpirun` reaches the hosts in its own way,
    /// otherwise `ssh` does, or the command in the variable `ANTIPHON_SSH`. Sockets are bound to
    /// the hosts' addresses and to no others. Processes on other hosts read no standard input, and
    /// get the variables `ANTIPHON_*` of this process.
    #[must_use]
    pub fn hosts(mut self, file: Option<impl AsRef<Path>>) -> Self {
        self.hosts = file.map(|file| file.as_ref().to_owned());
        self
    }

    /// Sets whether the first process is on this host, also if the file of hosts does not name this
    /// host first. `mpirun` keeps to the file.
    #[must_use]
    pub fn begins_here(mut self, begins_here: bool) -> Self {
        self.begins_here = begins_here;
        self
    }

    /// Sets the faults of a network that loses, doubles and delays datagrams. For [`Over::Udp`].
    #[must_use]
    pub fn faults(mut self, faults: Option<Faults>) -> Self {
        self.faults = faults;
        self
    }

    /// How long a process may be silent before others take it for lost, whatever the program says.
    /// Where this is not given, more than 16 processes a processor get more time than others.
    #[must_use]
    pub fn silence(mut self, silence: Option<Duration>) -> Self {
        self.silence = silence;
        self
    }

    /// Sets how long `ssh`, or the command in `ANTIPHON_SSH`, may take to start a process on
    /// another host. The default is a minute. Then it is killed.
    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }

    /// Lets processes that this user starts by hand join the running session by a name: see
    /// [`Registry`](antiphon_panda::platform::Registry). For all platforms but [`Over::Mpi`].
    #[must_use]
    pub fn joinable(mut self, name: Option<impl Into<String>>) -> Self {
        self.joinable = name.map(Into::into);
        self
    }

    /// Sets whether lines name their ranks where `mpirun` starts the processes. Its marks break a line
    /// that is written in several pieces.
    #[must_use]
    pub fn marked(mut self, is_marked: bool) -> Self {
        self.is_marked = is_marked;
        self
    }

    /// Has `mpirun` say nothing of a process that fails. It then says nothing of a program that is
    /// not there either.
    #[must_use]
    pub fn quiet(mut self, is_quiet: bool) -> Self {
        self.is_quiet = is_quiet;
        self
    }

    /// Starts the processes. If one cannot be started, the others are ended.
    ///
    /// # Errors
    ///
    /// The error says what is missing or was refused, and what to do about it.
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

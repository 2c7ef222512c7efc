//! Who starts processes for a session that runs: whoever started the session, if it [holds](Starter::hold) a starter, else the process that wants them.
//!
//! `antiphon launch` holds one while a session runs, so that what is spawned is its child as all others are: its output is marked, its end is told, it does not outlive the
//! command, and it may outlive the process that wanted it. Under no launch a spawned process is a child of its spawner, writes where that writes, and ends with it.
//!
//! A request is one connection. Its ends prove to each other that they know the session's secret. It says
//! [what to start](SpawnRequest); ends of processes come back until it says which are kept. A connection
//! that closes before that takes all of them back. Or it says whom to signal, and is told whether that was
//! done.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use antiphon_runner::{End, Signaller, signal_name};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::platform::acceptor::{self, Acceptor};
use crate::platform::bootstrap::{read, write};
use crate::platform::handshake::{self, Purpose};
use crate::platform::{Rank, Secret};

mod here;
mod spawn_request;

pub(crate) use here::start_here;
pub(crate) use spawn_request::Request;
pub use spawn_request::{SpawnRequest, is_this_host};

/// How long a process may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is said of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// It could not be started or signalled, and why.
    Failed(Rank, String),
    /// It has ended: how, and the last that it wrote to its standard error.
    Ended(Rank, String, String),
    /// It was sent the signal.
    Signalled,
}

/// The processes that are to be kept: said when it is known which have joined.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Keep(pub Vec<Rank>);

/// Called when a process has ended, with the last that it wrote to its standard error.
pub type OnEnd = Box<dyn FnOnce(&End, &str) + Send>;

/// Why a process was not started, or not signalled.
pub type NotStarted = Box<dyn std::error::Error + Send + Sync>;

/// What a starter can do with processes of its session.
pub trait Processes: Send + Sync {
    /// Starts what a request says as one of its ranks, and says how it may be signalled.
    ///
    /// # Errors
    /// Why not, in words with the place and the mend.
    fn start(
        &self,
        request: &SpawnRequest,
        rank: Rank,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted>;

    /// Sends a signal to the process group of a process that was started, and never to another process
    /// that has its number since.
    ///
    /// # Errors
    /// The process has ended, or was not started here.
    fn signal(&self, rank: Rank, signal: Signal) -> Result<(), NotStarted>;
}

/// A signal, by its number on this host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signal(i32);

impl Signal {
    /// Hangs up; to many programs it says to read their settings again.
    pub const HUP: Self = Self(libc::SIGHUP);
    /// Interrupts, as Ctrl-C does.
    pub const INT: Self = Self(libc::SIGINT);
    /// Ends a process with a core dump.
    pub const QUIT: Self = Self(libc::SIGQUIT);
    /// Kills a process, which cannot keep that from happening.
    pub const KILL: Self = Self(libc::SIGKILL);
    /// Means what the program says.
    pub const USR1: Self = Self(libc::SIGUSR1);
    /// Means what the program says.
    pub const USR2: Self = Self(libc::SIGUSR2);
    /// Asks a process to end.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// Has a stopped process go on.
    pub const CONT: Self = Self(libc::SIGCONT);
    /// Stops a process, which cannot keep that from happening.
    pub const STOP: Self = Self(libc::SIGSTOP);
    /// Asks a process to stop, as Ctrl-Z does.
    pub const TSTP: Self = Self(libc::SIGTSTP);

    /// The signal of a number; none if the system has no such signal.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        (1..=libc::SIGRTMAX())
            .contains(&number)
            .then_some(Self(number))
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&signal_name(self.0))
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The last that a process wrote to its standard error.
#[derive(Debug, Default)]
pub struct LastWords(Vec<u8>);

impl LastWords {
    /// Bytes that are kept.
    const MOST: usize = 2048;

    /// Takes what the process writes.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(Self::MOST)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(Self::MOST);
        self.0.drain(..excess);
        self.0.extend_from_slice(bytes);
    }

    /// What is kept, as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// A place where the processes of a session have more of them started; it ends when this is dropped.
#[derive(Debug)]
pub struct Starter {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

/// What a starter goes by.
struct Dispatcher {
    secret: Secret,
    processes: Arc<dyn Processes>,
    /// A request that was overheard and is said again has nobody started.
    were_started: Mutex<BTreeSet<Rank>>,
    /// Nor signalled.
    were_sent: Mutex<HashSet<u128>>,
}

impl Starter {
    /// Holds a starter at an address of this host for the processes that know the secret.
    ///
    /// # Errors
    /// The address is none of this host's, no port or thread is left.
    pub fn hold(
        address: IpAddr,
        secret: Secret,
        processes: Arc<dyn Processes>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((address, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let acceptor = Arc::new(Acceptor::new(secret, Purpose::Starter, 0));
        let dispatcher = Arc::new(Dispatcher {
            secret,
            processes,
            were_started: Mutex::default(),
            were_sent: Mutex::default(),
        });
        std::thread::Builder::new()
            .name("panda starter".into())
            .spawn(move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::Acquire) {
                        return;
                    }
                    let (Ok(stream), acceptor, dispatcher) =
                        (stream, acceptor.clone(), dispatcher.clone())
                    else {
                        acceptor::pause();
                        continue;
                    };
                    let stream = Arc::new(stream);
                    acceptor.admit(&stream);
                    // Without a thread the asker sees its connection close.
                    let _ = std::thread::Builder::new().spawn(move || {
                        if acceptor.knows(&stream) {
                            let _ = dispatcher.serve(&stream);
                        }
                    });
                }
            })?;
        Ok(Self { address, is_over })
    }

    /// Where it listens, for [`LaunchInfo::starter`](crate::platform::LaunchInfo::starter) of the session's processes.
    #[must_use]
    pub fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        drop(TcpStream::connect(self.address));
    }
}

/// Connects to the starter at an address, which proves to be this session's.
pub(crate) fn reach(address: &str, (secret, own): (Secret, Rank)) -> io::Result<TcpStream> {
    let purpose = Purpose::Starter;
    let stream = handshake::connect(address, secret, purpose, own, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

impl Dispatcher {
    /// Serves one request.
    fn serve(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        match Request::receive(self.secret, &mut stream)? {
            Request::Spawn(request) => self.spawn(&request, stream),
            Request::Signal {
                rank,
                signal,
                number,
            } => {
                if !self.were_sent.lock().insert(number) {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                let report = match self.processes.signal(rank, signal) {
                    Ok(()) => Report::Signalled,
                    Err(error) => Report::Failed(rank, error.to_string()),
                };
                write(&mut stream, &report)
            }
        }
    }

    fn spawn(&self, request: &SpawnRequest, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(None)?;
        let answers = Arc::new(Mutex::new(stream.try_clone()?));
        let tell = {
            // Once it is known which are kept nobody wants to hear of ends.
            let answers: Weak<Mutex<TcpStream>> = Arc::downgrade(&answers);
            move |report: Report| {
                if let Some(answers) = answers.upgrade() {
                    let _ = write(&mut *answers.lock(), &report);
                }
            }
        };
        let started = request.carry_out(
            |rank, on_end| match self.were_started.lock().insert(rank) {
                true => self.processes.start(request, rank, on_end),
                false => Err(format!("rank {rank} was started before").into()),
            },
            &tell,
        );
        let kept = read::<Keep>(&mut stream).map_or_else(|_| Vec::new(), |keep| keep.0);
        started.kill_all_but(&kept);
        Ok(())
    }
}

/// Asks the starter at an address to signal a process.
///
/// # Errors
/// The starter cannot be reached. The inner one: why the process was not signalled.
pub(crate) fn ask_to_signal(
    address: &str,
    (secret, own): (Secret, Rank),
    rank: Rank,
    signal: Signal,
) -> io::Result<Result<(), String>> {
    let mut number = [0; 16];
    getrandom::fill(&mut number).map_err(|e| io::Error::other(e.to_string()))?;
    let mut stream = reach(address, (secret, own))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = Request::Signal {
        rank,
        signal,
        number: u128::from_le_bytes(number),
    };
    request.send(secret, &mut stream)?;
    Ok(match read::<Report>(&mut stream)? {
        Report::Signalled => Ok(()),
        Report::Failed(_, why) | Report::Ended(_, why, _) => Err(why),
    })
}

/// Processes that may be taken back.
pub(crate) struct Started(Vec<(Rank, Arc<Signaller>)>);

impl Started {
    pub fn kill_all_but(&self, kept: &[Rank]) {
        for (_, process) in self.0.iter().filter(|(rank, _)| !kept.contains(rank)) {
            process.signal(Signal::KILL.number());
        }
    }
}

impl SpawnRequest {
    /// Starts the processes; says of each that fails or ends.
    pub(crate) fn carry_out(
        &self,
        start: impl Fn(Rank, OnEnd) -> Result<Arc<Signaller>, NotStarted>,
        tell: &(impl Fn(Report) + Clone + Send + 'static),
    ) -> Started {
        let mut started = Vec::new();
        for &rank in &self.ranks {
            let tell_end = tell.clone();
            let on_end = Box::new(move |end: &End, words: &str| {
                tell_end(Report::Ended(rank, end.to_string(), words.into()));
            });
            match start(rank, on_end) {
                Ok(process) => started.push((rank, process)),
                Err(error) => tell(Report::Failed(rank, error.to_string())),
            }
        }
        Started(started)
    }
}

//! Starting processes for a running session. The session's launcher does it if it
//! [holds](Starter::hold) a starter. Otherwise the process that asks does it itself.
//!
//! `antiphon launch` holds a starter while a session runs, so that spawned processes are its
//! children like all others. Their output is marked, their end is reported, they do not outlive the
//! command, and they may outlive their spawner. Without a launcher a spawned process is a child of
//! its spawner, writes where that writes, and ends with it.
//!
//! A request is one connection. Its ends prove to each other that they know the session's secret.
//!
//! To spawn, the client sends [what to start](SpawnRequest), and the starter reports when that is
//! done. Then the client sends the ranks that are kept. Reports of ends come back until the
//! connection closes. If it closes before the kept ranks were sent, all processes are ended.
//!
//! To signal, the client sends the rank and the signal, and the starter reports whether it was
//! done.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
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

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A report about a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// It could not be started or signalled, and why.
    Failed(Rank, String),
    /// It has ended: how, and the last bytes that it wrote to its standard error.
    Ended(Rank, String, String),
    /// All processes that could be started have been.
    AllStarted,
    /// The signal was sent.
    Signalled,
}

/// The processes that are kept: sent when it is known which have joined.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Keep(pub Vec<Rank>);

/// Called when a process has ended, with the last bytes that it wrote to its standard error.
pub type OnEnd = Box<dyn FnOnce(&End, &str) + Send>;

/// Why a process was not started, or not signalled.
pub type NotStarted = Box<dyn std::error::Error + Send + Sync>;

/// The operations of a starter on processes of its session.
pub trait Processes: Send + Sync {
    /// Starts the requested program as one of its ranks, and returns how to signal it.
    ///
    /// # Errors
    /// The process cannot be started. The error says why and where, and how to fix it.
    fn start(
        &self,
        request: &SpawnRequest,
        rank: Rank,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted>;

    /// Sends a signal to the process group of a process that was started. It never signals another
    /// process that has since got its number.
    ///
    /// # Errors
    /// The process has ended, or was not started here.
    fn signal(&self, rank: Rank, signal: Signal) -> Result<(), NotStarted>;
}

/// A signal, by its number on this host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signal(i32);

impl Signal {
    /// Hangs up. Many programs read their settings again.
    pub const HUP: Self = Self(libc::SIGHUP);
    /// Interrupts, as Ctrl-C does.
    pub const INT: Self = Self(libc::SIGINT);
    /// Ends a process with a core dump.
    pub const QUIT: Self = Self(libc::SIGQUIT);
    /// Kills a process, which cannot prevent it.
    pub const KILL: Self = Self(libc::SIGKILL);
    /// Means what the program says.
    pub const USR1: Self = Self(libc::SIGUSR1);
    /// Means what the program says.
    pub const USR2: Self = Self(libc::SIGUSR2);
    /// Asks a process to end.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// Continues a stopped process.
    pub const CONT: Self = Self(libc::SIGCONT);
    /// Stops a process, which cannot prevent it.
    pub const STOP: Self = Self(libc::SIGSTOP);
    /// Asks a process to stop, as Ctrl-Z does.
    pub const TSTP: Self = Self(libc::SIGTSTP);

    /// Returns the signal with a number, or `None` if the system has no such signal.
    #[must_use]
    pub fn from_number(number: i32) -> Option<Self> {
        (1..=libc::SIGRTMAX())
            .contains(&number)
            .then_some(Self(number))
    }

    /// Returns its number.
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

/// The last bytes that a process wrote to its standard error.
#[derive(Debug, Default)]
pub struct LastWords(Vec<u8>);

impl LastWords {
    /// Bytes that are kept.
    const MOST: usize = 2048;

    /// Adds bytes that the process wrote.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(Self::MOST)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(Self::MOST);
        self.0.drain(..excess);
        self.0.extend_from_slice(bytes);
    }

    /// Returns the kept bytes as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// A server that starts more processes of a session. It ends when this is dropped.
#[derive(Debug)]
pub struct Starter {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

/// The state of a starter.
struct Dispatcher {
    secret: Secret,
    processes: Arc<dyn Processes>,
    /// Ranks that were started, so that a replayed request starts no process again.
    were_started: Mutex<BTreeSet<Rank>>,
    /// Numbers of signal requests that were served, so that a replayed one has no effect.
    were_sent: Mutex<HashSet<u128>>,
}

impl Starter {
    /// Holds a starter at an address of this host for the processes that know the secret.
    ///
    /// # Errors
    /// The address is none of this host's, or no port or thread is left.
    pub fn hold(
        address: IpAddr,
        secret: Secret,
        processes: Arc<dyn Processes>,
    ) -> io::Result<Self> {
        let listener = acceptor::listen((address, 0).into())?;
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
                    // Without a thread the client sees its connection close.
                    let _ = std::thread::Builder::new().spawn(move || {
                        if acceptor.caller(&stream).is_some() {
                            let _ = dispatcher.serve(&stream);
                        }
                    });
                }
            })?;
        Ok(Self { address, is_over })
    }

    /// Returns its address, for [`LaunchInfo::starter`](crate::platform::LaunchInfo::starter) of
    /// the session's processes.
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

/// Connects to the starter at an address, which must prove that it is this session's.
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
            // Once the client has hung up, no reports of ends are needed.
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
        tell(Report::AllStarted);
        let kept = read::<Keep>(&mut stream).map_or_else(|_| Vec::new(), |keep| keep.0);
        started.kill_all_but(&kept);
        // The client sends nothing more. The read ends when it hangs up.
        let _ = read::<Keep>(&mut stream);
        Ok(())
    }
}

/// Asks the starter at an address to signal a process.
///
/// # Errors
/// The starter cannot be reached. The inner error says why the process was not signalled.
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
        Report::AllStarted => Err("the starter answers another question".into()),
    })
}

/// Started processes that may still be ended again.
pub(crate) struct Started(Vec<(Rank, Arc<Signaller>)>);

impl Started {
    pub fn kill_all_but(&self, kept: &[Rank]) {
        for (_, process) in self.0.iter().filter(|(rank, _)| !kept.contains(rank)) {
            process.signal(Signal::KILL.number());
        }
    }
}

impl SpawnRequest {
    /// Starts the processes, and reports each that fails or ends.
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

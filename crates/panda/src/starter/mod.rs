//! Who starts processes for a session that runs: whoever started the session, if it [holds](Starter::hold) a starter, else the process that wants them.
//!
//! `antiphon launch` holds one while a session runs, so that what is spawned is its child as all others are: its output is marked, its end is told, it does not outlive the
//! command, and it may outlive the process that wanted it. Under no launch a spawned process is a child of its spawner, writes where that writes, and ends with it.
//!
//! A request is one connection. Its ends prove to each other that they know the session's secret; it says [what to start](SpawnRequest); ends of processes come back
//! until it says that all have joined. A connection that closes before that takes them back.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use antiphon_runner::{End, Signaller};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::platform::acceptor::{self, Acceptor};
use crate::platform::bootstrap::{read, write};
use crate::platform::handshake::{self, Purpose};
use crate::platform::{LaunchInfo, Rank, Secret};

mod here;
mod spawn_request;

pub(crate) use here::start_here;
pub use spawn_request::SpawnRequest;

/// How long a process may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is said of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// It could not be started.
    Failed(Rank, String),
    /// It has ended.
    Ended(Rank, String),
}

/// Said when all have joined: the processes are to be kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Keep;

/// Called when a process has ended.
pub type OnEnd = Box<dyn FnOnce(&End) + Send>;

/// Why a process was not started.
pub type NotStarted = Box<dyn std::error::Error + Send + Sync>;

/// Starts what a request says as one of its ranks, and says how it may be signalled.
pub type Start = dyn Fn(&SpawnRequest, Rank, OnEnd) -> Result<Signaller, NotStarted> + Send + Sync;

/// A place where the processes of a session have more of them started; it ends when this is dropped.
#[derive(Debug)]
pub struct Starter {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

/// What a starter goes by.
struct Dispatcher {
    secret: Secret,
    start: Arc<Start>,
    /// A request that was overheard and is said again has nobody started.
    were_started: Mutex<BTreeSet<Rank>>,
}

impl Starter {
    /// Holds a starter at an address of this host for the processes that know the secret.
    ///
    /// # Errors
    /// The address is none of this host's, no port or thread is left.
    pub fn hold(address: IpAddr, secret: Secret, start: Arc<Start>) -> io::Result<Self> {
        let listener = TcpListener::bind((address, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let acceptor = Arc::new(Acceptor::new(secret, Purpose::Starter, 0));
        let dispatcher = Arc::new(Dispatcher {
            secret,
            start,
            were_started: Mutex::default(),
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

    /// Where it listens, for [`LaunchInfo::starter`] of the session's processes.
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
pub(crate) fn reach(address: &str, info: &LaunchInfo) -> io::Result<TcpStream> {
    let (secret, purpose) = (info.secret, Purpose::Starter);
    let stream = handshake::connect(address, secret, purpose, info.rank, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

impl Dispatcher {
    /// Serves one request.
    fn serve(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = SpawnRequest::receive(self.secret, &mut stream)?;
        stream.set_read_timeout(None)?;
        let answers = Arc::new(Mutex::new(stream.try_clone()?));
        let tell = {
            // Once all have joined nobody wants to hear of ends.
            let answers: Weak<Mutex<TcpStream>> = Arc::downgrade(&answers);
            move |report: Report| {
                if let Some(answers) = answers.upgrade() {
                    let _ = write(&mut *answers.lock(), &report);
                }
            }
        };
        let started = request.carry_out(
            |rank, on_end| match self.were_started.lock().insert(rank) {
                true => (self.start)(&request, rank, on_end),
                false => Err(format!("rank {rank} was started before").into()),
            },
            &tell,
        );
        if read::<Keep>(&mut stream).is_err() {
            started.kill();
        }
        Ok(())
    }
}

/// Processes that may be taken back.
pub(crate) struct Started(Vec<Signaller>);

impl Started {
    pub fn kill(&self) {
        const SIGKILL: i32 = 9;
        self.0.iter().for_each(|process| process.signal(SIGKILL));
    }
}

impl SpawnRequest {
    /// Starts the processes; says of each that fails or ends.
    pub(crate) fn carry_out(
        &self,
        start: impl Fn(Rank, OnEnd) -> Result<Signaller, NotStarted>,
        tell: &(impl Fn(Report) + Clone + Send + 'static),
    ) -> Started {
        let mut started = Vec::new();
        for &rank in &self.ranks {
            let tell_end = tell.clone();
            let on_end = Box::new(move |end: &End| tell_end(Report::Ended(rank, end.to_string())));
            match start(rank, on_end) {
                Ok(process) => started.push(process),
                Err(error) => {
                    tell(Report::Failed(rank, error.to_string()));
                    break;
                }
            }
        }
        Started(started)
    }
}

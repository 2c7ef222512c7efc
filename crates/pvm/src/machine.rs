//! A virtual machine that this process founds or serves.
//!
//! The founding process has rank 0. It holds the bootstrap, starts the processes that tasks spawn,
//! forwards their output, and answers requests. So there is no daemon: the machine ends with this
//! process, which stays until the others have ended. If it is killed, each child's keeper ends the
//! child.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use antiphon_panda::platform::{
    self, Joinable, LaunchInfo, Registry, RegistryError, Secret, shm, udp,
};
use antiphon_panda::starter::{
    LastWords, NotStarted, OnEnd, Processes, Signal, SpawnRequest, Starter, is_this_host,
};
use antiphon_panda::{Error, Message, Rank, Session, WeakSession};
use antiphon_runner::{End, Forwarding, Signaller, Stream};
use parking_lot::{Condvar, Mutex};

use crate::daemon::Daemon;
use crate::protocol::{
    LEAVING, LEGACY, Legacy, MACHINE, News, OUTPUT, Output, Request, SIGNAL, Sink, WAITING,
};
use crate::tid::Tid;

/// How long a task may be silent before it counts as lost. The end of a task is noticed at once.
pub const SILENCE: Duration = Duration::from_secs(30);
/// How long tasks have between the signal that asks them to end and the one that kills them.
const GRACE: Duration = Duration::from_secs(1);
/// How often to check whether all tasks wait.
const LOOK: Duration = Duration::from_millis(500);
/// The longest part of a line that is forwarded at once, in bytes.
const LINE_MAX: usize = 64 << 10;

/// The destination of lines that no task catches.
pub type Outlet = Box<dyn Fn(Tid, &[u8]) + Send + Sync>;

/// Why a machine was not founded.
#[derive(Debug, thiserror::Error)]
pub enum FoundError {
    /// A machine of this name already runs.
    #[error(transparent)]
    Taken(RegistryError),
    /// The system lacks something.
    #[error("cannot make a virtual machine: {0}")]
    System(#[from] std::io::Error),
    /// The session did not begin.
    #[error(transparent)]
    Session(#[from] Error),
}

/// Returns the name by which the machine of this user is found, or the one in `PVM_VMID`.
#[must_use]
pub fn name() -> String {
    match std::env::var("PVM_VMID") {
        Ok(id) if !id.is_empty() => format!("pvm-{id}"),
        _ => "pvm".into(),
    }
}

/// A virtual machine, at the process that serves it.
pub struct Machine {
    shared: Arc<Shared>,
    joinable: Mutex<Option<Joinable>>,
    /// Held while the machine runs.
    _starter: Option<Starter>,
}

/// The variable that names the platform between the processes of a machine: `shm`, `tcp` or `udp`.
const OVER: &str = "ANTIPHON_PVM_OVER";

/// The bootstrap of a machine's processes.
enum Bootstrap {
    Shm(shm::Bootstrap),
    Tcp(platform::Bootstrap),
    Udp(udp::Bootstrap),
}

impl Bootstrap {
    /// Makes a bootstrap for this process and later ones, which only this host can reach.
    fn new(secret: Secret) -> std::io::Result<Self> {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let over = std::env::var(OVER).unwrap_or_default();
        match over.as_str() {
            "" | "shm" => shm::Bootstrap::new(1, secret).map(Self::Shm),
            "tcp" => platform::Bootstrap::hold(loopback, 1, secret).map(Self::Tcp),
            "udp" => udp::Bootstrap::at(loopback, 1, secret).map(Self::Udp),
            other => Err(std::io::Error::other(format!(
                "{OVER}={other}: give shm, tcp or udp"
            ))),
        }
    }

    fn launch_info(&self) -> LaunchInfo {
        match self {
            Self::Shm(bootstrap) => bootstrap.launch_info(0),
            Self::Tcp(bootstrap) => bootstrap.launch_info("tcp", 0),
            Self::Udp(bootstrap) => bootstrap.launch_info(0),
        }
    }

    /// Records that a process has ended, so that later processes do not look for it.
    fn ended(&self, rank: Rank) {
        match self {
            // Over shared memory the processes see it themselves.
            Self::Shm(_) => {}
            Self::Tcp(bootstrap) => bootstrap.ended(rank),
            Self::Udp(bootstrap) => bootstrap.ended(rank),
        }
    }
}

struct Shared {
    daemon: Mutex<Daemon>,
    children: Mutex<BTreeMap<Rank, Arc<Signaller>>>,
    /// Signals that a process has ended.
    news: Condvar,
    session: OnceLock<WeakSession>,
    /// The ends of processes that were started here without a parent.
    ends: Arc<Mutex<BTreeMap<Tid, End>>>,
    /// The launch info of one process and the bootstrap, for a machine that was founded here.
    info: Option<(LaunchInfo, Bootstrap)>,
    outlet: Outlet,
}

impl Shared {
    fn new(info: Option<(LaunchInfo, Bootstrap)>, outlet: Outlet) -> Arc<Self> {
        Arc::new(Self {
            daemon: Mutex::default(),
            children: Mutex::default(),
            news: Condvar::new(),
            session: OnceLock::new(),
            ends: Arc::default(),
            info,
            outlet,
        })
    }
}

impl Machine {
    /// Founds a machine of this host. If it has a name, processes that the user starts by hand find
    /// it.
    ///
    /// # Errors
    /// A machine of this name already runs, or the system lacks something.
    pub fn found(name: Option<&str>, outlet: Outlet) -> Result<(Self, Session), FoundError> {
        let secret = Secret::fresh()?;
        let bootstrap = Bootstrap::new(secret)?;
        let info = LaunchInfo {
            silence: Some(SILENCE),
            ..bootstrap.launch_info()
        };
        let shared = Shared::new(Some((info.clone(), bootstrap)), outlet);
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let children = Arc::new(Children(shared.clone()));
        let starter = Starter::hold(loopback, secret, children)?;
        let info = LaunchInfo {
            starter: Some(starter.address()),
            ..info
        };
        let registry = name.and_then(|name| Some((Registry::of_user().ok()?, name)));
        let joinable = match registry.map(|(registry, name)| registry.announce(name, &info)) {
            Some(Ok(joinable)) => Some(joinable),
            Some(Err(taken @ RegistryError::Taken(_))) => return Err(FoundError::Taken(taken)),
            // Without a private folder the machine serves this program alone.
            Some(Err(_)) | None => None,
        };
        let session = platform::join(&info)?;
        shared.serve(&session)?;
        let machine = Self {
            shared,
            joinable: Mutex::new(joinable),
            _starter: Some(starter),
        };
        Ok((machine, session))
    }

    /// Serves a session that another program has started, as its process of rank 0. The caller
    /// reports the processes that have [ended](Self::ended).
    ///
    /// # Errors
    /// The session is over.
    pub fn serve(session: &Session) -> Result<Self, Error> {
        let shared = Shared::new(None, Box::new(|_, _| {}));
        shared.daemon.lock().founded(session.size());
        shared.serve(session)?;
        Ok(Self {
            shared,
            joinable: Mutex::new(None),
            _starter: None,
        })
    }

    /// Calls `act` with the machine's state.
    pub fn with_daemon<R>(&self, act: impl FnOnce(&mut Daemon) -> R) -> R {
        act(&mut self.shared.daemon.lock())
    }

    /// Records that a process has ended.
    pub fn ended(&self, rank: Rank) {
        self.shared.ended(rank);
    }

    /// Returns the ends of processes that were started here without a parent.
    #[must_use]
    pub fn ends(&self) -> Arc<Mutex<BTreeMap<Tid, End>>> {
        self.shared.ends.clone()
    }

    /// Refuses further processes from now on.
    pub fn close(&self) {
        self.joinable.lock().take();
    }

    /// Waits until no process runs but this one. If all tasks wait for messages and no sender is
    /// left, it ends them.
    pub fn wait(&self) {
        let mut before = None;
        loop {
            let mut daemon = self.shared.daemon.lock();
            let others = |daemon: &Daemon| daemon.running().filter(|rank| *rank != 0).collect();
            let mut running: Vec<Rank> = others(&daemon);
            if running.is_empty() {
                return;
            }
            if !self.shared.news.wait_for(&mut daemon, LOOK).timed_out() {
                before = None;
                continue;
            }
            running = others(&daemon);
            drop(daemon);
            let waiting = self.shared.waiting(&running);
            if waiting.is_some() && waiting == before {
                let count = running.len();
                let tasks = if count == 1 {
                    "task waits"
                } else {
                    "tasks wait"
                };
                eprintln!(
                    "libpvm: {count} {tasks} for messages that nobody is left to send: ended"
                );
                self.shared.end_tasks();
                before = None;
            } else {
                before = waiting;
            }
        }
    }

    /// Ends all tasks but this process: first by a request, and after a grace period by force.
    pub fn end_tasks(&self) {
        self.shared.end_tasks();
    }
}

impl Shared {
    /// Serves requests of the machine from now on.
    fn serve(self: &Arc<Self>, session: &Session) -> Result<(), Error> {
        let _ = self.session.set(session.downgrade());
        let shared = self.clone();
        session.serve(MACHINE, move |call| {
            let Ok(request) = call.payload.value::<Request>() else {
                return;
            };
            let reply = call.reply;
            let is_enrolling = match request {
                Request::Enrol { pid, .. } => Some(pid),
                _ => None,
            };
            let mut daemon = shared.daemon.lock();
            daemon.handle(
                call.from,
                request,
                Box::new(move |answer| {
                    if let Ok(answer) = Message::of(&answer) {
                        reply.send(answer);
                    }
                }),
            );
            if daemon.is_halting() {
                let shared = shared.clone();
                thread::spawn(move || shared.halt());
            }
            let news = daemon.take_news();
            drop(daemon);
            shared.spread(news);
            if let Some(pid) = is_enrolling {
                shared.watch(call.from, pid);
            }
        })
    }

    /// Watches for the end of a process on this host that another program has started.
    fn watch(self: &Arc<Self>, rank: Rank, pid: u32) {
        let is_ours = self.info.is_none() || self.children.lock().contains_key(&rank);
        if rank == 0 || is_ours {
            return;
        }
        let shared = self.clone();
        let watcher = thread::Builder::new().name(format!("pvm watch {rank}"));
        // Without a thread the task counts as running until the machine ends.
        let _ = watcher.spawn(move || {
            wait_for_end(pid);
            shared.ended(rank);
        });
    }

    fn ended(&self, rank: Rank) {
        if let Some((_, bootstrap)) = &self.info {
            bootstrap.ended(rank);
        }
        let news = {
            let mut daemon = self.daemon.lock();
            daemon.ended(rank);
            daemon.take_news()
        };
        self.news.notify_all();
        self.spread(news);
    }

    /// Sends messages to tasks. The daemon's lock is not held, because a send may wait.
    fn spread(&self, news: Vec<(Rank, News)>) {
        let Some(session) = self.session.get().and_then(|weak| weak.upgrade().ok()) else {
            return;
        };
        for (to, news) in news {
            if let Ok(news) = Message::of(&news) {
                // The task may have ended.
                let _ = session.port(LEAVING).send(to, 0, news);
            }
        }
    }

    /// Returns the numbers of messages that tasks have received, if all of them wait.
    fn waiting(&self, ranks: &[Rank]) -> Option<Vec<(Rank, u64)>> {
        let session = self.session.get().and_then(|weak| weak.upgrade().ok())?;
        let asked = |rank: &Rank| {
            let answer = session.call(*rank, WAITING, Message::new(), Some(GRACE));
            let (waits, received) = answer.ok()?.value::<(bool, u64)>().ok()?;
            waits.then_some((*rank, received))
        };
        ranks.iter().map(asked).collect()
    }

    fn end_tasks(&self) {
        let others = |daemon: &Daemon| daemon.running().filter(|rank| *rank != 0).collect();
        for signal in [Signal::TERM, Signal::KILL] {
            let running: Vec<Rank> = others(&self.daemon.lock());
            for &rank in &running {
                let child = self.children.lock().get(&rank).cloned();
                match child {
                    Some(child) => child.signal(signal.number()),
                    None => self.ask_to_end(rank, signal),
                }
            }
            let until = std::time::Instant::now() + GRACE;
            let mut daemon = self.daemon.lock();
            while daemon.running().any(|rank| rank != 0) {
                if self.news.wait_until(&mut daemon, until).timed_out() {
                    break;
                }
            }
        }
    }

    /// Makes a process that was not started here signal itself.
    fn ask_to_end(&self, rank: Rank, signal: Signal) {
        let session = self.session.get().and_then(|weak| weak.upgrade().ok());
        if let (Some(session), Ok(number)) = (session, Message::of(&signal.number())) {
            let _ = session.call(rank, SIGNAL, number, Some(GRACE));
        }
    }

    /// Ends the machine, and this process with it.
    fn halt(&self) {
        self.end_tasks();
        // SAFETY: `kill` and `getpid` take numbers and touch no memory of ours.
        unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
    }

    /// Forwards a process's output.
    fn write(&self, tid: Tid, sink: Sink, output: Output) {
        if let Sink::Task(to) = sink {
            let session = self.session.get().and_then(|weak| weak.upgrade().ok());
            let is_there = |session: &Session| session.why_lost(to).is_none();
            if let Some(session) = session.filter(is_there)
                && let Ok(message) = Message::of(&(tid, &output))
                && session.port(OUTPUT).send(to, 0, message).is_ok()
            {
                return;
            }
        }
        if let Output::Line(line) = output {
            (self.outlet)(tid, &line);
        }
    }
}

/// The operations of the session's starter.
struct Children(Arc<Shared>);

impl Processes for Children {
    fn start(
        &self,
        request: &SpawnRequest,
        rank: Rank,
        on_end: OnEnd,
    ) -> Result<Arc<Signaller>, NotStarted> {
        if let Some(host) = request.host.as_deref().filter(|host| !is_this_host(host)) {
            return Err(format!("this machine has no host `{host}`").into());
        }
        let (info, _) = (self.0.info.as_ref()).ok_or("this machine starts no processes")?;
        let info = LaunchInfo {
            rank,
            name: format!("rank {rank}"),
            parent: Some(request.parent),
            starter: request.starter.clone(),
            ..info.clone()
        };
        let legacy = request.environment.iter().find(|(name, _)| name == LEGACY);
        let legacy = legacy.and_then(|(_, value)| Legacy::from_text(value.to_str()?));
        let sink = legacy.map_or(Sink::Machine, |legacy| legacy.sink);
        let parent = legacy.map_or(Tid(0), |legacy| legacy.parent);
        let started = request.start(&info).and_then(|process| {
            let signaller = Arc::new(process.signaller()?);
            Ok((process, signaller))
        });
        // Its siblings may already wait for it.
        let (process, signaller) = started.inspect_err(|_| self.0.ended(rank))?;
        self.0.children.lock().insert(rank, signaller.clone());
        let name = Path::new(&request.program).file_name().unwrap_or_default();
        let tid = {
            let mut daemon = self.0.daemon.lock();
            daemon.started(rank, parent, &name.to_string_lossy(), &request.ranks);
            daemon.tid(rank)
        };
        let shared = self.0.clone();
        let follower = thread::Builder::new().name(format!("pvm output {rank}"));
        let has_parent = parent != Tid(0);
        follower.spawn(move || {
            shared.follow(process, (rank, tid), sink, |end, words| {
                if !has_parent {
                    shared.ends.lock().insert(tid, *end);
                }
                on_end(end, words);
            });
        })?;
        Ok(signaller)
    }

    fn signal(&self, rank: Rank, signal: Signal) -> Result<(), NotStarted> {
        let child = self.0.children.lock().get(&rank).cloned();
        let child = child.ok_or("it has ended, or was started by hand")?;
        child.signal(signal.number());
        Ok(())
    }
}

impl Shared {
    /// Forwards a process's output, line by line, until it ends.
    fn follow(
        &self,
        process: Forwarding,
        (rank, tid): (Rank, Tid),
        sink: Sink,
        on_end: impl FnOnce(&End, &str),
    ) {
        self.write(tid, sink, Output::Begin);
        let mut words = LastWords::default();
        let (mut output, mut error) = (Vec::new(), Vec::new());
        let ended = process.to_end(|stream, bytes| {
            let begun = match stream {
                Stream::Output => &mut output,
                Stream::Error => {
                    words.push(bytes);
                    &mut error
                }
            };
            begun.extend_from_slice(bytes);
            while let Some(line) = take_line(begun) {
                self.write(tid, sink, Output::Line(line));
            }
        });
        for rest in [output, error] {
            if !rest.is_empty() {
                self.write(tid, sink, Output::Line(rest));
            }
        }
        self.children.lock().remove(&rank);
        self.write(tid, sink, Output::End);
        // A wait for the last task must find its end recorded.
        if let Ok((end, _)) = ended {
            on_end(&end, &words.text());
        }
        self.ended(rank);
    }
}

/// Removes the first whole line, without its end, or the longest part that is forwarded at once.
fn take_line(begun: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = begun.iter().position(|byte| *byte == b'\n');
    match end {
        Some(end) => {
            let rest = begun.split_off(end + 1);
            let mut line = std::mem::replace(begun, rest);
            line.pop();
            Some(line)
        }
        None if begun.len() > LINE_MAX => Some(std::mem::take(begun)),
        None => None,
    }
}

/// Waits until a process of this host has ended.
fn wait_for_end(pid: u32) {
    // SAFETY: the call takes numbers, and gives a new descriptor or none.
    let opened = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let Ok(descriptor @ 0..) = libc::c_int::try_from(opened) else {
        return;
    };
    // SAFETY: the descriptor is new, and nobody else's.
    let process = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut awaited = libc::pollfd {
        fd: process.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        // SAFETY: it points to one structure, which lives until the call returns.
        let ready = unsafe { libc::poll(&raw mut awaited, 1, -1) };
        let is_interrupted =
            ready < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted;
        if !is_interrupted {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_whole() {
        let mut begun = b"one\ntwo".to_vec();
        assert_eq!(take_line(&mut begun), Some(b"one".to_vec()));
        assert_eq!(take_line(&mut begun), None);
        begun.extend_from_slice(b"\n");
        assert_eq!(take_line(&mut begun), Some(b"two".to_vec()));
        begun = vec![b'x'; LINE_MAX + 1];
        assert_eq!(
            take_line(&mut begun).map(|line| line.len()),
            Some(LINE_MAX + 1)
        );
    }
}

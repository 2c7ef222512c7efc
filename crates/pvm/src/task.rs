//! This process's part of a virtual machine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use antiphon_panda::platform::RegistryError;
use antiphon_panda::starter::Signal;
use antiphon_panda::{Error, Message, PeerEvent, Port, Rank, Session};
use parking_lot::Mutex;

use crate::buffer::{Buffer, Encoding, Info, Lease};
use crate::code::Code;
use crate::machine::{FoundError, Machine, SILENCE, name};
use crate::notify::Notices;
use crate::protocol::{
    Answer, HOST, LEAVING, LEGACY, Legacy, MACHINE, MESSAGES, News, Request, SIGNAL, Sink, WAITING,
};
use crate::receive::{note_received, waiting, while_waiting};
use crate::tid::Tid;

/// How often to look for a machine that appears or ends at the same time.
const TRIES: u32 = 50;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a process waits for the serving process to begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a task polls for the end of a lease on its arrays: a few times what copying them takes.
/// No message announces the end.
const LENT_SPIN: Duration = Duration::from_micros(500);
/// How often it polls after that.
const LENT_LOOK: Duration = Duration::from_millis(1);

/// The variable that marks a process of a session.
const RANK: &str = "ANTIPHON_RANK";

/// Bytes before a message: context, wait id, encoding, source.
const HEADER: usize = 16;

/// This process's part of a virtual machine.
pub struct Task {
    pub session: Session,
    pub messages: Port,
    pub tid: Tid,
    /// Its spawner, or why there is none.
    pub parent: Result<Tid, Code>,
    /// The inherited context.
    pub context: c_int,
    /// The destination of its children's output, unless it catches it.
    pub sink: Sink,
    pub notices: Arc<Mutex<Notices>>,
    /// The machine, if this process serves it.
    pub machine: Option<Arc<Machine>>,
    peers: Arc<Mutex<Peers>>,
    /// Whether another program has started the session, such as `antiphon launch`.
    pub is_guest: bool,
    has_left: AtomicBool,
    /// The process number: a forked child is not part of the machine.
    pid: u32,
}

/// The state of spawned tasks, as this process knows it.
#[derive(Default)]
struct Peers {
    /// Tasks that the session can reach, or could before.
    met: BTreeSet<Rank>,
    /// Messages for tasks that have yet to begin, in the order of sending, with their tags.
    early: BTreeMap<Rank, Vec<(u32, Message)>>,
}

impl Peers {
    /// Records that the session can reach a task, and returns the messages that wait for it.
    fn meet(&mut self, rank: Rank) -> Vec<(u32, Message)> {
        self.met.insert(rank);
        self.early.remove(&rank).unwrap_or_default()
    }
}

/// Why this process cannot enrol.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    /// The session cannot be joined.
    #[error(transparent)]
    Session(#[from] Error),
    /// A machine cannot be made.
    #[error(transparent)]
    Found(#[from] FoundError),
    /// The serving process does not answer.
    #[error("the virtual machine does not answer as it should")]
    NoAnswer,
}

impl Task {
    /// Enrols in the machine that this process was started in, in the one that runs for its user,
    /// or in a new one.
    ///
    /// # Errors
    /// The process cannot enrol.
    pub fn enrol() -> Result<Self, EnrolError> {
        // The serving process reuses its session.
        if let Some(former) = kept().filter(|task| task.machine.is_some()) {
            let (session, machine) = (former.session.clone(), former.machine.clone());
            return Self::of(session, machine, None, former.peers.clone());
        }
        let (session, machine) = enter()?;
        let legacy = std::env::var(LEGACY).ok();
        let legacy = legacy.and_then(|text| Legacy::from_text(&text));
        // Processes that this one starts by other means are not part of the session.
        for variable in [RANK, LEGACY] {
            // SAFETY: the library is called by one thread at a time, and the session's threads read
            // no environment.
            unsafe { std::env::remove_var(variable) };
        }
        Self::of(session, machine, legacy, Arc::default())
    }

    /// Makes the part of a process in a session that it has joined.
    ///
    /// # Errors
    /// The machine does not answer.
    fn of(
        session: Session,
        machine: Option<Arc<Machine>>,
        legacy: Option<Legacy>,
        peers: Arc<Mutex<Peers>>,
    ) -> Result<Self, EnrolError> {
        serve_signals(&session)?;
        session.serve(WAITING, |call| {
            if let Ok(answer) = Message::of(&waiting()) {
                call.reply.send(answer);
            }
        })?;
        let notices = Arc::new(Mutex::new(Notices::default()));
        let left = (notices.clone(), peers.clone(), session.downgrade());
        session.port(LEAVING).on_message(move |arrived| {
            let (notices, peers, session) = &left;
            let mut notices = notices.lock();
            match arrived.payload.value::<News>() {
                Ok(News::NeverBegan(rank)) => {
                    peers.lock().early.remove(&rank);
                    notices.left(rank, session);
                }
                Ok(News::HostAdded(host)) => notices.host_added(host, session),
                Ok(News::HostDeleted(host)) => notices.host_deleted(host, session),
                Err(_) => notices.left(arrived.from, session),
            }
        })?;
        let parent = match (session.parent(), legacy) {
            (Some(_), Some(Legacy { parent: Tid(0), .. })) => Err(Code::PARENT_NOT_SET),
            (Some(_), Some(legacy)) => Ok(legacy.parent),
            _ => Err(Code::NO_PARENT),
        };
        let added = std::env::var(HOST).ok().filter(|host| !host.is_empty());
        let own = || std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = added.unwrap_or_else(own);
        let request = Request::Enrol {
            pid: std::process::id(),
            host: host.trim().to_owned(),
            parent: parent.unwrap_or(Tid(0)),
        };
        let Answer::Enrolled { host, is_guest } = ask_first(&session, &request)? else {
            return Err(EnrolError::NoAnswer);
        };
        let task = Self {
            messages: session.port(MESSAGES),
            tid: Tid::of(host, session.rank()),
            parent,
            context: legacy.map_or(0, |legacy| legacy.context),
            sink: legacy.map_or(Sink::Machine, |legacy| legacy.sink),
            session,
            notices,
            machine,
            peers,
            is_guest,
            has_left: AtomicBool::new(false),
            pid: std::process::id(),
        };
        if task.machine.is_some() && is_guest {
            task.follow()?;
        }
        register_end();
        Ok(task)
    }

    /// Watches for the beginning and end of all tasks.
    ///
    /// # Errors
    /// The session is over.
    pub fn follow(&self) -> Result<(), Error> {
        let (notices, session) = (self.notices.clone(), self.session.downgrade());
        let (machine, peers) = (
            self.machine.clone().filter(|_| self.is_guest),
            self.peers.clone(),
        );
        let is_first = !std::mem::replace(&mut notices.lock().is_following, true);
        if !is_first {
            return Ok(());
        }
        self.session.on_peer(move |rank, event| {
            if event == PeerEvent::Joined {
                // The lock keeps the program from sending to the task meanwhile. Sends of an upcall
                // do not wait.
                let mut peers = peers.lock();
                if peers.early.contains_key(&rank)
                    && let Ok(session) = session.upgrade()
                {
                    let messages = session.port(MESSAGES);
                    for (tag, message) in peers.meet(rank) {
                        let _ = messages.send(rank, tag, message);
                    }
                }
                return;
            }
            notices.lock().left(rank, &session);
            if let Some(machine) = &machine {
                machine.ended(rank);
            }
        })
    }

    /// Sends a request to the machine, and returns the answer.
    ///
    /// # Errors
    /// [`Code::SYS_ERR`]: it does not answer; or the code in its answer.
    pub fn ask(&self, request: &Request) -> Result<Answer, Code> {
        while_waiting(|| self.ask_within(request, None))
    }

    /// Sends a request to the machine with a timeout, after which the code is [`Code::NO_DATA`].
    fn ask_within(&self, request: &Request, time: Option<Duration>) -> Result<Answer, Code> {
        let asked = Message::of(request).map_err(|_| Code::SYS_ERR)?;
        let answer = self.session.call(0, MACHINE, asked, time);
        note_received();
        let answer = answer.map_err(|error| match error {
            Error::TimedOut { .. } => Code::NO_DATA,
            _ => Code::SYS_ERR,
        })?;
        match answer.value::<Answer>().map_err(|_| Code::SYS_ERR)? {
            Answer::Refused(code) => Err(Code(code)),
            answer => Ok(answer),
        }
    }

    /// Returns whether a task is known to have begun.
    pub fn has_met(&self, rank: Rank) -> bool {
        // The first processes of a session know each other.
        let is_first = rank < self.session.size() || rank == self.session.rank();
        is_first || self.peers.lock().met.contains(&rank)
    }

    /// Waits until a started task has called the library or has ended. Before its first call the
    /// session cannot reach it. Returns whether it called in time.
    ///
    /// # Errors
    /// [`Code::NO_TASK`]: it has ended before it called, or never existed.
    pub fn meet(&self, rank: Rank, until: Option<Instant>) -> Result<bool, Code> {
        if self.has_met(rank) {
            return Ok(true);
        }
        let request = Request::Begun(rank);
        let answer = match until {
            None => self.ask(&request),
            Some(until) => {
                let time = until.saturating_duration_since(Instant::now());
                self.ask_within(&request, Some(time))
            }
        };
        match answer {
            // The news of it may still be in flight to this process.
            Ok(Answer::Number(1)) => {
                let is_known = || self.session.has_joined(rank);
                let latest = until.unwrap_or_else(|| Instant::now() + PATIENCE);
                let came = self.session.wait_until(is_known, Some(latest));
                if until.is_some() && !came.unwrap_or(false) {
                    return Ok(false);
                }
            }
            Err(Code::NO_TASK) => {
                self.never_begins(rank);
                return Err(Code::NO_TASK);
            }
            Err(Code::NO_DATA) => return Ok(false),
            // It has ended, or the machine is no longer served. The session has all that it sent.
            _ => {}
        }
        self.send_to_met(rank);
        Ok(true)
    }

    /// Sends the waiting messages for a task that the session can reach. The lock is not held,
    /// because a send may wait and upcalls run meanwhile.
    fn send_to_met(&self, rank: Rank) {
        let early = self.peers.lock().meet(rank);
        for (tag, message) in early {
            let _ = self.messages.send(rank, tag, message);
        }
    }

    /// Records that a task has ended without having enrolled.
    fn never_begins(&self, rank: Rank) {
        self.peers.lock().early.remove(&rank);
        self.notices.lock().left(rank, &self.session.downgrade());
    }

    /// Returns whether a task is there or may yet begin. If it ends instead, this process gets a
    /// message.
    ///
    /// # Errors
    /// [`Code::NO_TASK`]: it has ended before it called, or never existed.
    pub fn expect(&self, rank: Rank) -> Result<bool, Code> {
        if self.has_met(rank) {
            return Ok(true);
        }
        match self.ask_number(&Request::Expect(rank)) {
            Err(Code::NO_TASK) => Err(Code::NO_TASK),
            // It was enrolled once, and this process may have known it.
            Ok(0) => Ok(self.session.has_joined(rank)),
            // Without an answer the session is ending.
            Ok(_) | Err(_) => Ok(true),
        }
    }

    /// Sends to a task that may not have begun. The message then waits here.
    fn send_early(&self, rank: Rank, tag: u32, message: Message) -> Result<(), Code> {
        let is_expected = self.peers.lock().early.contains_key(&rank);
        if !is_expected {
            // A message to a task that has ended, or never existed, is dropped.
            if !self.expect(rank).unwrap_or(false) {
                return Ok(());
            }
            self.follow().map_err(|_| Code::SYS_ERR)?;
        }
        let mut peers = self.peers.lock();
        if peers.met.contains(&rank) {
            drop(peers);
            let _ = self.messages.send(rank, tag, message);
            return Ok(());
        }
        peers.early.entry(rank).or_default().push((tag, message));
        drop(peers);
        // Otherwise it is sent when the session reports that the task has joined.
        if self.session.has_joined(rank) {
            self.send_to_met(rank);
        }
        Ok(())
    }

    /// Waits until the tasks with waiting messages have begun or ended.
    fn send_what_waits(&self) {
        let first = || self.peers.lock().early.keys().next().copied();
        while let Some(rank) = first() {
            let _ = self.meet(rank, None);
            // A task that the session has not reported in time gets nothing.
            self.peers.lock().early.remove(&rank);
        }
    }

    /// Sends a request to the machine that has a number for an answer.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn ask_number(&self, request: &Request) -> Result<c_int, Code> {
        match self.ask(request)? {
            Answer::Number(number) => Ok(number),
            _ => Err(Code::SYS_ERR),
        }
    }

    /// Sends a buffer's content to a task. A task that has yet to begin gets it later. For a task
    /// that has ended it is dropped.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`].
    pub fn send(
        &self,
        to: Tid,
        (context, tag): (c_int, c_int),
        (encoding, content): (Encoding, Message),
        wait_id: c_int,
    ) -> Result<(), Code> {
        let rank = to.rank().ok_or(Code::BAD_PARAM)?;
        if tag < 0 {
            return Err(Code::BAD_PARAM);
        }
        let message = with_header(content, (context, wait_id), encoding, self.tid);
        match self.has_met(rank) {
            true => {
                let _ = self.messages.send(rank, tag as u32, message);
                Ok(())
            }
            false => self.send_early(rank, tag as u32, message),
        }
    }

    /// Returns whether a message to a task leaves this process without waiting for the task's
    /// program.
    pub fn sends_at_once(&self, to: Tid) -> bool {
        let rank = to.rank().filter(|rank| *rank != self.session.rank());
        rank.is_some_and(|rank| self.has_met(rank))
    }

    /// Waits until nothing reads the program's arrays any more. Messages are taken meanwhile, so
    /// two tasks may wait for each other.
    pub fn await_end(&self, lease: &Lease) {
        let began = Instant::now();
        while !lease.is_over() {
            let until = Instant::now() + LENT_LOOK;
            let may_sleep = began.elapsed() > LENT_SPIN;
            if may_sleep
                && self
                    .session
                    .wait_until(|| lease.is_over(), Some(until))
                    .is_ok()
            {
                continue;
            }
            self.session.poll();
            // The receiver may need this processor.
            std::thread::yield_now();
        }
    }

    /// Ends this process's part. Messages that it has sent still arrive, and those that it has
    /// received are lost.
    pub fn leave(&self) {
        if self.has_left.swap(true, Ordering::AcqRel) {
            return;
        }
        // At the serving process the session goes on and sends them.
        if self.machine.is_none() {
            self.send_what_waits();
        }
        let _ = self.ask(&Request::Leave);
        match &self.machine {
            // The session goes on, because this process serves it.
            Some(_) => {
                let leaving = self.session.port(LEAVING);
                let others = (0..self.session.population()).filter(|rank| *rank != 0);
                for rank in others.filter(|rank| self.session.why_lost(*rank).is_none()) {
                    let _ = leaving.send(rank, 0, Message::new());
                }
            }
            None => self.session.end_for_all(),
        }
    }
}

/// Prepends the header that the receiver reads.
pub fn with_header(
    mut content: Message,
    (context, wait_id): (c_int, c_int),
    encoding: Encoding,
    source: Tid,
) -> Message {
    let mut header = [0; HEADER];
    let words = [context, wait_id, encoding.signature(), source.0];
    for (bytes, word) in header.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    content.push(&header);
    content
}

/// Returns a received message as a buffer, or `None` if it is no message of PVM.
pub fn buffer_of(tag: u32, mut payload: Message, own: Tid) -> Option<Buffer> {
    let header: [u8; HEADER] = payload.pop().ok()?;
    let mut words = header.chunks_exact(4).map(|bytes| {
        let bytes = bytes.try_into().expect("four bytes each");
        c_int::from_le_bytes(bytes)
    });
    let mut next = || words.next().expect("four words");
    let (context, wait_id, encoding, source) = (next(), next(), next(), next());
    let info = Info {
        context,
        tag: tag as c_int,
        wait_id,
        source: Tid(source),
        destination: own,
    };
    let encoding = Encoding::of_signature(encoding).ok()?;
    Some(Buffer::received(encoding, info, payload))
}

/// Enters a session: the one that this process was started in, one that runs, or a new one.
fn enter() -> Result<(Session, Option<Arc<Machine>>), EnrolError> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if is_set(RANK) || is_set("OMPI_COMM_WORLD_RANK") {
        let session = Session::join_with_silence(SILENCE)?;
        if session.rank() > 0 {
            return Ok((session, None));
        }
        let machine = Machine::serve(&session)?;
        return Ok((session, Some(Arc::new(machine))));
    }
    let name = name();
    let mut tries = 0;
    loop {
        tries += 1;
        // Without a machine, or if it ends meanwhile, this process makes its own.
        if let Ok(session) = Session::join_existing(Some(&name)) {
            return Ok((session, None));
        }
        let outlet = Box::new(|tid: Tid, line: &[u8]| {
            use std::io::Write;
            let text = [format!("[{tid}] ").as_bytes(), line, b"\n"].concat();
            let _ = std::io::stderr().lock().write_all(&text);
        });
        match Machine::found(Some(&name), outlet) {
            Ok((machine, session)) => return Ok((session, Some(Arc::new(machine)))),
            // Another process was faster.
            Err(FoundError::Taken(RegistryError::Taken(_))) if tries < TRIES => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Sends the first request to the machine, which may not serve yet.
fn ask_first(session: &Session, request: &Request) -> Result<Answer, EnrolError> {
    let until = Instant::now() + PATIENCE;
    loop {
        let asked = Message::of(request).map_err(Error::from)?;
        match session.call(0, MACHINE, asked, Some(PATIENCE)) {
            Ok(answer) => return Ok(answer.value().map_err(Error::from)?),
            Err(Error::NoService { .. }) if Instant::now() < until => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Signals this process for others, if no other process can.
fn serve_signals(session: &Session) -> Result<(), Error> {
    session.serve(SIGNAL, |call| {
        let number = call.payload.value::<i32>().ok();
        if let Some(signal) = number.and_then(Signal::from_number) {
            call.reply.send(Message::new());
            // SAFETY: `kill` and `getpid` take numbers and touch no memory of ours.
            unsafe { libc::kill(libc::getpid(), signal.number()) };
        }
    })
}

/// Makes the library leave the machine when the program ends.
fn register_end() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn at_exit() {
        // This thread's local variables may be gone already, so another thread does it.
        extern "C" fn end(_: *mut c_void) -> *mut c_void {
            let _ = std::panic::catch_unwind(end_part);
            ptr::null_mut()
        }
        let mut thread: libc::pthread_t = 0;
        // SAFETY: the thread gets a function that takes nothing, and is joined.
        unsafe {
            if libc::pthread_create(&raw mut thread, ptr::null(), end, ptr::null_mut()) == 0 {
                libc::pthread_join(thread, ptr::null_mut());
            }
        }
    }
    // SAFETY: the function lives as long as the program.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// This program's task, or its former one if it serves the machine.
static LAST: Mutex<Option<Arc<Task>>> = Mutex::new(None);

/// Keeps a task until the program ends.
pub fn keep(task: Arc<Task>) {
    *LAST.lock() = Some(task);
}

/// Returns the task that was kept last.
pub fn kept() -> Option<Arc<Task>> {
    LAST.lock().clone()
}

/// Ends this process's part of the machine when the program ends.
fn end_part() {
    let Some(task) = kept().filter(|task| task.pid == std::process::id()) else {
        return;
    };
    task.leave();
    if let Some(machine) = &task.machine {
        machine.close();
        machine.wait();
        task.session.end_for_all();
    }
}

/// Returns the rank of a task.
///
/// # Errors
/// [`Code::BAD_PARAM`]: it is no task id.
pub fn rank_of(tid: c_int) -> Result<Rank, Code> {
    Tid(tid).rank().ok_or(Code::BAD_PARAM)
}

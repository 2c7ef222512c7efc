//! This machine's part in the program's panda session: how it joins, sends letters and receives
//! them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use antiphon_fiber::Fibers;
use antiphon_panda::platform::{self, Bootstrap, LaunchInfo, Secret, shm, udp};
use antiphon_panda::starter::is_this_host;
use antiphon_panda::{Message, PeerEvent, Port, QuiescenceEvent, Session, Signal};
use antiphon_runner::limit_of;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex};

use super::inbox::Event;
use super::letters::{Base, Letter};
use super::protocol::Protocol;
use super::protocol::fault::Fault;
use super::waits::Waiter;
use super::{answers, counts, ending, relay, roll_call, timeline, vms};
use crate::flavour::Flavour;
use crate::{errors, options};

/// The tag of letters that are work.
const WORK: u32 = 1;
/// The tag of other letters.
const QUERY: u32 = 2;

/// Time limit for a question that a machine's threads answer by themselves.
const PATIENCE: Duration = Duration::from_secs(60);

/// This machine's part.
pub struct Link {
    pub session: Session,
    port: Port,
    pub protocol: Protocol<Waiter>,
    /// Ends the wait of a server that takes messages itself.
    waker: Waker,
    /// Passes letters to a thread that sends them, because a process must not wait for panda
    /// itself.
    outbox: Option<Sender<(u32, u32, Message)>>,
    known: Mutex<Known>,
    changed: Condvar,
}

/// Facts that panda's threads have received.
#[derive(Default)]
struct Known {
    /// Machines that have said hello, with the hashes of their programs.
    hello: BTreeMap<u32, u64>,
    /// Machines that have left the session, or are lost.
    left: Vec<u32>,
    /// Lost machines that an error message has named.
    told: BTreeSet<u32>,
    /// Answers that were not taken yet.
    answers: HashMap<u64, (bool, Base, Bytes)>,
    /// Lines about the processes of machines that were asked where they are.
    places: BTreeMap<u32, Vec<String>>,
    /// Whether this machine was asked to end.
    is_over: bool,
}

impl Known {
    /// Returns whether a machine is no longer in the session.
    fn is_gone(&self, machine: u32) -> bool {
        self.left.contains(&machine)
    }
}

static LINK: OnceLock<Link> = OnceLock::new();

/// Returns this machine's part, if there are several machines.
pub fn link() -> Option<&'static Link> {
    LINK.get()
}

/// The rendezvous point that the first machine holds.
#[allow(dead_code, reason = "it is there to be kept")]
enum Meeting {
    Shm(shm::Bootstrap),
    Connections(Bootstrap),
    Udp(udp::Bootstrap),
}

static MEETING: OnceLock<Meeting> = OnceLock::new();

/// Open MPI's name among the platforms.
pub const MPI: &str = "mpi";

/// Returns whether `mpirun` has started several machines of this program, of which this is one.
pub fn is_of_mpirun(over: &str) -> bool {
    let is_founder = |info: &LaunchInfo| info.platform == MPI && info.rank < info.size;
    over == MPI
        && LaunchInfo::from_environment().is_ok_and(|info| is_founder(&info) && info.size > 1)
}

/// Begins a session over a platform, with this as the first machine.
///
/// # Errors
/// In words.
pub fn found(over: &str) -> Result<(), String> {
    if LaunchInfo::from_environment().is_ok() {
        return join();
    }
    if over == MPI {
        return begin(|| platform::join(&alone()));
    }
    let here = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let cannot = |error: std::io::Error| {
        let limit = limit_of(&error);
        let mend = match over {
            "tcp" => "",
            _ => "; or use other means (over=tcp)",
        };
        format!("cannot begin a session over {over}: {error}{limit}{mend}")
    };
    let secret = Secret::fresh().map_err(cannot)?;
    let (meeting, mut info) = match over {
        "tcp" => {
            let held = Bootstrap::hold(here, 1, secret).map_err(cannot)?;
            let info = held.launch_info(over, 0);
            (Meeting::Connections(held), info)
        }
        "udp" => {
            let held = udp::Bootstrap::at(here, 1, secret).map_err(cannot)?;
            let info = held.launch_info(0);
            (Meeting::Udp(held), info)
        }
        _ => {
            let held = shm::Bootstrap::new(1, secret).map_err(cannot)?;
            let info = held.launch_info(0);
            (Meeting::Shm(held), info)
        }
    };
    let _ = MEETING.set(meeting);
    info.silence.get_or_insert(options::get().silence);
    begin(|| platform::join(&info))
}

/// Returns the launch info of a program over Open MPI that no `mpirun` has started.
fn alone() -> LaunchInfo {
    LaunchInfo {
        platform: MPI.into(),
        rank: 0,
        size: 1,
        name: String::new(),
        bootstrap: String::new(),
        address: None,
        silence: Some(options::get().silence),
        parent: None,
        starter: None,
        secret: Secret([0; 16]),
    }
}

/// Joins the session in which this machine was created.
///
/// # Errors
/// In words.
pub fn join() -> Result<(), String> {
    begin(|| Session::join_with_silence(options::get().silence))
}

/// Unblocks the signals that a process started under [`with_signals_blocked`] has inherited as
/// blocked.
pub fn let_signals_through() {
    // SAFETY: changes the mask of this thread alone.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

/// Lets a signal through to this thread.
pub fn let_through(signal: libc::c_int) {
    // SAFETY: changes the mask of this thread alone.
    unsafe {
        let mut one: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut one);
        libc::sigaddset(&mut one, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &one, std::ptr::null_mut());
    }
}

/// Runs code that starts threads, such that those threads leave all signals to the program's own.
pub fn with_signals_blocked<T: Send>(code: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: changes the mask of this thread alone.
            unsafe {
                let mut all: libc::sigset_t = std::mem::zeroed();
                libc::sigfillset(&mut all);
                libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
            }
            code()
        });
        thread.join()
    })
    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn begin(
    join: impl FnOnce() -> Result<Session, antiphon_panda::Error> + Send,
) -> Result<(), String> {
    let in_words = |error: antiphon_panda::Error| error.to_string();
    with_signals_blocked(|| {
        let session = join().map_err(in_words)?;
        let quiescence = session.quiescence().map_err(in_words)?;
        let port = session.port("sr");
        let link = Link {
            port,
            protocol: Protocol::new(session.rank(), quiescence, Fault::default()),
            waker: Waker::from(Arc::new(Notifies)),
            outbox: options::is_many().then(|| outbox(session.port("sr"))),
            known: Mutex::default(),
            changed: Condvar::new(),
            session,
        };
        let link = LINK.get_or_init(|| link);
        super::set_own(link.session.rank());
        if !super::is_guest() {
            let begun = relay::begin_to_write(link).and_then(|()| roll_call::begin_to_watch(link));
            begun.map_err(|error| error.to_string())?;
        }
        link.follow().map_err(in_words)
    })
}

/// Starts a thread that sends letters in their order.
fn outbox(port: Port) -> Sender<(u32, u32, Message)> {
    let (sender, receiver) = channel::<(u32, u32, Message)>();
    std::thread::spawn(move || {
        for (to, tag, message) in receiver {
            // The loss of a machine is reported elsewhere.
            let _ = port.send(to, tag, message);
            if let Some(link) = link() {
                link.protocol.sent();
            }
        }
    });
    sender
}

impl Link {
    /// Registers the functions that panda's threads call.
    fn follow(&'static self) -> Result<(), antiphon_panda::Error> {
        let own = self.session.rank();
        self.protocol.quiescence.on_event(move |event| {
            // Only the first machine acts on verdicts.
            if let QuiescenceEvent::Quiescent(verdict) = event
                && own == 0
            {
                let why = |machine| self.session.why_lost(machine).unwrap_or_default();
                self.protocol.verdict(&verdict.lost, why);
            }
        })?;
        self.port.on_message(move |arrived| {
            let Some((letter, number, body)) = Letter::opened(&arrived.payload) else {
                return;
            };
            if arrived.tag == WORK {
                let from = arrived.from;
                self.protocol.arrives(from, &letter);
                let event = Event::Letter {
                    from,
                    letter,
                    number,
                    body,
                };
                relay::pass(self, event);
            } else {
                self.take(arrived.from, letter, body);
            }
        })?;
        self.session.on_peer(move |machine, event| match event {
            PeerEvent::Joined => {}
            PeerEvent::Left => self.learn(|known| known.left.push(machine)),
            PeerEvent::Lost { why } => {
                if machine == 0 {
                    // The program is over, and no machine is left to report to. SAFETY: ends the
                    // process.
                    unsafe { libc::_exit(1) };
                }
                self.lose(machine, why);
                if own == 0 {
                    let _ = self.kill(machine);
                }
            }
        })
    }

    /// Notes that a machine is lost.
    pub fn lose(&self, machine: u32, why: String) {
        self.protocol.lose(machine, why);
        self.learn(|known| known.left.push(machine));
    }

    fn learn(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.lock());
        self.changed.notify_all();
    }

    /// Waits on this OS thread until a fact is known.
    fn wait_until<T>(
        &self,
        until: Instant,
        mut look: impl FnMut(&mut Known) -> Option<T>,
    ) -> Option<T> {
        let mut known = self.known.lock();
        loop {
            if let Some(found) = look(&mut known) {
                return Some(found);
            }
            if self.changed.wait_until(&mut known, until).timed_out() {
                return look(&mut known);
            }
        }
    }

    /// Handles a letter that is no work, on a thread of panda's.
    fn take(&self, from: u32, letter: Letter, body: Bytes) {
        match letter {
            Letter::Hello { hash } => self.learn(|known| _ = known.hello.insert(from, hash)),
            Letter::Timeline => timeline::take(from, &body),
            Letter::Counts => counts::take(from, &body),
            Letter::Output { descriptor } => relay::take(from, descriptor, body),
            Letter::Written { count } => relay::written(count),
            Letter::Places { lines } => self.learn(|known| _ = known.places.insert(from, lines)),
            Letter::Peek {
                token,
                instance,
                serial,
                offset,
                bytes,
            } => {
                let found = answers::peek(instance, serial, offset, bytes);
                self.answer_known(from, token, found);
            }
            Letter::Pending { token, cap } => {
                let found = answers::pending(cap.into());
                self.answer_known(from, token, found);
            }
            Letter::Known {
                token,
                base,
                is_there,
            } => self.learn(|known| drop(known.answers.insert(token, (is_there, base, body)))),
            Letter::Claim {
                token,
                host,
                number,
            } => {
                let is_here = is_this_host(&host);
                if is_here {
                    vms::set_own_number(number);
                }
                self.answer_known(from, token, is_here.then(Vec::new));
            }
            Letter::Exit { code, told } => {
                self.learn(|known| known.told.extend(told));
                self.protocol.happens(Event::Exit(code));
                ending::insist(code);
            }
            Letter::Quit => {
                self.learn(|known| known.is_over = true);
                self.protocol.happens(Event::Exit(0));
                ending::insist(0);
            }
            _ => {}
        }
    }

    fn answer_known(&self, to: u32, token: u64, found: Option<Vec<u8>>) {
        let letter = Letter::Known {
            token,
            base: Base::own(),
            is_there: found.is_some(),
        };
        self.answer(to, &letter, found.unwrap_or_default());
    }

    /// Sends from an upcall, which must not wait.
    fn answer(&self, to: u32, letter: &Letter, body: Vec<u8>) {
        let _ = self.port.send(to, QUERY, letter.sealed(0, body));
    }

    /// Sends a letter. The caller is a process, or a thread of a program that is ending.
    ///
    /// # Errors
    /// The reason why the machine takes no letters any more.
    pub fn post(&self, to: u32, letter: &Letter, body: impl Into<Message>) -> Result<(), String> {
        if letter.is_work() {
            self.check(to)?;
            relay::settle(to);
        }
        self.protocol.sends(to, letter)?;
        let tag = match letter.is_work() {
            true => WORK,
            false => QUERY,
        };
        let mut number = 0;
        if letter.is_work() {
            number = timeline::note_sent(letter.kind());
        }
        let message = letter.sealed(number, body);
        if let Some(outbox) = &self.outbox {
            if outbox.send((to, tag, message)).is_err() {
                self.protocol.sent();
            }
            return Ok(());
        }
        let send = || self.port.send(to, tag, message).map_err(|e| e.to_string());
        let sent = match Fibers::<antiphon_fiber::One>::is_caller() {
            // A process's stack may be too small for this call. SAFETY: panda knows nothing of
            // these fibers, and waits on the OS thread.
            true => unsafe { Fibers::<antiphon_fiber::One>::on_roomy_stack(send) }
                .unwrap_or_else(|error| Err(error.to_string())),
            false => send(),
        };
        self.protocol.sent();
        sent
    }

    /// Checks that a machine takes letters.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, machine: u32) -> Result<(), String> {
        self.protocol.check(machine)
    }

    /// Sends a letter that the protocol asks for. If its machine is gone, it needs none.
    pub fn tell(&self, told: Option<(u32, Letter)>) {
        if let Some((to, letter)) = told {
            let _ = self.post(to, &letter, Vec::new());
        }
    }

    /// Asks a question that panda's threads of another machine answer, and waits on this OS thread.
    ///
    /// # Errors
    /// The reason why there is no answer.
    pub fn ask(
        &self,
        to: u32,
        letter: impl FnOnce(u64) -> Letter,
    ) -> Result<Option<(Base, Bytes)>, String> {
        let token = self.protocol.number();
        self.post(to, &letter(token), Vec::new())?;
        let until = Instant::now() + PATIENCE;
        let answer = self.wait_until(until, |known| match known.answers.remove(&token) {
            Some(answer) => Some(Some(answer)),
            None => self.protocol.is_lost(to).then_some(None),
        });
        match answer.flatten() {
            Some((is_there, base, body)) => Ok(is_there.then_some((base, body))),
            None => {
                self.check(to)?;
                Err(format!("virtual machine {} does not answer", to + 1))
            }
        }
    }

    /// Waits until a new machine has said hello, and returns the hash of its program.
    pub fn hello_of(&self, machine: u32) -> Option<u64> {
        let until = Instant::now() + PATIENCE;
        self.wait_until(until, |known| match known.hello.get(&machine) {
            Some(hash) => Some(Some(*hash)),
            None => self.protocol.is_lost(machine).then_some(None),
        })
        .flatten()
    }

    /// Waits until machines have left the session, or for a time.
    pub fn wait_for_leave(&self, machines: &[u32], time: Duration) {
        self.wait_until(Instant::now() + time, |known| {
            let are_gone = machines.iter().all(|machine| known.is_gone(*machine));
            are_gone.then_some(())
        });
    }

    /// Waits until each of these machines has said where its processes are, or for a time. Returns
    /// the answers.
    pub fn places_of(&self, machines: &[u32], time: Duration) -> BTreeMap<u32, Vec<String>> {
        let mut places = BTreeMap::new();
        self.wait_until(Instant::now() + time, |known| {
            places.append(&mut known.places);
            let are_done = |machine: &u32| places.contains_key(machine) || known.is_gone(*machine);
            machines.iter().all(are_done).then_some(())
        });
        places
    }

    /// Sends no more letters, and waits for a time until those before are sent.
    pub fn close(&self, time: Duration) {
        self.protocol.close();
        let until = Instant::now() + time;
        while self.protocol.is_sending() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until this machine was asked to end, or for a time.
    pub fn wait_for_end(&self, time: Duration) {
        self.wait_until(Instant::now() + time, |known| known.is_over.then_some(()));
    }

    /// Whether this machine was asked to end.
    pub fn is_over(&self) -> bool {
        self.known.lock().is_over
    }

    /// Notes that an error message names a machine that is gone.
    pub fn note_told(&self, machine: u32) {
        self.learn(|known| _ = known.told.insert(machine));
    }

    /// Returns the machines that an error message of this machine has named.
    pub fn told(&self) -> Vec<u32> {
        self.known.lock().told.iter().copied().collect()
    }

    /// Returns those of these machines that are still in the session.
    pub fn present(&self, machines: &[u32]) -> Vec<u32> {
        let known = self.known.lock();
        let present = machines.iter().filter(|machine| !known.is_gone(**machine));
        present.copied().collect()
    }

    /// Starts a thread that kills a machine. A lost machine may be stopped or out of reach, and
    /// must not outlive the program.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn kill(&'static self, machine: u32) -> std::io::Result<JoinHandle<()>> {
        // A machine that has died cannot be signalled.
        let kill = move || drop(self.session.signal(machine, Signal::KILL));
        std::thread::Builder::new().spawn(kill)
    }
}

/// Waits for the next event. Meanwhile the program can come to rest or end.
pub fn next_event<S: Flavour>(link: &Link) -> Event {
    Fibers::<S>::wait_in_background(link.protocol.inbox.next())
}

/// Has the server look again that takes messages itself.
struct Notifies;

impl Wake for Notifies {
    fn wake(self: Arc<Self>) {
        if let Some(link) = link() {
            link.session.notify();
        }
    }
}

/// Takes messages on this OS thread as long as the machine's server has nothing to run, or for a
/// time. Returns whether there was nothing to run in all that time.
pub fn drive<S: Flavour>(link: &Link, time: Option<Duration>) -> bool {
    let end = time.map(|time| Instant::now() + time);
    let driven = Fibers::<S>::park_while_idle(&link.waker, |alarm| {
        let until = match (alarm, end) {
            (Some(alarm), Some(end)) => Some(alarm.min(end)),
            (alarm, end) => alarm.or(end),
        };
        let wait = || link.session.wait_until(Fibers::<S>::has_others, until);
        // SAFETY: neither panda nor its upcalls switch between fibers.
        unsafe { Fibers::<S>::on_roomy_stack(wait) }
    });
    if let Some(Err(error)) = &driven {
        errors::abort(std::ptr::null(), &error.to_string());
    }
    driven.is_some() && end.is_some_and(|end| Instant::now() >= end)
}

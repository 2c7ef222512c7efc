//! A simulated process as its fibers see it: their waits in virtual time, and their end.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use antiphon_fiber::{Builder as FiberBuilder, Detached, Many, ManyServers, StackError};
use parking_lot::Mutex;

use super::switch::{Switch, What};
use crate::medium::Travel;
use antiphon_panda::WeakSession;
use antiphon_panda::hook::{Installed, Runtime, WaitsFor, words_of};
use antiphon_panda_core::protocol::{Action, Time};
use antiphon_panda_core::{Rank, Transfer};

/// Virtual time of a yield, or of a look for arrivals. If it were zero, a loop of them would stop
/// the clock.
pub const INSTANT: Duration = Duration::from_micros(1);

/// An input of a process.
#[derive(Debug)]
pub enum Incoming {
    /// Something from the network.
    Travel(Travel),
    /// A tick that its protocols have asked for.
    Tick,
}

/// The session of a process, as the simulation drives it.
pub trait Machine: Send + Sync {
    /// Takes what comes.
    fn take(&self, incoming: Incoming);
    /// Goes on with the remaining deliveries.
    fn go_on(&self);
    /// Ends the session, if it has not ended, after the program has.
    fn exit(&self);
    /// Returns whether peers have taken all that an ended session had sent, or take none of it.
    fn has_lingered(&self) -> bool;
    /// Forgets what the protocols hold, since the process is no more.
    fn forget(&self);
    /// Describes the wait of a thread.
    fn describe(&self, what: WaitsFor) -> String;
}

/// The command of a spawned process.
#[derive(Debug)]
pub struct Command {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub parent: Rank,
}

/// A simulated process: one incarnation, if it was restarted.
pub struct Node {
    pub rank: Rank,
    /// Number of its life among all processes so far, founders first.
    pub life: usize,
    /// Number of its incarnation of the rank, from 1.
    pub birth: u64,
    /// Its command, if it was spawned.
    pub command: Option<Arc<Command>>,
    pub switch: Arc<Switch>,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    machine: Option<Arc<dyn Machine>>,
    session: WeakSession,
    phase: Phase,
    /// All living fibers.
    fibers: Vec<Detached<Many>>,
    /// Number of fibers that are the program's.
    threads: usize,
    parked: BTreeMap<u64, Parked>,
    parks: u64,
    /// Inputs that came while it was stopped, or had not joined.
    kept: Vec<What>,
    /// Whether it was stopped before it had joined.
    will_stop: bool,
    /// Panic of a fiber that no thread joins.
    panic: Option<String>,
}

/// The phase of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// The others have not let it in yet.
    Joins,
    /// Its program runs, or its session takes leave.
    #[default]
    Runs,
    /// It is stopped, as by SIGSTOP.
    Stopped,
    /// It was crashed, as by SIGKILL.
    Crashed,
    /// It has ended.
    Over,
}

impl Inside {
    fn joining() -> Self {
        Self {
            phase: Phase::Joins,
            ..Self::default()
        }
    }
}

impl Phase {
    /// Returns whether it has neither ended nor been crashed.
    fn is_there(self) -> bool {
        matches!(self, Self::Joins | Self::Runs | Self::Stopped)
    }
}

/// The state of a process, now or at its end.
pub struct State {
    pub is_crashed: bool,
    /// Panic of one of its fibers that no thread learned of.
    pub panic: Option<String>,
    /// Waits of its threads.
    pub waits: Vec<String>,
}

/// A fiber that waits.
struct Parked {
    waker: Waker,
    what: WaitsFor,
    has_time: bool,
}

thread_local! {
    /// Whether this thread runs a simulation.
    static SIMULATES: Cell<bool> = const { Cell::new(false) };
}

/// A guard during which fibers of this OS thread are a simulation's.
pub struct Here {
    /// Former value: a simulation inside a simulation does nothing.
    did_before: bool,
    _runtime: Installed,
}

impl Here {
    /// Begins now.
    pub fn begin() -> Self {
        Self {
            did_before: SIMULATES.replace(true),
            _runtime: Installed::new(|| Some(Node::of_caller()?)),
        }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        SIMULATES.set(self.did_before);
    }
}

impl Node {
    pub fn new(rank: Rank, switch: &Arc<Switch>) -> Arc<Self> {
        Arc::new(Self {
            rank,
            life: rank as usize,
            birth: 1,
            command: None,
            switch: switch.clone(),
            inside: Mutex::default(),
        })
    }

    /// Makes a process that this one has started, and that has not joined yet.
    pub fn child(&self, rank: Rank, life: usize, command: Arc<Command>) -> Arc<Self> {
        Arc::new(Self {
            rank,
            life,
            birth: 1,
            command: Some(command),
            switch: self.switch.clone(),
            inside: Mutex::new(Inside::joining()),
        })
    }

    /// Returns the process that has started it.
    pub fn parent(&self) -> Option<Rank> {
        self.command.as_ref().map(|command| command.parent)
    }

    /// Makes the next incarnation of this process, which has not joined yet.
    pub fn reborn(&self, life: usize) -> Arc<Self> {
        Arc::new(Self {
            rank: self.rank,
            life,
            birth: self.birth + 1,
            command: self.command.clone(),
            switch: self.switch.clone(),
            inside: Mutex::new(Inside::joining()),
        })
    }

    /// Notes that the others have let it in. Returns whether it has not begun yet.
    pub fn let_in(&self) -> bool {
        let mut inside = self.inside.lock();
        let joins = inside.phase == Phase::Joins;
        if joins {
            inside.phase = match inside.will_stop {
                true => Phase::Stopped,
                false => Phase::Runs,
            };
        }
        joins
    }

    /// Takes the inputs from before it joined; none if it is stopped.
    pub fn take_kept(&self) -> Vec<What> {
        let mut inside = self.inside.lock();
        match inside.phase {
            Phase::Runs => std::mem::take(&mut inside.kept),
            _ => Vec::new(),
        }
    }

    /// Returns the process of the calling fiber; `None` outside of simulations.
    // Not inlined: a fiber that moves to another OS thread would otherwise keep that thread-local's
    // old address.
    #[inline(never)]
    pub fn of_caller() -> Option<Arc<Self>> {
        if !SIMULATES.get() || !ManyServers::is_caller() {
            return None;
        }
        let node: *const Self = ManyServers::local().cast_const().cast();
        if node.is_null() {
            return None;
        }
        // SAFETY: in a simulation `start` sets a fiber's own word to this node, and the fiber's
        // body owns one reference to it.
        unsafe {
            Arc::increment_strong_count(node);
            Some(Arc::from_raw(node))
        }
    }

    /// Sets the machine that is driven for it.
    pub fn install(&self, machine: Arc<dyn Machine>) {
        self.inside.lock().machine = Some(machine);
    }

    /// Sets the session that its program joins.
    pub fn install_session(&self, session: WeakSession) {
        self.inside.lock().session = session;
    }

    pub fn machine(&self) -> Option<Arc<dyn Machine>> {
        self.inside.lock().machine.clone()
    }

    pub fn phase(&self) -> Phase {
        self.inside.lock().phase
    }

    /// Returns whether it has neither ended nor been crashed.
    pub fn is_there(&self) -> bool {
        self.phase().is_there()
    }

    /// Returns the time, as protocols count it.
    pub fn time(&self) -> Time {
        self.switch.time()
    }

    /// Returns the time by this process's own clock.
    pub fn clock(&self) -> Time {
        self.switch.clock_of(self.rank)
    }

    /// Performs an action of its protocols on the network, and returns it if it is for the process
    /// itself.
    pub fn perform(&self, action: Action) -> Option<Action> {
        // Handles that outlast the simulation reach no process.
        match self.is_there() {
            true => self
                .switch
                .medium(|medium| medium.perform(self.rank, action)),
            false => None,
        }
    }

    /// Returns the progress of bytes between it and a peer.
    pub fn transfer(&self, now: Time, peer: Rank) -> Transfer {
        (self.switch).medium(|medium| medium.network.transfer(now, self.rank, peer))
    }

    /// Adds an event at a time.
    pub fn add(&self, at: Time, what: What) {
        self.switch.medium(|medium| medium.add(at, what));
    }

    /// Starts a fiber that is none of its program's.
    ///
    /// # Errors
    ///
    /// There is no memory for its stack.
    pub fn start(
        self: &Arc<Self>,
        builder: FiberBuilder,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), StackError> {
        let node = self.clone();
        let fiber = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
                node.fail(words_of(panic));
            }
            node.release();
        };
        let own = Arc::as_ptr(self).cast_mut().cast();
        // SAFETY: a simulation has one server, so no fiber ever goes on on another OS thread.
        // Panics are caught.
        let fiber = unsafe { ManyServers::detach(builder, own, fiber) }?;
        self.inside.lock().fibers.push(fiber);
        Ok(())
    }

    fn release(&self) {
        let this = ManyServers::this();
        self.inside.lock().fibers.retain(|fiber| *fiber != this);
    }

    /// Notes that a thread of its program has ended. With the last of them the process ends.
    fn thread_ended(&self) {
        let machine = {
            let mut state = self.inside.lock();
            state.threads -= 1;
            match state.threads {
                0 => state.machine.clone(),
                _ => return,
            }
        };
        self.switch.stirred();
        if let Some(machine) = machine {
            machine.exit();
        }
    }

    /// Ends the process for a fiber's panic that no thread learns of.
    pub fn fail(&self, words: String) {
        self.inside.lock().panic.get_or_insert(words);
        self.switch.crash(self);
    }

    /// Notes a fiber that waits, and returns the number of its wait, which may be an existing one.
    fn lie_down(
        &self,
        what: WaitsFor,
        waker: &Waker,
        until: Option<Instant>,
        number: Option<u64>,
    ) -> u64 {
        let mut state = self.inside.lock();
        let is_first = number.is_none();
        let number = number.unwrap_or_else(|| {
            state.parks += 1;
            state.parks
        });
        let parked = Parked {
            waker: waker.clone(),
            what,
            has_time: until.is_some(),
        };
        state.parked.insert(number, parked);
        drop(state);
        if let Some(until) = until.filter(|_| is_first) {
            let node = self.switch.node(self.rank);
            self.add(self.switch.time_of(until), What::Wake(node, number));
        }
        number
    }

    /// Ends a wait whose time has come.
    pub fn wake(&self, number: u64) {
        let waker = {
            let state = self.inside.lock();
            state.parked.get(&number).map(|parked| parked.waker.clone())
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Returns an event for it if it runs, keeps the event if it is stopped, and drops it if it is
    /// no more.
    pub fn meets(&self, what: What) -> Option<What> {
        let mut state = self.inside.lock();
        match state.phase {
            Phase::Runs => return Some(what),
            Phase::Joins | Phase::Stopped => state.kept.push(what),
            Phase::Crashed | Phase::Over => {}
        }
        None
    }

    /// Stops it where it is.
    pub fn stop(&self) {
        let mut state = self.inside.lock();
        match state.phase {
            Phase::Runs => state.phase = Phase::Stopped,
            Phase::Joins => state.will_stop = true,
            Phase::Stopped | Phase::Crashed | Phase::Over => {}
        }
    }

    /// Lets it go on, and returns the events that came meanwhile.
    pub fn go_on(&self) -> Vec<What> {
        let mut state = self.inside.lock();
        state.will_stop = false;
        if state.phase != Phase::Stopped {
            return Vec::new();
        }
        state.phase = Phase::Runs;
        std::mem::take(&mut state.kept)
    }

    /// Ends it: none of its fibers runs again. Returns whether it was there until now.
    pub fn end(&self, phase: Phase) -> bool {
        let (fibers, parked, machine) = {
            let mut state = self.inside.lock();
            if !state.phase.is_there() {
                return false;
            }
            state.phase = phase;
            state.kept.clear();
            let fibers = std::mem::take(&mut state.fibers);
            let parked = std::mem::take(&mut state.parked);
            (fibers, parked, state.machine.take())
        };
        for fiber in fibers {
            // SAFETY: values on its stack stay where they are, as after kill -9. Only fibers of
            // this process refer to them, and those do not run again either. Its waker holds no
            // reference to the stack.
            unsafe { fiber.kill() };
        }
        // Each fiber is thrown away when it would run next.
        parked.into_values().for_each(|parked| parked.waker.wake());
        if let Some(machine) = machine {
            machine.forget();
        }
        true
    }

    /// Returns whether a fiber waits for a time that will come.
    pub fn has_time(&self) -> bool {
        let state = self.inside.lock();
        state.phase == Phase::Runs && state.parked.values().any(|parked| parked.has_time)
    }

    /// Returns its state.
    pub fn state(&self) -> State {
        let inside = self.inside.lock();
        let machine = inside.machine.as_ref().filter(|_| inside.threads > 0);
        let whats = inside.parked.values().map(|parked| parked.what);
        let mut waits: Vec<_> = machine.map_or_else(Vec::new, |machine| {
            whats.map(|what| machine.describe(what)).collect()
        });
        match inside.phase {
            Phase::Stopped => waits.insert(0, "to go on, as it was stopped".into()),
            Phase::Joins => waits.insert(0, "the others to let it in".into()),
            Phase::Runs | Phase::Crashed | Phase::Over => {}
        }
        State {
            is_crashed: inside.phase == Phase::Crashed,
            panic: inside.panic.clone(),
            waits,
        }
    }
}

impl Runtime for Node {
    fn now(&self) -> Instant {
        self.switch.instant()
    }

    fn park(
        &self,
        what: WaitsFor,
        mut woken: Pin<&mut dyn Future<Output = ()>>,
        until: Option<Instant>,
    ) {
        let mut number = None;
        let waits = poll_fn(|context| {
            let is_late = until.is_some_and(|until| self.now() >= until);
            if is_late || woken.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            number = Some(self.lie_down(what, context.waker(), until, number));
            Poll::Pending
        });
        ManyServers::wait_for(waits);
        if let Some(number) = number {
            self.inside.lock().parked.remove(&number);
        }
        if matches!(what, WaitsFor::Thread(_) | WaitsFor::Time) {
            self.switch.stirred();
        }
    }

    fn yield_now(&self) {
        self.sleep(INSTANT);
    }

    fn sleep(&self, time: Duration) {
        let until = self.now().checked_add(time);
        self.park(WaitsFor::Time, pin!(pending()), until);
    }

    fn spawn(
        self: Arc<Self>,
        builder: FiberBuilder,
        body: Box<dyn FnOnce() + Send>,
    ) -> Result<(), StackError> {
        self.inside.lock().threads += 1;
        let node = self.clone();
        let thread = move || {
            body();
            node.thread_ended();
        };
        self.start(builder, thread)
    }

    fn session(&self) -> WeakSession {
        self.inside.lock().session.clone()
    }
}

//! A simulated process as its fibers see it: where they wait, in virtual time, and what becomes of them when it ends.

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

/// How long a thread gives way, or a process that only looks whether something has come. Were it no time, one that does so until something comes would stop the clock.
pub const INSTANT: Duration = Duration::from_micros(1);

/// What comes to a process.
#[derive(Debug)]
pub enum Incoming {
    /// Something from the network.
    Travel(Travel),
    /// A time that its protocols have asked for.
    Tick,
}

/// The session of a process, as the simulation drives it.
pub trait Machine: Send + Sync {
    /// Takes what comes.
    fn take(&self, incoming: Incoming);
    /// Goes on with what is left to be handed over.
    fn go_on(&self);
    /// The program has ended: so does the session, if it has not.
    fn exit(&self);
    /// Whether all that a session that has ended had sent is taken, or nobody takes any of it.
    fn has_lingered(&self) -> bool;
    /// The process is no more: forgets what its protocols hold.
    fn forget(&self);
    /// What a thread waits for, in words.
    fn describe(&self, what: WaitsFor) -> String;
}

/// What a process that another one had started is to run.
#[derive(Debug)]
pub struct Command {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub parent: Rank,
}

/// A simulated process: one incarnation, if it was restarted.
pub struct Node {
    pub rank: Rank,
    /// Which of all processes that there have been it is, those that it began with first.
    pub life: usize,
    /// Which incarnation of its rank it is, counted from 1.
    pub birth: u64,
    /// What it runs, if it was spawned.
    pub command: Option<Arc<Command>>,
    pub switch: Arc<Switch>,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    machine: Option<Arc<dyn Machine>>,
    session: WeakSession,
    phase: Phase,
    /// All that live.
    fibers: Vec<Detached<Many>>,
    /// Those of them that are the program's.
    threads: usize,
    parked: BTreeMap<u64, Parked>,
    parks: u64,
    /// What came while it was stopped, or had not joined.
    kept: Vec<What>,
    /// It was stopped before it had joined.
    will_stop: bool,
    /// What a fiber panicked with that nobody joins.
    panic: Option<String>,
}

/// What a process is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// The others have yet to let it in.
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
    /// Whether it has neither ended nor been crashed.
    fn is_there(self) -> bool {
        matches!(self, Self::Joins | Self::Runs | Self::Stopped)
    }
}

/// How a process is, or was at its end.
pub struct State {
    pub is_crashed: bool,
    /// What one of its fibers panicked with, where nobody was told.
    pub panic: Option<String>,
    /// What its threads wait for.
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

/// While it lives, fibers of this OS thread are a simulation's.
pub struct Here {
    /// One that is begun in a simulation comes to nothing.
    did_before: bool,
    _runtime: Installed,
}

impl Here {
    /// From now on.
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

    /// One that this one has started, which has yet to join.
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

    /// The next incarnation of this one, which has yet to join.
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

    /// The others have let it in. Whether it has yet to begin.
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

    /// What came before it had joined, now that it takes it; nothing if it is stopped.
    pub fn take_kept(&self) -> Vec<What> {
        let mut inside = self.inside.lock();
        match inside.phase {
            Phase::Runs => std::mem::take(&mut inside.kept),
            _ => Vec::new(),
        }
    }

    /// The process that the caller is a fiber of; none outside of simulations.
    // Not inlined: a fiber that switched would otherwise go on with the thread-local address of the processor it came from.
    #[inline(never)]
    pub fn of_caller() -> Option<Arc<Self>> {
        if !SIMULATES.get() || !ManyServers::is_caller() {
            return None;
        }
        let node: *const Self = ManyServers::local().cast_const().cast();
        if node.is_null() {
            return None;
        }
        // SAFETY: in a simulation what a fiber keeps as its own was set by `start`, and the fiber's body owns one reference to it.
        unsafe {
            Arc::increment_strong_count(node);
            Some(Arc::from_raw(node))
        }
    }

    /// Gives it the session that is driven for it.
    pub fn install(&self, machine: Arc<dyn Machine>) {
        self.inside.lock().machine = Some(machine);
    }

    /// Gives it the session that its program joins.
    pub fn install_session(&self, session: WeakSession) {
        self.inside.lock().session = session;
    }

    pub fn machine(&self) -> Option<Arc<dyn Machine>> {
        self.inside.lock().machine.clone()
    }

    pub fn phase(&self) -> Phase {
        self.inside.lock().phase
    }

    /// Whether it has neither ended nor been crashed.
    pub fn is_there(&self) -> bool {
        self.phase().is_there()
    }

    /// The same, as protocols count it.
    pub fn time(&self) -> Time {
        self.switch.time()
    }

    /// Returns the time by this process's own clock.
    pub fn clock(&self) -> Time {
        self.switch.clock_of(self.rank)
    }

    /// Does what its protocols want of the network, and gives back what they want of the process itself.
    pub fn perform(&self, action: Action) -> Option<Action> {
        // Handles that outlast the simulation reach nobody.
        match self.is_there() {
            true => self
                .switch
                .medium(|medium| medium.perform(self.rank, action)),
            false => None,
        }
    }

    /// How far bytes between it and a peer are.
    pub fn transfer(&self, now: Time, peer: Rank) -> Transfer {
        (self.switch).medium(|medium| medium.network.transfer(now, self.rank, peer))
    }

    /// What comes up at a time.
    pub fn add(&self, at: Time, what: What) {
        self.switch.medium(|medium| medium.add(at, what));
    }

    /// Starts a fiber that is none of its program's.
    ///
    /// # Errors
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
        // SAFETY: a simulation has one server, so no fiber ever goes on on another OS thread; panics are caught.
        let fiber = unsafe { ManyServers::detach(builder, own, fiber) }?;
        self.inside.lock().fibers.push(fiber);
        Ok(())
    }

    fn release(&self) {
        let this = ManyServers::this();
        self.inside.lock().fibers.retain(|fiber| *fiber != this);
    }

    /// A thread of its program has ended. With the last of them the process ends.
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

    /// A fiber panicked, and nobody is told: the process dies of it.
    pub fn fail(&self, words: String) {
        self.inside.lock().panic.get_or_insert(words);
        self.switch.crash(self);
    }

    /// Notes a fiber that waits; the number of its wait, which may be one that it has already.
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

    /// The time of a wait has come.
    pub fn wake(&self, number: u64) {
        let waker = {
            let state = self.inside.lock();
            state.parked.get(&number).map(|parked| parked.waker.clone())
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Keeps what comes up for it if it is stopped, and gives it back else; nothing comes up for one that is no more.
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

    /// Lets it go on; what came meanwhile.
    pub fn go_on(&self) -> Vec<What> {
        let mut state = self.inside.lock();
        state.will_stop = false;
        if state.phase != Phase::Stopped {
            return Vec::new();
        }
        state.phase = Phase::Runs;
        std::mem::take(&mut state.kept)
    }

    /// Ends it: none of its fibers runs again. Whether it was there until now.
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
            // SAFETY: what is on its stack is left where it is, as kill -9 leaves it. Other fibers of this process, which alone know of anything there, do not run again
            // either, and what wakes it holds no more than its waker.
            unsafe { fiber.kill() };
        }
        // Each is thrown away when it would run next.
        parked.into_values().for_each(|parked| parked.waker.wake());
        if let Some(machine) = machine {
            machine.forget();
        }
        true
    }

    /// Whether a fiber waits for a time that will come.
    pub fn has_time(&self) -> bool {
        let state = self.inside.lock();
        state.phase == Phase::Runs && state.parked.values().any(|parked| parked.has_time)
    }

    /// How it is.
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

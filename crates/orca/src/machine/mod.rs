//! A machine of a program: its copies, its processes, and the path of an invocation to its object.
//!
//! Sequential consistency over all objects follows Fekete, Kaashoek and Lynch (1998). Writes to
//! replicas happen at their places in one order. Every call and reply carries how far its sender
//! has come in that order, and its receiver waits for that place before it goes on.
//!
//! `begun` is the place that this machine is executing, and `applied` the last one that it has
//! finished. A sender reports `begun`, because a thread may see the changes of a place before that
//! is finished. A receiver waits for `applied`.

mod execution;
mod invocation;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use antiphon_panda::thread::{Condition, Mutex as Blocking};
use antiphon_panda::{Group, Quiescence, Rank, Session};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::cell::{Cell, Outcome};
use crate::entry::{Answer, Effect, Entry, Executed, ObjectId};
use crate::error::{BlockedProcess, Error};
use crate::event::Observer;
use crate::fault::{Fault, Mutant};
use crate::order::{Common, Order};
use crate::partitioned::{Arrays, Site};
use crate::placement::Costs;
use crate::remote::Request;
use crate::statistics::MachineStatistics;
use crate::waiters::Waiters;

/// The group of all machines of a program.
pub const GROUP: &str = "orca";

/// A test's view of executions: the execution, its machine, its place, and whether the order itself
/// executed it.
pub type Trace = Arc<dyn Fn(Executed<'_>, Rank, u64, bool) + Send + Sync>;

/// A machine of a program.
pub struct Machine {
    pub session: Session,
    pub rank: Rank,
    pub fault: Fault,
    pub trace: Option<Trace>,
    pub observer: Option<Observer>,
    pub quiescence: Quiescence,
    pub group: OnceLock<Group>,
    /// The place that this machine is at.
    pub begun: AtomicU64,
    /// The last place that it has done.
    pub applied: AtomicU64,
    /// Writes of this machine without a waiting process: sent, and come back.
    pub issued: AtomicU64,
    pub landed: AtomicU64,
    /// The number of times that a blocked process went on.
    pub activations: AtomicU64,
    next: AtomicU64,
    is_over: AtomicBool,
    ordered_ns: AtomicU64,
    call_ns: AtomicU64,
    pub objects: Mutex<BTreeMap<ObjectId, Arc<Entry>>>,
    pub arrays: Arrays,
    pub common: Mutex<Common>,
    pub own: Mutex<Own>,
    pub waiters: Mutex<Waiters>,
    pub daemon: Blocking<Daemon>,
    pub wakes: Condition,
    /// The counts of objects that have ended.
    pub past: Mutex<MachineStatistics>,
}

/// The part of a machine's state that no other machine has.
#[derive(Default)]
pub struct Own {
    /// Processes that wait for their own message in the order, by its number.
    cells: BTreeMap<u64, Arc<Cell>>,
    /// Requests that came before the place at which they were sent.
    pub deferred: BTreeMap<u64, Vec<Request>>,
    /// Processes that may wait for an object.
    pub waiting: BTreeMap<u64, Waiting>,
    /// Processes that have not ended.
    pub live: u64,
    /// The reason why all operations fail.
    failure: Option<Error>,
}

/// A process that may wait for an object.
pub struct Waiting {
    process: Arc<str>,
    entry: Arc<Entry>,
    operation: usize,
}

impl Waiting {
    /// Returns the same in words.
    pub fn describe(&self, machine: Rank) -> BlockedProcess {
        let operation = &self.entry.object_type.operations()[self.operation];
        BlockedProcess {
            machine,
            process: self.process.to_string(),
            object: self.entry.name(),
            operation: operation.name.clone(),
            guard: operation.guards(),
        }
    }
}

/// The tasks of the machine's own thread.
#[derive(Default)]
pub struct Daemon {
    pub starts: VecDeque<Start>,
    /// Arrays whose thread has yet to begin.
    pub sites: Vec<Arc<Site>>,
    /// When to report once more which processes wait here.
    pub again: Option<(Instant, u64, Vec<Rank>)>,
    pub end: Option<Result<(), Error>>,
    /// Processes that failed.
    pub failures: Vec<Error>,
}

/// A process that is to begin.
pub struct Start {
    pub process: String,
    pub arguments: Bytes,
    /// The objects of its arguments, one for each handle.
    pub objects: Vec<ObjectId>,
}

impl Machine {
    pub fn new(
        session: &Session,
        fault: Fault,
        trace: Option<Trace>,
        observer: Option<Observer>,
    ) -> Result<Arc<Self>, antiphon_panda::Error> {
        let costs = Costs::default();
        Ok(Arc::new(Self {
            session: session.clone(),
            rank: session.rank(),
            fault,
            trace,
            observer,
            quiescence: session.quiescence()?,
            group: OnceLock::new(),
            begun: AtomicU64::new(0),
            applied: AtomicU64::new(0),
            issued: AtomicU64::new(0),
            landed: AtomicU64::new(0),
            activations: AtomicU64::new(0),
            next: AtomicU64::new(1),
            is_over: AtomicBool::new(false),
            ordered_ns: AtomicU64::new(costs.ordered_ns),
            call_ns: AtomicU64::new(costs.call_ns),
            objects: Mutex::default(),
            arrays: Arrays::default(),
            common: Mutex::default(),
            own: Mutex::default(),
            waiters: Mutex::default(),
            daemon: Blocking::new(Daemon::default()),
            wakes: Condition::new(),
            past: Mutex::default(),
        }))
    }

    pub fn costs(&self) -> Costs {
        Costs {
            ordered_ns: self.ordered_ns.load(Ordering::Relaxed),
            call_ns: self.call_ns.load(Ordering::Relaxed),
        }
    }

    pub fn set_costs(&self, costs: Costs) {
        self.ordered_ns.store(costs.ordered_ns, Ordering::Relaxed);
        self.call_ns.store(costs.call_ns, Ordering::Relaxed);
    }

    pub fn entry(&self, object: ObjectId) -> Option<Arc<Entry>> {
        self.objects.lock().get(&object).cloned()
    }

    pub fn all_entries(&self) -> Vec<Arc<Entry>> {
        self.objects.lock().values().cloned().collect()
    }

    pub fn is_machine(&self, rank: Rank) -> bool {
        self.common.lock().machines.contains_key(&rank)
    }

    /// Checks that the program goes on here.
    pub fn check(&self) -> Result<(), Error> {
        if !self.is_over.load(Ordering::Acquire) {
            return Ok(());
        }
        let failure = self.own.lock().failure.clone();
        Err(failure.unwrap_or(Error::Over))
    }

    /// Returns whether all pipelined writes of this machine have come back.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.landed.load(Ordering::Acquire) == self.issued.load(Ordering::Acquire)
    }

    /// Waits for the machine's own writes, so that what comes next sees them.
    pub fn settle(&self) -> Result<(), Error> {
        if self.is_settled() || self.fault.is(Mutant::ReadOvertakesOwnWrite) {
            return Ok(());
        }
        let issued = self.issued.load(Ordering::Acquire);
        let has_landed = || self.landed.load(Ordering::Acquire) >= issued;
        self.wait_until(has_landed)
    }

    /// Waits for a condition that upcalls bring about, or for the end of the program here.
    pub fn wait_until(&self, mut holds: impl FnMut() -> bool) -> Result<(), Error> {
        let is_over = || self.is_over.load(Ordering::Acquire);
        self.session.wait_until(|| holds() || is_over(), None)?;
        match holds() {
            true => Ok(()),
            false => self.check().and(Err(Error::Over)),
        }
    }

    /// Sends a message through the order. The machine counts as active until it has come back.
    pub fn send(&self, order: &Order, body: Bytes) -> Result<(), Error> {
        self.check()?;
        let message = order.pack(body)?;
        let group = self.group.get().ok_or(Error::Over)?;
        if order.is_work() {
            self.quiescence.active();
        }
        group.send(message).map_err(|error| {
            if order.is_work() {
                self.quiescence.passive();
            }
            Error::from(error)
        })
    }

    /// Sends a message through the order, and waits for its outcome.
    pub fn ask(&self, order: impl FnOnce(u64) -> Order, body: Bytes) -> Result<Outcome, Error> {
        let (number, cell) = self.awaited();
        let sent = self.send(&order(number), body);
        let sent = sent.and_then(|()| self.wait_until(|| cell.is_tried()));
        if let Err(error) = sent {
            self.no_more_awaited(number);
            return Err(error);
        }
        Ok(self.await_outcome(&cell))
    }

    /// Makes a cell for an outcome. The end of the program would also fill it.
    pub fn awaited(&self) -> (u64, Arc<Cell>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let cell = Cell::new();
        self.own.lock().cells.insert(number, cell.clone());
        (number, cell)
    }

    pub fn no_more_awaited(&self, number: u64) {
        self.own.lock().cells.remove(&number);
    }

    /// Performs the actions that were not possible under a lock, in a process of the program. The
    /// process that drives the session may wait for one of them, and no upcall would tell it.
    pub fn perform_here(&self, effects: Vec<Effect>) {
        if self.perform(effects) {
            self.session.notify();
        }
    }

    /// Performs the actions that were not possible under a lock. Returns whether the process that
    /// drives the session waited for one of them, as it learns by itself if this is an upcall.
    pub fn perform(&self, effects: Vec<Effect>) -> bool {
        let mut has_driver = false;
        for effect in effects {
            match effect {
                Effect::Answer(Answer::Here(cell), outcome) => {
                    has_driver |= cell.complete(outcome, || self.resume());
                }
                Effect::Answer(Answer::Caller(reply, from), outcome) => {
                    self.reply(reply, from, outcome);
                }
                Effect::Answer(Answer::Origin(rank, number), outcome) => {
                    if rank == self.rank {
                        let cell = self.own.lock().cells.remove(&number);
                        if let Some(cell) = cell {
                            has_driver |= cell.complete(outcome, || self.resume());
                        }
                    }
                }
                Effect::Block(Answer::Here(cell)) => {
                    if cell.block() {
                        self.pause();
                    }
                }
                Effect::Block(Answer::Origin(rank, number)) => {
                    let cell = (rank == self.rank)
                        .then(|| self.own.lock().cells.get(&number).cloned())
                        .flatten();
                    if cell.is_some_and(|cell| cell.block()) {
                        self.pause();
                    }
                }
                Effect::Block(Answer::Caller(..)) => {}
                Effect::Send(order, body) => {
                    // It fails where the program is over here.
                    let _ = self.send(&order, body);
                }
            }
        }
        has_driver
    }

    /// Records that a process is blocked.
    pub fn pause(&self) {
        if !self.fault.is(Mutant::CountsBlockedAsActive) {
            self.quiescence.passive();
        }
    }

    /// Records that a process goes on.
    pub fn resume(&self) {
        self.activations.fetch_add(1, Ordering::AcqRel);
        if !self.fault.is(Mutant::CountsBlockedAsActive) && !self.fault.is(Mutant::ForgetsActivity)
        {
            self.quiescence.active();
        }
    }

    /// Starts a process, which counts as active from now on.
    pub fn start(&self, start: Start) {
        self.quiescence.active();
        self.own.lock().live += 1;
        self.report();
        self.daemon.lock().starts.push_back(start);
        self.wakes.broadcast();
    }

    /// Reports how many processes there are here.
    pub fn report(&self) {
        let live = self.own.lock().live;
        // A single number is always short enough.
        if let Ok(report) = antiphon_panda::Message::of(&live) {
            let _ = self.quiescence.report(report);
        }
    }

    /// Ends the machine's part in the program.
    pub fn end(&self, outcome: Result<(), Error>) {
        self.daemon.lock().end.get_or_insert(outcome);
        self.wakes.broadcast();
    }

    /// Makes all waiting and future operations here fail.
    pub fn fail(&self, error: Error) {
        self.stop(error.clone());
        let effects = self.end_all_with(&error);
        self.perform(effects);
        self.end(Err(error));
    }

    /// Makes all operations fail from now on.
    pub fn stop(&self, error: Error) {
        self.own.lock().failure.get_or_insert(error);
        self.is_over.store(true, Ordering::Release);
    }

    /// Ends all waits here.
    pub fn end_all_with(&self, error: &Error) -> Vec<Effect> {
        let failed = Outcome::Failed(error.clone());
        let mut effects = Vec::new();
        for entry in self.all_entries() {
            let mut copy = entry.copy.write();
            effects.extend(copy.end_all(&failed));
            effects.extend(copy.end_wishes(&failed));
        }
        let cells = std::mem::take(&mut self.own.lock().cells);
        let cells = cells.into_values().map(Answer::Here);
        effects.extend(cells.map(|cell| Effect::Answer(cell, failed.clone())));
        effects
    }
}

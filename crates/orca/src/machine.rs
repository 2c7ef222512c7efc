//! A machine of a program: its copies, its processes, and the path of an invocation to its object.
//!
//! Sequential consistency over all objects follows Fekete, Kaashoek and Lynch (1998). Writes to
//! replicas happen at their places in one order. Every call and reply carries how far its sender
//! has come in that order, and its receiver waits for that place before it goes on.
//!
//! `begun` is the place that this machine is executing, and `applied` the last one that it has
//! finished. A sender reports `begun`, because a thread may see the changes of a place before that
//! is finished. A receiver waits for `applied`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use antiphon_panda::thread::{Condition, Mutex as Blocking};
use antiphon_panda::{Group, Quiescence, Rank, Session};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::cell::{Cell, Outcome};
use crate::entry::{
    Answer, Copy, Effect, Entry, Executed, Invocation, ObjectId, Ticket, completed,
};
use crate::error::{BlockedProcess, Error};
use crate::event::{EventKind, Observer, operation_of};
use crate::fault::{Fault, Mutant};
use crate::object::Body;
use crate::order::{Common, Order};
use crate::partitioned::{Arrays, Site};
use crate::placement::{Costs, Location};
use crate::remote::Request;
use crate::statistics::{MachineStatistics, count};
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

/// Removes a process from the waiting ones when it is dropped.
struct Waits<'a>(&'a Machine, Option<u64>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.1 {
            self.0.own.lock().waiting.remove(&number);
        }
    }
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

    /// Executes an operation on an object, wherever its copies are, and waits for the result.
    pub fn invoke(
        &self,
        entry: &Arc<Entry>,
        operation: usize,
        arguments: Bytes,
        process: &Arc<str>,
    ) -> Result<Bytes, Error> {
        let ticket = (self.rank, self.next.fetch_add(1, Ordering::Relaxed));
        let (mut has_waited, mut way) = (false, EventKind::Invocation);
        let began = self.observed();
        loop {
            self.check()?;
            let invocation = (operation, &arguments, ticket, has_waited);
            match self.invoke_once(entry, invocation, process, &mut way)? {
                Outcome::Done(result) => {
                    let is_short = way == EventKind::Invocation
                        && !entry.object_type.operations()[operation].may_block();
                    let began = began.filter(|_| !is_short);
                    self.observe(began, way, Some(ticket), || operation_of(entry, operation));
                    return Ok(result);
                }
                Outcome::Failed(error) => return Err(error),
                Outcome::Again => has_waited = true,
            }
        }
    }

    fn invoke_once(
        &self,
        entry: &Arc<Entry>,
        (index, arguments, ticket, has_waited): (usize, &Bytes, Ticket, bool),
        process: &Arc<str>,
        way: &mut EventKind,
    ) -> Result<Outcome, Error> {
        let operation = &entry.object_type.operations()[index];
        let is_pure = operation.is_pure_write();
        let is_replicated = matches!(entry.copy.read().location, Location::Replicated);
        if !(is_pure && is_replicated) {
            self.settle()?;
        }
        // A clone allocates, which calls of other machines do without.
        let invocation = || (index, arguments.clone(), ticket);
        let mut copy = entry.copy.write();
        if let Some(error) = entry.unusable(&copy) {
            return Ok(Outcome::Failed(error));
        }
        match copy.location {
            Location::Replicated => {
                let reads = |body: &Body| matches!(body, Body::Reads(_));
                // An invocation that comes again goes through the order, even if it could read
                // here: others may wait for its turn.
                let may_read = operation.only_reads() || !has_waited;
                if may_read
                    && operation.alternatives.iter().any(|it| reads(&it.body))
                    && let Some(outcome) = self.read_copy(entry, &copy, index, arguments)
                {
                    return Ok(outcome);
                }
                if operation.only_reads() {
                    let cell = Cell::new();
                    copy.blocked.push_back(Invocation {
                        operation: index,
                        arguments: arguments.clone(),
                        answer: Answer::Here(cell.clone()),
                        ticket,
                    });
                    drop(copy);
                    count(&entry.counts.blocked);
                    let outcome = self.wait_blocked(entry, index, process, &cell);
                    if matches!(outcome, Outcome::Done(_)) {
                        count(&entry.counts.other_reads);
                    }
                    return Ok(outcome);
                }
                let is_early = is_pure && self.fault.is(Mutant::AppliesBeforePlace);
                let effects = match is_early {
                    true => self.execute(entry, &mut copy, invocation(), None, false),
                    false => Vec::new(),
                };
                drop(copy);
                self.perform_here(effects);
                *way = EventKind::Write;
                self.write_replicas(entry, (index, arguments, ticket.1), process)
            }
            Location::Owned(owner) if owner == self.rank => {
                let cell = Cell::new();
                if copy.is_moving
                    && !operation.only_reads()
                    && !self.fault.is(Mutant::DoesNotFreeze)
                {
                    copy.held.push(Answer::Here(cell.clone()));
                    drop(copy);
                    return Ok(self.wait_blocked(entry, index, process, &cell));
                }
                let (reads, writes) = if operation.only_reads() {
                    count(&entry.counts.other_reads);
                    (1, 0)
                } else {
                    count(&entry.counts.local_writes);
                    (0, 1)
                };
                copy.usage.note(self.rank, reads, writes);
                let answer = Some(Answer::Here(cell.clone()));
                let waits = self.waits(entry, index, process);
                let effects = self.execute(entry, &mut copy, invocation(), answer, false);
                drop(copy);
                self.perform_here(effects);
                let outcome = self.await_outcome(&cell);
                drop(waits);
                Ok(outcome)
            }
            Location::Owned(owner) => {
                drop(copy);
                *way = EventKind::Call;
                count(&entry.counts.remote_calls);
                let waits = self.waits(entry, index, process);
                let outcome = self.call_owner(entry, owner, (index, arguments, ticket.1));
                drop(waits);
                outcome
            }
            Location::Lost(_) => Ok(Outcome::Again),
        }
    }

    /// Makes all machines write their copies.
    fn write_replicas(
        &self,
        entry: &Arc<Entry>,
        (index, arguments, ticket): (usize, &Bytes, u64),
        process: &Arc<str>,
    ) -> Result<Outcome, Error> {
        count(&entry.counts.ordered_writes);
        let reads = entry.take_reads();
        let order = |number| Order::Write {
            number,
            object: entry.id,
            operation: index as u32,
            ticket,
            reads,
        };
        if entry.object_type.operations()[index].is_pure_write() {
            self.issued.fetch_add(1, Ordering::AcqRel);
            let sent = self.send(&order(0), arguments.clone());
            sent.inspect_err(|_| {
                self.landed.fetch_add(1, Ordering::AcqRel);
            })?;
            return Ok(Outcome::Done(Bytes::new()));
        }
        let waits = self.waits(entry, index, process);
        let outcome = self.ask(order, arguments.clone());
        drop(waits);
        outcome
    }

    /// Tries the alternatives that only read on the copy here; `None` if none is open.
    fn read_copy(
        &self,
        entry: &Entry,
        copy: &Copy,
        index: usize,
        arguments: &Bytes,
    ) -> Option<Outcome> {
        let state = copy.state.as_deref()?;
        entry.reads.fetch_add(1, Ordering::Relaxed);
        match completed(entry.object_type.attempt_reads(index, state, arguments)) {
            Ok(Some((result, _))) => {
                self.record(entry, index, arguments, &result, false);
                Some(Outcome::Done(result.into()))
            }
            Ok(None) => {
                count(&entry.counts.closed_reads);
                None
            }
            Err(why) => Some(Outcome::Failed(entry.failed(index, &why))),
        }
    }

    /// Waits for an invocation that is blocked here already.
    fn wait_blocked(
        &self,
        entry: &Arc<Entry>,
        index: usize,
        process: &Arc<str>,
        cell: &Arc<Cell>,
    ) -> Outcome {
        let _waits = self.waits(entry, index, process);
        if cell.block() {
            self.pause();
        }
        self.await_outcome(cell)
    }

    /// Adds a process that may block to the waiting ones.
    fn waits(&self, entry: &Arc<Entry>, index: usize, process: &Arc<str>) -> Waits<'_> {
        let operation = &entry.object_type.operations()[index];
        if !operation.may_block() {
            return Waits(self, None);
        }
        let waiting = Waiting {
            process: process.clone(),
            entry: entry.clone(),
            operation: index,
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.own.lock().waiting.insert(number, waiting);
        Waits(self, Some(number))
    }

    /// Executes an invocation on the copy here, or blocks it. Then executes those that it unblocks.
    pub fn execute(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        (operation, arguments, ticket): (usize, Bytes, Ticket),
        answer: Option<Answer>,
        is_ordered: bool,
    ) -> Vec<Effect> {
        let waits = !copy.returning.is_empty()
            && copy.state.is_some()
            && entry.object_type.operations()[operation].may_block();
        if waits && let Some(answer) = answer {
            let invocation = Invocation {
                operation,
                arguments,
                answer,
                ticket,
            };
            return self.wait_for_turn(entry, copy, invocation, is_ordered);
        }
        let Some(state) = copy.state.as_mut() else {
            return Vec::new();
        };
        let began = self.observed();
        let attempt = entry
            .object_type
            .attempt(operation, state, &arguments, self.fault);
        let mut effects = Vec::new();
        match completed(attempt) {
            Ok(Some((result, has_written))) => {
                self.record(entry, operation, &arguments, &result, is_ordered);
                self.observe_execution(entry, operation, ticket, began, is_ordered);
                if self.fault.is(Mutant::ExecutesTwice) && !is_ordered && has_written {
                    let _ = entry
                        .object_type
                        .attempt(operation, state, &arguments, self.fault);
                }
                effects.extend(self.answered(answer, result));
                if has_written {
                    effects.extend(self.retry(entry, copy, is_ordered));
                }
            }
            Ok(None) => {
                // A write without a waiting process never blocks.
                if let Some(answer) = answer {
                    if answer.concerns(self.rank) {
                        count(&entry.counts.blocked);
                        effects.extend(answer.blocks().map(Effect::Block));
                    }
                    copy.blocked.push_back(Invocation {
                        operation,
                        arguments,
                        answer,
                        ticket,
                    });
                }
            }
            Err(why) => {
                let failed = Outcome::Failed(entry.failed(operation, &why));
                effects.extend(answer.map(|it| Effect::Answer(it, failed)));
                effects.extend(entry.break_it(copy, operation, &why));
            }
        }
        effects
    }

    /// Returns the answer of an operation, unless it is the task of another machine.
    fn answered(&self, answer: Option<Answer>, result: Vec<u8>) -> Option<Effect> {
        let answer = answer.filter(|it| it.concerns(self.rank))?;
        Some(Effect::Answer(answer, Outcome::Done(result.into())))
    }

    /// Lets an invocation wait for those that were blocked before the object came here.
    fn wait_for_turn(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        invocation: Invocation,
        is_ordered: bool,
    ) -> Vec<Effect> {
        let mut effects: Vec<_> = invocation
            .answer
            .blocks()
            .map(Effect::Block)
            .into_iter()
            .collect();
        let mut returning = copy.returning.iter_mut();
        match returning.find(|(ticket, _)| *ticket == invocation.ticket) {
            Some((_, place)) => *place = Some(invocation),
            None => copy.blocked.push_back(invocation),
        }
        if copy.let_return() {
            effects.extend(self.retry(entry, copy, is_ordered));
        }
        effects
    }
    /// Tries blocked invocations again, first come first, until none can go on.
    pub fn retry(&self, entry: &Entry, copy: &mut Copy, is_ordered: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut at = 0;
        if self.fault.is(Mutant::DropsWakeUp) || !copy.returning.is_empty() {
            return effects;
        }
        while at < copy.blocked.len() {
            let index = match self.fault.is(Mutant::WakesLastFirst) {
                true => copy.blocked.len() - 1 - at,
                false => at,
            };
            let Some(state) = copy.state.as_mut() else {
                break;
            };
            let it = &copy.blocked[index];
            let operation = it.operation;
            count(&entry.counts.retries);
            let began = self.observed();
            let attempt = entry
                .object_type
                .attempt(operation, state, &it.arguments, self.fault);
            match completed(attempt) {
                Ok(Some((result, has_written))) => {
                    let Some(it) = copy.blocked.remove(index) else {
                        break;
                    };
                    let is_ordered = is_ordered && matches!(it.answer, Answer::Origin(..));
                    self.record(entry, operation, &it.arguments, &result, is_ordered);
                    self.observe_execution(entry, operation, it.ticket, began, is_ordered);
                    effects.extend(self.answered(Some(it.answer), result));
                    if has_written {
                        at = 0;
                    }
                }
                Ok(None) if self.fault.is(Mutant::WakesFirstOnly) => break,
                Ok(None) => at += 1,
                Err(why) => {
                    if let Some(it) = copy.blocked.remove(index) {
                        let failed = Outcome::Failed(entry.failed(operation, &why));
                        effects.push(Effect::Answer(it.answer, failed));
                    }
                    effects.extend(entry.break_it(copy, operation, &why));
                }
            }
        }
        effects
    }

    fn record(
        &self,
        entry: &Entry,
        operation: usize,
        arguments: &[u8],
        result: &[u8],
        is_ordered: bool,
    ) {
        if let Some(trace) = &self.trace {
            let executed = Executed {
                object: entry.id,
                operation: &entry.object_type.operations()[operation].name,
                arguments,
                result,
            };
            trace(
                executed,
                self.rank,
                self.begun.load(Ordering::Acquire),
                is_ordered,
            );
        }
    }

    /// Reports an execution for another machine, or of a write at its place in the order.
    fn observe_execution(
        &self,
        entry: &Entry,
        operation: usize,
        ticket: Ticket,
        began: Option<Instant>,
        is_ordered: bool,
    ) {
        let began = began.filter(|_| is_ordered || ticket.0 != self.rank);
        let name = || operation_of(entry, operation);
        self.observe(began, EventKind::Execution, Some(ticket), name);
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

impl Answer {
    /// Returns whether this machine answers it, and counts it if it blocks: it does for its own
    /// processes, and as an owner for callers.
    fn concerns(&self, machine: Rank) -> bool {
        match self {
            Self::Here(_) | Self::Caller(..) => true,
            Self::Origin(rank, _) => *rank == machine,
        }
    }

    /// Returns the process that learns that it blocks, unless it belongs to a caller.
    fn blocks(&self) -> Option<Self> {
        match self {
            Self::Here(cell) => Some(Self::Here(cell.clone())),
            Self::Origin(rank, number) => Some(Self::Origin(*rank, *number)),
            Self::Caller(..) => None,
        }
    }
}

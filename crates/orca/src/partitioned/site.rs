//! The part of an array on one machine, and the thread that executes the array's operations there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use antiphon_panda::thread::{Condition, Mutex as Blocking};
use antiphon_panda::{DecodeError, Rank};
use bytes::Bytes;

use super::invocation::Task;
use super::kind::{
    Access, ArrayBody, ArrayOperation, ArrayType, Declaring, LastUse, Part, Ran, Reads,
};
use super::layout::Plan;
use super::parcel::{Content, Encoded, Stock, Version, lengths_of};
use crate::entry::{Entry, Executed, ObjectId};
use crate::error::Error;
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::object::words_of;
use crate::remote::Refusal;

type Parts = BTreeMap<usize, Arc<Part>>;

/// An operation at its place of the order.
pub struct Job {
    pub place: u64,
    /// The process that waits for the result: its machine, and its number there.
    pub from: Rank,
    pub number: u64,
    pub plan: Arc<Plan>,
    /// The machines that execute it.
    pub owners: Arc<BTreeSet<Rank>>,
    pub task: Task,
}

/// An array on a machine that owns parts of it.
pub struct Site {
    pub object: ObjectId,
    pub entry: Arc<Entry>,
    pub array_type: &'static ArrayType,
    jobs: Blocking<Jobs>,
    wakes: Condition,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Arc<Job>>,
    is_over: bool,
}

impl Site {
    pub fn new(entry: Arc<Entry>, array_type: &'static ArrayType) -> Arc<Self> {
        Arc::new(Self {
            object: entry.id,
            entry,
            array_type,
            jobs: Blocking::new(Jobs::default()),
            wakes: Condition::new(),
        })
    }

    pub fn push(&self, job: Job) {
        self.jobs.lock().waiting.push_back(Arc::new(job));
        self.wakes.broadcast();
    }

    /// Ends its thread after the operation that is being executed.
    pub fn stop(&self) {
        self.jobs.lock().is_over = true;
        self.wakes.broadcast();
    }

    pub fn is_over(&self) -> bool {
        self.jobs.lock().is_over
    }

    fn next(&self) -> Option<Arc<Job>> {
        let mut jobs = self.jobs.lock();
        loop {
            if jobs.is_over {
                return None;
            }
            if let Some(job) = jobs.waiting.pop_front() {
                return Some(job);
            }
            self.wakes.wait(&mut jobs);
        }
    }

    /// Returns the operation after this one, if it has been invoked already.
    fn peek(&self) -> Option<Arc<Job>> {
        self.jobs.lock().waiting.front().cloned()
    }
}

/// The name of a distribution, for errors.
const DISTRIBUTE: &str = "distribute";

/// The payload that unwinds an operation when a part cannot be fetched.
struct Halted(Error);

pub fn halt(error: Error) -> ! {
    resume_unwind(Box::new(Halted(error)))
}

/// The parts that a machine receives and sends before an operation.
#[derive(Default)]
struct Exchange {
    takes: BTreeSet<usize>,
    gives: BTreeMap<Rank, BTreeSet<usize>>,
    schedule: Arc<Schedule>,
}

/// The run of an operation on the own parts.
#[derive(Default)]
struct Schedule {
    /// The own parts in the order in which they run.
    order: Vec<usize>,
    /// The last uses of their old states, the earliest first, where that is known.
    last_uses: Vec<LastUse>,
}

impl Schedule {
    /// Makes the schedule of an operation that reads no other part than its own.
    fn of_own(order: Vec<usize>) -> Self {
        let last_use = |(at, part): (usize, &usize)| LastUse {
            ran: at + 1,
            part: *part,
        };
        let last_uses = order.iter().enumerate().map(last_use).collect();
        Self { order, last_uses }
    }

    /// Makes the schedule of an operation that reads these parts, by own part. Those that need no
    /// other machine come first.
    fn of_reads(reads: &BTreeMap<usize, BTreeSet<usize>>) -> Self {
        let waits = |part: &usize| reads[part].iter().any(|it| !reads.contains_key(it));
        let mut order: Vec<_> = reads.keys().copied().collect();
        order.sort_by_key(waits);
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, part) in order.iter().enumerate() {
            let used = reads[part].iter().filter(|it| reads.contains_key(it));
            last.extend(used.chain([part]).map(|it| (*it, at + 1)));
        }
        let last_use = |(part, ran)| LastUse { ran, part };
        let mut last_uses: Vec<_> = last.into_iter().map(last_use).collect();
        last_uses.sort_by_key(|it| it.ran);
        Self { order, last_uses }
    }
}

/// The parts of other machines that an operation reads.
enum Incoming {
    /// Only these, which are in flight.
    Sent(BTreeSet<usize>),
    /// These are in flight, and others are fetched.
    Fetched(BTreeSet<usize>),
}

/// The thread of a site.
pub struct Worker {
    machine: Arc<Machine>,
    site: Arc<Site>,
    parts: Option<Parts>,
    /// Why no further operation can be executed.
    broken: Option<Error>,
    /// The elements that operations read, by number: as declared, and as recorded.
    declared: BTreeMap<usize, Arc<Exchange>>,
    recorded: BTreeMap<usize, Arc<Exchange>>,
    /// For injected faults only: parts as they came before, and a place for which parts were
    /// already sent.
    stale: RefCell<Parts>,
    early: u64,
}

impl Worker {
    pub fn new(machine: Arc<Machine>, site: Arc<Site>) -> Self {
        Self {
            machine,
            site,
            parts: None,
            broken: None,
            declared: BTreeMap::new(),
            recorded: BTreeMap::new(),
            stale: RefCell::default(),
            early: 0,
        }
    }

    /// Executes the array's operations in their order.
    pub fn run(mut self) {
        while let Some(job) = self.site.next() {
            let outcome = match &self.broken {
                Some(error) => Err(error.clone()),
                None => self.execute(&job),
            };
            if self.site.is_over() {
                return;
            }
            if let Err(error) = &outcome {
                let lasting = self.lasting(error);
                let refusal = Refusal::of(self.broken.get_or_insert(lasting));
                for other in self.others(&job) {
                    self.send(other, &job, Content::Broken(refusal.clone()), Vec::new());
                }
            }
            let object = self.site.object;
            self.machine
                .arrays
                .in_stock(object, |stock| stock.end(job.place));
            self.machine.give_share(object, &job, outcome);
        }
    }

    /// Returns the error of later operations.
    fn lasting(&self, error: &Error) -> Error {
        match error {
            Error::Failed { operation, why, .. } => Error::Broken {
                object: self.site.entry.name(),
                why: format!("{operation}: {why}"),
            },
            other => other.clone(),
        }
    }

    fn others<'a>(&self, job: &'a Job) -> impl Iterator<Item = Rank> + use<'a> {
        let own = self.machine.rank;
        job.owners.iter().copied().filter(move |it| *it != own)
    }

    /// Returns whether this machine owns a part. Numbers from other machines may be of none.
    fn owns(&self, job: &Job, part: usize) -> bool {
        let block = job.plan.blocks().get(part);
        block.is_some_and(|it| it.owner == self.machine.rank)
    }

    fn send(&self, to: Rank, job: &Job, content: Content, body: Vec<Bytes>) {
        self.machine
            .send_parcel(to, self.site.object, job.place, content, body);
    }

    fn execute(&mut self, job: &Job) -> Result<Encoded, Error> {
        let mut parts = match self.parts.take() {
            Some(parts) => parts,
            None => self.begin(&job.plan)?,
        };
        let outcome = match &job.task {
            Task::Distribute {
                to, keeps: true, ..
            } => self.distribute(job, &mut parts, to),
            Task::Distribute { to, first, .. } => self.start_over(job, &mut parts, to, first),
            Task::Operation(index, arguments) => {
                let operation = &self.site.array_type.operations[*index];
                let done = self.operate(job, *index, operation, arguments, &mut parts);
                self.record(job, operation, arguments);
                done
            }
        };
        if self.machine.fault.is(Mutant::ServesNewest) {
            let version = self.version(&parts, BTreeSet::new());
            let object = self.site.object;
            self.machine
                .arrays
                .in_stock(object, |stock| stock.newest = Some(version));
        }
        self.parts = Some(parts);
        outcome
    }

    fn record(&self, job: &Job, operation: &ArrayOperation, arguments: &[u8]) {
        if let Some(trace) = &self.machine.trace {
            let executed = Executed {
                object: self.site.object,
                operation: &operation.name,
                arguments,
                result: &[],
            };
            trace(executed, self.machine.rank, job.place, true);
        }
    }

    fn operate(
        &mut self,
        job: &Job,
        index: usize,
        operation: &'static ArrayOperation,
        arguments: &Bytes,
        parts: &mut Parts,
    ) -> Result<Encoded, Error> {
        match &operation.body {
            ArrayBody::Parallel { reads, run } => {
                let named = (index, operation.name.as_str());
                let incoming = self.exchange(job, named, reads, arguments, parts)?;
                let fetched = RefCell::default();
                let schedule = self.schedule_of(index, reads, parts);
                let run = |access: &mut Access<'_>, own: &[usize]| run(access, own, arguments);
                let exchanged = (&incoming, &fetched);
                let ran = self.run_parallel(job, named.1, exchanged, &schedule, parts, run)?;
                self.end_parallel(job, index, reads, fetched.into_inner())?;
                Ok(ran)
            }
            ArrayBody::Sequential { reads, writes, run } => {
                let leader = match job.owners.contains(&job.from) {
                    true => job.from,
                    false => job.owners.first().copied().unwrap_or(job.from),
                };
                let is_fetched = matches!(reads, Reads::OnDemand);
                if leader != self.machine.rank {
                    match is_fetched {
                        true => self.publish(job, parts, [leader].into()),
                        false => self.give(job, parts, &[leader])?,
                    }
                    return match writes {
                        true => self.take_written(job, leader, parts).map(|()| Vec::new()),
                        false => Ok(Vec::new()),
                    };
                }
                let incoming = match is_fetched {
                    true => Incoming::Fetched(BTreeSet::new()),
                    false => Incoming::Sent((0..job.plan.blocks().len()).collect()),
                };
                let fetched = RefCell::default();
                let exchanged = (&incoming, &fetched);
                let access = self.access(job, &operation.name, exchanged, (parts.clone(), &[]));
                let ran = caught(|| run(&access, arguments));
                let failure = access.failure();
                drop(access);
                let ran = ran
                    .map_err(|why| failure.unwrap_or_else(|| self.explain(&operation.name, why)));
                let (written, result) = ran?;
                self.end_sequential(job, (*writes, is_fetched), written, parts)?;
                Ok(vec![(0, result.into())])
            }
        }
    }

    /// Makes the parts that this machine begins with.
    fn begin(&self, plan: &Plan) -> Result<Parts, Error> {
        let begin = &self.site.array_type.codec.begin;
        let own = plan.owned_by(self.machine.rank);
        let made = caught(|| Ok(own.map(|part| (part, begin(plan, part))).collect()));
        made.map_err(|why| self.explain("(its beginning)", why))
    }

    /// Sends the parts that others read, and finds those that come.
    fn exchange(
        &mut self,
        job: &Job,
        (index, name): (usize, &str),
        reads: &Reads,
        arguments: &[u8],
        parts: &Parts,
    ) -> Result<Incoming, Error> {
        self.send_early(job, parts)?;
        if matches!(
            reads,
            Reads::DeclaredByCall(_) | Reads::Recorded | Reads::OnDemand
        ) {
            self.publish(job, parts, self.others(job).collect());
        }
        Ok(match reads {
            Reads::Own => Incoming::Sent(BTreeSet::new()),
            Reads::OnDemand => Incoming::Fetched(BTreeSet::new()),
            Reads::Whole => {
                if self.early != job.place {
                    let others: Vec<_> = self.others(job).collect();
                    self.give(job, parts, &others)?;
                }
                Incoming::Sent((0..job.plan.blocks().len()).collect())
            }
            Reads::Declared(declare) => {
                let exchange = self.declared_by(job, (index, name), declare)?;
                if self.early != job.place {
                    self.give_as(job, parts, &exchange)?;
                }
                Incoming::Sent(exchange.takes.clone())
            }
            Reads::DeclaredByCall(declare) => {
                let declared = caught(|| {
                    let of = parts
                        .keys()
                        .map(|part| declare(&job.plan, *part, arguments));
                    of.collect::<Result<Vec<_>, DecodeError>>()
                });
                let declared = declared.map_err(|why| self.explain(name, why))?;
                let declared = declared.into_iter().flatten();
                let takes: BTreeSet<_> = declared.filter(|it| !parts.contains_key(it)).collect();
                self.fetch_all(job, &takes);
                Incoming::Sent(takes)
            }
            Reads::Recorded => match self.recorded.get(&index).cloned() {
                None => Incoming::Fetched(BTreeSet::new()),
                Some(exchange) => {
                    self.give_as(job, parts, &exchange)?;
                    Incoming::Fetched(exchange.takes.clone())
                }
            },
        })
    }

    /// Asks the owners of some parts for them.
    fn fetch_all(&self, job: &Job, takes: &BTreeSet<usize>) {
        for owner in self.others(job) {
            let is_its = |part: &usize| job.plan.blocks()[*part].owner == owner;
            let its: Vec<_> = takes.iter().copied().filter(is_its).collect();
            if !its.is_empty() {
                self.send(owner, job, Content::Fetch(its), Vec::new());
            }
        }
    }

    /// An injected fault: sends parts for the next operation before this one has run.
    fn send_early(&mut self, job: &Job, parts: &Parts) -> Result<(), Error> {
        if !self.machine.fault.is(Mutant::SendsPartsEarly) {
            return Ok(());
        }
        let Some(next) = self.site.peek() else {
            return Ok(());
        };
        let is_whole = match &next.task {
            Task::Operation(index, _) => matches!(
                &self.site.array_type.operations[*index].body,
                ArrayBody::Parallel {
                    reads: Reads::Whole | Reads::Declared(_),
                    ..
                }
            ),
            Task::Distribute { .. } => false,
        };
        if is_whole && self.early != job.place {
            let others: Vec<_> = self.others(&next).collect();
            self.give(&next, parts, &others)?;
            self.early = next.place;
        }
        Ok(())
    }

    /// Finds what machines exchange for an operation, once a distribution. It looks at all parts,
    /// so that all machines find the same.
    fn declared_by(
        &mut self,
        job: &Job,
        (index, name): (usize, &str),
        declare: &Declaring,
    ) -> Result<Arc<Exchange>, Error> {
        if let Some(exchange) = self.declared.get(&index) {
            return Ok(exchange.clone());
        }
        let (plan, own) = (&job.plan, self.machine.rank);
        let made = caught(|| {
            let (mut exchange, mut reads) = (Exchange::default(), BTreeMap::new());
            for (part, block) in plan.blocks().iter().enumerate() {
                let read = declare(plan, part);
                let is_own = |part: &usize| plan.blocks()[*part].owner == own;
                if block.owner == own {
                    exchange.takes.extend(read.iter().filter(|it| !is_own(it)));
                    reads.insert(part, read);
                } else if read.iter().any(is_own) {
                    let gives = exchange.gives.entry(block.owner).or_default();
                    gives.extend(read.into_iter().filter(is_own));
                }
            }
            exchange.schedule = Arc::new(Schedule::of_reads(&reads));
            Ok(exchange)
        });
        let made = Arc::new(made.map_err(|why| self.explain(name, why))?);
        self.declared.insert(index, made.clone());
        Ok(made)
    }

    /// Sends all own parts to some machines.
    fn give(&self, job: &Job, parts: &Parts, to: &[Rank]) -> Result<(), Error> {
        let all: BTreeSet<_> = parts.keys().copied().collect();
        let gives = to.iter().map(|machine| (*machine, all.clone())).collect();
        let exchange = Exchange {
            gives,
            ..Exchange::default()
        };
        self.give_as(job, parts, &exchange)
    }

    fn give_as(&self, job: &Job, parts: &Parts, exchange: &Exchange) -> Result<(), Error> {
        let mut encoded: BTreeMap<usize, Bytes> = BTreeMap::new();
        for (machine, given) in &exchange.gives {
            let mut batch = Vec::new();
            for part in given {
                let bytes = match encoded.get(part) {
                    Some(bytes) => bytes.clone(),
                    None => {
                        let bytes: Bytes = self.encode(&parts[part])?.into();
                        encoded.insert(*part, bytes.clone());
                        bytes
                    }
                };
                batch.push((*part, bytes));
            }
            let (lengths, bodies) = lengths_of(batch);
            self.send(*machine, job, Content::Parts(lengths), bodies);
        }
        Ok(())
    }

    fn encode(&self, part: &Arc<Part>) -> Result<Vec<u8>, Error> {
        Ok((self.site.array_type.codec.encode)(&**part)?)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Arc<Part>, Error> {
        Ok((self.site.array_type.codec.decode)(bytes)?)
    }

    fn version(&self, parts: &Parts, readers: BTreeSet<Rank>) -> Version {
        Version {
            array_type: self.site.array_type,
            parts: parts.clone(),
            readers,
        }
    }

    /// Keeps the parts from before an operation, for machines that may ask for them.
    fn publish(&self, job: &Job, parts: &Parts, readers: BTreeSet<Rank>) {
        let version = self.version(parts, readers);
        let object = self.site.object;
        let answers = self
            .machine
            .arrays
            .in_stock(object, |stock| stock.publish(job.place, version));
        for (reader, parts) in answers.unwrap_or_default() {
            let (lengths, bodies) = lengths_of(parts);
            self.send(reader, job, Content::Parts(lengths), bodies);
        }
    }

    /// Returns the schedule of a parallel operation.
    fn schedule_of(&self, index: usize, reads: &Reads, parts: &Parts) -> Arc<Schedule> {
        if let Some(exchange) = self.declared.get(&index) {
            return exchange.schedule.clone();
        }
        let order = parts.keys().copied().collect();
        Arc::new(match reads {
            Reads::Own => Schedule::of_own(order),
            _ => Schedule {
                order,
                last_uses: Vec::new(),
            },
        })
    }

    /// Reports to the others what this machine has fetched, and that it fetches no more.
    fn end_parallel(
        &mut self,
        job: &Job,
        index: usize,
        reads: &Reads,
        fetched: BTreeSet<usize>,
    ) -> Result<(), Error> {
        if !matches!(
            reads,
            Reads::DeclaredByCall(_) | Reads::Recorded | Reads::OnDemand
        ) {
            return Ok(());
        }
        let is_first = matches!(reads, Reads::Recorded) && !self.recorded.contains_key(&index);
        let took = is_first.then(|| fetched.iter().copied().collect());
        for other in self.others(job) {
            self.send(other, job, Content::Finished(took.clone()), Vec::new());
        }
        if is_first {
            let exchange = self.learn(job, fetched)?;
            self.recorded.insert(index, Arc::new(exchange));
        }
        Ok(())
    }

    /// Returns the array for an operation at a place.
    fn access<'a>(
        &'a self,
        job: &'a Job,
        name: &'a str,
        (incoming, fetched): (&'a Incoming, &'a RefCell<BTreeSet<usize>>),
        (own, last_uses): (Parts, &'a [LastUse]),
    ) -> Access<'a> {
        let fetch = move |part: usize| {
            let owner = job.plan.blocks()[part].owner;
            match incoming {
                Incoming::Sent(takes) if !takes.contains(&part) => {
                    let from = &job.plan.blocks()[part].from[..job.plan.lengths().len()];
                    let why = format!(
                        "it reads part {part}, which begins at {from:?}, and does not declare that"
                    );
                    return Err(self.failed(name, why));
                }
                Incoming::Fetched(takes) if !takes.contains(&part) => {
                    fetched.borrow_mut().insert(part);
                    self.send(owner, job, Content::Fetch(vec![part]), Vec::new());
                }
                _ => {}
            }
            self.await_part(job, owner, part)
        };
        Access::new((&job.plan, self.machine.rank), own, last_uses, fetch)
    }

    fn await_part(&self, job: &Job, owner: Rank, part: usize) -> Result<Arc<Part>, Error> {
        let bytes = self.await_stock(job, &[owner], |stock| {
            stock.parts.remove(&(job.place, part))
        })?;
        let elements = self.decode(&bytes)?;
        if self.machine.fault.is(Mutant::SeesStaleParts) {
            let mut stale = self.stale.borrow_mut();
            return Ok(stale.insert(part, elements.clone()).unwrap_or(elements));
        }
        Ok(elements)
    }

    /// Waits for a message about an operation from one of some machines.
    fn await_stock<R>(
        &self,
        job: &Job,
        from: &[Rank],
        find: impl FnMut(&mut Stock) -> Option<R>,
    ) -> Result<R, Error> {
        self.machine.await_stock(&self.site, job.place, from, find)
    }

    fn run_parallel(
        &self,
        job: &Job,
        name: &str,
        (incoming, fetched): (&Incoming, &RefCell<BTreeSet<usize>>),
        schedule: &Schedule,
        parts: &mut Parts,
        run: impl Fn(&mut Access<'_>, &[usize]) -> Result<Vec<Ran>, DecodeError>,
    ) -> Result<Encoded, Error> {
        let Schedule { order, last_uses } = schedule;
        // With this injected fault the operation sees its own writes, because parts are changed one
        // by one.
        let (batches, last_uses): (Vec<&[usize]>, &[LastUse]) =
            match self.machine.fault.is(Mutant::SeesOwnWrites) {
                true => (order.chunks(1).collect(), &[]),
                false => (vec![order], last_uses),
            };
        let mut results = Vec::new();
        for batch in batches {
            let own = (std::mem::take(parts), last_uses);
            let mut access = self.access(job, name, (incoming, fetched), own);
            let ran = caught(|| run(&mut access, batch));
            let ran = ran.map_err(|why| {
                let failure = access.failure();
                failure.unwrap_or_else(|| self.explain(name, why))
            })?;
            for (part, ran) in batch.iter().zip(ran) {
                if let Some(written) = ran.written {
                    access.replace(*part, written);
                }
                results.push((*part, ran.result.into()));
            }
            let own = job.plan.owned_by(self.machine.rank);
            *parts = own.filter_map(|it| Some((it, access.take(it)?))).collect();
        }
        Ok(results)
    }

    /// Waits for the lists of parts that all others have fetched in a first run. Then all know what
    /// to send.
    fn learn(&self, job: &Job, takes: BTreeSet<usize>) -> Result<Exchange, Error> {
        let others: Vec<_> = self.others(job).collect();
        let wanted = match self.machine.fault.is(Mutant::RecordsAlone) {
            true => 0,
            false => others.len(),
        };
        let records = self.await_stock(job, &others, |stock| {
            let records = stock.records.entry(job.place).or_default();
            (records.len() >= wanted).then(|| std::mem::take(records))
        })?;
        let mut exchange = Exchange {
            takes,
            ..Exchange::default()
        };
        for (machine, took) in records {
            let own = took.into_iter().filter(|it| self.owns(job, *it));
            exchange.gives.entry(machine).or_default().extend(own);
        }
        Ok(exchange)
    }

    /// Sends the owners the changes of a sequential operation.
    fn end_sequential(
        &self,
        job: &Job,
        (writes, is_fetched): (bool, bool),
        written: Parts,
        parts: &mut Parts,
    ) -> Result<(), Error> {
        for other in self.others(job) {
            if writes {
                let mut batch = Vec::new();
                for (part, elements) in &written {
                    let is_lost = self.machine.fault.is(Mutant::KeepsWrittenParts);
                    if job.plan.blocks()[*part].owner == other && !is_lost {
                        batch.push((*part, self.encode(elements)?.into()));
                    }
                }
                let (lengths, bodies) = lengths_of(batch);
                self.send(other, job, Content::Written(lengths), bodies);
            }
            if is_fetched {
                self.send(other, job, Content::Finished(None), Vec::new());
            }
        }
        let written = written.into_iter();
        parts.extend(written.filter(|(part, _)| self.owns(job, *part)));
        Ok(())
    }

    fn take_written(&self, job: &Job, leader: Rank, parts: &mut Parts) -> Result<(), Error> {
        let written = self.await_stock(job, &[leader], |stock| stock.written.remove(&job.place))?;
        for (part, bytes) in written.into_iter().filter(|it| self.owns(job, it.0)) {
            parts.insert(part, self.decode(&bytes)?);
        }
        Ok(())
    }

    fn forget_exchanges(&mut self) {
        self.declared.clear();
        self.recorded.clear();
        self.stale.borrow_mut().clear();
    }

    /// Makes the parts of a distribution in which elements start over. The first operation on them
    /// is a part of the same step, so that no other one sees them before.
    fn start_over(
        &mut self,
        job: &Job,
        parts: &mut Parts,
        to: &Arc<Plan>,
        first: &Option<(usize, Bytes)>,
    ) -> Result<Encoded, Error> {
        self.forget_exchanges();
        *parts = self.begin(to)?;
        if let Some((index, arguments)) = first {
            let operation = &self.site.array_type.operations[*index];
            let job = Job {
                place: job.place,
                from: job.from,
                number: job.number,
                plan: to.clone(),
                owners: job.owners.clone(),
                task: Task::Operation(*index, arguments.clone()),
            };
            self.operate(&job, *index, operation, arguments, parts)?;
        }
        Ok(Vec::new())
    }

    /// Sends parts to their new owners, and makes those that this machine has from now on.
    fn distribute(
        &mut self,
        job: &Job,
        parts: &mut Parts,
        to: &Arc<Plan>,
    ) -> Result<Encoded, Error> {
        self.forget_exchanges();
        let own = self.machine.rank;
        let needs = |owner: Rank| -> BTreeSet<usize> {
            let blocks = to.owned_by(owner).map(|part| to.blocks()[part].indices());
            job.plan.parts_of(blocks.flatten())
        };
        let mut exchange = Exchange::default();
        for owner in to.owners().into_iter().filter(|it| *it != own) {
            let given = needs(owner).into_iter().filter(|it| parts.contains_key(it));
            let given: BTreeSet<_> = given.collect();
            if !given.is_empty() {
                exchange.gives.insert(owner, given);
            }
        }
        self.give_as(job, parts, &exchange)?;
        let incoming = Incoming::Sent(needs(own));
        let fetched = RefCell::default();
        let own_parts = (parts.clone(), &[][..]);
        let access = self.access(job, DISTRIBUTE, (&incoming, &fetched), own_parts);
        let regroup = &self.site.array_type.codec.regroup;
        let new = to.owned_by(own);
        let made = caught(|| Ok(new.map(|part| (part, regroup(&access, to, part))).collect()));
        let failure = access.failure();
        drop(access);
        if let Some(error) = failure {
            return Err(error);
        }
        *parts = made.map_err(|why| self.explain(DISTRIBUTE, why))?;
        Ok(Vec::new())
    }

    fn failed(&self, name: &str, why: String) -> Error {
        Error::Failed {
            object: self.site.entry.name(),
            operation: name.into(),
            why,
        }
    }

    fn explain(&self, name: &str, why: Failure) -> Error {
        match why {
            Failure::Said(words) => self.failed(name, words),
            Failure::Halted(error) => error,
        }
    }
}

/// Why a part of an operation did not end.
enum Failure {
    /// It panicked, with this message.
    Said(String),
    /// A part could not be fetched.
    Halted(Error),
}

/// Runs a part of an operation.
fn caught<R>(body: impl FnOnce() -> Result<R, DecodeError>) -> Result<R, Failure> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(outcome) => outcome.map_err(|error| Failure::Said(error.to_string())),
        Err(panic) => Err(match panic.downcast::<Halted>() {
            Ok(halted) => Failure::Halted(halted.0),
            Err(panic) => Failure::Said(words_of(panic.as_ref())),
        }),
    }
}

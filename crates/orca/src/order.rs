//! The messages of the one order of all machines, and their effects on each machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::Ordering;

use antiphon_panda::{DecodeError, GroupEvent, Message, Rank, Replica, message};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::cell::Outcome;
use crate::entry::{Answer, Copy, Effect, Entry, Invocation, ObjectId, Sharers, Ticket};
use crate::envelope;
use crate::error::{BlockedProcess, Error};
use crate::event::EventKind;
use crate::fault::Mutant;
use crate::machine::{Machine, Start};
use crate::object;
use crate::partitioned::{Layout, Plan, Task};
use crate::placement::{Costs, Location, Placement, Usage, in_words};

/// A message of the order. A body of bytes may follow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// A machine is there, with an executable of this hash.
    Hello { hash: [u8; 32] },
    /// Nothing: the sender measures the order.
    Ping { number: u64 },
    /// The costs of operations.
    Costs(Costs),
    /// An object begins. The body is its state.
    Create {
        number: u64,
        object_type: String,
        wanted: Placement,
        location: Location,
    },
    /// A write. Number 0 means that no process waits for it. The body is its arguments.
    Write {
        number: u64,
        object: ObjectId,
        operation: u32,
        /// The number of the invocation, which it keeps when it is invoked again.
        ticket: u64,
        /// Reads on this machine since the last such message.
        reads: u64,
    },
    /// Reads on this machine, for the decision where the object should be.
    Reads { object: ObjectId, reads: u64 },
    /// A program asks for an object's placement.
    Wish {
        number: u64,
        object: ObjectId,
        wanted: Placement,
    },
    /// The owner gives its object to another location. The body is its state.
    Install {
        object: ObjectId,
        generation: u64,
        to: Location,
        /// The last ordered write that the state holds.
        late_write: u64,
        /// Invocations that are blocked, in their order.
        queue: Vec<Ticket>,
        usage: Box<Usage>,
        why: String,
    },
    /// An invocation that was blocked does not come again.
    GivesUp { object: ObjectId, ticket: u64 },
    /// A process begins on a machine. The body is its arguments.
    Fork {
        number: u64,
        target: Rank,
        process: String,
        objects: Vec<ObjectId>,
    },
    /// A sharer of an object on this machine has ended.
    Release { object: ObjectId },
    /// All was quiescent: the waits of a machine's processes, asked twice.
    Stuck {
        verdict: u64,
        turn: u8,
        machines: Vec<Rank>,
        live: u64,
        activations: u64,
        blocked: Vec<BlockedProcess>,
    },
    /// An operation on an array, at its owners. The body is its arguments.
    Array {
        number: u64,
        object: ObjectId,
        operation: u32,
    },
    /// An array gets another layout. Elements keep their values, or start over with a first
    /// operation. The body is its arguments.
    Distribute {
        number: u64,
        object: ObjectId,
        layout: Box<Layout>,
        keeps: bool,
        first: Option<u32>,
    },
    /// The program ends now.
    Finish,
}

impl Order {
    /// Returns whether it may make a passive process active.
    pub fn is_work(&self) -> bool {
        match self {
            Self::Hello { .. }
            | Self::Ping { .. }
            | Self::Costs(_)
            | Self::Release { .. }
            | Self::Stuck { .. }
            // The process that waits for the result is active.
            | Self::Array { .. }
            | Self::Distribute { .. }
            | Self::Finish => false,
            Self::Create { .. }
            | Self::Write { .. }
            | Self::Reads { .. }
            | Self::Wish { .. }
            | Self::Install { .. }
            | Self::GivesUp { .. }
            | Self::Fork { .. } => true,
        }
    }

    pub fn pack(&self, body: Bytes) -> Result<Message, DecodeError> {
        envelope::pack(self, [body])
    }
}

/// One machine's part of [`Order::Stuck`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standstill {
    live: u64,
    activations: u64,
    blocked: Vec<BlockedProcess>,
}

/// The state that is equal on all machines, since all of it follows from the order.
#[derive(Debug, Default)]
pub struct Common {
    pub members: Vec<Rank>,
    /// The machines that run the program's executable, and the number of processes forked on each.
    pub machines: BTreeMap<Rank, u64>,
    pub hash: Option<[u8; 32]>,
    pub sharers: BTreeMap<ObjectId, Sharers>,
    /// Messages of work, by sender.
    work: BTreeMap<Rank, u64>,
    /// The same counts at the place where a member joined.
    bases: BTreeMap<Rank, BTreeMap<Rank, u64>>,
    /// For one verdict: the machines' standstills, by turn.
    stuck: (u64, BTreeMap<(u8, Rank), Standstill>),
}

/// The same, for a machine that joins.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    members: Vec<Rank>,
    machines: BTreeMap<Rank, u64>,
    hash: Option<[u8; 32]>,
    sharers: BTreeMap<ObjectId, BTreeMap<Rank, u64>>,
    work: BTreeMap<Rank, u64>,
    bases: BTreeMap<Rank, BTreeMap<Rank, u64>>,
    costs: Costs,
    objects: Vec<ObjectSnapshot>,
}

#[derive(Serialize, Deserialize)]
struct ObjectSnapshot {
    id: ObjectId,
    object_type: String,
    location: Location,
    generation: u64,
    state: Option<Bytes>,
    broken: Option<String>,
    wanted: Placement,
    late_write: u64,
    /// Invocations that block at all machines.
    blocked: Vec<Waiting>,
    /// Invocations that blocked before the object moved here, and whether they are here.
    returning: Vec<(Ticket, Option<Waiting>)>,
    given_up: BTreeSet<Ticket>,
    wishes: Vec<(Rank, u64)>,
    usage: Usage,
    inquiry: BTreeSet<Rank>,
    patience: (u32, u32),
}

/// An invocation that blocks at all machines.
#[derive(Serialize, Deserialize)]
struct Waiting {
    /// Its machine, and its number there.
    origin: (Rank, u64),
    operation: usize,
    arguments: Bytes,
    ticket: Ticket,
}

impl Waiting {
    fn of(invocation: &Invocation) -> Option<Self> {
        let Answer::Origin(rank, number) = invocation.answer else {
            return None;
        };
        Some(Self {
            origin: (rank, number),
            operation: invocation.operation,
            arguments: invocation.arguments.clone(),
            ticket: invocation.ticket,
        })
    }

    fn invocation(self) -> Invocation {
        Invocation {
            operation: self.operation,
            arguments: self.arguments,
            answer: Answer::Origin(self.origin.0, self.origin.1),
            ticket: self.ticket,
        }
    }
}

/// A machine as a replica that the order updates.
pub struct Copies {
    pub machine: Weak<Machine>,
}

impl Replica for Copies {
    fn deliver(&mut self, event: GroupEvent) {
        if let Some(machine) = self.machine.upgrade() {
            machine.deliver(event);
        }
    }

    fn snapshot(&mut self, _: u64) -> Result<Message, antiphon_panda::Error> {
        let machine = self.machine.upgrade().ok_or(antiphon_panda::Error::Over)?;
        Ok(machine.snapshot()?)
    }

    fn install(&mut self, place: u64, state: Message) -> Result<(), antiphon_panda::Error> {
        let machine = self.machine.upgrade().ok_or(antiphon_panda::Error::Over)?;
        Ok(machine.install(place, &state)?)
    }
}

impl Machine {
    fn deliver(self: &Arc<Self>, event: GroupEvent) {
        match event {
            GroupEvent::Message {
                from,
                place,
                payload,
            } => {
                self.begun.store(place, Ordering::Release);
                match envelope::unpack::<Order>(payload) {
                    Ok((order, body)) => self.take(from, place, order, body),
                    Err(error) => self.fail(Error::from(error)),
                }
                self.applied.store(place, Ordering::Release);
                self.run_deferred(place);
            }
            GroupEvent::View {
                place,
                members,
                joined,
                left,
                ..
            } => {
                // A joiner gets the place of the view in which its snapshot was taken.
                self.begun.fetch_max(place, Ordering::AcqRel);
                self.on_view(members, &joined, &left);
                self.applied.fetch_max(place, Ordering::AcqRel);
                self.run_deferred(place);
            }
            GroupEvent::Left => self.fail(Error::Over),
            GroupEvent::Expelled { why } => {
                let group = crate::machine::GROUP.into();
                self.fail(antiphon_panda::Error::Expelled { group, why }.into());
            }
        }
    }

    /// Executes a message, and counts it if it is work.
    fn take(self: &Arc<Self>, from: Rank, place: u64, order: Order, body: Bytes) {
        let is_work = order.is_work();
        let is_own = from == self.rank;
        if is_work {
            self.quiescence.active();
            let mut common = self.common.lock();
            *common.work.entry(from).or_default() += 1;
            // Ranks of members exist.
            if is_own {
                for member in common.members.iter().filter(|it| **it != from) {
                    let _ = self.quiescence.sent(*member);
                }
            } else {
                let _ = self.quiescence.received(from);
            }
        }
        let effects = self.apply(from, place, order, body);
        self.perform(effects);
        if is_work {
            if is_own {
                self.quiescence.passive();
            }
            self.quiescence.passive();
        }
    }

    fn apply(self: &Arc<Self>, from: Rank, place: u64, order: Order, body: Bytes) -> Vec<Effect> {
        let done = |number| {
            vec![Effect::Answer(
                Answer::Origin(from, number),
                Outcome::Done(Bytes::new()),
            )]
        };
        match order {
            Order::Hello { hash } => {
                self.on_hello(from, hash);
                Vec::new()
            }
            Order::Ping { number } => done(number),
            Order::Costs(costs) => {
                self.set_costs(costs);
                Vec::new()
            }
            Order::Create {
                number,
                object_type,
                wanted,
                location,
            } => {
                let outcome =
                    match self.on_create(from, place, &object_type, wanted, location, &body) {
                        Ok(()) => Outcome::Done(Bytes::copy_from_slice(&place.to_le_bytes())),
                        Err(error) => Outcome::Failed(error),
                    };
                vec![Effect::Answer(Answer::Origin(from, number), outcome)]
            }
            Order::Write {
                number,
                object,
                operation,
                ticket,
                reads,
            } => {
                let invocation = (number, object, operation as usize, ticket);
                self.on_write(from, place, invocation, reads, body)
            }
            Order::Reads { object, reads } => self.on_object(object, |entry, copy| {
                copy.usage.note(from, reads, 0);
                self.end_inquiry(entry, copy, from)
            }),
            Order::Wish {
                number,
                object,
                wanted,
            } => {
                let missing = match wanted {
                    Placement::Owned(to) => (!self.is_machine(to)).then_some(to),
                    _ => None,
                };
                self.on_object(object, |entry, copy| {
                    if let Some(to) = missing {
                        let outcome = Outcome::Failed(Error::NoMachine(to));
                        return vec![Effect::Answer(Answer::Origin(from, number), outcome)];
                    }
                    copy.wanted = wanted;
                    copy.inquiry.clear();
                    copy.wishes.push((from, number));
                    self.follow_wish(entry, copy)
                })
            }
            Order::Install {
                object,
                generation,
                to,
                late_write,
                queue,
                usage,
                why,
            } => self.on_object(object, |entry, copy| {
                let given = (generation, to, late_write);
                self.on_install(entry, copy, from, given, (queue, *usage, why), &body)
            }),
            Order::GivesUp { object, ticket } => self.on_object(object, |entry, copy| {
                copy.given_up.insert((from, ticket));
                self.give_up(entry, copy, |it| it == (from, ticket)).0
            }),
            Order::Fork {
                number,
                target,
                process,
                objects,
            } => {
                let outcome = self.on_fork(target, process, objects, body);
                vec![Effect::Answer(Answer::Origin(from, number), outcome)]
            }
            Order::Release { object } => {
                let is_last = {
                    let mut common = self.common.lock();
                    common.sharers.get_mut(&object).is_some_and(|sharers| {
                        sharers.release(from);
                        sharers.0.is_empty()
                    })
                };
                if is_last {
                    self.delete(object)
                } else {
                    Vec::new()
                }
            }
            Order::Stuck {
                verdict,
                turn,
                machines,
                live,
                activations,
                blocked,
            } => {
                let said = Standstill {
                    live,
                    activations,
                    blocked,
                };
                self.on_stuck(from, (verdict, turn), &machines, said)
            }
            Order::Array {
                number,
                object,
                operation,
            } => {
                let task = Task::Operation(operation as usize, body);
                self.on_array((from, place, number), object, task);
                Vec::new()
            }
            Order::Distribute {
                number,
                object,
                layout,
                keeps,
                first,
            } => {
                let to = Arc::new(Plan::of(*layout));
                let first = first.map(|operation| (operation as usize, body));
                let task = Task::Distribute { to, keeps, first };
                self.on_array((from, place, number), object, task);
                Vec::new()
            }
            Order::Finish => {
                self.stop(Error::Finished);
                self.end(Ok(()));
                self.end_all_with(&Error::Finished)
            }
        }
    }

    /// Applies a message about an object.
    fn on_object(
        &self,
        object: ObjectId,
        change: impl FnOnce(&Arc<Entry>, &mut Copy) -> Vec<Effect>,
    ) -> Vec<Effect> {
        let Some(entry) = self.entry(object) else {
            return Vec::new();
        };
        let mut copy = entry.copy.write();
        change(&entry, &mut copy)
    }

    fn on_hello(&self, from: Rank, hash: [u8; 32]) {
        let is_other = {
            let mut common = self.common.lock();
            let is_same = *common.hash.get_or_insert(hash) == hash;
            if is_same {
                common.machines.entry(from).or_default();
            }
            !is_same
        };
        if is_other && from == self.rank {
            self.fail(Error::OtherExecutable);
        }
    }

    fn on_create(
        &self,
        from: Rank,
        place: u64,
        object_type: &str,
        wanted: Placement,
        location: Location,
        body: &[u8],
    ) -> Result<(), Error> {
        let object_type =
            object::find(object_type).ok_or_else(|| Error::NoType(object_type.into()))?;
        let has_copy = match location {
            Location::Owned(owner) if !self.is_machine(owner) => {
                return Err(Error::NoMachine(owner));
            }
            Location::Owned(owner) => owner == self.rank,
            _ => true,
        };
        let state = has_copy.then(|| object_type.decode(body)).transpose()?;
        let entry = Entry::new(place, object_type, wanted, location, state);
        self.objects.lock().insert(place, entry);
        let mut common = self.common.lock();
        common.sharers.entry(place).or_default().grant(from);
        Ok(())
    }

    fn on_write(
        &self,
        from: Rank,
        place: u64,
        (number, object, operation, ticket): (u64, ObjectId, usize, u64),
        reads: u64,
        arguments: Bytes,
    ) -> Vec<Effect> {
        let answer = (number != 0).then_some(Answer::Origin(from, number));
        let effects = match self.entry(object) {
            None => answer
                .map(|answer| Effect::Answer(answer, Outcome::Failed(Error::Over)))
                .into_iter()
                .collect(),
            Some(entry) => {
                let mut copy = entry.copy.write();
                let invocation = (operation, arguments, (from, ticket));
                let mut effects =
                    self.write_in_order(&entry, &mut copy, (from, place), invocation, answer);
                if matches!(copy.location, Location::Replicated) {
                    copy.usage.note(from, reads, 1);
                    effects.extend(self.reconsider(&entry, &mut copy));
                }
                effects
            }
        };
        if number == 0 && from == self.rank {
            self.landed.fetch_add(1, Ordering::AcqRel);
        }
        effects
    }

    fn write_in_order(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        (from, place): (Rank, u64),
        invocation: (usize, Bytes, Ticket),
        answer: Option<Answer>,
    ) -> Vec<Effect> {
        if let Some(error) = entry.unusable(copy) {
            let answer = answer.map(|answer| Effect::Answer(answer, Outcome::Failed(error)));
            return answer.into_iter().collect();
        }
        let is_early = from == self.rank && self.fault.is(Mutant::AppliesBeforePlace);
        let is_skipped =
            self.fault.is(Mutant::SkipsWrite) && self.rank == 1 && place.is_multiple_of(8);
        match (copy.location, answer) {
            (Location::Replicated, None) if is_early || is_skipped => Vec::new(),
            (Location::Replicated, answer) => self.execute(entry, copy, invocation, answer, true),
            // The object has moved since. Its caller asks the owner.
            (_, Some(answer)) => vec![Effect::Answer(answer, Outcome::Again)],
            // No process waits, so it is executed here, at its place.
            (Location::Owned(owner), None) => {
                copy.late_write = place;
                match owner == self.rank && !self.fault.is(Mutant::DropsLateWrite) {
                    true => self.execute(entry, copy, invocation, None, true),
                    false => Vec::new(),
                }
            }
            (Location::Lost(_), None) => Vec::new(),
        }
    }

    /// Checks whether a replicated object should have an owner. All machines decide alike.
    fn reconsider(&self, entry: &Entry, copy: &mut Copy) -> Vec<Effect> {
        let is_asked = !copy.inquiry.is_empty();
        if copy.wanted != Placement::Adaptive || is_asked || !copy.usage.is_due() {
            return Vec::new();
        }
        copy.usage.look();
        if copy.usage.decide(copy.location, self.costs()).is_none() {
            return Vec::new();
        }
        // Machines that only read have not reported so far. They are asked before the object leaves
        // them.
        copy.patience.1 += 1;
        if copy.patience.1 < copy.patience.0 {
            return Vec::new();
        }
        copy.inquiry = self.common.lock().machines.keys().copied().collect();
        match copy.inquiry.contains(&self.rank) {
            true => {
                let (object, reads) = (entry.id, entry.take_reads());
                let order = Box::new(Order::Reads { object, reads });
                vec![Effect::Send(order, Bytes::new())]
            }
            false => Vec::new(),
        }
    }

    /// Records that a machine has reported its reads of an object, or never will.
    fn end_inquiry(&self, entry: &Entry, copy: &mut Copy, machine: Rank) -> Vec<Effect> {
        if !copy.inquiry.remove(&machine) || !copy.inquiry.is_empty() {
            return Vec::new();
        }
        copy.usage.look();
        match copy.usage.decide(copy.location, self.costs()) {
            Some((Location::Owned(owner), why)) if self.is_machine(owner) => {
                copy.patience = (1, 0);
                self.give_to(entry, copy, owner, why)
            }
            _ => {
                copy.patience = ((copy.patience.0 * 2).min(64), 0);
                Vec::new()
            }
        }
    }

    /// Gives a replicated object to an owner, which already has its copy.
    fn give_to(&self, entry: &Entry, copy: &mut Copy, owner: Rank, why: String) -> Vec<Effect> {
        copy.location = Location::Owned(owner);
        copy.generation += 1;
        copy.late_write = 0;
        self.note_move(entry, copy, why);
        if owner != self.rank {
            copy.state = None;
        }
        if self.fault.is(Mutant::KeepsBlockedAtMove) {
            return Vec::new();
        }
        let is_everywhere = |it: &Answer| matches!(it, Answer::Origin(..));
        let queue = copy.queue(entry.object_type, is_everywhere);
        let mut effects = copy.end_all(&Outcome::Again);
        self.await_returns(copy, queue);
        effects.extend(self.follow_wish(entry, copy));
        effects
    }

    /// Records a move.
    fn note_move(&self, entry: &Entry, copy: &mut Copy, why: String) {
        let name = || format!("{} {why}", entry.name());
        self.observe(self.observed(), EventKind::Move, None, name);
        copy.moved(why);
    }

    /// Does this machine's part to fulfil a program's wish for an object's location.
    pub fn follow_wish(&self, entry: &Entry, copy: &mut Copy) -> Vec<Effect> {
        if let Some(error) = entry.unusable(copy) {
            return copy.end_wishes(&Outcome::Failed(error));
        }
        let done = Outcome::Done(Bytes::new());
        let why = |to| format!("{}: as the program says", in_words(to));
        match (copy.wanted, copy.location) {
            (Placement::Adaptive, _) | (Placement::Replicated, Location::Replicated) => {
                copy.end_wishes(&done)
            }
            (Placement::Owned(to), Location::Owned(owner)) if to == owner => copy.end_wishes(&done),
            (Placement::Owned(to), Location::Replicated) => {
                self.give_to(entry, copy, to, why(Location::Owned(to)))
            }
            (wanted, Location::Owned(owner)) if owner == self.rank && !copy.is_moving => {
                let to = match wanted {
                    Placement::Owned(to) => Location::Owned(to),
                    _ => Location::Replicated,
                };
                self.begin_move(entry, copy, to, why(to))
            }
            _ => Vec::new(),
        }
    }

    /// At the owner: sends the state to another location. Until it has arrived, writes wait.
    pub fn begin_move(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        to: Location,
        why: String,
    ) -> Vec<Effect> {
        let encoded = copy
            .state
            .as_deref()
            .map(|state| entry.object_type.encode(state));
        let Some(Ok(state)) = encoded else {
            return copy.end_wishes(&Outcome::Failed(Error::Decode(format!(
                "the state of {} cannot be encoded",
                entry.name()
            ))));
        };
        copy.is_moving = true;
        let order = Order::Install {
            object: entry.id,
            generation: copy.generation,
            to,
            late_write: copy.late_write,
            queue: copy.queue(entry.object_type, |_| true),
            usage: Box::new(copy.usage.clone()),
            why,
        };
        vec![Effect::Send(Box::new(order), state.into())]
    }

    /// Waits for the invocations that were blocked where the object came from, if it is here now.
    fn await_returns(&self, copy: &mut Copy, queue: Vec<Ticket>) {
        if copy.state.is_some() && !self.fault.is(Mutant::ForgetsTurns) {
            let comes = |it: &Ticket| self.is_member(it.0) && !copy.given_up.contains(it);
            let coming = queue.into_iter().filter(comes);
            copy.returning = coming.map(|ticket| (ticket, None)).collect();
        }
    }

    /// Stops waiting for some invocations. Returns the effects, and those of them that were here.
    fn give_up(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        is_it: impl Fn(Ticket) -> bool,
    ) -> (Vec<Effect>, Vec<Answer>) {
        let (awaited, mut gone) = (copy.returning.len(), Vec::new());
        for (ticket, invocation) in std::mem::take(&mut copy.returning) {
            match is_it(ticket) {
                true => gone.extend(invocation.map(|it| it.answer)),
                false => copy.returning.push_back((ticket, invocation)),
            }
        }
        let is_ordered = copy.location == Location::Replicated;
        let effects = match awaited > copy.returning.len() && copy.let_return() {
            true => self.retry(entry, copy, is_ordered),
            false => Vec::new(),
        };
        (effects, gone)
    }

    fn is_member(&self, rank: Rank) -> bool {
        self.common.lock().members.contains(&rank)
    }

    fn on_install(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        from: Rank,
        (generation, to, late_write): (u64, Location, u64),
        (queue, usage, why): (Vec<Ticket>, Usage, String),
        body: &[u8],
    ) -> Vec<Effect> {
        if copy.location != Location::Owned(from) || copy.generation != generation {
            return Vec::new();
        }
        if from == self.rank {
            copy.is_moving = false;
        }
        let is_stale = copy.late_write != late_write && !self.fault.is(Mutant::InstallsStaleState);
        let is_possible = match to {
            Location::Owned(owner) => self.is_machine(owner),
            _ => true,
        };
        if is_stale || !is_possible || copy.broken.is_some() {
            let again = |answer| Effect::Answer(answer, Outcome::Again);
            let mut effects: Vec<_> = copy.held.drain(..).map(again).collect();
            if !is_possible {
                copy.wanted = Placement::Adaptive;
            }
            effects.extend(self.follow_wish(entry, copy));
            return effects;
        }
        copy.location = to;
        copy.generation += 1;
        copy.late_write = 0;
        copy.usage = usage;
        copy.patience = (1, 0);
        self.note_move(entry, copy, why);
        let has_copy = match to {
            Location::Owned(owner) => owner == self.rank,
            _ => true,
        };
        if !has_copy {
            copy.state = None;
        } else if copy.state.is_none() {
            match entry.object_type.decode(body) {
                Ok(state) => copy.state = Some(state),
                Err(error) => copy.broken = Some(error.to_string()),
            }
        }
        let mut effects = match self.fault.is(Mutant::KeepsBlockedAtMove) {
            true => Vec::new(),
            false => copy.end_all(&Outcome::Again),
        };
        self.await_returns(copy, queue);
        effects.extend(self.follow_wish(entry, copy));
        effects
    }

    fn on_fork(
        self: &Arc<Self>,
        target: Rank,
        process: String,
        objects: Vec<ObjectId>,
        arguments: Bytes,
    ) -> Outcome {
        {
            let mut common = self.common.lock();
            let Some(forks) = common.machines.get_mut(&target) else {
                return Outcome::Failed(Error::NoMachine(target));
            };
            *forks += 1;
            for object in &objects {
                if !self.fault.is(Mutant::ForgetsGrant) {
                    common.sharers.entry(*object).or_default().grant(target);
                }
            }
        }
        if target == self.rank {
            self.start(Start {
                process,
                arguments,
                objects,
            });
        }
        Outcome::Done(Bytes::new())
    }

    /// Ends an object to which no process has a handle any more.
    fn delete(&self, object: ObjectId) -> Vec<Effect> {
        if self.fault.is(Mutant::NeverDeletes) {
            return Vec::new();
        }
        self.common.lock().sharers.remove(&object);
        self.arrays.forget(object);
        let Some(entry) = self.objects.lock().remove(&object) else {
            return Vec::new();
        };
        let (effects, state) = {
            let mut copy = entry.copy.write();
            copy.is_deleted = true;
            let state = copy.state.take();
            (entry.fail_all(&mut copy), state)
        };
        self.remember(&entry);
        drop(state);
        effects
    }

    fn on_view(self: &Arc<Self>, members: Vec<Rank>, joined: &[Rank], left: &[Rank]) {
        let orphans = {
            let mut common = self.common.lock();
            common.members = members;
            for rank in joined {
                let base = common.work.clone();
                common.bases.entry(*rank).or_insert(base);
            }
            for rank in left {
                common.machines.remove(rank);
                common.bases.remove(rank);
                for sharers in common.sharers.values_mut() {
                    sharers.0.remove(rank);
                }
            }
            let all = common.sharers.iter();
            let orphans = all.filter(|(_, sharers)| sharers.0.is_empty());
            orphans.map(|(id, _)| *id).collect::<Vec<_>>()
        };
        if left.is_empty() {
            return;
        }
        self.lose_arrays(left);
        // Processes that this wakes must be active before a verdict can leave the lost machines
        // out.
        self.quiescence.active();
        let mut effects = Vec::new();
        for entry in self.all_entries() {
            let mut removed = Vec::new();
            {
                let mut copy = entry.copy.write();
                effects.extend(self.lose(&entry, &mut copy, left, &mut removed));
            }
            // Dropped where no lock is held, because dropped replies are answered with an error.
            drop(removed);
        }
        for orphan in orphans {
            effects.extend(self.delete(orphan));
        }
        self.perform(effects);
        self.quiescence.passive();
    }

    /// Records machines that are gone.
    fn lose(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        left: &[Rank],
        removed: &mut Vec<Answer>,
    ) -> Vec<Effect> {
        for rank in left {
            copy.usage.forget(*rank);
        }
        copy.wishes.retain(|(rank, _)| !left.contains(rank));
        let mut effects = Vec::new();
        if let Location::Owned(owner) = copy.location
            && left.contains(&owner)
            && !self.fault.is(Mutant::IgnoresLoss)
        {
            copy.location = Location::Lost(owner);
            self.note_move(entry, copy, format!("lost with machine {owner}"));
            effects.extend(entry.fail_all(copy));
            effects.extend(self.follow_wish(entry, copy));
        }
        if !self.fault.is(Mutant::ExecutesForTheLost) {
            let is_gone = |answer: &Answer| match answer {
                Answer::Here(_) => false,
                Answer::Caller(_, from) | Answer::Origin(from, _) => left.contains(from),
            };
            let blocked = std::mem::take(&mut copy.blocked);
            for invocation in blocked {
                match is_gone(&invocation.answer) {
                    true => removed.push(invocation.answer),
                    false => copy.blocked.push_back(invocation),
                }
            }
        }
        let (given_up, gone) = self.give_up(entry, copy, |it| left.contains(&it.0));
        effects.extend(given_up);
        removed.extend(gone);
        for rank in left {
            effects.extend(self.end_inquiry(entry, copy, *rank));
        }
        effects
    }

    fn on_stuck(
        &self,
        from: Rank,
        (verdict, turn): (u64, u8),
        machines: &[Rank],
        said: Standstill,
    ) -> Vec<Effect> {
        let outcome = {
            let mut common = self.common.lock();
            if common.stuck.0 != verdict {
                common.stuck = (verdict, BTreeMap::new());
            }
            common.stuck.1.insert((turn, from), said);
            let here = machines
                .iter()
                .filter(|it| common.machines.contains_key(it));
            let here: Vec<_> = here.copied().collect();
            let said = &common.stuck.1;
            let of = |turn| -> Option<Vec<&Standstill>> {
                here.iter().map(|it| said.get(&(turn, *it))).collect()
            };
            match (of(1), of(2)) {
                (Some(first), Some(second)) => {
                    let live: u64 = second.iter().map(|it| it.live).sum();
                    let blocked = second.iter().flat_map(|it| it.blocked.clone());
                    let blocked: Vec<_> = blocked.collect();
                    let is_one = first == second && live > 0 && live == blocked.len() as u64;
                    Some(is_one.then_some(blocked))
                }
                (Some(_), None) if turn == 1 => None,
                _ => return Vec::new(),
            }
        };
        match outcome {
            // All have reported once.
            None => {
                self.ask_again(verdict, machines.to_vec());
                Vec::new()
            }
            Some(Some(blocked)) => self.on_deadlock(blocked),
            Some(None) => Vec::new(),
        }
    }

    fn snapshot(&self) -> Result<Message, DecodeError> {
        let entries = self.all_entries();
        let objects = entries.iter().map(|entry| {
            let copy = entry.copy.read();
            let state = match copy.location {
                Location::Replicated => copy.state.as_deref(),
                _ => None,
            };
            let state = state
                .map(|state| entry.object_type.encode(state))
                .transpose()?;
            let blocked = copy.blocked.iter().filter_map(Waiting::of);
            let returning = copy.returning.iter();
            let returning =
                returning.map(|(ticket, it)| (*ticket, it.as_ref().and_then(Waiting::of)));
            Ok(ObjectSnapshot {
                id: entry.id,
                object_type: entry.object_type.name().to_owned(),
                location: copy.location,
                generation: copy.generation,
                state: state.map(Bytes::from),
                broken: copy.broken.clone(),
                wanted: copy.wanted,
                late_write: copy.late_write,
                blocked: match self.fault.is(Mutant::ForgetsBlockedInSnapshot) {
                    true => Vec::new(),
                    false => blocked.collect(),
                },
                returning: match copy.location {
                    Location::Replicated => returning.collect(),
                    _ => Vec::new(),
                },
                given_up: copy.given_up.clone(),
                wishes: copy.wishes.clone(),
                usage: match copy.location {
                    Location::Replicated => copy.usage.clone(),
                    _ => Usage::default(),
                },
                inquiry: copy.inquiry.clone(),
                patience: copy.patience,
            })
        });
        let objects = objects.collect::<Result<_, DecodeError>>()?;
        // This comes after the copies, whose locks are taken first everywhere.
        let common = self.common.lock();
        let sharers = common.sharers.iter();
        Message::of(&Snapshot {
            members: common.members.clone(),
            machines: common.machines.clone(),
            hash: common.hash,
            sharers: sharers.map(|(id, of)| (*id, of.0.clone())).collect(),
            work: common.work.clone(),
            bases: common.bases.clone(),
            costs: self.costs(),
            objects,
        })
    }

    fn install(&self, place: u64, state: &Message) -> Result<(), DecodeError> {
        let Snapshot {
            members,
            machines,
            hash,
            sharers,
            work,
            bases,
            costs,
            objects,
        } = message::value_in(&state.to_bytes())?;
        let mut installed = BTreeMap::new();
        for of in objects {
            let Some(object_type) = object::find(&of.object_type) else {
                // Its greeting shows that this is another executable.
                continue;
            };
            let state = of
                .state
                .map(|state| object_type.decode(&state))
                .transpose()?;
            let entry = Entry::new(of.id, object_type, of.wanted, of.location, state);
            {
                let mut copy = entry.copy.write();
                copy.generation = of.generation;
                copy.broken = of.broken;
                copy.late_write = of.late_write;
                copy.wishes = of.wishes;
                copy.usage = of.usage;
                copy.inquiry = of.inquiry;
                copy.patience = of.patience;
                copy.blocked = of.blocked.into_iter().map(Waiting::invocation).collect();
                let returning = of.returning.into_iter();
                let returning = returning.map(|(ticket, it)| (ticket, it.map(Waiting::invocation)));
                copy.returning = returning.collect();
                copy.given_up = of.given_up;
            }
            installed.insert(of.id, entry);
        }
        *self.objects.lock() = installed;
        self.set_costs(costs);
        self.quiescence.active();
        let mut common = self.common.lock();
        // Work that went to this machine and is part of the snapshot.
        let base = bases.get(&self.rank).cloned().unwrap_or_default();
        for (sender, count) in &work {
            let before = base.get(sender).copied().unwrap_or(0);
            if !self.fault.is(Mutant::MiscountsAtJoin) {
                for _ in before..*count {
                    let _ = self.quiescence.received(*sender);
                }
            }
        }
        common.members = members;
        common.machines = machines;
        common.hash = hash;
        common.sharers = sharers
            .into_iter()
            .map(|(id, of)| (id, Sharers(of)))
            .collect();
        (common.work, common.bases) = (work, bases);
        drop(common);
        self.begun.store(place, Ordering::Release);
        self.applied.store(place, Ordering::Release);
        self.quiescence.passive();
        Ok(())
    }
}

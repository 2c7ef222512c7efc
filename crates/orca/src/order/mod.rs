//! The messages of the one order of all machines, and their effects on each machine.

mod members;
mod moves;
mod snapshot;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::Ordering;

use antiphon_panda::{DecodeError, GroupEvent, Message, Rank, Replica};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::cell::Outcome;
use crate::entry::{Answer, Copy, Effect, Entry, ObjectId, Sharers, Ticket};
use crate::envelope;
use crate::error::{BlockedProcess, Error};
use crate::fault::Mutant;
use crate::machine::{Machine, Start};
use crate::partitioned::{Layout, Plan, Task};
use crate::placement::{Costs, Location, Placement, Usage};

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
}

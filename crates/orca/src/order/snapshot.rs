//! The state that a machine gets when it joins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use antiphon_panda::{DecodeError, Message, Rank, message};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::entry::{Answer, Entry, Invocation, ObjectId, Sharers, Ticket};
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::object;
use crate::placement::{Costs, Location, Placement, Usage};

/// The common state and all objects, for a machine that joins.
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

impl Machine {
    pub(super) fn snapshot(&self) -> Result<Message, DecodeError> {
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

    pub(super) fn install(&self, place: u64, state: &Message) -> Result<(), DecodeError> {
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

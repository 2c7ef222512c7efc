//! A shared object on one machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use antiphon_panda::{Rank, Reply};
use bytes::Bytes;
use parking_lot::RwLock;

use crate::cell::{Cell, Outcome};
use crate::error::Error;
use crate::object::{Attempt, ObjectType, State};
use crate::order::Order;
use crate::placement::{Location, Placement, Usage};
use crate::statistics::Counts;

/// The place of its creation in the order: the same at all machines.
pub type ObjectId = u64;

/// An object on this machine: its copy, if there is one here, and the invocations that wait.
pub struct Entry {
    pub id: ObjectId,
    pub object_type: &'static ObjectType,
    /// Reads on this machine that no other machine knows of.
    pub reads: AtomicU64,
    pub counts: Counts,
    pub copy: RwLock<Copy>,
}

/// The changing part of an object.
pub struct Copy {
    pub location: Location,
    /// The number of its moves.
    pub generation: u64,
    /// The state, where the location has one here.
    pub state: Option<Box<State>>,
    /// The failure of an operation that left the state undefined.
    pub broken: Option<String>,
    /// The placement that the program asks for.
    pub wanted: Placement,
    /// At the owner: its state is under way to another location.
    pub is_moving: bool,
    /// The place of the last write that was ordered although the object has an owner.
    pub late_write: u64,
    /// Blocked invocations, first come first.
    pub blocked: VecDeque<Invocation>,
    /// Invocations that were blocked where the object came from, in their order, and those of them
    /// that are here by now. Until all are, no operation that may block is executed.
    pub returning: VecDeque<(Ticket, Option<Invocation>)>,
    /// Invocations that do not come again, because their machine lost the owner at which they
    /// waited.
    pub given_up: BTreeSet<Ticket>,
    /// At the owner: invocations that came while the state was under way.
    pub held: Vec<Answer>,
    /// Processes that wait for the wanted location, by machine and number.
    pub wishes: Vec<(Rank, u64)>,
    pub usage: Usage,
    /// Machines that are still to say how often they have read the object, before it moves to one.
    pub inquiry: BTreeSet<Rank>,
    /// The number of looks before the next inquiry, and of those that have passed.
    pub patience: (u32, u32),
    /// The reasons of its last moves, the newest last.
    pub moves: Vec<String>,
    /// Its last sharer has ended.
    pub is_deleted: bool,
}

/// An invocation that blocks.
pub struct Invocation {
    pub operation: usize,
    pub arguments: Bytes,
    pub answer: Answer,
    pub ticket: Ticket,
}

/// The name of an invocation: its machine, and a number there. It stays the same when the object
/// moves and the operation is invoked again.
pub type Ticket = (Rank, u64);

/// The process that an outcome goes to.
pub enum Answer {
    /// A process of this machine.
    Here(Arc<Cell>),
    /// A caller on another machine.
    Caller(Reply, Rank),
    /// For a replicated object: the process that its machine knows under a number.
    Origin(Rank, u64),
}

/// An action that must wait until no lock is held.
pub enum Effect {
    Answer(Answer, Outcome),
    Block(Answer),
    Send(Box<Order>, Bytes),
}

/// The record of one execution.
#[cfg_attr(not(test), allow(dead_code, reason = "only tests look at it"))]
pub struct Executed<'a> {
    pub object: ObjectId,
    /// Its name.
    pub operation: &'a str,
    pub arguments: &'a [u8],
    pub result: &'a [u8],
}

impl Entry {
    pub fn new(
        id: ObjectId,
        object_type: &'static ObjectType,
        wanted: Placement,
        location: Location,
        state: Option<Box<State>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            object_type,
            reads: AtomicU64::new(0),
            counts: Counts::default(),
            copy: RwLock::new(Copy {
                location,
                generation: 0,
                state,
                broken: None,
                wanted,
                is_moving: false,
                late_write: 0,
                blocked: VecDeque::new(),
                returning: VecDeque::new(),
                given_up: BTreeSet::new(),
                held: Vec::new(),
                wishes: Vec::new(),
                usage: Usage::default(),
                inquiry: BTreeSet::new(),
                patience: (1, 0),
                moves: Vec::new(),
                is_deleted: false,
            }),
        })
    }

    /// Returns its type and number, for people.
    pub fn name(&self) -> String {
        format!("{}#{}", self.object_type.name(), self.id)
    }

    /// Returns why an operation of it failed.
    pub fn failed(&self, operation: usize, why: &str) -> Error {
        Error::Failed {
            object: self.name(),
            operation: self.object_type.operations()[operation].name.clone(),
            why: why.into(),
        }
    }

    /// Returns why the object is unusable.
    pub fn unusable(&self, copy: &Copy) -> Option<Error> {
        if copy.is_deleted {
            return Some(Error::Over);
        }
        if let Some(why) = &copy.broken {
            return Some(Error::Broken {
                object: self.name(),
                why: why.clone(),
            });
        }
        match copy.location {
            Location::Lost(machine) => Some(Error::ObjectLost {
                object: self.name(),
                machine,
            }),
            _ => None,
        }
    }

    /// Records an operation that panicked. All invocations that wait for the object fail.
    pub fn break_it(&self, copy: &mut Copy, operation: usize, why: &str) -> Vec<Effect> {
        let name = &self.object_type.operations()[operation].name;
        copy.broken = Some(format!("{name}: {why}"));
        self.fail_all(copy)
    }

    /// Ends all that wait for an object that has become unusable.
    pub fn fail_all(&self, copy: &mut Copy) -> Vec<Effect> {
        let Some(error) = self.unusable(copy) else {
            return Vec::new();
        };
        copy.end_all(&Outcome::Failed(error))
    }
}

impl Copy {
    /// Ends all that wait for the object, with an outcome.
    pub fn end_all(&mut self, outcome: &Outcome) -> Vec<Effect> {
        let returned = self.returning.drain(..).filter_map(|(_, it)| it);
        let blocked = returned.chain(self.blocked.drain(..)).map(|it| it.answer);
        let answers: Vec<_> = blocked.chain(self.held.drain(..)).collect();
        let end = |answer| Effect::Answer(answer, outcome.clone());
        answers.into_iter().map(end).collect()
    }

    /// Ends wishes for a location that is reached, or that cannot be.
    pub fn end_wishes(&mut self, outcome: &Outcome) -> Vec<Effect> {
        let wishes = self.wishes.drain(..);
        let end = |(rank, number)| Effect::Answer(Answer::Origin(rank, number), outcome.clone());
        wishes.map(end).collect()
    }

    /// Returns, in their order, the invocations that come again when the object moves. Those that
    /// only read wait on their processes' machines.
    pub fn queue(&self, of: &ObjectType, is_it: impl Fn(&Answer) -> bool) -> Vec<Ticket> {
        let blocked = self.blocked.iter();
        let blocked = blocked.filter(|it| !of.operations()[it.operation].only_reads());
        let blocked = blocked.filter(|it| is_it(&it.answer)).map(|it| it.ticket);
        let returning = self.returning.iter().map(|(ticket, _)| *ticket);
        returning.chain(blocked).collect()
    }

    /// Treats the returning invocations as blocked ones, once all are here.
    pub fn let_return(&mut self) -> bool {
        if self.returning.iter().any(|(_, it)| it.is_none()) {
            return false;
        }
        let returned = self.returning.drain(..).filter_map(|(_, it)| it);
        let mut blocked: VecDeque<_> = returned.collect();
        blocked.append(&mut self.blocked);
        self.blocked = blocked;
        true
    }

    /// Records a move.
    pub fn moved(&mut self, why: String) {
        const KEPT: usize = 16;
        if self.moves.len() == KEPT {
            self.moves.remove(0);
        }
        self.moves.push(why);
    }
}

/// Returns the result of an attempt, and whether it wrote.
pub fn completed(attempt: Attempt) -> Result<Option<(Vec<u8>, bool)>, String> {
    match attempt {
        Attempt::Done {
            result,
            has_written,
        } => Ok(Some((result, has_written))),
        Attempt::Blocked => Ok(None),
        Attempt::Failed(why) => Err(why),
    }
}

/// The handles of an object, counted by machine. The object lives as long as there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sharers(pub BTreeMap<Rank, u64>);

impl Sharers {
    pub fn grant(&mut self, machine: Rank) {
        *self.0.entry(machine).or_default() += 1;
    }

    pub fn release(&mut self, machine: Rank) {
        if let Some(count) = self.0.get_mut(&machine) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&machine);
            }
        }
    }
}

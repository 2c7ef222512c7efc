//! Collective operations over a list of processes. Contributions go up a tree, results come down
//! it. Arrays of numbers are combined [otherwise](plan), in rounds of pairs.
//!
//! Places in the list, counted from the root's, form the tree. Each process handles at most 3 ⌈log₄
//! n⌉ messages each way. All processes must call the same operations in the same order on the same
//! list. A process that finds another one lost, or in another operation, tells its neighbours in
//! the tree. They tell theirs, so all end.
//!
//! A lost contact loses the messages under way. The other process may live and begin the operation
//! only later, or may not have noticed the loss. So a process that waits for long asks the awaited
//! ones now and then whether they have ended the operation. Links keep order, so after a yes
//! nothing more would come.
//!
//! A root that only gives and a leaf that only takes need not wait, and run ahead of late
//! processes. The distance is bounded. Every [`WINDOW`]th operation on a list goes up and comes
//! down, whatever it is. So no process ends it before all have begun it, and no early message is
//! dropped.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Time;
use super::fault::{Fault, Mutant};
use super::requests::{Failure, RequestId};
use crate::Rank;
use crate::message::Message;
use early::Early;
use exchange::{Exchange, is_joint};
use tree::Tree;

mod array;
mod close;
mod combine;
mod early;
mod exchange;
mod place;
pub mod plan;
mod running;
mod step;
mod tree;

#[cfg(test)]
mod exchange_tests;
#[cfg(test)]
mod tree_tests;

pub use array::{Array, Numbers, Signature};
pub use combine::{Combine, Combining, Refused};
pub use step::{Shape, Step};

/// Number of operations by which one process may be ahead of another.
pub const WINDOW: u64 = 256;

/// An operation: its messages up the tree and down.
pub enum Operation {
    /// Nothing, both ways.
    Barrier,
    /// The root's value, down.
    Broadcast,
    /// All values, up; the root gets them in the order of the list.
    Gather,
    /// The root's values, one for each, down.
    Scatter(Vec<Message>),
    /// Values combined on their way up.
    Reduce(Combine),
    /// Values combined on their way up; the result, down.
    AllReduce(Combine),
    /// Arrays of numbers, combined number by number, at the root or at all.
    Numbers(Numbers),
}

impl Operation {
    fn goes_up(&self) -> bool {
        !matches!(self, Self::Broadcast | Self::Scatter(_))
    }

    fn comes_down(&self) -> bool {
        !matches!(self, Self::Gather | Self::Reduce(_))
    }

    /// Returns whether values go up.
    fn takes_values(&self) -> bool {
        matches!(self, Self::Gather | Self::Reduce(_) | Self::AllReduce(_))
    }

    fn code(&self) -> u64 {
        match self {
            Self::Barrier => 1,
            Self::Broadcast => 2,
            Self::Gather => 3,
            Self::Scatter(_) => 4,
            Self::Reduce(_) => 5,
            Self::AllReduce(_) => 6,
            Self::Numbers(numbers) if numbers.way.to_all => 7,
            Self::Numbers(_) => 8,
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Barrier => "Barrier",
            Self::Broadcast => "Broadcast",
            Self::Gather => "Gather",
            Self::Scatter(_) => "Scatter",
            Self::Reduce(_) => "Reduce",
            Self::AllReduce(_) => "AllReduce",
            Self::Numbers(_) => "Numbers",
        })
    }
}

/// The operation of a message: the list's number and the operation's number on that list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Number of the lists that [end](Collectives::close) together; the list's own number if it
    /// ends alone.
    pub family: u64,
    /// Number of the list, the same at all members.
    pub list: u64,
    /// Number of the operation, which grows by one.
    pub number: u64,
}

/// An operation that ended, the peers that it watched, and a value for each place.
pub type Ended = (RequestId, Vec<Rank>, Result<Vec<Message>, Failure>);

/// The outcome of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Steps to send.
    pub sends: Vec<(Rank, Key, Step)>,
    /// Operations that ended, the peers that they watched, and their result: a value for each
    /// place.
    pub ended: Vec<Ended>,
    /// Values for the program to combine. The result is a step of this process to itself.
    pub combine: Vec<Combining>,
    /// A peer that sends what no correct one does.
    pub liar: Option<Rank>,
}

impl Outcome {
    fn send(&mut self, to: Rank, key: Key, steps: Vec<Step>) {
        self.sends
            .extend(steps.into_iter().map(|step| (to, key, step)));
    }
}

/// The operations under way.
#[derive(Debug)]
pub struct Collectives {
    /// Time that an operation waits before it asks.
    patience: Duration,
    /// Length of the longest step in bytes.
    longest: usize,
    begun: HashMap<u64, u64>,
    active: BTreeMap<Key, Tree>,
    exchanges: BTreeMap<Key, Exchange>,
    early: Early,
    /// Time of the last questions.
    asked: Time,
    fault: Fault,
}

/// A process's part in an operation.
#[derive(Debug)]
pub struct Part {
    /// Number by which the operation's end is reported.
    pub id: RequestId,
    /// Number of the list, the same at all members, in whichever order they have it.
    pub list: u64,
    /// Number of the lists that end together, or the list's own.
    pub family: u64,
    /// Number of the order, the same at all members that agree.
    pub order: u64,
    /// Members, this process included, each once.
    pub ranks: Arc<[Rank]>,
    /// This process's place in `ranks`.
    pub at: usize,
    /// The root's place in `ranks`.
    pub root: usize,
    /// The operation.
    pub operation: Operation,
    /// This process's value, if the operation takes one. For an array, the numbers that are to be
    /// [brought](Numbers::brought).
    pub value: Message,
}

impl Collectives {
    /// Makes the state without operations. A wait asks after `silence`, the time that peers may be
    /// silent. Steps have at most `longest` bytes, unless a single value has more.
    #[must_use]
    pub fn new(silence: Duration, longest: usize) -> Self {
        Self {
            patience: silence,
            longest,
            begun: HashMap::new(),
            active: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            early: Early::default(),
            asked: Time::ZERO,
            fault: Fault::default(),
        }
    }

    /// Begins an operation; returns the peers to watch until it ends.
    pub fn begin(&mut self, now: Time, mut part: Part, out: &mut Outcome) -> Vec<Rank> {
        if self.running().next().is_none() {
            self.asked = now;
        }
        let list = part.list;
        let number = self.begun.entry(list).or_default();
        *number += 1;
        let key = Key {
            family: part.family,
            list,
            number: *number,
        };
        let is_joint = is_joint(*number);
        if let Some(exchange) = Exchange::new(now, &mut part, is_joint) {
            return self.begin_exchange(key, exchange, out);
        }
        let mut tree = Tree::new(now, part, is_joint);
        tree.leaves_out = self.fault.is(Mutant::LeavesOut);
        let watched = tree.neighbours();
        let gives_at_once = tree.parent.is_none() && !tree.goes_up();
        self.active.insert(key, tree);
        if let Some(failure) = self.early.failure(key) {
            self.fail(key, &failure, None, out);
        } else if gives_at_once {
            self.turn(key, Vec::new(), out);
        } else {
            self.go_up(key, out);
        }
        for (from, step) in self.early.take(key) {
            self.take(from, key, step, out);
        }
        watched
    }

    /// Returns when [`tick`](Self::tick) is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let asks = self.running().next().is_some() && !self.fault.is(Mutant::NeverAsks);
        asks.then(|| self.asked + self.patience)
    }

    /// Asks peers that an operation has awaited for long whether they have ended it.
    pub fn tick(&mut self, now: Time, out: &mut Outcome) {
        if self.deadline().is_none_or(|at| at > now) {
            return;
        }
        self.asked = now;
        for (key, running) in self.running() {
            if running.begun() + self.patience <= now {
                let late = running.neighbours();
                let late = late.into_iter().filter(|near| running.waits_for(*near));
                let ask = Step::Ask(running.shape());
                out.sends.extend(late.map(|near| (near, key, ask.clone())));
            }
        }
    }

    /// Takes a message of a neighbour.
    pub fn take(&mut self, from: Rank, key: Key, step: Step, out: &mut Outcome) {
        let begun = self.begun.get(&key.list).copied().unwrap_or(0);
        if key.number > begun {
            if !matches!(step, Step::Ask(_) | Step::Combined(_))
                && !self.early.keep(from, key, begun, step)
            {
                out.liar = Some(from);
            }
            return;
        }
        let Some(running) = self.running_at(key) else {
            if let Step::Ask(_) = step {
                out.sends.push((from, key, Step::Ended));
            }
            return;
        };
        match step {
            // If the peer had done its part before it ended, that would have come first.
            Step::Ended if running.waits_for(from) => {
                let failure = Failure::Lost {
                    rank: from,
                    why: "ended the operation while it had lost touch with this process".into(),
                };
                self.fail(key, &failure, Some(from), out);
            }
            Step::Failed(failure) if running.has(from) => {
                let failure = running.as_told(from, failure);
                self.fail(key, &failure, Some(from), out);
            }
            step if self.exchanges.contains_key(&key) => {
                self.take_in_exchange(from, key, step, out);
            }
            step => self.take_in_tree(from, key, step, out),
        }
    }

    fn take_in_tree(&mut self, from: Rank, key: Key, step: Step, out: &mut Outcome) {
        let Some(tree) = self.active.get_mut(&key) else {
            return;
        };
        match tree.joined(from, step) {
            Step::Part(shape, ..) if shape != tree.shape => self.disagree(key, from, out),
            Step::Up(shape, _) | Step::Down(shape, _) | Step::More(shape, _) | Step::Ask(shape)
                if shape != tree.shape =>
            {
                self.disagree(key, from, out);
            }
            Step::More(_, values) => tree.keep(from, values),
            Step::Up(_, values) if tree.takes_from(from, &values) => {
                tree.up.insert(from, values);
                self.go_up(key, out);
            }
            Step::Down(_, values) if tree.parent == Some(from) => self.go_down(key, values, out),
            Step::Combined(whole) if from == tree.myself() => {
                if let Some(failure) = tree.refuses(&whole, self.longest) {
                    return self.fail(key, &failure, None, out);
                }
                let values = vec![(tree.place as u32, whole)];
                self.has_gone_up(key, values, out);
            }
            // No operation waits for this step.
            _ => {}
        }
    }

    /// Injects a fault.
    #[cfg(feature = "mutants")]
    pub fn mutate(&mut self, fault: Fault) {
        self.fault = fault;
    }

    /// Ends the operations that wait for a peer, which is certainly or perhaps lost.
    pub fn lost(&mut self, rank: Rank, is_certain: bool, why: &str, out: &mut Outcome) {
        let ending = self
            .running()
            .filter(|(_, running)| running.ends_without(rank, is_certain));
        let keys: Vec<Key> = ending.map(|(key, _)| key).collect();
        let failure = Failure::Lost {
            rank,
            why: why.to_string(),
        };
        for key in keys {
            self.fail(key, &failure, Some(rank), out);
        }
    }

    /// Ends an operation, since a peer's step is of another one.
    fn disagree(&mut self, key: Key, rank: Rank, out: &mut Outcome) {
        let why = "called another operation, or has the processes in another order or another root";
        let failure = Failure::Mismatch {
            rank,
            why: why.into(),
        };
        out.sends.push((rank, key, Step::Failed(failure.clone())));
        self.fail(key, &failure, Some(rank), out);
    }

    /// Ends an operation with a failure, and tells the neighbours except one that knows or is out
    /// of reach.
    fn fail(&mut self, key: Key, failure: &Failure, knows: Option<Rank>, out: &mut Outcome) {
        let Some((id, near)) = self.remove(key) else {
            return;
        };
        // A neighbour that another process has lost is told too: it may live.
        for &neighbour in near.iter().filter(|near| Some(**near) != knows) {
            out.sends
                .push((neighbour, key, Step::Failed(failure.clone())));
        }
        out.ended.push((id, near, Err(failure.clone())));
    }

    /// Sends this subtree's values on when all of them are here.
    fn go_up(&mut self, key: Key, out: &mut Outcome) {
        let Some(tree) = self.active.get_mut(&key).filter(|tree| tree.is_whole()) else {
            return;
        };
        match tree.take_work(key) {
            Some(work) => out.combine.push(work),
            None => {
                let values = tree.contribution();
                self.has_gone_up(key, values, out);
            }
        }
    }

    /// Sends the subtree's contribution on.
    fn has_gone_up(&mut self, key: Key, values: Vec<(u32, Message)>, out: &mut Outcome) {
        let Some(tree) = self.active.get_mut(&key) else {
            return;
        };
        match tree.parent {
            Some(parent) => {
                let steps = Step::Up(tree.shape, values).in_parts(self.longest);
                out.send(parent, key, steps);
                if !tree.comes_down() {
                    self.end(key, Vec::new(), out);
                }
            }
            None => self.turn(key, values, out),
        }
    }

    /// Turns the values at the root: all that goes up has come.
    fn turn(&mut self, key: Key, values: Vec<(u32, Message)>, out: &mut Outcome) {
        let Some(tree) = self.active.get_mut(&key) else {
            return;
        };
        if matches!(tree.operation, Operation::Gather | Operation::Reduce(_)) {
            if tree.comes_down() {
                tree.pass_down(key, &[], self.longest, out);
            }
            self.end(key, values, out);
        } else {
            let values = tree.root_values(values);
            self.go_down(key, values, out);
        }
    }

    fn go_down(&mut self, key: Key, values: Vec<(u32, Message)>, out: &mut Outcome) {
        let Some(tree) = self.active.get(&key) else {
            return;
        };
        tree.pass_down(key, &values, self.longest, out);
        let is_scatter = matches!(tree.operation, Operation::Scatter(_));
        let place = tree.place as u32;
        let own = values
            .into_iter()
            .filter(|(of, _)| !is_scatter || *of == place)
            .collect();
        self.end(key, own, out);
    }

    /// Ends an operation. Its values are at places counted from the root's; its caller counts from
    /// the list's beginning.
    fn end(&mut self, key: Key, mut values: Vec<(u32, Message)>, out: &mut Outcome) {
        let Some(tree) = self.active.remove(&key) else {
            return;
        };
        let count = tree.ranks.len();
        values.sort_by_key(|(place, _)| (*place as usize + tree.root) % count);
        out.ended.push((
            tree.id,
            tree.neighbours(),
            Ok(values.into_iter().map(|(_, value)| value).collect()),
        ));
    }
}

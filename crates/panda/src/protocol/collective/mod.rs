//! Collective operations over a list of processes: contributions go up a binomial tree, results come down it.
//!
//! Places in the list, counted from the root's, form the tree: place p's parent is p without its lowest bit, so each process handles at most log₂ n messages.
//! All of them must call the same operations in the same order on the same list. Who finds a process lost tells its neighbours in the tree, and they theirs, so all end.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::requests::{Failure, RequestId};
use crate::message::Message;
use crate::platform::Rank;

/// Operations that wait for this process to begin them.
const EARLY_MAX: usize = 4096;

/// Combines two contributions into one; associative and commutative.
pub type Combine = Box<dyn Fn(Bytes, Bytes) -> Bytes + Send>;

/// What goes up the tree and what comes down.
pub enum Operation {
    /// Nothing, both ways.
    Barrier,
    /// The root's value, down.
    Broadcast,
    /// Everybody's value, up; the root gets them in the order of the list.
    Gather,
    /// The root's values, one for each, down.
    Scatter(Vec<Bytes>),
    /// Values combined on their way up.
    Reduce(Combine),
    /// Values combined on their way up; the result, down.
    AllReduce(Combine),
}

impl Operation {
    fn goes_up(&self) -> bool {
        !matches!(self, Self::Broadcast | Self::Scatter(_))
    }

    fn comes_down(&self) -> bool {
        !matches!(self, Self::Gather | Self::Reduce(_))
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
        })
    }
}

/// Which operation a message belongs to: the list's name and the operation's number on that list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The same at all who take part.
    pub list: u64,
    /// Grows by one.
    pub number: u64,
}

/// What goes along an edge of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Step {
    /// To the parent: values of a subtree, with their places.
    Up(Vec<(u32, Bytes)>),
    /// To a child: values for a subtree, with their places.
    Down(Vec<(u32, Bytes)>),
    /// This process is lost.
    Lost(Rank, String),
}

/// An operation that ended, the peers that it watched, and a value for each place.
pub type Ended = (RequestId, Vec<Rank>, Result<Vec<Bytes>, Failure>);

/// What comes of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    /// To be sent.
    pub sends: Vec<(Rank, Key, Step)>,
    /// Operations that ended, the peers that they watched, and their result: a value for each place.
    pub ended: Vec<Ended>,
}

/// The operations under way.
#[derive(Debug, Default)]
pub struct Collectives {
    begun: HashMap<u64, u64>,
    active: BTreeMap<Key, Tree>,
    early: HashMap<Key, Vec<(Rank, Step)>>,
}

#[derive(Debug)]
struct Tree {
    id: RequestId,
    operation: Operation,
    ranks: Arc<[Rank]>,
    /// One's place, counted from the root's.
    place: usize,
    root: usize,
    parent: Option<Rank>,
    children: Vec<Rank>,
    own: Bytes,
    up: BTreeMap<Rank, Vec<(u32, Bytes)>>,
}

/// What a process brings to an operation.
#[derive(Debug)]
pub struct Part {
    /// Names the operation's end.
    pub id: RequestId,
    /// Names the list; the same at all.
    pub list: u64,
    /// Who takes part, this process among them.
    pub ranks: Arc<[Rank]>,
    /// One's own place in `ranks`.
    pub at: usize,
    /// The root's place in `ranks`.
    pub root: usize,
    /// What is done.
    pub operation: Operation,
    /// One's own value, where the operation takes one.
    pub value: Bytes,
}

impl Collectives {
    /// Begins an operation; returns the peers to watch until it ends.
    pub fn begin(&mut self, part: Part, out: &mut Outcome) -> Vec<Rank> {
        let Part {
            id,
            list,
            ranks,
            at,
            root,
            operation,
            value,
        } = part;
        let number = self.begun.entry(list).or_default();
        *number += 1;
        let key = Key {
            list,
            number: *number,
        };
        let count = ranks.len();
        let place = (at + count - root) % count;
        let rank_of = |place: usize| ranks[(place + root) % count];
        let parent = (place > 0).then(|| rank_of(place & (place - 1)));
        let lowest = if place == 0 {
            count.next_power_of_two()
        } else {
            place & place.wrapping_neg()
        };
        let bits =
            std::iter::successors(Some(1), |bit| Some(bit << 1)).take_while(|bit| *bit < lowest);
        let children: Vec<Rank> = bits
            .map(|bit| place + bit)
            .filter(|child| *child < count)
            .map(rank_of)
            .collect();
        let watched = parent.iter().chain(&children).copied().collect();
        let tree = Tree {
            id,
            operation,
            ranks: ranks.clone(),
            place,
            root,
            parent,
            children,
            own: value,
            up: BTreeMap::new(),
        };
        self.active.insert(key, tree);
        self.go_up(key, out);
        let is_root_down = self
            .active
            .get(&key)
            .is_some_and(|tree| tree.parent.is_none() && !tree.operation.goes_up());
        if is_root_down {
            let values = self
                .active
                .get_mut(&key)
                .map(Tree::root_values)
                .unwrap_or_default();
            self.go_down(key, values, out);
        }
        for (from, step) in self.early.remove(&key).unwrap_or_default() {
            self.take(from, key, step, out);
        }
        watched
    }

    /// Takes a message of a neighbour in a tree.
    pub fn take(&mut self, from: Rank, key: Key, step: Step, out: &mut Outcome) {
        let begun = self.begun.get(&key.list).copied().unwrap_or(0);
        if key.number > begun {
            if self.early.len() < EARLY_MAX {
                let steps = self.early.entry(key).or_default();
                // A value, and perhaps that somebody is lost.
                if steps.iter().filter(|(by, _)| *by == from).count() < 2 {
                    steps.push((from, step));
                }
            }
            return;
        }
        let Some(tree) = self.active.get_mut(&key) else {
            return;
        };
        match step {
            Step::Up(values) if tree.children.contains(&from) => {
                tree.up.insert(from, values);
                self.go_up(key, out);
            }
            Step::Down(values) if tree.parent == Some(from) => self.go_down(key, values, out),
            Step::Lost(rank, why) => self.fail(key, rank, &why, Some(from), out),
            Step::Up(_) | Step::Down(_) => {}
        }
    }

    /// A peer is lost: the operations that wait for it end.
    pub fn lost(&mut self, rank: Rank, why: &str, out: &mut Outcome) {
        let waits = |tree: &Tree| tree.parent == Some(rank) || tree.children.contains(&rank);
        let keys: Vec<Key> = self
            .active
            .iter()
            .filter(|(_, tree)| waits(tree))
            .map(|(key, _)| *key)
            .collect();
        for key in keys {
            self.fail(key, rank, why, None, out);
        }
    }

    fn fail(&mut self, key: Key, rank: Rank, why: &str, told_by: Option<Rank>, out: &mut Outcome) {
        let Some(tree) = self.active.remove(&key) else {
            return;
        };
        let near = tree.neighbours();
        for &neighbour in near
            .iter()
            .filter(|near| **near != rank && Some(**near) != told_by)
        {
            out.sends
                .push((neighbour, key, Step::Lost(rank, why.to_string())));
        }
        out.ended.push((
            tree.id,
            near,
            Err(Failure::Lost {
                rank,
                why: why.to_string(),
            }),
        ));
    }

    /// Sends this subtree's values on when all of them are here.
    fn go_up(&mut self, key: Key, out: &mut Outcome) {
        let Some(tree) = self
            .active
            .get_mut(&key)
            .filter(|tree| tree.operation.goes_up() && tree.up.len() == tree.children.len())
        else {
            return;
        };
        let values = tree.combined();
        match tree.parent {
            Some(parent) => {
                out.sends.push((parent, key, Step::Up(values)));
                if !tree.operation.comes_down() {
                    self.end(key, Vec::new(), out);
                }
            }
            None if tree.operation.comes_down() => self.go_down(key, values, out),
            None => self.end(key, values, out),
        }
    }

    fn go_down(&mut self, key: Key, values: Vec<(u32, Bytes)>, out: &mut Outcome) {
        let Some(tree) = self.active.get(&key) else {
            return;
        };
        let is_scatter = matches!(tree.operation, Operation::Scatter(_));
        for (i, &child) in tree.children.iter().enumerate().rev() {
            let first = tree.place + (1 << i);
            let of_child = |place: usize| (first..first + (1 << i)).contains(&place);
            let part = values
                .iter()
                .filter(|(place, _)| !is_scatter || of_child(*place as usize))
                .cloned()
                .collect();
            out.sends.push((child, key, Step::Down(part)));
        }
        let place = tree.place as u32;
        let own = values
            .into_iter()
            .filter(|(of, _)| !is_scatter || *of == place)
            .collect();
        self.end(key, own, out);
    }

    /// Ends an operation with values at places counted from the root's; its caller counts from the list's beginning.
    fn end(&mut self, key: Key, mut values: Vec<(u32, Bytes)>, out: &mut Outcome) {
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

impl Tree {
    fn neighbours(&self) -> Vec<Rank> {
        self.parent.iter().chain(&self.children).copied().collect()
    }

    fn root_values(&mut self) -> Vec<(u32, Bytes)> {
        let (count, root) = (self.ranks.len(), self.root);
        match &mut self.operation {
            Operation::Scatter(values) => {
                let values = std::mem::take(values).into_iter().enumerate();
                values
                    .map(|(at, value)| (((at + count - root) % count) as u32, value))
                    .collect()
            }
            _ => vec![(0, self.own.clone())],
        }
    }

    /// The subtree's contribution.
    fn combined(&mut self) -> Vec<(u32, Bytes)> {
        let place = self.place as u32;
        let own = std::mem::take(&mut self.own);
        let below = std::mem::take(&mut self.up).into_values().flatten();
        match &self.operation {
            Operation::Reduce(combine) | Operation::AllReduce(combine) => {
                let whole = below.fold(own, |whole, (_, value)| combine(whole, value));
                vec![(place, whole)]
            }
            Operation::Gather => std::iter::once((place, own)).chain(below).collect(),
            _ => Vec::new(),
        }
    }
}

/// A step as header and body are one value: trees carry what processes computed, which is rarely long.
#[must_use]
pub fn encode(step: &Step) -> Message {
    Message::of(step).expect("steps are plain data, which postcard always takes")
}

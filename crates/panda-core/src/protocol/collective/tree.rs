//! One operation at one process: its place in the tree, and the values that have come up to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::combine::Work;
use super::{Combining, Key, Operation, Outcome, Part, Shape, Step, place};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::requests::{Failure, RequestId};

#[derive(Debug)]
pub(super) struct Tree {
    pub id: RequestId,
    pub begun: Time,
    pub operation: Operation,
    pub ranks: Arc<[Rank]>,
    /// This process's place, counted from the root's.
    pub place: usize,
    pub root: usize,
    pub shape: Shape,
    /// Whether no member may end it before all have begun it.
    is_joint: bool,
    pub parent: Option<Rank>,
    pub children: Vec<Rank>,
    own: Message,
    /// Values that have come up from each child.
    pub up: BTreeMap<Rank, Vec<(u32, Message)>>,
    /// Values that have come of a neighbour, of which more follow.
    coming: BTreeMap<Rank, Vec<(u32, Message)>>,
    has_gone_up: bool,
    /// Injected fault: the last child's part is left out.
    pub leaves_out: bool,
}

impl Tree {
    pub fn new(now: Time, part: Part, is_joint: bool) -> Self {
        let (place, root) = (part.place(), part.root);
        let parent = place::parent(place).map(|place| part.rank_at(place));
        let children = place::children(place, part.ranks.len())
            .map(|place| part.rank_at(place))
            .collect();
        Self {
            id: part.id,
            begun: now,
            shape: part.shape(),
            operation: part.operation,
            place,
            root,
            is_joint,
            parent,
            children,
            own: part.value,
            up: BTreeMap::new(),
            coming: BTreeMap::new(),
            has_gone_up: false,
            leaves_out: false,
            ranks: part.ranks,
        }
    }

    pub fn goes_up(&self) -> bool {
        self.is_joint || self.operation.goes_up()
    }

    pub fn comes_down(&self) -> bool {
        self.is_joint || self.operation.comes_down()
    }

    pub fn neighbours(&self) -> Vec<Rank> {
        self.parent.iter().chain(&self.children).copied().collect()
    }

    /// Returns whether a message of this peer is still to come.
    pub fn waits_for(&self, peer: Rank) -> bool {
        let is_below = || self.children.contains(&peer) && !self.up.contains_key(&peer);
        self.goes_up() && !self.has_gone_up && is_below()
            || self.comes_down() && self.parent == Some(peer)
    }

    /// Returns this process's rank.
    pub fn myself(&self) -> Rank {
        self.ranks[(self.place + self.root) % self.ranks.len()]
    }

    /// Returns the places of a child's subtree, by the child's number.
    fn places_below(&self, child: usize) -> std::ops::Range<usize> {
        place::subtree(place::child(self.place, child), self.ranks.len())
    }

    /// Keeps values of a neighbour of which more follow, if they can be valid.
    pub fn keep(&mut self, from: Rank, values: Vec<(u32, Message)>) {
        let below = |child| self.places_below(child).len();
        let most = match self.operation {
            Operation::Gather => {
                let child = self.children.iter().position(|child| *child == from);
                child.map_or(0, below)
            }
            Operation::Scatter(_) if self.parent == Some(from) => {
                1 + (0..self.children.len()).map(below).sum::<usize>()
            }
            _ => 0,
        };
        let kept = self.coming.get(&from).map_or(0, Vec::len);
        if kept + values.len() <= most {
            self.coming.entry(from).or_default().extend(values);
        }
    }

    /// Returns how many of them are kept.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.coming.values().map(Vec::len).sum()
    }

    /// Joins a neighbour's step with the kept parts of its values.
    pub fn joined(&mut self, from: Rank, mut step: Step) -> Step {
        if let Step::Up(shape, values) | Step::Down(shape, values) = &mut step
            && *shape == self.shape
            && let Some(mut all) = self.coming.remove(&from)
        {
            all.append(values);
            *values = all;
        }
        step
    }

    /// Returns whether these may be the values of a child's subtree.
    pub fn takes_from(&self, from: Rank, values: &[(u32, Message)]) -> bool {
        let Some(child) = self.children.iter().position(|child| *child == from) else {
            return false;
        };
        let below = self.places_below(child);
        let is_whole = match self.operation {
            Operation::Gather => values.len() == below.len(),
            Operation::Reduce(_) | Operation::AllReduce(_) => values.len() == 1,
            _ => values.is_empty(),
        };
        is_whole && (values.iter()).all(|(place, _)| below.contains(&(*place as usize)))
    }

    /// Sends values on, to each child those of its subtree.
    pub fn pass_down(
        &self,
        key: Key,
        values: &[(u32, Message)],
        longest: usize,
        out: &mut Outcome,
    ) {
        let is_scatter = matches!(self.operation, Operation::Scatter(_));
        for (number, &child) in self.children.iter().enumerate().rev() {
            let below = self.places_below(number);
            let part = values
                .iter()
                .filter(|(place, _)| !is_scatter || below.contains(&(*place as usize)))
                .cloned()
                .collect();
            out.send(child, key, Step::Down(self.shape, part).in_parts(longest));
        }
    }

    /// Returns the values that come down from this root, given those that came up.
    pub fn root_values(&mut self, up: Vec<(u32, Message)>) -> Vec<(u32, Message)> {
        let (count, root) = (self.ranks.len(), self.root);
        match &mut self.operation {
            Operation::Scatter(values) => {
                let values = std::mem::take(values).into_iter().enumerate();
                values
                    .map(|(at, value)| (((at + count - root) % count) as u32, value))
                    .collect()
            }
            Operation::Broadcast => vec![(0, std::mem::take(&mut self.own))],
            _ => up,
        }
    }

    /// Returns whether all contributions for here have come, and have not gone up.
    pub fn is_whole(&self) -> bool {
        self.goes_up() && !self.has_gone_up && self.up.len() == self.children.len()
    }

    /// Takes the program's work that must precede the subtree's contribution, if there is any.
    pub fn take_work(&mut self, key: Key) -> Option<Combining> {
        let (Operation::Reduce(combine) | Operation::AllReduce(combine)) = &mut self.operation
        else {
            return None;
        };
        if self.children.is_empty() {
            return None;
        }
        self.has_gone_up = true;
        if self.leaves_out {
            self.up.pop_last();
        }
        let below = std::mem::take(&mut self.up).into_iter();
        let below = below
            .flat_map(|(rank, values)| values.into_iter().map(move |(_, value)| (rank, value)));
        Some(Combining {
            key,
            work: Work::Subtree {
                combine: std::mem::replace(combine, Box::new(|own, _| Ok(own))),
                own: std::mem::take(&mut self.own),
                others: below.collect(),
            },
            myself: self.myself(),
        })
    }

    /// Returns why the combined value cannot go on, if it must and cannot.
    pub fn refuses(&self, whole: &Message, longest: usize) -> Option<Failure> {
        let goes_on = self.parent.is_some() || self.comes_down();
        (goes_on && whole.len() > longest).then(|| Failure::Panicked {
            rank: self.myself(),
            why: format!(
                "made {} bytes of them, and a message has at most {longest}: gather them, or combine them to less",
                whole.len()
            ),
        })
    }

    /// Returns the subtree's contribution, if nothing is to be combined.
    pub fn contribution(&mut self) -> Vec<(u32, Message)> {
        self.has_gone_up = true;
        if !self.operation.takes_values() {
            return Vec::new();
        }
        let own = std::mem::take(&mut self.own);
        let below = std::mem::take(&mut self.up).into_values().flatten();
        std::iter::once((self.place as u32, own))
            .chain(below)
            .collect()
    }
}

//! Collective operations that some processes call in the same order, whatever the outcome of each.

use super::numbers::Held;
use super::{What, World};
use crate::communicator::{Calls, Communicator, Done, Task, Turn, given, own};
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::{DecodeError, Message};
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::collective::plan::Way;
use antiphon_panda_core::protocol::collective::{Operation, Part};
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::requests::{Failure, RequestId};

/// A place in a communicator.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    pub communicator: usize,
    pub place: usize,
}

impl<L: Links, O: Order> World<L, O> {
    /// Makes living, connected processes call collective operations on a list of their own, each
    /// from its own moment on.
    pub fn communicator(&mut self, ranks: Vec<Rank>, tasks: Vec<Task>, begins: &[Time]) {
        let is_met = |a: &Rank, b: &Rank| self.reaches(*a, *b) == self.medium.life_of(*b);
        if !ranks.iter().all(|a| ranks.iter().all(|b| is_met(a, b))) {
            return;
        }
        let lives = ranks
            .iter()
            .map(|rank| self.medium.life_of(*rank))
            .collect();
        let communicator = self.history.communicators.len();
        for (place, at) in begins.iter().enumerate() {
            self.medium.add(
                *at,
                What::Turn(Slot {
                    communicator,
                    place,
                }),
            );
        }
        self.history.communicators.push(Communicator {
            turns: ranks.iter().map(|_| Vec::new()).collect(),
            ranks: ranks.into(),
            lives,
            tasks,
        });
    }

    /// Makes a process of a communicator call its next operation.
    pub(super) fn turn(&mut self, slot: Slot) {
        let Some(communicator) = self.history.communicators.get_mut(slot.communicator) else {
            return;
        };
        let (ranks, life) = (communicator.ranks.clone(), communicator.lives[slot.place]);
        let turns = &mut communicator.turns[slot.place];
        let Some(&task) = communicator.tasks.get(turns.len()) else {
            return;
        };
        let rank = ranks[slot.place];
        let Some(node) = (self.nodes[rank as usize].as_mut()).filter(|node| node.life == life)
        else {
            return;
        };
        let id = node.stack.request_id();
        let number = turns.len();
        turns.push(Turn {
            at: self.medium.now,
            ended: None,
        });
        self.slots.insert((life, id), slot);
        let list = slot.communicator as u64 + 1;
        let (operation, value) = match task.way(number) {
            Some(way) => {
                let held = Held::new(own(number, slot.place), 1 + task.length / 8);
                self.arrays.insert((life, id), held.clone());
                let count = ranks.len();
                held.sum(way, (slot.place + count - task.root) % count, count)
            }
            None => (
                operation(task, number, ranks.len()),
                value(own(number, slot.place), task.length),
            ),
        };
        let part = Part {
            id,
            list,
            family: list,
            order: list,
            operation,
            value,
            at: slot.place,
            root: task.root,
            ranks,
        };
        self.act(rank, |stack, now| stack.collect(now, part));
    }

    /// Handles the end of a collective operation, and begins the next one. Returns whether it was
    /// one of a communicator's.
    pub(super) fn turned(
        &mut self,
        rank: Rank,
        id: RequestId,
        outcome: &Result<Vec<Message>, Failure>,
    ) -> bool {
        let key = (self.medium.life_of(rank), id);
        let Some(slot) = self.slots.remove(&key) else {
            return false;
        };
        let array = self.arrays.remove(&key);
        let communicator = &mut self.history.communicators[slot.communicator];
        let turns = &mut communicator.turns[slot.place];
        let (task, count) = (
            communicator.tasks[turns.len() - 1],
            communicator.ranks.len(),
        );
        let length = task.length;
        // A process that is not the root has no result.
        let array = array.filter(|_| task.calls.is_to_all() || slot.place == task.root);
        if let Some(turn) = turns.last_mut() {
            let number = |value: &Message| number_in(value, length);
            let ended = match outcome {
                Ok(values) => {
                    let sums = array.iter().map(|array| array.first(count));
                    Done::Well(values.iter().map(number).chain(sums).collect())
                }
                Err(failure) => Done::Failed(failure.clone()),
            };
            turn.ended = Some((self.medium.now, ended));
        }
        self.turn(slot);
        true
    }
}

impl Calls {
    fn is_to_all(self) -> bool {
        self == Self::AllReduceNumbers
    }
}

impl Task {
    /// Returns the way of arrays, if it is an operation on arrays: every second one goes in parts.
    fn way(&self, number: usize) -> Option<Way> {
        let is_of_numbers = matches!(self.calls, Calls::ReduceNumbers | Calls::AllReduceNumbers);
        is_of_numbers.then(|| Way {
            to_all: self.calls.is_to_all(),
            in_parts: number % 2 == 1,
        })
    }
}

fn operation(task: Task, number: usize, count: usize) -> Operation {
    match task.calls {
        Calls::Barrier => Operation::Barrier,
        Calls::Broadcast => Operation::Broadcast,
        Calls::Gather => Operation::Gather,
        Calls::Scatter => {
            let values = (0..count).map(|place| value(given(number, place), task.length));
            Operation::Scatter(values.collect())
        }
        Calls::Reduce => Operation::Reduce(Box::new(|a, b| Ok(sum(a, b)?))),
        Calls::AllReduce => Operation::AllReduce(Box::new(|a, b| Ok(sum(a, b)?))),
        Calls::ReduceNumbers | Calls::AllReduceNumbers => unreachable!("they bring arrays"),
    }
}

/// Makes a value of a number and so many more bytes.
fn value(number: u64, length: usize) -> Message {
    let mut value = Message::from(vec![0x5a; length]);
    value.push(&number.to_le_bytes());
    value
}

/// Returns the number of a value, if its length is right.
fn number_in(value: &Message, length: usize) -> Option<u64> {
    let number = value.look().ok().map(u64::from_le_bytes);
    number.filter(|_| value.len() == length + 8)
}

fn sum(mut a: Message, mut b: Message) -> Result<Message, DecodeError> {
    let sum = u64::from_le_bytes(a.pop()?).wrapping_add(u64::from_le_bytes(b.pop()?));
    a.push(&sum.to_le_bytes());
    Ok(a)
}

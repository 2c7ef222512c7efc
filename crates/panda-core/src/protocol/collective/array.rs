//! Arrays of numbers in an operation: what the protocols know of them, and what is done with them outside of the protocols' lock.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::plan::{Round, Take, Way, rounds};
use super::{Key, Refused};
use crate::Rank;
use crate::message::Message;
use crate::number::{name_of_reduction, name_of_type};
use crate::protocol::requests::Failure;

/// A process's array, for as long as the operation lasts. Ranges are of its numbers, and inside of it; messages have as many numbers as the range, in their form between processes.
pub trait Array: Send + Sync {
    /// A copy of some of the numbers.
    ///
    /// # Errors
    /// [`Refused::Over`].
    fn part(&self, of: Range<usize>) -> Result<Message, Refused>;

    /// Combines some of the numbers with others, which come first or second in the expression.
    ///
    /// # Errors
    /// [`Refused::Over`], [`Refused::Panicked`].
    fn combine(
        &self,
        of: Range<usize>,
        others: &Message,
        others_first: bool,
    ) -> Result<(), Refused>;

    /// Replaces some of the numbers.
    ///
    /// # Errors
    /// [`Refused::Over`].
    fn put(&self, of: Range<usize>, others: &Message) -> Result<(), Refused>;
}

/// What all members must have in common, beside the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The type of the numbers, as a code.
    pub of: u8,
    /// What is made of them, as a code.
    pub by: u8,
    /// How many there are.
    pub length: u64,
}

impl Signature {
    pub(super) fn to_bytes(self) -> [u8; 10] {
        let mut bytes = [self.of, self.by, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes[2..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes([of, by, length @ ..]: [u8; 10]) -> Self {
        Self {
            of,
            by,
            length: u64::from_le_bytes(length),
        }
    }

    /// How another's differs from one's own: in words, to follow its name.
    pub(super) fn differs(self, theirs: Self, myself: Rank) -> String {
        let mut found = Vec::new();
        if self.length != theirs.length {
            found.push((
                format!("an array of {} numbers", theirs.length),
                self.length.to_string(),
            ));
        }
        if self.of != theirs.of {
            found.push((
                format!("numbers of type {}", name_of_type(theirs.of)),
                name_of_type(self.of).to_string(),
            ));
        }
        if self.by != theirs.by {
            let (own, other) = (name_of_reduction(self.by), name_of_reduction(theirs.by));
            found.push((format!("the operation \"{other}\""), format!("\"{own}\"")));
        }
        let all: Vec<String> = found
            .into_iter()
            .map(|(theirs, ours)| format!("has {theirs} where rank {myself} has {ours}"))
            .collect();
        all.join(" and ")
    }
}

/// An operation on arrays of numbers.
#[derive(Clone)]
pub struct Numbers {
    /// The same at all.
    pub signature: Signature,
    /// Bytes of a number.
    pub size: usize,
    /// Whether all get the result, or the root alone; whether arrays go in parts. The same at all who have the same signature.
    pub way: Way,
    /// One's own, which becomes the result where there is one.
    pub array: Arc<dyn Array>,
}

impl Numbers {
    /// What this process does among `count`; `is_joint` where nobody may end it before all have begun it.
    pub(super) fn rounds(&self, place: usize, count: usize, is_joint: bool) -> Vec<Round> {
        let in_parts = self.way.in_parts || is_joint && !self.way.to_all;
        let way = Way {
            in_parts,
            ..self.way
        };
        rounds(way, place, count, self.length())
    }

    /// Which of its numbers a process brings with it: those that it sends first, or, as long as they go as a whole, all.
    #[must_use]
    pub fn brought(&self, place: usize, count: usize) -> Range<usize> {
        if !self.way.in_parts {
            return 0..self.length();
        }
        let first = self.rounds(place, count, false).into_iter().next();
        first.and_then(|round| round.sends).unwrap_or(0..0)
    }

    /// Bytes of the array.
    pub fn bytes(&self) -> usize {
        self.length() * self.size
    }

    fn length(&self) -> usize {
        self.signature.length as usize
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Numbers({:?}, {:?})", self.signature, self.way)
    }
}

/// What is to be done with numbers that came.
pub(super) struct Merging {
    pub array: Arc<dyn Array>,
    pub take: Take,
    pub of: Range<usize>,
    pub from: Rank,
    pub came: Message,
    /// Whether what came is of earlier places.
    pub others_first: bool,
    /// What was sent for it.
    pub sent: Option<Message>,
    /// What is to be sent next.
    pub next: Option<Range<usize>>,
}

impl Merging {
    /// Does it; what is to be sent next.
    pub fn run(self, myself: Rank) -> Result<Message, Failure> {
        let from = self.from;
        self.merge()
            .map_err(|refused| refused.failure(myself, from))
    }

    fn merge(self) -> Result<Message, Refused> {
        match self.take {
            Take::Combine => self.array.combine(self.of, &self.came, self.others_first)?,
            Take::Put => self.array.put(self.of, &self.came)?,
        }
        match (self.next, self.take, self.sent) {
            (None, ..) => Ok(Message::new()),
            // What was sent and what came for it are what is held now: they go on as they are.
            (Some(_), Take::Put, Some(sent)) => Ok(match self.others_first {
                true => joined(self.came, sent),
                false => joined(sent, self.came),
            }),
            (Some(next), ..) => self.array.part(next),
        }
    }
}

fn joined(mut first: Message, second: Message) -> Message {
    first.append(second);
    first
}

/// Names an operation in what is said of it.
pub(super) fn wrong_length(have: usize, want: usize, key: Key) -> String {
    let number = key.number;
    format!("sent {have} bytes of numbers where {want} were due, in operation {number} of the list")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told() {
        let own = Signature {
            of: 4,
            by: 1,
            length: 5,
        };
        let other = Signature { of: 10, ..own };
        assert_eq!(
            own.differs(other, 3),
            "has numbers of type f64 where rank 3 has i64"
        );
        let other = Signature {
            by: 2,
            length: 6,
            ..own
        };
        assert_eq!(
            own.differs(other, 0),
            "has an array of 6 numbers where rank 0 has 5 and has the operation \"product\" where rank 0 has \"sum\""
        );
        assert_eq!(Signature::from_bytes(other.to_bytes()), other);
    }
}

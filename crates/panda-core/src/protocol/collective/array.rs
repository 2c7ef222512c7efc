//! Arrays of numbers in an operation. The work on them is done outside of the protocols' lock.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::plan::{Round, Take, Way, rounds};
use super::{Key, Refused};
use crate::Rank;
use crate::message::Message;
use crate::number::{name_of_reduction, name_of_type};
use crate::protocol::requests::Failure;

/// A process's array for the duration of an operation. Ranges are of its numbers, and inside of it.
/// Messages have as many numbers as the range, in their wire form.
pub trait Array: Send + Sync {
    /// Returns a copy of some of the numbers.
    ///
    /// # Errors
    ///
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

/// The properties that all members must share, besides the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Code of the numbers' type.
    pub of: u8,
    /// Code of the reduction.
    pub by: u8,
    /// Number of numbers.
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

    /// Says how another member's signature differs from this one's, in words that follow its name.
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
    /// Signature, which is the same at all members.
    pub signature: Signature,
    /// Bytes of a number.
    pub size: usize,
    /// The way: whether all get the result or the root alone, and whether arrays go in parts.
    /// Members with the same signature have the same way.
    pub way: Way,
    /// This process's array, which becomes the result if it gets one.
    pub array: Arc<dyn Array>,
}

impl Numbers {
    /// Returns the rounds of a place among `count`. With `is_joint` no member may end the operation
    /// before all have begun it.
    pub(super) fn rounds(&self, place: usize, count: usize, is_joint: bool) -> Vec<Round> {
        let in_parts = self.way.in_parts || is_joint && !self.way.to_all;
        let way = Way {
            in_parts,
            ..self.way
        };
        rounds(way, place, count, self.length())
    }

    /// Returns the range of numbers that a process brings along: its first message, or all numbers
    /// if they go as a whole.
    #[must_use]
    pub fn brought(&self, place: usize, count: usize) -> Range<usize> {
        if !self.way.in_parts {
            return 0..self.length();
        }
        let first = self.rounds(place, count, false).into_iter().next();
        first.and_then(|round| round.sends).unwrap_or(0..0)
    }

    /// Returns the bytes of the array.
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

/// The work on received numbers.
pub(super) struct Merging {
    pub array: Arc<dyn Array>,
    pub take: Take,
    pub of: Range<usize>,
    pub from: Rank,
    pub came: Message,
    /// Whether the received numbers are of earlier places.
    pub others_first: bool,
    /// Message that was sent in exchange.
    pub sent: Option<Message>,
    /// Range to send next.
    pub next: Option<Range<usize>>,
}

impl Merging {
    /// Does the work, and returns the message to send next.
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
            // The two messages are what the array holds now, so they go on as they are.
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

/// Describes a message of the wrong length, and its operation.
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

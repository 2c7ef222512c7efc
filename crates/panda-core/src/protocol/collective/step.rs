//! Steps along an edge of the tree, and their wire form: a header, then the values as they are.

use super::array::Signature;
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::requests::Failure;

/// A step along an edge of the tree.
#[derive(Debug, Clone)]
pub enum Step {
    /// To the parent: values of a subtree, with their places.
    Up(Shape, Vec<(u32, Message)>),
    /// To a child: values for a subtree, with their places.
    Down(Shape, Vec<(u32, Message)>),
    /// Values of which more follow: they precede an `Up` or a `Down` that would be too long for one
    /// message.
    More(Shape, Vec<(u32, Message)>),
    /// Numbers of an array, in a round of the plan for it.
    Part(Shape, Signature, u8, Message),
    /// This process's part has failed.
    Failed(Failure),
    /// Asks whether the receiver has ended the operation, or is at another one.
    Ask(Shape),
    /// The answer: it has.
    Ended,
    /// From this process to itself: the combined values of its subtree, or the next numbers for
    /// others.
    Combined(Message),
}

/// A hash of the sender's operation, order of processes and root. It is the same at all members, or
/// they disagree.
pub type Shape = u64;

const UP: u8 = 0;
const DOWN: u8 = 1;
const LOST: u8 = 2;
const MISMATCH: u8 = 3;
const ASK: u8 = 4;
const ENDED: u8 = 5;
const PANICKED: u8 = 6;
const COMBINED: u8 = 7;
const PART: u8 = 8;
const MORE: u8 = 9;
/// Bytes of a place and a length.
const ENTRY: usize = 12;
/// Bytes before the entries.
const HEADER: usize = 13;

impl Step {
    /// Encodes the step as a message, without copying values.
    #[must_use]
    pub fn encode(&self) -> Message {
        match self {
            Self::Up(shape, values) => encode_values(UP, *shape, values),
            Self::Down(shape, values) => encode_values(DOWN, *shape, values),
            Self::More(shape, values) => encode_values(MORE, *shape, values),
            Self::Part(shape, signature, round, numbers) => {
                let mut message = numbers.clone();
                message.push(&[*round]);
                message.push(&signature.to_bytes());
                message.push(&shape.to_le_bytes());
                message.push(&[PART]);
                message
            }
            Self::Failed(Failure::Mismatch { rank, why }) => encode_failure(MISMATCH, *rank, why),
            Self::Failed(Failure::Lost { rank, why }) => encode_failure(LOST, *rank, why),
            Self::Failed(Failure::Panicked { rank, why }) => encode_failure(PANICKED, *rank, why),
            Self::Ask(shape) => {
                let mut message = Message::from(shape.to_le_bytes().to_vec());
                message.push(&[ASK]);
                message
            }
            Self::Ended => Message::from(vec![ENDED]),
            Self::Combined(whole) => {
                let mut message = whole.clone();
                message.push(&[COMBINED]);
                message
            }
            // A collective operation has no other failures.
            Self::Failed(other) => encode_failure(LOST, other.rank(), "failed"),
        }
    }

    /// Splits the step into steps of at most `longest` bytes each, in order. A single value may be
    /// longer.
    #[must_use]
    pub fn in_parts(mut self, longest: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        if let Self::Up(shape, values) | Self::Down(shape, values) = &mut self {
            let (mut part, mut length) = (Vec::new(), HEADER);
            for value in std::mem::take(values) {
                let more = ENTRY + value.1.len();
                if length + more > longest && !part.is_empty() {
                    parts.push(Self::More(*shape, std::mem::take(&mut part)));
                    length = HEADER;
                }
                length += more;
                part.push(value);
            }
            *values = part;
        }
        parts.push(self);
        parts
    }

    /// Decodes a step. It allocates no more than the message's own length.
    ///
    /// # Errors
    ///
    /// The message is no step.
    pub fn decode(mut message: Message) -> Result<Self, DecodeError> {
        let [kind] = message.pop()?;
        Ok(match kind {
            UP => Self::Up(u64::from_le_bytes(message.pop()?), values_of(message)?),
            DOWN => Self::Down(u64::from_le_bytes(message.pop()?), values_of(message)?),
            MORE => Self::More(u64::from_le_bytes(message.pop()?), values_of(message)?),
            PART => {
                let shape = u64::from_le_bytes(message.pop()?);
                let signature = Signature::from_bytes(message.pop()?);
                let [round] = message.pop()?;
                Self::Part(shape, signature, round, message)
            }
            LOST | MISMATCH | PANICKED => {
                let rank = u32::from_le_bytes(message.pop()?);
                let why = String::from_utf8_lossy(&message.to_bytes()).into_owned();
                Self::Failed(match kind {
                    LOST => Failure::Lost { rank, why },
                    PANICKED => Failure::Panicked { rank, why },
                    _ => Failure::Mismatch { rank, why },
                })
            }
            ASK => Self::Ask(u64::from_le_bytes(message.pop()?)),
            ENDED if message.is_empty() => Self::Ended,
            COMBINED => Self::Combined(message),
            other => return Err(refused(format!("its first byte is {other}"))),
        })
    }
}

fn encode_values(kind: u8, shape: Shape, values: &[(u32, Message)]) -> Message {
    let mut message = Message::new();
    let mut header = Vec::with_capacity(HEADER + ENTRY * values.len());
    header.push(kind);
    header.extend(shape.to_le_bytes());
    header.extend((values.len() as u32).to_le_bytes());
    for (place, value) in values {
        header.extend(place.to_le_bytes());
        header.extend((value.len() as u64).to_le_bytes());
        message.append(value.clone());
    }
    message.push(&header);
    message
}

fn values_of(mut message: Message) -> Result<Vec<(u32, Message)>, DecodeError> {
    let count = u32::from_le_bytes(message.pop()?) as usize;
    let mut entries = message.split_to(count.saturating_mul(ENTRY))?;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let place = u32::from_le_bytes(entries.pop()?);
        let length = usize::try_from(u64::from_le_bytes(entries.pop()?)).unwrap_or(usize::MAX);
        values.push((place, message.split_to(length)?));
    }
    match message.is_empty() {
        true => Ok(values),
        false => Err(refused(format!("{} bytes are left", message.len()))),
    }
}

fn encode_failure(kind: u8, rank: Rank, why: &str) -> Message {
    let mut message = Message::from(why.as_bytes().to_vec());
    message.push(&rank.to_le_bytes());
    message.push(&[kind]);
    message
}

#[cold]
fn refused(reason: String) -> DecodeError {
    DecodeError::Value {
        wanted: "step of a collective operation",
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_decoded_as_it_was_and_a_cut_one_is_refused() {
        let value = |length: usize| Message::from(vec![length as u8; length]);
        let values = vec![(3, value(0)), (u32::MAX, value(1)), (7, value(5000))];
        let why = String::from("why");
        let steps = [
            Step::Up(u64::MAX, values.clone()),
            Step::Up(1, Vec::new()),
            Step::Down(2, values.clone()),
            Step::More(3, values),
            Step::Failed(Failure::Lost {
                rank: 3,
                why: why.clone(),
            }),
            Step::Failed(Failure::Mismatch {
                rank: 4,
                why: why.clone(),
            }),
            Step::Failed(Failure::Panicked { rank: 5, why }),
            Step::Ask(5),
            Step::Ended,
            Step::Combined(value(9)),
            Step::Part(6, Signature::from_bytes([7; 10]), 8, value(80)),
        ];
        for step in steps {
            let bytes = step.encode().to_bytes();
            let again = Step::decode(Message::from(bytes.clone())).unwrap();
            assert_eq!(again.encode().to_bytes(), bytes);
            let is_value = !matches!(step, Step::Failed(_) | Step::Combined(_) | Step::Part(..));
            for cut in 0..bytes.len() {
                let cut = Step::decode(Message::from(bytes.slice(..cut)));
                assert!(cut.is_err() || !is_value);
            }
        }
    }

    #[test]
    fn what_is_too_long_goes_in_parts_and_nothing_else_does() {
        let value = |place: u32| (place, Message::from(vec![place as u8; 50 * place as usize]));
        let values: Vec<_> = (0..6).map(value).collect();
        let whole = Step::Up(1, values.clone());
        let length = whole.encode().len();
        assert_eq!(whole.clone().in_parts(length).len(), 1);
        assert_eq!(Step::Ask(1).in_parts(1).len(), 1);
        let parts = whole.in_parts(length / 3);
        assert!(parts.len() > 1);
        let mut joined = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let (Step::Up(1, of) | Step::More(1, of)) = part else {
                panic!("{part:?} is of another step");
            };
            assert_eq!(matches!(part, Step::Up(..)), at + 1 == parts.len());
            assert!(part.encode().len() <= length / 3 || of.len() == 1);
            joined.extend(of.clone());
        }
        let places = |values: &[(u32, Message)]| -> Vec<_> {
            let both = values.iter().map(|(place, value)| (*place, value.len()));
            both.collect()
        };
        assert_eq!(places(&joined), places(&values));
    }

    #[test]
    fn a_count_that_the_message_does_not_hold_is_refused() {
        let mut header = vec![UP];
        header.extend([0; 8]);
        header.extend(u32::MAX.to_le_bytes());
        assert!(Step::decode(Message::from(header.clone())).is_err());
        header[9..].copy_from_slice(&1u32.to_le_bytes());
        header.extend([0; 4]);
        header.extend(u64::MAX.to_le_bytes());
        assert!(Step::decode(Message::from(header)).is_err());
    }
}

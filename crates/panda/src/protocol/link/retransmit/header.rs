//! What stands before each piece; how it looks is drawn in [`super`].

use crate::message::{DecodeError, Message};

/// Bytes of it.
pub const HEADER: usize = 41;

pub const ACK: u8 = 0;
pub const LAST: u8 = 1;
pub const MORE: u8 = 2;
/// A stream of the receiver's, the number says which, is taken no more: this end has begun anew.
pub const OVER: u8 = 3;
/// Several whole messages.
pub const BUNDLE: u8 = 4;

pub struct Header {
    pub kind: u8,
    pub stream: u64,
    pub receivers: u64,
    pub number: u64,
    pub next: u64,
    pub above: u64,
}

impl Header {
    pub fn pop(frame: &mut Message) -> Result<Self, DecodeError> {
        let bytes: [u8; HEADER] = frame.pop()?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Ok(Self {
            kind: bytes[0],
            stream: word(1),
            receivers: word(9),
            number: word(17),
            next: word(25),
            above: word(33),
        })
    }

    pub fn push(&self, frame: &mut Message) {
        let mut bytes = [self.kind; HEADER];
        for (i, word) in [
            self.stream,
            self.receivers,
            self.number,
            self.next,
            self.above,
        ]
        .into_iter()
        .enumerate()
        {
            bytes[1 + 8 * i..9 + 8 * i].copy_from_slice(&word.to_le_bytes());
        }
        frame.push(&bytes);
    }
}

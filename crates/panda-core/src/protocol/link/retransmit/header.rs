//! The header before each piece, which is drawn in [`super`].

use crate::message::{DecodeError, Message};

/// Bytes of a piece's number: at ten million pieces a second a stream lasts for two centuries.
pub const NUMBER: usize = 7;
/// Bytes without the map: few enough that short messages lie in a [`Message`] itself.
const LEAST: usize = 17 + 2 * NUMBER;
/// Bytes of the longest header.
pub const HEADER: usize = LEAST + 8;
/// Flag in the kind for the map of pieces that arrived above the next expected number. It is set if
/// any has, and always in [`MORE`], so that all pieces of a run have the same length.
const HAS_ABOVE: u8 = 0x80;

pub const ACK: u8 = 0;
pub const LAST: u8 = 1;
pub const MORE: u8 = 2;
/// Kind that ends a stream of the receiver's, which follows: this end has begun anew.
pub const OVER: u8 = 3;
/// Several whole messages.
pub const BUNDLE: u8 = 4;

#[derive(Debug, PartialEq, Eq)]
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
        let bytes: [u8; LEAST] = frame.pop()?;
        let above = match bytes[0] & HAS_ABOVE {
            0 => 0,
            _ => u64::from_le_bytes(frame.pop()?),
        };
        Ok(Self {
            kind: bytes[0] & !HAS_ABOVE,
            stream: word::<8>(&bytes[1..]),
            receivers: word::<8>(&bytes[9..]),
            number: word::<NUMBER>(&bytes[17..]),
            next: word::<NUMBER>(&bytes[17 + NUMBER..]),
            above,
        })
    }

    pub fn push(&self, frame: &mut Message) {
        debug_assert!((self.number | self.next) >> (8 * NUMBER) == 0);
        let mut bytes = [0; LEAST];
        bytes[0] = self.kind;
        bytes[1..9].copy_from_slice(&self.stream.to_le_bytes());
        bytes[9..17].copy_from_slice(&self.receivers.to_le_bytes());
        bytes[17..17 + NUMBER].copy_from_slice(&self.number.to_le_bytes()[..NUMBER]);
        bytes[17 + NUMBER..].copy_from_slice(&self.next.to_le_bytes()[..NUMBER]);
        if self.above != 0 || self.kind == MORE {
            bytes[0] |= HAS_ABOVE;
            frame.push(&self.above.to_le_bytes());
        }
        frame.push(&bytes);
    }
}

/// Returns the number at the beginning of so many bytes.
pub fn word<const BYTES: usize>(bytes: &[u8]) -> u64 {
    let mut whole = [0; 8];
    whole[..BYTES].copy_from_slice(&bytes[..BYTES]);
    u64::from_le_bytes(whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NUMBERS: std::ops::Range<u64> = 0..1 << (8 * NUMBER);

    proptest! {
        #[test]
        fn what_was_pushed_is_popped(
            kind in ACK..=BUNDLE,
            (stream, receivers) in any::<(u64, u64)>(),
            (number, next) in (NUMBERS, NUMBERS),
            above in prop_oneof![Just(0), any::<u64>()],
        ) {
            let header = Header { kind, stream, receivers, number, next, above };
            let mut frame = Message::copy_of(b"piece");
            header.push(&mut frame);
            prop_assert!(frame.len() <= HEADER + 5);
            prop_assert_eq!(Header::pop(&mut frame).unwrap(), header);
            prop_assert_eq!(frame, Message::copy_of(b"piece"));
        }
    }
}

//! Pieces, which a frame of a link carries behind its header: a part of a message, a whole one, or
//! several short ones.
//!
//! Short messages that wait for the window share a piece. Otherwise a lossy network, where few
//! pieces may be under way, would carry few messages however short they are. It would fall behind
//! the traffic of many groups.
//!
//! ```text
//!   BUNDLE   for each message: length 2 | message
//! ```

use super::header::{BUNDLE, LAST, MORE};
use crate::message::{DecodeError, Message};

/// Bytes before each message of a bundle.
const LENGTH: usize = size_of::<u16>();

#[derive(Debug, Clone)]
pub struct Piece {
    pub kind: u8,
    pub body: Message,
    /// Whether it holds only whole messages, so that more may follow in it.
    is_whole: bool,
}

impl Piece {
    /// Makes a piece of a message that fits.
    pub fn of(message: Message) -> Self {
        Self {
            kind: LAST,
            body: message,
            is_whole: true,
        }
    }

    /// Cuts a message into pieces of at most `room` bytes.
    pub fn cut(mut message: Message, room: usize, mut take: impl FnMut(Self)) {
        if message.len() <= room {
            return take(Self::of(message));
        }
        let part = |kind, body| Self {
            kind,
            body,
            is_whole: false,
        };
        while message.len() > room {
            let body = message.split_to(room).expect("it is longer than this");
            take(part(MORE, body));
        }
        take(part(LAST, message));
    }

    /// Returns whether a message fits behind the others, in a piece of at most `room` bytes.
    pub fn fits(&self, message: &Message, room: usize) -> bool {
        let own = usize::from(self.kind != BUNDLE) * LENGTH;
        let length = self.body.len() + own + LENGTH + message.len();
        self.is_whole && length <= room.min(u16::MAX.into())
    }

    /// Puts a message behind the others, if it [fits](Self::fits).
    pub fn add(&mut self, message: Message) {
        if self.kind != BUNDLE {
            self.kind = BUNDLE;
            self.body = with_length(std::mem::take(&mut self.body));
        }
        self.body.append(with_length(message));
    }
}

/// Puts a length before a message, in one piece of memory, since many may follow one another.
fn with_length(mut message: Message) -> Message {
    let length = message.len() as u16;
    message.push(&length.to_le_bytes());
    Message::from(message.to_bytes())
}

/// Takes the messages of a bundle, in order.
///
/// # Errors
///
/// It is no bundle.
pub fn split(mut bundle: Message, mut take: impl FnMut(Message)) -> Result<(), DecodeError> {
    while !bundle.is_empty() {
        let length = u16::from_le_bytes(bundle.pop()?);
        take(bundle.split_to(length.into())?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(length: usize) -> Message {
        Message::from(vec![length as u8; length])
    }

    proptest! {
        #[test]
        fn what_shares_a_piece_comes_out_of_it(lengths in proptest::collection::vec(0..300_usize, 2..40)) {
            const ROOM: usize = 1000;
            let mut bundle = None;
            Piece::cut(message(lengths[0]), ROOM, |piece| bundle = Some(piece));
            let mut bundle = bundle.unwrap();
            let mut held = 1;
            for length in &lengths[1..] {
                if bundle.fits(&message(*length), ROOM) {
                    bundle.add(message(*length));
                    held += 1;
                } else {
                    break;
                }
            }
            prop_assert!(held > 1 && bundle.body.len() <= ROOM);
            let mut messages = Vec::new();
            split(bundle.body, |message| messages.push(message)).unwrap();
            let came: Vec<usize> = messages.iter().map(Message::len).collect();
            prop_assert_eq!(&came, &lengths[..held]);
            prop_assert!(messages.iter().zip(&lengths).all(|(message, length)| message.to_bytes() == vec![*length as u8; *length]));
        }

        #[test]
        fn garbage_is_refused_or_split(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut messages = Vec::new();
            let bundle = Message::from(bytes.clone());
            prop_assert_eq!(split(bundle.clone(), drop).is_ok(), split(bundle, |message| messages.push(message)).is_ok());
            prop_assert!(messages.iter().map(Message::len).sum::<usize>() <= bytes.len());
        }
    }

    #[test]
    fn a_part_of_a_long_message_takes_no_other() {
        let mut pieces = Vec::new();
        Piece::cut(message(250), 100, |piece| pieces.push(piece));
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.body.len()).collect();
        assert_eq!(lengths, [100, 100, 50]);
        assert!(pieces.iter().all(|piece| !piece.fits(&message(1), 100)));
    }
}

//! Fragmentation over a platform that is reliable and keeps order: one byte before each frame says
//! whether more of the message follows.

use super::{Apart, Arrival, LONGEST, Links};
use crate::message::{DecodeError, Message};
use crate::protocol::Time;

const LAST: u8 = 0;
const MORE: u8 = 1;

/// Cuts messages into frames and joins them.
#[derive(Debug)]
pub struct Fragment {
    largest: usize,
    joined: Message,
}

impl Links for Fragment {
    const RETRANSMITS: bool = false;
    const FRAGMENTS: bool = true;
    type ToAll = Apart;

    fn new(largest: usize, _birth: u64) -> Self {
        assert!(largest > 1, "a frame holds at least a header and a byte");
        Self {
            largest,
            joined: Message::new(),
        }
    }

    fn send(&mut self, _now: Time, mut message: Message, frames: &mut Vec<Message>) {
        while message.len() > self.largest - 1 {
            let mut piece = message
                .split_to(self.largest - 1)
                .expect("it is longer than this");
            piece.push(&[MORE]);
            frames.push(piece);
        }
        message.push(&[LAST]);
        frames.push(message);
    }

    fn receive(
        &mut self,
        _now: Time,
        mut frame: Message,
        _frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError> {
        let [follows] = frame.pop()?;
        match follows {
            LAST | MORE => self.joined.append(frame),
            other => {
                return Err(DecodeError::Value {
                    wanted: "fragment",
                    reason: format!("its first byte is {other}"),
                });
            }
        }
        if self.joined.len() > LONGEST {
            return Ok(Arrival::TooLong);
        }
        if follows == LAST {
            messages.push(std::mem::take(&mut self.joined));
        }
        Ok(Arrival::Usual)
    }

    fn reset(&mut self) {
        self.joined = Message::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_end_is_found_out() {
        const FRAME: usize = 64 << 20;
        let (now, mut link) = (Time::ZERO, Fragment::new(FRAME, 1));
        let piece = bytes::Bytes::from(vec![7; FRAME - 1]);
        let mut take = |_| {
            let mut frame = Message::from(piece.clone());
            frame.push(&[MORE]);
            let (mut frames, mut messages) = (Vec::new(), Vec::new());
            link.receive(now, frame, &mut frames, &mut messages)
                .unwrap()
        };
        assert_eq!(take(0), Arrival::Usual);
        let found = (1..2 * LONGEST / FRAME).position(|at| take(at) == Arrival::TooLong);
        assert!(found.is_some());
    }
}

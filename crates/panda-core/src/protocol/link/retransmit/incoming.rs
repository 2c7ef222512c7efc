//! The receiving half of a link.

use std::collections::BTreeMap;

use super::header::{BUNDLE, Header, LAST};
use super::piece::split;
use super::{ACK_BYTES, ACK_DELAY, ACK_EVERY, QUICK, WINDOW};
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::link::LONGEST;

#[derive(Debug, Default)]
pub struct Incoming {
    /// Number of the next expected piece.
    pub next: u64,
    /// Pieces behind a gap, by number, with their kinds.
    pub early: BTreeMap<u64, (u8, Message)>,
    /// Pieces so far of an incomplete message.
    pub joined: Message,
    /// Number of pieces since the last acknowledgement.
    pub unacknowledged: u32,
    /// Bytes of those pieces.
    pub unacknowledged_bytes: usize,
    /// Number of pieces since the beginning, or since one was missing.
    calm: u32,
    pub ack_at: Option<Time>,
}

impl Incoming {
    pub fn take(
        &mut self,
        now: Time,
        header: &Header,
        piece: Message,
        messages: &mut Vec<Message>,
    ) {
        self.unacknowledged += 1;
        self.unacknowledged_bytes += piece.len();
        self.calm = self.calm.saturating_add(1);
        self.ack_at = self.ack_at.or(Some(now + ACK_DELAY));
        if header.number < self.next || header.number >= self.next + WINDOW {
            return;
        }
        if header.number == self.next && self.early.is_empty() {
            return self.take_next(header.kind, piece, messages);
        }
        if header.number > self.next {
            // The sender should hear of a gap soon.
            self.unacknowledged += ACK_EVERY;
            self.calm = 0;
        }
        self.early
            .entry(header.number)
            .or_insert((header.kind, piece));
        while let Some((kind, piece)) = self.early.remove(&self.next) {
            self.take_next(kind, piece, messages);
        }
    }

    /// Returns whether an acknowledgement should go out without delay.
    pub fn owes_an_answer(&self) -> bool {
        let is_waited_for = !self.joined.is_empty() && self.calm < QUICK;
        let is_much = self.unacknowledged_bytes >= ACK_BYTES;
        self.unacknowledged >= ACK_EVERY || is_waited_for && is_much
    }

    /// Returns whether the bytes belong to a message that no correct peer sends.
    pub fn is_too_long(&self) -> bool {
        self.joined.len() > LONGEST
    }

    /// Takes the next expected piece.
    fn take_next(&mut self, kind: u8, piece: Message, messages: &mut Vec<Message>) {
        self.next += 1;
        match kind {
            // It was checked when it came.
            BUNDLE => drop(split(piece, |message| messages.push(message))),
            LAST if self.joined.is_empty() => messages.push(piece),
            _ => {
                self.joined.append(piece);
                if kind == LAST && !self.is_too_long() {
                    messages.push(std::mem::take(&mut self.joined));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::MORE;
    use super::*;

    #[test]
    fn a_message_without_end_is_found_out() {
        const PIECE: usize = 64 << 20;
        let mut incoming = Incoming::default();
        let piece = bytes::Bytes::from(vec![7; PIECE]);
        let found = (0..2 * LONGEST / PIECE).position(|number| {
            let header = Header {
                kind: MORE,
                stream: 1,
                receivers: 1,
                number: number as u64,
                next: 0,
                above: 0,
            };
            let piece = Message::from(piece.clone());
            incoming.take(Time::ZERO, &header, piece, &mut Vec::new());
            incoming.is_too_long()
        });
        assert_eq!(found, Some(LONGEST / PIECE));
    }
}

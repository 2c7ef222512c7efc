//! The receiving half of a link.

use std::collections::BTreeMap;

use super::header::{Header, LAST};
use super::{ACK_DELAY, ACK_EVERY, WINDOW};
use crate::message::Message;
use crate::protocol::Time;

#[derive(Debug, Default)]
pub struct Incoming {
    /// The number of the piece that is expected next.
    pub next: u64,
    /// Pieces behind a gap, by number, with their kinds.
    pub early: BTreeMap<u64, (u8, Message)>,
    /// The pieces so far of a message that is not whole.
    pub joined: Message,
    /// Pieces since an acknowledgement was sent.
    pub unacknowledged: u32,
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
        }
        self.early
            .entry(header.number)
            .or_insert((header.kind, piece));
        while let Some((kind, piece)) = self.early.remove(&self.next) {
            self.take_next(kind, piece, messages);
        }
    }

    /// Takes the piece that is expected next.
    fn take_next(&mut self, kind: u8, piece: Message, messages: &mut Vec<Message>) {
        self.next += 1;
        match kind == LAST {
            true if self.joined.is_empty() => messages.push(piece),
            is_last => {
                self.joined.append(piece);
                if is_last {
                    messages.push(std::mem::take(&mut self.joined));
                }
            }
        }
    }
}

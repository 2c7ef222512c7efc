//! What a link shares with others: pieces that go to several peers in one frame, each with its number in the link of each.

use super::{HEADER, Piece, Retransmit, Waiting};
use crate::message::Message;
use crate::protocol::Time;

impl Retransmit {
    /// Bytes of the longest frame.
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// Whether what goes to this peer can go together with what goes to others: its stream is known, and it keeps up.
    pub fn can_share(&mut self, now: Time) -> bool {
        self.theirs != 0 && self.outgoing.keeps_up(now)
    }

    /// Whether something is next that goes alone.
    pub fn has_more(&self) -> bool {
        self.outgoing.has_more()
    }

    /// Adds a piece that goes together with other links'. Sent again it goes alone, so it must fit a frame of its own.
    pub fn add_shared(&mut self, number: u64, piece: Piece) {
        debug_assert!(piece.body.len() + HEADER <= self.largest);
        self.outgoing.add(Waiting {
            piece,
            multicast: Some(number),
        });
    }

    /// Whether that piece is the last that waits, so that a message put into it keeps its place among all.
    pub fn ends_with(&self, number: u64) -> bool {
        self.outgoing.ends_with(number)
    }

    /// Puts a message into that piece, which is the last, and has room.
    pub fn join_shared(&mut self, number: u64, message: &Message, room: usize) {
        let has_joined = self.outgoing.join(message, Some(number), room);
        debug_assert!(has_joined);
    }

    /// Whether that piece still waits to go so.
    pub fn awaits(&self, number: u64) -> bool {
        self.outgoing.awaits(number)
    }

    /// Whether it is behind other such pieces.
    pub fn has_before(&self, number: u64) -> bool {
        self.awaits(number) && !self.outgoing.awaits_first(number)
    }

    /// Whether it is the first of them, and cannot go now.
    pub fn is_late(&self, number: u64) -> bool {
        let is_ready = self.theirs != 0 && self.outgoing.is_ready(number);
        self.outgoing.awaits_first(number) && !is_ready
    }

    /// It goes: this end's stream, the peer's, and the number that it has there.
    pub fn take_shared(&mut self, now: Time) -> Option<(u64, u64, u64)> {
        let number = self.outgoing.take_multicast(now)?;
        Some((self.mine, self.theirs, number))
    }

    /// Such pieces go alone, and those that come up to that time, unless nothing waits before.
    pub fn go_apart(&mut self, until: Time) {
        self.outgoing.go_apart(until);
    }

    /// Whether such pieces do not seem to arrive; what is said next counts afresh.
    pub fn is_deaf(&mut self) -> bool {
        self.outgoing.is_deaf()
    }

    /// Takes what went last for arrived: a fault, on purpose.
    pub fn trust_last(&mut self) {
        self.outgoing.trust_last();
    }
}

//! Shared pieces of a link: they go to several peers in one frame, each with its number in the link
//! of each.

use super::{HEADER, Piece, Retransmit, Waiting};
use crate::message::Message;
use crate::protocol::Time;

impl Retransmit {
    /// Returns the length of the longest frame in bytes.
    pub fn largest(&self) -> usize {
        self.largest
    }

    /// Returns whether messages to this peer can go together with others': its stream is known, and
    /// it keeps up.
    pub fn can_share(&mut self, now: Time) -> bool {
        self.theirs != 0 && self.outgoing.keeps_up(now)
    }

    /// Returns whether the next piece goes alone.
    pub fn has_more(&self) -> bool {
        self.outgoing.has_more()
    }

    /// Adds a shared piece. If it is sent again it goes alone, so it must fit a frame of its own.
    pub fn add_shared(&mut self, number: u64, piece: Piece) {
        debug_assert!(piece.body.len() + HEADER <= self.largest);
        self.outgoing.add(Waiting {
            piece,
            multicast: Some(number),
        });
    }

    /// Returns whether that piece is the last waiting one. A message put into it then keeps its
    /// place.
    pub fn ends_with(&self, number: u64) -> bool {
        self.outgoing.ends_with(number)
    }

    /// Puts a message into that piece, which is the last and has room.
    pub fn join_shared(&mut self, number: u64, message: &Message, room: usize) {
        let has_joined = self.outgoing.join(message, Some(number), room);
        debug_assert!(has_joined);
    }

    /// Returns whether that piece still waits as a shared one.
    pub fn awaits(&self, number: u64) -> bool {
        self.outgoing.awaits(number)
    }

    /// Returns whether it is behind other shared pieces.
    pub fn has_before(&self, number: u64) -> bool {
        self.awaits(number) && !self.outgoing.awaits_first(number)
    }

    /// Returns whether it is the first of them, and cannot go now.
    pub fn is_late(&self, number: u64) -> bool {
        let is_ready = self.theirs != 0 && self.outgoing.is_ready(number);
        self.outgoing.awaits_first(number) && !is_ready
    }

    /// Takes it, and returns this end's stream, the peer's, and its number there.
    pub fn take_shared(&mut self, now: Time) -> Option<(u64, u64, u64)> {
        let number = self.outgoing.take_multicast(now)?;
        Some((self.mine, self.theirs, number))
    }

    /// Makes shared pieces go alone, and those that come up to a time. It ends earlier if nothing
    /// waits.
    pub fn go_apart(&mut self, until: Time) {
        self.outgoing.go_apart(until);
    }

    /// Returns whether shared pieces do not seem to arrive; the next answer counts afresh.
    pub fn is_deaf(&mut self) -> bool {
        self.outgoing.is_deaf()
    }

    /// Takes the last piece for arrived, as an injected fault.
    pub fn trust_last(&mut self) {
        self.outgoing.trust_last();
    }
}

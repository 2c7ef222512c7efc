//! Reliability over a platform that loses, doubles and reorders frames.
//!
//! A message is cut into pieces that fit a frame; short ones that wait share one ([`piece`]).
//! Pieces are numbered from 0 in a *stream*. They are acknowledged: all below a number, and a map
//! of 64 above it. A piece is sent again after a time-out that doubles, or as soon as three later
//! ones are known to have arrived. The window grows and shrinks as in TCP (RFC 5681), and the
//! time-out follows the round trip (RFC 6298).
//!
//! Each end numbers its streams upwards. A frame names its sender's stream and its receiver's. An
//! end that does not know the other's stream greets first, with none. An end that takes the other
//! for lost begins a new stream. Frames of or for earlier streams are dropped, so no old message is
//! delivered later, and the other end learns that the link began anew.
//!
//! ```text
//!   kind 1 | stream 8 | receiver's stream 8 | number 7 | next expected 7
//!          | arrived above it 8, not always | piece
//! ```

use std::time::Duration;

use super::{Arrival, Links, Multicast};
use crate::message::{DecodeError, Message};
use crate::protocol::Time;
use crate::protocol::fault::{Fault, Mutant};
use header::{ACK, OVER};
use incoming::Incoming;
use outgoing::{Due, Outgoing};

pub(super) use header::{BUNDLE, HEADER, Header, LAST, MORE, NUMBER, word};
pub(super) use outgoing::Waiting;
pub(super) use piece::Piece;

mod header;
mod incoming;
mod outgoing;
mod pace;
mod piece;
mod shared;
#[cfg(test)]
mod tests;

/// Most pieces under way, and most pieces that a receiver keeps out of order.
const WINDOW: u64 = 256;
/// Bytes that may be under way before the last piece. A socket with the largest buffer that Linux
/// gives any user, twice 208 KiB, holds as many.
const BYTES: usize = 384 << 10;
/// Pieces, and bytes of long ones, that may be under way to a peer at first. Many peers may send to
/// it at once, all into its one socket.
const FIRST: usize = 16;
const FIRST_BYTES: usize = 24 << 10;
/// Bytes of a piece that short messages share. One message that is not taken keeps the whole piece.
const SHARED: usize = 4 << 10;
/// Time that an acknowledgement may wait for a piece in the other direction.
const ACK_DELAY: Duration = Duration::from_millis(1);
/// Number of pieces after which an acknowledgement goes out without delay.
const ACK_EVERY: u32 = 8;
/// Bytes of an incomplete message after which it does so at first, and after a loss. Its sender may
/// have no more of it under way, and wait …
const ACK_BYTES: usize = 11 << 10;
/// … until so many pieces have come, by which its window has grown.
const QUICK: u32 = 32;

/// A link that numbers, acknowledges and sends again.
#[derive(Debug)]
pub struct Retransmit {
    largest: usize,
    mine: u64,
    /// The peer's stream; 0 until it is known.
    theirs: u64,
    /// Streams of the peer below this one are over.
    theirs_min: u64,
    /// Whether the peer has answered to `mine`.
    has_met: bool,
    outgoing: Outgoing,
    incoming: Incoming,
    /// An injected fault.
    fault: Fault,
}

impl Links for Retransmit {
    const RETRANSMITS: bool = true;
    const FRAGMENTS: bool = true;
    type ToAll = Multicast;

    fn new(largest: usize, birth: u64) -> Self {
        assert!(
            largest > HEADER,
            "a frame holds at least a header and a byte"
        );
        // The shift leaves room for resets between two births. So a restarted process begins above
        // all of its predecessor's streams.
        let mine = (birth << 20) + 1;
        Self {
            largest,
            mine,
            theirs: 0,
            theirs_min: 1,
            has_met: false,
            outgoing: Outgoing::new(largest),
            incoming: Incoming::default(),
            fault: Fault::default(),
        }
    }

    fn send(&mut self, now: Time, message: Message, frames: &mut Vec<Message>) {
        let room = self.largest - HEADER;
        if message.len() <= room && self.theirs != 0 && self.outgoing.is_open() {
            return self.send_at_once(now, message, frames);
        }
        if !self.outgoing.join(&message, None, room.min(SHARED)) {
            Piece::cut(message, room, |piece| {
                let multicast = None;
                self.outgoing.add(Waiting { piece, multicast });
            });
        }
        self.fill(now, frames);
    }

    fn receive(
        &mut self,
        now: Time,
        mut frame: Message,
        frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError> {
        let header = Header::pop(&mut frame)?;
        let mut over = None;
        match header.kind {
            ACK | LAST | MORE => {}
            OVER => over = Some(u64::from_le_bytes(frame.pop()?)),
            BUNDLE => piece::split(frame.clone(), drop)?,
            kind => {
                return Err(DecodeError::Value {
                    wanted: "link frame",
                    reason: format!("its kind is {kind}"),
                });
            }
        }
        if header.stream < self.theirs_min.max(self.theirs) {
            // The peer may not know that its stream is over.
            let over = Message::copy_of(&header.stream.to_le_bytes());
            self.give(OVER, 0, over, frames);
            return Ok(Arrival::Usual);
        }
        let mut arrival = self.hear_of_stream(&header);
        if over == Some(self.mine) {
            self.begin_anew();
            arrival = Arrival::Anew;
        }
        if header.receivers != 0 && header.receivers != self.mine {
            // The frame is for an ended stream of this end: the acknowledgement tells the peer.
            self.acknowledge(frames);
            return Ok(arrival);
        }
        self.has_met |= header.receivers == self.mine;
        if header.receivers == self.mine {
            self.outgoing.acknowledged(now, &header);
        }
        if header.receivers == 0 {
            // A greeting.
            self.acknowledge(frames);
        } else if matches!(header.kind, LAST | MORE | BUNDLE) {
            if self.fault.is(Mutant::TakesDoubled)
                && header.number < self.incoming.next
                && header.kind == LAST
            {
                messages.push(frame.clone());
            }
            self.incoming.take(now, &header, frame, messages);
            if self.incoming.is_too_long() {
                return Ok(Arrival::TooLong);
            }
        }
        Ok(arrival)
    }

    fn flush(&mut self, now: Time, frames: &mut Vec<Message>) {
        self.fill(now, frames);
        if self.incoming.owes_an_answer() {
            self.acknowledge(frames);
        }
    }

    fn deadline(&self) -> Option<Time> {
        [self.outgoing.resend_at, self.incoming.ack_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: Time, frames: &mut Vec<Message>) {
        if self.incoming.ack_at.is_some_and(|at| at <= now) {
            self.acknowledge(frames);
        }
        if self.theirs != 0 && self.outgoing.resend_at.is_some_and(|at| at <= now) {
            self.outgoing.timed_out(now);
        }
        self.fill(now, frames);
    }

    fn reset(&mut self) {
        self.begin_anew();
        self.theirs_min = self.theirs_min.max(self.theirs.saturating_add(1));
        self.theirs = 0;
    }

    fn waits(&self) -> bool {
        self.outgoing.is_waiting()
    }

    fn backlog(&self) -> usize {
        self.outgoing.bytes
    }

    fn with(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }
}

impl Retransmit {
    /// Handles the peer's stream number. A greater one is a new beginning of the peer's.
    ///
    /// It begins the link anew, with two exceptions. This end may have begun anew itself, and the
    /// peer only follows. Or the peer has done so at the same time without hearing of it. If each
    /// end took that for another beginning, their frames could cross without end.
    fn hear_of_stream(&mut self, header: &Header) -> Arrival {
        let mut arrival = Arrival::Usual;
        if header.stream > self.theirs && self.theirs != 0 {
            if header.receivers != 0 && !self.has_met {
                self.incoming = Incoming::default();
                if !self.outgoing.sent.is_empty() {
                    // It may have reached an earlier life of the peer.
                    self.outgoing = Outgoing::new(self.largest);
                    arrival = Arrival::Anew;
                }
            } else {
                self.begin_anew();
                arrival = Arrival::Anew;
            }
        }
        self.theirs = header.stream;
        self.theirs_min = header.stream;
        arrival
    }

    fn begin_anew(&mut self) {
        self.mine += 1;
        self.has_met = false;
        self.outgoing = Outgoing::new(self.largest);
        self.incoming = Incoming::default();
    }

    /// Greets a peer whose stream is not known yet. A message must be for one life of the peer, or
    /// two of them might take it.
    fn greet(&mut self, now: Time, frames: &mut Vec<Message>) {
        if !self.outgoing.is_waiting() || self.outgoing.resend_at.is_some_and(|at| at > now) {
            return;
        }
        self.acknowledge(frames);
        self.outgoing.resend_at = Some(now + self.outgoing.pace.time_out());
    }

    /// Sends a message that is a piece by itself, while nothing waits before it.
    fn send_at_once(&mut self, now: Time, message: Message, frames: &mut Vec<Message>) {
        let frame = message.clone();
        let number = self.outgoing.send_at_once(now, Piece::of(message));
        self.give(LAST, number, frame, frames);
        self.outgoing.await_answer(now);
    }

    /// Sends what is due again and then new pieces, as far as the window allows.
    fn fill(&mut self, now: Time, frames: &mut Vec<Message>) {
        if self.theirs == 0 {
            self.greet(now, frames);
            return;
        }
        if !self.outgoing.has_due() {
            return self.outgoing.await_answer(now);
        }
        let mut out = Due::new();
        self.outgoing.due(now, &mut out);
        for (number, piece) in out {
            self.give(piece.kind, number, piece.body, frames);
        }
    }

    fn acknowledge(&mut self, frames: &mut Vec<Message>) {
        self.give(ACK, 0, Message::new(), frames);
    }

    /// Emits a frame with the bytes behind its header.
    fn give(&mut self, kind: u8, number: u64, mut frame: Message, frames: &mut Vec<Message>) {
        self.header(kind, number).push(&mut frame);
        frames.push(frame);
    }

    /// Makes a header, which always acknowledges.
    fn header(&mut self, kind: u8, number: u64) -> Header {
        self.incoming.unacknowledged = 0;
        self.incoming.unacknowledged_bytes = 0;
        self.incoming.ack_at = None;
        let next = self.incoming.next;
        let above = self
            .incoming
            .early
            .keys()
            .filter_map(|early| early.checked_sub(next + 1))
            .filter(|bit| *bit < 64)
            .fold(0, |map, bit| map | 1 << bit);
        Header {
            kind,
            stream: self.mine,
            receivers: self.theirs,
            number,
            next,
            above,
        }
    }
}

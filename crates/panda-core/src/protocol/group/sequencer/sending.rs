//! A member's own messages, until they have their places.

use std::collections::VecDeque;

use super::bodies::{Bodies, LONG};
use super::notes::Note;
use super::{Output, Recipients, Sequencer};
use crate::message::Message;
use crate::protocol::fault::Mutant;
use crate::protocol::wire;

/// Most bytes and messages that go together in one note, and that are held back while an earlier
/// note is under way.
pub(super) const BATCH: usize = 16 * 1024;
pub(super) const BATCH_ITEMS: usize = 256;
/// Number and bytes of own messages without a place at which a member should wait before it sends
/// more. No more of them are under way, even if it has sent more where it could not wait.
pub(super) const UNORDERED_MAX: usize = 512;
pub(super) const UNORDERED_BYTES: usize = 4 << 20;

/// Own messages that have no place yet.
#[derive(Debug, Default)]
pub(super) struct Sending {
    /// Messages in order; the last one has the number `last`.
    unordered: VecDeque<Message>,
    last: u64,
    /// Number of messages from the front of `unordered` that were sent in this view.
    sent: usize,
    sent_bytes: usize,
    bytes: usize,
    /// Of the unsent ones: bytes of short ones, and number of long ones.
    unsent_bytes: usize,
    unsent_long: usize,
}

impl Sending {
    pub fn is_full(&self) -> bool {
        self.unordered.len() >= UNORDERED_MAX || self.bytes >= UNORDERED_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.unordered.is_empty()
    }

    /// Begins a new membership, which counts from 1.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    fn first(&self) -> u64 {
        self.last + 1 - self.unordered.len() as u64
    }

    pub fn body(&self, number: u64) -> Option<&Message> {
        self.unordered
            .get(number.checked_sub(self.first())? as usize)
    }

    fn add(&mut self, body: Message) {
        self.last += 1;
        self.bytes += body.len();
        self.add_unsent(body.len());
        self.unordered.push_back(body);
    }

    /// Counts one more unsent message.
    fn add_unsent(&mut self, length: usize) {
        if length > LONG {
            self.unsent_long += 1;
        } else {
            self.unsent_bytes += length;
        }
    }

    /// Counts one unsent message less.
    fn take_unsent(&mut self, length: usize) {
        if length > LONG {
            self.unsent_long -= 1;
        } else {
            self.unsent_bytes -= length;
        }
    }

    /// Takes the next message to send, with its number; it counts as sent from now on.
    fn next(&mut self) -> Option<(u64, Message)> {
        let body = self.unordered.get(self.sent)?.clone();
        let number = self.first() + self.sent as u64;
        self.sent += 1;
        self.sent_bytes += body.len();
        self.take_unsent(body.len());
        Some((number, body))
    }

    /// Returns the length of the next message that may be sent. None may while as much is under way
    /// as the first member must keep.
    fn next_length(&self) -> Option<usize> {
        let has_room = self.sent < UNORDERED_MAX && self.sent_bytes < UNORDERED_BYTES;
        let next = self.unordered.get(self.sent).filter(|_| has_room);
        next.map(Message::len)
    }

    /// Returns whether the unsent messages fill a note, or have a long one behind them.
    fn fills_a_batch(&self) -> bool {
        self.unsent_bytes > BATCH
            || self.unordered.len() - self.sent > BATCH_ITEMS
            || self.unsent_long > 0
    }

    /// Notes that this member's message has its place.
    pub fn placed(&mut self, number: u64) {
        while !self.unordered.is_empty() && self.first() <= number {
            let body = self.unordered.pop_front().expect("it is not empty");
            self.bytes -= body.len();
            if self.sent > 0 {
                self.sent -= 1;
                self.sent_bytes -= body.len();
            } else {
                self.take_unsent(body.len());
            }
        }
    }

    /// Notes that nothing has been sent in this view.
    fn begin_again(&mut self) {
        (self.sent, self.sent_bytes) = (0, 0);
        (self.unsent_bytes, self.unsent_long) = (0, 0);
        for at in 0..self.unordered.len() {
            self.add_unsent(self.unordered[at].len());
        }
    }
}

impl Sequencer {
    pub(super) fn submit(&mut self, payload: Message, out: &mut Output) {
        self.sending.add(payload);
        self.order_own(out);
    }

    /// Gives the first member's own messages their places at once.
    fn order_own(&mut self, out: &mut Output) {
        if !self.is_running() || !self.is_first() {
            return;
        }
        while let Some((number, body)) = self.sending.next() {
            self.give_place(self.me.rank, number, body, false, out);
        }
    }

    /// Sends unsent messages: at once if none is under way, otherwise when a report comes or a
    /// batch is full.
    pub(super) fn flush_requests(&mut self, out: &mut Output) {
        let Some(first) = self.first() else { return };
        if !self.is_running() || self.is_first() {
            return;
        }
        while let Some(length) = self.sending.next_length() {
            if length > LONG {
                self.spread_next(out);
            } else if self.sending.sent > 0 && !self.sending.fills_a_batch() {
                return;
            } else {
                let (note, bodies) = self.next_request();
                self.reported();
                self.post(first, note, bodies, out);
            }
        }
    }

    /// Sends the next message, a long one, to all.
    fn spread_next(&mut self, out: &mut Output) {
        let Some((number, body)) = self.sending.next() else {
            return;
        };
        let view = self.view.number;
        let note = wire::pack(&Note::Body { view, number }, body);
        out.sends.push((Recipients::All(self.others.clone()), note));
    }

    /// Makes a note of the next short messages, as many as go together.
    fn next_request(&mut self) -> (Note, Message) {
        let first = self.sending.first() + self.sending.sent as u64;
        let (mut bodies, mut lengths) = (Bodies::default(), Vec::new());
        while let Some(length) = self.sending.next_length() {
            let is_full = bodies.len() + length > BATCH || lengths.len() == BATCH_ITEMS;
            if length > LONG || is_full {
                break;
            }
            let Some((_, body)) = self.sending.next() else {
                break;
            };
            lengths.push(length as u64);
            bodies.add(&body);
        }
        let note = Note::Request {
            view: self.view.number,
            delivered: self.log.delivered,
            first,
            lengths,
        };
        (note, bodies.take())
    }

    /// Begins a view: messages without a place are sent again.
    pub(super) fn begin_sending(&mut self, out: &mut Output) {
        let own = self.counts.get(&self.me.rank).copied().unwrap_or(0);
        self.sending.placed(own);
        self.sending.begin_again();
        if self.fault.is(Mutant::ForgetsUnordered) {
            let last = self.sending.last;
            self.sending.placed(last);
        }
        self.order_own(out);
    }
}

//! Giving places, and delivering in order.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::log::Entry;
use super::notes::{Item, Note, join_bodies, split_bodies};
use super::{GroupEvent, Mutant, Output, Recipients, Sequencer, Status};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::{Time, wire};

/// Longer messages are sent by their sender to everybody: a 1500-byte Ethernet frame less the headers of all layers.
const LONG: usize = 1250;
/// Bytes that go together in one note at most, and what is held back while an earlier note is under way.
const BATCH: usize = 16 * 1024;
const BATCH_ITEMS: usize = 256;
/// A member's messages that have no place yet.
const UNORDERED_MAX: usize = 512;
const UNORDERED_BYTES: usize = 4 << 20;
/// Entries that are not known to be delivered everywhere.
const HISTORY_MAX: usize = 4096;
const HISTORY_BYTES: usize = 32 << 20;
/// A member says how far it is after so many entries or bytes, or so long after the last one.
const REPORT_EVERY: u64 = 128;
const REPORT_BYTES: usize = 1 << 20;
const REPORT_DELAY: Duration = Duration::from_millis(20);

/// Own messages that have no place yet.
#[derive(Debug, Default)]
pub(super) struct Sending {
    /// Numbers follow one another and end at `last`.
    unordered: VecDeque<Message>,
    last: u64,
    /// How many of `unordered`, from its front, have been sent in this view.
    sent: usize,
    bytes: usize,
}

/// The first member's work, and each member's report to it.
#[derive(Debug, Default)]
pub(super) struct Sequencing {
    /// Items given a place and not told yet.
    batch: Vec<Item>,
    bodies: Message,
    /// Messages that wait because the history is full.
    waiting: VecDeque<(Rank, u64, Message, bool)>,
    delivered: HashMap<Rank, u64>,
    stable: u64,
    told_stable: u64,
    reported: u64,
    unreported_bytes: usize,
    pub(super) report_at: Option<Time>,
}

impl Sending {
    pub(super) fn is_full(&self) -> bool {
        self.unordered.len() >= UNORDERED_MAX || self.bytes >= UNORDERED_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unordered.is_empty()
    }

    /// A new membership counts from 1.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    fn first(&self) -> u64 {
        self.last + 1 - self.unordered.len() as u64
    }

    fn body(&self, number: u64) -> Option<&Message> {
        self.unordered
            .get(number.checked_sub(self.first())? as usize)
    }

    /// One's own message has its place.
    fn placed(&mut self, number: u64) {
        while !self.unordered.is_empty() && self.first() <= number {
            let body = self.unordered.pop_front().expect("it is not empty");
            self.bytes -= body.len();
            self.sent = self.sent.saturating_sub(1);
        }
    }
}

impl Sequencer {
    pub(super) fn submit(&mut self, payload: Message, out: &mut Output) {
        self.sending.last += 1;
        self.sending.bytes += payload.len();
        self.sending.unordered.push_back(payload);
        self.order_own(out);
    }

    /// The first member gives its own messages their places at once.
    fn order_own(&mut self, out: &mut Output) {
        if !self.is_running() || !self.is_first() {
            return;
        }
        while let Some(body) = self.sending.unordered.get(self.sending.sent) {
            let (number, body) = (
                self.sending.first() + self.sending.sent as u64,
                body.clone(),
            );
            self.sending.sent += 1;
            self.give_place(self.me.rank, number, body, false, out);
        }
    }

    /// Sends what is not sent: at once if nothing is under way, else when that is back or a batch is full.
    pub(super) fn flush_requests(&mut self, out: &mut Output) {
        let Some(first) = self.first() else { return };
        if !self.is_running() || self.is_first() {
            return;
        }
        while self.sending.sent < self.sending.unordered.len() {
            let start = self.sending.sent;
            if self.sending.unordered[start].len() > LONG {
                let number = self.sending.first() + start as u64;
                let note = wire::pack(
                    &Note::Body {
                        view: self.view.number,
                        number,
                    },
                    self.sending.unordered[start].clone(),
                );
                out.sends.push((Recipients::All(self.others.clone()), note));
                self.sending.sent += 1;
                continue;
            }
            let mut bodies = Message::new();
            let mut lengths = Vec::new();
            for body in self
                .sending
                .unordered
                .iter()
                .skip(start)
                .take_while(|body| body.len() <= LONG)
            {
                if bodies.len() + body.len() > BATCH || lengths.len() == BATCH_ITEMS {
                    break;
                }
                lengths.push(body.len() as u32);
                bodies.append(body.clone());
            }
            let is_full = start + lengths.len() < self.sending.unordered.len();
            if start > 0 && !is_full {
                return;
            }
            self.sending.sent += lengths.len();
            let note = Note::Request {
                view: self.view.number,
                delivered: self.log.delivered,
                first: self.sending.first() + start as u64,
                lengths,
            };
            self.reported();
            self.post(first, note, bodies, out);
        }
    }

    pub(super) fn requested(
        &mut self,
        from: Rank,
        delivered: u64,
        first: u64,
        lengths: &[u32],
        mut bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let bodies: Vec<Message> = lengths
            .iter()
            .map(|length| bodies.split_to(*length as usize))
            .collect::<Result<_, _>>()?;
        if !self.is_running() || !self.is_first() {
            return Ok(());
        }
        for (step, body) in bodies.into_iter().enumerate() {
            let number = first.saturating_add(step as u64);
            self.give_place(from, number, body, false, out);
        }
        self.has_delivered(from, delivered, out);
        Ok(())
    }

    pub(super) fn body_came(&mut self, from: Rank, number: u64, body: Message, out: &mut Output) {
        if !self.is_inside()
            || !self.view.has(from)
            || number <= self.counts.get(&from).copied().unwrap_or(0)
        {
            return;
        }
        if self.is_first() {
            if self.is_running() {
                self.give_place(from, number, body, true, out);
            }
        } else if self.log.supply(from, number, &body) {
            self.deliver(out);
        } else {
            self.bodies.insert((from, number), body);
        }
    }

    /// The first member: gives a message the next place, once, and in the order of its sender.
    fn give_place(
        &mut self,
        sender: Rank,
        number: u64,
        body: Message,
        is_spread: bool,
        out: &mut Output,
    ) {
        let (entries, bytes) = self.log.size();
        if (entries >= HISTORY_MAX || bytes >= HISTORY_BYTES || !self.sequencing.waiting.is_empty())
            && !self.others.is_empty()
        {
            self.sequencing
                .waiting
                .push_back((sender, number, body, is_spread));
            return;
        }
        let expected = self
            .counts
            .get(&sender)
            .copied()
            .map(|count| count.saturating_add(1));
        if expected != Some(number) {
            // One's own are in order, unless a member lied about what was counted.
            return;
        }
        self.sequencing.batch.push(Item {
            sender,
            number,
            length: (!is_spread).then_some(body.len() as u32),
        });
        if !is_spread {
            self.sequencing.bodies.append(body.clone());
        }
        self.log.push(Entry {
            sender,
            number,
            body: Some(body),
        });
        self.deliver(out);
        if self.others.is_empty() {
            self.log.trim(self.log.delivered);
        }
        if self.sequencing.bodies.len() >= BATCH || self.sequencing.batch.len() >= BATCH_ITEMS {
            self.flush_order(out);
        }
    }

    /// Tells the others the places given since the last time.
    pub(super) fn flush_order(&mut self, out: &mut Output) {
        if !self.is_first() || self.others.is_empty() {
            self.sequencing.batch.clear();
            self.sequencing.bodies = Message::new();
            return;
        }
        let is_news = self.sequencing.stable >= self.sequencing.told_stable + REPORT_EVERY;
        if self.sequencing.batch.is_empty() && !is_news {
            return;
        }
        let items = std::mem::take(&mut self.sequencing.batch);
        let bodies = std::mem::take(&mut self.sequencing.bodies);
        let first = self.log.end() + 1 - items.len() as u64;
        self.sequencing.told_stable = self.sequencing.stable;
        let note = Note::Ordered {
            view: self.view.number,
            first,
            stable: self.sequencing.stable,
            items,
        };
        out.sends.push((
            Recipients::All(self.others.clone()),
            wire::pack(&note, bodies),
        ));
    }

    #[expect(clippy::too_many_arguments, reason = "they are the fields of one note")]
    pub(super) fn ordered(
        &mut self,
        now: Time,
        from: Rank,
        first: u64,
        stable: u64,
        items: &[Item],
        bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let entries = split_bodies(items, bodies)?;
        if !self.is_running() || Some(from) != self.first() {
            return Ok(());
        }
        if first != self.log.end() + 1 {
            // The link began anew: the view changes, and with it comes what is missing.
            return Ok(());
        }
        for mut entry in entries {
            if entry.body.is_none() {
                entry.body = self.bodies.remove(&(entry.sender, entry.number));
            }
            if entry.body.is_none() && entry.sender == self.me.rank {
                entry.body = self.sending.body(entry.number).cloned();
            }
            self.log.push(entry);
        }
        self.deliver(out);
        self.log.trim(stable);
        let due = self.log.delivered - self.sequencing.reported;
        if due >= REPORT_EVERY || self.sequencing.unreported_bytes >= REPORT_BYTES {
            self.report_delivered(out);
        } else if due > 0 && self.sequencing.report_at.is_none() {
            self.sequencing.report_at = Some(now + REPORT_DELAY);
        }
        Ok(())
    }

    /// Hands over what has its place and its body, up to the first gap.
    pub(super) fn deliver(&mut self, out: &mut Output) {
        while let Some(entry) = self.log.next_mut() {
            let Some(payload) = entry.body.clone() else {
                return;
            };
            let (sender, number) = (entry.sender, entry.number);
            self.log.delivered += 1;
            self.sequencing.unreported_bytes += payload.len();
            self.counts.insert(sender, number);
            if sender == self.me.rank {
                self.sending.placed(number);
            }
            if self.is_inside() && self.status != Status::Keeper {
                out.events.push(GroupEvent::Message {
                    from: sender,
                    place: self.log.delivered,
                    payload,
                });
            }
        }
    }

    pub(super) fn report_delivered(&mut self, out: &mut Output) {
        self.sequencing.report_at = None;
        if let Some(first) = self
            .first()
            .filter(|_| self.is_running() && !self.is_first())
        {
            let note = Note::Delivered {
                view: self.view.number,
                delivered: self.log.delivered,
            };
            self.reported();
            self.tell(first, note, out);
        }
    }

    fn reported(&mut self) {
        self.sequencing.reported = self.log.delivered;
        self.sequencing.unreported_bytes = 0;
        self.sequencing.report_at = None;
    }

    pub(super) fn has_delivered(&mut self, from: Rank, delivered: u64, out: &mut Output) {
        if !self.is_first() || !self.view.has(from) || delivered > self.log.end() {
            return;
        }
        let known = self.sequencing.delivered.entry(from).or_default();
        if *known >= delivered {
            return;
        }
        *known = delivered;
        let (entries, bytes) = self.log.size();
        let is_due = delivered >= self.sequencing.stable + REPORT_EVERY
            || entries >= HISTORY_MAX / 2
            || bytes >= HISTORY_BYTES / 2;
        if is_due {
            self.sequencing.stable = self
                .others
                .iter()
                .map(|r| self.sequencing.delivered.get(r).copied().unwrap_or(0))
                .min()
                .unwrap_or(self.log.delivered);
            self.log.trim(self.sequencing.stable);
            self.go_on_waiting(out);
        }
    }

    fn go_on_waiting(&mut self, out: &mut Output) {
        for (sender, number, body, is_spread) in std::mem::take(&mut self.sequencing.waiting) {
            self.give_place(sender, number, body, is_spread, out);
        }
    }

    /// A view begins: what has no place yet is sent again.
    pub(super) fn begin_sending(&mut self, out: &mut Output) {
        self.log.cut_off();
        self.bodies.clear();
        self.sequencing = Sequencing {
            reported: self.log.delivered,
            ..Sequencing::default()
        };
        self.sending
            .placed(self.counts.get(&self.me.rank).copied().unwrap_or(0));
        self.sending.sent = 0;
        if self.mutant == Some(Mutant::ForgetsUnordered) {
            self.sending.unordered.clear();
        }
        self.report_delivered(out);
        self.order_own(out);
    }

    /// Sends entries to a member that lacks them.
    pub(super) fn send_entries(
        &mut self,
        to: Rank,
        view: u64,
        after: u64,
        upto: u64,
        out: &mut Output,
    ) {
        let (items, bodies) = join_bodies(self.log.range(after, upto));
        let first = upto.min(self.log.delivered) + 1 - items.len() as u64;
        self.post(to, Note::Entries { view, first, items }, bodies, out);
    }
}

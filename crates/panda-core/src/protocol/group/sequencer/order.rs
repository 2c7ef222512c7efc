//! The first member's work: it gives places, announces them, and tracks the others' progress.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::bodies::{Bodies, split_off, whole};
use super::hold_back::Quota;
use super::log::Entry;
use super::notes::{Item, Note};
use super::sending::{BATCH, BATCH_ITEMS, UNORDERED_MAX};
use super::{Output, Recipients, Sequencer};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::wire;

/// Number and bytes of entries, not known to be delivered everywhere, at which no more get places.
/// They may go in one message, for which the session's longest one leaves room.
pub(super) const HISTORY_MAX: usize = 4096;
pub(super) const HISTORY_BYTES: usize = 32 << 20;
/// Number of entries after which the others learn that they are delivered everywhere.
const STABLE_EVERY: u64 = 128;

#[derive(Debug, Default)]
pub(super) struct Sequencing {
    /// Items with a place that is not announced yet.
    batch: Vec<Item>,
    bodies: Bodies,
    /// Whether another member sent something of the batch.
    is_awaited: bool,
    /// The last place announced with a message of this member's, until a report confirms it.
    under_way: Option<u64>,
    /// Messages that wait because the history is full, as [`give_place`](Sequencer::give_place)
    /// takes them.
    waiting: VecDeque<(Rank, u64, Message, bool)>,
    /// Number of waiting messages of each sender: no more than may be under way.
    kept: Quota<UNORDERED_MAX>,
    others: Progress,
    reported_stable: u64,
}

/// The progress of each of the others.
#[derive(Debug, Default)]
struct Progress {
    delivered: HashMap<Rank, u64>,
    /// Number of members at each place.
    counts: BTreeMap<u64, usize>,
}

impl Progress {
    fn of(others: &[Rank]) -> Self {
        Self {
            delivered: others.iter().map(|rank| (*rank, 0)).collect(),
            counts: (!others.is_empty())
                .then_some((0, others.len()))
                .into_iter()
                .collect(),
        }
    }

    /// Notes a member's progress, and returns whether that is new.
    fn came(&mut self, rank: Rank, place: u64) -> bool {
        let Some(known) = self
            .delivered
            .get_mut(&rank)
            .filter(|known| **known < place)
        else {
            return false;
        };
        let before = std::mem::replace(known, place);
        if let Some(count) = self.counts.get_mut(&before) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&before);
            }
        }
        *self.counts.entry(place).or_default() += 1;
        true
    }

    /// Returns the least progress.
    fn least(&self) -> Option<u64> {
        self.counts.first_key_value().map(|(place, _)| *place)
    }
}

impl Sequencer {
    pub(super) fn begin_sequencing(&mut self) {
        self.sequencing = Sequencing::default();
        if self.is_first() {
            self.sequencing.others = Progress::of(&self.others);
        }
    }

    pub(super) fn requested(
        &mut self,
        from: Rank,
        delivered: u64,
        first: u64,
        lengths: &[u64],
        mut bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let each = lengths.iter().map(|length| split_off(&mut bodies, *length));
        let each: Vec<Message> = each.collect::<Result<_, _>>()?;
        whole(&bodies)?;
        if !self.is_running() || !self.is_first() {
            return Ok(());
        }
        for (step, body) in each.into_iter().enumerate() {
            let number = first.saturating_add(step as u64);
            self.give_place(from, number, body, false, out);
        }
        self.has_delivered(from, delivered, out);
        Ok(())
    }

    /// Gives a message the next place, once, and in its sender's order. If it `is_spread` its
    /// sender has sent it to all, so only its place is announced.
    pub(super) fn give_place(
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
            if sender == self.me.rank || self.sequencing.kept.keep(sender, body.len()) {
                let message = (sender, number, body, is_spread);
                self.sequencing.waiting.push_back(message);
            } else {
                out.liar = Some(sender);
            }
            return;
        }
        let count = self.counts.get(&sender).copied();
        if count.map(|count| count.saturating_add(1)) != Some(number) {
            // This member's own messages are in order, unless a member lied about the counts.
            return;
        }
        self.sequencing.batch.push(Item {
            sender,
            number,
            length: (!is_spread).then_some(body.len() as u64),
        });
        if !is_spread {
            self.sequencing.bodies.add(&body);
        }
        self.sequencing.is_awaited |= sender != self.me.rank;
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
            self.tell_order(out);
        }
    }

    /// Announces the places given since the last time. This member's own messages go together while
    /// earlier ones are under way, as other members' do.
    pub(super) fn flush_order(&mut self, out: &mut Output) {
        if self.sequencing.is_awaited || self.sequencing.under_way.is_none() {
            self.tell_order(out);
        }
    }

    /// Does the same as [`flush_order`](Self::flush_order), whatever is under way.
    pub(super) fn tell_order(&mut self, out: &mut Output) {
        if !self.is_first() || self.others.is_empty() {
            self.sequencing.batch.clear();
            self.sequencing.bodies = Bodies::default();
            return;
        }
        let stable = self.stable();
        let is_news = stable >= self.sequencing.reported_stable + STABLE_EVERY;
        if self.sequencing.batch.is_empty() && !is_news {
            return;
        }
        let items = std::mem::take(&mut self.sequencing.batch);
        let bodies = self.sequencing.bodies.take();
        let last = self.log.end();
        let is_own = items.iter().any(|item| item.sender == self.me.rank);
        let wants_report = is_own && self.sequencing.under_way.is_none();
        if wants_report {
            self.sequencing.under_way = Some(last);
        }
        self.sequencing.is_awaited = false;
        self.sequencing.reported_stable = stable;
        let note = Note::Ordered {
            view: self.view.number,
            first: last + 1 - items.len() as u64,
            stable,
            wants_report,
            items,
        };
        out.sends.push((
            Recipients::All(self.others.clone()),
            wire::pack(&note, bodies),
        ));
    }

    /// Returns the last place that is delivered everywhere.
    fn stable(&self) -> u64 {
        let least = self.sequencing.others.least();
        least.unwrap_or(self.log.delivered)
    }

    pub(super) fn has_delivered(&mut self, from: Rank, delivered: u64, out: &mut Output) {
        if !self.is_first() || delivered > self.log.end() {
            return;
        }
        let before = self.stable();
        if !self.sequencing.others.came(from, delivered) {
            return;
        }
        self.sequencing
            .under_way
            .take_if(|place| *place <= delivered);
        let stable = self.stable();
        if stable > before {
            self.log.trim(stable);
            self.go_on_waiting(out);
        }
    }

    /// Gives places to messages that waited for room in the history. While the view stands still
    /// none gets a place. Its end is being decided, and senders send again in the next view.
    fn go_on_waiting(&mut self, out: &mut Output) {
        if !self.is_running() {
            return;
        }
        self.sequencing.kept = Quota::default();
        for (sender, number, body, is_spread) in std::mem::take(&mut self.sequencing.waiting) {
            self.give_place(sender, number, body, is_spread, out);
        }
    }
}

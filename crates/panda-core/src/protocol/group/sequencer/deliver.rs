//! Delivery in order, and reports of a member's progress.

use std::time::Duration;

use super::hold_back::AHEAD;
use super::log::Entry;
use super::notes::{Item, Note};
use super::{GroupEvent, Output, Sequencer, Status, bodies};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::Time;
use crate::protocol::fault::Mutant;

/// A member reports its progress after so many entries or bytes, or so long after the last one.
const REPORT_EVERY: u64 = 128;
const REPORT_BYTES: usize = 1 << 20;
const REPORT_DELAY: Duration = Duration::from_millis(20);
/// Size unit of a group by which its members wait longer before a report. So the first member of a
/// large group gets no more reports than that of a small one.
const REPORTERS: usize = 16;
/// Number of members behind the first one that report its own messages at once.
const PROMPT: usize = 2;

/// A member's reports of its progress.
#[derive(Debug, Default)]
pub(super) struct Reporting {
    reported: u64,
    unreported_bytes: usize,
    /// Whether the first member waits for a report on its messages.
    is_wanted: bool,
    pub(super) at: Option<Time>,
}

impl Sequencer {
    pub(super) fn body_came(
        &mut self,
        now: Time,
        from: Rank,
        number: u64,
        body: Message,
        out: &mut Output,
    ) {
        if !self.is_inside() || !self.view.has(from) || number <= self.count_of(from) {
            return;
        }
        if self.is_first() {
            if self.is_running() {
                self.give_place(from, number, body, true, out);
            }
        } else if self.log.is_overfull() || number - self.count_of(from) > AHEAD as u64 {
            out.liar = Some(from);
        } else if self.log.supply(from, number, &body) {
            // The end of the view is being decided, and this body may be behind it.
            if self.is_running() {
                self.deliver(out);
                // No other message may come before the first member knows: its history may be full.
                self.plan_report(now, out);
            }
        } else if !self.bodies.keep(from, number, body) {
            out.liar = Some(from);
        }
    }

    pub(super) fn ordered(
        &mut self,
        now: Time,
        from: Rank,
        (first, items): (u64, &[Item]),
        (stable, wants_report): (u64, bool),
        bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let entries = bodies::split(items, bodies)?;
        if !self.is_running() || Some(from) != self.first() {
            return Ok(());
        }
        if first != self.log.end() + 1 {
            // The link began anew: the view changes, and the change brings the missing entries.
            return Ok(());
        }
        if self.log.is_overfull() {
            out.liar = Some(from);
            return Ok(());
        }
        for mut entry in entries {
            if entry.body.is_none() {
                entry.body = self.body_of(&entry);
            }
            self.log.push(entry);
        }
        self.deliver(out);
        self.log.trim(match self.fault.is(Mutant::ForgetsHistory) {
            true => self.log.delivered,
            false => stable,
        });
        self.reporting.is_wanted |= wants_report && self.is_prompt();
        self.plan_report(now, out);
        Ok(())
    }

    /// Returns how many of a member's messages have been delivered.
    fn count_of(&self, rank: Rank) -> u64 {
        self.counts.get(&rank).copied().unwrap_or(0)
    }

    /// Returns the body of a long message, if it came before its place.
    fn body_of(&mut self, entry: &Entry) -> Option<Message> {
        let came = self.bodies.take(entry.sender, entry.number);
        let is_own = entry.sender == self.me.rank;
        came.or_else(|| self.sending.body(entry.number).filter(|_| is_own).cloned())
    }

    /// Delivers entries with place and body, up to the first gap.
    pub(super) fn deliver(&mut self, out: &mut Output) {
        self.deliver_up_to(u64::MAX, out);
    }

    pub(super) fn deliver_up_to(&mut self, last: u64, out: &mut Output) {
        while self.log.delivered < last {
            let Some(entry) = self.log.next_mut() else {
                return;
            };
            let Some(payload) = entry.body.clone() else {
                return;
            };
            let (sender, number) = (entry.sender, entry.number);
            self.log.delivered += 1;
            self.reporting.unreported_bytes += payload.len();
            self.counts.insert(sender, number);
            if sender == self.me.rank {
                self.sending.placed(number);
            }
            if self.is_inside() && self.status != Status::Keeper {
                out.events.push(GroupEvent::Message {
                    from: sender,
                    place: self.place(),
                    payload,
                });
            }
        }
    }

    /// Returns whether this member is one of those that report at once.
    fn is_prompt(&self) -> bool {
        let mut prompt = self.view.members.iter().skip(1).take(PROMPT);
        prompt.any(|member| *member == self.me)
    }

    /// Returns the factor by which this member's reports are rarer, because the group is large.
    fn crowd(&self) -> u32 {
        self.view.members.len().div_ceil(REPORTERS).max(1) as u32
    }

    fn plan_report(&mut self, now: Time, out: &mut Output) {
        let due = self.log.delivered - self.reporting.reported;
        let many = REPORT_EVERY * u64::from(self.crowd().min(8));
        if due >= many || self.reporting.unreported_bytes >= REPORT_BYTES {
            self.report_delivered(out);
        } else if due > 0 && self.reporting.at.is_none() {
            self.reporting.at = Some(now + REPORT_DELAY * self.crowd());
        }
    }

    /// Sends the report that the first member waits for, unless a request has just carried it.
    pub(super) fn flush_report(&mut self, out: &mut Output) {
        if self.reporting.is_wanted {
            self.report_delivered(out);
        }
    }

    pub(super) fn report_delivered(&mut self, out: &mut Output) {
        self.reporting.at = None;
        let is_reporter = self.is_running() && !self.is_first();
        if let Some(first) = self.first().filter(|_| is_reporter) {
            let note = Note::Delivered {
                view: self.view.number,
                delivered: self.log.delivered,
            };
            self.reported();
            self.tell(first, note, out);
        }
    }

    pub(super) fn reported(&mut self) {
        self.reporting = Reporting {
            reported: self.log.delivered,
            ..Reporting::default()
        };
    }

    /// Begins a view: entries without a place count nothing.
    pub(super) fn begin_delivering(&mut self, out: &mut Output) {
        self.log.cut_off();
        self.bodies = Default::default();
        self.reported();
        self.report_delivered(out);
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
        let (items, bodies) = bodies::join(self.log.range(after, upto));
        let first = upto.min(self.log.held()) + 1 - items.len() as u64;
        self.post(to, Note::Entries { view, first, items }, bodies, out);
    }
}

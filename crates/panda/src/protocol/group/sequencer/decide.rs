//! The change from one view to the next: the part of those who are asked, and the beginning of the next view.

use super::log::Log;
use super::notes::{Ballot, Item, Note, Proposal, split_bodies};
use super::{GroupEvent, Output, Sequencer, Status, View};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::Time;

impl Sequencer {
    /// Promises to take no more orders in this view, and says what is here.
    pub(super) fn collected(&mut self, now: Time, from: Rank, ballot: Ballot, out: &mut Output) {
        let view = self.view.number;
        if !self.view.has(from) || (view == 0 && !self.myself.is_founder) {
            return;
        }
        if let Some(promised) = self.promised.filter(|promised| *promised > ballot) {
            self.tell(from, Note::Refuse { view, promised }, out);
            return;
        }
        if self.is_inside() {
            // What has been given a place here goes out, or is lost to the others.
            self.flush_order(out);
            self.stuck_since.get_or_insert(now);
        }
        self.promised = Some(ballot);
        if from != self.me.rank {
            self.change = None;
            let waits = self.is_inside() || !self.joiners.is_empty();
            self.change_at = waits.then(|| now + self.myself.silence * 2);
        }
        let stays = matches!(self.status, Status::Member | Status::Leaving);
        let note = Note::State {
            view,
            ballot,
            delivered: self.log.delivered,
            stays,
            accepted: self.accepted.clone(),
        };
        self.tell(from, note, out);
        self.rewatch(out);
    }

    pub(super) fn entries_came(
        &mut self,
        now: Time,
        first: u64,
        items: &[Item],
        bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let entries = split_bodies(items, bodies)?;
        if self.view.number == 0 || (self.promised.is_none() && self.next.is_none()) {
            return Ok(());
        }
        if first > self.log.delivered + 1 {
            return Ok(());
        }
        self.log.cut_off();
        for (place, entry) in (first..).zip(entries) {
            if place == self.log.end() + 1 && entry.body.is_some() {
                self.log.push(entry);
            }
        }
        self.deliver(out);
        self.fetched_enough(out);
        if let Some(next) = self.next.take_if(|next| next.cut <= self.log.delivered) {
            self.install(now, next, out);
        }
        Ok(())
    }

    pub(super) fn proposed(
        &mut self,
        now: Time,
        from: Rank,
        ballot: Ballot,
        proposal: Proposal,
        out: &mut Output,
    ) {
        let view = self.view.number;
        if self.promised.is_some_and(|promised| promised > ballot) || !proposal.follows(view) {
            return;
        }
        // Who accepts holds all of the view that ends, so that whoever leads next can bring it to the others.
        if view > 0 && self.log.delivered < proposal.cut {
            return;
        }
        self.promised = Some(ballot);
        self.accepted = Some((ballot, proposal));
        if self.is_inside() {
            self.change_at = Some(now + self.myself.silence * 2);
        }
        self.tell(from, Note::Accepted { view, ballot }, out);
    }

    /// A next view is decided.
    pub(super) fn decided(
        &mut self,
        now: Time,
        from: Rank,
        view: u64,
        proposal: Proposal,
        out: &mut Output,
    ) {
        if proposal.next.number <= self.view.number || !proposal.follows(view) {
            return;
        }
        let is_in = proposal.next.members.contains(&self.me);
        match (self.is_inside(), is_in) {
            (true, true) if view == self.view.number => {
                if self.log.delivered < proposal.cut {
                    let (after, upto) = (self.log.delivered, proposal.cut);
                    self.promised.get_or_insert_default();
                    self.next = Some(proposal);
                    self.tell(from, Note::Fetch { view, after, upto }, out);
                    return;
                }
                self.install(now, proposal, out);
            }
            (true, true) => {}
            (true, false) => {
                // Who is in a later view lives, or will be found dead again.
                self.dead.retain(|rank| !proposal.next.has(*rank));
                self.known = Some(proposal);
                self.end("the others went on without it".into(), out);
            }
            (false, true) if self.status == Status::Joining => {
                self.install_as_joiner(now, proposal, out)
            }
            (false, _)
                if view > 0 && view == self.view.number && self.was_counted_in(&proposal) =>
            {
                self.follow(now, proposal, out);
            }
            (false, _) if proposal.next.number >= self.latest() => {
                self.redirected(now, proposal, out)
            }
            (false, _) => {}
        }
    }

    /// Whether a view counts on a membership of this process that has ended here meanwhile, and on what it holds.
    fn was_counted_in(&self, proposal: &Proposal) -> bool {
        let life = |birth: u64| birth >> 16;
        let is_mine = |member: &super::Member| {
            member.rank == self.me.rank && life(member.birth) == life(self.me.birth)
        };
        self.log.delivered >= proposal.cut && proposal.next.members.iter().any(is_mine)
    }

    /// Takes part in the decisions about such a view, without being in it: else it could be left without a majority.
    fn follow(&mut self, now: Time, proposal: Proposal, out: &mut Output) {
        self.view = proposal.next.clone();
        self.counts = proposal.counts.iter().copied().collect();
        self.begun_by = Some(proposal);
        (self.promised, self.accepted, self.change, self.known) = (None, None, None, None);
        self.suspects.clear();
        self.dead.clear();
        self.has_ended_apart = false;
        self.log.cut_off();
        if self.status == Status::Joining {
            self.ask_again(now, out);
        }
    }

    fn install_as_joiner(&mut self, now: Time, proposal: Proposal, out: &mut Output) {
        self.log = Log::after(proposal.cut);
        self.status = Status::Member;
        self.view = View {
            number: proposal.next.number - 1,
            members: Vec::new(),
        };
        self.install(now, proposal, out);
    }

    fn install(&mut self, now: Time, proposal: Proposal, out: &mut Output) {
        let old = std::mem::replace(&mut self.view, proposal.next.clone());
        self.others = self
            .view
            .ranks()
            .filter(|rank| *rank != self.me.rank)
            .collect();
        self.counts = proposal.counts.iter().copied().collect();
        self.begun_by = Some(proposal);
        self.known = None;
        (self.promised, self.accepted, self.change) = (None, None, None);
        (self.change_at, self.stuck_since) = (None, None);
        (self.ask_at, self.asked) = (None, None);
        self.is_shaken = false;
        // A new member of an old rank is nobody's suspect.
        let view = &self.view;
        let is_old = |rank: &Rank| {
            view.members
                .iter()
                .any(|member| member.rank == *rank && old.members.contains(member))
        };
        self.suspects.retain(is_old);
        self.has_ended_apart = false;
        self.dead.retain(|rank| !view.has(*rank) || is_old(rank));
        self.joiners.retain(|joiner| !view.members.contains(joiner));
        self.leavers.clear();
        self.next = None;
        if !self.is_first() {
            for joiner in std::mem::take(&mut self.joiners) {
                self.tell_decision(joiner.rank, out);
            }
        }
        self.begin_membership(&old, out);
        self.begin_sending(out);
        self.rewatch(out);
        self.hear_early(now, out);
        if !self.suspects.is_empty() {
            self.is_shaken = true;
        }
        self.consider_change(now, out);
    }

    /// Tells this member of the view, compared with one before.
    pub(super) fn begin_membership(&mut self, old: &View, out: &mut Output) {
        if self.status == Status::Keeper {
            return;
        }
        let new = &self.view;
        let joined = new
            .members
            .iter()
            .filter(|member| !old.members.contains(member))
            .map(|member| member.rank)
            .collect();
        let left = old
            .members
            .iter()
            .filter(|member| !new.members.contains(member))
            .map(|member| member.rank)
            .collect();
        out.events.push(GroupEvent::View {
            number: new.number,
            members: new.ranks().collect(),
            joined,
            left,
        });
    }

    /// Takes what came before this view began here.
    fn hear_early(&mut self, now: Time, out: &mut Output) {
        for (from, note, body) in std::mem::take(&mut self.early) {
            // What does not decode is dropped as if it came now.
            let _ = self.take(now, from, note, body, out);
        }
    }
}

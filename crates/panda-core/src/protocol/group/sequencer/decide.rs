//! The change from one view to the next: the part of the asked members, and the begin of the next
//! view.

use std::collections::HashSet;

use super::log::Log;
use super::notes::{Ballot, Item, Note, Proposal, Step};
use super::{GroupEvent, Member, Next, Output, Sequencer, Status, View, bodies};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::Time;

impl Sequencer {
    /// Promises to take no more orders in this view, and answers with this member's state.
    pub(super) fn collected(&mut self, now: Time, from: Rank, ballot: Ballot, out: &mut Output) {
        let view = self.view.number;
        if !self.has_in_view(from) || (view == 0 && !self.myself.is_founder) {
            return;
        }
        if let Some(promised) = self.promised.filter(|promised| *promised > ballot) {
            self.tell(from, Note::Refuse { view, promised }, out);
            return;
        }
        if self.is_inside() {
            // Places given here must go out, or the others lack them.
            self.tell_order(out);
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
            held: self.log.held(),
            stays,
            accepted: self.accepted.clone(),
        };
        self.tell(from, note, out);
        self.rewatch(out);
    }

    pub(super) fn entries_came(
        &mut self,
        now: Time,
        from: Rank,
        (first, items): (u64, &[Item]),
        bodies: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let entries = bodies::split(items, bodies)?;
        if self.view.number == 0 || (self.promised.is_none() && self.next.is_none()) {
            return Ok(());
        }
        let held = self.log.held();
        if first > held + 1 {
            return Ok(());
        }
        if self.log.is_overfull() {
            out.liar = Some(from);
            return Ok(());
        }
        // The entries are kept, and handed over only when it is decided that they belong to the
        // view.
        self.log.cut_after(held);
        for (place, entry) in (first..).zip(entries) {
            if place == self.log.end() + 1 && entry.body.is_some() {
                self.log.push(entry);
            }
        }
        self.fetched_enough(out);
        let held = self.log.held();
        match self.next.take_if(|next| next.cut() <= held) {
            Some(Next::Step(step)) => self.stepped(now, self.me.rank, step, out),
            Some(Next::Whole(proposal)) => {
                self.deliver_up_to(proposal.cut, out);
                self.install(now, proposal, out);
            }
            None => {}
        }
        Ok(())
    }

    pub(super) fn proposed(
        &mut self,
        now: Time,
        from: Rank,
        ballot: Ballot,
        step: Step,
        out: &mut Output,
    ) {
        let view = self.view.number;
        if self.promised.is_some_and(|promised| promised > ballot) || !step.is_sound(view) {
            return;
        }
        // A member that accepts holds all of the ending view, so that the next coordinator can
        // bring it to the others.
        if view > 0 && self.log.held() < step.cut {
            return;
        }
        self.promised = Some(ballot);
        self.accepted = Some((ballot, step));
        if self.is_inside() {
            self.change_at = Some(now + self.myself.silence * 2);
        }
        self.tell(from, Note::Accepted { view, ballot }, out);
    }

    /// Returns the proposal of a step, and hands over the rest of the ending view, all of which is
    /// here. A member that has handed over more is in no next view of any member of this one.
    pub(super) fn whole(&mut self, step: &Step, out: &mut Output) -> Proposal {
        if self.view.number > 0 {
            self.deliver_up_to(step.cut, out);
        }
        let members = step.members(&self.view);
        let joined: HashSet<Rank> = step.joined.iter().map(|joiner| joiner.rank).collect();
        let count = |rank: Rank| match joined.contains(&rank) {
            true => 0,
            false => self.counts.get(&rank).copied().unwrap_or(0),
        };
        let counts = members
            .iter()
            .map(|member| (member.rank, count(member.rank)))
            .collect();
        Proposal {
            stayed: (members.len() - step.joined.len()) as u64,
            next: View {
                number: self.view.number + 1,
                members,
            },
            cut: step.cut,
            counts,
        }
    }

    /// Handles the decision of the step to the next view, in which this process answered before.
    pub(super) fn stepped(&mut self, now: Time, from: Rank, step: Step, out: &mut Output) {
        let view = self.view.number;
        if !step.is_sound(view) {
            return;
        }
        let held = self.log.held();
        if view == 0 || held >= step.cut {
            let proposal = self.whole(&step, out);
            self.decided(now, from, view, proposal, out);
        } else if self.is_inside() {
            self.await_entries(from, Next::Step(step), out);
        } else {
            // This member cannot know the step's result. A member of a later view tells it all when
            // it hears of this one.
            let delivered = self.log.delivered;
            self.tell(from, Note::Delivered { view, delivered }, out);
        }
    }

    /// Waits for missing entries of this view, after which the next one can begin.
    fn await_entries(&mut self, from: Rank, next: Next, out: &mut Output) {
        let (view, after, upto) = (self.view.number, self.log.held(), next.cut());
        self.promised.get_or_insert_default();
        self.next = Some(next);
        self.tell(from, Note::Fetch { view, after, upto }, out);
    }

    /// Handles a decided next view.
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
        if is_in
            && self.status == Status::Outside
            && let Some(first) = proposal.next.ranks().next().filter(|r| *r != self.me.rank)
        {
            // The process was let in after it had given up.
            let view = proposal.next.number;
            self.tell(first, Note::Leave { view }, out);
        }
        match (self.is_inside(), is_in) {
            (true, true) if view == self.view.number => {
                if self.log.held() < proposal.cut {
                    self.await_entries(from, Next::Whole(proposal), out);
                    return;
                }
                self.deliver_up_to(proposal.cut, out);
                self.install(now, proposal, out);
            }
            (true, true) => {}
            (true, false) => {
                // A process in a later view lives, or will be found dead again.
                let next: HashSet<Rank> = proposal.next.ranks().collect();
                self.dead.retain(|rank| !next.contains(rank));
                self.known = Some(proposal);
                self.end("the others went on without it".into(), out);
            }
            (false, true) if self.status == Status::Joining => {
                self.install_as_joiner(now, proposal, out)
            }
            (false, _)
                if view > 0 && view == self.view.number && self.was_counted_in(&proposal) =>
            {
                self.deliver_up_to(proposal.cut, out);
                self.follow(now, proposal, out);
            }
            (false, _) if proposal.next.number >= self.latest() => {
                self.redirected(now, proposal, out)
            }
            (false, _) => {}
        }
    }

    /// Returns whether a view counts on an ended membership of this process, and on entries that it
    /// holds.
    fn was_counted_in(&self, proposal: &Proposal) -> bool {
        let is_mine =
            |member: &Member| member.rank == self.me.rank && member.life() == self.me.life();
        self.log.held() >= proposal.cut && proposal.next.members.iter().any(is_mine)
    }

    /// Takes part in the decisions about such a view, without being in it. Otherwise the view could
    /// lack a majority.
    fn follow(&mut self, now: Time, proposal: Proposal, out: &mut Output) {
        self.view = proposal.next.clone();
        self.counts = proposal.counts.iter().copied().collect();
        self.begun_by = Some(proposal);
        (self.promised, self.accepted, self.change, self.known) = (None, None, None, None);
        self.suspects.clear();
        self.dead.clear();
        self.lost_touch.clear();
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

    pub(super) fn install(&mut self, now: Time, proposal: Proposal, out: &mut Output) {
        let old = std::mem::replace(&mut self.view, proposal.next.clone());
        if old.members.is_empty() {
            out.entered = Some((out.events.len(), proposal.elders(self.me)));
        }
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
        // A new member of an old rank is under no suspicion.
        let (joined, left) = differ(&old, &self.view);
        let view = &self.view;
        let stays = |rank: &Rank| self.counts.contains_key(rank) && !joined.contains(rank);
        self.suspects.retain(stays);
        self.dead
            .retain(|rank| !self.counts.contains_key(rank) || stays(rank));
        self.lost_touch.retain(|rank| self.suspects.contains(rank));
        self.has_ended_apart = false;
        self.joiners.retain(|joiner| !view.members.contains(joiner));
        self.leavers.clear();
        self.next = None;
        if !self.is_first() {
            for joiner in std::mem::take(&mut self.joiners) {
                self.tell_decision(joiner.rank, out);
            }
        }
        self.begin_membership(joined, left, out);
        self.begin_sequencing();
        self.begin_delivering(out);
        self.begin_sending(out);
        self.rewatch(out);
        self.hear_early(now, out);
        if !self.suspects.is_empty() {
            self.is_shaken = true;
        }
        self.consider_change(now, out);
    }

    /// Tells this member the view, and the members that came and went.
    fn begin_membership(&mut self, joined: Vec<Rank>, left: Vec<Rank>, out: &mut Output) {
        if self.status == Status::Keeper {
            return;
        }
        out.events.push(GroupEvent::View {
            number: self.view.number,
            place: self.place(),
            members: self.view.ranks().collect(),
            joined,
            left,
        });
    }

    /// Takes the notes that came before this view began here.
    fn hear_early(&mut self, now: Time, out: &mut Output) {
        for (from, note, body) in std::mem::take(&mut self.early).notes {
            // A note that does not decode is dropped, as if it came now.
            let _ = self.take(now, from, note, body, out);
        }
    }
}

/// Returns the members that came and went between two views. Staying members come first in the new
/// one, in their old order.
fn differ(old: &View, new: &View) -> (Vec<Rank>, Vec<Rank>) {
    let mut at = 0;
    let mut left = Vec::new();
    for member in &old.members {
        if new.members.get(at) == Some(member) {
            at += 1;
        } else {
            left.push(member.rank);
        }
    }
    let joined = new.members[at..].iter().map(|member| member.rank);
    (joined.collect(), left)
}

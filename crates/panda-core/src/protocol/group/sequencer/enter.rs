//! Joins and leaves: the requests before a change of view decides.

use std::collections::HashSet;

use super::notes::{Note, Proposal};
use super::{GroupEvent, Member, Output, Sequencer, Status, View};
use crate::Rank;
use crate::protocol::Time;

impl Sequencer {
    pub(super) fn ask_to_join(&mut self, now: Time, out: &mut Output) {
        match self.status {
            Status::Joining | Status::Member => {}
            Status::Keeper => self.come_back(now, out),
            // The process first leaves for good; then it can come back.
            Status::Leaving => self.comes_back = true,
            Status::Outside => {
                self.me.birth += 1;
                self.status = Status::Joining;
                self.sending.reset();
                self.asks = 0;
                self.full.clear();
                self.early = Default::default();
                self.stuck_since = Some(now);
                self.ask_again(now, out);
            }
        }
    }

    /// Lets this process in again, which has kept the group since it left as the last member. Alone
    /// in its view, it decides on the next one by itself.
    fn come_back(&mut self, now: Time, out: &mut Output) {
        let me = self.me;
        let count = self.counts.get(&me.rank).copied().unwrap_or(0);
        let proposal = Proposal {
            next: View {
                number: self.view.number + 1,
                members: vec![me],
            },
            stayed: 0,
            cut: self.log.delivered,
            counts: vec![(me.rank, count)],
        };
        self.status = Status::Member;
        self.view.members.clear();
        self.install(now, proposal, out);
    }

    /// Asks a process that may let this one in. Members of the last known view come first, in
    /// order; without one, founders do, from rank 0 on. Lost processes come last.
    pub(super) fn ask_again(&mut self, now: Time, out: &mut Output) {
        if self.status != Status::Joining {
            (self.ask_at, self.asked) = (None, None);
            return;
        }
        let view = self.known.as_ref().map_or(&self.view, |known| &known.next);
        // Members come first. They may all be gone, and the group with other processes. Then the
        // founders follow, of which this process may be the first.
        let may_ask = |rank: &Rank| {
            !self.dead.contains(rank) && (self.known.is_none() || *rank != self.me.rank)
        };
        let mut candidates: Vec<Rank> = view.ranks().filter(may_ask).collect();
        let has_ended = self.known.is_some() && candidates.is_empty();
        let first: HashSet<Rank> = candidates.iter().copied().collect();
        let rest = (0..self.myself.size).filter(|rank| may_ask(rank) && !first.contains(rank));
        let rest: Vec<Rank> = rest.collect();
        candidates.extend(rest);
        self.asks += 1;
        if has_ended && self.asks > 2 * candidates.len() {
            candidates.clear();
        }
        let after = self
            .asked
            .and_then(|asked| candidates.iter().position(|rank| *rank == asked))
            .map_or(0, |at| at + 1);
        let Some(&next) = candidates.get(after).or(candidates.first()) else {
            self.status = Status::Outside;
            (self.ask_at, self.asked, self.stuck_since) = (None, None, None);
            out.events.push(GroupEvent::Expelled {
                why: "the group ended with its last member".into(),
            });
            return;
        };
        self.ask(next, now, out);
    }

    fn ask(&mut self, rank: Rank, now: Time, out: &mut Output) {
        self.asked = Some(rank);
        self.ask_at = Some(now + self.myself.silence / 2);
        let member = self.me;
        self.tell(rank, Note::Join { member }, out);
        self.rewatch(out);
    }

    /// Notes that an asked process cannot let this one in. If that is new, the next one is asked;
    /// otherwise all were asked, and each is asked again in its time.
    pub(super) fn was_refused(&mut self, now: Time, from: Rank, follows: u64, out: &mut Output) {
        if self.status != Status::Joining {
            return;
        }
        let is_news = self.full.insert(from, follows).is_none();
        if is_news && self.asked == Some(from) {
            self.ask_again(now, out);
        }
    }

    pub(super) fn asked_to_join(
        &mut self,
        now: Time,
        from: Rank,
        member: Member,
        out: &mut Output,
    ) {
        if member.rank != from {
            return;
        }
        let is_let_in = self.is_inside() && self.view.members.contains(&member);
        let has_replaced = self.died_before(member);
        if (self.is_first() || self.is_registrar() || has_replaced) && !is_let_in {
            self.joiners.retain(|joiner| joiner.rank != from);
            self.joiners.push(member);
            self.consider_change(now, out);
        } else {
            // The joiner asks the wrong member, or missed that it was let in.
            self.tell_decision(from, out);
        }
    }

    /// Handles a process that asks again. It is no longer the member as which it was let in,
    /// whether it noticed that or not. A later life of the process proves that its earlier one has
    /// ended.
    fn died_before(&mut self, member: Member) -> bool {
        let old = self.earlier(member);
        if let Some(old) = old {
            self.replaced(old, member);
        }
        old.is_some() && self.is_inside()
    }

    /// Notes a process's identity. If its earlier life is a member here, that one has ended, and
    /// its answers are not awaited.
    pub(super) fn lives(&mut self, now: Time, from: Rank, member: Member, out: &mut Output) {
        let old = self
            .earlier(member)
            .filter(|old| member.rank == from && old.life() < member.life());
        if let Some(old) = old {
            self.replaced(old, member);
            self.change_lost(now, from, out);
        }
    }

    /// Returns the member of the view that a process was before.
    fn earlier(&self, member: Member) -> Option<Member> {
        let is_it = |old: &&Member| old.rank == member.rank && old.birth < member.birth;
        let old = self.view.members.iter().find(is_it);
        old.filter(|_| self.view.number > 0).copied()
    }

    /// Notes that a process is no longer that member.
    fn replaced(&mut self, old: Member, member: Member) {
        self.suspects.insert(old.rank);
        if old.life() < member.life() {
            self.has_ended(old.rank);
        }
        self.is_shaken |= self.is_inside();
    }

    /// Notes that a process has ended. It may have been silent because it went on elsewhere first.
    pub(super) fn has_ended(&mut self, rank: Rank) {
        self.dead.insert(rank);
        self.has_ended_apart |= self.lost_touch.contains(&rank);
    }

    /// Handles a decision with which the group went on without this process, which is outside or
    /// wants in.
    pub(super) fn redirected(&mut self, now: Time, decision: Proposal, out: &mut Output) {
        let is_new = decision.next.number > self.latest();
        let first = decision.next.ranks().find(|rank| *rank != self.me.rank);
        if is_new {
            // A process in a later view lives, or will be found dead again.
            let next: HashSet<Rank> = decision.next.ranks().collect();
            self.dead.retain(|rank| !next.contains(rank));
            self.known = Some(decision);
            self.change = None;
            for joiner in std::mem::take(&mut self.joiners) {
                self.tell_decision(joiner.rank, out);
            }
        }
        if self.status == Status::Joining && is_new {
            self.asks = 0;
            self.stuck_since = Some(now);
            match first.filter(|first| !self.dead.contains(first) && self.asked != Some(*first)) {
                Some(first) => self.ask(first, now, out),
                None => self.ask_again(now, out),
            }
        }
    }

    pub(super) fn leave_if_done(&mut self, out: &mut Output) {
        let has_asked = self.left_in == Some(self.view.number);
        if self.status != Status::Leaving
            || has_asked
            || !self.sending.is_empty()
            || !self.is_running()
        {
            return;
        }
        if self.view.members == [self.me] && self.joiners.is_empty() {
            self.status = Status::Keeper;
            out.events.push(GroupEvent::Left);
        } else if let Some(first) = self.first() {
            let view = self.view.number;
            self.left_in = Some(view);
            self.tell(first, Note::Leave { view }, out);
        }
    }

    pub(super) fn asked_to_leave(&mut self, now: Time, from: Rank, out: &mut Output) {
        if self.is_first() && self.view.has(from) {
            self.leavers.insert(from);
            self.consider_change(now, out);
        }
    }

    /// Gives up. No majority answers: the others may go on without this member, so it must not. Or
    /// no process that could lets this one in.
    pub(super) fn give_up(&mut self, out: &mut Output) {
        let why = match self.status {
            Status::Joining => format!("nobody could let it in: {}", self.why_not_let_in()),
            _ if self.suspects.is_empty() => {
                "no majority of its view could agree on the next one in time".into()
            }
            _ => format!("it cannot reach a majority of its view: {}", self.silent()),
        };
        self.end(why, out);
    }

    /// Describes the answers of the asked processes.
    fn why_not_let_in(&self) -> String {
        let full = self.full.iter().map(|(rank, follows)| {
            format!("rank {rank} follows {follows} groups already that it is not in, and no more")
        });
        let silent = (!self.suspects.is_empty()).then(|| self.silent());
        let known: Vec<String> = full.chain(silent).collect();
        match known.is_empty() {
            true => "no majority of the members answers".into(),
            false => known.join("; "),
        }
    }

    fn silent(&self) -> String {
        let suspects = self.suspects.iter().map(|rank| format!("rank {rank}"));
        let suspects: Vec<String> = suspects.collect();
        format!("{} did not answer", suspects.join(", "))
    }

    /// Ends this process's membership. Its promises and acceptances stay.
    pub(super) fn end(&mut self, why: String, out: &mut Output) {
        let event = match self.status {
            Status::Leaving if self.sending.is_empty() => GroupEvent::Left,
            _ => GroupEvent::Expelled { why },
        };
        if self.status != Status::Keeper {
            out.events.push(event);
        }
        self.status = Status::Outside;
        self.change = None;
        (self.change_at, self.stuck_since) = (None, None);
        (self.ask_at, self.asked) = (None, None);
        self.reporting.at = None;
        self.suspects.clear();
        self.is_shaken = false;
        self.joiners.clear();
        self.leavers.clear();
        self.full.clear();
        self.early = Default::default();
        self.bodies = Default::default();
        self.next = None;
        self.left_in = None;
        self.sending.reset();
        out.watch = Some(Vec::new());
    }
}

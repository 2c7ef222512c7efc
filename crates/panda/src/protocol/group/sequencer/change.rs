//! The change from one view to the next: the coordinator's part.
//!
//! `Collect` stops the old view at those who answer; `Fetch` brings the coordinator what it lacks of the longest order among them; `Propose` brings it to the
//! others and has them accept; `Install` tells that it is decided.

use std::collections::{BTreeMap, BTreeSet};

use super::notes::{Ballot, Note, Proposal};
use super::{Mutant, Output, Sequencer, Status, View};
use crate::platform::Rank;
use crate::protocol::Time;

/// What a member of the old view answered.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub delivered: u64,
    pub stays: bool,
    pub accepted: Option<(Ballot, Proposal)>,
}

/// An attempt of this process to change the view.
#[derive(Debug)]
pub(super) struct Change {
    pub ballot: Ballot,
    states: BTreeMap<Rank, State>,
    pub phase: Phase,
}

#[derive(Debug)]
pub(super) enum Phase {
    Collecting,
    /// Entries up to the cut are coming from a member.
    Fetching {
        from: Rank,
        accepted: Option<Proposal>,
        cut: u64,
    },
    Proposing {
        proposal: Proposal,
        by: BTreeSet<Rank>,
    },
}

impl Sequencer {
    /// Whether the view should change, as far as this process knows.
    fn wants_change(&self) -> bool {
        self.is_shaken
            || !self.joiners.is_empty()
            || !self.leavers.is_empty()
            || (self.is_inside() && self.promised.is_some())
    }

    /// Begins a change if it is this process's turn, or sees to it that it will be if nobody else does.
    pub(super) fn consider_change(&mut self, now: Time, out: &mut Output) {
        if !self.wants_change() || self.change.is_some() {
            return;
        }
        if self.is_inside()
            && self.stuck_since.is_none()
            && (self.is_shaken || self.promised.is_some())
        {
            self.stuck_since = Some(now);
        }
        let turn = match self.is_inside() {
            true => self
                .view
                .ranks()
                .filter(|rank| !self.suspects.contains(rank))
                .position(|rank| rank == self.me.rank)
                .unwrap_or(0),
            false => 0,
        };
        if turn == 0 && self.promised.is_none() {
            self.begin_change(now, out);
        } else if self.change_at.is_none() {
            self.change_at = Some(now + self.patience(turn));
        }
    }

    /// Those further back in the view wait longer, so that one of them is done before the next begins.
    fn patience(&self, turn: usize) -> Time {
        let spread = self.myself.silence / 16 * (self.me.rank % 16);
        self.myself.silence * (1 + turn.min(4) as u32) / 2 + spread
    }

    /// Collects: stops the view at all who answer.
    pub(super) fn begin_change(&mut self, now: Time, out: &mut Output) {
        self.change_at = None;
        if !(self.is_inside() || self.is_registrar()) || !self.wants_change() {
            return;
        }
        let highest = self
            .promised
            .unwrap_or_default()
            .round
            .max(self.change.as_ref().map_or(0, |change| change.ballot.round));
        let ballot = Ballot {
            round: highest.saturating_add(1),
            rank: self.me.rank,
        };
        self.change = Some(Change {
            ballot,
            states: BTreeMap::new(),
            phase: Phase::Collecting,
        });
        self.change_at = Some(now + self.patience(2));
        let view = self.view.number;
        let ranks: Vec<Rank> = self.view.ranks().collect();
        for rank in ranks {
            self.tell(rank, Note::Collect { view, ballot }, out);
        }
        self.rewatch(out);
    }

    pub(super) fn state_came(
        &mut self,
        now: Time,
        from: Rank,
        ballot: Ballot,
        state: State,
        out: &mut Output,
    ) {
        let Some(change) = self
            .change
            .as_mut()
            .filter(|change| change.ballot == ballot)
        else {
            return;
        };
        if !matches!(change.phase, Phase::Collecting) || !self.view.has(from) {
            return;
        }
        change.states.insert(from, state);
        self.collect_if_whole(now, out);
    }

    /// Goes on when a majority has answered and nobody else is expected to.
    fn collect_if_whole(&mut self, now: Time, out: &mut Output) {
        let Some(change) = &self.change else { return };
        if !matches!(change.phase, Phase::Collecting) {
            return;
        }
        let answered: BTreeSet<Rank> = change.states.keys().copied().collect();
        let is_awaited = |rank: &Rank| {
            !answered.contains(rank) && !self.suspects.contains(rank) && !self.dead.contains(rank)
        };
        let all_needed = self.view.number > 0;
        if !self.is_enough(&answered)
            || (all_needed && self.view.ranks().any(|rank| is_awaited(&rank)))
        {
            return;
        }
        let accepted = change
            .states
            .values()
            .filter_map(|state| state.accepted.clone())
            .max_by_key(|(ballot, _)| *ballot)
            .map(|(_, proposal)| proposal);
        let foremost = change
            .states
            .iter()
            .max_by_key(|(_, state)| state.delivered);
        let (&holder, most) = foremost
            .map(|(rank, state)| (rank, state.delivered))
            .expect("a majority is somebody");
        let most = if self.mutant == Some(Mutant::CutsAtOwn) {
            self.log.delivered
        } else {
            most
        };
        let cut = accepted.as_ref().map_or(most, |proposal| proposal.cut);
        if cut <= self.log.delivered {
            self.propose(accepted, cut, out);
            return;
        }
        let note = Note::Fetch {
            view: self.view.number,
            after: self.log.delivered,
            upto: cut,
        };
        if let Some(change) = &mut self.change {
            change.phase = Phase::Fetching {
                from: holder,
                accepted,
                cut,
            };
        }
        self.tell(holder, note, out);
        self.change_at = Some(now + self.patience(2));
    }

    /// Whether these are so many of the view that no others can decide without one of them, or have: a majority, or all that still live. Who slept while a majority went
    /// on and ended is not all that live.
    fn is_enough(&self, ranks: &BTreeSet<Rank>) -> bool {
        let counted = self
            .view
            .ranks()
            .filter(|rank| ranks.contains(rank))
            .count();
        let all_living = self
            .view
            .ranks()
            .all(|rank| ranks.contains(&rank) || self.dead.contains(&rank));
        let ended = self.view.ranks().filter(|rank| self.dead.contains(rank));
        let went_on = self.has_ended_apart && ended.count() * 2 > self.view.members.len();
        counted * 2 > self.view.members.len()
            || (all_living && !went_on)
            || self.mutant == Some(Mutant::NeedsNoMajority)
    }

    /// What was fetched has come.
    pub(super) fn fetched_enough(&mut self, out: &mut Output) {
        let Some(Change {
            phase: Phase::Fetching { accepted, cut, .. },
            ..
        }) = &self.change
        else {
            return;
        };
        if self.log.delivered >= *cut {
            let (accepted, cut) = (accepted.clone(), *cut);
            self.propose(accepted, cut, out);
        }
    }

    fn propose(&mut self, accepted: Option<Proposal>, cut: u64, out: &mut Output) {
        let proposal = accepted.unwrap_or_else(|| self.own_proposal(cut));
        let Some(change) = &mut self.change else {
            return;
        };
        if proposal.next.members.is_empty() {
            self.change = None;
            return;
        }
        let (ballot, states) = (change.ballot, change.states.clone());
        change.phase = Phase::Proposing {
            proposal: proposal.clone(),
            by: BTreeSet::new(),
        };
        let view = self.view.number;
        for (rank, state) in states {
            if rank != self.me.rank && state.delivered < proposal.cut {
                self.send_entries(rank, view, state.delivered, proposal.cut, out);
            }
            self.tell(
                rank,
                Note::Propose {
                    view,
                    ballot,
                    proposal: proposal.clone(),
                },
                out,
            );
        }
    }

    /// Those who answered and stay, in their old order; then those who join.
    fn own_proposal(&self, cut: u64) -> Proposal {
        let states = &self.change.as_ref().expect("only while changing").states;
        let stays = |rank: Rank| {
            states.get(&rank).is_some_and(|state| state.stays) && !self.leavers.contains(&rank)
        };
        let replaced = |rank: Rank| self.joiners.iter().any(|joiner| joiner.rank == rank);
        let mut members: Vec<_> = self
            .view
            .members
            .iter()
            .filter(|member| stays(member.rank) && !replaced(member.rank))
            .copied()
            .collect();
        members.extend(&self.joiners);
        if members.is_empty() && self.is_inside() {
            // All leave: the last one keeps the group.
            members.push(self.me);
        }
        let count = |rank: Rank| match replaced(rank) {
            true => 0,
            false => self.counts.get(&rank).copied().unwrap_or(0),
        };
        let counts = members
            .iter()
            .map(|member| (member.rank, count(member.rank)))
            .collect();
        Proposal {
            next: View {
                number: self.view.number + 1,
                members,
            },
            cut,
            counts,
        }
    }

    pub(super) fn was_accepted(&mut self, now: Time, from: Rank, ballot: Ballot, out: &mut Output) {
        let Some(change) = self
            .change
            .as_mut()
            .filter(|change| change.ballot == ballot)
        else {
            return;
        };
        let Phase::Proposing { proposal, by } = &mut change.phase else {
            return;
        };
        by.insert(from);
        let (proposal, by) = (proposal.clone(), by.clone());
        if !self.is_enough(&by) {
            return;
        }
        let view = self.view.number;
        let mut told: BTreeSet<Rank> = proposal.next.ranks().collect();
        if view > 0 {
            told.extend(self.view.ranks());
        }
        told.remove(&self.me.rank);
        for rank in told {
            self.tell(
                rank,
                Note::Install {
                    view,
                    proposal: proposal.clone(),
                },
                out,
            );
        }
        let me = self.me.rank;
        self.decided(now, me, view, proposal, out);
    }

    pub(super) fn refused(&mut self, now: Time, promised: Ballot) {
        if self
            .change
            .as_ref()
            .is_some_and(|change| promised > change.ballot)
        {
            // Somebody else leads; should that come to nothing, a greater ballot is needed.
            self.promised = self.promised.max(Some(promised));
            self.change = None;
            self.change_at = Some(now + self.patience(1));
        }
    }

    pub(super) fn change_lost(&mut self, now: Time, rank: Rank, out: &mut Output) {
        match self.change.as_ref().map(|change| &change.phase) {
            Some(Phase::Collecting) => self.collect_if_whole(now, out),
            Some(Phase::Fetching { from, .. }) if *from == rank => self.begin_change(now, out),
            Some(Phase::Proposing { by, .. }) if !by.contains(&rank) => self.begin_change(now, out),
            _ => {}
        }
        if self.promised.is_some_and(|ballot| ballot.rank == rank)
            && self.change.is_none()
            && self.is_inside()
        {
            self.change_at = Some(now + self.patience(0) / 4);
        }
    }

    /// Another member lacks entries.
    pub(super) fn fetched(&mut self, from: Rank, after: u64, upto: u64, out: &mut Output) {
        self.send_entries(from, self.view.number, after, upto, out);
    }

    /// Names who is to be watched: the first member watches all, the others the first; during a change also its coordinator, or those it waits for.
    pub(super) fn rewatch(&self, out: &mut Output) {
        let mut ranks: BTreeSet<Rank> = BTreeSet::new();
        if self.is_first() || self.change.is_some() {
            ranks.extend(self.view.ranks());
        }
        if self.is_inside() {
            ranks.extend(self.first());
            ranks.extend(self.promised.map(|ballot| ballot.rank));
        }
        if self.status == Status::Joining {
            ranks.extend(self.asked);
        }
        ranks.remove(&self.me.rank);
        out.watch = Some(ranks.into_iter().collect());
    }
}

//! The change from one view to the next: the coordinator's part.
//!
//! ```text
//!   Collect   stops the old view at the members that answer by State
//!   Fetch     gets the missing end of the longest order among them
//!   Entries   brings the others the entries that they lack
//!   Propose   asks them to accept the next view
//!   Decide    tells those that go on from the old view
//!   Install   tells all others the whole view
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::notes::{Ballot, Note, Step};
use super::{Output, Sequencer, Status};
use crate::Rank;
use crate::protocol::Time;
use crate::protocol::fault::Mutant;

/// A member's answer about the old view.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub held: u64,
    pub stays: bool,
    pub accepted: Option<(Ballot, Step)>,
}

/// This process's attempt to change the view.
#[derive(Debug)]
pub(super) struct Change {
    pub ballot: Ballot,
    states: BTreeMap<Rank, State>,
    /// Members of the old view that have not answered.
    silent: BTreeSet<Rank>,
    pub phase: Phase,
}

#[derive(Debug)]
pub(super) enum Phase {
    Collecting,
    /// Entries up to the cut come from a member.
    Fetching {
        from: Rank,
        accepted: Option<Step>,
        cut: u64,
    },
    Proposing {
        step: Step,
        by: BTreeSet<Rank>,
    },
}

impl Sequencer {
    /// Returns whether the view should change, as far as this process knows.
    fn wants_change(&self) -> bool {
        self.is_shaken
            || !self.joiners.is_empty()
            || !self.leavers.is_empty()
            || (self.is_inside() && self.promised.is_some())
    }

    /// Begins a change if it is this process's turn. Otherwise plans one for the case that no other
    /// member begins.
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

    /// Returns how long to wait before a change. Members further back in the view wait longer, so
    /// that one attempt ends before the next begins.
    fn patience(&self, turn: usize) -> Time {
        let spread = self.myself.silence / 16 * (self.me.rank % 16);
        self.myself.silence * (1 + turn.min(4) as u32) / 2 + spread
    }

    /// Begins to collect, which stops the view at all members that answer.
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
        let ranks: BTreeSet<Rank> = self.view.ranks().collect();
        self.change = Some(Change {
            ballot,
            states: BTreeMap::new(),
            silent: ranks.clone(),
            phase: Phase::Collecting,
        });
        self.change_at = Some(now + self.patience(2));
        let view = self.view.number;
        self.tell_all(ranks, &Note::Collect { view, ballot }, out);
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
        let is_awaited = change.silent.remove(&from) || change.states.contains_key(&from);
        if !matches!(change.phase, Phase::Collecting) || !is_awaited {
            return;
        }
        change.states.insert(from, state);
        self.collect_if_whole(now, out);
    }

    /// Goes on when a majority has answered and no further answer is expected.
    fn collect_if_whole(&mut self, now: Time, out: &mut Output) {
        let Some(change) = &self.change else { return };
        if !matches!(change.phase, Phase::Collecting) {
            return;
        }
        let is_awaited = |rank: &Rank| !self.suspects.contains(rank) && !self.dead.contains(rank);
        let all_needed = self.view.number > 0;
        let is_enough =
            self.is_enough(change.states.len(), |rank| change.states.contains_key(rank));
        if !is_enough || (all_needed && change.silent.iter().any(is_awaited)) {
            return;
        }
        let accepted = change
            .states
            .values()
            .filter_map(|state| state.accepted.clone())
            .max_by_key(|(ballot, _)| *ballot)
            .map(|(_, step)| step)
            .filter(|_| !self.fault.is(Mutant::ForgetsAccepted));
        let foremost = change.states.iter().max_by_key(|(_, state)| state.held);
        let (&holder, most) = foremost
            .map(|(rank, state)| (rank, state.held))
            .expect("a majority is somebody");
        let own = self.log.held();
        let most = if self.fault.is(Mutant::CutsAtOwn) {
            own
        } else {
            most
        };
        let cut = accepted.as_ref().map_or(most, |step| step.cut);
        if cut <= own {
            self.propose(accepted, cut, out);
            return;
        }
        let note = Note::Fetch {
            view: self.view.number,
            after: own,
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

    /// Returns whether a majority of the view went on without this process, and has ended.
    fn has_slept(&self) -> bool {
        let ended = self.view.ranks().filter(|rank| self.dead.contains(rank));
        self.has_ended_apart && ended.count() * 2 > self.view.members.len()
    }

    /// Returns whether the members that satisfy `has` are enough, out of the view. No others can
    /// then decide, or have decided, without one of them. They are a majority, or all that still
    /// live. A process does not count all that live if it slept while a majority went on and ended.
    fn is_enough(&self, count: usize, has: impl Fn(&Rank) -> bool) -> bool {
        let all = self.view.members.len();
        count * 2 > all
            || self.fault.is(Mutant::NeedsNoMajority)
            || (count + self.dead.len() >= all
                && !self.has_slept()
                && self
                    .view
                    .ranks()
                    .all(|rank| has(&rank) || self.dead.contains(&rank)))
    }

    /// Goes on after the fetched entries have come.
    pub(super) fn fetched_enough(&mut self, out: &mut Output) {
        let Some(Change {
            phase: Phase::Fetching { accepted, cut, .. },
            ..
        }) = &self.change
        else {
            return;
        };
        if self.log.held() >= *cut {
            let (accepted, cut) = (accepted.clone(), *cut);
            self.propose(accepted, cut, out);
        }
    }

    fn propose(&mut self, accepted: Option<Step>, cut: u64, out: &mut Output) {
        let step = accepted.unwrap_or_else(|| self.own_step(cut));
        if step.joined.is_empty() && step.left.len() == self.view.members.len() {
            self.change = None;
            return;
        }
        let Some(change) = &mut self.change else {
            return;
        };
        let ballot = change.ballot;
        change.phase = Phase::Proposing {
            step: step.clone(),
            by: BTreeSet::new(),
        };
        let those: Vec<(Rank, u64)> = change
            .states
            .iter()
            .map(|(rank, state)| (*rank, state.held))
            .collect();
        let view = self.view.number;
        for &(rank, held) in those.iter().filter(|(_, held)| *held < step.cut) {
            if rank != self.me.rank {
                self.send_entries(rank, view, held, step.cut, out);
            }
        }
        let note = Note::Propose { view, ballot, step };
        self.tell_all(those.into_iter().map(|(rank, _)| rank), &note, out);
    }

    /// Returns this process's step: members that answered and stay, in their old order, then the
    /// joiners.
    fn own_step(&self, cut: u64) -> Step {
        let states = &self.change.as_ref().expect("only while changing").states;
        let replaced: BTreeSet<Rank> = self.joiners.iter().map(|joiner| joiner.rank).collect();
        let stays = |rank: &Rank| {
            states.get(rank).is_some_and(|state| state.stays)
                && !self.leavers.contains(rank)
                && !replaced.contains(rank)
        };
        let mut left: Vec<Rank> = self.view.ranks().filter(|rank| !stays(rank)).collect();
        if left.len() == self.view.members.len() && self.joiners.is_empty() && self.is_inside() {
            // If all leave, the last one keeps the group.
            left.retain(|rank| *rank != self.me.rank);
        }
        Step {
            cut,
            left,
            joined: self.joiners.clone(),
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
        let Phase::Proposing { by, .. } = &mut change.phase else {
            return;
        };
        by.insert(from);
        self.decide_if_accepted(now, out);
    }

    /// Reports the decision when enough members have accepted.
    fn decide_if_accepted(&mut self, now: Time, out: &mut Output) {
        let Some(Change {
            phase: Phase::Proposing { step, by },
            ..
        }) = &self.change
        else {
            return;
        };
        if !self.is_enough(by.len(), |rank| by.contains(rank)) {
            return;
        }
        let (me, view, step) = (self.me.rank, self.view.number, step.clone());
        let (mut stay, mut rest) = self.audience(&step);
        stay.remove(&me);
        rest.remove(&me);
        let decide = Note::Decide {
            view,
            step: step.clone(),
        };
        let first = stay.first().copied();
        self.tell_all(stay, &decide, out);
        if let Some(first) = first.filter(|_| self.log.delivered > step.cut) {
            // This process cannot take back what it delivered behind the cut. So it is not in the
            // next view, and cannot count the messages up to the cut for new members. A member that
            // goes on tells it the whole decision, and tells them when they ask again.
            let delivered = self.log.delivered;
            self.tell(first, Note::Delivered { view, delivered }, out);
            self.change = None;
            return;
        }
        let proposal = self.whole(&step, out);
        let whole = Note::Install {
            view,
            proposal: proposal.clone(),
        };
        self.tell_all(rest, &whole, out);
        self.decided(now, me, view, proposal, out);
    }

    /// Returns the members that go on to the next view and hold this one's order, and all others
    /// that must learn the next view's members.
    fn audience(&self, step: &Step) -> (BTreeSet<Rank>, BTreeSet<Rank>) {
        let states = self.change.as_ref().map(|change| &change.states);
        let joined: BTreeSet<Rank> = step.joined.iter().map(|joiner| joiner.rank).collect();
        let left: BTreeSet<Rank> = step.left.iter().copied().collect();
        let old = self.view.ranks().filter(|_| self.view.number > 0);
        let goes_on = |rank: &Rank| {
            let has_answered = states.is_some_and(|states| states.contains_key(rank));
            has_answered && !left.contains(rank) && !joined.contains(rank)
        };
        let (stay, mut rest): (BTreeSet<Rank>, BTreeSet<Rank>) = old.partition(goes_on);
        rest.extend(joined);
        (stay, rest)
    }

    pub(super) fn refused(&mut self, now: Time, promised: Ballot) {
        if self
            .change
            .as_ref()
            .is_some_and(|change| promised > change.ballot)
        {
            // Another member leads. If its attempt fails, a greater ballot is needed.
            self.promised = self.promised.max(Some(promised));
            self.change = None;
            self.change_at = Some(now + self.patience(1));
        }
    }

    /// Handles the loss of a member during an attempt. The attempt goes on if it does not wait for
    /// that member; otherwise it begins again. A member that is already gone is found lost again by
    /// each attempt, which asks it too. If that were a reason to begin again, no attempt would ever
    /// end.
    pub(super) fn change_lost(&mut self, now: Time, rank: Rank, out: &mut Output) {
        let Some(change) = &self.change else {
            return self.coordinator_lost(now, rank);
        };
        let has_answered = change.states.contains_key(&rank);
        match &change.phase {
            Phase::Collecting => self.collect_if_whole(now, out),
            Phase::Fetching { from, .. } if *from == rank => self.begin_change(now, out),
            Phase::Proposing { by, .. } if has_answered && !by.contains(&rank) => {
                self.begin_change(now, out)
            }
            Phase::Proposing { .. } => self.decide_if_accepted(now, out),
            Phase::Fetching { .. } => {}
        }
    }

    /// Plans another attempt soon, if the promised coordinator cannot go on.
    fn coordinator_lost(&mut self, now: Time, rank: Rank) {
        if self.promised.is_some_and(|ballot| ballot.rank == rank) && self.is_inside() {
            self.change_at = Some(now + self.patience(0) / 4);
        }
    }

    /// Sends entries to a member that lacks them.
    pub(super) fn fetched(&mut self, from: Rank, after: u64, upto: u64, out: &mut Output) {
        self.send_entries(from, self.view.number, after, upto, out);
    }

    /// Names the peers to watch. The first member watches all, the others the first. During a
    /// change they also watch its coordinator, or the awaited members.
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

//! Order by a sequencer: one member, the first of the view, gives every message its place.
//!
//! After Kaashoek, *Group Communication in Distributed Computer Systems* (1992). Short messages go
//! to the sequencer, which sends them on with their places (PB: point to point, then broadcast).
//! Long ones go to all members at once, and the sequencer sends only the places (BB). Each member
//! keeps a history: the entries that another member may lack. Links beneath are reliable and keep
//! order. So gaps only come from a link that began anew, and end with the view.
//!
//! Every change of members, joins included, is decided in one way (`change`). A coordinator stops
//! the old view, and finds the last place that any member delivered. It gives all of them the
//! missing entries, and has a majority of the old view accept the next one. The ballots are those
//! of Lamport's *Paxos Made Simple* (2001). So no two sets of members can go on from the same view,
//! and a message that one survivor delivered is delivered by all survivors. View 0 precedes the
//! first view. Its members are the founders, and nothing can be sent in it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::{GroupEvent, Member, Myself, Order, Output, Recipients, View};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::fault::{Fault, Mutant};
use crate::protocol::{Time, wire};
use change::Change;
use log::Log;
use notes::{Ballot, Note, Proposal, Step};

mod bodies;
mod change;
mod decide;
mod deliver;
mod enter;
mod hold_back;
mod log;
mod notes;
mod order;
mod sending;
mod talk;
#[cfg(test)]
mod tests;

/// This process's status in the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// It is no member, or no more. It still takes part in the decision about its last view.
    Outside,
    /// It has asked to be let in.
    Joining,
    Member,
    /// It leaves when all that it sent has its place.
    Leaving,
    /// It left as the last member, and keeps the group until another has joined.
    Keeper,
}

/// The successor of a view whose order is not complete here.
#[derive(Debug)]
enum Next {
    Step(Step),
    Whole(Proposal),
}

impl Next {
    /// Returns the last place of the ending view.
    fn cut(&self) -> u64 {
        match self {
            Self::Step(step) => step.cut,
            Self::Whole(proposal) => proposal.cut,
        }
    }
}

/// A group on a platform that does not order by itself.
#[derive(Debug)]
pub struct Sequencer {
    myself: Myself,
    me: Member,
    status: Status,
    /// The view of this process, or its last one, whose end it does not know.
    view: View,
    /// The decision that began `view`.
    begun_by: Option<Proposal>,
    /// A later view without this process.
    known: Option<Proposal>,
    /// The other members' ranks.
    others: Arc<[Rank]>,
    log: Log,
    /// Number of each member's last delivered message.
    counts: HashMap<Rank, u64>,
    sending: sending::Sending,
    sequencing: order::Sequencing,
    reporting: deliver::Reporting,
    /// Long messages that came before their places, by sender and number.
    bodies: hold_back::Spread,
    /// The greatest ballot that this process has promised: while there is one, the view stands
    /// still.
    promised: Option<Ballot>,
    /// The step that it accepted last, which may be decided.
    accepted: Option<(Ballot, Step)>,
    change: Option<Change>,
    /// Time at which this process begins a change, unless one is over by then.
    change_at: Option<Time>,
    /// Time since which this member could not go on.
    stuck_since: Option<Time>,
    /// Members that were found lost and not heard of since: they may live.
    suspects: BTreeSet<Rank>,
    /// Members that this process has lost touch with in this view, even if heard of since. They may
    /// have gone on without it.
    lost_touch: BTreeSet<Rank>,
    /// Members that have certainly ended.
    dead: BTreeSet<Rank>,
    /// Whether a member ended after this process had lost touch with it. Before that it may have
    /// gone on with others.
    has_ended_apart: bool,
    /// Whether a link to a member began anew, so something may be missing.
    is_shaken: bool,
    /// Processes that want to be in the next view, and members that do not.
    joiners: Vec<Member>,
    leavers: BTreeSet<Rank>,
    /// The process that was asked to let this one in, and the time to ask another.
    asked: Option<Rank>,
    ask_at: Option<Time>,
    /// Number of such questions since this process last learnt of a view.
    asks: usize,
    /// Asked processes that follow too many groups to let this one in, with the number of groups.
    full: BTreeMap<Rank, u64>,
    /// The decided successor, while entries of the ending view are missing here.
    next: Option<Next>,
    /// The view in which this member asked to leave.
    left_in: Option<u64>,
    /// Whether it asked to join again while leaving.
    comes_back: bool,
    /// Notes of views that have not begun here.
    early: hold_back::Early,
    /// Notes of this process to itself.
    to_self: VecDeque<(Note, Message)>,
    fault: Fault,
}

impl Order for Sequencer {
    const NEEDS_ORDERED: bool = false;

    fn new(myself: Myself) -> Self {
        let founders = (0..myself.size).map(|rank| Member { rank, birth: 0 });
        Self {
            myself,
            me: Member {
                rank: myself.rank,
                birth: myself.birth << Member::COUNT_BITS,
            },
            status: Status::Outside,
            view: View {
                number: 0,
                members: founders.collect(),
            },
            begun_by: None,
            known: None,
            others: Arc::new([]),
            log: Log::after(0),
            counts: HashMap::new(),
            sending: sending::Sending::default(),
            sequencing: order::Sequencing::default(),
            reporting: deliver::Reporting::default(),
            bodies: hold_back::Spread::default(),
            promised: None,
            accepted: None,
            change: None,
            change_at: None,
            stuck_since: None,
            suspects: BTreeSet::new(),
            lost_touch: BTreeSet::new(),
            dead: BTreeSet::new(),
            has_ended_apart: false,
            is_shaken: false,
            joiners: Vec::new(),
            leavers: BTreeSet::new(),
            ask_at: None,
            asked: None,
            asks: 0,
            full: BTreeMap::new(),
            next: None,
            left_in: None,
            comes_back: false,
            early: hold_back::Early::default(),
            to_self: VecDeque::new(),
            fault: Fault::default(),
        }
    }

    fn join(&mut self, now: Time, out: &mut Output) {
        self.ask_to_join(now, out);
        self.settle(now, out);
    }

    fn leave(&mut self, now: Time, out: &mut Output) {
        if self.status == Status::Member {
            self.status = Status::Leaving;
            self.settle(now, out);
        }
    }

    fn takes_messages(&self) -> bool {
        let is_none = matches!(self.status, Status::Outside | Status::Keeper);
        !is_none
    }

    fn send(&mut self, now: Time, payload: Message, out: &mut Output) {
        self.submit(payload, out);
        self.settle(now, out);
    }

    fn is_congested(&self) -> bool {
        self.sending.is_full()
    }

    fn is_member(&self) -> bool {
        matches!(self.status, Status::Joining | Status::Member) || self.comes_back
    }

    fn leads(&self) -> bool {
        self.is_first()
    }

    fn is_pristine(&self) -> bool {
        let has_decided = self.promised.is_some() || self.accepted.is_some();
        let has_learnt = self.view.number > 0 || self.known.is_some();
        // Each attempt to join has a birth of its own, which no later one may have.
        let has_asked = self.me.birth != self.myself.birth << Member::COUNT_BITS;
        let is_changing = self.change.is_some() || !self.joiners.is_empty();
        !(has_decided || has_learnt || has_asked || is_changing)
    }

    fn receive(
        &mut self,
        now: Time,
        from: Rank,
        message: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let (note, body) = wire::unpack(message)?;
        let taken = self.take(now, from, note, body, out);
        self.settle(now, out);
        taken
    }

    fn refusal(message: &Message, follows: usize) -> Option<Message> {
        let (note, _) = wire::unpack(message.clone()).ok()?;
        // A process that wants in may also collect the others itself.
        let asks = matches!(note, Note::Join { .. } | Note::Collect { .. });
        let follows = follows as u64;
        asks.then(|| wire::pack(&Note::Full { follows }, Message::new()))
    }

    fn lost(&mut self, now: Time, rank: Rank, is_certain: bool, out: &mut Output) {
        if is_certain {
            self.has_ended(rank);
        } else if self.has_in_view(rank) {
            self.lost_touch.insert(rank);
        }
        self.joiners.retain(|joiner| joiner.rank != rank);
        if self.asked == Some(rank) {
            self.ask_again(now, out);
        }
        if self.has_in_view(rank) {
            self.suspects.insert(rank);
            self.is_shaken |= self.is_inside();
        } else if self.status == Status::Joining {
            self.suspects.insert(rank);
        }
        self.change_lost(now, rank, out);
        self.consider_change(now, out);
        self.settle(now, out);
    }

    fn flush(&mut self, _now: Time, out: &mut Output) {
        self.flush_requests(out);
        self.flush_report(out);
        self.flush_order(out);
    }

    fn deadline(&self) -> Option<Time> {
        let give_up = self.stuck_since.map(|since| since + self.give_up_after());
        [self.change_at, self.ask_at, self.reporting.at, give_up]
            .into_iter()
            .flatten()
            .min()
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if is_due(self.stuck_since.map(|since| since + self.give_up_after())) {
            self.give_up(out);
        }
        if is_due(self.ask_at) {
            self.ask_again(now, out);
        }
        if is_due(self.reporting.at) {
            self.report_delivered(out);
        }
        if is_due(self.change_at) {
            self.begin_change(now, out);
        }
        self.settle(now, out);
        self.flush(now, out);
        self.tell_order(out);
    }

    fn last_decided(&self) -> Option<&View> {
        self.known
            .as_ref()
            .or(self.begun_by.as_ref())
            .map(|decision| &decision.next)
    }

    #[cfg(feature = "mutants")]
    fn mutate(&mut self, fault: Fault) {
        self.fault = fault;
    }
}

impl Sequencer {
    /// Returns whether this process is in `view`.
    fn is_inside(&self) -> bool {
        matches!(
            self.status,
            Status::Member | Status::Leaving | Status::Keeper
        )
    }

    /// Returns the place in the order of the last event that this member was told of. A view's
    /// number counts the views up to it, so no other member need be asked.
    fn place(&self) -> u64 {
        let miscounts = self.fault.is(Mutant::MiscountsViews) && !self.is_first();
        self.log.delivered + self.view.number - u64::from(miscounts)
    }

    fn is_first(&self) -> bool {
        self.is_inside() && self.view.members.first() == Some(&self.me)
    }

    /// Returns whether this process may collect the members of its last view although it is none of
    /// them. That holds if no process is known to have gone on.
    fn is_registrar(&self) -> bool {
        !self.is_inside()
            && self.known.is_none()
            && (self.view.number > 0 || self.myself.is_founder)
    }

    fn first(&self) -> Option<Rank> {
        self.view.ranks().next().filter(|_| self.view.number > 0)
    }

    /// Returns whether orders are taken: no coordinator has stopped the view.
    fn is_running(&self) -> bool {
        let is_stopped = self.promised.is_some() && !self.fault.is(Mutant::OrdersAfterPromise);
        self.is_inside() && !is_stopped
    }

    /// Returns whether a rank is in the view. Each of its members has a count. Before the first
    /// view they are the founders.
    fn has_in_view(&self, rank: Rank) -> bool {
        match self.view.number {
            0 => rank < self.myself.size,
            _ => self.counts.contains_key(&rank),
        }
    }

    fn give_up_after(&self) -> Duration {
        let patience = self.myself.silence * 6;
        match self.status {
            // Each of them may have to be asked.
            Status::Joining => patience + self.myself.silence / 2 * self.myself.size,
            _ => patience,
        }
    }

    /// Takes this process's notes to itself, until none is left.
    fn settle(&mut self, now: Time, out: &mut Output) {
        loop {
            while let Some((note, body)) = self.to_self.pop_front() {
                let taken = self.take(now, self.me.rank, note, body, out);
                debug_assert!(taken.is_ok(), "a note to oneself is well formed");
            }
            self.leave_if_done(out);
            if self.comes_back && matches!(self.status, Status::Outside | Status::Keeper) {
                self.comes_back = false;
                self.ask_to_join(now, out);
            }
            if self.to_self.is_empty() {
                return;
            }
        }
    }

    /// Returns the number of the last known view.
    fn latest(&self) -> u64 {
        self.known
            .as_ref()
            .map_or(self.view.number, |known| known.next.number)
    }
}

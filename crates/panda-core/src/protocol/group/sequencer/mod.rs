//! Order by a sequencer: one member, the first of the view, gives every message its place.
//!
//! After Kaashoek, *Group Communication in Distributed Computer Systems* (1992). Short messages go to the sequencer, which sends them on with their places
//! (PB: point to point, then broadcast); long ones go to everybody at once and the sequencer sends only the places (BB). Each member keeps the entries that
//! another may lack, its history. Links beneath are reliable and keep order, so gaps can only come from a link that began anew, and end with the view.
//!
//! Every change of members, joining included, is decided in one way (`change`): a coordinator stops the old view, finds the last place that any of them
//! delivered, gives all of them what they lack, and has a majority of the old view accept the next one, by ballots as in Lamport's *Paxos Made Simple* (2001). So no
//! two sets of members can go on from the same view, and what one survivor delivered all survivors deliver. Before the first view stands view 0, whose
//! members are the processes that the session began with and where nothing can be sent.

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

/// What this process is to the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    /// Nothing, or no more. It still takes part in the decision about a view that it was in.
    Outside,
    /// It has asked to be let in.
    Joining,
    Member,
    /// It leaves when all that it sent has its place.
    Leaving,
    /// It left as the last member, and keeps the group until another has joined.
    Keeper,
}

/// What follows a view whose order is not all here.
#[derive(Debug)]
enum Next {
    Step(Step),
    Whole(Proposal),
}

impl Next {
    /// The last place of the view before.
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
    /// The view that this process is in, or was in last and whose end it does not know.
    view: View,
    /// The decision that began `view`.
    begun_by: Option<Proposal>,
    /// A later view that this process is not in.
    known: Option<Proposal>,
    /// The other members' ranks.
    others: Arc<[Rank]>,
    log: Log,
    /// The number of each member's last message that was delivered.
    counts: HashMap<Rank, u64>,
    sending: sending::Sending,
    sequencing: order::Sequencing,
    reporting: deliver::Reporting,
    /// Long messages that came before their places, by sender and number.
    bodies: hold_back::Spread,
    /// The greatest ballot that this process has promised to take part in: while there is one, the view stands still.
    promised: Option<Ballot>,
    /// What it accepted last, which may be decided.
    accepted: Option<(Ballot, Step)>,
    change: Option<Change>,
    /// When to begin a change oneself, unless it is over by then.
    change_at: Option<Time>,
    /// Since when this member could not go on.
    stuck_since: Option<Time>,
    /// Found lost, and not heard of since: they may live.
    suspects: BTreeSet<Rank>,
    /// Those that this process has lost touch with in this view, whether they were heard of since or not: they may have gone on without it.
    lost_touch: BTreeSet<Rank>,
    /// Those that have ended for certain.
    dead: BTreeSet<Rank>,
    /// A member ended after this process had lost touch with it: with others it may have gone on without this one first.
    has_ended_apart: bool,
    /// A link to a member began anew, so something may be missing.
    is_shaken: bool,
    /// Who wants to be in the next view, and who does not.
    joiners: Vec<Member>,
    leavers: BTreeSet<Rank>,
    /// Whom this process has asked to let it in, and when to ask another.
    asked: Option<Rank>,
    ask_at: Option<Time>,
    /// How often this process has asked since it last learnt of a view.
    asks: usize,
    /// Those asked that follow too many groups to let it in, and how many each follows.
    full: BTreeMap<Rank, u64>,
    /// Decided, but entries of the view that ends are still missing here.
    next: Option<Next>,
    /// The view in which this member asked to leave.
    left_in: Option<u64>,
    /// Asked to join again while leaving.
    comes_back: bool,
    /// Notes of views that have not begun here.
    early: hold_back::Early,
    /// What this process says to itself.
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
        // Who wants to be let in may also call the others together itself.
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
    /// Whether this process is in `view`.
    fn is_inside(&self) -> bool {
        matches!(
            self.status,
            Status::Member | Status::Leaving | Status::Keeper
        )
    }

    fn is_first(&self) -> bool {
        self.is_inside() && self.view.members.first() == Some(&self.me)
    }

    /// Whether this process may call the members of its last view together although it is none of them: nobody is known to have gone on.
    fn is_registrar(&self) -> bool {
        !self.is_inside()
            && self.known.is_none()
            && (self.view.number > 0 || self.myself.is_founder)
    }

    fn first(&self) -> Option<Rank> {
        self.view.ranks().next().filter(|_| self.view.number > 0)
    }

    /// Whether orders are taken: no coordinator has stopped the view.
    fn is_running(&self) -> bool {
        let is_stopped = self.promised.is_some() && !self.fault.is(Mutant::OrdersAfterPromise);
        self.is_inside() && !is_stopped
    }

    /// Whether a rank is in the view. Each of its members has a count; before the first view stands that of the founders.
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

    /// Takes what this process said to itself, until nothing is left.
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

    /// The number of the last view that is known.
    fn latest(&self) -> u64 {
        self.known
            .as_ref()
            .map_or(self.view.number, |known| known.next.number)
    }
}

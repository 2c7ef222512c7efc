//! The groups that this process knows: its program's, and those heard of from peers.
//!
//! This process may have to report its knowledge of a group as long as the session lasts. That is
//! its promises and acceptances in changes of members, and the group's progress; or, on a platform
//! that orders, the members. So none of that is ever forgotten. Peers that name groups without end
//! are met otherwise. A group whose note has left no trace is dropped, and beyond a bound no more
//! foreign groups are followed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::envelope::Envelope;
use super::timers::Timers;
use super::{GroupId, Stack};
use crate::Rank;
use crate::message::{DecodeError, Message};
#[cfg(feature = "mutants")]
use crate::protocol::fault::Fault;
use crate::protocol::group::transfer::{self, Note, Transfer};
use crate::protocol::group::{GroupEvent, Member, Myself, Order, Output, Ticket, TransferId};
use crate::protocol::link::Links;
use crate::protocol::{Time, wire};

/// Memory of groups that only peers have named. Each is counted as a new one, with a member for
/// each founder.
const STRANGE_BYTES: usize = 128 << 20;
/// Least number of such groups, in any session.
const STRANGE_LEAST: usize = 1024;

/// The groups of one process.
#[derive(Debug)]
pub struct Groups<O> {
    known: BTreeMap<GroupId, Known<O>>,
    /// Number of strange groups.
    strange: usize,
    /// Groups that may hold messages back until they are flushed.
    touched: BTreeSet<GroupId>,
    timers: Timers<GroupId>,
    /// The other processes that are there, if the platform orders and this process came after the
    /// session's begin.
    here: BTreeSet<Rank>,
}

#[derive(Debug)]
struct Known<O> {
    order: O,
    tickets: Tickets,
    transfer: Transfer,
    /// Giver of a state that this process waits for, and watches.
    giver: Option<Rank>,
    /// Peers that the group watches.
    watched: Vec<Rank>,
    /// Whether it was heard of from peers only, and the program has not used it.
    is_strange: bool,
}

/// The tickets of one membership's own messages. They are delivered in the order of their sends, so
/// counts tell which one is delivered.
#[derive(Debug, Default)]
struct Tickets {
    sent: u64,
    delivered: u64,
    /// Tickets by the numbers of their messages. Most messages have none.
    waiting: VecDeque<(u64, Ticket)>,
}

impl Tickets {
    fn sent(&mut self, ticket: Option<Ticket>) {
        self.sent += 1;
        self.waiting
            .extend(ticket.map(|ticket| (self.sent, ticket)));
    }

    /// Follows an event of this membership, and returns the ticket of its message.
    fn follow(&mut self, event: &GroupEvent, own: Rank) -> Option<Ticket> {
        match event {
            GroupEvent::Message { from, .. } if *from == own => {
                self.delivered += 1;
                let is_next = |(number, _): &mut (u64, Ticket)| *number == self.delivered;
                let next = self.waiting.pop_front_if(is_next);
                next.map(|(_, ticket)| ticket)
            }
            GroupEvent::Message { .. } | GroupEvent::View { .. } => None,
            // No message of this membership is delivered any more.
            GroupEvent::Left | GroupEvent::Expelled { .. } => {
                *self = Self::default();
                None
            }
        }
    }
}

impl<O: Order> Known<O> {
    fn new(myself: Myself, here: &BTreeSet<Rank>, is_strange: bool) -> Self {
        let mut order = O::new(myself);
        here.iter().for_each(|rank| order.joined(*rank));
        Self {
            order,
            tickets: Tickets::default(),
            transfer: Transfer::new(myself),
            giver: None,
            watched: Vec::new(),
            is_strange,
        }
    }
}

impl<O: Order> Groups<O> {
    pub fn new(myself: Myself) -> Self {
        let founders = match Self::counts(myself) {
            true => 0..myself.size,
            false => 0..0,
        };
        Self {
            known: BTreeMap::new(),
            strange: 0,
            touched: BTreeSet::new(),
            timers: Timers::default(),
            here: founders.filter(|rank| *rank != myself.rank).collect(),
        }
    }

    /// Follows an event of a group. Returns the ticket of its message, and whether the event is for
    /// the program alone.
    pub fn follow_event(
        &mut self,
        id: GroupId,
        event: &GroupEvent,
        own: Rank,
    ) -> Option<(Option<Ticket>, bool)> {
        let known = self.known.get_mut(&id)?;
        let ticket = known.tickets.follow(event, own);
        Some((ticket, known.transfer.passes(event)))
    }

    /// Injects a fault into the transfer of a group's state.
    #[cfg(feature = "mutants")]
    pub fn mutate(&mut self, id: GroupId, fault: Fault) {
        if let Some(known) = self.known.get_mut(&id) {
            known.transfer.mutate(fault);
        }
    }

    /// Returns whether its groups need to know which processes are there.
    fn counts(myself: Myself) -> bool {
        O::NEEDS_ORDERED && !myself.is_founder
    }

    /// Notes that another process is there, or comes.
    pub fn joined(&mut self, rank: Rank, myself: Myself) {
        if Self::counts(myself) && rank != myself.rank && self.here.insert(rank) {
            let known = self.known.values_mut();
            known.for_each(|known| known.order.joined(rank));
        }
    }

    /// Notes that another process is gone.
    pub fn ended(&mut self, rank: Rank) {
        self.here.remove(&rank);
    }

    /// Returns all group ids.
    pub fn ids(&self) -> Vec<GroupId> {
        self.known.keys().copied().collect()
    }

    /// Returns when the first of them has something to do.
    pub fn deadline(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| at)
    }

    /// Takes those that have something to do now, each once.
    pub fn take_due(&mut self, now: Time) -> Vec<GroupId> {
        let mut due = Vec::new();
        while let Some((_, id)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.set(id, None);
            due.push(id);
        }
        due
    }

    /// Takes a group that may hold messages back.
    pub fn next_touched(&mut self) -> Option<GroupId> {
        self.touched.pop_first()
    }

    /// Sets the peers that a group watches, and returns the former ones.
    pub fn watches(&mut self, id: GroupId, ranks: Vec<Rank>) -> Vec<Rank> {
        match self.known.get_mut(&id) {
            Some(known) => std::mem::replace(&mut known.watched, ranks),
            None => ranks,
        }
    }

    /// Updates the timer of a group.
    fn follow(&mut self, id: GroupId) {
        let known = self.known.get(&id);
        let at = known.and_then(|known| {
            let of_each = [known.order.deadline(), known.transfer.deadline()];
            of_each.into_iter().flatten().min()
        });
        self.timers.set(id, at);
    }

    /// Returns a group that the program uses.
    fn own(&mut self, id: GroupId, myself: Myself) -> &mut Known<O> {
        let here = &self.here;
        let known = self.known.entry(id);
        let known = known.or_insert_with(|| Known::new(myself, here, false));
        self.strange -= usize::from(std::mem::take(&mut known.is_strange));
        known
    }

    /// Adds an unknown group; returns false if there are too many.
    fn hear_of(&mut self, id: GroupId, myself: Myself) -> bool {
        let of_one = size_of::<Known<O>>() + size_of::<Member>() * myself.size as usize;
        // If the platform orders, every process follows every group. Otherwise it would not know
        // the members when it joins.
        if !O::NEEDS_ORDERED && self.strange >= STRANGE_LEAST.max(STRANGE_BYTES / of_one) {
            return false;
        }
        self.strange += 1;
        // The others do not matter to a group that is forgotten at once unless this process is in
        // it.
        let nobody = BTreeSet::new();
        self.known.insert(id, Known::new(myself, &nobody, true));
        true
    }

    /// Forgets a strange group that has left no trace, and returns the peers that it watched. A
    /// group that has promised, accepted, learnt or begun anything stays.
    fn forget_if_pristine(&mut self, id: GroupId) -> Vec<Rank> {
        let is_pristine = |known: &Known<O>| known.is_strange && known.order.is_pristine();
        if !self.known.get(&id).is_some_and(is_pristine) {
            return Vec::new();
        }
        self.strange -= 1;
        self.touched.remove(&id);
        self.timers.set(id, None);
        self.known
            .remove(&id)
            .map_or(Vec::new(), |known| known.watched)
    }
}

impl<L: Links, O: Order> Stack<L, O> {
    /// Calls a function on a group that the program uses.
    pub fn group<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut O, Time, &mut Output) -> R,
    ) -> R {
        self.groups.own(id, self.myself);
        self.on_group(now, id, act).expect("it is known")
    }

    /// Joins a group. A program that `has_state` is asked to give snapshots and to install one. Its
    /// membership begins with a snapshot if the group has members.
    pub fn join_group(&mut self, now: Time, id: GroupId, has_state: bool) {
        let known = self.groups.own(id, self.myself);
        known.transfer.joins(has_state);
        self.on_group(now, id, |group, now, out| group.join(now, out));
    }

    /// Answers a [request for a snapshot](super::super::group::StateRequest::Snapshot), or says why
    /// there is none.
    pub fn give_state(
        &mut self,
        now: Time,
        id: GroupId,
        joiner: (Rank, TransferId),
        snapshot: Result<Message, String>,
    ) {
        self.transfer(now, id, |transfer, out| {
            transfer.give(joiner, snapshot, out);
        });
    }

    /// Calls a function on the transfer of a group's state, if the group is known.
    pub(super) fn transfer(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut Transfer, &mut transfer::Outcome),
    ) {
        let Some(known) = self.groups.known.get_mut(&id) else {
            return;
        };
        let mut out = transfer::Outcome::default();
        act(&mut known.transfer, &mut out);
        let giver = known.transfer.giver();
        let before = std::mem::replace(&mut known.giver, giver);
        if giver != before {
            giver.into_iter().for_each(|rank| self.watch(rank, now));
            before.into_iter().for_each(|rank| self.unwatch(rank));
        }
        self.transfer_outcome(now, id, out);
        self.groups.follow(id);
    }

    /// Takes a peer's note on the transfer of a group's state. A note on an unknown group is
    /// dropped.
    pub(super) fn state_message(
        &mut self,
        now: Time,
        id: GroupId,
        from: Rank,
        message: Message,
    ) -> Result<(), DecodeError> {
        let (note, body): (Note, Message) = wire::unpack(message)?;
        if self.groups.known.contains_key(&id) {
            self.transfer(now, id, |transfer, out| {
                transfer.receive(now, from, note, body, out);
            });
        } else if let Some(refusal) = note.refusal() {
            let envelope = Envelope::State { group: id };
            self.post(now, from, &envelope, wire::pack(&refusal, Message::new()));
        }
        Ok(())
    }

    /// Sends a message to the members of a group. Its ticket gets the place when it is delivered
    /// here, or learns that the membership ended first.
    pub fn send_to_group(
        &mut self,
        now: Time,
        id: GroupId,
        payload: Message,
        ticket: Option<Ticket>,
    ) {
        let known = self.groups.own(id, self.myself);
        if known.order.takes_messages() {
            known.tickets.sent(ticket);
            self.on_group(now, id, |group, now, out| group.send(now, payload, out));
        }
    }

    /// Calls a function on a group, if it is known.
    pub(super) fn on_group<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut O, Time, &mut Output) -> R,
    ) -> Option<R> {
        let result = self.have_group(now, id, act)?;
        self.groups.touched.insert(id);
        Some(result)
    }

    /// Does the same as [`on_group`](Self::on_group), for a group that holds nothing back
    /// afterwards.
    fn have_group<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut O, Time, &mut Output) -> R,
    ) -> Option<R> {
        let known = self.groups.known.get_mut(&id)?;
        let mut out = Output::default();
        let result = act(&mut known.order, now, &mut out);
        self.groups.follow(id);
        self.group_output(now, id, out);
        Some(result)
    }

    /// Sends the messages that a group holds back.
    pub(super) fn flush_group(&mut self, now: Time, id: GroupId) {
        self.have_group(now, id, |group, now, out| group.flush(now, out));
    }

    /// Takes a peer's message for a group.
    pub(super) fn group_message(
        &mut self,
        now: Time,
        id: GroupId,
        from: Rank,
        message: Message,
    ) -> Result<(), DecodeError> {
        let is_new = !self.groups.known.contains_key(&id);
        if is_new && !self.groups.hear_of(id, self.myself) {
            let strange = self.groups.strange;
            if let Some(refusal) = O::refusal(&message, strange) {
                self.post(now, from, &Envelope::Group { group: id }, refusal);
            }
            return Err(too_many(strange));
        }
        let take = |group: &mut O, now, out: &mut Output| {
            let taken = group.receive(now, from, message, out);
            (taken, group.leads())
        };
        let (taken, leads) = self.on_group(now, id, take).unwrap_or((Ok(()), false));
        self.led += u64::from(leads);
        if is_new {
            let watched = self.groups.forget_if_pristine(id);
            watched.into_iter().for_each(|rank| self.unwatch(rank));
        }
        taken
    }
}

#[cold]
fn too_many(strange: usize) -> DecodeError {
    DecodeError::Value {
        wanted: "message of a group",
        reason: format!(
            "it is of a new group, and this process follows {strange} already that it is not in"
        ),
    }
}

//! Which groups this process knows: those that its program has had to do with, and those that it has heard of from peers.
//!
//! What it knows of a group it may have to tell others as long as the session lasts: what it promised and accepted when its members changed, how far it was told that the group has come,
//! or, on a platform that orders, who is in it. So nothing of that is ever forgotten. That peers name groups without end is met otherwise: of a group whose note has left no trace
//! nothing is kept, and beyond a bound no more are heard of that this process has had nothing to do with itself.

use std::collections::{BTreeMap, BTreeSet};

use super::envelope::Envelope;
use super::timers::Timers;
use super::{GroupId, Stack};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::Time;
use crate::protocol::group::{Member, Myself, Order, Output};
use crate::protocol::link::Links;

/// Memory that groups may take that peers alone have named, each about as much as a new one, with a member for each process that the session began with.
const STRANGE_BYTES: usize = 128 << 20;
/// So many are heard of in any session.
const STRANGE_LEAST: usize = 1024;

/// The groups of one process.
#[derive(Debug)]
pub struct Groups<O> {
    known: BTreeMap<GroupId, Known<O>>,
    /// How many of them are strange.
    strange: usize,
    /// Those that may hold something back until they are flushed.
    touched: BTreeSet<GroupId>,
    timers: Timers<GroupId>,
    /// Where the platform orders, and this process came when the session had begun: the others that are there.
    here: BTreeSet<Rank>,
}

#[derive(Debug)]
struct Known<O> {
    order: O,
    /// Whom it has watched.
    watched: Vec<Rank>,
    /// Heard of from peers, while the program has had nothing to do with it.
    is_strange: bool,
}

impl<O: Order> Known<O> {
    fn new(myself: Myself, here: &BTreeSet<Rank>, is_strange: bool) -> Self {
        let mut order = O::new(myself);
        here.iter().for_each(|rank| order.joined(*rank));
        Self {
            order,
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

    /// Whether its groups want to know who is there.
    fn counts(myself: Myself) -> bool {
        O::NEEDS_ORDERED && !myself.is_founder
    }

    /// Another process is there, or comes.
    pub fn joined(&mut self, rank: Rank, myself: Myself) {
        if Self::counts(myself) && rank != myself.rank && self.here.insert(rank) {
            let known = self.known.values_mut();
            known.for_each(|known| known.order.joined(rank));
        }
    }

    /// Another process is there no more.
    pub fn ended(&mut self, rank: Rank) {
        self.here.remove(&rank);
    }

    /// All of them.
    pub fn ids(&self) -> Vec<GroupId> {
        self.known.keys().copied().collect()
    }

    /// When the first of them has something to do.
    pub fn deadline(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| at)
    }

    /// Those that have something to do now, each once.
    pub fn take_due(&mut self, now: Time) -> Vec<GroupId> {
        let mut due = Vec::new();
        while let Some((_, id)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.timers.set(id, None);
            due.push(id);
        }
        due
    }

    /// One that may hold something back.
    pub fn next_touched(&mut self) -> Option<GroupId> {
        self.touched.pop_first()
    }

    /// A group has these watched from now on; whom it had before.
    pub fn watches(&mut self, id: GroupId, ranks: Vec<Rank>) -> Vec<Rank> {
        match self.known.get_mut(&id) {
            Some(known) => std::mem::replace(&mut known.watched, ranks),
            None => ranks,
        }
    }

    /// Follows what a group waits for.
    fn follow(&mut self, id: GroupId) {
        let at = self.known.get(&id).and_then(|known| known.order.deadline());
        self.timers.set(id, at);
    }

    /// Makes a group known that is not; false if that is one too many.
    fn hear_of(&mut self, id: GroupId, myself: Myself) -> bool {
        let of_one = size_of::<Known<O>>() + size_of::<Member>() * myself.size as usize;
        // Where the platform orders, every process follows every group: one that did not would not know its members when it joins.
        if !O::NEEDS_ORDERED && self.strange >= STRANGE_LEAST.max(STRANGE_BYTES / of_one) {
            return false;
        }
        self.strange += 1;
        // Nor who is there matters to one that is forgotten at once unless this process is in it.
        let nobody = BTreeSet::new();
        self.known.insert(id, Known::new(myself, &nobody, true));
        true
    }

    /// Forgets a strange group if nothing has come of it; whom it had watched. A group that has promised, accepted, learnt or begun anything is not forgotten.
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
    /// Does something with a group that the program has to do with.
    pub fn group<R>(
        &mut self,
        now: Time,
        id: GroupId,
        act: impl FnOnce(&mut O, Time, &mut Output) -> R,
    ) -> R {
        let myself = self.myself;
        let Groups { known, here, .. } = &mut self.groups;
        let known = known.entry(id);
        let known = known.or_insert_with(|| Known::new(myself, here, false));
        self.groups.strange -= usize::from(std::mem::take(&mut known.is_strange));
        self.on_group(now, id, act).expect("it is known")
    }

    /// Does something with a group, if it is known.
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

    /// The same, where it holds nothing back afterwards.
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

    /// Sends what a group holds back.
    pub(super) fn flush_group(&mut self, now: Time, id: GroupId) {
        self.have_group(now, id, |group, now, out| group.flush(now, out));
    }

    /// A peer's message for a group.
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

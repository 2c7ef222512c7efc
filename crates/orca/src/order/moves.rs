//! Objects move between owners and replication: by their usage, or as a program wishes.

use antiphon_panda::Rank;
use bytes::Bytes;

use super::Order;
use crate::cell::Outcome;
use crate::entry::{Answer, Copy, Effect, Entry, Ticket};
use crate::error::Error;
use crate::event::EventKind;
use crate::fault::Mutant;
use crate::machine::Machine;
use crate::placement::{Location, Placement, Usage, in_words};

impl Machine {
    /// Checks whether a replicated object should have an owner. All machines decide alike.
    pub(super) fn reconsider(&self, entry: &Entry, copy: &mut Copy) -> Vec<Effect> {
        let is_asked = !copy.inquiry.is_empty();
        if copy.wanted != Placement::Adaptive || is_asked || !copy.usage.is_due() {
            return Vec::new();
        }
        copy.usage.look();
        if copy.usage.decide(copy.location, self.costs()).is_none() {
            return Vec::new();
        }
        // Machines that only read have not reported so far. They are asked before the object leaves
        // them.
        copy.patience.1 += 1;
        if copy.patience.1 < copy.patience.0 {
            return Vec::new();
        }
        copy.inquiry = self.common.lock().machines.keys().copied().collect();
        match copy.inquiry.contains(&self.rank) {
            true => {
                let (object, reads) = (entry.id, entry.take_reads());
                let order = Box::new(Order::Reads { object, reads });
                vec![Effect::Send(order, Bytes::new())]
            }
            false => Vec::new(),
        }
    }

    /// Records that a machine has reported its reads of an object, or never will.
    pub(super) fn end_inquiry(&self, entry: &Entry, copy: &mut Copy, machine: Rank) -> Vec<Effect> {
        if !copy.inquiry.remove(&machine) || !copy.inquiry.is_empty() {
            return Vec::new();
        }
        copy.usage.look();
        match copy.usage.decide(copy.location, self.costs()) {
            Some((Location::Owned(owner), why)) if self.is_machine(owner) => {
                copy.patience = (1, 0);
                self.give_to(entry, copy, owner, why)
            }
            _ => {
                copy.patience = ((copy.patience.0 * 2).min(64), 0);
                Vec::new()
            }
        }
    }

    /// Gives a replicated object to an owner, which already has its copy.
    fn give_to(&self, entry: &Entry, copy: &mut Copy, owner: Rank, why: String) -> Vec<Effect> {
        copy.location = Location::Owned(owner);
        copy.generation += 1;
        copy.late_write = 0;
        self.note_move(entry, copy, why);
        if owner != self.rank {
            copy.state = None;
        }
        if self.fault.is(Mutant::KeepsBlockedAtMove) {
            return Vec::new();
        }
        let is_everywhere = |it: &Answer| matches!(it, Answer::Origin(..));
        let queue = copy.queue(entry.object_type, is_everywhere);
        let mut effects = copy.end_all(&Outcome::Again);
        self.await_returns(copy, queue);
        effects.extend(self.follow_wish(entry, copy));
        effects
    }

    /// Records a move.
    pub(super) fn note_move(&self, entry: &Entry, copy: &mut Copy, why: String) {
        let name = || format!("{} {why}", entry.name());
        self.observe(self.observed(), EventKind::Move, None, name);
        copy.moved(why);
    }

    /// Does this machine's part to fulfil a program's wish for an object's location.
    pub fn follow_wish(&self, entry: &Entry, copy: &mut Copy) -> Vec<Effect> {
        if let Some(error) = entry.unusable(copy) {
            return copy.end_wishes(&Outcome::Failed(error));
        }
        let done = Outcome::Done(Bytes::new());
        let why = |to| format!("{}: as the program says", in_words(to));
        match (copy.wanted, copy.location) {
            (Placement::Adaptive, _) | (Placement::Replicated, Location::Replicated) => {
                copy.end_wishes(&done)
            }
            (Placement::Owned(to), Location::Owned(owner)) if to == owner => copy.end_wishes(&done),
            (Placement::Owned(to), Location::Replicated) => {
                self.give_to(entry, copy, to, why(Location::Owned(to)))
            }
            (wanted, Location::Owned(owner)) if owner == self.rank && !copy.is_moving => {
                let to = match wanted {
                    Placement::Owned(to) => Location::Owned(to),
                    _ => Location::Replicated,
                };
                self.begin_move(entry, copy, to, why(to))
            }
            _ => Vec::new(),
        }
    }

    /// At the owner: sends the state to another location. Until it has arrived, writes wait.
    pub fn begin_move(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        to: Location,
        why: String,
    ) -> Vec<Effect> {
        let encoded = copy
            .state
            .as_deref()
            .map(|state| entry.object_type.encode(state));
        let Some(Ok(state)) = encoded else {
            return copy.end_wishes(&Outcome::Failed(Error::Decode(format!(
                "the state of {} cannot be encoded",
                entry.name()
            ))));
        };
        copy.is_moving = true;
        let order = Order::Install {
            object: entry.id,
            generation: copy.generation,
            to,
            late_write: copy.late_write,
            queue: copy.queue(entry.object_type, |_| true),
            usage: Box::new(copy.usage.clone()),
            why,
        };
        vec![Effect::Send(Box::new(order), state.into())]
    }

    /// Waits for the invocations that were blocked where the object came from, if it is here now.
    fn await_returns(&self, copy: &mut Copy, queue: Vec<Ticket>) {
        if copy.state.is_some() && !self.fault.is(Mutant::ForgetsTurns) {
            let comes = |it: &Ticket| self.is_member(it.0) && !copy.given_up.contains(it);
            let coming = queue.into_iter().filter(comes);
            copy.returning = coming.map(|ticket| (ticket, None)).collect();
        }
    }

    /// Stops waiting for some invocations. Returns the effects, and those of them that were here.
    pub(super) fn give_up(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        is_it: impl Fn(Ticket) -> bool,
    ) -> (Vec<Effect>, Vec<Answer>) {
        let (awaited, mut gone) = (copy.returning.len(), Vec::new());
        for (ticket, invocation) in std::mem::take(&mut copy.returning) {
            match is_it(ticket) {
                true => gone.extend(invocation.map(|it| it.answer)),
                false => copy.returning.push_back((ticket, invocation)),
            }
        }
        let is_ordered = copy.location == Location::Replicated;
        let effects = match awaited > copy.returning.len() && copy.let_return() {
            true => self.retry(entry, copy, is_ordered),
            false => Vec::new(),
        };
        (effects, gone)
    }

    fn is_member(&self, rank: Rank) -> bool {
        self.common.lock().members.contains(&rank)
    }

    pub(super) fn on_install(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        from: Rank,
        (generation, to, late_write): (u64, Location, u64),
        (queue, usage, why): (Vec<Ticket>, Usage, String),
        body: &[u8],
    ) -> Vec<Effect> {
        if copy.location != Location::Owned(from) || copy.generation != generation {
            return Vec::new();
        }
        if from == self.rank {
            copy.is_moving = false;
        }
        let is_stale = copy.late_write != late_write && !self.fault.is(Mutant::InstallsStaleState);
        let is_possible = match to {
            Location::Owned(owner) => self.is_machine(owner),
            _ => true,
        };
        if is_stale || !is_possible || copy.broken.is_some() {
            let again = |answer| Effect::Answer(answer, Outcome::Again);
            let mut effects: Vec<_> = copy.held.drain(..).map(again).collect();
            if !is_possible {
                copy.wanted = Placement::Adaptive;
            }
            effects.extend(self.follow_wish(entry, copy));
            return effects;
        }
        copy.location = to;
        copy.generation += 1;
        copy.late_write = 0;
        copy.usage = usage;
        copy.patience = (1, 0);
        self.note_move(entry, copy, why);
        let has_copy = match to {
            Location::Owned(owner) => owner == self.rank,
            _ => true,
        };
        if !has_copy {
            copy.state = None;
        } else if copy.state.is_none() {
            match entry.object_type.decode(body) {
                Ok(state) => copy.state = Some(state),
                Err(error) => copy.broken = Some(error.to_string()),
            }
        }
        let mut effects = match self.fault.is(Mutant::KeepsBlockedAtMove) {
            true => Vec::new(),
            false => copy.end_all(&Outcome::Again),
        };
        self.await_returns(copy, queue);
        effects.extend(self.follow_wish(entry, copy));
        effects
    }
}

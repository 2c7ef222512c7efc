//! Waiting for what other processes bring about, and watching them meanwhile: who waits for one that is lost is told so, by name.

use std::time::{Duration, Instant};

use super::core::Core;
use super::engine::{Ask, Awaited, Interest, Until, WaitsFor};
use super::room::Rooms;
use super::{Arrived, Session, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::Answer;
use crate::protocol::requests::{Failure, RequestId};

/// How long to wait for a peer before it is asked for signs of life: what comes sooner does without. Timers that go off once in so long cost waits that are short little.
pub const UNWATCHED: Duration = Duration::from_millis(8);

/// A peer, and what had been lost when this began: a loss that was known before is no answer to what is asked of the peer now.
struct Lookout<'a> {
    core: &'a Core,
    peer: Rank,
    losses: u64,
}

impl Lookout<'_> {
    #[inline]
    fn why_lost(&self) -> Option<String> {
        self.core.desk.lost_since(self.peer, self.losses)
    }

    #[inline]
    fn is_lost(&self) -> bool {
        self.why_lost().is_some()
    }

    /// An error if the peer was found lost, or if the session is over: peers may have left it when they heard of that.
    fn outcome(&self) -> Result<(), Error> {
        self.core.check()?;
        let why = self.why_lost();
        why.map_or(Ok(()), |why| Err(self.core.lost(self.peer, why)))
    }
}

/// What a peer brings about, or its loss ends.
struct Watched<'a> {
    awaited: &'a mut dyn Awaited,
    lookout: &'a Lookout<'a>,
}

impl Awaited for Watched<'_> {
    fn holds(&mut self) -> bool {
        self.awaited.holds() || self.lookout.is_lost()
    }

    fn what(&self) -> WaitsFor {
        self.awaited.what()
    }

    fn take(&mut self, port: u64, arrived: Arrived) -> Option<Arrived> {
        self.awaited.take(port, arrived)
    }

    fn take_short(&mut self, port: u64, from: Rank, tag: u32, payload: &[u8]) -> bool {
        self.awaited.take_short(port, from, tag, payload)
    }

    fn take_answer(
        &mut self,
        from: Rank,
        id: RequestId,
        outcome: Result<Message, Failure>,
    ) -> Option<Result<Message, Failure>> {
        self.awaited.take_answer(from, id, outcome)
    }

    fn take_short_answer(
        &mut self,
        from: Rank,
        id: RequestId,
        kind: Answer,
        payload: &[u8],
    ) -> bool {
        self.awaited.take_short_answer(from, id, kind, payload)
    }
}

impl Session {
    /// Why a process is lost to this one; nothing if it is not, as far as is known. Only processes that something waits for are watched.
    #[must_use]
    pub fn why_lost(&self, rank: Rank) -> Option<String> {
        self.core().desk.why_lost(rank)
    }
}

impl Core {
    fn look_out_for(&self, peer: Rank) -> Lookout<'_> {
        // Whose messages are not heard any more is waited for in vain, however long that is known.
        let losses = match self.desk.mail.is_barred(peer) {
            true => 0,
            false => self.desk.losses(),
        };
        Lookout {
            core: self,
            peer,
            losses,
        }
    }

    /// Waits until something holds, which in words is `what`, or a time has passed; whether it holds.
    pub(super) fn wait(
        &self,
        what: &'static str,
        is_done: impl FnMut() -> bool,
        until: Option<Instant>,
    ) -> bool {
        let engine = &self.engine;
        engine.wait(Interest::Change, &mut Until(what, is_done), until)
    }

    /// Waits until there is room on the way to a peer, if this thread may wait.
    #[inline]
    pub(super) fn wait_for_room(
        &self,
        to: Rank,
        has_room: impl Fn(&Rooms) -> bool,
    ) -> Result<(), Error> {
        match has_room(&self.desk.rooms) {
            true => Ok(()),
            false => self.wait_until_there_is_room(to, has_room),
        }
    }

    #[cold]
    fn wait_until_there_is_room(
        &self,
        to: Rank,
        has_room: impl Fn(&Rooms) -> bool,
    ) -> Result<(), Error> {
        if upcall::is_running() || to == self.rank {
            return Ok(());
        }
        let has_room = || has_room(&self.desk.rooms);
        let lookout = self.look_out_for(to);
        let is_over = || has_room() || lookout.is_lost();
        let mut is_over = Until("room for what it sends", is_over);
        let is_held = self.wait_watching(to, Interest::Change, &mut is_over, None);
        lookout.outcome()?;
        if is_held { Ok(()) } else { Err(Error::Over) }
    }

    /// Waits until something holds that a peer brings about. It is watched if that takes longer than a moment.
    pub(super) fn wait_for_peer(
        &self,
        peer: Rank,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> Result<(), Error> {
        let lookout = self.look_out_for(peer);
        let mut watched = Watched {
            awaited,
            lookout: &lookout,
        };
        self.wait_and_watch(peer, Interest::Change, &mut watched, until);
        lookout.outcome()
    }

    /// Waits until something holds that any other process brings about, as long as there is one. Each watches the next that is left, so that many who wait cost no more signs of
    /// life than there are processes.
    pub(super) fn wait_for_anybody(
        &self,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> Result<(), Error> {
        while let Some(next) = self.next_living() {
            match self.wait_for_peer(next, awaited, until) {
                Err(Error::Lost { .. }) => {}
                outcome => return outcome,
            }
        }
        let last = self.desk.last_lost();
        last.map_or(Ok(()), |(rank, why)| Err(self.lost(rank, why)))
    }

    /// Waits until something holds that a peer brings about or that its loss ends. The peer is watched if that takes longer than a moment.
    pub(super) fn wait_and_watch(
        &self,
        peer: Rank,
        interest: Interest,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) {
        let soon = self.engine.now() + UNWATCHED;
        let first = until.map_or(soon, |until| until.min(soon));
        if !self.engine.wait(interest, awaited, Some(first)) {
            self.wait_watching(peer, interest, awaited, until);
        }
    }

    /// The same, and the peer is watched from the beginning; whether it holds.
    fn wait_watching(
        &self,
        peer: Rank,
        interest: Interest,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> bool {
        self.ask(Ask::Watch(peer));
        let is_held = self.engine.wait(interest, awaited, until);
        self.ask(Ask::Unwatch(peer));
        is_held
    }

    /// The next process after this one that is not lost.
    fn next_living(&self) -> Option<Rank> {
        let (own, size) = (self.rank, self.desk.size());
        let others = (1..size).map(|step| (own + step) % size);
        let mut living = others.filter(|rank| !self.desk.is_lost(*rank));
        living.next()
    }
}

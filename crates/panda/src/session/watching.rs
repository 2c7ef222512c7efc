//! Waiting for what other processes bring about, and watching them meanwhile: who waits for one that is lost is told so, by name.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::core::Core;
use super::engine::{Ask, Awaited, Interest, Until, WaitsFor};
use super::flow_control::FlowControl;
use super::{Session, upcall};
use crate::error::Error;
use crate::platform::Rank;
use crate::protocol::{Incoming, PeerEvent};

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
        self.core.dispatcher.lost_since(self.peer, self.losses)
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

/// What peers bring about, or something else ends, as their loss does.
struct Watched<'a, F> {
    awaited: &'a mut dyn Awaited,
    is_over: F,
}

impl<F: Fn() -> bool> Awaited for Watched<'_, F> {
    fn holds(&mut self) -> bool {
        self.awaited.holds() || (self.is_over)()
    }

    fn what(&self) -> WaitsFor {
        self.awaited.what()
    }

    fn take(&mut self, incoming: &mut Incoming<'_>) -> bool {
        self.awaited.take(incoming)
    }
}

impl Session {
    /// Why a process is lost to this one; nothing if it is not, as far as is known. Only processes that something waits for are watched.
    #[must_use]
    pub fn why_lost(&self, rank: Rank) -> Option<String> {
        self.core().dispatcher.why_lost(rank)
    }

    /// Registers `upcall` to be told of all other processes of the session, in place of an earlier
    /// upcall. It must not block.
    ///
    /// The events of one process alternate: [`PeerEvent::Joined`], then [`PeerEvent::Left`] or
    /// [`PeerEvent::Lost`], then `Joined` again if another process takes the rank, or if the lost
    /// one is heard of again. The upcall is first told of all that is known: `Joined` for every
    /// process that this one has known of, and how it went if it is gone. What a process has sent
    /// to ports is handed over before its `Left` or `Lost`.
    ///
    /// From now on this process asks all others for signs of life, later ones included, when it has
    /// heard nothing of them for a quarter of the time that peers may be silent. Without such an
    /// upcall, only processes that something waits for are asked.
    ///
    /// # Errors
    /// The session is over.
    #[track_caller]
    pub fn on_peer(
        &self,
        upcall: impl FnMut(Rank, PeerEvent) + Send + 'static,
    ) -> Result<(), Error> {
        let place = Location::caller();
        let core = self.core();
        core.check()?;
        let number = core.dispatcher.on_peer(place, Box::new(upcall));
        core.ask(Ask::FollowPeers(number));
        core.engine.ensure_progress_fiber();
        Ok(())
    }
}

impl Core {
    fn look_out_for(&self, peer: Rank) -> Lookout<'_> {
        // Whose messages are not heard any more is waited for in vain, however long that is known.
        let losses = match self.dispatcher.mailbox.is_barred(peer) {
            true => 0,
            false => self.dispatcher.losses(),
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
        has_room: impl Fn(&FlowControl) -> bool,
    ) -> Result<(), Error> {
        match has_room(&self.dispatcher.flow_control) {
            true => Ok(()),
            false => self.wait_until_there_is_room(to, has_room),
        }
    }

    #[cold]
    fn wait_until_there_is_room(
        &self,
        to: Rank,
        has_room: impl Fn(&FlowControl) -> bool,
    ) -> Result<(), Error> {
        if upcall::is_running() || to == self.rank {
            return Ok(());
        }
        let has_room = || has_room(&self.dispatcher.flow_control);
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
        let is_over = || lookout.is_lost();
        let mut watched = Watched { awaited, is_over };
        self.wait_and_watch(peer, Interest::Change, &mut watched, until);
        lookout.outcome()
    }

    /// Waits until something holds that any other process brings about, as long as there is one. Each watches the next that is left, so that many who wait cost no more signs of
    /// life than there are processes. Where none is left, those that were lost before this began have a silence more to be heard of, as where one waits for them by their ranks.
    pub(super) fn wait_for_anybody(
        &self,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> Result<(), Error> {
        let (losses, mut lost) = (self.dispatcher.losses(), None);
        loop {
            if let Some(next) = self.next_living(lost) {
                match self.wait_for_peer(next, awaited, until) {
                    // The caller is told of it if it is the last, though it may be back.
                    Err(Error::Lost { rank, .. }) => lost = Some(rank),
                    outcome => return outcome,
                }
                continue;
            }
            let silent = self.silent(losses);
            if silent.is_empty() {
                let last = self.dispatcher.last_lost();
                return last.map_or(Ok(()), |(rank, why)| Err(self.lost(rank, why)));
            }
            if !self.wait_for_the_silent(&silent, losses, awaited, until) {
                return self.check();
            }
        }
    }

    /// Waits until something holds that processes bring about that are lost, or one of them is back, or all have been found lost once more since there were so many losses; whether it is one of these.
    fn wait_for_the_silent(
        &self,
        silent: &[Rank],
        losses: u64,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> bool {
        let dispatcher = &self.dispatcher;
        let is_back = |rank: &Rank| !dispatcher.is_lost(*rank);
        let is_again = |rank: &Rank| dispatcher.lost_since(*rank, losses).is_some();
        let is_over = || silent.iter().any(is_back) || silent.iter().all(is_again);
        let mut watched = Watched { awaited, is_over };
        (silent.iter()).for_each(|rank| self.ask(Ask::Watch(*rank)));
        self.engine.wait(Interest::Change, &mut watched, until);
        (silent.iter()).for_each(|rank| self.ask(Ask::Unwatch(*rank)));
        is_over()
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

    /// The next process after this one that is not lost, but for one.
    fn next_living(&self, except: Option<Rank>) -> Option<Rank> {
        let is_living = |rank: &Rank| Some(*rank) != except && !self.dispatcher.is_lost(*rank);
        self.others().find(is_living)
    }

    /// Where none is living, the processes that were not found lost since there were so many losses. Who is barred is not heard, whatever it says.
    fn silent(&self, losses: u64) -> Vec<Rank> {
        let dispatcher = &self.dispatcher;
        let is_new = |rank| dispatcher.lost_since(rank, losses).is_some();
        let is_silent = |rank: &Rank| !is_new(*rank) && !dispatcher.mailbox.is_barred(*rank);
        self.others().filter(is_silent).collect()
    }

    /// The other processes, from the next after this one.
    fn others(&self) -> impl Iterator<Item = Rank> {
        let (own, size) = (self.rank, self.dispatcher.size());
        (1..size).map(move |step| (own + step) % size)
    }
}

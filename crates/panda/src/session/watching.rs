//! Waits for other processes, which are watched meanwhile. If the awaited process is lost, the wait
//! ends with an error that names it.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::core::Core;
use super::engine::{Ask, Awaited, Interest, Until, WaitsFor};
use super::flow_control::FlowControl;
use super::{Session, upcall};
use crate::error::Error;
use crate::platform::Rank;
use crate::protocol::{Incoming, PeerEvent};

/// Time to wait for a peer before it is asked for signs of life. Quicker answers need none. Timers
/// this far apart cost short waits little.
pub const UNWATCHED: Duration = Duration::from_millis(8);

/// A peer, and the number of losses when its watch began. An earlier loss must not end a new
/// request to the peer.
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

    /// Returns an error if the peer was found lost, or if the session is over. Peers may have left
    /// it when they heard of that.
    fn outcome(&self) -> Result<(), Error> {
        self.core.check()?;
        let why = self.why_lost();
        why.map_or(Ok(()), |why| Err(self.core.lost(self.peer, why)))
    }
}

/// A condition that peers bring about, or that another event ends, such as their loss.
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
    /// Returns why a process is lost to this one; `None` if it is not, as far as known. Only
    /// processes that a thread waits for are watched.
    #[must_use]
    pub fn why_lost(&self, rank: Rank) -> Option<String> {
        self.core().dispatcher.why_lost(rank)
    }

    /// Registers `upcall` for events of all other processes of the session, in place of an earlier
    /// upcall. It must not block.
    ///
    /// The events of one process alternate: [`PeerEvent::Joined`], then [`PeerEvent::Left`] or
    /// [`PeerEvent::Lost`]. `Joined` follows again if another process takes the rank, or if the
    /// lost one is heard of again.
    ///
    /// The upcall first gets all that is known. That is `Joined` for every process known so far,
    /// and its end if it is gone. Messages of a process to ports are handed over before its `Left`
    /// or `Lost`.
    ///
    /// From now on this process asks all others, later ones included, for signs of life. It does so
    /// after a silence of a quarter of the time that peers may be silent. Without such an upcall,
    /// it asks only processes that a thread waits for.
    ///
    /// # Errors
    ///
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
        // A wait for a barred peer is vain, however long the bar is known. So losses count from 0.
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

    /// Waits until something holds or a time has passed; returns whether it holds. `what` describes
    /// it.
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

    /// Waits until something holds that a peer brings about. The peer is watched if that takes
    /// longer than a moment.
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

    /// Waits until something holds that any other process brings about, as long as there is one.
    ///
    /// Each process watches the next one that is left. So many waiting processes cost no more signs
    /// of life than there are processes. If none is left, the processes lost before the wait get
    /// one more silence to be heard of, as in a wait by rank.
    pub(super) fn wait_for_anybody(
        &self,
        awaited: &mut dyn Awaited,
        until: Option<Instant>,
    ) -> Result<(), Error> {
        let (losses, mut lost) = (self.dispatcher.losses(), None);
        loop {
            if let Some(next) = self.next_living(lost) {
                match self.wait_for_peer(next, awaited, until) {
                    // If it is the last process, the caller gets its loss, though it may be back.
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

    /// Waits for something that lost processes bring about. The wait also ends when one of them is
    /// back, or all have been lost again since `losses`. Returns whether one of these holds.
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

    /// Waits until something holds that a peer brings about, or that its loss ends. The peer is
    /// watched if that takes longer than a moment.
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

    /// Waits as [`wait_and_watch`](Self::wait_and_watch), but watches the peer from the beginning.
    /// Returns whether the condition holds.
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

    /// Returns the next process after this one that is neither lost nor `except`.
    fn next_living(&self, except: Option<Rank>) -> Option<Rank> {
        let is_living = |rank: &Rank| Some(*rank) != except && !self.dispatcher.is_lost(*rank);
        self.others().find(is_living)
    }

    /// Returns the processes that were not found lost since `losses`; called if none is living.
    /// Barred processes are left out, since their messages are refused.
    fn silent(&self, losses: u64) -> Vec<Rank> {
        let dispatcher = &self.dispatcher;
        let is_new = |rank| dispatcher.lost_since(rank, losses).is_some();
        let is_silent = |rank: &Rank| !is_new(*rank) && !dispatcher.mailbox.is_barred(*rank);
        self.others().filter(is_silent).collect()
    }

    /// Returns the other processes, from the next after this one.
    fn others(&self) -> impl Iterator<Item = Rank> {
        let (own, size) = (self.rank, self.dispatcher.size());
        (1..size).map(move |step| (own + step) % size)
    }
}

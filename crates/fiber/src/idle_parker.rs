//! Idle parkers: fibers that sleep for their server, at a place of their own.
//!
//! If a fiber parks for something from outside, another thread must take it and wake the fiber.
//! That is two switches of the system for each message. If its server has nothing else to run, a
//! fiber can wait at the source itself. For its server that is a rest, of which the run-time knows.
//! So a thread that brings other work ends it. A fiber may also do so for other fibers, which wait
//! for each other: such a fiber waits for idle servers.

use std::ptr::NonNull;
use std::task::Waker;
use std::time::Instant;

use crate::fiber::{Fiber, Wait};
use crate::fibers::{Fibers, begin_to_wait, server};
use crate::servers::{Lock, Servers, Word};
use crate::threads::Threads as _;

/// Fibers that wait for idle servers, while no server rests.
pub(crate) struct IdleWaiters<S: Servers> {
    waiting: Vec<IdleWaiter<S>>,
    is_over: bool,
}

/// One of them, with its parking state.
type IdleWaiter<S> = (NonNull<Fiber<S>>, u64);

impl<S: Servers> Default for IdleWaiters<S> {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            is_over: false,
        }
    }
}

// SAFETY: descriptors go from server to server through locks, and this value is behind one.
unsafe impl<S: Servers> Send for IdleWaiters<S> {}

impl<S: Servers> IdleWaiters<S> {
    pub fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes the fiber that came last: its source is the busiest.
    pub fn take(&mut self) -> Option<IdleWaiter<S>> {
        self.waiting.pop()
    }

    /// Ends all waits for idle servers, and returns the fibers to tell.
    pub fn end(&mut self) -> Vec<IdleWaiter<S>> {
        self.is_over = true;
        std::mem::take(&mut self.waiting)
    }
}

impl<S: Servers> Fibers<S> {
    /// Returns whether the caller's server has something else to run.
    pub fn has_others() -> bool {
        let _entered = Self::enter();
        let server = server::<S>();
        server.shared.look_around(server.number);
        server.shared.queues[server.number].lock().length() > 0
    }

    /// Blocks the caller's server, and all its fibers, while `sleep` runs, if the server has
    /// nothing else to run. Returns `None` otherwise, without calling `sleep`.
    ///
    /// `sleep` returns at the given time, when an alarm goes off. It also returns soon after a call
    /// of the waker, on any thread, even before `sleep` began. It neither waits nor yields by this
    /// crate's means. A run with a director, whose clock is virtual, has no such rest.
    pub fn park_while_idle<R>(
        waker: &Waker,
        sleep: impl FnOnce(Option<Instant>) -> R,
    ) -> Option<R> {
        let _entered = Self::enter();
        let server = server::<S>();
        if server.is_directed {
            return None;
        }
        let (shared, here) = (&server.shared, server.number);
        // SAFETY: the running fiber's own descriptor.
        let it = unsafe { server.running().as_ref() };
        // The fiber counts as parked, since others might otherwise find the run over. One that
        // waits for idle servers waits for nothing itself.
        let outside = (!it.waits_for_idle.get()).then(|| shared.inbox.begin_wait(it));
        let first_ns = shared.first_alarm();
        let until = (first_ns != u64::MAX).then(|| shared.clock.reach(first_ns));
        let stay = (shared.inbox.idle).go_elsewhere(here, waker, || shared.work(here, first_ns));
        let slept = stay.map(|_stay| sleep(until.flatten()));
        drop(outside);
        if slept.is_some() {
            shared.look_around(here);
        }
        slept
    }

    /// Waits until a server has nothing to run while a fiber waits for something outside. Then the
    /// caller may [park](Self::park_while_idle) for it.
    ///
    /// Returns false if no server ever will: all fibers wait for ever, or for callers of this. The
    /// run is over when these callers have ended.
    #[track_caller]
    pub fn wait_for_idle() -> bool {
        let wait = Wait::on("a server's rest");
        let _entered = Self::enter();
        let server = server::<S>();
        let fiber = server.running();
        // SAFETY: it is the running fiber's own descriptor.
        let it = unsafe { fiber.as_ref() };
        it.waits_for_idle.set(true);
        let mut idle_waiters = server.shared.idle_waiters.lock();
        if !idle_waiters.is_over {
            begin_to_wait(fiber, wait);
            idle_waiters.waiting.push((fiber, it.parking.get()));
            let held = <S::Lock<_> as Lock<_>>::keep(idle_waiters);
            // SAFETY: on a fiber; the lock lives as long as the run. The server is not used
            // afterwards.
            unsafe { server.park(held, None) };
        } else {
            drop(idle_waiters);
        }
        let is_over = self::server::<S>().shared.idle_waiters.lock().is_over;
        it.waits_for_idle.set(!is_over);
        !is_over
    }
}

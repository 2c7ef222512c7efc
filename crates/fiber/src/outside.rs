//! Waits for events outside of the run-time: futures, and system calls that block. The fiber parks;
//! its server goes on.

use std::future::Future;
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crate::clock::nanoseconds;
use crate::fiber::{Fiber, Wait};
use crate::fibers::{Entered, Fibers, begin_to_wait, server};
use crate::idle::Idle;
use crate::server::Server;
use crate::servers::{Lock, Many, One, Servers, Word};
use crate::threads::Threads;

/// The inbox of wakers, which may be called on any OS thread, even after the run.
pub(crate) struct Inbox {
    pub idle: Idle,
    /// Number of fibers that wait for something outside: while there are any, the run is not over.
    waiting: AtomicUsize,
    count: AtomicUsize,
    letters: parking_lot::Mutex<Vec<Arc<Bell>>>,
}

/// The waker of one wait.
pub(crate) struct Bell {
    inbox: Arc<Inbox>,
    has_rung: AtomicBool,
    /// Address of the fiber's descriptor, which only servers of its run use.
    fiber: usize,
}

/// A fiber's wait for something outside, which ends when this drops.
pub(crate) struct Outside<'a, S: Servers> {
    inbox: &'a Inbox,
    fiber: &'a Fiber<S>,
}

impl<S: Servers> Drop for Outside<'_, S> {
    fn drop(&mut self) {
        self.inbox.end_wait(self.fiber);
    }
}

impl Inbox {
    pub fn new(servers: usize, has_last_words: bool) -> Arc<Inbox> {
        Arc::new(Inbox {
            idle: Idle::new(servers, has_last_words),
            waiting: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            letters: parking_lot::Mutex::default(),
        })
    }

    /// Returns whether a fiber waits for something outside.
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Notes that a fiber waits for something outside.
    pub fn begin_wait<'a, S: Servers>(&'a self, fiber: &'a Fiber<S>) -> Outside<'a, S> {
        fiber.is_outside.set(true);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Outside { inbox: self, fiber }
    }

    /// Notes that it no longer does: it goes on, or was killed there.
    pub fn end_wait<S: Servers>(&self, fiber: &Fiber<S>) {
        if fiber.is_outside.replace(false) {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Returns whether a waker was called.
    pub fn has_letters(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    fn take(&self) -> Vec<Arc<Bell>> {
        let mut letters = self.letters.lock();
        self.count.store(0, Ordering::SeqCst);
        std::mem::take(&mut *letters)
    }

    /// Wakes the fibers whose bells rang, each in its parking state.
    pub fn deliver<S: Servers>(&self, mut wake: impl FnMut(NonNull<Fiber<S>>, u64)) {
        if !self.has_letters() {
            return;
        }
        for bell in self.take() {
            bell.ring(&mut wake);
        }
    }
}

impl Bell {
    /// Makes a bell of the running fiber's that has not rung.
    fn of_caller<S: Servers>() -> Arc<Self> {
        let server = server::<S>();
        Arc::new(Bell {
            inbox: server.shared.inbox.clone(),
            has_rung: AtomicBool::new(false),
            fiber: server.running().as_ptr() as usize,
        })
    }

    /// Wakes the fiber, if it still waits for this bell. A server of its run calls this.
    fn ring<S: Servers>(self: &Arc<Self>, wake: &mut impl FnMut(NonNull<Fiber<S>>, u64)) {
        let Some(fiber) = NonNull::new(self.fiber as *mut Fiber<S>) else {
            return;
        };
        // SAFETY: a server of the run calls this, and descriptors live as long as the run. The lock
        // is released once the fiber has left its stack.
        let it = unsafe { fiber.as_ref() };
        let mut waits_for = it.waits_for.lock();
        if waits_for.as_ref().is_some_and(|w| Arc::ptr_eq(w, self)) {
            *waits_for = None;
            // The lock is held, which the fiber takes when its time is over. Later it may wait for
            // something else.
            let parking = it.parking.get();
            drop(waits_for);
            wake(fiber, parking);
        }
    }

    /// Rings at once if the caller is a fiber of the same run. Then no server need deliver it.
    fn ring_here<S: Servers>(self: &Arc<Self>) -> bool {
        let server = S::server();
        // SAFETY: a server is set for its OS thread while it serves.
        let is_of_run = |server: &Server<S>| Arc::ptr_eq(&server.shared.inbox, &self.inbox);
        if !unsafe { server.as_ref() }.is_some_and(is_of_run) {
            return false;
        }
        let _entered = Entered::<S>::new();
        let server = self::server::<S>();
        self.ring::<S>(&mut |fiber, parking| server.shared.wake(fiber, parking, server.number));
        true
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        if self.has_rung.swap(true, Ordering::SeqCst)
            || self.ring_here::<Many>()
            || self.ring_here::<One>()
        {
            return;
        }
        let inbox = self.inbox.clone();
        let mut letters = inbox.letters.lock();
        letters.push(self);
        inbox.count.store(letters.len(), Ordering::SeqCst);
        drop(letters);
        inbox.idle.announce(true);
    }
}

impl<S: Servers> Fibers<S> {
    /// Waits until a future is ready. Its driver (a reactor, another thread) wakes the fiber.
    #[track_caller]
    pub fn wait_for<F: Future>(future: F) -> F::Output {
        Self::await_ready(future, None, true).expect("it waits as long as it takes")
    }

    /// Does the same as [`wait_for`](Self::wait_for), but keeps the run from neither its last words
    /// nor its end. For a fiber that serves others, whose waiting is not the program's.
    #[track_caller]
    pub fn wait_in_background<F: Future>(future: F) -> F::Output {
        Self::await_ready(future, None, false).expect("it waits as long as it takes")
    }

    /// Does the same as [`wait_for`](Self::wait_for), until a time of [`now`](Threads::now) at
    /// most. Returns `None` if the future was not ready then.
    #[track_caller]
    pub fn wait_for_until<F: Future>(future: F, until: Duration) -> Option<F::Output> {
        Self::await_ready(future, Some(until), true)
    }

    #[track_caller]
    fn await_ready<F: Future>(
        future: F,
        until: Option<Duration>,
        counts: bool,
    ) -> Option<F::Output> {
        let wait = Wait::on("something outside");
        let mut future = pin!(future);
        loop {
            let bell = Bell::of_caller::<S>();
            let waker = Waker::from(bell.clone());
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(value);
            }
            if until.is_some_and(|until| Self::now() >= until) {
                return None;
            }
            park_until_rung::<S>(bell, wait, until.map(nanoseconds), counts);
        }
    }

    /// Runs a call that blocks, such as a read, on a thread for such calls. The other fibers go on
    /// meanwhile.
    #[track_caller]
    pub fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        Self::wait_for(blocking::unblock(call))
    }
}

fn park_until_rung<S: Servers>(bell: Arc<Bell>, wait: Wait, until_ns: Option<u64>, counts: bool) {
    let _entered = Entered::<S>::new();
    let server = server::<S>();
    // SAFETY: the running fiber's own descriptor.
    let it = unsafe { server.running().as_ref() };
    let inbox = bell.inbox.clone();
    let _outside = counts.then(|| inbox.begin_wait(it));
    let mut waits_for = it.waits_for.lock();
    // A bell that rang before the lock was taken may have been delivered in vain. One that rings
    // later waits for the lock.
    if !bell.has_rung.load(Ordering::SeqCst) {
        *waits_for = Some(bell);
        begin_to_wait(server.running(), wait);
        let held = <S::Lock<_> as Lock<_>>::keep(waits_for);
        // SAFETY: on a fiber; the lock is in its descriptor. The server is not used afterwards.
        unsafe { server.park(held, until_ns) };
        // The time may be over and the bell silent. A ring from now on must not wake the fiber from
        // another wait.
        *it.waits_for.lock() = None;
    }
}

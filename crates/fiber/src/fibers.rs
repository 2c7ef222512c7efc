//! Fibers as threads: what a running fiber may ask of its run-time.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock::nanoseconds;
use crate::counters::{Cause, Counters, one_more};
use crate::fiber::{Fiber, Wait};
use crate::histograms::Histograms;
use crate::server::Server;
use crate::servers::{HeldLock, Lock, Many, One, Servers, Word};
use crate::spawn::Region;
use crate::threads::{Event, Threads};
use crate::wait_queue::{WAITING, WaitQueue};

/// Fibers on [`One`] server or [`Many`].
#[derive(Debug, Clone, Copy)]
pub struct Fibers<S>(PhantomData<S>);

/// Fibers on one processor.
pub type OneServer = Fibers<One>;
/// Fibers on several processors.
pub type ManyServers = Fibers<Many>;

/// The server that the caller runs on. The reference is good until the caller switches.
///
/// # Panics
/// Outside of a fiber of this kind.
#[inline]
pub(crate) fn server<'a, S: Servers>() -> &'a Server<S> {
    let server = S::server();
    assert!(
        !server.is_null(),
        "this is for fibers: call it from within Run::start"
    );
    // SAFETY: a server is set for its OS thread as long as it serves, and fibers run only then.
    unsafe { &*server }
}

/// While it lives, the run-time is at work; ticks that came meanwhile are honoured at its end.
#[derive(Debug)]
pub struct Entered<S: Servers> {
    /// Whether somebody further out has entered already, or the fiber may not be switched anywhere.
    was_busy: bool,
    servers: PhantomData<(S, *const ())>,
}

impl<S: Servers> Entered<S> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        loop {
            let here: *const Server<S> = server::<S>();
            // SAFETY: servers live as long as their run.
            let was_busy = unsafe { (*here).is_busy.replace(true) };
            // A tick may have come in between and moved us: then that was another server, which is busy for nothing until its next switch.
            if !S::SEVERAL || here == S::server() {
                return Entered {
                    was_busy,
                    servers: PhantomData,
                };
            }
        }
    }
}

impl<S: Servers> Drop for Entered<S> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.was_busy {
            leave_to_sliceable(server::<S>());
        }
    }
}

/// Goes back to code that may be switched anywhere; a tick that waited comes first.
// Not inlined: it would keep what calls it from being inlined.
#[cold]
#[inline(never)]
fn leave_to_sliceable<S: Servers>(server: &Server<S>) {
    if server.tick.get() {
        one_more(&server.tally().deferred_ticks);
        // SAFETY: on a fiber, which touches its server again only through the look-up below.
        unsafe { server.reschedule(Cause::Tick) };
    }
    self::server::<S>().is_busy.set(false);
}

/// A fiber taken from a queue, in the state of parking that it was in there.
#[derive(Debug)]
pub struct Sleeper<S: Servers> {
    fiber: NonNull<Fiber<S>>,
    parking: u64,
}

/// Addresses in a server that generated code uses by itself. They hold as long as the server serves.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// [`Fibers::local`] of the fiber that runs.
    pub local: *const *mut (),
    /// The polls that are left until a switch: who counts them down calls [`Fibers::poll_is_up`] at zero.
    pub budget: *mut i64,
    /// The count of P operations.
    pub p_operations: *mut u64,
}

impl<S: Servers> Sleeper<S> {
    /// Whether it was killed: it will not run, but must be woken to be gone.
    #[inline]
    pub fn is_killed(&self) -> bool {
        // SAFETY: descriptors live as long as the run-time.
        let it = unsafe { self.fiber.as_ref() };
        it.is_killed.load(Ordering::Relaxed)
    }
}

impl<S: Servers> Threads for Fibers<S> {
    type Lock<V> = S::Lock<V>;
    type WaitQueue = WaitQueue<S>;
    type Sleeper = Sleeper<S>;
    type Entered = Entered<S>;

    #[inline]
    fn enter() -> Entered<S> {
        Entered::new()
    }

    #[inline]
    fn enqueue(queue: &mut WaitQueue<S>, wait: Wait) {
        let fiber = server::<S>().running();
        begin_to_wait(fiber, wait);
        queue.push_last(fiber);
    }

    fn withdraw(queue: &mut WaitQueue<S>) -> bool {
        let fiber = server::<S>().running();
        // SAFETY: the caller's own descriptor; it is linked into this queue or into none, under the queue's lock.
        let is_in = unsafe { fiber.as_ref() }.links[WAITING].is_in.get();
        if is_in {
            queue.remove(fiber);
        }
        is_in
    }

    #[inline]
    fn dequeue(queue: &mut WaitQueue<S>) -> Option<Sleeper<S>> {
        let fiber = queue.take_first()?;
        // Read while the queue's lock is held: later the fiber may have been woken by its alarm, and wait elsewhere.
        // SAFETY: descriptors live as long as the run-time.
        let parking = unsafe { fiber.as_ref() }.parking.get();
        Some(Sleeper { fiber, parking })
    }

    #[inline]
    fn wake(sleeper: Sleeper<S>) {
        let server = server::<S>();
        server
            .shared
            .wake(sleeper.fiber, sleeper.parking, server.number);
    }

    #[inline(always)]
    fn park<V>(guard: <S::Lock<V> as Lock<V>>::Guard<'_>) {
        let held = <S::Lock<V> as Lock<V>>::keep(guard);
        // SAFETY: on a fiber; the lock is part of what it waits on, which its caller keeps.
        unsafe { server::<S>().park(held, None) };
    }

    fn park_until<V>(guard: <S::Lock<V> as Lock<V>>::Guard<'_>, until: Duration) {
        let held = <S::Lock<V> as Lock<V>>::keep(guard);
        // SAFETY: as in `park`.
        unsafe { server::<S>().park(held, Some(nanoseconds(until))) };
    }

    #[inline(always)]
    fn yield_now() {
        let _entered = Self::enter();
        // SAFETY: on a fiber; the server is not used afterwards.
        unsafe { server::<S>().reschedule(Cause::Yield) };
    }

    #[track_caller]
    fn sleep(time: Duration) {
        let wait = Wait::on("time");
        let _entered = Self::enter();
        let server = server::<S>();
        if time.is_zero() {
            // SAFETY: as in `yield_now`.
            return unsafe { server.reschedule(Cause::Yield) };
        }
        let until_ns = server
            .shared
            .clock
            .now_ns()
            .saturating_add(nanoseconds(time));
        begin_to_wait(server.running(), wait);
        // SAFETY: on a fiber, without a lock.
        unsafe { server.park(HeldLock::NONE, Some(until_ns)) };
    }

    fn now() -> Duration {
        Duration::from_nanos(server::<S>().shared.clock.now_ns())
    }

    #[inline]
    fn note(event: Event) {
        let tally = server::<S>().tally();
        one_more(match event {
            Event::P => &tally.p_operations,
            Event::BlockedP => &tally.blocked_p_operations,
            Event::NeedlessWakeUp => &tally.needless_wake_ups,
        });
    }
}

/// Makes the running fiber's state one of parking.
#[inline]
pub(crate) fn begin_to_wait<S: Servers>(fiber: NonNull<Fiber<S>>, wait: Wait) {
    // SAFETY: the caller's own descriptor.
    let it = unsafe { fiber.as_ref() };
    it.wait.set(Some(wait));
    it.parking.set(it.parking.get().wrapping_add(1));
}

impl<S: Servers> Fibers<S> {
    /// Whether the caller is a fiber of this kind.
    #[inline]
    pub fn is_caller() -> bool {
        !S::server().is_null()
    }

    /// The head of a loop: switches if the processor's count is used up, or a tick has come.
    #[inline]
    pub fn poll() {
        let server = server::<S>();
        let left = server.budget.get() - 1;
        server.budget.set(left);
        if left <= 0 || server.tick.get() {
            poll_is_up(server);
        }
    }

    /// Runs code that a tick may switch at any instruction, under [`Policy::Sliced`](crate::Policy::Sliced).
    ///
    /// # Safety
    /// Between two calls of this crate the code takes no lock, allocates nothing, and keeps no address of a thread-local: another fiber may run at
    /// any instruction, and with [`Many`] the code may go on on another OS thread.
    pub unsafe fn sliceable<R>(code: impl FnOnce() -> R) -> R {
        let fiber = server::<S>().running();
        // SAFETY: the running fiber's own descriptor, which lives longer than this call.
        let it = unsafe { fiber.as_ref() };
        let before = it.is_sliceable.replace(true);
        leave_to_sliceable(server::<S>());
        let result = code();
        server::<S>().is_busy.set(true);
        it.is_sliceable.set(before);
        if before {
            leave_to_sliceable(server::<S>());
        }
        result
    }

    /// What the running fiber keeps as its own; null at first.
    #[inline]
    pub fn local() -> *mut () {
        let _entered = Self::enter();
        server::<S>().local.get()
    }

    /// Sets it.
    pub fn set_local(local: *mut ()) {
        let _entered = Self::enter();
        let server = server::<S>();
        server.local.set(local);
        // SAFETY: the running fiber's own descriptor.
        unsafe { server.running().as_ref() }.local.set(local);
    }

    /// What generated code uses of the calling OS thread's server by itself.
    pub fn places() -> Places {
        let server = server::<S>();
        Places {
            local: server.local.as_ptr(),
            budget: server.budget.as_ptr(),
            p_operations: server.tally().p_operations.as_ptr(),
        }
    }

    /// Leaves the run-time for one that entered it and forgot what it got.
    #[inline(always)]
    pub fn leave() {
        let server = server::<S>();
        // SAFETY: the running fiber's own descriptor.
        if unsafe { server.running().as_ref() }.is_sliceable.get() {
            leave_to_sliceable(server);
        }
    }

    /// What generated code calls when it has counted down to zero.
    #[inline(always)]
    pub fn poll_is_up() {
        switch_by_poll(server::<S>());
    }

    /// Counts so far, over all servers.
    pub fn counters() -> Counters {
        server::<S>().shared.counters()
    }

    /// Distributions so far, if they are kept.
    pub fn histograms() -> Option<Histograms> {
        let _entered = Self::enter();
        let histograms = server::<S>().shared.histograms.as_ref();
        histograms.map(|h| h.lock().clone())
    }

    /// The number of the server that the caller runs on.
    pub fn server_number() -> usize {
        server::<S>().number
    }

    /// The caller is of this region from now on, and so are the fibers it starts.
    pub fn set_region(region: Region) {
        let _entered = Self::enter();
        let server = server::<S>();
        let home = region.0 % server.shared.queues.len();
        // SAFETY: the running fiber's own descriptor.
        unsafe { server.running().as_ref() }.home.set(Some(home));
        if home != server.number {
            // SAFETY: on a fiber; the server is not used afterwards.
            unsafe { server.reschedule(Cause::Yield) };
        }
    }

    /// The running fiber's priority.
    pub fn priority() -> i32 {
        // SAFETY: the running fiber's own descriptor.
        unsafe { server::<S>().running().as_ref() }.priority.get()
    }

    /// Changes it. Who lowers it below a ready fiber's on its server loses the processor to that.
    pub fn set_priority(priority: i32) {
        let _entered = Self::enter();
        let server = server::<S>();
        // SAFETY: as above.
        unsafe { server.running().as_ref() }.priority.set(priority);
        let is_below = server.shared.queues[server.number]
            .lock()
            .is_above(priority);
        if is_below {
            // SAFETY: on a fiber; the server is not used afterwards.
            unsafe { server.reschedule(Cause::Yield) };
        }
    }

    /// Waits, by yielding, until the condition holds: the *await* of cooperative programs.
    pub fn wait_until(mut condition: impl FnMut() -> bool) {
        while !condition() {
            Self::yield_now();
            Self::note(Event::NeedlessWakeUp);
        }
    }
}

#[cold]
fn poll_is_up<S: Servers>(server: &Server<S>) {
    switch_by_poll(server);
}

#[inline(always)]
fn switch_by_poll<S: Servers>(server: &Server<S>) {
    let was_busy = server.is_busy.replace(true);
    let is_tick = server.tick.get() || server.shared.policy.quantum().is_some();
    let cause = if is_tick { Cause::Tick } else { Cause::Budget };
    // SAFETY: on a fiber; its server is looked up anew below.
    unsafe { server.reschedule(cause) };
    self::server::<S>().is_busy.set(was_busy);
}

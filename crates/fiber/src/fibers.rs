//! Fibers as threads: the requests of a running fiber to its run-time.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock::nanoseconds;
use crate::counters::{Cause, Counters, one_more};
use crate::fiber::{Fiber, Wait};
use crate::histograms::Histograms;
use crate::run_id::RunId;
use crate::server::Server;
use crate::servers::{HeldLock, Lock, Many, One, Servers, Word};
use crate::spawn::Region;
use crate::stack::StackError;
use crate::threads::{Event, Threads};
use crate::wait_queue::{WAITING, WaitQueue};

/// Fibers on [`One`] server or [`Many`].
#[derive(Debug, Clone, Copy)]
pub struct Fibers<S>(PhantomData<S>);

/// Fibers on one processor.
pub type OneServer = Fibers<One>;
/// Fibers on several processors.
pub type ManyServers = Fibers<Many>;

/// Returns the server on which the caller runs. The reference is valid until the caller switches.
///
/// # Panics
///
/// The caller is no fiber of this kind.
#[inline]
pub(crate) fn server<'a, S: Servers>() -> &'a Server<S> {
    let server = S::server();
    assert!(
        !server.is_null(),
        "this is for fibers: call it from within Run::start"
    );
    // SAFETY: a server is set for its OS thread while it serves, and fibers run only then.
    unsafe { &*server }
}

/// A guard during which the run-time is at work. Ticks that came meanwhile are honoured when it
/// drops.
#[derive(Debug)]
pub struct Entered<S: Servers> {
    /// Whether an outer guard exists already, or the fiber may not be switched anywhere.
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
            // A tick may have come in between and moved the fiber: then that was another server. It
            // stays busy for nothing until its next switch.
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

/// Returns to code that may be switched anywhere; a deferred tick comes first.
// Not inlined, since its callers would otherwise not be inlined.
#[cold]
#[inline(never)]
fn leave_to_sliceable<S: Servers>(server: &Server<S>) {
    if server.tick.get() {
        one_more(&server.tally().deferred_ticks);
        // SAFETY: this runs on a fiber, which touches its server afterwards only through the
        // look-up below.
        unsafe { server.reschedule(Cause::Tick) };
    }
    self::server::<S>().is_busy.set(false);
}

/// A fiber taken from a queue, with its parking state in that queue.
#[derive(Debug)]
pub struct Sleeper<S: Servers> {
    fiber: NonNull<Fiber<S>>,
    parking: u64,
    is_killed: bool,
    run: RunId,
}

/// Addresses in a server for direct use by generated code. They are valid while the server serves.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Address of the running fiber's [`Fibers::local`].
    pub local: *const *mut (),
    /// Polls left until a switch: code that counts them down calls [`Fibers::poll_is_up`] at zero.
    pub budget: *mut i64,
    /// Count of P operations.
    pub p_operations: *mut u64,
}

impl<S: Servers> Sleeper<S> {
    /// Returns whether it had been killed when it was taken from its queue: it will not run, but
    /// must be woken to be freed.
    #[inline]
    pub fn is_killed(&self) -> bool {
        self.is_killed
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
        let server = server::<S>();
        queue.belong_to(server.run);
        let fiber = server.running();
        begin_to_wait(fiber, wait);
        queue.push_last(fiber);
    }

    fn withdraw(queue: &mut WaitQueue<S>) -> bool {
        let server = server::<S>();
        queue.belong_to(server.run);
        let fiber = server.running();
        // SAFETY: it is the caller's own descriptor. It is linked into this queue or into none,
        // under the queue's lock.
        let is_in = unsafe { fiber.as_ref() }.links[WAITING].is_in.get();
        if is_in {
            queue.remove(fiber);
        }
        is_in
    }

    fn waiting(queue: &mut WaitQueue<S>) -> usize {
        if !queue.is_empty() {
            queue.belong_to(server::<S>().run);
        }
        queue.length()
    }

    #[inline]
    fn dequeue(queue: &mut WaitQueue<S>) -> Option<Sleeper<S>> {
        if queue.is_empty() {
            return None;
        }
        let run = server::<S>().run;
        if queue.belong_to(run) {
            return None;
        }
        let fiber = queue.take_first()?;
        // The queue's lock is held, so the fiber is still in this wait. Later its alarm may have
        // woken it, and it may wait elsewhere. SAFETY: a descriptor lives as long as its run, which
        // is the caller's.
        let it = unsafe { fiber.as_ref() };
        Some(Sleeper {
            fiber,
            parking: it.parking.get(),
            is_killed: it.is_killed.load(Ordering::Relaxed),
            run,
        })
    }

    #[inline]
    fn wake(sleeper: Sleeper<S>) {
        let server = server::<S>();
        // A sleeper of another run is gone, or must not be touched from here.
        if sleeper.run == server.run {
            server
                .shared
                .wake(sleeper.fiber, sleeper.parking, server.number);
        }
    }

    #[inline(always)]
    fn park<V>(guard: <S::Lock<V> as Lock<V>>::Guard<'_>) {
        let held = <S::Lock<V> as Lock<V>>::keep(guard);
        // SAFETY: this runs on a fiber. The lock is part of the awaited object, which its caller
        // keeps.
        unsafe { server::<S>().park(held, None) };
    }

    fn park_until<V>(guard: <S::Lock<V> as Lock<V>>::Guard<'_>, until: Duration) {
        let held = <S::Lock<V> as Lock<V>>::keep(guard);
        // SAFETY: this runs on a fiber. The lock is part of the awaited object, which its caller
        // keeps.
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
            // SAFETY: this runs on a fiber, and the server is not used afterwards.
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

/// Moves the running fiber into a parking state.
#[inline]
pub(crate) fn begin_to_wait<S: Servers>(fiber: NonNull<Fiber<S>>, wait: Wait) {
    // SAFETY: it is the caller's own descriptor, which lives as long as the run.
    let it = unsafe { fiber.as_ref() };
    it.wait.set(Some(wait));
    it.parking.set(it.parking.get().wrapping_add(1));
}

impl<S: Servers> Fibers<S> {
    /// Returns whether the caller is a fiber of this kind.
    #[inline]
    pub fn is_caller() -> bool {
        !S::server().is_null()
    }

    /// Marks the head of a loop: switches if the processor's count is used up, or a tick has come.
    #[inline]
    pub fn poll() {
        let server = server::<S>();
        let left = server.budget.get() - 1;
        server.budget.set(left);
        if left <= 0 || server.tick.get() {
            poll_is_up(server);
        }
    }

    /// Marks a point besides loop heads where a schedule drawn from a seed may switch, such as
    /// before a semaphore operation.
    ///
    /// It has an effect only under such a schedule and a policy with ticks. It counts as a poll, so
    /// that a replay finds it.
    pub fn point() {
        let server = server::<S>();
        if !server.is_directed || server.shared.policy.quantum().is_none() {
            return;
        }
        let left = server.budget.get() - 1;
        server.budget.set(left);
        if left <= 0 || server.ends_turn_at_point() {
            poll_is_up(server);
        }
    }

    /// Runs code that a tick may switch at any instruction, under
    /// [`Policy::Sliced`](crate::Policy::Sliced).
    ///
    /// # Safety
    ///
    /// Between two calls of this crate the code takes no lock, allocates nothing, and keeps no
    /// address of a thread-local. Another fiber may run at any instruction. With [`Many`] the code
    /// may go on on another OS thread.
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

    /// Runs code on a stack of 8 MiB that belongs to the server.
    ///
    /// It is for functions of other compilers, which expect the room of an OS thread. Their frames
    /// may not fit on a fiber's stack, or may jump over the guard below it.
    ///
    /// # Safety
    ///
    /// The code does not use this crate: it must not switch, nor come here again.
    ///
    /// # Errors
    ///
    /// There is no memory for the stack.
    pub unsafe fn on_roomy_stack<R>(code: impl FnOnce() -> R) -> Result<R, StackError> {
        let _entered = Self::enter();
        let stack = server::<S>().roomy_stack()?;
        Ok(corosensei::on_stack(stack.again(), code))
    }

    /// Returns the used part of the running fiber's stack; `None` outside of fibers and on a roomy
    /// stack. It needs no memory.
    #[inline(never)]
    pub fn stack_in_use() -> Option<Range<usize>> {
        let server = S::server();
        if server.is_null() {
            return None;
        }
        // SAFETY: a server is set for its OS thread as long as it serves.
        let fiber = unsafe { &*server }.current.get()?;
        // SAFETY: descriptors live as long as the run-time.
        let fiber = unsafe { fiber.as_ref() };
        let marker = 0_u8;
        let here = &raw const marker as usize;
        let stack = fiber.guard.get().1..fiber.stack_top.get();
        stack.contains(&here).then_some(here..stack.end)
    }

    /// Returns the running fiber's own word; null at first.
    #[inline]
    pub fn local() -> *mut () {
        let _entered = Self::enter();
        server::<S>().local.get()
    }

    /// Sets the running fiber's own word.
    pub fn set_local(local: *mut ()) {
        let _entered = Self::enter();
        let server = server::<S>();
        server.local.set(local);
        // SAFETY: the running fiber's own descriptor.
        unsafe { server.running().as_ref() }.local.set(local);
    }

    /// Returns the addresses in the calling OS thread's server that generated code uses directly.
    pub fn places() -> Places {
        let server = server::<S>();
        Places {
            local: server.local.as_ptr(),
            budget: server.budget.as_ptr(),
            p_operations: server.tally().p_operations.as_ptr(),
        }
    }

    /// Leaves the run-time for a caller that entered it and forgot its guard.
    #[inline(always)]
    pub fn leave() {
        let server = server::<S>();
        // SAFETY: the running fiber's own descriptor.
        if unsafe { server.running().as_ref() }.is_sliceable.get() {
            leave_to_sliceable(server);
        }
    }

    /// Switches; generated code calls it when it has counted down to zero.
    #[inline(always)]
    pub fn poll_is_up() {
        switch_by_poll(server::<S>());
    }

    /// Returns the counts so far, over all servers.
    pub fn counters() -> Counters {
        server::<S>().shared.counters()
    }

    /// Returns the distributions so far, if they are kept.
    pub fn histograms() -> Option<Histograms> {
        let _entered = Self::enter();
        let histograms = server::<S>().shared.histograms.as_ref();
        histograms.map(|h| h.lock().clone())
    }

    /// Returns whether the calling OS thread is a server that sleeps until there is work. A signal
    /// handler may call it.
    pub fn is_resting() -> bool {
        let server = S::server();
        // SAFETY: a server is set for its OS thread as long as it serves.
        !server.is_null() && unsafe { &*server }.is_resting.get()
    }

    /// Returns the number of the caller's server.
    pub fn server_number() -> usize {
        server::<S>().number
    }

    /// Moves the caller into a region; the fibers it starts belong to it, too.
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

    /// Returns the running fiber's priority.
    pub fn priority() -> i32 {
        // SAFETY: the running fiber's own descriptor.
        unsafe { server::<S>().running().as_ref() }.priority.get()
    }

    /// Sets the running fiber's priority. If a ready fiber of its server has a higher one, that
    /// fiber runs.
    pub fn set_priority(priority: i32) {
        let _entered = Self::enter();
        let server = server::<S>();
        // SAFETY: it is the running fiber's own descriptor.
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
    // SAFETY: this runs on a fiber, and its server is looked up anew below.
    unsafe { server.reschedule(cause) };
    self::server::<S>().is_busy.set(was_busy);
}

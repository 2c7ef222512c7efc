//! Starting fibers, naming them, and waiting for their results.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::counters::{Cause, one_more};
use crate::fiber::{Fiber, Wait};
use crate::fibers::{Entered, Fibers, server};
use crate::run_id::RunId;
use crate::server::Server;
use crate::servers::{Lock, Many, One, Servers, Word};
use crate::stack::StackError;
use crate::threads::Threads;
use crate::wait_queue::WaitQueue;

/// The payload of a panic.
pub type Panic = Box<dyn Any + Send>;

/// The settings of a new fiber.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Builder {
    /// Its name in reports.
    pub name: Option<String>,
    /// Its priority; that of its parent if none is given.
    pub priority: Option<i32>,
    /// The region that it belongs to; that of its parent if none is given.
    pub region: Option<Region>,
}

/// A set of fibers of which at most one runs at a time, because all run on one processor. This is
/// parallel cooperative execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region(pub usize);

/// A fiber that other fibers may wait for or yield to.
///
/// It may outlive its run. Then a fiber that had not ended never ends: a join waits for ever, and a
/// yield to it is a plain yield.
pub struct Handle<T: 'static, S: Servers> {
    fiber: NonNull<Fiber<S>>,
    run: RunId,
    generation: u64,
    packet: S::Ref<S::Lock<Packet<T, S>>>,
}

/// The place where a fiber leaves its result.
struct Packet<T, S: Servers> {
    result: Option<Result<T, Panic>>,
    waiting: WaitQueue<S>,
}

// SAFETY: only fibers of the handle's run use the descriptor, which outlives them, and only its
// atomic and locked parts. The packet is behind a lock.
unsafe impl<T: Send> Send for Handle<T, Many> {}
unsafe impl<T: Send> Sync for Handle<T, Many> {}

impl Fibers<One> {
    /// Starts a fiber.
    ///
    /// # Errors
    ///
    /// There is no memory for its stack.
    pub fn spawn<T: 'static>(
        builder: Builder,
        body: impl FnOnce() -> T + 'static,
    ) -> Result<Handle<T, One>, StackError> {
        spawn(builder, body)
    }
}

impl Fibers<Many> {
    /// Starts a fiber.
    ///
    /// # Safety
    ///
    /// The body keeps nothing over a switch that belongs to an OS thread: no reference to a
    /// thread-local, no guard of an OS lock. It may go on on another OS thread.
    ///
    /// # Errors
    ///
    /// There is no memory for its stack.
    pub unsafe fn spawn<T: Send + 'static>(
        builder: Builder,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Handle<T, Many>, StackError> {
        spawn(builder, body)
    }
}

fn spawn<T: 'static, S: Servers>(
    builder: Builder,
    body: impl FnOnce() -> T + 'static,
) -> Result<Handle<T, S>, StackError> {
    let _entered = Entered::<S>::new();
    let packet = S::share(S::Lock::new(Packet {
        result: None,
        waiting: WaitQueue::default(),
    }));
    let left = packet.clone();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(body));
        let mut packet = left.lock();
        packet.result = Some(result);
        let mut waiting = std::mem::take(&mut packet.waiting);
        drop(packet);
        while let Some(sleeper) = Fibers::<S>::dequeue(&mut waiting) {
            Fibers::<S>::wake(sleeper);
        }
    };
    let server = server::<S>();
    let fiber = start(server, builder, run)?;
    Ok(Handle {
        fiber,
        run: server.run,
        // SAFETY: the descriptor lives; its generation changes only after this fiber has ended and
        // the descriptor is used again.
        generation: unsafe { fiber.as_ref() }.generation.get(),
        packet,
    })
}

/// A fiber without a result to wait for.
pub struct Detached<S: Servers> {
    fiber: NonNull<Fiber<S>>,
    run: RunId,
    generation: u64,
}

impl<S: Servers> Clone for Detached<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Servers> Copy for Detached<S> {}

impl<S: Servers> PartialEq for Detached<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.fiber, self.run, self.generation) == (other.fiber, other.run, other.generation)
    }
}

impl<S: Servers> Eq for Detached<S> {}

impl<S: Servers> std::hash::Hash for Detached<S> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.fiber, self.run, self.generation).hash(state);
    }
}

impl<S: Servers> std::fmt::Debug for Detached<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fiber({:p}, {})", self.fiber, self.generation)
    }
}

// SAFETY: only fibers of the handle's run use the descriptor, which outlives them, and only its
// atomic parts.
unsafe impl Send for Detached<Many> {}
unsafe impl Sync for Detached<Many> {}

impl<S: Servers> Fibers<S> {
    /// Starts a fiber that has no result: nothing but its stack is allocated for it. `local` is its
    /// own word: see [`Fibers::local`].
    ///
    /// # Safety
    ///
    /// With several servers the body and all that it owns may go on on another OS thread: see
    /// [`Fibers::<Many>::spawn`](Fibers). The body does not panic.
    ///
    /// # Errors
    ///
    /// There is no memory for its stack.
    #[inline]
    pub unsafe fn detach(
        builder: Builder,
        local: *mut (),
        body: impl FnOnce() + 'static,
    ) -> Result<Detached<S>, StackError> {
        let _entered = Entered::<S>::new();
        let server = server::<S>();
        let fiber = start_with(server, builder, local, body)?;
        Ok(Detached::of(fiber, server.run))
    }

    /// Returns the running fiber.
    pub fn this() -> Detached<S> {
        let server = server::<S>();
        Detached::of(server.running(), server.run)
    }
}

impl<S: Servers> Detached<S> {
    fn of(fiber: NonNull<Fiber<S>>, run: RunId) -> Self {
        // SAFETY: the descriptor lives; its generation changes only after this fiber has ended and
        // the descriptor is used again.
        let generation = unsafe { fiber.as_ref() }.generation.get();
        Detached {
            fiber,
            run,
            generation,
        }
    }

    /// Returns whether the fiber waits for something.
    pub fn is_waiting(&self) -> bool {
        // SAFETY: descriptors live as long as the run-time.
        let it = unsafe { self.fiber.as_ref() };
        it.generation.get() == self.generation && it.parking.get() & 1 == 1
    }

    /// Kills the fiber: it ends where it is, at the next time that it would run.
    ///
    /// A running fiber goes on to its next switch. A waiting one stays in its queue until it is
    /// woken. Nothing happens if the caller is no fiber of the same run.
    ///
    /// # Safety
    ///
    /// Nothing on its stack is dropped, and nothing uses the stack once the fiber would have run
    /// again.
    pub unsafe fn kill(&self) {
        // SAFETY: a server is set for its OS thread as long as it serves.
        let server = unsafe { S::server().as_ref() };
        if server.is_none_or(|server| server.run != self.run) {
            return;
        }
        // SAFETY: a descriptor lives as long as its run, which is the caller's.
        let it = unsafe { self.fiber.as_ref() };
        if it.generation.get() == self.generation {
            it.is_killed.store(true, Ordering::Relaxed);
        }
    }
}

/// Prepares a fiber and appends it to a ready list.
pub(crate) fn start<S: Servers>(
    server: &Server<S>,
    builder: Builder,
    body: impl FnOnce() + 'static,
) -> Result<NonNull<Fiber<S>>, StackError> {
    start_with(server, builder, std::ptr::null_mut(), body)
}

#[inline]
fn start_with<S: Servers>(
    server: &Server<S>,
    builder: Builder,
    local: *mut (),
    body: impl FnOnce() + 'static,
) -> Result<NonNull<Fiber<S>>, StackError> {
    let (fiber, stack) = server.take_spare()?;
    // SAFETY: a spare descriptor has no living fiber, and no other server has it.
    let it = unsafe { fiber.as_ref() };
    // SAFETY: the current fiber is the caller, which is alive.
    let parent = server.current.get().map(|p| unsafe { p.as_ref() });
    it.priority.set(
        builder
            .priority
            .unwrap_or_else(|| parent.map_or(0, |p| p.priority.get())),
    );
    let servers = server.shared.queues.len();
    let home = builder.region.map(|Region(number)| number % servers);
    it.home
        .set(home.or_else(|| parent.and_then(|p| p.home.get())));
    // SAFETY: as above, no other thread knows this spare descriptor yet.
    unsafe {
        *it.name.get() = builder.name.map(String::into_boxed_str);
        it.prepare(stack, body);
    }
    it.local.set(local);
    one_more(&server.tally().spawns);
    server.make_ready(fiber);
    Ok(fiber)
}

impl<T: 'static, S: Servers> Handle<T, S> {
    /// Waits until the fiber has ended, and takes its result.
    ///
    /// # Errors
    ///
    /// The fiber's panic.
    #[track_caller]
    pub fn join(self) -> Result<T, Panic> {
        let wait = Wait::on("the end of a fiber");
        let _entered = Entered::<S>::new();
        loop {
            let mut packet = self.packet.lock();
            if let Some(result) = packet.result.take() {
                return result;
            }
            Fibers::<S>::enqueue(&mut packet.waiting, wait);
            Fibers::<S>::park(packet);
        }
    }

    /// Returns whether the fiber has ended.
    pub fn is_over(&self) -> bool {
        let _entered = Entered::<S>::new();
        self.packet.lock().result.is_some()
    }

    /// Yields to this fiber: it runs next if it is ready on this processor; otherwise this is a
    /// plain yield.
    pub fn yield_to(&self) {
        let _entered = Entered::<S>::new();
        let server = server::<S>();
        if self.run == server.run {
            self.name_next(server);
        }
        // SAFETY: on a fiber; the server is not used afterwards.
        unsafe { server.reschedule(Cause::Yield) };
    }

    /// Makes the server run this fiber next, if it is ready there. The handle is of the server's
    /// run.
    fn name_next(&self, server: &Server<S>) {
        // SAFETY: a descriptor lives as long as its run.
        let it = unsafe { self.fiber.as_ref() };
        let mut ready = server.shared.queues[server.number].lock();
        // A fiber in this list stays in it while its lock is held. With another generation it is
        // another fiber.
        let is_ready = ready.holds(self.fiber) && it.generation.get() == self.generation;
        if is_ready {
            ready.remove(self.fiber);
        }
        drop(ready);
        if is_ready {
            server.name_next(self.fiber);
        }
    }
}

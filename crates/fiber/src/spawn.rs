//! Starting fibers, naming them, and waiting for their results.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::counters::{Cause, one_more};
use crate::fiber::{Fiber, Wait};
use crate::fibers::{Entered, Fibers, server};
use crate::server::Server;
use crate::servers::{Lock, Many, One, Servers, Word};
use crate::stack::StackError;
use crate::threads::Threads;
use crate::wait_queue::WaitQueue;

/// What a panic carried.
pub type Panic = Box<dyn Any + Send>;

/// What a fiber is given at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Builder {
    /// Its name in reports.
    pub name: Option<String>,
    /// Its priority; that of its parent if none is given.
    pub priority: Option<i32>,
    /// The region that it belongs to; that of its parent if none is given.
    pub region: Option<Region>,
}

/// A set of fibers of which at most one runs at a time, because all run on one processor: parallel cooperative execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region(pub usize);

/// A fiber that may be waited for or yielded to.
pub struct Handle<T: 'static, S: Servers> {
    fiber: NonNull<Fiber<S>>,
    generation: u64,
    packet: S::Ref<S::Lock<Packet<T, S>>>,
}

/// Where a fiber leaves its result.
struct Packet<T, S: Servers> {
    result: Option<Result<T, Panic>>,
    waiting: WaitQueue<S>,
}

// SAFETY: the descriptor outlives the run-time's fibers, and only its atomic and locked parts are used through a handle.
unsafe impl<T: Send> Send for Handle<T, Many> {}
unsafe impl<T: Send> Sync for Handle<T, Many> {}

impl Fibers<One> {
    /// Starts a fiber.
    ///
    /// # Errors
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
    /// The body keeps nothing over a switch that belongs to an OS thread: no reference to a thread-local, no guard of an OS lock. It may go on on another.
    ///
    /// # Errors
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
        // SAFETY: the descriptor lives; its generation changes only after this fiber has ended and the descriptor is used again.
        generation: unsafe { fiber.as_ref() }.generation.get(),
        packet,
    })
}

/// A fiber that nobody waits for.
pub struct Detached<S: Servers> {
    fiber: NonNull<Fiber<S>>,
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
        (self.fiber, self.generation) == (other.fiber, other.generation)
    }
}

impl<S: Servers> Eq for Detached<S> {}

impl<S: Servers> std::hash::Hash for Detached<S> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.fiber, self.generation).hash(state);
    }
}

impl<S: Servers> std::fmt::Debug for Detached<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fiber({:p}, {})", self.fiber, self.generation)
    }
}

// SAFETY: the descriptor outlives the run-time's fibers, and only its atomic parts are used through this.
unsafe impl Send for Detached<Many> {}
unsafe impl Sync for Detached<Many> {}

impl<S: Servers> Fibers<S> {
    /// Starts a fiber that has no result: nothing is allocated for it but its stack. It keeps `local` as its own: see [`Fibers::local`].
    ///
    /// # Safety
    /// With several servers the body and all that it owns may go on on another OS thread: see [`Fibers::<Many>::spawn`](Fibers). The body does not panic.
    ///
    /// # Errors
    /// There is no memory for its stack.
    #[inline]
    pub unsafe fn detach(
        builder: Builder,
        local: *mut (),
        body: impl FnOnce() + 'static,
    ) -> Result<Detached<S>, StackError> {
        let _entered = Entered::<S>::new();
        let fiber = start_with(server::<S>(), builder, local, body)?;
        Ok(Detached::of(fiber))
    }

    /// The running fiber.
    pub fn this() -> Detached<S> {
        Detached::of(server::<S>().running())
    }
}

impl<S: Servers> Detached<S> {
    fn of(fiber: NonNull<Fiber<S>>) -> Self {
        // SAFETY: the descriptor lives; its generation changes only after this fiber has ended and the descriptor is used again.
        let generation = unsafe { fiber.as_ref() }.generation.get();
        Detached { fiber, generation }
    }

    /// The fiber does not run again: it ends where it is, at the next time that it would run; one that runs now goes on to its next
    /// switch. One that waits stays in its queue until it is woken.
    ///
    /// # Safety
    /// Nothing on its stack is dropped, and nobody uses anything on it once it would have run again.
    pub unsafe fn kill(&self) {
        // SAFETY: descriptors live as long as the run-time.
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
    // SAFETY: a spare descriptor has no living fiber, and nobody else has it.
    let it = unsafe { fiber.as_ref() };
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
    /// What it panicked with.
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

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        let _entered = Entered::<S>::new();
        self.packet.lock().result.is_some()
    }

    /// Yields to this fiber: it runs next if it is ready on this processor; otherwise this is a plain yield.
    pub fn yield_to(&self) {
        let _entered = Entered::<S>::new();
        let server = server::<S>();
        // SAFETY: descriptors live as long as the run-time.
        let it = unsafe { self.fiber.as_ref() };
        let mut ready = server.shared.queues[server.number].lock();
        // Who is in this list stays in it while we hold its lock; one of another generation is another fiber.
        let is_ready = ready.holds(self.fiber) && it.generation.get() == self.generation;
        if is_ready {
            ready.remove(self.fiber);
        }
        drop(ready);
        if is_ready {
            server.name_next(self.fiber);
        }
        // SAFETY: on a fiber; the server is not used afterwards.
        unsafe { server.reschedule(Cause::Yield) };
    }
}

//! A fiber's descriptor: its stack and registers, its place in a queue, and what reports tell of it.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::outside::Bell;
use crate::servers::{Lock, Servers, Word};
use crate::stack::Stack;

type Context = Coroutine<(), (), (), Stack>;

/// What a fiber waits for, for reports of what is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The kind of thing, such as "semaphore".
    pub on: &'static str,
    /// The call that blocked.
    pub at: &'static Location<'static>,
}

impl Wait {
    /// The caller, waiting on such a thing.
    #[track_caller]
    #[inline]
    pub(crate) fn on(on: &'static str) -> Wait {
        Wait {
            on,
            at: Location::caller(),
        }
    }
}

/// A fiber's place in a queue.
pub(crate) struct Links<S: Servers> {
    pub next: Cell<Option<NonNull<Fiber<S>>>>,
    pub previous: Cell<Option<NonNull<Fiber<S>>>>,
    pub is_in: Cell<bool>,
}

impl<S: Servers> Default for Links<S> {
    fn default() -> Self {
        Links {
            next: Cell::new(None),
            previous: Cell::new(None),
            is_in: Cell::new(false),
        }
    }
}

/// A descriptor. It lives as long as its run-time and serves one fiber after another.
///
/// Each of `links` belongs to the queue that it is in, and to that queue's lock. `context` belongs to
/// the server that runs the fiber; the other cells to the fiber itself, or to whoever made it ready while it does not run.
pub(crate) struct Fiber<S: Servers> {
    /// Its places in a ready list and in a waiting queue: a fiber that its alarm has woken may stand in both.
    pub links: [Links<S>; 2],
    /// Even while it runs or is ready, odd while it is parked: one more with each change, so that a late wake-up is known to be late.
    pub parking: S::Word,
    /// Which fiber of this descriptor it is; handles compare it.
    pub generation: S::Word,
    pub priority: Cell<i32>,
    /// The server that it must run on, if it is of a region.
    pub home: Cell<Option<usize>>,
    /// One more than the number of the server whose ready list it is in; 0 if it is in none. Changed under that list's lock.
    pub queue: S::Word,
    pub name: UnsafeCell<Option<Box<str>>>,
    pub wait: Cell<Option<Wait>>,
    /// Whether a tick may take its processor at any instruction.
    pub is_sliceable: Cell<bool>,
    /// When it was made ready, in nanoseconds of the run-time's clock, if that is recorded.
    pub ready_ns: Cell<u64>,
    pub is_alive: Cell<bool>,
    /// Whether it may not run any more.
    pub is_killed: AtomicBool,
    /// What it keeps as its own.
    pub local: Cell<*mut ()>,
    /// Whether it waits for idle servers: then it waits for nothing outside itself.
    pub waits_for_idle: Cell<bool>,
    /// Whether it is counted among those that wait for something outside.
    pub is_outside: Cell<bool>,
    /// What rings when it may go on, if it waits for something outside.
    pub waits_for: S::Lock<Option<Arc<Bell>>>,
    /// The addresses of the guard below its stack.
    pub guard: Cell<(usize, usize)>,
    context: UnsafeCell<Option<Context>>,
    #[cfg(antiphon_tsan)]
    shadow: crate::tsan::Shadow,
    yielder: Cell<Option<NonNull<Yielder<(), ()>>>>,
}

impl<S: Servers> Fiber<S> {
    pub fn new() -> Fiber<S> {
        Fiber {
            links: Default::default(),
            parking: S::Word::default(),
            generation: S::Word::default(),
            priority: Cell::new(0),
            home: Cell::new(None),
            queue: S::Word::default(),
            name: UnsafeCell::new(None),
            wait: Cell::new(None),
            is_sliceable: Cell::new(false),
            ready_ns: Cell::new(0),
            is_alive: Cell::new(false),
            is_killed: AtomicBool::new(false),
            local: Cell::new(std::ptr::null_mut()),
            waits_for_idle: Cell::new(false),
            is_outside: Cell::new(false),
            waits_for: S::Lock::new(None),
            guard: Cell::new((0, 0)),
            context: UnsafeCell::new(None),
            #[cfg(antiphon_tsan)]
            shadow: crate::tsan::Shadow::default(),
            yielder: Cell::new(None),
        }
    }

    /// Gives the descriptor something to run.
    ///
    /// # Safety
    /// No fiber of this descriptor is alive, and no other thread looks at it.
    pub unsafe fn prepare(&self, stack: Stack, body: impl FnOnce() + 'static) {
        let this = NonNull::from(self);
        let guard = stack.guard();
        self.guard.set((guard.start, guard.end));
        let entry = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: descriptors live as long as their run-time, which runs this.
            unsafe { this.as_ref() }
                .yielder
                .set(Some(NonNull::from(yielder)));
            body();
            #[cfg(antiphon_tsan)]
            // SAFETY: as above.
            unsafe { this.as_ref() }.shadow.leave();
        };
        #[cfg(antiphon_tsan)]
        self.shadow.begin();
        // SAFETY: by the contract the old context is gone.
        unsafe { *self.context.get() = Some(Coroutine::with_stack(stack, entry)) };
        self.generation.add(1);
        self.is_alive.set(true);
        self.waits_for_idle.set(false);
        self.is_sliceable.set(false);
        self.is_killed.store(false, Ordering::Relaxed);
        self.local.set(std::ptr::null_mut());
        self.wait.set(None);
    }

    /// Runs it until it suspends; its stack if it ended.
    ///
    /// # Safety
    /// Only one server runs it, and it is not in any queue that another could take it from.
    #[inline(always)]
    pub unsafe fn resume(&self) -> Option<Stack> {
        // SAFETY: only the server that runs the fiber touches its context.
        let context = unsafe { &mut *self.context.get() };
        #[cfg(antiphon_tsan)]
        self.shadow.enter();
        match context
            .as_mut()
            .expect("a fiber in a ready list has a context")
            .resume(())
        {
            CoroutineResult::Yield(()) => None,
            CoroutineResult::Return(()) => {
                self.is_alive.set(false);
                #[cfg(antiphon_tsan)]
                self.shadow.end();
                context.take().map(Coroutine::into_stack)
            }
        }
    }

    /// Leaves the fiber for its server.
    ///
    /// # Safety
    /// Called by the fiber itself.
    #[inline(always)]
    pub unsafe fn suspend(&self) {
        let yielder = self.yielder.get().expect("a running fiber has begun");
        #[cfg(antiphon_tsan)]
        self.shadow.leave();
        // SAFETY: the yielder lives at the top of the fiber's stack as long as the fiber.
        unsafe { yielder.as_ref() }.suspend(());
    }

    /// Ends it where it is: nothing on its stack is dropped. Its stack.
    ///
    /// # Safety
    /// It does not run and is in no queue, and nobody uses anything on its stack.
    pub unsafe fn abandon(&self) -> Option<Stack> {
        // SAFETY: only the server that took it from its queue touches its context.
        let mut context = unsafe { &mut *self.context.get() }.take()?;
        unsafe { context.force_reset() };
        #[cfg(antiphon_tsan)]
        self.shadow.end();
        self.is_alive.set(false);
        Some(context.into_stack())
    }

    /// Leaves what it runs where it is, for ever.
    pub fn forget_context(&self) {
        // SAFETY: called at the end of a run-time, by the thread that ends it.
        let context = unsafe { &mut *self.context.get() };
        // A fiber that is blocked for ever is not unwound: what it refers to may refer to it. Its stack is left mapped.
        std::mem::forget(context.take());
    }

    /// The name it was given.
    ///
    /// # Safety
    /// Nobody names it meanwhile: called by its server or at the end of the run-time.
    pub unsafe fn name(&self) -> Option<&str> {
        unsafe { (*self.name.get()).as_deref() }
    }
}

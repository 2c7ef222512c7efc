//! A fiber's descriptor: its stack and registers, its place in a queue, and its data for reports.

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

/// The object that a fiber waits for, for reports of blocked fibers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The kind of object, such as "semaphore".
    pub on: &'static str,
    /// The call that blocked.
    pub at: &'static Location<'static>,
}

impl Wait {
    /// Makes the caller's wait for such an object.
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
/// - Each of `links` belongs to the queue that it is in, and to that queue's lock.
/// - `context` belongs to the server that runs the fiber.
/// - The other cells belong to the fiber itself, or, while it does not run, to the thread that made
///   it ready.
pub(crate) struct Fiber<S: Servers> {
    /// Its places in a ready list and in a waiting queue. A fiber that its alarm has woken may
    /// stand in both.
    pub links: [Links<S>; 2],
    /// Parking state: even while it runs or is ready, odd while it is parked. Each change adds one,
    /// so that a late wake-up is recognized.
    pub parking: S::Word,
    /// Number of this descriptor's fiber; handles compare it.
    pub generation: S::Word,
    pub priority: Cell<i32>,
    /// Server on which it must run, if it is of a region.
    pub home: Cell<Option<usize>>,
    /// Number plus one of the server whose ready list it is in; 0 if it is in none. Changed under
    /// that list's lock.
    pub queue: S::Word,
    pub name: UnsafeCell<Option<Box<str>>>,
    pub wait: Cell<Option<Wait>>,
    /// Whether a tick may switch it at any instruction.
    pub is_sliceable: Cell<bool>,
    /// Time when it was made ready, in nanoseconds of the run-time's clock, if that is recorded.
    pub ready_ns: Cell<u64>,
    pub is_alive: Cell<bool>,
    /// Whether it must not run any more.
    pub is_killed: AtomicBool,
    /// The fiber's own word.
    pub local: Cell<*mut ()>,
    /// Whether it waits for idle servers: then it waits for nothing outside itself.
    pub waits_for_idle: Cell<bool>,
    /// Whether it counts among the fibers that wait for something outside.
    pub is_outside: Cell<bool>,
    /// Bell that wakes it, if it waits for something outside.
    pub waits_for: S::Lock<Option<Arc<Bell>>>,
    /// Addresses of the guard below its stack.
    pub guard: Cell<(usize, usize)>,
    /// One past the highest address of its stack.
    pub stack_top: Cell<usize>,
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
            stack_top: Cell::new(0),
            context: UnsafeCell::new(None),
            #[cfg(antiphon_tsan)]
            shadow: crate::tsan::Shadow::default(),
            yielder: Cell::new(None),
        }
    }

    /// Gives the descriptor a fiber to run.
    ///
    /// # Safety
    ///
    /// No fiber of this descriptor is alive, and no other thread uses it.
    pub unsafe fn prepare(&self, stack: Stack, body: impl FnOnce() + 'static) {
        let this = NonNull::from(self);
        let guard = stack.guard();
        self.guard.set((guard.start, guard.end));
        self.stack_top.set(stack.top());
        let entry = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: descriptors live as long as their run-time, which runs this.
            unsafe { this.as_ref() }
                .yielder
                .set(Some(NonNull::from(yielder)));
            body();
            #[cfg(antiphon_tsan)]
            // SAFETY: descriptors live as long as their run-time, which runs this.
            unsafe { this.as_ref() }.shadow.leave();
        };
        #[cfg(antiphon_tsan)]
        self.shadow.begin();
        // SAFETY: the caller promises that no fiber of this descriptor is alive, so no context is
        // in use.
        unsafe { *self.context.get() = Some(Coroutine::with_stack(stack, entry)) };
        self.generation.add(1);
        self.is_alive.set(true);
        self.waits_for_idle.set(false);
        self.is_sliceable.set(false);
        self.is_killed.store(false, Ordering::Relaxed);
        self.local.set(std::ptr::null_mut());
        self.wait.set(None);
    }

    /// Runs the fiber until it suspends. Returns its stack if it ended.
    ///
    /// # Safety
    ///
    /// Only one server runs it, and it is in no queue from which another could take it.
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
    ///
    /// The fiber itself calls it.
    #[inline(always)]
    pub unsafe fn suspend(&self) {
        let yielder = self.yielder.get().expect("a running fiber has begun");
        #[cfg(antiphon_tsan)]
        self.shadow.leave();
        // SAFETY: the yielder lives at the top of the fiber's stack as long as the fiber.
        unsafe { yielder.as_ref() }.suspend(());
    }

    /// Ends the fiber at its present point, and returns its stack. Nothing on the stack is dropped.
    ///
    /// # Safety
    ///
    /// It does not run and is in no queue, and nothing uses its stack any more.
    pub unsafe fn abandon(&self) -> Option<Stack> {
        // SAFETY: only the server that took it from its queue touches its context.
        let mut context = unsafe { &mut *self.context.get() }.take()?;
        unsafe { context.force_reset() };
        #[cfg(antiphon_tsan)]
        self.shadow.end();
        self.is_alive.set(false);
        Some(context.into_stack())
    }

    /// Leaves the fiber suspended for ever.
    pub fn forget_context(&self) {
        // SAFETY: the thread that ends the run-time calls this at its end, so no server uses the
        // context.
        let context = unsafe { &mut *self.context.get() };
        // A fiber that is blocked for ever is not unwound: values that it refers to may refer to
        // it. Its stack stays mapped.
        std::mem::forget(context.take());
    }

    /// Returns its name.
    ///
    /// # Safety
    ///
    /// No other thread sets the name meanwhile: its server calls this, or the thread that ends the
    /// run-time.
    pub unsafe fn name(&self) -> Option<&str> {
        // SAFETY: by this function's contract nothing sets the name meanwhile.
        unsafe { (*self.name.get()).as_deref() }
    }
}

//! Semaphores: P and V of programs, and the private one on which each process waits for replies.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use antiphon_fiber::{Event, Fibers, Lock, Servers, Threads, Wait, WaitQueue};

use crate::flavour::Flavour;
use crate::layout::{At, Name};
use crate::process::{Process, Waits};

/// A semaphore, in the memory of `struct sr_semaphore`.
///
/// The number of processes that wait, or are about to, is minus the value if it is below zero. A
/// process that counts the value down below zero waits. One that counts it up to zero or below
/// wakes the first waiting process, or leaves a credit if that one is not in the queue yet.
/// Generated code counts by itself, with single instructions, because a tick or another server may
/// come in between. It calls these functions only to wait or to wake.
#[repr(C)]
pub struct Semaphore<S: Servers> {
    value: AtomicI32,
    /// For an element of an array.
    index: i32,
    name: Name,
    /// The process that has passed it, if that is noted. Only reports use it, as the process may be
    /// gone.
    holder: *mut Process<S>,
    state: S::Lock<State<S>>,
}

struct State<S: Servers> {
    queue: WaitQueue<S>,
    credits: u64,
}

const _: () = {
    use antiphon_fiber::{Many, One};
    use std::mem::offset_of;
    assert!(size_of::<Semaphore<One>>() <= 72 && size_of::<Semaphore<Many>>() <= 72);
    assert!(offset_of!(Semaphore<One>, holder) == 16 && offset_of!(Semaphore<Many>, holder) == 16);
};

fn waits() -> Wait {
    Wait {
        on: "a semaphore",
        at: Location::caller(),
    }
}

impl<S: Flavour> Semaphore<S> {
    pub fn new(name: Name, value: i32) -> Self {
        Semaphore {
            value: AtomicI32::new(value),
            index: 0,
            name,
            state: S::Lock::new(State {
                queue: WaitQueue::default(),
                credits: 0,
            }),
            holder: ptr::null_mut(),
        }
    }

    /// Returns the value; below zero if processes wait.
    #[inline]
    pub fn value(&self) -> i32 {
        self.value.load(Ordering::SeqCst)
    }

    /// Resets the semaphore, on which no process waits, for a descriptor that is reused. Other
    /// processes get the descriptor through a lock, which orders this store.
    pub fn reset(&self) {
        self.value.store(0, Ordering::Relaxed);
    }

    /// Changes the value and returns the new one.
    #[inline(always)]
    fn count(&self, by: i32) -> i32 {
        if S::SEVERAL {
            return self.value.fetch_add(by, Ordering::SeqCst) + by;
        }
        // With one server, no tick occurs while the run-time is at work, so nothing else counts.
        let value = self.value.load(Ordering::Relaxed) + by;
        self.value.store(value, Ordering::Relaxed);
        value
    }

    /// Implements P.
    ///
    /// # Safety
    /// For all functions here: `it` is a semaphore that lives, and the caller is a process.
    #[inline(always)]
    pub unsafe fn p(it: *mut Self, at: At) {
        let _entered = Fibers::<S>::enter();
        Fibers::<S>::note(Event::P);
        // SAFETY: by the contract.
        unsafe {
            if (*it).count(-1) < 0 {
                Self::p_wait(it, at);
            }
        }
    }

    /// Does a P of the run-time, on a process's private semaphore.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub unsafe fn wait(it: *mut Self, at: At, waits_for: Waits) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        unsafe {
            if (*it).count(-1) < 0 {
                Self::enqueue(it, at, waits_for);
            }
        }
    }

    /// Does the rest of a P whose caller has counted the value down below zero.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub unsafe fn p_wait(it: *mut Self, at: At) {
        let _entered = Fibers::<S>::enter();
        Fibers::<S>::note(Event::BlockedP);
        // SAFETY: by the contract.
        unsafe { Self::enqueue(it, at, Waits::Semaphore(it.cast())) };
    }

    #[inline(always)]
    unsafe fn enqueue(it: *mut Self, at: At, waits_for: Waits) {
        // SAFETY: by the contract.
        let mut state = unsafe { &*it }.state.lock();
        if state.credits > 0 {
            state.credits -= 1;
            return;
        }
        // SAFETY: by the contract.
        unsafe { Self::note_wait(at, waits_for) };
        Fibers::<S>::enqueue(&mut state.queue, waits());
        Fibers::<S>::park(state);
    }

    #[inline(always)]
    unsafe fn note_wait(at: At, waits_for: Waits) {
        let this = S::this();
        // SAFETY: the caller's own descriptor.
        unsafe {
            if !at.is_null() {
                (*this).head.at = at;
            }
            (*this).waits_for = waits_for;
        }
    }

    /// Implements V.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline]
    pub unsafe fn v(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        unsafe {
            if (*it).count(1) <= 0 {
                Self::wake(it, (*it).state.lock());
            }
        }
    }

    /// Does the rest of a V whose caller has counted the value up to zero or below.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline]
    pub unsafe fn v_wake(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        unsafe { Self::wake(it, (*it).state.lock()) };
    }

    /// Wakes the first process that was not killed.
    #[inline(always)]
    unsafe fn wake(it: *mut Self, mut state: <S::Lock<State<S>> as Lock<State<S>>>::Guard<'_>) {
        while let Some(sleeper) = Fibers::<S>::dequeue(&mut state.queue) {
            if !sleeper.is_killed() {
                drop(state);
                return Fibers::<S>::wake(sleeper);
            }
            // It is woken only so that it ends; its P is undone. SAFETY: the semaphore lives by the
            // callers' contract.
            unsafe { (*it).count(1) };
            Fibers::<S>::wake(sleeper);
        }
        // SAFETY: the semaphore lives by the callers' contract.
        if unsafe { (*it).value() } <= 0 {
            state.credits += 1;
        }
    }

    /// Wakes the killed processes at the head of the queue, so that they end. The semaphore is not
    /// used afterwards.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    pub unsafe fn wake_killed(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        let mut state = unsafe { &*it }.state.lock();
        while let Some(sleeper) = Fibers::<S>::dequeue(&mut state.queue) {
            let is_killed = sleeper.is_killed();
            if is_killed {
                Fibers::<S>::wake(sleeper);
            } else {
                // This process belongs to another instance and now waits for ever, as there will be
                // no V.
                break;
            }
        }
    }

    /// Returns the name for reports, the index in it, and the process that has passed the
    /// semaphore, if that was noted.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    pub unsafe fn described(it: *const Self) -> (Name, i32, *mut Process<S>) {
        // SAFETY: by the contract.
        unsafe { ((*it).name, (*it).index, (*it).holder) }
    }
}

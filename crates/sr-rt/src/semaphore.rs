//! Semaphores: P and V of programs, and the private one on which each process waits for replies.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use antiphon_fiber::{Event, Fibers, Lock, Servers, Threads, Wait, WaitQueue};

use crate::flavour::Flavour;
use crate::layout::{At, Name};
use crate::process::Waits;

/// A semaphore, in the memory of `struct sr_semaphore`.
///
/// The value is below zero by the number of processes that wait, or are about to. Who counts it down below zero waits; who counts it up to zero or below
/// wakes the first, or leaves a credit if that one is not in the line yet. Generated code counts by itself, by single instructions, and comes here
/// only to wait or to wake: a tick or another server may come in between.
#[repr(C)]
pub struct Semaphore<S: Servers> {
    value: AtomicI32,
    reserved: i32,
    name: Name,
    state: S::Lock<State<S>>,
}

struct State<S: Servers> {
    queue: WaitQueue<S>,
    credits: u64,
}

const _: () = assert!(size_of::<Semaphore<antiphon_fiber::One>>() <= 64);
const _: () = assert!(size_of::<Semaphore<antiphon_fiber::Many>>() <= 64);

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
            reserved: 0,
            name,
            state: S::Lock::new(State {
                queue: WaitQueue::default(),
                credits: 0,
            }),
        }
    }

    /// The value; below zero if processes wait.
    #[inline]
    pub fn value(&self) -> i32 {
        self.value.load(Ordering::SeqCst)
    }

    /// Nobody waits: for a descriptor that is used again.
    pub fn reset(&self) {
        self.value.store(0, Ordering::SeqCst);
    }

    /// Changes the value; gives the new one.
    #[inline(always)]
    fn count(&self, by: i32) -> i32 {
        if S::SEVERAL {
            return self.value.fetch_add(by, Ordering::SeqCst) + by;
        }
        // One server, and no tick while the run-time is at work: nobody else counts.
        let value = self.value.load(Ordering::Relaxed) + by;
        self.value.store(value, Ordering::Relaxed);
        value
    }

    /// P.
    ///
    /// # Safety
    /// Of all functions here: `it` is a semaphore that lives, the caller is a process.
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

    /// P of the run-time's own, on a process's private semaphore.
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

    /// P whose value was counted down by its caller, below zero.
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

    /// V.
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

    /// V whose value was counted up by its caller, to zero or below.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline]
    pub unsafe fn v_wake(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        unsafe { Self::wake(it, (*it).state.lock()) };
    }

    /// Hands over to the first that lives.
    #[inline(always)]
    unsafe fn wake(it: *mut Self, mut state: <S::Lock<State<S>> as Lock<State<S>>>::Guard<'_>) {
        while let Some(sleeper) = Fibers::<S>::dequeue(&mut state.queue) {
            if !sleeper.is_killed() {
                drop(state);
                return Fibers::<S>::wake(sleeper);
            }
            // It is woken to be gone; what it took from the value comes back.
            unsafe { (*it).count(1) };
            Fibers::<S>::wake(sleeper);
        }
        if unsafe { (*it).value() } <= 0 {
            state.credits += 1;
        }
    }

    /// Wakes those at the head of the line that were killed, so that they are gone; the semaphore is not used any more.
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
                // It waits for ever now, as nobody will bring anything: it belongs to another instance.
                break;
            }
        }
    }

    /// # Safety
    /// As for [`Semaphore::p`].
    pub unsafe fn name(it: *const Self) -> Name {
        if it.is_null() {
            return ptr::null();
        }
        // SAFETY: by the contract.
        unsafe { (*it).name }
    }
}

//! Semaphores: P and V of programs, and the private one on which each process waits for replies.

use std::panic::Location;
use std::ptr;

use antiphon_fiber::{Event, Fibers, Line, Lock, Servers, Threads, Wait};

use crate::flavour::Flavour;
use crate::layout::{At, Name};
use crate::process::Waits;

/// A semaphore, in the memory of `struct sr_semaphore`.
///
/// The value is below zero by the number of processes that wait. With one server generated code counts it by single instructions, and comes here only to wait or
/// to wake; a tick may come between its instruction and us, so that a V finds nobody in the line yet: it leaves a credit.
#[repr(C)]
pub struct Semaphore<S: Servers> {
    pub value: i32,
    reserved: i32,
    name: Name,
    state: S::Lock<State<S>>,
}

struct State<S: Servers> {
    line: Line<S>,
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
            value,
            reserved: 0,
            name,
            state: S::Lock::new(State {
                line: Line::default(),
                credits: 0,
            }),
        }
    }

    /// P.
    ///
    /// # Safety
    /// Of all functions here: `it` is a semaphore that lives, the caller is a process.
    #[inline(always)]
    pub unsafe fn p(it: *mut Self, at: At) {
        let _entered = Fibers::<S>::enter();
        Fibers::<S>::note(Event::P);
        // SAFETY: by the contract; the value belongs to the lock.
        let mut state = unsafe { &*it }.state.lock();
        unsafe {
            (*it).value -= 1;
            if (*it).value >= 0 {
                return;
            }
            Self::note_wait(at, Waits::Semaphore(it.cast()));
        }
        Fibers::<S>::note(Event::BlockedP);
        Fibers::<S>::line_up(&mut state.line, waits());
        Fibers::<S>::park(state);
    }

    /// P of the run-time's own, on a process's private semaphore.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub unsafe fn wait(it: *mut Self, at: At, waits_for: Waits) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract; the value belongs to the lock.
        let mut state = unsafe { &*it }.state.lock();
        unsafe {
            (*it).value -= 1;
            if (*it).value >= 0 {
                return;
            }
            Self::note_wait(at, waits_for);
        }
        Fibers::<S>::line_up(&mut state.line, waits());
        Fibers::<S>::park(state);
    }

    /// P whose value was counted down by its caller, below zero.
    ///
    /// # Safety
    /// As for [`Semaphore::p`].
    #[inline(always)]
    pub unsafe fn p_wait(it: *mut Self, at: At) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: by the contract.
        let mut state = unsafe { &*it }.state.lock();
        if state.credits > 0 {
            state.credits -= 1;
            return;
        }
        // SAFETY: by the contract.
        unsafe { Self::note_wait(at, Waits::Semaphore(it.cast())) };
        Fibers::<S>::note(Event::BlockedP);
        Fibers::<S>::line_up(&mut state.line, waits());
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
        // SAFETY: by the contract; the value belongs to the lock.
        let state = unsafe { &*it }.state.lock();
        unsafe {
            (*it).value += 1;
            if (*it).value <= 0 {
                Self::wake(it, state);
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
        while let Some(sleeper) = Fibers::<S>::first(&mut state.line) {
            if !sleeper.is_killed() {
                drop(state);
                return Fibers::<S>::wake(sleeper);
            }
            // It is woken to be gone; what it took from the value comes back.
            unsafe { (*it).value += 1 };
            Fibers::<S>::wake(sleeper);
        }
        if unsafe { (*it).value } <= 0 {
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
        while let Some(sleeper) = Fibers::<S>::first(&mut state.line) {
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

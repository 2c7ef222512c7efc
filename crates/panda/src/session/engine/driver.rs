//! The receiving end and its driver. A thread that finds it taken waits elsewhere.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::driver_state::{DriverState, Role, Work};

/// A receiving end that one thread has at a time, and the life of that driver.
///
/// All operations are sequentially consistent. In one word they would be ordered anyway. The second
/// word that counts is the number of threads in the waiting room:
///
/// ```text
///   driver            thread that waits
///   lets go           enters the room
///   reads the room    reads the driver
/// ```
///
/// One of the two sees the other.
#[derive(Debug)]
pub struct Driver<T> {
    state: AtomicU64,
    end: UnsafeCell<T>,
}

// SAFETY: `end` is reached through `Driving` alone, of which there is one at a time. So the value
// goes from thread to thread and is never shared.
unsafe impl<T: Send> Sync for Driver<T> {}

/// The receiving end in its driver's hands. Dropping it lets go.
#[derive(Debug)]
pub struct Driving<'a, T> {
    driver: &'a Driver<T>,
    role: Role,
    /// Marks the value as not `Sync`: it may go to another thread, but two threads must not see it.
    _is_not_sync: PhantomData<Cell<()>>,
}

impl<T> Driver<T> {
    pub fn new(end: T) -> Self {
        Self {
            state: AtomicU64::new(DriverState::default().bits()),
            end: UnsafeCell::new(end),
        }
    }

    /// Returns the current state.
    #[inline]
    pub fn state(&self) -> DriverState {
        DriverState::from_bits(self.state.load(SeqCst))
    }

    /// Takes a step unless there is none, and returns the state before it.
    #[inline]
    fn try_step(&self, step: impl Fn(DriverState) -> Option<DriverState>) -> Option<DriverState> {
        let step = |bits| step(DriverState::from_bits(bits)).map(DriverState::bits);
        let before = self.state.fetch_update(SeqCst, SeqCst, step);
        before.ok().map(DriverState::from_bits)
    }

    /// Takes a step and returns the state before it.
    #[inline]
    fn step(&self, step: impl Fn(DriverState) -> DriverState) -> DriverState {
        let mut before = self.state();
        loop {
            let after = step(before).bits();
            match (self.state).compare_exchange_weak(before.bits(), after, SeqCst, SeqCst) {
                Ok(_) => return before,
                Err(now) => before = DriverState::from_bits(now),
            }
        }
    }

    /// Takes the receiving end, if nobody has it.
    #[inline]
    pub fn try_drive(&self, role: Role) -> Option<Driving<'_, T>> {
        self.try_step(|state| state.taken(role))?;
        Some(Driving {
            driver: self,
            role,
            _is_not_sync: PhantomData,
        })
    }

    /// Says that the caller wants to drive, and returns the state before.
    pub fn want(&self) -> DriverState {
        self.step(DriverState::wanted)
    }

    /// Takes back that the caller wants to drive: its wait has ended.
    pub fn want_no_more(&self) {
        self.step(DriverState::wanted_no_more);
    }

    /// Notes work and returns the state before, so that the caller can wake a sleeping driver. Even
    /// without work, this orders the caller's writes before the driver's next sleep.
    pub fn note(&self, work: Work) -> DriverState {
        self.step(|state| state.with(work))
    }

    /// Notes work for the driver if there is one, and returns whether there is.
    pub fn leave_to_driver(&self, work: Work) -> bool {
        let step = |state: DriverState| state.is_taken().then(|| state.with(work));
        self.try_step(step).is_some()
    }

    /// Clears work and returns whether it was noted.
    #[inline]
    pub fn clear(&self, work: Work) -> bool {
        // Mostly no work is noted, and then nothing is written.
        self.state().has(work) && self.step(|state| state.without(work)).has(work)
    }

    /// Tells the driver that the session is to end.
    pub fn stop(&self) {
        self.step(DriverState::stopped);
    }
}

impl<T> Driving<'_, T> {
    /// Announces that the driver may sleep, and returns the state. The driver sleeps only if the
    /// state does not forbid it. From now on a thread that notes work also wakes the inbox.
    #[inline]
    pub fn fall_asleep(&mut self) -> DriverState {
        let state = self.driver.state();
        // The driver may have announced its sleep when it took the receiving end, or not have woken
        // since.
        match state.is_asleep() {
            true => state,
            false => self.driver.step(DriverState::asleep),
        }
    }

    /// Ends the sleep.
    #[inline]
    pub fn wake_up(&mut self) {
        let state = self.driver.state();
        if state != state.awake() {
            self.driver.step(DriverState::awake);
        }
    }

    /// Lets go for the last time: no thread drives any more.
    pub fn end(self) {
        self.driver.step(DriverState::over);
        std::mem::forget(self);
    }
}

impl<T> Deref for Driving<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the one `Driving`, and it lends the value as it is lent itself.
        unsafe { &*self.driver.end.get() }
    }
}

impl<T> DerefMut for Driving<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the one `Driving`, and it is lent exclusively.
        unsafe { &mut *self.driver.end.get() }
    }
}

impl<T> Drop for Driving<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.driver.step(|state| state.let_go(self.role));
    }
}

//! A lock that is only ever tried: whoever finds it taken waits elsewhere, so that letting go is a plain store.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// Lets one thread through at a time.
#[derive(Debug)]
pub struct Turnstile<T> {
    is_taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is reached by `Passed` alone, of which there is one at a time; so it goes from thread to thread, and is never shared.
unsafe impl<T: Send> Sync for Turnstile<T> {}

/// Who has passed, until it is dropped.
#[derive(Debug)]
pub struct Passed<'a, T> {
    turnstile: &'a Turnstile<T>,
    /// It may go to another thread, but not be seen from two: then the value would be, which need not bear that.
    _is_not_sync: PhantomData<Cell<()>>,
}

impl<T> Turnstile<T> {
    pub fn new(value: T) -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Passes, unless somebody has.
    #[inline]
    pub fn try_pass(&self) -> Option<Passed<'_, T>> {
        // Acquires what whoever passed before has released.
        let was_taken = self.is_taken.swap(true, Ordering::Acquire);
        // Made only by who passes: to drop one lets the next through.
        (!was_taken).then(|| Passed {
            turnstile: self,
            _is_not_sync: PhantomData,
        })
    }

    /// Whether somebody has passed.
    #[inline]
    pub fn is_taken(&self) -> bool {
        self.is_taken.load(Ordering::SeqCst)
    }
}

impl<T> Deref for Passed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the one `Passed`, and it lends as it is lent itself.
        unsafe { &*self.turnstile.value.get() }
    }
}

impl<T> DerefMut for Passed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.turnstile.value.get() }
    }
}

impl<T> Drop for Passed<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.turnstile.is_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passes_at_a_time() {
        let turnstile = Turnstile::new(1);
        let mut passed = turnstile.try_pass().expect("nobody has");
        *passed += 1;
        assert!(turnstile.try_pass().is_none());
        assert!(turnstile.is_taken(), "who does not pass changes nothing");
        drop(passed);
        assert!(!turnstile.is_taken());
        assert_eq!(turnstile.try_pass().as_deref(), Some(&2));
    }

    #[test]
    fn what_threads_do_in_turns_is_never_lost() {
        let (turnstile, times) = (Turnstile::new(0), 100);
        let count = || {
            for _ in 0..times {
                let passed = std::iter::repeat_with(|| {
                    std::thread::yield_now();
                    turnstile.try_pass()
                });
                *passed.flatten().next().expect("endless") += 1;
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
        assert_eq!(turnstile.try_pass().as_deref(), Some(&(2 * times)));
    }
}

//! A lock that threads only try. A thread that finds it locked waits elsewhere, so unlocking is a plain store.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread at a time can lock.
#[derive(Debug)]
pub struct TryLock<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is reached by `TryLockGuard` alone, of which there is one at a time; so it goes from thread to thread, and is never shared.
unsafe impl<T: Send> Sync for TryLock<T> {}

/// The right to the value; unlocks when it is dropped.
#[derive(Debug)]
pub struct TryLockGuard<'a, T> {
    lock: &'a TryLock<T>,
    /// It may go to another thread, but not be seen from two: then the value would be, which need not bear that.
    _is_not_sync: PhantomData<Cell<()>>,
}

impl<T> TryLock<T> {
    pub fn new(value: T) -> Self {
        Self {
            is_locked: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks the value; `None` if it is locked already.
    #[inline]
    pub fn try_lock(&self) -> Option<TryLockGuard<'_, T>> {
        // Acquires what the unlock before has released.
        let was_taken = self.is_locked.swap(true, Ordering::Acquire);
        // Made only after locking: to drop a guard unlocks.
        (!was_taken).then(|| TryLockGuard {
            lock: self,
            _is_not_sync: PhantomData,
        })
    }

    /// Returns whether the value is locked.
    #[inline]
    pub fn is_locked(&self) -> bool {
        self.is_locked.load(Ordering::SeqCst)
    }
}

impl<T> Deref for TryLockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the one `TryLockGuard`, and it lends as it is lent itself.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for TryLockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for TryLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.is_locked.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_holds_the_lock_at_a_time() {
        let lock = TryLock::new(1);
        let mut guard = lock.try_lock().expect("nobody has");
        *guard += 1;
        assert!(lock.try_lock().is_none());
        assert!(lock.is_locked(), "a failed attempt changes nothing");
        drop(guard);
        assert!(!lock.is_locked());
        assert_eq!(lock.try_lock().as_deref(), Some(&2));
    }

    #[test]
    fn what_threads_do_in_turns_is_never_lost() {
        let (lock, times) = (TryLock::new(0), 100);
        let count = || {
            for _ in 0..times {
                let guards = std::iter::repeat_with(|| {
                    std::thread::yield_now();
                    lock.try_lock()
                });
                *guards.flatten().next().expect("endless") += 1;
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
        assert_eq!(lock.try_lock().as_deref(), Some(&(2 * times)));
    }
}

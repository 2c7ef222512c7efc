use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use crate::fiber::Wait;
use crate::servers::Lock;
use crate::threads::Threads;

/// Mutual exclusion around a value, held over switches if need be. Unlocking gives it to the thread
/// that waits longest.
pub struct Mutex<K: Threads, V> {
    state: K::Lock<State<K>>,
    value: UnsafeCell<V>,
}

struct State<K: Threads> {
    is_taken: bool,
    waiting: K::WaitQueue,
}

// SAFETY: only the holder of the mutex reaches the value, one thread at a time, as its lock
// ensures.
unsafe impl<K: Threads, V: Send> Sync for Mutex<K, V> where K::Lock<State<K>>: Sync {}

/// The right to the value; unlocks at its end.
pub struct MutexGuard<'a, K: Threads, V>(&'a Mutex<K, V>);

impl<K: Threads, V> Mutex<K, V> {
    /// Makes a mutex that no thread holds.
    pub fn new(value: V) -> Self {
        Mutex {
            state: K::Lock::new(State {
                is_taken: false,
                waiting: K::WaitQueue::default(),
            }),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits until the caller holds the mutex.
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, K, V> {
        let _entered = K::enter();
        self.take(Wait::on("a mutex"));
        MutexGuard(self)
    }

    /// Takes the mutex if no thread holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, K, V>> {
        let _entered = K::enter();
        let mut state = self.state.lock();
        let is_free = !state.is_taken;
        state.is_taken = true;
        is_free.then(|| MutexGuard(self))
    }

    fn take(&self, wait: Wait) {
        let mut state = self.state.lock();
        if !state.is_taken {
            state.is_taken = true;
            return;
        }
        K::enqueue(&mut state.waiting, wait);
        K::park(state);
    }

    fn unlock(&self) {
        let mut state = self.state.lock();
        match K::dequeue(&mut state.waiting) {
            None => state.is_taken = false,
            Some(sleeper) => {
                drop(state);
                K::wake(sleeper);
            }
        }
    }

    /// Returns the value; the caller owns the mutex alone.
    pub fn into_inner(self) -> V {
        self.value.into_inner()
    }
}

impl<'a, K: Threads, V> MutexGuard<'a, K, V> {
    /// Releases the mutex while `waits` runs, and takes it again.
    pub(super) fn without<R>(&mut self, wait: Wait, waits: impl FnOnce(&dyn Fn()) -> R) -> R {
        let result = waits(&|| self.0.unlock());
        self.0.take(wait);
        result
    }
}

impl<K: Threads, V> Deref for MutexGuard<'_, K, V> {
    type Target = V;
    fn deref(&self) -> &V {
        // SAFETY: the guard's owner holds the mutex.
        unsafe { &*self.0.value.get() }
    }
}

impl<K: Threads, V> DerefMut for MutexGuard<'_, K, V> {
    fn deref_mut(&mut self) -> &mut V {
        // SAFETY: the guard's owner holds the mutex, and borrows the guard exclusively.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<K: Threads, V> Drop for MutexGuard<'_, K, V> {
    fn drop(&mut self) {
        let _entered = K::enter();
        self.0.unlock();
    }
}

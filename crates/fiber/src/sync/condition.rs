use std::time::Duration;

use super::MutexGuard;
use crate::fiber::Wait;
use crate::servers::Lock;
use crate::threads::Threads;

/// A condition variable: signal and continue. There are no spurious wake-ups.
pub struct Condition<K: Threads> {
    waiting: K::Lock<K::WaitQueue>,
}

impl<K: Threads> Default for Condition<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Threads> Condition<K> {
    /// Makes a condition without waiting threads.
    pub fn new() -> Self {
        Condition {
            waiting: K::Lock::new(K::WaitQueue::default()),
        }
    }

    /// Releases the mutex, waits for a signal, and takes the mutex again.
    #[track_caller]
    pub fn wait<V>(&self, guard: &mut MutexGuard<'_, K, V>) {
        let wait = Wait::on("a condition");
        let _entered = K::enter();
        guard.without(wait, |unlock| {
            let mut waiting = self.waiting.lock();
            K::enqueue(&mut waiting, wait);
            unlock();
            K::park(waiting);
        });
    }

    /// Does the same as [`wait`](Self::wait), for a time at most, and returns whether a signal
    /// came.
    #[track_caller]
    pub fn wait_for<V>(&self, guard: &mut MutexGuard<'_, K, V>, time: Duration) -> bool {
        let wait = Wait::on("a condition");
        let _entered = K::enter();
        let until = K::now().saturating_add(time);
        guard.without(wait, |unlock| {
            let mut waiting = self.waiting.lock();
            K::enqueue(&mut waiting, wait);
            unlock();
            K::park_until(waiting, until);
            !K::withdraw(&mut self.waiting.lock())
        })
    }

    /// Wakes the thread that waits longest, if there is one.
    pub fn signal(&self) {
        let _entered = K::enter();
        let first = K::dequeue(&mut self.waiting.lock());
        if let Some(sleeper) = first {
            K::wake(sleeper);
        }
    }

    /// Wakes all threads that wait now.
    pub fn broadcast(&self) {
        let _entered = K::enter();
        // The lock is held: a thread whose time ends meanwhile must find itself in this queue or in
        // none.
        let mut waiting = self.waiting.lock();
        while let Some(sleeper) = K::dequeue(&mut waiting) {
            K::wake(sleeper);
        }
    }
}

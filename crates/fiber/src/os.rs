//! The operating system's threads behind the same interface.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::fiber::Wait;
use crate::threads::{Event, Threads};

/// Threads of the operating system. Every thread may use them; there is no run-time to start.
#[derive(Debug, Clone, Copy)]
pub struct OsThreads;

/// The place where a thread sleeps.
#[derive(Debug, Default)]
pub struct Parker {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

thread_local! {
    static OWN: Arc<Parker> = Arc::default();
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Parker {
    fn sleep(&self, until: Option<Instant>) {
        let mut is_woken = self.is_woken.lock();
        while !*is_woken {
            match until {
                None => self.changed.wait(&mut is_woken),
                Some(until) if self.changed.wait_until(&mut is_woken, until).timed_out() => break,
                Some(_) => {}
            }
        }
        *is_woken = false;
    }
}

impl Threads for OsThreads {
    type Lock<V> = Mutex<V>;
    type WaitQueue = VecDeque<Arc<Parker>>;
    type Sleeper = Arc<Parker>;
    type Entered = ();

    fn enter() {}

    fn enqueue(queue: &mut Self::WaitQueue, _wait: Wait) {
        OWN.with(|parker| {
            // A time-out may have met a wake-up that came too late.
            *parker.is_woken.lock() = false;
            queue.push_back(parker.clone());
        });
    }

    fn withdraw(queue: &mut Self::WaitQueue) -> bool {
        OWN.with(|own| {
            let place = queue.iter().position(|parker| Arc::ptr_eq(parker, own));
            place.and_then(|p| queue.remove(p)).is_some()
        })
    }

    fn waiting(queue: &mut Self::WaitQueue) -> usize {
        queue.len()
    }

    fn dequeue(queue: &mut Self::WaitQueue) -> Option<Arc<Parker>> {
        queue.pop_front()
    }

    fn wake(sleeper: Arc<Parker>) {
        *sleeper.is_woken.lock() = true;
        sleeper.changed.notify_one();
    }

    fn park<V>(guard: MutexGuard<'_, V>) {
        drop(guard);
        OWN.with(|parker| parker.sleep(None));
    }

    fn park_until<V>(guard: MutexGuard<'_, V>, until: Duration) {
        drop(guard);
        OWN.with(|parker| parker.sleep(START.checked_add(until)));
    }

    fn yield_now() {
        std::thread::yield_now();
    }

    fn sleep(time: Duration) {
        std::thread::sleep(time);
    }

    fn now() -> Duration {
        START.elapsed()
    }

    fn note(_event: Event) {}
}

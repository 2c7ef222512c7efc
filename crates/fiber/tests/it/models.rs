//! Every interleaving of a few threads over the synchronization objects, by the model checker loom:
//! the objects are written over [`Threads`], and these are loom's.

use std::collections::VecDeque;
use std::time::Duration;

use antiphon_fiber::{Barrier, Condition, Event, HeldLock, Lock, Mutex, Semaphore, Threads, Wait};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// Threads whose interleavings loom tries all.
struct Modelled;

struct ModelLock<V>(loom::sync::Mutex<V>);

impl<V> Lock<V> for ModelLock<V> {
    type Guard<'a>
        = loom::sync::MutexGuard<'a, V>
    where
        V: 'a;
    fn new(value: V) -> Self {
        ModelLock(loom::sync::Mutex::new(value))
    }
    fn lock(&self) -> loom::sync::MutexGuard<'_, V> {
        self.0.lock().unwrap()
    }
    fn keep(guard: loom::sync::MutexGuard<'_, V>) -> HeldLock {
        drop(guard);
        HeldLock::NONE
    }
}

struct Parker {
    is_woken: loom::sync::Mutex<bool>,
    changed: loom::sync::Condvar,
}

loom::thread_local! {
    static OWN: Arc<Parker> = Arc::new(Parker {
        is_woken: loom::sync::Mutex::new(false),
        changed: loom::sync::Condvar::new(),
    });
}

impl Threads for Modelled {
    type Lock<V> = ModelLock<V>;
    type WaitQueue = VecDeque<Arc<Parker>>;
    type Sleeper = Arc<Parker>;
    type Entered = ();

    fn enter() {}
    fn enqueue(queue: &mut Self::WaitQueue, _wait: Wait) {
        queue.push_back(OWN.with(Arc::clone));
    }
    fn withdraw(queue: &mut Self::WaitQueue) -> bool {
        let own = OWN.with(Arc::clone);
        let place = queue.iter().position(|parker| Arc::ptr_eq(parker, &own));
        place.and_then(|p| queue.remove(p)).is_some()
    }
    fn waiting(queue: &mut Self::WaitQueue) -> usize {
        queue.len()
    }
    fn dequeue(queue: &mut Self::WaitQueue) -> Option<Arc<Parker>> {
        queue.pop_front()
    }
    fn wake(sleeper: Arc<Parker>) {
        *sleeper.is_woken.lock().unwrap() = true;
        sleeper.changed.notify_one();
    }
    fn park<V>(guard: loom::sync::MutexGuard<'_, V>) {
        drop(guard);
        let parker = OWN.with(Arc::clone);
        let mut is_woken = parker.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = parker.changed.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }
    fn park_until<V>(_guard: loom::sync::MutexGuard<'_, V>, _until: Duration) {
        unreachable!("loom has no time, and these models ask for none")
    }
    fn yield_now() {
        thread::yield_now();
    }
    fn sleep(_time: Duration) {
        unreachable!("loom has no time, and these models ask for none")
    }
    fn now() -> Duration {
        Duration::ZERO
    }
    fn note(_event: Event) {}
}

#[test]
fn a_semaphore_lets_in_as_many_as_it_has() {
    loom::model(|| {
        let shared = Arc::new((Semaphore::<Modelled>::new(1), AtomicUsize::new(0)));
        let enter = |shared: &(Semaphore<Modelled>, AtomicUsize)| {
            shared.0.p();
            assert_eq!(shared.1.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
            shared.1.fetch_sub(1, Ordering::SeqCst);
            shared.0.v();
        };
        let other = shared.clone();
        let thread = thread::spawn(move || enter(&other));
        enter(&shared);
        thread.join().unwrap();
        assert_eq!(shared.0.value(), 1);
    });
}

#[test]
fn every_v_reaches_a_p() {
    loom::model(|| {
        let s = Arc::new(Semaphore::<Modelled>::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let s = s.clone();
                thread::spawn(move || s.p())
            })
            .collect();
        s.v();
        s.v();
        // Loom reports a thread that is blocked at the end as a deadlock.
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(s.value(), 0);
    });
}

#[test]
fn a_mutex_is_handed_over_once() {
    loom::model(|| {
        let count = Arc::new(Mutex::<Modelled, usize>::new(0));
        let other = count.clone();
        let thread = thread::spawn(move || *other.lock() += 1);
        *count.lock() += 1;
        thread.join().unwrap();
        assert_eq!(*count.lock(), 2);
    });
}

#[test]
fn a_signal_between_unlocking_and_waiting_is_not_lost() {
    loom::model(|| {
        let shared = Arc::new((
            Mutex::<Modelled, bool>::new(false),
            Condition::<Modelled>::new(),
        ));
        let signals = shared.clone();
        let thread = thread::spawn(move || {
            *signals.0.lock() = true;
            signals.1.signal();
        });
        let mut is_set = shared.0.lock();
        while !*is_set {
            shared.1.wait(&mut is_set);
        }
        drop(is_set);
        thread.join().unwrap();
    });
}

#[test]
fn a_barrier_opens_for_all_and_closes_again() {
    loom::model(|| {
        let barrier = Arc::new(Barrier::<Modelled>::new(2));
        let other = barrier.clone();
        let thread = thread::spawn(move || (0..2).filter(|_| other.wait()).count());
        let last_here = (0..2).filter(|_| barrier.wait()).count();
        assert_eq!(
            last_here + thread.join().unwrap(),
            2,
            "each round has one that came last"
        );
    });
}

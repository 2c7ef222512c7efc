//! The operating system's threads, behind the same interface as fibers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use antiphon_fiber::{Condition, ManyServers, Mutex, OsThreads, Semaphore, Threads};

use super::{run, spawn};

/// The same program over any kind of threads.
fn hand_over<K: Threads>(items: u64) -> (impl FnOnce(), impl FnOnce() -> u64)
where
    Semaphore<K>: Send + Sync,
{
    let slots = Arc::new((
        Semaphore::<K>::new(0),
        Semaphore::<K>::new(1),
        AtomicU64::new(0),
    ));
    let theirs = slots.clone();
    let produce = move || {
        for n in 1..=items {
            slots.1.p();
            slots.2.store(n, Ordering::Relaxed);
            slots.0.v();
        }
    };
    let consume = move || {
        (0..items).fold(0, |sum, _| {
            theirs.0.p();
            let n = theirs.2.load(Ordering::Relaxed);
            theirs.1.v();
            sum + n
        })
    };
    (produce, consume)
}

#[test]
fn one_program_runs_on_fibers_and_on_the_systems_threads() {
    let (produce, consume) = hand_over::<OsThreads>(1000);
    let producer = std::thread::spawn(produce);
    assert_eq!(consume(), 500_500);
    producer.join().unwrap();
    let outcome = run(2, || {
        let (produce, consume) = hand_over::<ManyServers>(1000);
        let producer = spawn(produce);
        let sum = consume();
        producer.join().unwrap();
        sum
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 500_500);
}

#[test]
fn the_systems_threads_time_out_and_are_signalled() {
    let shared = Arc::new((
        Mutex::<OsThreads, bool>::new(false),
        Condition::<OsThreads>::new(),
    ));
    let mut guard = shared.0.lock();
    assert!(!shared.1.wait_for(&mut guard, Duration::from_millis(2)));
    let signals = shared.clone();
    let other = std::thread::spawn(move || {
        *signals.0.lock() = true;
        signals.1.signal();
    });
    while !*guard {
        shared.1.wait(&mut guard);
    }
    drop(guard);
    other.join().unwrap();
}

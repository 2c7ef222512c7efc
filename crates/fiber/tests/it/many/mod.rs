//! Fibers on several servers, and the operating system's threads behind the same interface.

mod idle_parker;
mod outlived;
mod outside;
mod threads;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use antiphon_fiber::{
    Barrier, Builder, Condition, Handle, Many, ManyServers, Mutex, Outcome, Policy, Region, Run,
    Semaphore, Threads,
};

fn many(servers: usize) -> Run<Many> {
    Run::many(NonZeroUsize::new(servers).unwrap())
}

fn run<T: Send + 'static>(servers: usize, main: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    // SAFETY: these tests keep nothing that belongs to an OS thread over a switch.
    unsafe { many(servers).start(main) }.unwrap()
}

fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> Handle<T, Many> {
    // SAFETY: these tests keep nothing that belongs to an OS thread over a switch.
    unsafe { ManyServers::spawn(Builder::default(), body) }.unwrap()
}

#[test]
fn work_is_done_once_whoever_does_it() {
    for servers in 1..=4 {
        let outcome = run(servers, || {
            let sum = Arc::new(AtomicU64::new(0));
            let handles: Vec<_> = (0..1000_u64)
                .map(|n| {
                    let sum = sum.clone();
                    spawn(move || {
                        ManyServers::yield_now();
                        sum.fetch_add(n, Ordering::Relaxed);
                    })
                })
                .collect();
            handles.into_iter().for_each(|h| h.join().unwrap());
            sum.load(Ordering::Relaxed)
        });
        assert_eq!(outcome.value.unwrap().unwrap(), 499_500);
        assert_eq!(outcome.counters.ends, 1001);
    }
}

#[test]
fn servers_take_work_from_one_another() {
    let outcome = run(2, || {
        let seen = Arc::new(parking_lot::Mutex::new(HashSet::new()));
        let gate = Arc::new(Barrier::<ManyServers>::new(2));
        let handles: Vec<_> = (0..2)
            .map(|_| {
                let (seen, gate) = (seen.clone(), gate.clone());
                spawn(move || {
                    gate.wait();
                    // Spins until the other runs at the same time, which takes two servers.
                    loop {
                        let both = {
                            let mut seen = seen.lock();
                            seen.insert(std::thread::current().id());
                            seen.len() == 2
                        };
                        if both {
                            break;
                        }
                        std::thread::yield_now();
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|h| h.join().unwrap());
    });
    assert!(outcome.value.unwrap().is_ok());
    assert!(outcome.counters.steals > 0);
}

#[test]
fn mutual_exclusion_holds_over_switches() {
    let outcome = run(3, || {
        let count = Arc::new(Mutex::<ManyServers, (u64, bool)>::new((0, false)));
        let handles: Vec<_> = (0..8)
            .map(|_| {
                let count = count.clone();
                spawn(move || {
                    for _ in 0..500 {
                        let mut guard = count.lock();
                        assert!(!std::mem::replace(&mut guard.1, true));
                        ManyServers::yield_now();
                        guard.0 += 1;
                        guard.1 = false;
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|h| h.join().unwrap());
        count.lock().0
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 4000);
}

#[test]
fn a_region_runs_one_fiber_at_a_time() {
    for policy in [
        Policy::Cooperative,
        Policy::SlicedDeferred(Duration::from_micros(200)),
    ] {
        // SAFETY: these tests keep nothing that belongs to an OS thread over a switch.
        let outcome = unsafe {
            many(3).policy(policy).start(|| {
                let inside: Arc<Vec<AtomicU64>> =
                    Arc::new((0..4).map(|_| AtomicU64::new(0)).collect());
                let handles: Vec<_> = (0..40_usize)
                    .map(|n| {
                        let inside = inside.clone();
                        let builder = Builder {
                            region: Some(Region(n % 4)),
                            ..Builder::default()
                        };
                        ManyServers::spawn(builder, move || {
                            for _ in 0..50 {
                                // Not atomic together: only the region keeps others out between the
                                // two.
                                let before = inside[n % 4].load(Ordering::Relaxed);
                                std::hint::spin_loop();
                                inside[n % 4].store(before + 1, Ordering::Relaxed);
                                ManyServers::yield_now();
                            }
                        })
                        .unwrap()
                    })
                    .collect();
                handles.into_iter().for_each(|h| h.join().unwrap());
                inside
                    .iter()
                    .map(|i| i.load(Ordering::Relaxed))
                    .collect::<Vec<_>>()
            })
        }
        .unwrap();
        assert_eq!(outcome.value.unwrap().unwrap(), [500; 4]);
    }
}

#[test]
fn sleepers_and_time_outs_wake_on_any_server() {
    let outcome = run(2, || {
        let shared = Arc::new((
            Mutex::<ManyServers, ()>::new(()),
            Condition::<ManyServers>::new(),
        ));
        let handles: Vec<_> = (0..50_u64)
            .map(|n| {
                let shared = shared.clone();
                spawn(move || {
                    ManyServers::sleep(Duration::from_micros(n * 37 % 500));
                    let mut guard = shared.0.lock();
                    let came = shared
                        .1
                        .wait_for(&mut guard, Duration::from_micros(n * 61 % 700));
                    drop(guard);
                    shared.1.signal();
                    came
                })
            })
            .collect();
        // Each result, signalled or timed out, is one that came.
        handles
            .into_iter()
            .map(|h| u32::from(h.join().is_ok()))
            .sum::<u32>()
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 50);
    assert!(outcome.blocked.is_empty());
}

#[test]
fn a_deadlock_over_several_servers_ends_and_is_told() {
    let outcome = run(3, || {
        let locks = Arc::new([
            Semaphore::<ManyServers>::new(1),
            Semaphore::<ManyServers>::new(1),
        ]);
        let met = Arc::new(Barrier::<ManyServers>::new(2));
        for first in 0..2_usize {
            let (locks, met) = (locks.clone(), met.clone());
            let builder = Builder {
                name: Some(format!("philosopher {first}")),
                ..Builder::default()
            };
            // SAFETY: these tests keep nothing that belongs to an OS thread over a switch.
            unsafe {
                ManyServers::spawn(builder, move || {
                    locks[first].p();
                    met.wait();
                    locks[1 - first].p();
                })
            }
            .unwrap();
        }
    });
    let names: Vec<_> = outcome
        .blocked
        .iter()
        .flat_map(|b| b.name.clone())
        .collect();
    assert_eq!(names, ["philosopher 0", "philosopher 1"]);
}

#[test]
fn ticks_move_fibers_between_servers_at_any_instruction() {
    // SAFETY: the sliceable code is arithmetic and calls of the crate.
    let outcome = unsafe {
        many(2)
            .policy(Policy::Sliced(Duration::from_micros(100)))
            .start(|| {
                let s = Arc::new(Semaphore::<ManyServers>::new(1));
                let handles: Vec<_> = (0..6_u64)
                    .map(|n| {
                        let s = s.clone();
                        spawn(move || {
                            ManyServers::sliceable(|| {
                                let mut x = n;
                                for round in 0..2_000_000_u64 {
                                    x = x
                                        .wrapping_mul(6_364_136_223_846_793_005)
                                        .wrapping_add(round);
                                    if round.is_multiple_of(1000) {
                                        s.p();
                                        s.v();
                                    }
                                }
                                x
                            })
                        })
                    })
                    .collect();
                handles
                    .into_iter()
                    .map(|h| h.join().unwrap())
                    .collect::<Vec<_>>()
            })
    }
    .unwrap();
    let expected: Vec<u64> = (0..6)
        .map(|n| {
            (0..2_000_000_u64).fold(n, |x: u64, round| {
                x.wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(round)
            })
        })
        .collect();
    assert_eq!(outcome.value.unwrap().unwrap(), expected);
}

//! When a running fiber loses its processor, and schedules that can be had again.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use antiphon_fiber::{OneServer, Policy, Run, Schedule, Semaphore, Threads};

use super::{Log, spawn};

#[test]
fn counted_switches_come_after_so_many_polls_of_the_processor() {
    let log = Log::default();
    let seen = log.clone();
    let outcome = Run::one()
        .policy(Policy::Counted(3))
        .start(move || {
            for n in 0..2 {
                let log = log.clone();
                spawn(move || {
                    for _ in 0..4 {
                        log.add(n);
                        OneServer::poll();
                    }
                });
            }
        })
        .unwrap();
    // The count belongs to the processor: when fiber 0 ends, what it left of the count is fiber
    // 1's.
    assert_eq!(seen.steps(), [0, 0, 0, 1, 1, 1, 0, 1]);
    assert_eq!(outcome.counters.budgets, 2);
}

#[test]
fn ticks_switch_at_polls_when_deferred() {
    let outcome = Run::one()
        .policy(Policy::SlicedDeferred(Duration::from_micros(500)))
        .start(|| {
            let stop = Rc::new(Cell::new(false));
            let spins = stop.clone();
            let spinner = spawn(move || {
                while !spins.get() {
                    OneServer::poll();
                }
            });
            OneServer::yield_now();
            // Reached only because a tick took the processor from the spinner.
            stop.set(true);
            spinner.join().unwrap();
        })
        .unwrap();
    assert!(outcome.value.unwrap().is_ok());
    assert!(outcome.counters.ticks >= 1);
}

#[test]
fn ticks_switch_inside_sliceable_code_at_any_instruction() {
    let outcome = Run::one()
        .policy(Policy::Sliced(Duration::from_micros(500)))
        .start(|| {
            let stop = Rc::new(Cell::new(0_u64));
            let spins = stop.clone();
            let spinner = spawn(move || {
                // A loop with nothing added to it.
                let flag = spins.as_ptr();
                // SAFETY: reads and arithmetic only.
                unsafe {
                    OneServer::sliceable(|| {
                        let mut turns = 0_u64;
                        while flag.read_volatile() == 0 {
                            turns = turns.wrapping_add(1);
                        }
                        turns
                    })
                }
            });
            OneServer::yield_now();
            stop.set(1);
            spinner.join().unwrap()
        })
        .unwrap();
    assert!(outcome.value.unwrap().unwrap() > 0);
    assert!(outcome.counters.ticks >= 1);
}

#[test]
fn ticks_in_the_midst_of_synchronization_lose_nothing() {
    const ROUNDS: u64 = 20_000;
    let outcome = Run::one()
        .policy(Policy::Sliced(Duration::from_micros(50)))
        .start(|| {
            let (full, empty) = (
                Rc::new(Semaphore::<OneServer>::new(0)),
                Rc::new(Semaphore::<OneServer>::new(3)),
            );
            let (f, e) = (full.clone(), empty.clone());
            let producer = spawn(move || {
                // SAFETY: calls of this crate, and a loop.
                unsafe {
                    OneServer::sliceable(|| {
                        for _ in 0..ROUNDS {
                            e.p();
                            f.v();
                        }
                    })
                }
            });
            // SAFETY: the code is calls of this crate, and a loop.
            unsafe {
                OneServer::sliceable(|| {
                    for _ in 0..ROUNDS {
                        full.p();
                        empty.v();
                    }
                })
            };
            producer.join().unwrap();
            (full.value(), empty.value())
        })
        .unwrap();
    assert_eq!(outcome.value.unwrap().unwrap(), (0, 3));
}

#[test]
fn seeds_give_schedules_that_are_had_again_and_replayed() {
    let steps = |schedule: Schedule| {
        let log = Log::default();
        let seen = log.clone();
        let outcome = Run::one()
            .policy(Policy::SlicedDeferred(Duration::from_millis(10)))
            .schedule(schedule)
            .start(move || {
                for n in 0..4 {
                    let log = log.clone();
                    spawn(move || {
                        for _ in 0..100 {
                            log.add(n);
                            OneServer::poll();
                        }
                    });
                }
            })
            .unwrap();
        (seen.steps(), outcome.trace.unwrap())
    };
    let (first, trace) = steps(Schedule::Seeded(1));
    assert_eq!(steps(Schedule::Seeded(1)).0, first);
    assert_ne!(steps(Schedule::Seeded(2)).0, first);
    let text = trace.to_string();
    assert_eq!(steps(Schedule::Replayed(text.parse().unwrap())).0, first);
}

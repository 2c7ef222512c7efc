//! Fibers on one server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use antiphon_fiber::{
    Barrier, Birth, Condition, Mutex, OneServer, Outcome, Policy, Run, Schedule, Semaphore, Threads,
};

fn run<T: 'static>(main: impl FnOnce() -> T + 'static) -> Outcome<T> {
    Run::one().start(main).unwrap()
}

fn spawn<T: 'static>(
    body: impl FnOnce() -> T + 'static,
) -> antiphon_fiber::Handle<T, antiphon_fiber::One> {
    OneServer::spawn(Birth::default(), body).unwrap()
}

fn named(name: &str) -> Birth {
    Birth {
        name: Some(name.into()),
        ..Birth::default()
    }
}

/// Steps of fibers, in the order in which they happened.
#[derive(Clone, Default)]
struct Log(Rc<RefCell<Vec<u32>>>);

impl Log {
    fn add(&self, step: u32) {
        self.0.borrow_mut().push(step);
    }

    fn steps(&self) -> Vec<u32> {
        self.0.borrow().clone()
    }
}

#[test]
fn results_and_panics_reach_who_joins() {
    let outcome = run(|| {
        let good = spawn(|| 6 * 7);
        let bad = spawn(|| -> u32 { std::panic::panic_any("no") });
        (
            good.join().unwrap(),
            *bad.join().unwrap_err().downcast::<&str>().unwrap(),
        )
    });
    assert_eq!(outcome.value.unwrap().unwrap(), (42, "no"));
    assert_eq!(outcome.counters.spawns, 3);
    assert_eq!(outcome.counters.ends, 3);
}

#[test]
fn nothing_switches_until_the_running_fiber_blocks() {
    let log = Log::default();
    let seen = log.clone();
    run(move || {
        for n in 1..=3 {
            let log = log.clone();
            spawn(move || log.add(n));
        }
        log.add(0);
    });
    assert_eq!(seen.steps(), [0, 1, 2, 3]);
}

#[test]
fn yields_go_round_in_order() {
    let log = Log::default();
    let seen = log.clone();
    let outcome = run(move || {
        for n in 0..3 {
            let log = log.clone();
            spawn(move || {
                for _ in 0..2 {
                    log.add(n);
                    OneServer::yield_now();
                }
            });
        }
    });
    assert_eq!(seen.steps(), [0, 1, 2, 0, 1, 2]);
    assert_eq!(outcome.counters.yields, 6);
}

#[test]
fn a_semaphore_hands_over_in_order() {
    let log = Log::default();
    let seen = log.clone();
    let outcome = run(move || {
        let s = Rc::new(Semaphore::<OneServer>::new(0));
        for n in 0..4 {
            let (s, log) = (s.clone(), log.clone());
            spawn(move || {
                s.p();
                log.add(n);
            });
        }
        OneServer::yield_now();
        // Two are given out before anybody runs; a P of our own must not take what was given to another.
        s.v();
        s.v();
        assert!(!s.try_p());
        s.v();
        s.v();
        s.v();
        assert_eq!(s.value(), 1);
        s.p();
    });
    assert_eq!(seen.steps(), [0, 1, 2, 3]);
    assert_eq!(outcome.counters.blocked_p_operations, 4);
}

#[test]
fn priorities_come_first_and_are_inherited() {
    let log = Log::default();
    let seen = log.clone();
    run(move || {
        for (n, priority) in [(0, 0), (1, 5), (2, -1), (3, 5)] {
            let log = log.clone();
            let birth = Birth {
                priority: Some(priority),
                ..Birth::default()
            };
            OneServer::spawn(birth, move || {
                log.add(n);
                spawn(move || log.add((10 + OneServer::priority()) as u32));
            })
            .unwrap();
        }
        // Lowering one's own priority lets the others run at once.
        OneServer::set_priority(-2);
        log.add(99);
    });
    assert_eq!(seen.steps(), [1, 3, 15, 15, 0, 10, 2, 9, 99]);
}

#[test]
fn a_named_yield_runs_that_fiber_next() {
    let log = Log::default();
    let seen = log.clone();
    run(move || {
        let handles: Vec<_> = (0..4)
            .map(|n| {
                let log = log.clone();
                spawn(move || log.add(n))
            })
            .collect();
        handles[2].yield_to();
        log.add(10);
        // It has ended: a plain yield.
        handles[2].yield_to();
    });
    assert_eq!(seen.steps(), [2, 0, 1, 3, 10]);
}

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
    // The count belongs to the processor: when fiber 0 ends, what it left of the count is fiber 1's.
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
            // SAFETY: as above.
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
fn sleepers_wake_in_the_order_of_their_times() {
    let log = Log::default();
    let seen = log.clone();
    Run::one()
        .schedule(Schedule::Recorded)
        .start(move || {
            for n in [3, 1, 2] {
                let log = log.clone();
                spawn(move || {
                    OneServer::sleep(Duration::from_secs(u64::from(n) * 3600));
                    log.add(n);
                });
            }
        })
        .unwrap();
    assert_eq!(
        seen.steps(),
        [1, 2, 3],
        "hours pass at once in virtual time"
    );
}

#[test]
fn real_sleep_lasts_at_least_its_time() {
    let outcome = run(|| {
        let before = std::time::Instant::now();
        OneServer::sleep(Duration::from_millis(20));
        before.elapsed()
    });
    assert!(outcome.value.unwrap().unwrap() >= Duration::from_millis(20));
}

#[test]
fn a_condition_is_signalled_or_times_out() {
    let outcome = run(|| {
        let shared = Rc::new((
            Mutex::<OneServer, u32>::new(0),
            Condition::<OneServer>::new(),
        ));
        let waits = shared.clone();
        let waiter = spawn(move || {
            let (mutex, condition) = &*waits;
            let mut value = mutex.lock();
            while *value == 0 {
                condition.wait(&mut value);
            }
            // Nobody signals any more.
            let came = condition.wait_for(&mut value, Duration::from_millis(5));
            (*value, came)
        });
        OneServer::yield_now();
        *shared.0.lock() = 7;
        shared.1.signal();
        let timed = waiter.join().unwrap();
        // The one that timed out is in no line any more.
        shared.1.broadcast();
        timed
    });
    assert_eq!(outcome.value.unwrap().unwrap(), (7, false));
}

#[test]
fn a_barrier_lets_all_go_on_together() {
    let log = Log::default();
    let seen = log.clone();
    run(move || {
        let barrier = Rc::new(Barrier::<OneServer>::new(3));
        for n in 0..3 {
            let (barrier, log) = (barrier.clone(), log.clone());
            spawn(move || {
                for round in 0..3 {
                    log.add(round * 10 + n);
                    barrier.wait();
                }
            });
        }
    });
    let rounds: Vec<u32> = seen.steps().iter().map(|s| s / 10).collect();
    assert_eq!(rounds, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
}

#[test]
fn what_is_blocked_for_ever_is_named_with_its_place() {
    let outcome = run(|| {
        let s = Rc::new(Semaphore::<OneServer>::new(0));
        let held = s.clone();
        OneServer::spawn(named("consumer"), move || held.p()).unwrap();
        s.p();
    });
    assert!(outcome.value.is_none());
    let names: Vec<_> = outcome.blocked.iter().map(|b| b.name.as_deref()).collect();
    assert_eq!(names, [Some("main"), Some("consumer")]);
    let wait = outcome.blocked[1].wait.unwrap();
    assert_eq!(wait.on, "a semaphore");
    assert!(wait.at.file().ends_with("one.rs"));
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

#[test]
fn a_hundred_thousand_fibers_live_at_once() {
    let outcome = Run::one()
        .stack_bytes(16 << 10)
        .start(|| {
            let (all, gate) = (
                Rc::new(Cell::new(0)),
                Rc::new(Semaphore::<OneServer>::new(0)),
            );
            for _ in 0..100_000 {
                let (all, gate) = (all.clone(), gate.clone());
                spawn(move || {
                    all.set(all.get() + 1);
                    gate.p();
                });
            }
            OneServer::yield_now();
            let alive = all.get();
            (0..100_000).for_each(|_| gate.v());
            alive
        })
        .unwrap();
    assert_eq!(outcome.value.unwrap().unwrap(), 100_000);
    assert!(outcome.blocked.is_empty());
}

#[test]
fn a_run_within_a_run_is_refused() {
    let outcome = run(|| Run::one().start(|| ()).err().map(|e| e.to_string()));
    assert!(
        outcome
            .value
            .unwrap()
            .unwrap()
            .unwrap()
            .contains("spawn a fiber")
    );
}

#[test]
fn distributions_are_kept_when_asked_for() {
    let outcome = Run::one()
        .histograms()
        .start(|| {
            for _ in 0..10 {
                OneServer::yield_now();
            }
        })
        .unwrap();
    let histograms = outcome.histograms.unwrap();
    assert_eq!(histograms.ready_to_run_ns.len(), 11);
    assert_eq!(histograms.turn_ns.len(), 11);
}

#[test]
fn a_read_that_blocks_parks_its_fiber_alone() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let outcome = run(move || {
        let reads = spawn(move || {
            OneServer::blocking(move || {
                let mut word = [0; 5];
                std::io::Read::read_exact(&mut reader, &mut word).map(|()| word)
            })
        });
        // The reader goes first and blocks; if it held the server, nobody would ever write.
        OneServer::yield_now();
        std::io::Write::write_all(&mut writer, b"hello").unwrap();
        reads.join().unwrap().unwrap()
    });
    assert_eq!(&outcome.value.unwrap().unwrap(), b"hello");
}

#[test]
fn a_future_is_waited_for_while_others_run() {
    struct Third(u32);
    impl Future for Third {
        type Output = u32;
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context,
        ) -> std::task::Poll<u32> {
            self.0 += 1;
            // Woken before it is parked: the wake-up must not be lost.
            context.waker().wake_by_ref();
            if self.0 == 3 {
                std::task::Poll::Ready(7)
            } else {
                std::task::Poll::Pending
            }
        }
    }
    let outcome = run(|| {
        let others = spawn(|| (0..200).for_each(|_| OneServer::yield_now()));
        let value = OneServer::wait_for(Third(0));
        others.join().unwrap();
        value
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 7);
}

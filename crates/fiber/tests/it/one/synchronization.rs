//! Waiting on one server: for other fibers, for time, and for what is outside.

use std::rc::Rc;
use std::time::Duration;

use antiphon_fiber::{Barrier, Condition, Mutex, OneServer, Run, Schedule, Semaphore, Threads};

use super::{Log, named, run, spawn};

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
        // Two are given out before anybody runs; a P of our own must not take what was given to
        // another.
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
        // The one that timed out is in no queue any more.
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
    assert!(wait.at.file().ends_with("synchronization.rs"));
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

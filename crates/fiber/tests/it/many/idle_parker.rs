//! Fibers that sleep for their server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use antiphon_fiber::{
    Builder, Condition, ManyServers, Mutex, Region, Run, Schedule, Semaphore, Threads,
};

use super::{run, spawn};

/// Bounds what never takes so long.
const LIMIT: Duration = Duration::from_secs(60);

/// Where a fiber sleeps until it is woken.
#[derive(Default)]
struct Place {
    is_woken: parking_lot::Mutex<bool>,
    changed: parking_lot::Condvar,
    is_asleep: AtomicBool,
    sleeps: AtomicU64,
}

impl Wake for Place {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock() = true;
        self.changed.notify_one();
    }
}

impl Place {
    /// Whether it ended before the limit.
    fn sleep(&self, until: Option<Instant>) -> bool {
        let limit = Instant::now() + LIMIT;
        let until = until.map_or(limit, |until| until.min(limit));
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        self.is_asleep.store(true, Ordering::SeqCst);
        let mut is_woken = self.is_woken.lock();
        while !*is_woken && !self.changed.wait_until(&mut is_woken, until).timed_out() {}
        self.is_asleep.store(false, Ordering::SeqCst);
        *is_woken = false;
        Instant::now() < limit
    }

    /// Stands in for the caller's server; nothing if that has something to run.
    fn park_while_idle(self: &Arc<Self>) -> Option<bool> {
        let waker = Waker::from(self.clone());
        ManyServers::park_while_idle(&waker, |until| self.sleep(until))
    }

    /// Blocks a thread of the system until a fiber sleeps here.
    fn await_sleeper(&self) {
        while !self.is_asleep.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Sleeps here, and gives way where that may not be, until something holds.
    fn until(self: &Arc<Self>, holds: impl Fn() -> bool) {
        while !holds() {
            match self.park_while_idle() {
                Some(in_time) => assert!(in_time, "nobody woke who stands in"),
                None => ManyServers::yield_now(),
            }
        }
    }
}

#[test]
fn a_fiber_that_parks_for_an_idle_server_is_woken_for_what_comes_to_others_from_outside() {
    for servers in 1..=3 {
        let outcome = run(servers, || {
            let (place, done) = (Arc::<Place>::default(), Arc::new(AtomicU64::new(0)));
            for _ in 0..20 {
                let (sees, done) = (place.clone(), done.clone());
                spawn(move || {
                    ManyServers::blocking({
                        let sees = sees.clone();
                        move || sees.await_sleeper()
                    });
                    done.fetch_add(1, Ordering::SeqCst);
                    // Where this is another server.
                    sees.wake();
                });
            }
            place.until(|| done.load(Ordering::SeqCst) == 20);
            place.sleeps.load(Ordering::SeqCst)
        });
        assert!(outcome.value.unwrap().unwrap() > 0);
    }
}

#[test]
fn no_fiber_parks_for_a_server_that_has_something_to_run() {
    let outcome = run(1, || {
        let place = Arc::<Place>::default();
        let other = spawn(|| ());
        assert!(ManyServers::has_others());
        let early = place.park_while_idle();
        other.join().unwrap();
        assert!(!ManyServers::has_others());
        early
    });
    assert_eq!(outcome.value.unwrap().unwrap(), None);
}

#[test]
fn a_fiber_that_parks_for_an_idle_server_comes_back_for_an_alarm() {
    let outcome = run(1, || {
        let (place, is_awake) = (Arc::<Place>::default(), Arc::new(AtomicBool::new(false)));
        let wakes = is_awake.clone();
        spawn(move || {
            ManyServers::sleep(Duration::from_millis(5));
            wakes.store(true, Ordering::SeqCst);
        });
        ManyServers::yield_now();
        place.until(|| is_awake.load(Ordering::SeqCst));
    });
    assert!(outcome.value.unwrap().is_ok());
}

#[test]
fn a_fiber_that_parks_for_an_idle_server_is_woken_for_a_fiber_that_only_its_server_may_run() {
    let outcome = run(2, || {
        ManyServers::set_region(Region(0));
        let (place, gate) = (
            Arc::<Place>::default(),
            Arc::new(Semaphore::<ManyServers>::new(0)),
        );
        let has_passed = Arc::new(AtomicBool::new(false));
        let (own, passes) = (gate.clone(), has_passed.clone());
        spawn(move || {
            own.p();
            passes.store(true, Ordering::SeqCst);
        });
        ManyServers::yield_now();
        let sees = place.clone();
        let builder = Builder {
            region: Some(Region(1)),
            ..Builder::default()
        };
        let opens = move || {
            // Its server has nothing else to do.
            sees.await_sleeper();
            gate.v();
        };
        // SAFETY: nothing in it belongs to an OS thread.
        drop(unsafe { ManyServers::spawn(builder, opens) }.unwrap());
        place.until(|| has_passed.load(Ordering::SeqCst));
    });
    assert!(outcome.value.unwrap().is_ok());
}

#[test]
fn a_run_with_a_director_has_no_rests_to_park_for() {
    use antiphon_fiber::OneServer;
    let outcome = Run::one()
        .schedule(Schedule::Seeded(7))
        .start(|| OneServer::park_while_idle(Waker::noop(), |_| ()))
        .unwrap();
    assert_eq!(outcome.value.unwrap().unwrap(), None);
}

/// A fiber that waits for idle servers at a place.
fn waiter(place: &Arc<Place>) {
    let place = place.clone();
    spawn(move || {
        while ManyServers::wait_for_idle() {
            let _ = place.park_while_idle();
        }
    });
}

#[test]
fn a_rest_is_waited_for_and_the_run_ends_with_the_others() {
    for servers in 1..=3 {
        let place = Arc::<Place>::default();
        let watched = place.clone();
        let outcome = run(servers, move || {
            waiter(&watched);
            let shared = Arc::new((Mutex::<ManyServers, _>::new(0), Condition::new()));
            for _ in 0..20 {
                let (sees, shared) = (watched.clone(), shared.clone());
                spawn(move || {
                    ManyServers::blocking(move || sees.await_sleeper());
                    *shared.0.lock() += 1;
                    shared.1.signal();
                });
            }
            let mut count = shared.0.lock();
            while *count < 20 {
                shared.1.wait(&mut count);
            }
        });
        assert!(outcome.value.unwrap().is_ok());
        assert!(outcome.blocked.is_empty(), "{:?}", outcome.blocked);
        assert!(place.sleeps.load(Ordering::SeqCst) > 0);
    }
}

#[test]
fn a_fiber_that_waits_for_idle_servers_keeps_no_run_from_its_end() {
    for servers in 1..=3 {
        let place = Arc::<Place>::default();
        let outcome = run(servers, move || {
            waiter(&place);
            // While this waits outside, the waiter sleeps; then nobody does, and the sleep must
            // end.
            let sees = place.clone();
            ManyServers::blocking(move || sees.await_sleeper());
            Semaphore::<ManyServers>::new(0).p();
        });
        assert!(outcome.value.is_none());
        let blocked: Vec<_> = outcome.blocked.iter().map(|fiber| &fiber.name).collect();
        assert_eq!(blocked, [&Some("main".to_owned())]);
    }
}

//! What outlives its run: the descriptors of its fibers are gone, and the next run must not touch
//! them.

use std::cell::RefCell;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use antiphon_fiber::{
    Barrier, Condition, Detached, Handle, Mutex, One, OneServer, Run, Semaphore, Threads,
};

use super::{run, spawn};

/// Runs something whose fiber is blocked for ever.
fn leave_blocked(body: impl FnOnce() + 'static) {
    let outcome = run(|| {
        spawn(body);
    });
    assert_eq!(outcome.blocked.len(), 1);
}

#[test]
fn a_semaphore_forgets_the_fibers_of_a_run_that_is_over() {
    let semaphore = Rc::new(Semaphore::<OneServer>::new(0));
    let held = semaphore.clone();
    leave_blocked(move || held.p());
    let outcome = run(move || {
        semaphore.v();
        semaphore.value()
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 1);
}

#[test]
fn a_mutex_forgets_the_fibers_of_a_run_that_is_over() {
    let mutex = Rc::new(Mutex::<OneServer, u32>::new(0));
    let held = mutex.clone();
    let outcome = run(move || {
        std::mem::forget(held.lock());
        let waits = held.clone();
        spawn(move || *waits.lock() += 1);
    });
    assert_eq!(outcome.blocked.len(), 1);
    let outcome = run(move || {
        assert!(mutex.try_lock().is_none(), "its holder never gave it back");
        let holds = mutex.clone();
        spawn(move || drop(holds.lock()));
    });
    assert_eq!(outcome.blocked.len(), 1, "and never will");
}

#[test]
fn a_condition_forgets_the_fibers_of_a_run_that_is_over() {
    let shared = Rc::new((
        Mutex::<OneServer, ()>::new(()),
        Condition::<OneServer>::new(),
    ));
    for _ in 0..3 {
        let waits = shared.clone();
        leave_blocked(move || waits.1.wait(&mut waits.0.lock()));
    }
    let again = shared.clone();
    let outcome = run(move || {
        again.1.signal();
        again.1.broadcast();
        again
            .1
            .wait_for(&mut again.0.lock(), Duration::from_millis(1))
    });
    assert!(!outcome.value.unwrap().unwrap(), "nobody signals");
}

#[test]
fn a_barrier_forgets_the_fibers_of_a_run_that_is_over() {
    let barrier = Rc::new(Barrier::<OneServer>::new(2));
    let held = barrier.clone();
    leave_blocked(move || {
        held.wait();
    });
    let one = barrier.clone();
    leave_blocked(move || {
        one.wait();
    });
    let outcome = run(move || {
        let other = barrier.clone();
        let first = spawn(move || other.wait());
        let last = barrier.wait();
        (first.join().unwrap(), last)
    });
    let (first, last) = outcome.value.unwrap().unwrap();
    assert!(first != last, "one of the two came last");
}

#[test]
fn a_handle_of_a_run_that_is_over_is_yielded_to_plainly_and_joined_for_ever() {
    let kept: Rc<RefCell<Option<Handle<(), One>>>> = Rc::default();
    let keeps = kept.clone();
    let outcome = run(move || {
        let never = Rc::new(Semaphore::<OneServer>::new(0));
        *keeps.borrow_mut() = Some(spawn(move || never.p()));
    });
    assert_eq!(outcome.blocked.len(), 1);
    let handle = kept.take().unwrap();
    let outcome = run(move || {
        let other = spawn(|| 7);
        handle.yield_to();
        assert!(!handle.is_over());
        let value = other.join().unwrap();
        spawn(move || handle.join());
        value
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 7);
    let wait = outcome.blocked[0].wait.unwrap();
    assert_eq!(wait.on, "the end of a fiber");
}

#[test]
fn fibers_of_two_runs_are_never_the_same() {
    let kept: Rc<RefCell<Vec<Detached<One>>>> = Rc::default();
    for _ in 0..20 {
        let keeps = kept.clone();
        run(move || {
            let this = OneServer::this();
            for earlier in &*keeps.borrow() {
                assert!(*earlier != this, "{earlier:?}");
                // SAFETY: the caller is no fiber of their runs, so nothing is killed.
                unsafe { earlier.kill() };
            }
            keeps.borrow_mut().push(this);
            OneServer::yield_now();
        });
    }
    assert_eq!(kept.borrow().len(), 20);
}

#[test]
fn a_sleeper_of_a_run_that_is_over_wakes_nobody() {
    let queue = Rc::new(RefCell::new(<OneServer as Threads>::WaitQueue::default()));
    let kept = Rc::new(RefCell::new(None));
    let (own, keeps) = (queue.clone(), kept.clone());
    let outcome = run(move || {
        let semaphore = Rc::new(Semaphore::<OneServer>::new(0));
        let held = semaphore.clone();
        spawn(move || held.p());
        let wait = antiphon_fiber::Wait {
            on: "a test",
            at: std::panic::Location::caller(),
        };
        OneServer::enqueue(&mut own.borrow_mut(), wait);
        *keeps.borrow_mut() = OneServer::dequeue(&mut own.borrow_mut());
        semaphore.p();
    });
    assert_eq!(outcome.blocked.len(), 2);
    let outcome = run(move || {
        let sleeper = kept.take().unwrap();
        assert!(!sleeper.is_killed());
        OneServer::wake(sleeper);
        assert_eq!(OneServer::waiting(&mut queue.borrow_mut()), 0);
    });
    assert!(outcome.value.unwrap().is_ok());
    assert!(outcome.blocked.is_empty());
}

const ASKED: &str = "ANTIPHON_FIBER_CALLBACK_PANICS";

/// To unwind would unmap the stacks of living fibers, and leave the thread a server that is gone.
#[test]
fn a_callback_that_panics_aborts_the_process() {
    if std::env::var_os(ASKED).is_some() {
        let run = std::panic::catch_unwind(|| {
            Run::one()
                .on_turn(|_| panic!("the callback's own words"))
                .start(OneServer::yield_now)
        });
        unreachable!("the process aborts: {:?}", run.is_ok());
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "one::outlived::a_callback_that_panics_aborts_the_process",
            "--nocapture",
        ])
        .env(ASKED, "yes")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the callback's own words"), "{said}");
    assert!(said.contains("between two fibers"), "{said}");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT));
}

//! Synchronization that outlives its run, or that two runs use.

use std::sync::Arc;
use std::sync::mpsc;

use antiphon_fiber::{Handle, Many, ManyServers, Semaphore, Threads};

use super::{run, spawn};

#[test]
fn a_semaphore_forgets_the_fibers_of_a_run_that_is_over() {
    let semaphore = Arc::new(Semaphore::<ManyServers>::new(0));
    for servers in [1, 2, 3] {
        let held = semaphore.clone();
        let outcome = run(servers, move || held.p());
        assert_eq!(outcome.blocked.len(), 1);
    }
    let outcome = run(2, move || {
        semaphore.v();
        semaphore.value()
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 1);
}

#[test]
fn a_handle_of_a_run_that_is_over_is_yielded_to_plainly() {
    let kept: Arc<parking_lot::Mutex<Option<Handle<(), Many>>>> = Arc::default();
    let keeps = kept.clone();
    let outcome = run(2, move || {
        let never = Arc::new(Semaphore::<ManyServers>::new(0));
        *keeps.lock() = Some(spawn(move || never.p()));
    });
    assert_eq!(outcome.blocked.len(), 1);
    let outcome = run(2, move || {
        let handle = kept.lock().take().unwrap();
        handle.yield_to();
        handle.is_over()
    });
    assert!(!outcome.value.unwrap().unwrap());
}

/// A wake-up of one run's fiber by the other would put it into the other's ready list.
#[test]
fn a_queue_that_two_runs_wait_in_at_the_same_time_is_refused() {
    let semaphore = Arc::new(Semaphore::<ManyServers>::new(0));
    let (tell, reported) = mpsc::channel();
    let (end, ends) = mpsc::channel();
    let waits = semaphore.clone();
    let first = std::thread::spawn(move || {
        run(1, move || {
            let held = waits.clone();
            let waiter = spawn(move || held.p());
            ManyServers::yield_now();
            tell.send(()).unwrap();
            ManyServers::blocking(move || ends.recv()).unwrap();
            waits.v();
            waiter.join().unwrap();
        })
    });
    reported.recv().unwrap();
    let second = run(1, move || semaphore.v());
    let refused = second.value.unwrap().unwrap_err();
    let words = refused.downcast_ref::<&str>().unwrap();
    assert!(words.contains("two runs wait in one queue"), "{words}");
    end.send(()).unwrap();
    let outcome = first.join().unwrap();
    assert!(outcome.value.unwrap().is_ok());
    assert!(outcome.blocked.is_empty());
}

//! What fibers wait for outside of their servers: calls that block, and what another thread makes
//! ready.

use std::sync::Arc;
use std::time::Duration;

use antiphon_fiber::{ManyServers, Threads};

use super::{run, spawn};

/// One that is killed where it waits keeps the run from its end no longer.
#[test]
fn who_is_killed_waits_for_nothing_any_more() {
    let outcome = run(1, || {
        let promise = Promise(Arc::default());
        let (waits, word) = (promise.clone(), Arc::new(parking_lot::Mutex::new(None)));
        let own = word.clone();
        let waiter = spawn(move || {
            *own.lock() = Some(ManyServers::this());
            ManyServers::wait_for(&waits);
            unreachable!("it was killed");
        });
        ManyServers::yield_now();
        let waiter_itself = word.lock().take().expect("it has run");
        // SAFETY: all that it has on its stack are two references, of which nobody knows.
        unsafe { waiter_itself.kill() };
        promise.keep();
        drop(waiter);
    });
    assert!(outcome.value.is_some_and(|value| value.is_ok()));
    assert!(outcome.blocked.is_empty(), "{:?}", outcome.blocked);
}

#[test]
fn who_waits_in_the_background_keeps_the_run_from_its_end_no_longer() {
    let outcome = run(2, || {
        let promise = Promise(Arc::default());
        let waiter = spawn(move || ManyServers::wait_in_background(&promise));
        ManyServers::yield_now();
        drop(waiter);
    });
    assert!(outcome.value.is_some_and(|value| value.is_ok()));
    assert_eq!(outcome.blocked.len(), 1, "{:?}", outcome.blocked);
}

#[test]
fn calls_that_block_come_back_to_any_server() {
    let outcome = run(3, || {
        let handles: Vec<_> = (0..200_u64)
            .map(|n| {
                spawn(move || {
                    let doubled = ManyServers::blocking(move || {
                        if n.is_multiple_of(7) {
                            std::thread::sleep(Duration::from_micros(n));
                        }
                        n * 2
                    });
                    ManyServers::yield_now();
                    doubled
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap()).sum::<u64>()
    });
    assert_eq!(outcome.value.unwrap().unwrap(), 39_800);
}

/// A future that another OS thread makes ready.
#[derive(Clone)]
struct Promise(Arc<parking_lot::Mutex<(bool, Option<std::task::Waker>)>>);

impl Promise {
    fn keep(&self) {
        let mut state = self.0.lock();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }
}

impl std::future::Future for &Promise {
    type Output = ();
    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        let mut state = self.0.lock();
        state.1 = Some(context.waker().clone());
        match state.0 {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    }
}

#[test]
fn a_wait_for_something_outside_ends_with_it_or_with_its_time() {
    let outcome = run(2, || {
        let handles: Vec<_> = (0..200_u64)
            .map(|n| {
                spawn(move || {
                    let promise = Arc::new(Promise(Arc::default()));
                    let keeper = promise.clone();
                    // HeldLock by another OS thread, by a fiber, about when the time is over, or
                    // never.
                    match n % 4 {
                        0 => drop(std::thread::spawn(move || keeper.keep())),
                        1 => drop(spawn(move || keeper.keep())),
                        2 => drop(spawn(move || {
                            ManyServers::sleep(Duration::from_micros(n * 5));
                            keeper.keep();
                        })),
                        _ => {}
                    }
                    let time = match n % 4 {
                        2 | 3 => Duration::from_micros(n * 5),
                        _ => Duration::from_secs(60),
                    };
                    let until = ManyServers::now() + time;
                    let came = ManyServers::wait_for_until(&*promise, until).is_some();
                    // A bell that rings late must not end this wait.
                    let waited = ManyServers::now();
                    ManyServers::sleep(Duration::from_micros(300));
                    assert!(ManyServers::now() - waited >= Duration::from_micros(300));
                    (n % 4, came)
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|h| h.join().unwrap())
            .collect::<Vec<_>>()
    });
    for (kind, came) in outcome.value.unwrap().unwrap() {
        assert!(kind == 2 || came == (kind < 2), "{kind}");
    }
}

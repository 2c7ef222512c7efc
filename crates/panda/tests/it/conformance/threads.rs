//! Threads of a process that wait while others of it go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use antiphon_panda::thread::{self, Barrier, Condition, Mutex};
use antiphon_panda::{Call, Error, GroupEvent, Message, Session};

use super::{LIMIT, Make, on_fibers, run};

fn start<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> thread::Handle<R> {
    thread::spawn(body).expect("there is room for a stack")
}

fn call(session: &Session, to: u32, number: u64) -> u64 {
    let reply = session.call(to, "later", Message::of(&number).unwrap(), None);
    reply.unwrap().value().unwrap()
}

/// A flag that becomes true when this drops, even by a panic. Otherwise a thread that waits for it
/// would keep a failed test from ending.
#[derive(Default)]
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// No call is answered before all fibers are in one. If one kept its processor, the others would
/// never get there.
pub fn many_fibers_of_a_process_are_in_a_call_at_once(make: Make) {
    const FIBERS: u64 = 100;
    on_fibers(
        |make| {
            run(make, 2, |session| {
                let all = session.everyone().unwrap();
                let kept = std::sync::Mutex::new(Vec::new());
                session
                    .serve("later", move |call| {
                        let mut kept = kept.lock().unwrap();
                        kept.push(call);
                        if kept.len() as u64 == FIBERS {
                            for call in kept.drain(..) {
                                let number: u64 = call.payload.value().unwrap();
                                call.reply.send(Message::of(&(number + 1)).unwrap());
                            }
                        }
                    })
                    .unwrap();
                all.barrier().unwrap();
                let other = 1 - session.rank();
                let over = Over::default();
                let (stop, counted) = (over.0.clone(), Arc::new(AtomicU64::new(0)));
                let goes_on = counted.clone();
                let runner = start(move || {
                    while !stop.load(Ordering::Relaxed) {
                        goes_on.fetch_add(1, Ordering::Relaxed);
                        thread::yield_now();
                    }
                });
                for round in 0..5 {
                    let callers: Vec<_> = (0..FIBERS)
                        .map(|number| {
                            let session = session.clone();
                            start(move || call(&session, other, number * 10 + round))
                        })
                        .collect();
                    for (number, caller) in callers.into_iter().enumerate() {
                        let value = caller.join().expect("no caller panics");
                        assert_eq!(value, number as u64 * 10 + round + 1);
                    }
                }
                all.barrier().unwrap();
                drop(over);
                runner.join().expect("it yields");
                assert!(counted.load(Ordering::Relaxed) > 0);
            });
        },
        make,
    );
}

/// A thread that is woken to drive may already have what it waited for. Then it must make another
/// thread drive. Otherwise no thread would drive until a fiber began or ended another wait.
pub fn a_fiber_that_goes_on_instead_of_driving_leaves_that_to_others(make: Make) {
    on_fibers(
        |make| {
            run(make, 2, |session| {
                let port = session.port("go");
                if session.rank() == 1 {
                    port.receive(Some(0), None).unwrap();
                    session.call(0, "add", Message::new(), None).unwrap();
                    return;
                }
                let coins = Coins::default();
                let own = coins.clone();
                let add = move |call: Call| {
                    own.add();
                    call.reply.send(Message::new());
                };
                session.serve("add", add).unwrap();
                let ended = Arc::new(AtomicU64::new(0));
                let takers = [(); 2].map(|()| {
                    let (session, coins, ended) = (session.clone(), coins.clone(), ended.clone());
                    start(move || {
                        waits_for(&session, || coins.take());
                        ended.fetch_add(1, Ordering::Relaxed);
                    })
                });
                // Both park.
                thread::sleep(Duration::from_millis(5));
                let mut looks = 0;
                waits_for(&session, || {
                    looks += 1;
                    if looks > 1 {
                        // The system preempts the looking thread for so long that the session's own
                        // thread leaves the driving to it.
                        std::thread::sleep(Duration::from_millis(100));
                        coins.add();
                    }
                    looks > 1
                });
                while ended.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                port.send(1, 0, Message::new()).unwrap();
                for taker in takers {
                    taker.join().expect("it gets its coin");
                }
            });
        },
        make,
    );
}

/// A count that upcalls raise and waiting threads lower.
#[derive(Clone, Default)]
struct Coins(Arc<AtomicU64>);

impl Coins {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        let less = |coins: u64| coins.checked_sub(1);
        let taken = (self.0).fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.is_ok()
    }
}

fn waits_for(session: &Session, holds: impl FnMut() -> bool) {
    let until = thread::now() + LIMIT;
    assert!(session.wait_until(holds, Some(until)).unwrap());
}

/// Upcalls run where the session is driven. A fiber or an OS thread may wait for their effect.
pub fn an_upcall_wakes_who_waits_for_a_condition(make: Make) {
    run(make, 2, |session| {
        let shared = Arc::new((Mutex::new(0u64), Condition::new()));
        let news = shared.clone();
        let group = session
            .join_group("news", move |event| {
                if let GroupEvent::Message { payload, .. } = event {
                    *news.0.lock() += payload.value::<u64>().unwrap();
                    news.1.broadcast();
                }
            })
            .unwrap();
        let all = session.everyone().unwrap();
        all.barrier().unwrap();
        let gate = Arc::new(Barrier::new(3));
        let waiters: Vec<_> = [20, 110, 110]
            .map(|least| {
                let (shared, gate) = (shared.clone(), gate.clone());
                start(move || {
                    let mut sum = shared.0.lock();
                    while *sum < least {
                        shared.1.wait(&mut sum);
                    }
                    drop(sum);
                    gate.wait();
                })
            })
            .into_iter()
            .collect();
        for number in 1..=10u64 {
            group.send(Message::of(&number).unwrap()).unwrap();
        }
        waiters
            .into_iter()
            .for_each(|waiter| waiter.join().expect("it saw the sum"));
        assert_eq!(*shared.0.lock(), 110);
        // No more upcalls come, so the wait times out.
        let mut sum = shared.0.lock();
        assert!(!shared.1.wait_for(&mut sum, Duration::from_millis(5)));
        drop(sum);
        assert!(shared.0.try_lock().is_some());
        all.barrier().unwrap();
    });
}

pub fn waits_of_fibers_end_with_their_time_or_their_peer(make: Make) {
    on_fibers(
        |make| {
            run(make, 2, |session| {
                let port = session.port("nothing");
                if session.rank() == 1 {
                    session
                        .serve("silent", {
                            let kept = Mutex::new(Vec::new());
                            move |call| kept.lock().push(call)
                        })
                        .unwrap();
                    // By then the other process has timed out, and its fibers wait.
                    port.receive(Some(0), Some(1)).unwrap();
                    return;
                }
                let brief = port.receive_within(Some(1), None, Duration::from_millis(5));
                assert!(matches!(brief, Err(Error::TimedOut { .. })));
                let (receiver, caller) = (port.clone(), session.clone());
                let waits = [
                    start(move || receiver.receive(Some(1), None).map(drop)),
                    start(move || {
                        let nothing = Message::new();
                        caller.call(1, "silent", nothing, Some(LIMIT)).map(drop)
                    }),
                ];
                thread::yield_now();
                port.send(1, 1, Message::new()).unwrap();
                for wait in waits {
                    let error = wait.join().expect("no panic").unwrap_err();
                    let name = session.name_of(1);
                    assert!(
                        matches!(&error, Error::Lost { peer, .. } if *peer == name),
                        "{error}"
                    );
                }
            });
        },
        make,
    );
}

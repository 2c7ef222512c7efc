//! Ours.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;

use antiphon_fiber::{Builder, Handle, Many, ManyServers, OneServer, Run, Semaphore, Threads};

use super::{Costs, cost, wall_cost};

const N: u64 = 400_000;

pub fn one() -> Costs {
    let outcome =
        Run::one().start(|| [one_yield(), one_hand_over(), one_uncontended(), one_life()]);
    outcome.unwrap().value.unwrap().unwrap()
}

fn one_yield() -> f64 {
    let other = OneServer::spawn(Builder::default(), || {
        (0..N).for_each(|_| OneServer::yield_now())
    })
    .unwrap();
    let ns = cost(2 * N, &mut || (0..N).for_each(|_| OneServer::yield_now()));
    other.join().unwrap();
    ns
}

fn one_hand_over() -> f64 {
    let there = Rc::new(Semaphore::<OneServer>::new(0));
    let back = Rc::new(Semaphore::<OneServer>::new(0));
    let (their_there, their_back) = (there.clone(), back.clone());
    let other = OneServer::spawn(Builder::default(), move || {
        for _ in 0..N {
            their_there.p();
            their_back.v();
        }
    });
    let ns = cost(2 * N, &mut || {
        for _ in 0..N {
            there.v();
            back.p();
        }
    });
    other.unwrap().join().unwrap();
    ns
}

fn one_uncontended() -> f64 {
    let s = Semaphore::<OneServer>::new(1);
    cost(N, &mut || {
        for _ in 0..N {
            s.p();
            s.v();
        }
    })
}

fn one_life() -> f64 {
    cost(N, &mut || {
        for _ in 0..N {
            OneServer::spawn(Builder::default(), || ())
                .unwrap()
                .join()
                .unwrap();
        }
    })
}

/// As many pairs of fibers as servers; on one server by processor time, so that it stands beside
/// the others of its table.
pub fn many(servers: usize) -> Costs {
    let pairs = servers as u64;
    let time = if servers == 1 { cost } else { wall_cost };
    let run = Run::many(NonZeroUsize::new(servers).unwrap());
    // SAFETY: nothing here belongs to an OS thread but the stopwatch, which one server cannot lose.
    let outcome = unsafe {
        run.start(move || {
            [
                time(2 * N * pairs, &mut || {
                    all(2 * pairs, |_| (0..N).for_each(|_| ManyServers::yield_now()))
                }),
                time(2 * N * pairs, &mut || hand_overs(pairs)),
                time(N * pairs, &mut || all(pairs, |_| uncontended())),
                time(N * pairs, &mut || all(pairs, |_| lives())),
            ]
        })
    };
    outcome.unwrap().value.unwrap().unwrap()
}

fn spawn(body: impl FnOnce() + Send + 'static) -> Handle<(), Many> {
    // SAFETY: see `many`.
    unsafe { ManyServers::spawn(Builder::default(), body) }.unwrap()
}

fn all(fibers: u64, body: impl Fn(u64) + Send + Sync + Copy + 'static) {
    let handles: Vec<_> = (0..fibers).map(|n| spawn(move || body(n))).collect();
    handles.into_iter().for_each(|h| h.join().unwrap());
}

fn hand_overs(pairs: u64) {
    let mut handles = Vec::new();
    for _ in 0..pairs {
        let turns = Arc::new([
            Semaphore::<ManyServers>::new(1),
            Semaphore::<ManyServers>::new(0),
        ]);
        for me in 0..2_usize {
            let turns = turns.clone();
            handles.push(spawn(move || {
                for _ in 0..N {
                    turns[me].p();
                    turns[1 - me].v();
                }
            }));
        }
    }
    handles.into_iter().for_each(|h| h.join().unwrap());
}

fn uncontended() {
    let s = Semaphore::<ManyServers>::new(1);
    for _ in 0..N {
        s.p();
        s.v();
    }
}

fn lives() {
    (0..N).for_each(|_| spawn(|| ()).join().unwrap());
}

//! Fibers on one server: who runs when, and what is left at the end.

use std::cell::Cell;
use std::rc::Rc;

use antiphon_fiber::{Builder, OneServer, Run, Semaphore, Threads};

use super::{Log, run, spawn};

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
fn priorities_come_first_and_are_inherited() {
    let log = Log::default();
    let seen = log.clone();
    run(move || {
        for (n, priority) in [(0, 0), (1, 5), (2, -1), (3, 5)] {
            let log = log.clone();
            let builder = Builder {
                priority: Some(priority),
                ..Builder::default()
            };
            OneServer::spawn(builder, move || {
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

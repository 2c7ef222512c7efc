//! What a yield, a hand-over, an uncontended P and V, and a fiber's life cost, beside rivals in one
//! run.
//!
//! Contenders take turns, round after round, so that a noisy machine hits all alike; what counts is
//! the median over rounds of the ratio to Go in the same round. On one processor the time is the
//! processor time of the work; on two it is the wall's, which needs an idle machine.

mod compare;
mod fibers;
mod go;
mod threads;
mod tokio_tasks;

use std::time::Duration;

use compare::{Costs, compare};

fn main() {
    // `cargo test` runs benchmarks as tests: then there is nothing to measure.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    compare(
        "one processor",
        vec![
            ("go", Box::new(|| go::run(1))),
            ("fiber, one server", Box::new(|| Some(fibers::one()))),
            ("fiber, many (1)", Box::new(|| Some(fibers::many(1)))),
            (
                "tokio, current thread",
                Box::new(|| Some(tokio_tasks::current_thread())),
            ),
            ("system threads", Box::new(|| Some(threads::run()))),
        ],
    );
    compare(
        "two processors",
        vec![
            ("go", Box::new(|| go::run(2))),
            ("fiber, many (2)", Box::new(|| Some(fibers::many(2)))),
            (
                "tokio, two workers",
                Box::new(|| Some(tokio_tasks::workers(2))),
            ),
        ],
    );
}

/// A stopwatch of the calling thread's processor time.
pub(crate) fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Nanoseconds an operation of the calling thread's processor time.
pub(crate) fn cost(operations: u64, work: &mut dyn FnMut()) -> f64 {
    let before = processor_time();
    work();
    (processor_time() - before).as_nanos() as f64 / operations as f64
}

/// Nanoseconds an operation by the wall's clock.
pub(crate) fn wall_cost(operations: u64, work: &mut dyn FnMut()) -> f64 {
    let before = std::time::Instant::now();
    work();
    before.elapsed().as_nanos() as f64 / operations as f64
}

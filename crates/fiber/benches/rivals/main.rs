//! What a yield, a hand-over, an uncontended P and V, and a fiber's life cost, beside rivals in one run.
//!
//! Contenders take turns, round after round, so that a noisy machine hits all alike; what counts is the median over rounds of the ratio to Go in the same
//! round. On one processor the time is the processor time of the work; on two it is the wall's, which needs an idle machine.

mod fibers;
mod go;
mod threads;
mod tokio_tasks;

use std::time::Duration;

/// Operations that are compared.
const OPERATIONS: [&str; 4] = ["yield", "P+V hand-over", "uncontended P+V", "create+join"];
const ROUNDS: usize = 7;

/// Nanoseconds an operation; in the order of [`OPERATIONS`].
type Costs = [f64; 4];
/// A contender; none if it is not installed.
type Contender = (&'static str, Box<dyn Fn() -> Option<Costs>>);

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

fn compare(where_: &str, contenders: Vec<Contender>) {
    let mut results: Vec<Vec<Option<Costs>>> = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, run), results) in contenders.iter().zip(&mut results) {
            results.push(run());
        }
    }
    println!("\n{where_}: ns an operation, median of {ROUNDS} (ratio to Go in the same round)");
    print!("{:<24}", "");
    OPERATIONS.iter().for_each(|o| print!("{o:>24}"));
    println!();
    for ((name, _), costs) in contenders.iter().zip(&results) {
        print!("{name:<24}");
        for operation in 0..OPERATIONS.len() {
            let of = |c: &Option<Costs>| c.map(|c| c[operation]);
            let ns = median(costs.iter().filter_map(of).collect());
            let pairs = costs.iter().zip(&results[0]);
            let ratio = median(pairs.filter_map(|(c, g)| Some(of(c)? / of(g)?)).collect());
            print!("{:>24}", text(ns, ratio));
        }
        println!();
    }
}

fn text(ns: Option<f64>, ratio: Option<f64>) -> String {
    match (ns, ratio) {
        (Some(ns), Some(ratio)) => format!("{ns:.1} ({ratio:.2})"),
        (Some(ns), None) => format!("{ns:.1}"),
        (None, _) => "not installed".into(),
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
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

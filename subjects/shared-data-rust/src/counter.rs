//! The counter: every task adds one as often as it can.

use crate::team::{OPERATIONS_A_LOOK, Task, run_tasks, time_is_up};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// On the heap in all languages but Python: what is reached by a register processors may keep at hand, and add to it several times as fast as to
/// what has a fixed place in the program (docs/explanation/shared-data.md).
#[derive(Default)]
#[repr(align(128))]
struct Counter {
    /// Rust has no unprotected variable for several threads. This one is read and written in two steps, which is what other languages' variables do.
    unprotected: AtomicU64,
    indivisible: AtomicU64,
    locked: Mutex<u64>,
}

fn until(mut increment: impl FnMut(), task: &mut Task) {
    // The compiler is not to know how many: it would write all of them out, and what so many instructions change no processor keeps at hand.
    let operations = black_box(OPERATIONS_A_LOOK);
    while !time_is_up() {
        for _ in 0..operations {
            increment();
        }
        task.operations += operations;
    }
}

fn without(counter: &Counter, task: &mut Task) {
    let increment = || {
        let value = counter.unprotected.load(Ordering::Relaxed);
        counter.unprotected.store(value + 1, Ordering::Relaxed);
    };
    until(increment, task);
}

fn atomically(counter: &Counter, task: &mut Task) {
    let increment = || {
        counter.indivisible.fetch_add(1, Ordering::SeqCst);
    };
    until(increment, task);
}

fn by_lock(counter: &Counter, task: &mut Task) {
    let locked = &counter.locked;
    until(
        || *locked.lock().unwrap_or_else(PoisonError::into_inner) += 1,
        task,
    );
}

pub fn run(way: &str, arguments: &[u64]) -> Result<String, String> {
    let work = match way {
        "unsafe" => without,
        "atomic" => atomically,
        "locked" => by_lock,
        _ => return Err(format!("there is no program `counter_{way}`")),
    };
    let counter = Box::new(Counter::default());
    let (tasks, elapsed) = run_tasks(arguments[0], arguments[1], |task| work(&counter, task));
    let operations: u64 = tasks.iter().map(|task| task.operations).sum();
    let kept = match way {
        "unsafe" => counter.unprotected.load(Ordering::SeqCst),
        "atomic" => counter.indivisible.load(Ordering::SeqCst),
        _ => *counter
            .locked
            .lock()
            .unwrap_or_else(PoisonError::into_inner),
    };
    if kept != operations && way != "unsafe" {
        return Err(format!(
            "{way} lost increments: {kept} of {operations} are left"
        ));
    }
    Ok(format!(
        "counter, tasks {}\n@@ run elapsed_ns={} operations={operations} kept={kept}",
        arguments[0],
        elapsed.as_nanos()
    ))
}

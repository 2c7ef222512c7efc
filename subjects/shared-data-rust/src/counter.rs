//! The counter: every task adds one as often as it can.

use crate::team::{OPERATIONS_A_LOOK, Task, run_tasks, time_is_up};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Rust has no unprotected variable for several threads. This one is read and written in two steps, which is what other languages' variables do.
static UNPROTECTED: AtomicU64 = AtomicU64::new(0);
static INDIVISIBLE: AtomicU64 = AtomicU64::new(0);
static LOCKED: Mutex<u64> = Mutex::new(0);

fn until(mut increment: impl FnMut(), task: &mut Task) {
    while !time_is_up() {
        for _ in 0..OPERATIONS_A_LOOK {
            increment();
        }
        task.operations += OPERATIONS_A_LOOK;
    }
}

fn without(task: &mut Task) {
    let increment = || {
        let value = UNPROTECTED.load(Ordering::Relaxed);
        UNPROTECTED.store(value + 1, Ordering::Relaxed);
    };
    until(increment, task);
}

fn atomically(task: &mut Task) {
    let increment = || {
        INDIVISIBLE.fetch_add(1, Ordering::SeqCst);
    };
    until(increment, task);
}

fn by_lock(task: &mut Task) {
    until(
        || *LOCKED.lock().unwrap_or_else(PoisonError::into_inner) += 1,
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
    let (tasks, elapsed) = run_tasks(arguments[0], arguments[1], work);
    let operations: u64 = tasks.iter().map(|task| task.operations).sum();
    let kept = match way {
        "unsafe" => UNPROTECTED.load(Ordering::SeqCst),
        "atomic" => INDIVISIBLE.load(Ordering::SeqCst),
        _ => *LOCKED.lock().unwrap_or_else(PoisonError::into_inner),
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

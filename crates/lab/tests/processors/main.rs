//! Runs with every processor taken, by a polling generator or by other programs. These tests delay
//! everything beside them, so they have a separate process and run one by one.

#[path = "../common/fixtures.rs"]
mod fixtures;
mod gating;
mod others;
mod polling;
#[path = "../common/waiting.rs"]
mod waiting;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test takes the processors, and keeps them until the guard is dropped.
fn processors() -> MutexGuard<'static, ()> {
    static TAKEN: Mutex<()> = Mutex::new(());
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

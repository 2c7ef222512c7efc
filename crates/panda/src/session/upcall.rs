//! Upcalls run on the thread that drives the session, so one that waits for a message would wait for itself.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use crate::error::Error;

thread_local! {
    static IN_UPCALL: Cell<bool> = const { Cell::new(false) };
}

/// Runs an upcall. One that panics is reported as a thread that panics is, and the session goes on.
pub fn run(upcall: impl FnOnce()) {
    let before = IN_UPCALL.replace(true);
    let _ = catch_unwind(AssertUnwindSafe(upcall));
    IN_UPCALL.set(before);
}

/// Whether this thread is in an upcall.
pub fn is_running() -> bool {
    IN_UPCALL.get()
}

/// Refuses to wait in an upcall; a debug build stops there, since what comes of it may be found far away.
#[track_caller]
pub fn must_not_wait() -> Result<(), Error> {
    if !is_running() {
        return Ok(());
    }
    let place = Location::caller();
    debug_assert!(
        false,
        "an upcall must not wait: at {place}. Start a thread, or answer later"
    );
    Err(Error::InUpcall(place.to_string()))
}

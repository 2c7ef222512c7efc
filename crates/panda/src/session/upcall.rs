//! Upcalls run on the thread that drives the session, so one that waits for a message would wait for itself.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use crate::error::Error;

thread_local! {
    static IN_UPCALL: Cell<bool> = const { Cell::new(false) };
}

// Not inlined: a fiber that switched would otherwise go on with the thread-local address of the processor it came from.
#[inline(never)]
fn set(is_in: bool) -> bool {
    IN_UPCALL.replace(is_in)
}

/// Whether this thread is in an upcall.
#[inline(never)]
pub fn is_running() -> bool {
    IN_UPCALL.get()
}

/// Runs an upcall. One that panics is reported as a thread that panics is, and the session goes on.
///
/// # Errors
/// What it panicked with.
pub fn run(upcall: impl FnOnce()) -> Result<(), String> {
    let before = set(true);
    let outcome = catch_unwind(AssertUnwindSafe(upcall));
    set(before);
    outcome.map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(
            |_| "something that is no text".into(),
            |text| (*text).to_owned(),
        ),
    })
}

/// Lets other fibers run, which are in no upcall even if the caller is: it may wait for a mutex.
pub fn set_aside<R>(switch: impl FnOnce() -> R) -> R {
    let before = set(false);
    let result = switch();
    set(before);
    result
}

/// Refuses to wait in an upcall; a debug build stops there, since what comes of it may be found far away.
#[track_caller]
pub fn must_not_wait() -> Result<(), Error> {
    let place = Location::caller();
    should_not_wait(place);
    match is_running() {
        true => Err(Error::InUpcall(place.to_string())),
        false => Ok(()),
    }
}

/// The same for what cannot be refused: a release build waits, and with it the session.
pub fn should_not_wait(place: &Location<'_>) {
    debug_assert!(
        !is_running(),
        "an upcall must not wait: at {place}. Start a thread, or answer later"
    );
}

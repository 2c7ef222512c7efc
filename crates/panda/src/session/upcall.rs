//! Upcalls run on the thread that drives the session, so one that waits for a message would wait for itself.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::error::Error;
use crate::thread::Panic;

mod last;
mod watchdog;

pub use last::{Changes, Last};

/// Where a program gave an upcall.
pub type Place = &'static Location<'static>;

/// An upcall and where it was given.
pub struct Registered<F> {
    pub place: Place,
    pub call: Mutex<F>,
}

/// Whether upcalls that wait end the process, and those that take long are reported.
static DETECTS: AtomicBool = AtomicBool::new(cfg!(debug_assertions));

thread_local! {
    /// The upcall that this thread is in.
    static WITHIN: Cell<Option<Place>> = const { Cell::new(None) };
}

impl<F> Registered<F> {
    /// Runs it, and lets go of it before that is over: whatever it keeps is dropped as in an upcall, the session's last handle included.
    ///
    /// # Errors
    /// What it panicked with.
    pub fn run(self: Arc<Self>, act: impl FnOnce(&mut F)) -> Result<(), String> {
        run(self.place, move || {
            act(&mut self.call.lock());
            drop(self);
        })
    }

    /// Lets go of it in the same way.
    pub fn let_go(self: Arc<Self>) {
        // What is dropped may panic: that is printed.
        let _ = run(self.place, || drop(self));
    }
}

/// Whether an upcall that waits ends the process with the places where it waits and where it was given, and one that runs for more than half a second is reported on
/// standard error. Debug builds do so unless told otherwise; release builds refuse the wait with [`Error::InUpcall`] where they can.
pub fn detect_waiting_upcalls(detects: bool) {
    DETECTS.store(detects, Ordering::Relaxed);
}

// Not inlined: a fiber that switched would otherwise go on with the thread-local address of the processor it came from.
#[inline(never)]
fn set(within: Option<Place>) -> Option<Place> {
    WITHIN.replace(within)
}

#[inline(never)]
fn within() -> Option<Place> {
    WITHIN.get()
}

/// Whether this thread is in an upcall.
pub fn is_running() -> bool {
    within().is_some()
}

/// Runs an upcall. One that panics is reported as a thread that panics is, and the session goes on.
///
/// # Errors
/// What it panicked with.
pub fn run(place: Place, upcall: impl FnOnce()) -> Result<(), String> {
    let before = set(Some(place));
    let watched = DETECTS
        .load(Ordering::Relaxed)
        .then(|| watchdog::watch(place));
    let outcome = catch_unwind(AssertUnwindSafe(upcall));
    drop(watched);
    set(before);
    outcome.map_err(words_of)
}

/// Runs a predicate of the program's while its thread drives the session: an operation that waits is
/// refused in it, as in an upcall. What it panics with goes on to the caller.
pub fn run_predicate<R>(place: Place, predicate: impl FnOnce() -> R) -> R {
    struct Restores(Option<Place>);
    impl Drop for Restores {
        fn drop(&mut self) {
            set(self.0);
        }
    }
    let _restores = Restores(set(Some(place)));
    predicate()
}

/// What something panicked with.
pub fn words_of(panic: Panic) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(
            |_| "something that is no text".into(),
            |text| (*text).to_owned(),
        ),
    }
}

/// Lets other fibers run, which are in no upcall even if the caller is: it may wait for a mutex.
pub fn set_aside<R>(switch: impl FnOnce() -> R) -> R {
    let before = set(None);
    let result = switch();
    set(before);
    result
}

/// Refuses to wait in an upcall; a debug build stops there, since what comes of it may be found far away. All operations that wait ask this by themselves.
///
/// # Errors
/// [`Error::InUpcall`].
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
    if let Some(given) = within()
        && DETECTS.load(Ordering::Relaxed)
    {
        eprintln!(
            "antiphon: an upcall must not wait: at {place}, in the upcall given at {given}. Start a thread, or answer later"
        );
        // A panic would be caught where the upcall was called, and the session go on.
        std::process::abort();
    }
}

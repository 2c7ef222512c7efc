//! Upcalls. They run on the thread that drives the session, so an upcall that waits for a message
//! would wait for itself.

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

/// Place in the program that registered an upcall.
pub type Place = &'static Location<'static>;

/// An upcall and its place.
pub struct Registered<F> {
    pub place: Place,
    pub call: Mutex<F>,
}

/// Whether an upcall that waits ends the process, and a long one is reported.
static DETECTS: AtomicBool = AtomicBool::new(cfg!(debug_assertions));

thread_local! {
    /// The upcall that this thread runs.
    static WITHIN: Cell<Option<Place>> = const { Cell::new(None) };
}

impl<F> Registered<F> {
    /// Runs the upcall and drops this reference to it inside. So everything it keeps is dropped as
    /// in an upcall, the session's last handle included.
    ///
    /// # Errors
    ///
    /// The upcall's panic, in words.
    pub fn run(self: Arc<Self>, act: impl FnOnce(&mut F)) -> Result<(), String> {
        run(self.place, move || {
            act(&mut self.call.lock());
            drop(self);
        })
    }

    /// Drops this reference in the same way.
    pub fn let_go(self: Arc<Self>) {
        // A drop may panic: the panic is printed.
        let _ = run(self.place, || drop(self));
    }
}

/// Sets whether waiting upcalls end the process, and long ones are reported.
///
/// A wait ends the process with its place and the upcall's. An upcall that runs for more than half
/// a second is reported on standard error. Debug builds do so by default. Release builds refuse the
/// wait with [`Error::InUpcall`] where they can.
pub fn detect_waiting_upcalls(detects: bool) {
    DETECTS.store(detects, Ordering::Relaxed);
}

// Not inlined: a fiber that moves to another OS thread would otherwise keep that thread-local's old
// address.
#[inline(never)]
fn set(within: Option<Place>) -> Option<Place> {
    WITHIN.replace(within)
}

#[inline(never)]
fn within() -> Option<Place> {
    WITHIN.get()
}

/// Returns whether this thread is in an upcall.
pub fn is_running() -> bool {
    within().is_some()
}

/// Runs an upcall. Its panic is reported as a thread's is, and the session goes on.
///
/// # Errors
///
/// The upcall's panic, in words.
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

/// Runs a program's predicate while its thread drives the session. Operations that wait are refused
/// in it, as in an upcall. Its panic goes on to the caller.
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

/// Returns the text of a panic.
pub fn words_of(panic: Panic) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().map_or_else(
            |_| "something that is no text".into(),
            |text| (*text).to_owned(),
        ),
    }
}

/// Lets other fibers run outside of any upcall, even if the caller is in one. The caller may wait
/// for a mutex.
pub fn set_aside<R>(switch: impl FnOnce() -> R) -> R {
    let before = set(None);
    let result = switch();
    set(before);
    result
}

/// Refuses to wait in an upcall. A debug build stops there, since the consequences may show far
/// away. All operations that wait call this themselves.
///
/// # Errors
///
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

/// Does the same for operations that cannot be refused: a release build waits, and the session with
/// it.
pub fn should_not_wait(place: &Location<'_>) {
    if let Some(given) = within()
        && DETECTS.load(Ordering::Relaxed)
    {
        eprintln!(
            "antiphon: an upcall must not wait: at {place}, in the upcall given at {given}. Start a thread, or answer later"
        );
        // A panic would be caught where the upcall was called, and the session would go on.
        std::process::abort();
    }
}

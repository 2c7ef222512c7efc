//! Statuses, and their meaning in words.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use antiphon_panda::thread::ThreadError;
use antiphon_panda::{DecodeError, Error};

/// A process's number in a session, from 0.
pub type panda_rank = u32;

/// Any sender, any tag; no rank.
pub const PANDA_ANY: u32 = u32::MAX;

/// A time that does not end, in nanoseconds.
pub const PANDA_FOREVER: u64 = u64::MAX;

/// The result of an operation. For every status but PANDA_OK and PANDA_NOT_NOW, panda_last_error()
/// has words.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum panda_status {
    /// Success.
    PANDA_OK = 0,
    /// Not now: there is no matching message, or another thread has the mutex. This is no error, so
    /// panda_last_error() does not change.
    PANDA_NOT_NOW = 1,
    /// A peer is lost: panda_last_rank(). The requested operation may or may not have happened.
    PANDA_LOST = 2,
    /// The caller's time limit has passed. The requested operation may still happen.
    PANDA_TIMED_OUT = 3,
    /// The session of this process is over.
    PANDA_OVER = 4,
    /// The peer has no such service: register it before the first call, for instance before a
    /// barrier.
    PANDA_NO_SERVICE = 5,
    /// The service ended the call without a reply.
    PANDA_NO_REPLY = 6,
    /// The group went on without this process, or could not go on.
    PANDA_EXPELLED = 7,
    /// This process is in the group, or joins it already.
    PANDA_ALREADY_MEMBER = 8,
    /// This process is no member of the group.
    PANDA_NOT_MEMBER = 9,
    /// The number of the name equals that of another one that this process uses: change one of
    /// them.
    PANDA_SAME_NUMBER = 10,
    /// The session has no such rank.
    PANDA_NO_SUCH_RANK = 11,
    /// This process, or the root, is not a member of the communicator.
    PANDA_NOT_IN_COMM = 12,
    /// A process is twice in the list of a communicator.
    PANDA_TWICE_IN_COMM = 13,
    /// Processes of a communicator called different operations, or in another order:
    /// panda_last_rank() names one that did.
    PANDA_MISMATCH = 14,
    /// Values of a collective operation could not be combined at panda_last_rank(); or the library
    /// itself failed, which is a bug to report.
    PANDA_PANICKED = 15,
    /// An upcall must not wait: start a thread, or answer later.
    PANDA_IN_UPCALL = 16,
    /// A process that was to be spawned did not join.
    PANDA_NOT_SPAWNED = 17,
    /// The session could not be joined.
    PANDA_NOT_JOINED = 18,
    /// The message is shorter than the bytes to take from it.
    PANDA_SHORT = 19,
    /// An argument is NULL or invalid. The error names the function and the argument.
    PANDA_BAD_ARGUMENT = 20,
    /// No thread could be started.
    PANDA_NO_THREAD = 21,
    /// The message is too long for the session's platform. Nothing was sent.
    PANDA_TOO_LONG = 22,
    /// The port has an upcall, which takes its messages: have the upcall keep them, or receive at
    /// another port.
    PANDA_HAS_UPCALL = 23,
    /// The signal was not sent.
    PANDA_NOT_SIGNALLED = 24,
    /// No member of the group gave the state with which this process wanted to join.
    PANDA_NO_STATE = 25,
}

use panda_status::*;

/// Why an operation of this interface failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Session(#[from] Error),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error("{argument} {why}")]
    Argument { argument: &'static str, why: String },
    #[error("{0}")]
    TimedOut(&'static str),
    #[error("the thread panicked: {0}")]
    Panicked(String),
    #[error("not now")]
    NotNow,
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::Session(error.into())
    }
}

impl Failure {
    pub(crate) fn argument(argument: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Argument { argument, why }
    }

    fn status(&self) -> panda_status {
        match self {
            Self::Session(error) => of_session(error),
            // This interface has no wait that could report that the first fiber waits for ever.
            Self::Thread(_) => PANDA_NO_THREAD,
            Self::Argument { .. } => PANDA_BAD_ARGUMENT,
            Self::TimedOut(_) => PANDA_TIMED_OUT,
            Self::Panicked(_) => PANDA_PANICKED,
            Self::NotNow => PANDA_NOT_NOW,
        }
    }

    /// Returns the rank that it names.
    fn rank(&self) -> panda_rank {
        let Self::Session(error) = self else {
            return PANDA_ANY;
        };
        match error {
            Error::Lost { rank, .. }
            | Error::NoSuchRank { rank, .. }
            | Error::NotInCommunicator(rank)
            | Error::TwiceInCommunicator(rank)
            | Error::Mismatch { rank, .. }
            | Error::Panicked { rank, .. }
            | Error::NotSpawned { rank, .. }
            | Error::NotSignalled { rank, .. } => *rank,
            Error::TimedOut { rank, .. } => rank.unwrap_or(PANDA_ANY),
            Error::NoService { .. }
            | Error::NoReply { .. }
            | Error::Expelled { .. }
            | Error::NoState { .. }
            | Error::AlreadyMember(_)
            | Error::NotMember(_)
            | Error::SameNumber(_)
            | Error::InUpcall(_)
            | Error::HasUpcall(_)
            | Error::NoSuchReduction { .. }
            | Error::TooLong { .. }
            | Error::Over
            | Error::Decode(_)
            | Error::Join(_) => PANDA_ANY,
        }
    }

    fn text(&self, function: &str) -> String {
        match self {
            // The place is in our code, which tells C callers nothing.
            Self::Session(Error::InUpcall(_)) => Error::InUpcall(function.into()).to_string(),
            Self::Argument { .. } => format!("{function}: {self}"),
            _ => self.to_string(),
        }
    }
}

fn of_session(error: &Error) -> panda_status {
    match error {
        Error::Lost { .. } => PANDA_LOST,
        Error::TimedOut { .. } => PANDA_TIMED_OUT,
        Error::NoService { .. } => PANDA_NO_SERVICE,
        Error::NoReply { .. } => PANDA_NO_REPLY,
        Error::Expelled { .. } => PANDA_EXPELLED,
        Error::NoState { .. } => PANDA_NO_STATE,
        Error::AlreadyMember(_) => PANDA_ALREADY_MEMBER,
        Error::NotMember(_) => PANDA_NOT_MEMBER,
        Error::SameNumber(_) => PANDA_SAME_NUMBER,
        Error::NoSuchRank { .. } => PANDA_NO_SUCH_RANK,
        Error::NotInCommunicator(_) => PANDA_NOT_IN_COMM,
        Error::TwiceInCommunicator(_) => PANDA_TWICE_IN_COMM,
        Error::Mismatch { .. } => PANDA_MISMATCH,
        Error::Panicked { .. } => PANDA_PANICKED,
        Error::InUpcall(_) => PANDA_IN_UPCALL,
        Error::HasUpcall(_) => PANDA_HAS_UPCALL,
        Error::NoSuchReduction { .. } => PANDA_BAD_ARGUMENT,
        Error::NotSpawned { .. } => PANDA_NOT_SPAWNED,
        Error::NotSignalled { .. } => PANDA_NOT_SIGNALLED,
        Error::TooLong { .. } => PANDA_TOO_LONG,
        Error::Over => PANDA_OVER,
        Error::Decode(_) => PANDA_SHORT,
        Error::Join(_) => PANDA_NOT_JOINED,
    }
}

/// The last error of a thread.
struct Last {
    text: CString,
    rank: panda_rank,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

// Not inlined, like all its callers: a fiber that switched would otherwise use the thread-local
// address of its former processor.
#[cold]
#[inline(never)]
fn note(text: String, rank: panda_rank) {
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    // Handlers of exit() and destructors of thread keys run when the thread's own values are gone.
    // The error cannot be kept then.
    let _ = LAST.try_with(|last| last.replace(Some(Last { text, rank })));
}

#[cold]
#[inline(never)]
fn failed(function: &'static str, failure: &Failure) -> panda_status {
    let status = failure.status();
    if status != PANDA_NOT_NOW {
        note(failure.text(function), failure.rank());
    }
    status
}

#[cold]
#[inline(never)]
fn panicked(function: &'static str, panic: &(dyn Any + Send)) -> panda_status {
    note(format!("{function} panicked: {}", said(panic)), PANDA_ANY);
    PANDA_PANICKED
}

/// Returns the message of a panic.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("something that is no text")
}

/// Runs the body of a function of the interface. No panic crosses into C, and a failure is kept.
#[inline]
pub(crate) fn entry(
    function: &'static str,
    body: impl FnOnce() -> Result<(), Failure>,
) -> panda_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => PANDA_OK,
        Ok(Err(failure)) => failed(function, &failure),
        Err(panic) => panicked(function, &*panic),
    }
}

/// The same for a function that returns a value and no status.
#[inline]
pub(crate) fn value<V>(
    function: &'static str,
    otherwise: V,
    body: impl FnOnce() -> Result<V, Failure>,
) -> V {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(failure)) => {
            let _ = failed(function, &failure);
            otherwise
        }
        Err(panic) => {
            let _ = panicked(function, &*panic);
            otherwise
        }
    }
}

/// Reads the kept error. Returns `None` without one, or when the thread is ending and keeps none.
#[inline(never)]
fn last<V>(part: impl FnOnce(&Last) -> V) -> Option<V> {
    let kept = LAST.try_with(|last| last.borrow().as_ref().map(part));
    kept.ok().flatten()
}

/// Drops what C gave back.
pub(crate) fn freed<T>(function: &'static str, handle: Option<T>) {
    value(function, (), || {
        drop(handle);
        Ok(())
    });
}

/// Returns the error of the last operation that failed on this thread, in words; empty if none has.
/// The text is valid until the next operation that fails on this thread. Fibers of one processor
/// are one thread: read it before anything that may wait. In handlers of exit() and destructors of
/// thread keys it is empty.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn panda_last_error() -> *const c_char {
    last(|last| last.text.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the process that the last error names: the peer that is lost, did not answer in time or
/// called something else. PANDA_ANY if it names none.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn panda_last_rank() -> panda_rank {
    last(|last| last.rank).unwrap_or(PANDA_ANY)
}

/// Returns the name of a status, such as "PANDA_LOST"; "unknown" if there is none of that number.
/// It is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn panda_status_name(status: c_int) -> *const c_char {
    const NAMES: [&CStr; 25] = [
        c"PANDA_OK",
        c"PANDA_NOT_NOW",
        c"PANDA_LOST",
        c"PANDA_TIMED_OUT",
        c"PANDA_OVER",
        c"PANDA_NO_SERVICE",
        c"PANDA_NO_REPLY",
        c"PANDA_EXPELLED",
        c"PANDA_ALREADY_MEMBER",
        c"PANDA_NOT_MEMBER",
        c"PANDA_SAME_NUMBER",
        c"PANDA_NO_SUCH_RANK",
        c"PANDA_NOT_IN_COMM",
        c"PANDA_TWICE_IN_COMM",
        c"PANDA_MISMATCH",
        c"PANDA_PANICKED",
        c"PANDA_IN_UPCALL",
        c"PANDA_NOT_SPAWNED",
        c"PANDA_NOT_JOINED",
        c"PANDA_SHORT",
        c"PANDA_BAD_ARGUMENT",
        c"PANDA_NO_THREAD",
        c"PANDA_TOO_LONG",
        c"PANDA_HAS_UPCALL",
        c"PANDA_NOT_SIGNALLED",
    ];
    let name = usize::try_from(status).ok().and_then(|at| NAMES.get(at));
    name.unwrap_or(&c"unknown").as_ptr()
}

//! Threads and what they synchronize by: fibers, or threads of the operating system. A program
//! chooses at its start and is written once.
//!
//! After Rühl et al. (1996), table 1: create, exit, join, yield, self, set priority; mutexes with
//! lock, trylock, unlock; condition variables with wait, timed wait, signal, broadcast. A fiber
//! that waits, for a mutex as for a reply, leaves its processor to the others. Mutexes and
//! conditions serve both kinds at once, so that an upcall, which may run on a thread of the
//! session's, wakes a fiber.
//!
//! ```
//! use antiphon_panda::thread::{self, Condition, Mutex, Threads};
//! use std::sync::Arc;
//!
//! let sum = thread::run(Threads::Fibers, || {
//!     let shared = Arc::new((Mutex::new(0), Condition::new()));
//!     let adders: Vec<_> = (1..=3)
//!         .map(|number| {
//!             let shared = shared.clone();
//!             thread::spawn(move || {
//!                 *shared.0.lock() += number;
//!                 shared.1.signal();
//!             })
//!         })
//!         .collect::<Result<_, _>>()?;
//!     let mut sum = shared.0.lock();
//!     while *sum < 6 {
//!         shared.1.wait(&mut sum);
//!     }
//!     adders.into_iter().for_each(|adder| adder.join().expect("no adder panics"));
//!     Ok::<i32, thread::ThreadError>(*sum)
//! })??;
//! assert_eq!(sum, 6);
//! # Ok::<(), thread::ThreadError>(())
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use antiphon_fiber::{ManyServers, Run, RunError, StackError, Threads as _};
use antiphon_runner::limit_of;

use crate::hook;

mod any;
pub(crate) mod start;

pub use any::{AnyThreads, Id, now};
pub use start::{Builder, Handle, exit, spawn};

pub(crate) use any::{Parker, has_woken_one, risen};

/// Mutual exclusion around a value; unlocking gives it to the thread that waits longest.
pub type Mutex<V> = antiphon_fiber::Mutex<AnyThreads, V>;
/// The right to a mutex's value; unlocks at its end.
pub type MutexGuard<'a, V> = antiphon_fiber::MutexGuard<'a, AnyThreads, V>;
/// A condition variable: signal and continue, without spurious wake-ups.
pub type Condition = antiphon_fiber::Condition<AnyThreads>;
/// A counting semaphore.
pub type Semaphore = antiphon_fiber::Semaphore<AnyThreads>;
/// A barrier for threads of this process, which go on when a given number has come. Between
/// processes, [`Communicator::barrier`](crate::Communicator::barrier) does the same.
pub type Barrier = antiphon_fiber::Barrier<AnyThreads>;
/// The panic that a thread left.
pub type Panic = antiphon_fiber::Panic;

/// Size of a fiber's stack in bytes. Decoding and formatted output in a debug build fit many times
/// over. Only touched pages take memory.
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// The kind of a program's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threads {
    /// Threads of the operating system.
    #[default]
    System,
    /// Fibers on one processor. A switch costs nanoseconds; a fiber runs until it waits or yields.
    Fibers,
}

/// Reason why a thread cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// Fibers cannot run.
    #[error("fibers cannot be started: {0}")]
    Run(#[from] RunError),
    /// There is no memory for a fiber's stack.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// The system starts no more threads.
    #[error("the system starts no more threads: {}{}", .0, limit_of(.0))]
    System(#[source] std::io::Error),
    /// All remaining fibers wait for each other by `antiphon-fiber`'s own means. A wait by the
    /// means of this module may be ended from outside, by an upcall or an OS thread. So nothing can
    /// tell that it lasts for ever.
    #[error("the first fiber waits for ever: {0}")]
    Deadlock(String),
}

/// Runs a program on threads of a kind. With fibers it returns when the last of them has ended.
///
/// # Errors
/// Fibers cannot be started, or wait for each other.
///
/// # Panics
/// The program did.
pub fn run<T: Send + 'static>(
    threads: Threads,
    main: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ThreadError> {
    match threads {
        Threads::System => Ok(main()),
        // A simulated process runs on fibers already.
        Threads::Fibers if hook::runtime().is_some() => Ok(main()),
        // SAFETY: with one server no fiber ever goes on on another OS thread.
        Threads::Fibers => unsafe { run_on(NonZeroUsize::MIN, main) },
    }
}

/// Runs a program on fibers that share a number of processors.
///
/// # Safety
///
/// No thread of the program keeps what belongs to an OS thread over a wait or a yield, since it may
/// go on on another OS thread. Examples are a reference to a thread-local and a guard of a system
/// lock. (On one processor, as in [`run`], it stays.)
///
/// # Errors
///
/// Fibers cannot be started, or wait for each other.
///
/// # Panics
///
/// The program did.
pub unsafe fn run_on<T: Send + 'static>(
    processors: NonZeroUsize,
    main: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ThreadError> {
    let value = Arc::new(parking_lot::Mutex::new(None));
    let left = value.clone();
    let main = Box::new(move || *left.lock() = Some(start::caught(main)));
    // SAFETY: the caller of `run_on` makes the same promise.
    unsafe { run_to_its_end(processors, main) }?;
    let value = value.lock().take();
    match value.expect("the first fiber has ended") {
        Ok(value) => Ok(value),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs the part of `run_on` that does not depend on the program's types.
///
/// # Safety
///
/// As for [`run_on`].
unsafe fn run_to_its_end(
    processors: NonZeroUsize,
    main: Box<dyn FnOnce() + Send>,
) -> Result<(), ThreadError> {
    let run = Run::many(processors).stack_bytes(STACK_BYTES);
    // SAFETY: the caller of `run_to_its_end` makes the same promise.
    let outcome = unsafe { run.start(main) }?;
    match outcome.value {
        Some(Ok(())) => Ok(()),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => {
            let waits = outcome.blocked.iter().filter_map(|fiber| fiber.wait);
            let waits: Vec<String> = waits
                .map(|wait| format!("{} at {}", wait.on, wait.at))
                .collect();
            Err(ThreadError::Deadlock(waits.join(", ")))
        }
    }
}

/// Lets another ready thread run.
pub fn yield_now() {
    AnyThreads::yield_now();
}

/// Blocks the caller for a time.
#[track_caller]
pub fn sleep(time: Duration) {
    crate::session::upcall::should_not_wait(std::panic::Location::caller());
    AnyThreads::sleep(time);
}

/// Runs a call that blocks in the system, such as a read. Other fibers of the processor go on
/// meanwhile.
#[track_caller]
pub fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    crate::session::upcall::should_not_wait(std::panic::Location::caller());
    // In a simulation no time passes meanwhile. Other fibers would run in an order that differs
    // from run to run.
    match ManyServers::is_caller() && hook::runtime().is_none() {
        true => ManyServers::blocking(call),
        false => call(),
    }
}

/// Returns the caller's identity: *self* of the paper's table.
#[must_use]
pub fn current() -> Id {
    Id::current()
}

/// Sets the caller's priority, and returns whether it took hold. 0 is usual; greater runs first.
///
/// Among fibers of one processor it is exact. A ready fiber never waits for one of lower priority,
/// once that one waits or yields. For OS threads it is a hint: the *nice* value of the opposite
/// sign, within −20 … 19. That shifts shares of processor time, and raising it takes a privilege.
pub fn set_priority(priority: i32) -> bool {
    if ManyServers::is_caller() {
        ManyServers::set_priority(priority);
        return true;
    }
    let nice = priority.saturating_neg().clamp(-20, 19);
    // Linux keeps the value for each thread. With no process number it is the caller's.
    rustix::process::setpriority_process(None, nice).is_ok()
}

//! The interface under all synchronization: fibers on one server or several, or the operating
//! system's threads.

use std::time::Duration;

use crate::fiber::Wait;
use crate::servers::Lock;

/// The events that are counted besides switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A P operation.
    P,
    /// A P operation that blocks.
    BlockedP,
    /// A wake-up that found its condition still false.
    NeedlessWakeUp,
}

/// A kind of threads. Semaphores and the rest are written once, over this trait.
pub trait Threads: Sized + 'static {
    /// The lock around the state of a synchronization object.
    type Lock<V>: Lock<V>;
    /// A queue of waiting threads, first come, first served. It belongs to such a lock.
    type WaitQueue: Default;
    /// A thread that was taken from a queue and has not been woken yet.
    type Sleeper;
    /// A guard during which the run-time is at work and a tick must wait.
    type Entered;

    /// Enters the run-time.
    fn enter() -> Self::Entered;
    /// Puts the caller at the end of a queue; it parks next.
    fn enqueue(queue: &mut Self::WaitQueue, wait: Wait);
    /// Takes the caller out of a queue, if it is still in it, and returns whether it was.
    fn withdraw(queue: &mut Self::WaitQueue) -> bool;
    /// Returns how many threads wait in a queue.
    fn waiting(queue: &mut Self::WaitQueue) -> usize;
    /// Takes the first thread out of a queue.
    fn dequeue(queue: &mut Self::WaitQueue) -> Option<Self::Sleeper>;
    /// Makes a thread ready.
    fn wake(sleeper: Self::Sleeper);
    /// Blocks the caller, who stands in a queue, until another thread wakes it. The lock is
    /// released when a wake-up can no longer come too early.
    fn park<V>(guard: <Self::Lock<V> as Lock<V>>::Guard<'_>);
    /// Does the same as [`park`](Self::park), until a time at most.
    fn park_until<V>(guard: <Self::Lock<V> as Lock<V>>::Guard<'_>, until: Duration);
    /// Lets another ready thread run.
    fn yield_now();
    /// Blocks the caller for a time.
    fn sleep(time: Duration);
    /// Returns the time since the run began.
    fn now() -> Duration;
    /// Counts an event.
    fn note(event: Event);
}

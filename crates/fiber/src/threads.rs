//! The interface that synchronization is written over: fibers on one server or several, or the operating system's threads.

use std::time::Duration;

use crate::fiber::Wait;
use crate::servers::Lock;

/// What is worth counting besides switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A P operation.
    P,
    /// A P operation that blocks.
    BlockedP,
    /// A wake-up that found its condition still false.
    NeedlessWakeUp,
}

/// A kind of threads. Semaphores and all else are written once, over this.
pub trait Threads: Sized + 'static {
    /// What guards the state of a synchronization object.
    type Lock<V>: Lock<V>;
    /// Threads that wait, first come, first served. It belongs to such a lock.
    type WaitQueue: Default;
    /// A thread that was taken from a queue and has not been woken yet.
    type Sleeper;
    /// While it lives, the run-time is at work and a tick must wait.
    type Entered;

    /// Enters the run-time.
    fn enter() -> Self::Entered;
    /// Puts the caller at the end of a queue; it parks next.
    fn enqueue(queue: &mut Self::WaitQueue, wait: Wait);
    /// Takes the caller out of a queue, if it is still in it; whether it was.
    fn withdraw(queue: &mut Self::WaitQueue) -> bool;
    /// Takes the first out of a queue.
    fn dequeue(queue: &mut Self::WaitQueue) -> Option<Self::Sleeper>;
    /// Makes a thread ready.
    fn wake(sleeper: Self::Sleeper);
    /// Blocks the caller, who stands in a queue, until it is woken; the lock is let go of when nobody can wake it too early any more.
    fn park<V>(guard: <Self::Lock<V> as Lock<V>>::Guard<'_>);
    /// The same, until a time at most.
    fn park_until<V>(guard: <Self::Lock<V> as Lock<V>>::Guard<'_>, until: Duration);
    /// Lets another ready thread run.
    fn yield_now();
    /// Blocks the caller for a time.
    fn sleep(time: Duration);
    /// Time since the run began.
    fn now() -> Duration;
    /// Counts.
    fn note(event: Event);
}

//! Synchronization, written once over [`Threads`](crate::Threads). Every queue is first come, first served, and wake-ups hand over directly:
//! nobody overtakes a thread that was woken.

mod barrier;
mod condition;
mod mutex;
mod semaphore;

pub use barrier::Barrier;
pub use condition::Condition;
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::Semaphore;

//! Synchronization, written once over [`Threads`](crate::Threads). Every queue is first come, first
//! served. Wake-ups hand over directly, so no thread overtakes a woken one.

mod barrier;
mod condition;
mod mutex;
mod semaphore;

pub use barrier::Barrier;
pub use condition::Condition;
pub use mutex::{Mutex, MutexGuard};
pub use semaphore::Semaphore;

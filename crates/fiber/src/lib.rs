//! Threads: stackful fibers on job servers, scheduling policies, semaphores and timers.
//!
//! A [`Run`] starts job servers, one OS thread each, and runs fibers on them until all have ended
//! or are blocked for ever. With [`One`] server nothing in the run-time is atomic; with [`Many`]
//! fibers run in parallel and idle servers take work from others. A [`Policy`] says when a running
//! fiber loses its processor; fibers of a [`Region`] all run on one.
//!
//! Synchronization is written once, over the interface [`Threads`], for fibers and for the
//! operating system's threads ([`OsThreads`]).
//!
//! ```
//! use std::rc::Rc;
//! use antiphon_fiber::{Builder, OneServer, Run, Semaphore};
//!
//! let outcome = Run::one()
//!     .start(|| {
//!         let full = Rc::new(Semaphore::<OneServer>::new(0));
//!         let brings = full.clone();
//!         OneServer::spawn(Builder::default(), move || brings.v()).unwrap();
//!         full.p();
//!         "served"
//!     })
//!     .unwrap();
//! assert_eq!(outcome.value.unwrap().unwrap(), "served");
//! assert_eq!(outcome.counters.blocked_p_operations, 1);
//! ```

mod clock;
mod counters;
mod fiber;
mod fibers;
mod histograms;
mod idle;
mod idle_parker;
mod os;
mod outside;
mod overflow;
mod policy;
mod ready;
mod run;
mod run_id;
mod schedule;
mod server;
mod servers;
mod shared;
mod spawn;
mod spin_wait;
mod stack;
mod sync;
mod threads;
mod tick;
mod timers;
#[cfg(antiphon_tsan)]
mod tsan;
mod wait_queue;

pub use counters::Counters;
pub use fiber::Wait;
pub use fibers::{Entered, Fibers, ManyServers, OneServer, Places, Sleeper};
pub use histograms::Histograms;
pub use os::{OsThreads, Parker};
pub use overflow::{OnOverflow, Overflow, interrupted_at};
pub use policy::Policy;
pub use run::{Blocked, OnTurn, Outcome, Run, RunError, Turn};
pub use schedule::{Schedule, Trace, TraceError};
pub use servers::{HeldLock, Lock, Many, One, Servers, Word};
pub use spawn::{Builder, Detached, Handle, Panic, Region};
pub use stack::StackError;
pub use sync::{Barrier, Condition, Mutex, MutexGuard, Semaphore};
pub use threads::{Event, Threads};
pub use tick::TimerError;
pub use wait_queue::WaitQueue;

//! An HTTP load generator: closed loop and open schedule, latency from the intended start.
//!
//! ```no_run
//! use antiphon_load::{Load, Reach, Schedule, Target};
//! use std::time::Duration;
//!
//! let target = Target::parse("http://127.0.0.1:8080/api", Reach::Loopback)?;
//! let expected = antiphon_load::first_exchange(&target, Duration::from_secs(5))?;
//! let load = Load {
//!     connections: 64,
//!     schedule: Schedule::Open { per_second: 20_000.0 },
//!     duration: Duration::from_secs(1),
//!     ..Load::new(target, expected)
//! };
//! let measured = antiphon_load::run(&load)?;
//! println!("{:.0} requests/s, p99 {} ns", measured.per_second(), measured.latency.at(0.99));
//! # Ok::<(), antiphon_load::Error>(())
//! ```
//!
//! One thread drives all connections through epoll, asleep while nothing comes or, with [`Load::busy_poll`], without sleep. In the *closed loop* each connection sends its next request when it has the answer to
//! the one before; a server that stalls is then asked less, and most of the wait that users would have had is never seen. On the *open
//! schedule* requests are due at fixed times whatever the server does, and a latency counts from the time at which its request was due,
//! also where it could only be sent later (G. Tene's "coordinated omission"). What was due and never answered counts with the time that it
//! had waited.
//!
//! Every answer is checked: its status, its length, and each byte of its body against the first exchange. A run is bounded in time and in
//! requests, and sends to this machine only unless [`Reach::Anywhere`] is asked for. Linux only.

mod check;
mod connection;
mod cpu;
mod engine;
mod error;
mod fault;
mod measured;
mod pace;
mod packed;
mod response;
mod run;
mod settings;
mod target;

pub use check::{Expected, first_exchange};
pub use cpu::may_come_first;
pub use error::Error;
pub use fault::Fault;
pub use measured::{Latency, Measured, OfConnection, Stopped};
pub use packed::Packed;
pub use run::{run, run_steady};
pub use settings::{Load, Schedule};
pub use target::{Reach, Target};

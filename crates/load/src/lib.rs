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
//! One thread drives all connections through epoll. It sleeps while nothing comes, or polls with
//! [`Load::busy_poll`].
//!
//! In the *closed loop* each connection sends its next request after the answer to the one before.
//! A stalled server thus gets fewer requests, and most of its users' wait stays invisible.
//!
//! On the *open schedule* requests are due at fixed times, independent of the server. A latency
//! counts from the due time of its request, even if the request was sent later (G. Tene's
//! "coordinated omission"). A due request without an answer counts with the time that it had
//! waited.
//!
//! Every answer is checked against the first exchange: its status, its length, and each byte of its
//! body. A run is bounded in time and in requests. It sends to this machine only, unless
//! [`Reach::Anywhere`] is requested. Linux only.

mod check;
mod connection;
mod cpu;
mod engine;
mod error;
mod fault;
mod measured;
mod pace;
mod packed;
mod request;
mod response;
mod run;
mod settings;
mod target;

pub use check::{Expected, first_exchange};
pub use cpu::may_come_first;
pub use error::Error;
pub use fault::Fault;
pub use measured::{Latency, Limit, Measured, OfConnection, Stopped};
pub use packed::Packed;
pub use request::Request;
#[doc(hidden)]
pub use response::Answers;
pub use run::{run, run_steady, run_unless};
pub use settings::{Load, Schedule};
pub use target::{Reach, Target};

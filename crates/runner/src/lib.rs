//! Child processes: start, pin, limit, time out, account for, and clean up after, even when we are
//! killed.
//!
//! A [`Program`] says what to start and under which conditions. [`Program::run`] runs it to its
//! end:
//!
//! ```
//! use antiphon_runner::Program;
//! use std::time::Duration;
//!
//! let output = Program::new("sort")
//!     .input("b\na\n")
//!     .affinity([0])
//!     .time_limit(Duration::from_secs(10))
//!     .run()?
//!     .success()?;
//! assert_eq!(output.text()?, "a\nb\n");
//! println!("{:?} of processor time", output.usage.user + output.usage.system);
//! # Ok::<(), antiphon_runner::Error>(())
//! ```
//!
//! and [`Program::spawn`] starts it to talk to, line by line:
//!
//! ```
//! # use antiphon_runner::Program;
//! # use std::time::Duration;
//! let mut cat = Program::new("cat").spawn()?;
//! cat.set_deadline(Some(Duration::from_secs(10)));
//! cat.write_line("sing")?;
//! assert_eq!(cat.read_line()?, "sing");
//! # Ok::<(), antiphon_runner::Error>(())
//! ```
//!
//! No descendant of a child survives it, its deadline, or us; the `keeper` module's comment
//! explains this. Linux only.

mod attached;
mod end;
mod error;
mod forward;
mod keeper;
mod limits;
mod policy;
mod port;
mod process;
mod program;
mod pump;
mod run;
mod shortage;
mod start;
mod stat;
mod tail;

pub use end::{End, Usage, signal_name};
pub use error::{Error, before_last_words, help_for_lack, said};
pub use forward::{Forwarding, Signaller, Stream};
pub use limits::Limits;
pub use policy::Policy;
pub use port::{free_port, holds_port};
pub use process::Process;
pub use program::Program;
pub use run::Output;
pub use shortage::limit_of;
pub use stat::ProcessStat;

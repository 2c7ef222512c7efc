//! Speaks the subject protocol (docs/reference/subject-protocol.md) for any Rust program that is measured.
//!
//! A program lists its tests and serves the laboratory's requests until it has had enough:
//!
//! ```no_run
//! use antiphon_kit::{Failure, Frames, Subject, Test, increment};
//! use std::sync::Mutex;
//!
//! struct Uncontended(Mutex<u64>);
//!
//! impl Frames for Uncontended {
//!     fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
//!         let (mut sum, mut index) = (0, 0);
//!         while index < iterations {
//!             sum += index;
//!             index = increment(index);
//!         }
//!         Ok(sum)
//!     }
//!
//!     fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
//!         let (mut sum, mut index) = (0, 0);
//!         while index < iterations {
//!             drop(self.0.lock());
//!             sum += index;
//!             index = increment(index);
//!         }
//!         Ok(sum)
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Subject::new("Rust")
//!         .test(Test::frame("mutex.uncontended", |_| Ok(Uncontended(Mutex::new(0)))))
//!         .serve()
//! }
//! ```
//!
//! What a test prepares is a value: it is made before the warm-up, and dropped after the last slice, also where a frame has failed or
//! panicked. Partner threads are started by [`start_partner`], which knows the placement, and call [`takes_part`] once an operation.
//! Where partners are other processes, [`Subject::on_placement`] moves them ([`pin_process`]), [`Subject::own_switches`] counts their context
//! switches, and [`Frames::report`] hands in what their threads report ([`ThreadReport`] can be written and read as text).

mod answer;
mod batches;
mod clocks;
mod enter;
mod frame;
mod request;
mod resources;
mod self_tests;
mod sequences;
mod slices;
mod subject;
mod system;
mod test;
mod threads;

pub use clocks::now_ns;
pub use frame::{chain_step, increment};
pub use slices::Role;
pub use subject::Subject;
pub use test::{Failure, Frames, Operation, Sample, Test, Turn, Turns};
pub use threads::{
    Placement, ThreadReport, pin_process, report_thread, reporting, start_partner, takes_part,
};

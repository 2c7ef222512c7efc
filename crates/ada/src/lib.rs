//! Ada source: syntax, names, the tasking model of a program, its translation, and the check of a translation.
//!
//! A [`Program`] is read from files, directories or GNAT project files; [`Analysis::of`] resolves its names, builds the
//! graph of synchronization points of each task body and gives a [`verdict::Verdict`] with numbered reasons;
//! [`translate::translate`] rewrites what can be rewritten and gives [`edit::Edited`] files; [`verify`] builds both programs with
//! GNAT, runs them under several schedules and compares what they print.
//!
//! ```no_run
//! use antiphon_ada::{Analysis, Program, translate};
//!
//! let program = Program::read(["buffer.adb"])?;
//! let analysis = Analysis::of(&program);
//! for task in &analysis.tasks {
//!     println!("{}", task.verdict.summary());
//! }
//! let translation = translate::translate(&analysis, &translate::Options::default());
//! print!("{}", translation.diff(&program));
//! # Ok::<(), antiphon_ada::Error>(())
//! ```

mod error;
pub mod input;
pub mod names;
pub mod source;
pub mod syntax;

pub use error::{Error, SyntaxError};
pub use source::{Place, Program, Source};

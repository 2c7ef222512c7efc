//! Ada sources: syntax, names, the tasking model of a program, its translation, and the check of a
//! translation.
//!
//! A [`Program`] is read from files, directories or GNAT project files. [`Analysis::of`] resolves
//! its names, builds the graph of synchronization points of each task body, and returns a
//! [`verdict::Verdict`] with numbered reasons for each task. [`translate::translate`] translates
//! the suitable tasks and returns [`edit::Edited`] files.
//!
//! ```no_run
//! use antiphon_ada::{Analysis, Program, translate};
//!
//! let program = Program::read(["buffer.adb"])?;
//! let analysis = Analysis::of(&program, translate::Options::default());
//! for task in &analysis.tasks {
//!     println!("{}: {}", task.task.name, task.verdict.class.word());
//! }
//! let translation = translate::translate(&analysis);
//! print!("{}", translation.diff(&program));
//! # Ok::<(), antiphon_ada::Error>(())
//! ```

mod analysis;
pub mod edit;
pub mod effects;
mod error;
pub mod explain;
pub mod flow;
mod gprls;
pub mod input;
pub mod model;
pub mod names;
pub mod profile;
mod project;
pub mod sarif;
pub mod source;
pub mod syntax;
pub mod translate;
pub mod verdict;
pub mod verify;

pub use analysis::{Analysis, TaskReport};
pub use error::{Error, SyntaxError};
pub use source::{Place, Program, Source};

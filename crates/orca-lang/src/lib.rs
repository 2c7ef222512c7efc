//! The Orca language: units to a checked program.
//!
//! [`load`] finds and parses the units of a program, and [`check`] makes a
//! [`program::Program`] of them, with the effects of each routine on others.

pub mod build;
mod check;
mod effects;
mod emit;
mod lexer;
mod parser;
mod passing;
pub mod program;
mod standard;
pub mod syntax;
mod token;
mod units;

pub use antiphon_lang::{Diagnostic, ReadError, Severity, Sources, Span};
pub use check::{Checked, check};
pub use emit::{EmitOptions, emit};
pub use lexer::{Dialect, Keywords};
pub use parser::parse;
pub use units::{Halves, Loaded, Search, load, main_of};

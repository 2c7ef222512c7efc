//! The SR language: source to executable.
//!
//! Today: source to C. [`parse`] reads a file of [`Sources`] and gives its components with what is wrong in it; [`check`] makes of the components of all
//! files a [`program::Program`]; [`emit`] writes that in C.

mod check;
mod diagnostic;
mod emit;
mod front;
mod lexer;
mod lower;
mod notation;
mod parser;
pub mod program;
mod source;
pub mod syntax;
mod token;

pub use check::{Checked, check};
pub use emit::{EmitOptions, emit};
pub use diagnostic::{Diagnostic, Severity};
pub use front::{Input, ReadError};
pub use notation::{NoNotation, Notation, Signalling, Termination};
pub use parser::parse;
pub use source::{Source, Sources, Span};

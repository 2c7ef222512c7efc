//! The SR language: source to executable.
//!
//! [`Input`] reads files and checks them. It uses [`parse`], which returns a file's components, and
//! [`check`], which makes a [`program::Program`] of the components of all files. [`emit()`] writes
//! the program in C, and a [`build::Job`] makes an executable of it with the run-time.

pub mod build;
mod check;
mod emit;
mod front;
mod lexer;
mod lower;
mod notation;
mod parser;
pub mod program;
pub mod syntax;
mod token;

pub use antiphon_lang::{Diagnostic, ReadError, Severity, Source, Sources, Span};
pub use check::{Checked, check};
pub use emit::{EmitOptions, emit};
pub use front::Input;
pub use notation::{NoNotation, Notation, Signalling, Termination};
pub use parser::parse;

//! The SR language: source to executable.
//!
//! Today: source to syntax tree. [`parse`] reads a file of [`Sources`] and gives its components with what is wrong in it.

mod diagnostic;
mod lexer;
mod parser;
pub mod program;
mod source;
pub mod syntax;
mod token;

pub use diagnostic::{Diagnostic, Severity};
pub use parser::parse;
pub use source::{Source, Sources, Span};

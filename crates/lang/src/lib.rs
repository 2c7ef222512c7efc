//! The common part of compilers to C: sources, diagnostics, C text, and executables.
//!
//! A front end reads its files into [`Sources`], reports each mistake as a [`Diagnostic`] at a
//! [`Span`], and writes its program with a [`c::Writer`]. A [`build::Job`] compiles that text,
//! links it with a [`build::Runtime`], and keeps the executable in a cache.
//!
//! Nothing here depends on a language. Differences between languages come in by [`build::Recipe`]
//! and [`build::Runtime`].

pub mod build;
pub mod c;
mod diagnostic;
mod source;
mod token;

pub use diagnostic::{Diagnostic, Severity, has_errors, nearest, report};
pub use source::{Origin, ReadError, Source, Sources, Span, decode, read};
pub use token::{Cursor, Token};

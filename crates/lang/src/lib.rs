//! What compilers of languages to C share: sources, diagnostics, C text, and executables made of it.
//!
//! A front end reads its files into [`Sources`], reports each mistake as a [`Diagnostic`] at a
//! [`Span`], and writes its program with a [`c::Writer`]. A [`build::Job`] compiles that text,
//! links it with a [`build::Runtime`], and keeps the executable in a cache.
//!
//! No language is known here. What differs between languages comes in by [`build::Recipe`] and
//! [`build::Runtime`].

pub mod build;
pub mod c;
mod diagnostic;
mod source;

pub use diagnostic::{Diagnostic, Severity, has_errors, nearest, report};
pub use source::{Origin, ReadError, Source, Sources, Span, decode, read};

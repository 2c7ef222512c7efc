//! The portability layer as programs in C see it.

mod examples;
mod header;
mod programs;
mod support;

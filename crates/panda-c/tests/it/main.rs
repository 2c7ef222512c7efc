//! The portability layer as programs in C use it.

mod examples;
mod header;
mod programs;
mod support;

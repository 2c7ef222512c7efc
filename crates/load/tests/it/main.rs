//! The generator before servers of a known conduct.

mod common;
mod conduct;
mod polling;

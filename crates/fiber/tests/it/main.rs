//! Tests of threads: on one server, on many, in every interleaving, and beyond their stacks.

mod many;
mod models;
mod one;
mod overflow;

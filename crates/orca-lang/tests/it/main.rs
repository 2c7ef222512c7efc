//! Tests of the front end: accepted programs, and the messages for refused ones.

mod accepted;
mod effects;
mod original;
mod outside;
mod partitioned;
mod programs;
mod random;
mod refused;
mod support;
mod units;
mod wild;

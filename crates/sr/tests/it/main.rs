//! Tests of the compiler, from its messages to programs that run.

mod check;
mod emit;
mod fuzz;
mod linked;
mod mutated;
mod programs;
mod random;
mod region;
mod support;
mod wrong;

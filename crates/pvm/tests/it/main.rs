//! The library as programs use it: our own in C and Fortran, and PVM's compiled ones where they are
//! installed.

mod debian;
mod failures;
mod header;
mod launched;
mod linking;
mod measured;
mod programs;
mod soak;
mod support;

//! The run-time of programs in the Orca language, with which generated C is linked.
//!
//! The contract with generated code is `include/orca.h`, which includes that of values. Values and
//! the standard units are C, in the folder `c`. Here are `main`, shared objects and processes, over
//! the type-erased core of the crate `orca`.
//!
//! Generated code passes raw pointers. The invariants are the contract's. Each module names at its
//! head those on which its `unsafe` rests.

mod arrays;
mod errors;
mod layout;
mod objects;
mod parting;
mod processes;
mod settings;
mod start;
mod statistics;
mod timeline;

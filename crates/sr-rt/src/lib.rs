//! The run-time of SR programs, which generated C is linked with.
//!
//! The contract with generated code is `include/sr.h`; `main` is here. Everything that depends on
//! the number of servers exists in two flavours, from one generic core over
//! [`antiphon_fiber::Servers`]. With one server nothing is atomic. The language report (Andrews and
//! Olsson, TR 92-09) defines what SR means; where it leaves freedom, this run-time does what SR
//! 2.3.3 does.
//!
//! Generated code passes raw pointers. The contract states the invariants, and each `unsafe` block
//! says which of them it rests on.

#![cfg_attr(
    test,
    allow(
        dead_code,
        reason = "tests have a `main` of their own, and ours is what uses the rest"
    )
)]

mod arena;
mod arrays;
mod class;
mod co;
mod crash;
mod destruction;
mod ending;
mod errors;
mod exhaustion;
#[macro_use]
mod exports;
mod fields;
mod files;
mod flavour;
mod format;
mod gate;
mod instance;
mod interruption;
mod invocation;
mod layout;
mod line;
#[cfg_attr(not(feature = "machines"), path = "machines/none.rs")]
mod machines;
/// The part of virtual machines that needs no program, for its tests.
#[cfg(all(test, not(feature = "machines")))]
#[path = "machines/protocol/mod.rs"]
mod machines_protocol;
mod memory;
mod numbers;
mod ops;
mod options;
mod process;
mod queues;
mod report;
mod runtime;
mod scan;
mod scanf;
mod semaphore;
#[cfg(not(test))]
mod start;
mod stats;
mod trace;

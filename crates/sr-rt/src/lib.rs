//! The run-time of SR programs: what generated C is linked with.
//!
//! The contract with generated code is `include/sr.h`; `main` is here. There are two flavours of all that depends on the number of servers, from one generic
//! core over [`antiphon_fiber::Servers`]: with one server nothing is atomic. What SR means is said in the language report (Andrews and Olsson, TR 92-09);
//! where that leaves freedom, this does what SR 2.3.3 does.
//!
//! Generated code hands over raw pointers. The invariants are the contract's: each module says at its head which of them its `unsafe` rests on.

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
mod destruction;
mod ending;
mod errors;
mod exports;
mod fields;
mod files;
mod flavour;
mod format;
mod gate;
mod instance;
mod invocation;
mod layout;
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

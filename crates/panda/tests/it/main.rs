//! Tests of the portability layer, by topic. Some start this executable again as other processes
//! ([`process`], [`members`], [`mpirun`]).

mod allocations;
mod conformance;
mod examples;
mod failures;
mod hostility;
mod members;
mod mpirun;
mod platforms;
mod process;
mod sessions;
mod spawning;

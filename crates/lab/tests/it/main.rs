//! The laboratory, by subjects and servers of a known conduct. The tests read suites and subjects,
//! make builds and runs, and check findings and the store.
//!
//! Other executables of tests: `subjects` compiles the project's own subjects, and `processors`
//! takes every processor.

mod build;
mod common;
mod comparing;
mod conformance;
mod costs;
mod curves;
mod failing;
#[path = "../common/fixtures.rs"]
mod fixtures;
mod headlines;
mod instructions;
mod leaving_out;
mod load;
#[path = "../common/powers.rs"]
mod powers;
mod profiling;
mod programs;
mod promises;
mod protocol;
mod resume;
mod run;
mod savings;
mod session;
mod store;
mod subject;
mod suite;

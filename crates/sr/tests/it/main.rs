//! Tests of the compiler, from its messages to programs that run.

mod check;
mod emit;
mod faults;
mod fuzz;
mod growth;
mod linked;
mod machine_faults;
mod machine_reports;
mod machines;
mod mutated;
mod programs;
mod random;
mod region;
mod reports;
mod schedules;
mod sources;
mod support;
mod wrong;

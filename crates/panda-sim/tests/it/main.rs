//! Protocols and whole programs over the simulated network.

mod availability;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "real platforms are asked for more"
)]
#[path = "../../../panda/tests/it/conformance/mod.rs"]
mod conformance;
mod conforming;
mod examples;
mod programs;
mod quiescence;
mod restarts;
mod scale;
mod seeds;
mod spawning;
mod state;

//! Reasons for a frame without a figure.

use crate::Role;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Reason why a frame gives no figure. Each message ends with the remedy.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
pub enum FrameError {
    /// The frame's time does not grow with its iterations.
    #[error(
        "the {} frame does not grow: {iterations} iterations take {elapsed_ns:.0} ns and {doubled_iterations} take {doubled_ns:.0} ns, so its \
         work was removed; move the feature into a unit that is compiled apart, and let its result reach the checksum",
        name(.role)
    )]
    DeadCode {
        /// Frame in question.
        role: Role,
        /// Fewer iterations, such as N.
        iterations: u64,
        /// Shortest slice of them, ns.
        elapsed_ns: f64,
        /// More iterations, such as 2 N.
        doubled_iterations: u64,
        /// Shortest slice of those, ns.
        doubled_ns: f64,
    },
    /// A batch came back without one whole block.
    #[error(
        "a batch of {blocks} blocks came back with {slices} slices and no block that has both a control and a test slice of {iterations} \
         iterations; check the subject with `antiphon doctor --subject`"
    )]
    NoWholeBlock {
        /// Blocks asked for.
        blocks: u32,
        /// Slices that came.
        slices: usize,
        /// Iterations asked for.
        iterations: u64,
    },
    /// A batch was given that the plan did not ask for.
    #[error(
        "a batch of {given} iterations was given where the plan asks for {asked}; the stored batches belong to other settings or another \
         clock: measure this test anew"
    )]
    NotAsked {
        /// Iterations of the request given.
        given: u64,
        /// Present request of the plan.
        asked: String,
    },
    /// Nothing was measured yet.
    #[error("no block was measured; let the run go on, or give it a larger time budget")]
    NothingMeasured,
}

fn name(role: &Role) -> &'static str {
    match role {
        Role::Control => "control",
        Role::Test => "test",
        Role::Reference => "reference",
    }
}

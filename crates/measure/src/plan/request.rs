//! Requests of a plan.

use serde::{Deserialize, Serialize};

/// Purpose of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Finds how many iterations make a slice.
    Calibrate,
    /// Finds whether twice the iterations take longer.
    Growth,
    /// Measures.
    Sample,
}

/// A request for a batch: the fields of the protocol's `batch`, and its purpose.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BatchRequest {
    /// Iterations of a control or test slice.
    pub iterations: u64,
    /// Blocks of slices in ABBA order.
    pub blocks: u32,
    /// Iterations of a reference slice; 0 for none.
    pub reference_iterations: u64,
    /// Untimed iterations of control and of test before the first block.
    pub warmup: u64,
    /// Purpose of the request.
    pub purpose: Purpose,
}

/// Next step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Run this batch and give it to [`FramePlan::take`](crate::FramePlan::take).
    Run(BatchRequest),
    /// Nothing more: ask for the estimate.
    Done,
}

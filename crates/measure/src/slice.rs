//! Reports of a subject: slices, batches and their threads. They are the input of every estimate.

use serde::{Deserialize, Serialize};

/// The frame that a slice ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The loop without the feature.
    Control,
    /// The loop with the feature.
    Test,
    /// The operation of known cost: 16 steps of a dependent multiply-add chain.
    Reference,
}

/// One timed run of one frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Block of the batch that the slice belongs to; pairs are formed within a block.
    pub block: u32,
    /// Frame of the slice.
    pub role: Role,
    /// Iterations of the frame's loop.
    pub iterations: u64,
    /// The subject's clock before the slice, in ns.
    pub start_ns: u64,
    /// The clock after less the clock before, in ns.
    pub elapsed_ns: u64,
    /// Voluntary context switches of the whole process during the slice.
    pub voluntary: u64,
    /// Involuntary context switches of the whole process during the slice.
    pub involuntary: u64,
    /// Minor page faults of the whole process during the slice.
    pub minor_faults: u64,
    /// Major page faults of the whole process during the slice.
    pub major_faults: u64,
    /// Time that the measuring thread was ready but not running, in ns; `None` if the system does
    /// not tell.
    pub wait_ns: Option<u64>,
    /// The processor that the measuring thread was on at the end; `None` where unknown.
    pub processor: Option<u32>,
    /// Result of the frame.
    pub checksum: u64,
}

/// Threads' reports about themselves; equal reports are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadReport {
    /// The thread's part in the test, such as `main` or `partner`.
    pub role: String,
    /// `other`, `fifo`, `rr` or the system's number.
    pub policy: String,
    /// The thread's real-time priority (0 under `other`).
    pub priority: i32,
    /// The processor the thread was on.
    pub processor: u32,
    /// The processors it was allowed on, as a list such as `0` or `0-1`.
    pub allowed: String,
    /// Number of these reports.
    pub count: u64,
}

/// Answer of a subject to one request for a batch of slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The slices in the order in which they ran.
    pub slices: Vec<Slice>,
    /// The reports of the threads that took part.
    pub threads: Vec<ThreadReport>,
    /// Wall time of the whole request as the laboratory saw it, in ns.
    pub wall_ns: u64,
}

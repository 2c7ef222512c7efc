//! Storage loops (L4 and its two variants): what second differences of the readings show.

use serde::{Deserialize, Serialize};

/// What one storage loop told. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageEstimate {
    /// Allocations done.
    pub completed: u64,
    /// Bytes asked for in each.
    pub object_bytes: u64,
    /// Whether the system refused storage before the loop's limit, and the exception or message.
    pub exhausted: Option<String>,
    /// Median time of one turn of the loop.
    pub typical_ns: f64,
    /// Turns far dearer than the typical one: (index, excess ns), the dearest 500 in order of index.
    pub steps: Vec<(u64, f64)>,
    /// If steps recur at a regular distance: (turns between them, median excess ns): the allocator asking for more, or paging.
    pub growth: Option<(f64, f64)>,
    /// The cost level changed for good at these indexes: (index, median before, median after).
    pub level_changes: Vec<(u64, f64, f64)>,
    /// What this says of the implementation, one sentence each (storage is kept, reclaimed implicitly, reclaimed by deallocation, a collector ran).
    pub verdict: Vec<String>,
}

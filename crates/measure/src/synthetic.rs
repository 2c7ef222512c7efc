//! Subjects of known truth for tests: slices and clock series made from a formula and a seed.

use crate::{Role, Slice};

/// A slice with nothing but its time.
pub(crate) fn slice(block: u32, role: Role, iterations: u64, elapsed_ns: u64) -> Slice {
    Slice {
        block,
        role,
        iterations,
        start_ns: 0,
        elapsed_ns,
        voluntary: 0,
        involuntary: 0,
        minor_faults: 0,
        major_faults: 0,
        wait_ns: Some(0),
        processor: Some(0),
        checksum: 0,
    }
}

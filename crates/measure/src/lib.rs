//! How a cost is measured: clocks, frames, noise, statistics.
//!
//! No I/O: a plan says which slice comes next and takes its result; series of clock readings go in, estimates come out.

mod estimate;
mod slice;

pub use estimate::{
    Estimate, Finding, FindingKind, FrameTimes, Interval, PaperFigures, Resources, Stopped,
};
pub use slice::{Batch, Role, Slice, ThreadReport};

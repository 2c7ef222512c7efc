//! How a cost is measured: clocks, frames, noise, statistics.
//!
//! No I/O: a plan says which slice comes next and takes its result; series of clock readings go in, estimates come out.

mod clock;
mod delay;
mod estimate;
mod interference;
mod latency;
mod slice;
mod storage;

pub use clock::{ClockEstimate, ResolutionBy};
pub use delay::{DelayCurve, DelayMethod, DelayPoint};
pub use estimate::{
    Estimate, Finding, FindingKind, FrameTimes, Interval, PaperFigures, Resources, Stopped,
};
pub use interference::{Interference, InterferenceCase, PeriodicFunction};
pub use latency::{Distribution, LatencyEstimate, LatencySample};
pub use slice::{Batch, Role, Slice, ThreadReport};
pub use storage::StorageEstimate;

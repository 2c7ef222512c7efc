//! Measurement of a cost: clocks, frames, noise, statistics.
//!
//! There is no I/O: a plan names the next slice and takes its result; series of clock readings go
//! in, estimates come out. The mathematics is in `docs/explanation/method.md`.

mod block;
mod clock;
#[cfg(test)]
mod clock_tests;
mod comparison;
mod delay;
mod delay_fit;
mod estimate;
mod evaluate;
mod findings;
mod gaps;
mod grain;
mod instructions;
mod interference;
mod latency;
mod line;
mod line_limits;
#[cfg(test)]
mod line_limits_tests;
mod passing;
mod periodic;
mod placement;
mod plan;
#[cfg(test)]
mod plan_conduct_tests;
#[cfg(test)]
mod plan_pair_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod plan_unruly_tests;
mod pooled;
mod slice;
mod statistics;
mod storage;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod synthetic_plan;
#[cfg(test)]
mod synthetic_subject;
mod whole_run;
mod work;

pub use clock::{ClockError, ClockEstimate, ENOUGH_TICKS, ResolutionBy, ZeroStrings, zero_strings};
pub use comparison::{
    Basis, Comparison, ComparisonSettings, FEWEST_STARTS, Needed, Verdict, compare,
    compare_figures, compare_pairs, holm, judge,
};
pub use delay::{DelayCurve, DelayMethod, DelayPoint, RandomStarts};
pub use estimate::{
    Estimate, Finding, FindingKind, FrameTimes, Interval, PaperFigures, Resources, Stopped,
};
pub use findings::PLACEMENT_FLOOR_NS;
pub use gaps::{ClockGap, GapLoop, gap_threshold_ns};
pub use instructions::{CountPass, CountedBy, InstructionCount};
pub use interference::{Interference, InterferenceCase, PeriodicFunction};
pub use latency::{Distribution, LatencyError, LatencyEstimate, LatencySample, supports};
pub use line::{Line, farthest, line};
pub use passing::{AllocatorStep, Passing, allocator_steps, by_copy_or_reference};
pub use placement::{Expected, Placement};
pub use plan::{
    BatchRequest, ClockFacts, FrameError, FramePlan, FrameSettings, PairEstimate, PairPlan,
    PairStep, Purpose, Side, Step,
};
pub use pooled::Pooled;
pub use slice::{Batch, Role, Slice, ThreadReport};
pub use storage::{StorageError, StorageEstimate, StorageOutcome, storage_verdict};
pub use whole_run::{
    RunFigure, WholeRun, median_interval, run_counter, run_figure, run_ratio, run_time_ns, student,
};
pub use work::{WorkSample, reference_checksum, unequal_work};

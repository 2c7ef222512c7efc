//! Delay curves: d(DEL) against DEL, classified as in the paper (figures 1–3).

use crate::Interval;
use serde::{Deserialize, Serialize};

/// A classified delay curve. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayCurve {
    /// The points, in order of the requested delay.
    pub points: Vec<DelayPoint>,
    /// How the system schedules an expired delay.
    pub method: DelayMethod,
    /// Slope of the line through the points above the threshold (1 is ideal).
    pub slope: f64,
    /// Below this requested delay the call returns at once; `None` where no threshold was seen.
    pub immediate_below_ns: Option<f64>,
    /// Minimum actual delay: d(DEL) for the smallest DEL.
    pub minimum_ns: f64,
    /// Overhead Ts: the line's intercept with the ordinate.
    pub overhead_ns: f64,
    /// Whether the system subtracts its overhead from the delay.
    pub compensated: bool,
    /// Resolution: the step of the staircase, or the smallest distance of DEL that d(DEL) follows.
    pub resolution_ns: f64,
    /// One sentence a fact, with its numbers.
    pub evidence: Vec<String>,
}

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayPoint {
    /// DEL.
    pub requested_ns: f64,
    /// d(DEL) = (T2 − T1) / N − TL, with its interval.
    pub actual_ns: Interval,
    /// Smallest and largest single delay seen (the range that tells a fixed interval from pre-emptive scheduling).
    pub range_ns: (f64, f64),
}

/// The paper's classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayMethod {
    /// A programmable clock wakes the task: slope 1.
    Preemptive,
    /// Expiry is looked for at fixed intervals: a staircase, and the actual delay varies with the starting time.
    FixedInterval,
    /// The points fit neither.
    Unclassified,
}

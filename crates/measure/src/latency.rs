//! Latency series: the distribution from the actual and from the intended start.

use serde::{Deserialize, Serialize};

/// One operation of a latency series, ns of the subject's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySample {
    /// When it was meant to start.
    pub intended_ns: u64,
    /// When it did start.
    pub actual_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// Percentiles of one distribution, ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Smallest sample.
    pub minimum_ns: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// (percentile, value): 50, 90, 99, 99.9, 99.99 as far as the count supports them, and 100.
    pub percentiles: Vec<(f64, u64)>,
    /// Histogram for a plot: (upper edge of the bucket, count), empty buckets left out.
    pub buckets: Vec<(u64, u64)>,
}

/// A latency series as it is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyEstimate {
    /// end − actual start.
    pub from_actual: Distribution,
    /// end − intended start: what a caller who kept to the schedule would have seen (no coordinated omission).
    pub from_intended: Distribution,
    /// Overhead already inside each sample (clock reading and loop), ns; subtract it for the paper's T_ave − T_ov.
    pub overhead_ns: f64,
}

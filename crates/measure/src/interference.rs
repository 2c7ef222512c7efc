//! The operating system's interference: its period Tp, duration Tos and share β (equations 13–21).

use serde::{Deserialize, Serialize};

/// What took the processor away during a series of clock readings. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interference {
    /// Length of the series.
    pub observed_ns: f64,
    /// Share of the time that was lost: β, from all gaps (or all shortened zero strings) together.
    pub beta: f64,
    /// Which of the paper's two cases applied.
    pub case: InterferenceCase,
    /// Periodic functions found, the largest share first.
    pub periodic: Vec<PeriodicFunction>,
    /// Every gap, for a plot: start (ns from the beginning of the series) and duration, the longest 2000 in order of time.
    pub gaps: Vec<(f64, f64)>,
    /// Share of the time that the thread was ready but not running by `/proc/self/schedstat`; `None` where absent.
    pub schedstat_beta: Option<f64>,
}

/// One periodic function of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodicFunction {
    /// Tp, ns.
    pub period_ns: f64,
    /// Tos, ns.
    pub duration_ns: f64,
    /// How many times it was seen.
    pub occurrences: usize,
}

/// The two cases of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterferenceCase {
    /// Tos ≫ τ: each interruption is a gap in the readings (equation 21).
    Gaps,
    /// Tos < τ: interruptions shorten the strings of zeros in the differences.
    ShortenedZeroStrings,
}

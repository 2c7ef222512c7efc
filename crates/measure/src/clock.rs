//! Clocks: resolution by first and second differences (equations 5–12), cost of a reading, monotonicity.

use serde::{Deserialize, Serialize};

/// What a series of readings of one clock tells of it. All times are in the clock's own unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEstimate {
    /// How many readings were analysed.
    pub readings: usize,
    /// Resolution τ.
    pub resolution: f64,
    /// How τ was found.
    pub by: ResolutionBy,
    /// Cost of one reading (the loop time of the series): median over stretches between interruptions.
    pub cost: f64,
    /// Readings that were lower than the one before.
    pub steps_back: usize,
    /// Gaps: first differences far above the ordinary, which are interference and not the clock's.
    pub gaps: usize,
}

/// Which differences gave the resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionBy {
    /// First differences: the loop is shorter than τ (n = 0 in equation 5).
    FirstDifferences,
    /// Second differences (equations 10 and 11).
    SecondDifferences,
}

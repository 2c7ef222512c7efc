//! Settings of a plan: the clock, and the wanted precision of the figure.

use super::calibration::Aim;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The subject's clock, in ns; see [`ClockEstimate`](crate::ClockEstimate).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// Resolution τ.
    pub resolution_ns: f64,
    /// Cost of one reading.
    pub cost_ns: f64,
}

impl ClockFacts {
    /// Makes both facts finite and above zero, so that they are safe divisors.
    pub(crate) fn sound(self) -> Self {
        let sound = |v: f64| {
            if v.is_finite() {
                v.clamp(1e-3, 1e12)
            } else {
                1.0
            }
        };
        ClockFacts {
            resolution_ns: sound(self.resolution_ns),
            cost_ns: sound(self.cost_ns),
        }
    }

    /// Returns the shortest slice that this clock measures well: 100 readings, and 100 steps of the
    /// clock.
    pub(crate) fn shortest_slice_ns(self) -> f64 {
        100.0 * self.cost_ns.max(self.resolution_ns)
    }

    /// Returns the possible systematic difference of two frames' slice edges: a tenth of a reading.
    ///
    /// The same frame against itself showed 1 to 4 ns with readings of 22 ns, because the code
    /// before a reading is still in execution.
    pub(crate) fn edge_ns(self) -> f64 {
        self.cost_ns / 10.0
    }

    /// Returns the least time that an elapsed time of zero stands for.
    pub(crate) fn floor_ns(self) -> f64 {
        (self.resolution_ns / 2.0).max(0.5)
    }
}

/// Wanted precision of a figure, and its budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameSettings {
    /// Wanted accuracy by the clock alone, ns per operation: with τ it gives the total N of
    /// equation 4.
    pub accuracy_ns: f64,
    /// Shortest and longest slice, ns. A longer operation is a slice of one.
    pub slice_ns: RangeInclusive<u64>,
    /// Measuring stops when the half width of the cost's interval is this fraction of the cost …
    pub relative_half_width: f64,
    /// … or this many ns, whichever is wider.
    pub absolute_half_width_ns: f64,
    /// Measuring stops when this much wall time was spent.
    pub budget_ns: u64,
    /// Confidence of the intervals, such as 0.95.
    pub confidence: f64,
    /// Whether reference slices run in each block.
    pub reference: bool,
    /// Most iterations of a slice, for a test that keeps its memory until the slice ends; `None`
    /// without limit.
    #[serde(default)]
    pub most_iterations: Option<u64>,
}

impl Default for FrameSettings {
    fn default() -> Self {
        FrameSettings {
            accuracy_ns: 0.1,
            slice_ns: 20_000..=300_000,
            relative_half_width: 0.01,
            absolute_half_width_ns: 0.05,
            budget_ns: 150_000_000,
            confidence: 0.95,
            reference: true,
            most_iterations: None,
        }
    }
}

impl FrameSettings {
    /// Returns the target of a slice: √2 times the shortest allowed, or the clock's need if that
    /// is longer. Powers of two then give slices from the shortest to twice as much.
    ///
    /// It is short, because an interruption in any of its slices spoils a block. A block of 170 µs
    /// meets one in six ticks of 1 kHz. One of 0.5 ms meets every second, and then the median of
    /// pairs is no longer safe.
    pub(crate) fn target_slice_ns(&self, clock: ClockFacts) -> f64 {
        let shortest = (*self.slice_ns.start() as f64).max(1.0);
        shortest.max(clock.shortest_slice_ns()) * std::f64::consts::SQRT_2
    }

    pub(crate) fn longest_slice_ns(&self, clock: ClockFacts) -> f64 {
        (*self.slice_ns.end() as f64).max(2.0 * self.target_slice_ns(clock))
    }

    /// Returns the aim of calibration, if slices of up to `times` N will follow.
    pub(crate) fn aim(&self, clock: ClockFacts, times: u64) -> Aim {
        Aim {
            target_ns: self.target_slice_ns(clock),
            longest_ns: self.longest_slice_ns(clock),
            most: (self.most() / times).max(1),
        }
    }

    /// Returns the most iterations of a slice.
    pub(crate) fn most(&self) -> u64 {
        self.most_iterations.unwrap_or(u64::MAX).max(1)
    }

    /// Returns the total N of equation 4. A cost far above the wanted accuracy is not measured to
    /// more digits than its interval can show.
    pub(crate) fn total_iterations(&self, clock: ClockFacts, cost_ns: f64) -> u64 {
        let shown = 0.1 * self.relative_half_width * cost_ns.abs();
        let accuracy = self.accuracy_ns.max(shown).max(1e-6);
        (clock.resolution_ns / accuracy).ceil().min(1e15) as u64
    }

    /// Returns the half width at which measuring may stop.
    pub(crate) fn wanted_half_width(&self, cost_ns: f64) -> f64 {
        (self.relative_half_width * cost_ns.abs()).max(self.absolute_half_width_ns)
    }
}

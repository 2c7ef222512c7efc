//! Facts of a clock for plans, from a series of its readings.

use antiphon_measure::{ClockEstimate, ClockFacts};

/// Assumed clock of a subject whose clock cannot be read. It is slow and coarse, so that slices
/// become long rather than short.
pub(super) const UNKNOWN_CLOCK: ClockFacts = ClockFacts {
    resolution_ns: 100.0,
    cost_ns: 200.0,
};

/// Returns resolution and cost of a clock in ns, from its readings; [`UNKNOWN_CLOCK`] if they do
/// not tell.
pub(crate) fn clock_facts(readings: &[i64]) -> ClockFacts {
    match ClockEstimate::from_readings(readings) {
        Ok(estimate) => ClockFacts {
            resolution_ns: estimate.resolution,
            cost_ns: estimate.cost,
        },
        Err(_) => UNKNOWN_CLOCK,
    }
}

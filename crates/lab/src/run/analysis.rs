//! From a series of clock readings to the facts that plans are made with.

use antiphon_measure::{ClockEstimate, ClockFacts};

/// Taken where a subject cannot read the clock that it names: slow and coarse, so that slices come out long rather than short.
pub(super) const UNKNOWN_CLOCK: ClockFacts = ClockFacts {
    resolution_ns: 100.0,
    cost_ns: 200.0,
};

/// Resolution and cost of a clock in ns, from readings of it; [`UNKNOWN_CLOCK`] where they cannot tell.
pub(crate) fn clock_facts(readings: &[i64]) -> ClockFacts {
    match ClockEstimate::from_readings(readings) {
        Ok(estimate) => ClockFacts {
            resolution_ns: estimate.resolution,
            cost_ns: estimate.cost,
        },
        Err(_) => UNKNOWN_CLOCK,
    }
}

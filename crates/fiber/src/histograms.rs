//! Distributions of a run: how long ready fibers waited, and how long fibers ran without a switch.

use hdrhistogram::Histogram;

/// Distributions in nanoseconds.
#[derive(Debug, Clone)]
pub struct Histograms {
    /// Times from ready to running.
    pub ready_to_run_ns: Histogram<u64>,
    /// Times from a switch to the next.
    pub turn_ns: Histogram<u64>,
}

/// Longest time, an hour: longer times count as that.
const MOST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits.
const DIGITS: u8 = 2;

impl Histograms {
    pub(crate) fn new() -> Histograms {
        let empty = || Histogram::new_with_max(MOST_NS, DIGITS).expect("such bounds are allowed");
        Histograms {
            ready_to_run_ns: empty(),
            turn_ns: empty(),
        }
    }

    pub(crate) fn ready(&mut self, waited_ns: u64) {
        self.ready_to_run_ns.saturating_record(waited_ns);
    }

    pub(crate) fn turn(&mut self, ran_ns: u64) {
        self.turn_ns.saturating_record(ran_ns);
    }
}

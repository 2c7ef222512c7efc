//! How many iterations make a slice: doubling, or faster while far away, until the longer frame fills one.

use super::{ClockFacts, FrameError, FrameSettings};
use crate::{Role, Slice};

/// A frame whose iterations are shorter than this does nothing at all: no processor calls and returns in 20 ps.
const SHORTEST_ITERATION_NS: f64 = 0.02;
/// The most that one step multiplies the iterations by.
const LONGEST_STRIDE: f64 = 16.0;

/// What one calibration batch says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fit {
    /// Try this many iterations.
    Longer(u64),
    /// This many iterations make a slice.
    Fits(u64),
}

/// The next step of calibration after slices of `iterations`, of which the longer frame's shortest took `elapsed_ns`.
pub(crate) fn fit(iterations: u64, elapsed_ns: f64, target_ns: f64, longest_ns: f64) -> Fit {
    if iterations > 1 && elapsed_ns > longest_ns {
        let shorter = iterations as f64 * target_ns / elapsed_ns;
        return Fit::Fits(power_of_two_below(shorter));
    }
    // A power of two within √2 of the target: figures of different runs and subjects then often have equal N.
    if elapsed_ns * std::f64::consts::SQRT_2 >= target_ns {
        return Fit::Fits(iterations);
    }
    let stride = (target_ns / elapsed_ns.max(1.0)).clamp(2.0, LONGEST_STRIDE);
    Fit::Longer(iterations.saturating_mul(power_of_two_below(stride)))
}

/// Whether so many iterations in so short a time can only be an empty frame.
pub(crate) fn is_empty(iterations: u64, elapsed_ns: f64, target_ns: f64) -> bool {
    iterations as f64 * SHORTEST_ITERATION_NS >= target_ns && elapsed_ns < target_ns / 2.0
}

/// What one trial of calibration took: iterations, and the shortest test slice, ns.
pub(crate) type Trial = (u64, f64);

/// The error that an empty frame is, from the last trial and the one before.
pub(crate) fn dead(before: Trial, last: Trial) -> FrameError {
    FrameError::DeadCode {
        role: Role::Test,
        iterations: before.0,
        elapsed_ns: before.1,
        doubled_iterations: last.0,
        doubled_ns: last.1,
    }
}

/// Iterations of a reference slice, from what reference slices took so far: 16 dependent multiply-adds take some 20 ns.
pub(crate) fn reference_iterations(
    slices: &[Slice],
    settings: &FrameSettings,
    clock: ClockFacts,
) -> u64 {
    let target = settings.target_slice_ns(clock);
    let fastest = slices
        .iter()
        .filter(|s| s.role == Role::Reference && s.iterations > 0 && s.elapsed_ns > 0)
        .map(|s| s.elapsed_ns as f64 / s.iterations as f64)
        .fold(f64::INFINITY, f64::min);
    let each = if fastest.is_finite() {
        fastest.clamp(1.0, 1e6)
    } else {
        20.0
    };
    power_of_two_below((target / each).max(1.0))
}

/// One time for the slices of a role, ns, such as the shortest with `f64::min`; 0 of none.
pub(crate) fn typical_ns(slices: &[Slice], role: Role, reduce: fn(f64, f64) -> f64) -> f64 {
    slices
        .iter()
        .filter(|s| s.role == role)
        .map(|s| s.elapsed_ns as f64)
        .reduce(reduce)
        .unwrap_or(0.0)
}

fn power_of_two_below(value: f64) -> u64 {
    let value = value.clamp(1.0, 1e15) as u64;
    1 << value.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibrate(cost_ns: f64) -> (u64, usize) {
        let mut n = 1;
        for steps in 1..100 {
            match fit(n, cost_ns * n as f64, 77_000.0, 300_000.0) {
                Fit::Longer(more) => {
                    assert!(more >= 2 * n);
                    n = more;
                }
                Fit::Fits(fits) => return (fits, steps),
            }
        }
        panic!("calibration does not end");
    }

    #[test]
    fn slices_come_out_within_the_range() {
        for cost in [0.3, 1.0, 7.3, 20.0, 400.0, 9_000.0, 60_000.0] {
            let (n, steps) = calibrate(cost);
            let slice = n as f64 * cost;
            assert!((20_000.0..=300_000.0).contains(&slice), "{cost}: {slice}");
            assert!(steps < 10, "{cost}: {steps}");
        }
    }

    #[test]
    fn a_long_operation_is_a_slice_of_one() {
        assert_eq!(calibrate(5e8), (1, 1));
    }

    #[test]
    fn an_empty_frame_is_known_as_one() {
        assert!(is_empty(1 << 22, 25.0, 77_000.0));
        assert!(!is_empty(1 << 12, 25.0, 77_000.0));
        assert!(!is_empty(1 << 22, 1e6, 77_000.0));
    }
}

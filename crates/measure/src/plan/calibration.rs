//! Number of iterations of a slice: it doubles, or grows faster while far away, until the longer
//! frame fills a slice.

use super::{ClockFacts, FrameError, FrameSettings};
use crate::{Role, Slice};

/// Shortest iteration of a live frame: no processor calls and returns in 20 ps.
const SHORTEST_ITERATION_NS: f64 = 0.02;
/// The most that one step multiplies the iterations by.
const LONGEST_STRIDE: f64 = 16.0;

/// Result of one calibration batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fit {
    /// Try this many iterations.
    Longer(u64),
    /// This many iterations make a slice.
    Fits(u64),
}

/// Aim of the calibration. Times are in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aim {
    /// Wanted time of the growing part of a slice.
    pub(crate) target_ns: f64,
    /// Longest slice of more than one iteration.
    pub(crate) longest_ns: f64,
    /// The most iterations that a slice may have.
    pub(crate) most: u64,
}

/// Returns the part of a slice that grows with its iterations, ns, by two trials; all of it without
/// a useful earlier trial.
///
/// The start of a contended entry's callers takes as long for one call as for a hundred. A slice
/// therefore needs length in the measured part.
pub(crate) fn growing_ns(before: Trial, last: Trial) -> f64 {
    let ((fewer, shorter_ns), (more, longer_ns)) = (before, last);
    if fewer == 0 || fewer >= more {
        return longer_ns;
    }
    let slope = (longer_ns - shorter_ns) / (more - fewer) as f64;
    (slope * more as f64).clamp(0.0, longer_ns)
}

/// Returns the next step of calibration after two trials, the earlier one with fewer iterations (0:
/// there is none).
pub(crate) fn fit(before: Trial, last: Trial, aim: Aim) -> Fit {
    let (iterations, elapsed_ns) = last;
    let growing = growing_ns(before, last);
    if iterations > 1 && (elapsed_ns > aim.longest_ns || growing > 4.0 * aim.target_ns) {
        let shorter = iterations as f64 * (aim.target_ns / growing.max(1.0)).min(0.5);
        return Fit::Fits(power_of_two_below(shorter).min(aim.most));
    }
    // N is a power of two within √2 of the target, so that figures of different runs and subjects
    // often have equal N.
    if growing * std::f64::consts::SQRT_2 >= aim.target_ns {
        return Fit::Fits(iterations);
    }
    // A small growing part is known badly.
    let longest_stride = if growing < elapsed_ns / 4.0 {
        LONGEST_STRIDE / 4.0
    } else {
        LONGEST_STRIDE
    };
    let stride = (aim.target_ns / growing.max(1.0)).clamp(2.0, longest_stride);
    let mut more = iterations.saturating_mul(power_of_two_below(stride));
    let expected = |n: u64| elapsed_ns + growing * (n as f64 / iterations as f64 - 1.0);
    while more > aim.most || (more > iterations && expected(more) > aim.longest_ns) {
        more /= 2;
    }
    if more > iterations {
        Fit::Longer(more)
    } else {
        Fit::Fits(iterations)
    }
}

/// Checks whether this many iterations in so short a time can only be an empty frame.
pub(crate) fn is_empty(iterations: u64, growing_ns: f64, target_ns: f64) -> bool {
    iterations as f64 * SHORTEST_ITERATION_NS >= target_ns && growing_ns < target_ns / 2.0
}

/// Iterations of one trial of calibration, and its shortest slice of the longer frame, ns.
pub(crate) type Trial = (u64, f64);

/// Returns the error of an empty frame, from the last trial and the one before.
pub(crate) fn dead(before: Trial, last: Trial) -> FrameError {
    FrameError::DeadCode {
        role: Role::Test,
        iterations: before.0,
        elapsed_ns: before.1,
        doubled_iterations: last.0,
        doubled_ns: last.1,
    }
}

/// Returns the iterations of a reference slice, from earlier ones: 16 dependent multiply-adds take
/// some 20 ns.
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

/// Returns one time for the slices of a role, ns, such as the shortest with `f64::min`; 0 of none.
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

    const AIM: Aim = Aim {
        target_ns: 77_000.0,
        longest_ns: 300_000.0,
        most: u64::MAX,
    };

    fn calibrate(constant_ns: f64, cost_ns: f64, aim: Aim) -> (u64, usize) {
        let mut before = (0, 0.0);
        let mut n = 1;
        for steps in 1..100 {
            let last = (n, constant_ns + cost_ns * n as f64);
            match fit(before, last, aim) {
                Fit::Longer(more) => {
                    assert!(more >= 2 * n);
                    n = more;
                }
                Fit::Fits(fits) => return (fits, steps),
            }
            before = last;
        }
        panic!("calibration does not end");
    }

    #[test]
    fn slices_come_out_within_the_range() {
        for cost in [0.3, 1.0, 7.3, 20.0, 400.0, 9_000.0, 60_000.0] {
            let (n, steps) = calibrate(0.0, cost, AIM);
            let slice = n as f64 * cost;
            assert!((20_000.0..=300_000.0).contains(&slice), "{cost}: {slice}");
            assert!(steps < 10, "{cost}: {steps}");
        }
    }

    #[test]
    fn a_long_operation_is_a_slice_of_one() {
        assert_eq!(calibrate(0.0, 5e8, AIM), (1, 1));
    }

    #[test]
    fn a_constant_part_does_not_count() {
        for cost in [1.0, 100.0, 1500.0] {
            let (n, _) = calibrate(30_000.0, cost, AIM);
            let growing = n as f64 * cost;
            assert!(
                (40_000.0..=270_000.0).contains(&growing),
                "{cost}: {growing}"
            );
        }
        // Without room for more, a shorter slice is taken.
        let (n, _) = calibrate(280_000.0, 1500.0, AIM);
        assert!(280_000.0 + 1500.0 * n as f64 <= AIM.longest_ns, "{n}");
    }

    #[test]
    fn no_slice_has_more_iterations_than_it_may() {
        let aim = Aim { most: 100, ..AIM };
        assert_eq!(calibrate(0.0, 20.0, aim).0, 64);
        assert_eq!(calibrate(0.0, 20.0, Aim { most: 1, ..AIM }), (1, 1));
    }

    #[test]
    fn an_empty_frame_is_known_as_one() {
        assert!(is_empty(1 << 22, 25.0, 77_000.0));
        assert!(!is_empty(1 << 12, 25.0, 77_000.0));
        assert!(!is_empty(1 << 22, 1e6, 77_000.0));
    }
}

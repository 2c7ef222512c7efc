//! Dead code: a frame of 2 N iterations must take longer than one of N.

use super::{ClockFacts, FrameError};
use crate::statistics::median_of;
use crate::{Role, Slice};

/// A live frame doubles (growth 1) but for a constant part; below this growth its work is gone.
const LEAST_GROWTH: f64 = 0.25;
/// A control loop of so many ns an iteration would already be the fastest there is: one taken branch.
const FASTEST_LOOP_NS: f64 = 0.1;

/// What slices of N and 2 N say of one frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Growth {
    /// It grows.
    Grows,
    /// It does not.
    Dead(FrameError),
    /// Its slices are too short against the clock to tell, as the control's of a long operation are.
    CannotTell,
}

/// Judges one frame from slices of `n` and of `2 n` iterations.
///
/// Noise only adds time, so the shortest slices are compared; the medians must agree before a frame is called dead.
pub(crate) fn judge(once: &[Slice], twice: &[Slice], role: Role, clock: ClockFacts) -> Growth {
    let (once, twice) = (Frames::of(once, role), Frames::of(twice, role));
    let (Some(once), Some(twice)) = (once, twice) else {
        return Growth::CannotTell;
    };
    let visible =
        once.iterations as f64 * FASTEST_LOOP_NS >= 10.0 * clock.cost_ns.max(clock.resolution_ns);
    if once.shortest < clock.shortest_slice_ns() && !visible {
        return Growth::CannotTell;
    }
    let grew = |before: f64, after: f64| after - before > LEAST_GROWTH * before.max(1.0);
    if grew(once.shortest, twice.shortest) || grew(once.median, twice.median) {
        return Growth::Grows;
    }
    Growth::Dead(FrameError::DeadCode {
        role,
        iterations: once.iterations,
        elapsed_ns: once.shortest,
        doubled_iterations: twice.iterations,
        doubled_ns: twice.shortest,
    })
}

struct Frames {
    iterations: u64,
    shortest: f64,
    median: f64,
}

impl Frames {
    fn of(slices: &[Slice], role: Role) -> Option<Self> {
        let own: Vec<&Slice> = slices.iter().filter(|s| s.role == role).collect();
        let times: Vec<f64> = own.iter().map(|s| s.elapsed_ns as f64).collect();
        Some(Frames {
            iterations: own.first()?.iterations,
            shortest: times.iter().copied().fold(f64::INFINITY, f64::min),
            median: median_of(&times),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::slice;

    const CLOCK: ClockFacts = ClockFacts {
        resolution_ns: 1.0,
        cost_ns: 25.0,
    };

    fn slices(iterations: u64, times: &[u64]) -> Vec<Slice> {
        times
            .iter()
            .map(|t| slice(0, Role::Test, iterations, *t))
            .collect()
    }

    fn verdict(once: &[u64], twice: &[u64]) -> Growth {
        judge(&slices(1000, once), &slices(2000, twice), Role::Test, CLOCK)
    }

    #[test]
    fn a_frame_that_doubles_is_alive() {
        assert_eq!(
            verdict(&[50_000, 51_000], &[100_000, 101_000]),
            Growth::Grows
        );
    }

    #[test]
    fn a_constant_part_and_an_interruption_do_not_kill() {
        assert_eq!(verdict(&[60_000, 61_000], &[85_000, 86_000]), Growth::Grows);
        assert_eq!(
            verdict(&[50_000, 50_100, 4_000_000], &[100_000, 100_100]),
            Growth::Grows
        );
        // A faster turbo state for the second half.
        assert_eq!(verdict(&[60_000, 61_000], &[80_000, 79_000]), Growth::Grows);
    }

    #[test]
    fn a_frame_without_work_is_dead() {
        assert!(matches!(
            verdict(&[50_000, 50_100], &[50_000, 50_300]),
            Growth::Dead(_)
        ));
        // Removed altogether: only the clock is left, and so many iterations cannot be that fast.
        let gone = judge(
            &slices(100_000, &[25]),
            &slices(200_000, &[25]),
            Role::Control,
            CLOCK,
        );
        assert_eq!(gone, Growth::CannotTell, "there are no control slices");
        let gone = judge(
            &slices(100_000, &[25]),
            &slices(200_000, &[25]),
            Role::Test,
            CLOCK,
        );
        assert!(matches!(gone, Growth::Dead(_)));
    }

    #[test]
    fn a_control_of_one_iteration_cannot_be_told() {
        assert_eq!(
            judge(&slices(1, &[26]), &slices(2, &[25]), Role::Test, CLOCK),
            Growth::CannotTell
        );
    }
}

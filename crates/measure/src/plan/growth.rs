//! Dead code: a frame of more iterations must take longer.

use super::{ClockFacts, FrameError};
use crate::statistics::median_of;
use crate::{Role, Slice};

/// Least growth of a live frame, as a part of its time. A live frame doubles (growth 1) but for a
/// constant part; one below this limit may be dead.
const LEAST_GROWTH: f64 = 0.25;
/// Time of an iteration of the fastest possible control loop, ns: one taken branch.
const FASTEST_LOOP_NS: f64 = 0.1;
/// Multiple of the iterations that must take no longer before a frame is called dead.
const MANY_TIMES: u64 = 8;

/// Verdict on one frame from slices of N and of more iterations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Growth {
    /// It grows.
    Grows,
    /// It does not, though it has many times the iterations.
    Dead(FrameError),
    /// It does not, as far as is visible; more iterations would tell.
    NotYet,
    /// It does not, and need not: its slices are short against its constant part or the clock, as
    /// the control's of a long operation are.
    CannotTell,
    /// Slices of fewer iterations took much longer than those of more, so that their time was not
    /// the frame's work. Given are both numbers of iterations with their times, ns.
    Disturbed(Times, Times),
}

/// Iterations, and the shortest slice of them, ns.
pub(crate) type Times = (u64, f64);

/// Judges one frame from slices of `n` and of more iterations.
///
/// Noise only adds time, so the shortest slices are compared; the medians must agree before a frame
/// is called dead. The longer of the two frames has an N at which its growing part dominates, so
/// the test frame must grow. The control of a long operation is judged only if the fastest possible
/// loop would show.
///
/// On a busy machine all slices of N may have waited for a processor, and longer than the work of
/// many times N takes. The time less such waits may therefore show growth. The number of sleeps may
/// show it too, because a removed operation waits for nothing. If fewer iterations took longer than
/// more, their time says nothing of work.
pub(crate) fn judge(once: &[Slice], more: &[Slice], role: Role, clock: ClockFacts) -> Growth {
    let (once, more) = (Frames::of(once, role), Frames::of(more, role));
    let (Some(once), Some(more)) = (once, more) else {
        return Growth::CannotTell;
    };
    let least = LEAST_GROWTH * once.shortest.max(1.0);
    let grew = |before: f64, after: f64| after - before > least;
    let ran_longer = more.ran - once.ran > LEAST_GROWTH * once.ran.max(1.0);
    if grew(once.shortest, more.shortest)
        || grew(once.median, more.median)
        || ran_longer
        || more.slept_more_than(&once)
    {
        return Growth::Grows;
    }
    let fastest = more.iterations.saturating_sub(once.iterations) as f64 * FASTEST_LOOP_NS;
    let visible = fastest >= least.max(10.0 * clock.cost_ns.max(clock.resolution_ns));
    if role == Role::Control && !visible {
        return Growth::CannotTell;
    }
    if more.iterations / once.iterations.max(1) < MANY_TIMES {
        return Growth::NotYet;
    }
    if once.shortest - more.shortest > LEAST_GROWTH * more.shortest {
        let times = |frames: &Frames| (frames.iterations, frames.shortest);
        return Growth::Disturbed(times(&once), times(&more));
    }
    Growth::Dead(FrameError::DeadCode {
        role,
        iterations: once.iterations,
        elapsed_ns: once.shortest,
        doubled_iterations: more.iterations,
        doubled_ns: more.shortest,
    })
}

/// Returns the expected time of a slice of `iterations`, ns, from slices of two numbers of
/// iterations; the longer frame counts.
pub(crate) fn expected_ns(once: &[Slice], more: &[Slice], iterations: u64) -> f64 {
    let of = |role| {
        let (once, more) = (Frames::of(once, role)?, Frames::of(more, role)?);
        let growth = (more.shortest - once.shortest).max(0.0);
        let each = growth / more.iterations.saturating_sub(once.iterations).max(1) as f64;
        Some(more.shortest + each * iterations.saturating_sub(more.iterations) as f64)
    };
    let expected = [Role::Test, Role::Control].into_iter().filter_map(of);
    expected.fold(0.0, f64::max)
}

struct Frames {
    iterations: u64,
    shortest: f64,
    median: f64,
    /// The shortest time without its thread's waits for a processor, ns.
    ran: f64,
    /// Sleeps of the process in a slice: least and most.
    slept: (u64, u64),
}

impl Frames {
    fn of(slices: &[Slice], role: Role) -> Option<Self> {
        let own: Vec<&Slice> = slices.iter().filter(|s| s.role == role).collect();
        let times: Vec<f64> = own.iter().map(|s| s.elapsed_ns as f64).collect();
        Some(Frames {
            iterations: own.first()?.iterations,
            shortest: times.iter().copied().fold(f64::INFINITY, f64::min),
            median: median_of(&times),
            ran: own.iter().map(|s| ran_ns(s)).fold(f64::INFINITY, f64::min),
            slept: (
                own.iter().map(|s| s.voluntary).min()?,
                own.iter().map(|s| s.voluntary).max()?,
            ),
        })
    }

    /// Checks that each slice slept more often than any with fewer iterations, by a good part of
    /// the difference in iterations. Each iteration then has its part.
    fn slept_more_than(&self, fewer: &Frames) -> bool {
        let more = self.iterations.saturating_sub(fewer.iterations) as f64;
        let oftener = self.slept.0.saturating_sub(fewer.slept.1) as f64;
        oftener >= (LEAST_GROWTH * more).max(1.0)
    }
}

/// Returns the time of a slice less its thread's waits for a processor, ns.
fn ran_ns(slice: &Slice) -> f64 {
    slice
        .elapsed_ns
        .saturating_sub(slice.wait_ns.unwrap_or_default()) as f64
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

    fn verdict(once: &[u64], times: u64, more: &[u64]) -> Growth {
        judge(
            &slices(1000, once),
            &slices(1000 * times, more),
            Role::Test,
            CLOCK,
        )
    }

    fn as_control(mut slices: Vec<Slice>) -> Vec<Slice> {
        for slice in &mut slices {
            slice.role = Role::Control;
        }
        slices
    }

    #[test]
    fn a_frame_that_doubles_is_alive() {
        assert_eq!(
            verdict(&[50_000, 51_000], 2, &[100_000, 101_000]),
            Growth::Grows
        );
    }

    #[test]
    fn a_constant_part_and_an_interruption_do_not_kill() {
        assert_eq!(
            verdict(&[60_000, 61_000], 2, &[85_000, 86_000]),
            Growth::Grows
        );
        assert_eq!(
            verdict(&[50_000, 50_100, 4_000_000], 2, &[100_000, 100_100]),
            Growth::Grows
        );
        // A faster turbo state for the second half.
        assert_eq!(
            verdict(&[60_000, 61_000], 2, &[80_000, 79_000]),
            Growth::Grows
        );
        // A larger constant part shows with more iterations.
        assert_eq!(
            verdict(&[50_000, 50_100], 2, &[54_000, 54_300]),
            Growth::NotYet
        );
        assert_eq!(
            verdict(&[50_000, 50_100], 8, &[78_000, 78_300]),
            Growth::Grows
        );
    }

    #[test]
    fn a_frame_without_work_is_dead() {
        assert!(matches!(
            verdict(&[50_000, 50_100], 8, &[50_000, 50_300]),
            Growth::Dead(_)
        ));
        // The frame is removed altogether: only the clock is left, and this many iterations cannot
        // be that fast.
        let (once, more) = (slices(100_000, &[25]), slices(800_000, &[25]));
        assert_eq!(
            judge(&once, &more, Role::Control, CLOCK),
            Growth::CannotTell,
            "there are no control slices"
        );
        assert!(matches!(
            judge(&once, &more, Role::Test, CLOCK),
            Growth::Dead(_)
        ));
        let (once, more) = (as_control(once), as_control(more));
        assert!(matches!(
            judge(&once, &more, Role::Control, CLOCK),
            Growth::Dead(_)
        ));
    }

    #[test]
    fn what_waited_is_not_called_dead() {
        // One iteration waited longer for a processor than 32 took, as happens beside four spinning
        // programs.
        let judged = verdict(&[3_880_002, 3_990_000], 32, &[1_331_994, 1_500_000]);
        assert!(matches!(judged, Growth::Disturbed(..)), "{judged:?}");
        // By chance 32 iterations took about as long as one waited, which its thread knows …
        let (mut once, more) = (slices(1, &[1_217_616]), slices(32, &[1_361_941]));
        let judge = |once: &[Slice], more: &[Slice]| judge(once, more, Role::Test, CLOCK);
        assert!(matches!(judge(&once, &more), Growth::Dead(_)));
        once[0].wait_ns = Some(1_170_000);
        assert_eq!(judge(&once, &more), Growth::Grows);
        // … or the server of its requests waited: the frame slept once for each request.
        let (mut once, mut more) = (slices(1, &[1_217_616]), slices(32, &[1_361_941]));
        (once[0].voluntary, more[0].voluntary) = (1, 33);
        assert_eq!(judge(&once, &more), Growth::Grows);
        more[0].voluntary = 3;
        assert!(matches!(judge(&once, &more), Growth::Dead(_)));
    }

    #[test]
    fn a_control_that_is_all_constant_part_cannot_be_told() {
        // Eight callers are started and waited for; a turn of their loops takes 1 ns.
        let (once, more) = (slices(8, &[12_895]), slices(256, &[12_915]));
        let (once, more) = (as_control(once), as_control(more));
        assert_eq!(
            judge(&once, &more, Role::Control, CLOCK),
            Growth::CannotTell
        );
        let (once, more) = (slices(1, &[26]), slices(2, &[25]));
        let (once, more) = (as_control(once), as_control(more));
        assert_eq!(
            judge(&once, &more, Role::Control, CLOCK),
            Growth::CannotTell
        );
    }

    #[test]
    fn the_length_of_a_slice_is_foreseen() {
        let (once, more) = (slices(10, &[1_500]), slices(20, &[2_000]));
        assert!((expected_ns(&once, &more, 80) - 5_000.0).abs() < 1e-9);
        assert_eq!(expected_ns(&more, &once, 10), 1_500.0);
    }
}

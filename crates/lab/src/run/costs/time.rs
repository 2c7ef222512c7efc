//! Time for the turns of a test: as much as its subjects' figures deserve, within the limit of the
//! run.

use super::{FULL, QUICK, nominal};
use crate::run::engine::Engine;
use std::time::{Duration, Instant};

/// Rounds made however long they take, rounds made if the run's time permits, and a maximum beyond
/// which figures do not change. A start with fewer than the first does not count beside others.
pub(super) const ROUNDS_EVER: u32 = 3;
const ROUNDS_FEW: u32 = 6;
const ROUNDS_MOST: u32 = 40;

/// Calm rounds that justify a multiple of the intended time. The first is for a test that may have
/// more starts, because a new start tells more than further rounds.
const CALM_OF_A_START: u32 = 9;
const CALM_OF_ALL: u32 = 16;

/// Multiple of the intended time for calm rounds.
const OVERDRAWN: f64 = 5.0;

/// Multiple of their share of the run's remaining time that turns may have. Languages are compared
/// by processor time, so missing rounds hurt most.
const DUE: f64 = 2.0;

/// Least time for the turns of a test in a late run, for each of its subjects, s.
///
/// It is enough for a few rounds, and for repeated turns. Otherwise tests at the end of a plan
/// would have only three rounds, however disturbed.
const LEAST_DUE: f64 = 0.07;

/// Slices of a turn that take long: half a one that does not count, and two of the test.
const SLICES: f64 = 2.5;

/// Shortest slice for want of time, ns. Below it the cost of a request would dominate.
const SHORTEST_NS: f64 = 5e6;

/// Returns the time that long slices add to a test's turns, s: two slices in each of the rounds
/// that count.
pub(super) fn of_long_slices(slice_ms: u64) -> f64 {
    f64::from(ROUNDS_EVER) * 2.0 * slice_ms as f64 / 1e3
}

fn least_due(members: usize) -> f64 {
    LEAST_DUE * members as f64
}

/// Rounds of a test.
#[derive(Clone, Copy, Default)]
pub(super) struct Rounds {
    pub(super) made: u32,
    /// Rounds that all subjects still have: a subject with longer slices begins anew.
    counted: u32,
    /// Slowed rounds of the subject that has most of them.
    slowed: u32,
}

impl Rounds {
    /// Adds a round. A subject may have forgotten its earlier rounds; `slowed` is the largest
    /// number of slowed turns of a subject.
    pub(super) fn add(&mut self, are_forgotten: bool, slowed: u32) {
        if are_forgotten {
            (self.counted, self.slowed) = (0, 0);
        } else {
            self.counted += 1;
            self.slowed = slowed;
        }
        self.made += 1;
    }

    /// Returns the number of rounds that were calm for every single subject, at least. Rounds calm
    /// for all at once are rare, and ratios are of two subjects.
    fn calm(self) -> u32 {
        self.counted.saturating_sub(self.slowed)
    }
}

/// The time of a test's turns.
pub(super) struct Time {
    begun: Instant,
    members: f64,
    /// Intended time, s.
    meant: f64,
    /// Time that the run can spare, s; `None` without a limit.
    due: Option<f64>,
    /// Calm rounds that may take a multiple of the intended time.
    enough: u32,
}

impl Time {
    /// Starts the time of these items' subjects, which have this share of the suite's time.
    pub(super) fn of(engine: &Engine<'_, '_>, positions: &[usize], share: f64) -> Time {
        let nominal: f64 = positions.iter().map(|of| nominal(engine, *of)).sum();
        Time {
            begun: Instant::now(),
            members: positions.len() as f64,
            meant: nominal * share,
            due: engine
                .budget
                .allowance(DUE * nominal)
                .map(|due| due.max(least_due(positions.len()))),
            enough: match super::adaptive_starts::may_differ_by_starts(engine, positions[0]) {
                true => CALM_OF_A_START,
                false => CALM_OF_ALL,
            },
        }
    }

    /// Returns the time taken so far, s.
    pub(super) fn took(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns the latest end while no moment is calm.
    pub(super) fn until(&self) -> Instant {
        self.begun + Duration::from_secs_f64(self.most())
    }

    fn most(&self) -> f64 {
        let most = OVERDRAWN * self.meant;
        let least = least_due(self.members as usize);
        self.due.map_or(most, |due| due.min(most.max(least)))
    }

    /// Checks whether so few rounds were calm that the next one waits.
    pub(super) fn waits_after(&self, rounds: Rounds) -> bool {
        rounds.calm() < self.enough
    }

    /// Checks whether another round is to follow.
    pub(super) fn wants_round(&self, rounds: Rounds) -> bool {
        self.wants_after(rounds, self.took())
    }

    fn wants_after(&self, rounds: Rounds, took: f64) -> bool {
        let most = match rounds.counted {
            0..ROUNDS_EVER => return true,
            ROUNDS_EVER..ROUNDS_FEW => self.due.unwrap_or(f64::INFINITY),
            _ if self.waits_after(rounds) => self.most(),
            _ => self.meant.min(self.most()),
        };
        rounds.made < ROUNDS_MOST && took < most
    }

    /// Returns the processor time of a slice, and its longest elapsed time, ns. Only the latter
    /// ends a slice of operations that mostly wait, such as commits. It leaves time for a few
    /// rounds of all.
    pub(super) fn slice_ns(&self, quick: bool) -> (f64, f64) {
        let (cpu_ns, wall_ns) = if quick { QUICK } else { FULL };
        (cpu_ns, wall_ns.min(self.of_slice_ns().max(SHORTEST_NS)))
    }

    /// Returns a slice's part of the spare time, ns.
    fn of_slice_ns(&self) -> f64 {
        let slices = f64::from(ROUNDS_FEW) * SLICES * self.members;
        self.due
            .map_or(f64::INFINITY, |due| 1e9 * due / slices.max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(meant: f64, due: Option<f64>) -> Time {
        Time {
            begun: Instant::now(),
            members: 10.0,
            meant,
            due,
            enough: CALM_OF_ALL,
        }
    }

    /// Returns the rounds made if each takes `each` s, and the first `calm` are calm.
    fn rounds(time: &Time, each: f64, calm: u32) -> u32 {
        let mut rounds = Rounds::default();
        while time.wants_after(rounds, each * f64::from(rounds.made)) {
            rounds.add(false, (rounds.made + 1).saturating_sub(calm));
        }
        rounds.made
    }

    #[test]
    fn who_began_anew_has_as_many_rounds_as_count() {
        let late = time(4.0, Some(0.0));
        let mut rounds = Rounds::default();
        for _ in 0..ROUNDS_EVER - 1 {
            rounds.add(false, 0);
        }
        assert!(late.wants_after(rounds, 9.0));
        rounds.add(true, 0);
        for _ in 0..ROUNDS_EVER {
            assert!(late.wants_after(rounds, 9.0));
            rounds.add(false, 0);
        }
        assert!(!late.wants_after(rounds, 9.0));
    }

    #[test]
    fn calm_rounds_take_what_is_meant_and_others_are_sought_for_longer() {
        let without = time(4.0, None);
        assert_eq!(rounds(&without, 0.2, 40), 20);
        assert_eq!(rounds(&without, 0.5, 0), 40);
        assert_eq!(rounds(&without, 2.0, 0), 10);
        assert_eq!(rounds(&without, 1e6, 0), ROUNDS_FEW);
        assert_eq!(rounds(&without, 0.0, 40), ROUNDS_MOST);
    }

    #[test]
    fn rounds_are_enough_when_each_subject_has_enough_calm_ones() {
        let made = |slowed: fn(u32) -> u32| {
            let (time, mut rounds) = (time(1.0, None), Rounds::default());
            while time.wants_after(rounds, 0.2 * f64::from(rounds.made)) {
                rounds.add(false, slowed(rounds.made));
            }
            rounds.made
        };
        // In each round another subject is slowed, and none twice.
        assert_eq!(made(|_| 1), CALM_OF_ALL + 1);
        // One is so in all of them.
        assert_eq!(made(|before| before + 1), 25);
    }

    #[test]
    fn a_run_whose_time_is_short_makes_as_many_as_count() {
        assert_eq!(rounds(&time(4.0, Some(8.0)), 1.0, 0), 8);
        assert_eq!(rounds(&time(4.0, Some(4.5)), 1.0, 0), 5);
        assert_eq!(rounds(&time(4.0, Some(0.0)), 1.0, 0), ROUNDS_EVER);
    }

    #[test]
    fn a_late_run_has_time_for_calm_moments() {
        // Ten subjects, of which a share of the time is next to nothing.
        let late = time(0.05, Some(least_due(10)));
        assert!(late.until() > late.begun + Duration::from_millis(600));
        assert_eq!(rounds(&late, 0.2, 0), 4);
        assert_eq!(rounds(&late, 9.0, 0), ROUNDS_EVER);
    }

    #[test]
    fn slices_leave_time_for_a_few_rounds_of_all() {
        assert_eq!(time(1.0, None).slice_ns(true), QUICK);
        // 10 subjects, 6 rounds of 2.5 slices.
        assert_eq!(time(1.0, Some(1.5)).slice_ns(true), (QUICK.0, 1e7));
        assert_eq!(time(1.0, Some(0.0)).slice_ns(false), (FULL.0, SHORTEST_NS));
    }
}

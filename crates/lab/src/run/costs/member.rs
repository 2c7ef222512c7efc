//! A subject that takes turns, and the results of its turns.

use super::clocks::{Clock, Reading, Roots};
use super::processor_speed::{Gauge, Moment};
use super::time::ROUNDS_EVER;
use super::touched_buffers::touched_buffers;
use crate::record::CostRound;
use crate::record::calm::CALM;
use crate::run::busy::TICK_NS;
use crate::run::foreign::Seen;
use crate::run::tree::Mapping;

/// Factor of longer slices, for tests whose children end in them: the kernel accounts for these in
/// coarse steps.
const LONGER: u64 = 8;

/// Rounds of a subject with long slices: every third one after the first three. These are seven of
/// sixteen, and every second one goes back.
const LONG_EVERY: u32 = 3;
const LONG_IN: u32 = 2;

/// Turns that show whether children end in a test. In a single one it may be a worker that a server
/// ended just then.
const TELLING: usize = 2;

/// A subject that takes turns.
pub(super) struct Member {
    pub(super) position: usize,
    pub(super) roots: Roots,
    /// Iterations of each slice.
    pub(super) iterations: u64,
    /// Iterations of the slice that each turn begins with.
    pub(super) uncounted: u64,
    /// Processor time due to its slices, ms, if its subject sets it.
    pub(super) slice_ms: Option<u64>,
    /// The last round in which it had no turn.
    pub(super) stood_aside: Option<u32>,
    /// Use of the processors by others during its turns.
    pub(super) seen: Seen,
    /// The most that a slice of the test may have.
    pub(super) most: u64,
    /// Whether slices were made longer.
    pub(super) lengthened: bool,
    /// Whether its turns are ordinary where those of others are in real time.
    pub(super) is_ordinary: bool,
    /// Whether its memory is read after each turn. Virtual machines are exempt, because their heaps
    /// grow to a limit.
    pub(super) is_watched: bool,
    /// Whether it takes no more turns.
    pub(super) failed: bool,
    /// Turns, with the numbers of the rounds.
    pub(super) turns: Vec<(u32, Turn)>,
}

/// Measurement of two slices of a test.
pub(super) struct Turn {
    /// Use of two slices of the test, less that of two of its control.
    pub(super) used: Reading,
    pub(super) wall_ns: f64,
    /// The same as time by the subject's own clock, ns.
    pub(super) time_ns: f64,
    /// Memory of the subject after it; 0 if it is not watched.
    pub(super) held_bytes: u64,
    /// Its memory mapping by mapping, where it is watched.
    pub(super) mappings: Vec<Mapping>,
    /// Speed of its processors around its slices.
    pub(super) moments: Vec<Moment>,
    /// Attempts at it until it was calm.
    pub(super) taken: u32,
}

impl Turn {
    /// Returns the relative slowness of its processors against their fast state.
    pub(super) fn slowed(&self, gauge: &Gauge) -> f64 {
        slowed(&self.moments, gauge)
    }
}

/// Returns the mean relative slowness of processors around slices.
pub(super) fn slowed(moments: &[Moment], gauge: &Gauge) -> f64 {
    let slowed = moments.iter().map(|moment| gauge.slowed(moment));
    slowed.sum::<f64>() / moments.len().max(1) as f64
}

impl Member {
    /// Decides whether it has no turn in a round. A subject with long slices has fewer turns after
    /// the first `ROUNDS_EVER`.
    pub(super) fn stands_aside(&mut self, round: u32) -> bool {
        let has_enough = self.turns.len() >= ROUNDS_EVER as usize;
        let aside = self.slice_ms.is_some() && has_enough && round % LONG_EVERY != LONG_IN;
        if aside {
            self.stood_aside = Some(round);
        }
        aside
    }

    /// Checks that nothing slowed the processors in its turn of a round. Failed subjects, and those
    /// without a turn, count as calm.
    pub(super) fn was_calm(&self, round: u32, gauge: &Gauge) -> bool {
        let own = self.turns.last().filter(|(of, _)| *of == round);
        self.failed
            || self.stood_aside == Some(round)
            || own.is_some_and(|(_, turn)| turn.slowed(gauge) <= CALM)
    }

    /// Counts its turns with slowed processors; 0 if it failed.
    pub(super) fn slowed(&self, gauge: &Gauge) -> u32 {
        let slowed = |turn: &&(u32, Turn)| turn.1.slowed(gauge) > CALM;
        let turns = self.turns.iter().filter(|_| !self.failed);
        turns.filter(slowed).count() as u32
    }

    /// Makes the slices longer, once, if children end in them. Returns whether it did, and then
    /// forgets all earlier turns.
    pub(super) fn lengthen(&mut self) -> bool {
        if self.lengthened || self.turns.len() < TELLING || !self.children_end() {
            return false;
        }
        self.lengthened = true;
        self.iterations = self.iterations.saturating_mul(LONGER).min(self.most);
        self.uncounted = (self.iterations / 2).max(1);
        self.turns.clear();
        true
    }

    /// Checks whether the test itself ends children: in most turns, one for each operation. A
    /// server sometimes ends workers of its own.
    fn children_end(&self) -> bool {
        // Page faults decide, because the time of a few children may still be below a step.
        let each = self.iterations as f64;
        let has_ended = |(_, turn): &&(u32, Turn)| {
            turn.used.subject.ended_faults + turn.used.server.ended_faults >= each
        };
        2 * self.turns.iter().filter(has_ended).count() > self.turns.len()
    }

    /// Returns the possible error of an operation's time by the kernel's steps for ended children.
    ///
    /// There are two steps of each kind of time, shared by all turns. It is 0 if the test ends no
    /// children.
    fn step_ns(&self, operations: f64) -> f64 {
        let ended = self
            .turns
            .iter()
            .map(|(_, turn)| turn.used.subject.ended_ns + turn.used.server.ended_ns);
        match self.children_end() && ended.sum::<f64>() > 0.0 {
            true => 2.0 * TICK_NS as f64 / (operations * self.turns.len() as f64),
            false => 0.0,
        }
    }

    /// Returns its turns as records.
    ///
    /// If the test ends children, the kernel's steps for their time are coarser than a turn. Their
    /// part is then the mean of all turns. A child that ended by chance stays in its turn, which is
    /// one of many.
    pub(super) fn rounds(&self, start: u32, gauge: &Gauge) -> Vec<CostRound> {
        let operations = 2.0 * self.iterations as f64;
        let children_end = self.children_end();
        let each = |clock: fn(&Reading) -> Clock| {
            let ended = self
                .turns
                .iter()
                .map(|(_, turn)| clock(&turn.used).ended_ns);
            let shared = ended.sum::<f64>() / self.turns.len() as f64;
            let of = |turn: &Reading| {
                let own = clock(turn);
                let ended = if children_end { shared } else { own.ended_ns };
                (own.all_ns - own.ended_ns + ended) / operations
            };
            self.turns
                .iter()
                .map(|(_, turn)| of(&turn.used))
                .collect::<Vec<_>>()
        };
        let (subject, server) = (each(|turn| turn.subject), each(|turn| turn.server));
        let mappings = self.turns.iter().map(|(_, turn)| turn.mappings.as_slice());
        let touched_buffers = touched_buffers(&mappings.collect::<Vec<_>>());
        let rounds = self
            .turns
            .iter()
            .zip(subject)
            .zip(server)
            .zip(touched_buffers);
        rounds
            .map(
                |((((round, turn), subject_ns), server_ns), walked_bytes)| CostRound {
                    start,
                    round: *round,
                    iterations: self.iterations,
                    subject_ns,
                    server_ns: self.roots.server.map(|_| server_ns),
                    wall_ns: turn.wall_ns / operations,
                    time_ns: Some(turn.time_ns / operations),
                    step_ns: self.step_ns(operations),
                    slowed: turn.slowed(gauge),
                    held_bytes: turn.held_bytes,
                    walked_bytes,
                    taken: turn.taken,
                },
            )
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::processor_speed::PROCESSOR_0;
    use super::*;
    use antiphon_service::Kind;

    fn member(turns: &[(f64, f64)], server: Option<(Kind, u32)>) -> Member {
        let turn = |(all_ns, ended_ns): &(f64, f64)| {
            let clock = Clock {
                all_ns: *all_ns,
                ended_ns: *ended_ns,
                ended_faults: if *ended_ns > 0.0 { 1e3 } else { 0.0 },
            };
            Turn {
                used: Reading {
                    subject: clock,
                    server: clock,
                },
                wall_ns: 500.0,
                time_ns: 400.0,
                held_bytes: 4096,
                mappings: Vec::new(),
                moments: Vec::new(),
                taken: 1,
            }
        };
        Member {
            position: 0,
            roots: Roots { subject: 1, server },
            iterations: 5,
            uncounted: 2,
            slice_ms: None,
            stood_aside: None,
            seen: Seen::default(),
            most: u64::MAX,
            lengthened: false,
            is_ordinary: false,
            is_watched: true,
            failed: false,
            turns: (0..).zip(turns.iter().map(turn)).collect(),
        }
    }

    #[test]
    fn an_operation_is_one_of_two_slices() {
        let rounds = member(&[(1000.0, 0.0), (1100.0, 0.0)], None).rounds(3, &Gauge::default());
        let of = |index: usize| {
            (
                rounds[index].round,
                rounds[index].subject_ns,
                rounds[index].server_ns,
            )
        };
        assert_eq!((of(0), of(1)), ((0, 100.0, None), (1, 110.0, None)));
        assert!(
            rounds
                .iter()
                .all(|round| (round.start, round.step_ns, round.wall_ns) == (3, 0.0, 50.0))
        );
    }

    /// Kernel account of a turn whose children ended with a step, and of one without a step.
    const STEP: (f64, f64) = (10_001_000.0, 10_000_000.0);
    const NO_STEP: (f64, f64) = (1001.0, 1.0);

    #[test]
    fn slices_in_which_children_end_are_made_longer_once_and_what_was_calm_before_is_forgotten() {
        let mut ending = member(&[NO_STEP, STEP], None);
        let gauge = Gauge::of_one([1.0; 100]);
        assert!(ending.was_calm(1, &gauge) && !ending.was_calm(0, &gauge));
        assert!(ending.lengthen() && !ending.lengthen());
        assert!(ending.turns.is_empty() && !ending.was_calm(1, &gauge));
        assert_eq!(ending.iterations, 5 * LONGER);
        let mut slowed = member(&[(1000.0, 0.0)], None);
        slowed.turns[0].1.moments = vec![vec![(PROCESSOR_0, 1.0 + 2.0 * CALM)]];
        assert!(!slowed.was_calm(0, &gauge) && !slowed.lengthen());
        assert_eq!(slowed.slowed(&gauge), 1);
        slowed.failed = true;
        assert!(slowed.was_calm(0, &gauge), "it takes no more turns");
        assert_eq!(slowed.slowed(&gauge), 0);
    }

    #[test]
    fn who_has_long_slices_takes_fewer_turns_and_spoils_no_calm_of_others() {
        let gauge = Gauge::of_one([1.0; 100]);
        let mut long = member(&[], None);
        let mut ordinary = member(&[], None);
        long.slice_ms = Some(64);
        let mut had = Vec::new();
        for round in 0..9 {
            assert!(!ordinary.stands_aside(round));
            if long.stands_aside(round) {
                assert!(long.was_calm(round, &gauge));
            } else {
                assert!(
                    !long.was_calm(round, &gauge),
                    "it has not been measured yet"
                );
                had.push(round);
                let (_, turn) = member(&[(1000.0, 0.0)], None).turns.remove(0);
                long.turns.push((round, turn));
            }
        }
        assert_eq!(had, [0, 1, 2, 5, 8]);
    }

    #[test]
    fn a_worker_that_its_server_ends_once_is_none_of_the_tests_children() {
        let quiet = (1000.0, 0.0);
        for turns in [&[STEP][..], &[STEP, quiet], &[quiet, STEP, quiet, quiet]] {
            let mut disturbed = member(turns, Some((Kind::Postgresql, 2)));
            assert!(!disturbed.lengthen(), "{} turns", turns.len());
            assert_eq!(disturbed.turns.len(), turns.len());
        }
        let rounds = member(&[quiet, STEP, quiet, quiet], Some((Kind::Postgresql, 2)));
        let rounds = rounds.rounds(0, &Gauge::default());
        let reported: Vec<_> = rounds.iter().map(|round| round.server_ns).collect();
        assert_eq!(
            reported,
            [100.0, 1_000_100.0, 100.0, 100.0].map(Some),
            "it stays in its turn"
        );
        assert!(rounds.iter().all(|round| round.step_ns == 0.0));
    }

    #[test]
    fn coarse_steps_are_shared_among_all_turns() {
        // The kernel accounted for the ended ones in one step of 10 ms, in the second of four
        // turns.
        let steps = [NO_STEP, STEP, NO_STEP, NO_STEP];
        for round in member(&steps, Some((Kind::Postgresql, 2))).rounds(0, &Gauge::default()) {
            assert!((round.server_ns.unwrap() - 250_100.0).abs() < 1.0);
            assert_eq!(round.step_ns, 500_000.0);
        }
    }
}

//! Comparisons of runs of known truth.

use super::*;
use crate::synthetic::Noise;
use crate::synthetic_plan::{busy, measure_with};
use crate::synthetic_subject::{Subject, Truth, run};
use crate::{ClockFacts, Expected, FramePlan, FrameSettings};

const CLOCK: ClockFacts = ClockFacts {
    resolution_ns: 1.0,
    cost_ns: 25.0,
};

/// Returns process starts whose placement in memory moves the cost by 1 %, on a processor of the
/// given speed.
fn starts(count: u64, test_ns: f64, speed: f64, seed: u64) -> Vec<Estimate> {
    let mut noise = Noise::new(seed);
    (0..count)
        .map(|i| {
            let cost = (test_ns - 3.0) * (1.0 + 0.01 * noise.normal());
            let truth = Truth {
                control_ns: 3.0 * speed,
                test_ns: (3.0 + cost) * speed,
                reference_ns: 18.0 * speed,
                ..Truth::default()
            };
            let mut plan = FramePlan::new(CLOCK, Expected::default(), FrameSettings::default());
            run(&mut plan, &mut Subject::new(truth, seed * 100 + i)).unwrap();
            plan.estimate(None).unwrap()
        })
        .collect()
}

fn compare_with(a: &[Estimate], b: &[Estimate]) -> Comparison {
    compare(a, b, &ComparisonSettings::default()).unwrap()
}

#[test]
fn a_change_beyond_the_threshold_is_a_regression_and_back_an_improvement() {
    let (a, b) = (starts(5, 23.0, 1.0, 1), starts(5, 27.0, 1.0, 2));
    let worse = compare_with(&a, &b);
    assert_eq!(worse.verdict, Verdict::Slower, "{worse:?}");
    assert!((worse.ratio.value - 1.2).abs() < 0.03);
    assert_eq!(worse.basis, Basis::CostToReference);
    assert_eq!(compare_with(&b, &a).verdict, Verdict::Faster);
}

#[test]
fn the_speed_of_the_processor_cancels() {
    let same = compare_with(&starts(5, 23.0, 1.0, 1), &starts(5, 23.0, 1.4, 2));
    assert_eq!(same.verdict, Verdict::Same, "{same:?}");
    assert!(same.same_within() < 0.05);
    assert!((same.ratio.value - 1.0).abs() < 0.02);
}

#[test]
fn a_change_within_the_threshold_is_none() {
    let small = compare_with(&starts(8, 23.0, 1.0, 1), &starts(8, 23.4, 1.0, 2));
    assert_eq!(small.verdict, Verdict::Same);
}

#[test]
fn one_start_a_side_tells_nothing_and_says_what_would() {
    for (of_a, of_b) in [(1, 1), (1, 5), (5, 2)] {
        let (a, b) = (starts(of_a, 23.0, 1.0, 1), starts(of_b, 43.0, 1.0, 2));
        let few = compare_with(&a, &b);
        assert_eq!(few.verdict, Verdict::CannotTell);
        assert_eq!((few.log_ratio.limits(), few.p), (None, 1.0));
        let needed = few.needed();
        assert!(needed.starts >= FEWEST_STARTS && needed.threshold.is_none());
    }
}

#[test]
fn what_would_tell_is_more_starts_or_a_threshold_that_holds_the_interval() {
    let (a, b) = (starts(4, 23.0, 1.0, 1), starts(4, 24.0, 1.0, 2));
    let unsure = compare_with(&a, &b);
    assert_eq!(unsure.verdict, Verdict::CannotTell, "{unsure:?}");
    let needed = unsure.needed();
    let threshold = needed.threshold.unwrap() + 1e-9;
    let settings = ComparisonSettings {
        threshold,
        ..ComparisonSettings::default()
    };
    assert_eq!(compare(&a, &b, &settings).unwrap().verdict, Verdict::Same);
    assert!(needed.starts > 4);
}

#[test]
fn forty_equal_tests_give_no_verdict() {
    let mut comparisons: Vec<Comparison> = (0..40)
        .map(|i| {
            compare_with(
                &starts(3, 23.0, 1.0, 2 * i),
                &starts(3, 23.0, 1.0, 2 * i + 1),
            )
        })
        .collect();
    let settings = ComparisonSettings {
        threshold: 0.0,
        ..ComparisonSettings::default()
    };
    judge(&mut comparisons, &settings);
    assert!(comparisons.iter().all(|c| !is_reported(c)));
}

fn is_reported(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, Verdict::Slower | Verdict::Faster)
}

#[test]
fn two_quick_runs_of_the_same_show_no_change() {
    // Rows from 20 ns to 1 s on a busy machine, with as little time as a quick run leaves to each.
    let quick = FrameSettings {
        budget_ns: 10_000_000,
        relative_half_width: 0.03,
        ..FrameSettings::default()
    };
    let row = |test_ns: f64, seed: u64| -> Vec<Estimate> {
        let truth = Truth { test_ns, ..busy() };
        let start = |start: u64| {
            measure_with(
                &truth,
                Expected::default(),
                quick.clone(),
                100 * seed + start,
            )
        };
        (0..3).map(|of| start(of).unwrap()).collect()
    };
    let run = |seed: u64| [23.0, 2e3, 1e5, 12e6, 1e9].map(|test_ns| row(test_ns, seed));
    for seed in 0..7 {
        let (first, second) = (run(seed), run(1000 + seed));
        let pairs = first.iter().zip(&second);
        let mut compared: Vec<_> = pairs.map(|(a, b)| compare_with(a, b)).collect();
        judge(&mut compared, &ComparisonSettings::default());
        for row in compared {
            assert!(!is_reported(&row), "{seed}: {row:?}");
        }
        // 12 ms an operation are 24 ms a block: of these there are two.
        let (two, one) = (&first[3][0], &first[4][0]);
        assert!(two.blocks > 1 && two.cost_ns.limits().is_some());
        assert_eq!((one.blocks, one.cost_ns.limits()), (1, None));
    }
}

#[test]
fn costs_like_their_control_are_compared_by_their_frames() {
    let free = compare_with(&starts(3, 3.0, 1.0, 1), &starts(3, 23.0, 1.0, 2));
    assert_eq!(free.basis, Basis::FrameToReference);
    assert_eq!(free.verdict, Verdict::Slower);
}

#[test]
fn nothing_cannot_be_compared() {
    let settings = ComparisonSettings::default();
    assert_eq!(compare(&[], &starts(3, 23.0, 1.0, 1), &settings), None);
    assert_eq!(compare_pairs(&[], &settings), None);
    assert_eq!(compare_figures(&[0.0], &[1.0], &settings), None);
}

#[test]
fn whole_runs_are_compared_by_what_runs_differ_by() {
    let settings = ComparisonSettings::default();
    let (a, b) = ([100.0, 102.0, 99.0, 101.0], [120.0, 121.0, 119.0, 122.0]);
    let slower = compare_figures(&a, &b, &settings).unwrap();
    assert_eq!(
        (slower.verdict, slower.basis),
        (Verdict::Slower, Basis::Run)
    );
    assert_eq!(slower.floor, 0.0);
    let scattered = [80.0, 160.0, 90.0, 150.0];
    let unsure = compare_figures(&a, &scattered, &settings).unwrap();
    assert_eq!(unsure.verdict, Verdict::CannotTell);
}

/// Distribution of one row's starts: normal with this deviation. One start in ten may be in another
/// state, slower by a third.
#[derive(Clone, Copy)]
struct Drawn {
    test_ns: f64,
    deviation: f64,
    has_states: bool,
}

impl Drawn {
    fn start(self, noise: &mut Noise) -> f64 {
        let state = match self.has_states && noise.uniform() < 0.1 {
            true => 1.33_f64.ln(),
            false => 0.0,
        };
        self.deviation * noise.normal() + state
    }

    /// Returns starts of both sides, B slower by this factor. Within a start the ratio is known to
    /// 0.1 %, however far it is off.
    fn pairs(self, factor: f64, noise: &mut Noise) -> Vec<PairEstimate> {
        let pair = |_| {
            let log = factor.ln() + self.start(noise) - self.start(noise);
            PairEstimate {
                log_ratio: Interval {
                    value: log,
                    low: log - 0.001,
                    high: log + 0.001,
                },
                test_ns: (self.test_ns, self.test_ns * factor),
                iterations: (1000, 1000),
                blocks: 100,
            }
        };
        (0..12).map(pair).collect()
    }
}

/// Settings of a gate of the laboratory: a threshold of 2 %.
const GATE: ComparisonSettings = ComparisonSettings {
    threshold: 0.02,
    confidence: 0.99,
};

/// Returns rows like `call.*` of C: from 2 to 150 ns, with deviations between starts from 0.2 to 8
/// %. Every other has a second state.
fn rows() -> impl Iterator<Item = Drawn> {
    (0..33).map(|row| Drawn {
        test_ns: [2.0, 3.5, 7.0, 20.0, 75.0, 150.0][row % 6],
        deviation: [0.002, 0.005, 0.01, 0.02, 0.04, 0.08][row / 6 % 6],
        has_states: row % 2 == 1,
    })
}

#[test]
fn a_build_against_itself_is_hardly_ever_told_to_differ() {
    let runs: u64 = std::env::var("ANTIPHON_COMPARISONS")
        .map_or(300, |runs| runs.parse().expect("a number of runs"));
    let (mut wrong, mut same) = (0, 0);
    for seed in 0..runs {
        let mut noise = Noise::new(seed);
        let pairs = rows().map(|row| row.pairs(1.0, &mut noise));
        let mut compared: Vec<Comparison> = pairs
            .map(|pairs| compare_pairs(&pairs, &GATE).unwrap())
            .collect();
        judge(&mut compared, &GATE);
        wrong += u64::from(compared.iter().any(is_reported));
        same += compared
            .iter()
            .filter(|c| c.verdict == Verdict::Same)
            .count();
    }
    // One run in a hundred may be wrong, by the confidence; the limits make it far fewer.
    assert!(wrong <= 1 + runs / 1000, "{wrong} of {runs} runs");
    // Most rows of agreeing starts must be judged the same: a missing verdict is no right one.
    assert!(same as u64 > 10 * runs, "{same} rows in {runs} runs");
}

#[test]
fn a_true_three_percent_is_found_and_nothing_else() {
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..100 {
        let mut noise = Noise::new(seed);
        let drawn = Drawn {
            test_ns: 75.0,
            deviation: 0.003,
            has_states: false,
        };
        let factors = [1.0, 1.0, 1.0, 1.0, 1.03, 1.0, 1.0, 1.0, 1.0, 1.0];
        let mut compared = factors.map(|factor| {
            let pairs = drawn.pairs(factor, &mut noise);
            compare_pairs(&pairs, &GATE).unwrap()
        });
        judge(&mut compared, &GATE);
        for (factor, row) in factors.iter().zip(&compared) {
            match *factor > 1.0 {
                true => found += u32::from(row.verdict == Verdict::Slower),
                false => wrong += u32::from(is_reported(row)),
            }
        }
    }
    assert!(found >= 95 && wrong == 0, "{found} found, {wrong} wrong");
}

#[test]
fn what_the_placement_of_loops_makes_is_no_difference() {
    let mut noise = Noise::new(1);
    let steady = |test_ns| Drawn {
        test_ns,
        deviation: 0.001,
        has_states: false,
    };
    // 0.4 of 4 ns, and 4 of 40: the same tenth.
    let short = compare_pairs(&steady(4.0).pairs(1.1, &mut noise), &GATE).unwrap();
    let long = compare_pairs(&steady(40.0).pairs(1.1, &mut noise), &GATE).unwrap();
    assert_eq!(short.verdict, Verdict::Same, "{short:?}");
    assert!((short.same_within() - 0.125).abs() < 0.001);
    assert_eq!(long.verdict, Verdict::Slower);
    // In both kinds of comparison: 0.3 of 2 ns, and 3 of 20.
    let of = |cost_ns: f64, seed| starts(5, 3.0 + cost_ns, 1.0, seed);
    let stored = compare_with(&of(2.0, 1), &of(2.3, 2));
    assert_eq!(stored.verdict, Verdict::Same, "{stored:?}");
    assert_eq!(
        compare_with(&of(20.0, 1), &of(23.0, 2)).verdict,
        Verdict::Slower
    );
}

#[test]
fn holm_gives_the_textbook_values() {
    let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
    let due = [0.03, 0.06, 0.06, 0.02];
    assert!(
        corrected
            .iter()
            .zip(due)
            .all(|(x, y)| (x - y).abs() < 1e-12)
    );
    assert!(holm(&[]).is_empty());
}

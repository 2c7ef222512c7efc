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

/// Process starts whose placement in memory moves the cost by 1 %, on a processor of the given speed.
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
    compare(a, b, false, &ComparisonSettings::default()).unwrap()
}

#[test]
fn a_change_beyond_the_threshold_is_a_regression_and_back_an_improvement() {
    let (a, b) = (starts(5, 23.0, 1.0, 1), starts(5, 27.0, 1.0, 2));
    let worse = compare_with(&a, &b);
    assert_eq!(worse.verdict, Verdict::Regression, "{worse:?}");
    assert!((worse.ratio.value - 1.2).abs() < 0.03);
    assert_eq!(worse.basis, Basis::CostToReference);
    assert_eq!(compare_with(&b, &a).verdict, Verdict::Improvement);
}

#[test]
fn the_speed_of_the_processor_cancels() {
    let same = compare_with(&starts(5, 23.0, 1.0, 1), &starts(5, 23.0, 1.4, 2));
    assert_eq!(same.verdict, Verdict::Indistinguishable, "{same:?}");
    assert!(same.equivalent);
    assert!((same.ratio.value - 1.0).abs() < 0.02);
}

#[test]
fn a_change_within_the_threshold_is_none() {
    let small = compare_with(&starts(8, 23.0, 1.0, 1), &starts(8, 23.4, 1.0, 2));
    assert_eq!(small.verdict, Verdict::Indistinguishable);
}

#[test]
fn one_start_a_side_is_judged_with_an_assumed_deviation_and_says_so() {
    let one = compare_with(&starts(1, 23.0, 1.0, 1), &starts(1, 43.0, 1.0, 2));
    assert_eq!(one.verdict, Verdict::Regression);
    assert_eq!(one.start_deviation, ASSUMED_START_DEVIATION);
    assert!(
        one.findings
            .iter()
            .any(|f| f.text.contains("one process start"))
    );
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
    judge(
        &mut comparisons,
        &ComparisonSettings {
            threshold: 0.0,
            ..ComparisonSettings::default()
        },
    );
    // With no threshold each alone would be wrong once in twenty; the correction leaves none.
    assert!(
        comparisons
            .iter()
            .all(|c| c.verdict == Verdict::Indistinguishable)
    );
}

#[test]
fn two_quick_runs_of_the_same_show_no_change() {
    // Rows from 20 ns to 1 s on a busy machine, with as little time as a quick run leaves to each.
    let quick = FrameSettings {
        budget_ns: 10_000_000,
        relative_half_width: 0.03,
        ..FrameSettings::default()
    };
    let row = |test_ns: f64, seed| {
        let truth = Truth { test_ns, ..busy() };
        measure_with(&truth, Expected::default(), quick.clone(), seed).unwrap()
    };
    let run = |seed| [23.0, 2e3, 1e5, 12e6, 1e9].map(|test_ns| row(test_ns, seed));
    let settings = ComparisonSettings::default();
    for seed in 0..20 {
        let (first, second) = (run(seed), run(1000 + seed));
        let pairs = first.iter().zip(&second);
        let one = std::slice::from_ref;
        let compared = pairs.map(|(a, b)| compare(one(a), one(b), false, &settings));
        let mut compared: Vec<_> = compared.flatten().collect();
        assert_eq!(compared.len(), 4, "{seed}: the last row has one block");
        judge(&mut compared, &settings);
        for row in compared {
            assert_eq!(row.verdict, Verdict::Indistinguishable, "{seed}: {row:?}");
        }
        // 12 ms an operation are 24 ms a block: of these there are two.
        assert!(first[3].blocks > 1 && first[3].cost_ns.limits().is_some());
        assert_eq!((first[4].blocks, first[4].cost_ns.limits()), (1, None));
    }
}

#[test]
fn costs_like_their_control_are_compared_by_their_frames() {
    let free = compare_with(&starts(3, 3.0, 1.0, 1), &starts(3, 23.0, 1.0, 2));
    assert_eq!(free.basis, Basis::FrameToReference);
    assert_eq!(free.verdict, Verdict::Regression);
}

#[test]
fn one_start_of_an_operation_that_blocks_decides_little_without_fifo() {
    let blocking = |test_ns, seed| {
        let mut all = starts(1, test_ns, 1.0, seed);
        all[0].resources.voluntary = 2.0;
        all
    };
    let (a, b) = (blocking(23.0, 1), blocking(27.0, 2));
    let other = compare_with(&a, &b);
    assert_eq!(other.start_deviation, ASSUMED_BLOCKING_DEVIATION);
    assert_eq!(other.verdict, Verdict::Indistinguishable);
    let fifo = compare(&a, &b, true, &ComparisonSettings::default()).unwrap();
    assert_eq!(fifo.verdict, Verdict::Regression);
}

#[test]
fn nothing_cannot_be_compared() {
    assert_eq!(
        compare(
            &[],
            &starts(1, 23.0, 1.0, 1),
            false,
            &ComparisonSettings::default()
        ),
        None
    );
}

#[test]
fn holm_and_benjamini_hochberg_give_the_textbook_values() {
    let p = [0.01, 0.04, 0.03, 0.005];
    let close = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-12);
    assert!(close(
        correct(&p, Correction::Holm),
        [0.03, 0.06, 0.06, 0.02]
    ));
    assert!(close(
        correct(&p, Correction::BenjaminiHochberg),
        [0.02, 0.04, 0.04, 0.02]
    ));
    assert!(correct(&[], Correction::Holm).is_empty());
}

//! Plans against subjects of known truth: the figures that they find.

use crate::synthetic_plan::{CLOCK, busy, has, measure, measure_with};
use crate::synthetic_subject::{Subject, Truth, run};
use crate::{Expected, FindingKind, FramePlan, FrameSettings, Stopped};

#[test]
fn a_cost_is_found_within_its_interval_and_stops_at_the_wanted_width() {
    for (control_ns, test_ns) in [
        (3.0, 23.0),
        (1.0, 2.5),
        (3.0, 900.0),
        (5.0, 40_000.0),
        (3.0, 400_000.0),
    ] {
        let truth = Truth {
            control_ns,
            test_ns,
            ..Truth::default()
        };
        let estimate = measure(&truth, 1);
        let cost = test_ns - control_ns;
        assert!(
            estimate.cost_ns.widened(0.002 * cost).contains(cost),
            "{cost}: {:?}",
            estimate.cost_ns
        );
        assert_eq!(estimate.stopped, Stopped::IntervalReached, "{cost}");
        assert!(estimate.cost_ns.half_width() <= (0.01 * cost).max(0.05));
        let slice = estimate.frames.test_ns * estimate.iterations as f64;
        assert!(
            estimate.iterations == 1 || (20_000.0..=300_000.0).contains(&slice),
            "{cost}: {slice}"
        );
        // Equation 4: τ / N is within the wanted accuracy.
        assert!(
            estimate.paper.clock_accuracy_ns
                <= 0.1 * FrameSettings::default().relative_half_width * cost + 0.1
        );
        assert!(!has(&estimate, FindingKind::IndistinguishableFromControl));
    }
}

#[test]
fn a_busy_machine_moves_neither_the_cost_nor_the_ratio() {
    for seed in 0..10 {
        let estimate = measure(&busy(), seed);
        // Half of the time is at 1.25 of the cost: its median lies between.
        let cost = estimate.cost_ns.value;
        assert!((19.8..=25.3).contains(&cost), "{seed}: {cost}");
        assert!(
            (estimate.log_ratio.value - (23.0_f64 / 3.0).ln()).abs() < 0.01,
            "{seed}: {:?}",
            estimate.log_ratio
        );
        assert!(estimate.outliers > 0, "they are counted");
        assert!(
            !has(&estimate, FindingKind::Outliers),
            "and so few are not worth a sentence: {:?}",
            estimate.findings
        );
    }
}

#[test]
fn the_mean_over_a_long_loop_is_pessimistic_and_beta_corrects_it() {
    // Equation 20: a function of the system takes 6 of 100 µs, control and test alike.
    let truth = Truth {
        interruption: Some((100_000.0, 6000.0)),
        ..Truth::default()
    };
    let settings = FrameSettings {
        relative_half_width: 0.0,
        absolute_half_width_ns: 0.0,
        ..FrameSettings::default()
    };
    let mut plan = FramePlan::new(CLOCK, Expected::default(), settings);
    run(&mut plan, &mut Subject::new(truth, 1)).unwrap();
    let paper = plan.estimate(Some(0.06 / 1.06)).unwrap().paper;
    assert!(paper.mean_raw_ns > 20.6, "{paper:?}");
    assert!(
        (paper.mean_corrected_ns.unwrap() - 20.0).abs() < 0.3,
        "{paper:?}"
    );
    assert!((paper.minima_difference_ns - 20.0).abs() < 0.3, "{paper:?}");
    assert_eq!(
        plan.estimate(Some(1.5)).unwrap().paper.mean_corrected_ns,
        None
    );
}

#[test]
fn the_same_against_itself_is_one_also_on_a_busy_machine() {
    let settings = FrameSettings {
        relative_half_width: 1e-9,
        absolute_half_width_ns: 1e-9,
        budget_ns: 1_000_000_000,
        ..FrameSettings::default()
    };
    for seed in 0..5 {
        let truth = Truth {
            control_ns: 20.0,
            test_ns: 20.0,
            noise: 0.0005,
            ..busy()
        };
        let estimate = measure_with(&truth, Expected::default(), settings.clone(), seed).unwrap();
        assert!(
            estimate.log_ratio.value.abs() < 2e-4,
            "{seed}: {:?}",
            estimate.log_ratio
        );
        assert!(
            estimate.log_ratio.contains(0.0),
            "{seed}: {:?}",
            estimate.log_ratio
        );
        assert!(has(&estimate, FindingKind::IndistinguishableFromControl));
        assert_eq!(estimate.stopped, Stopped::BudgetSpent);
    }
}

#[test]
fn five_percent_is_found_with_the_right_sign_every_time() {
    let settings = FrameSettings {
        relative_half_width: 0.05,
        budget_ns: 200_000_000,
        ..FrameSettings::default()
    };
    for seed in 0..20 {
        let truth = Truth {
            control_ns: 20.0,
            test_ns: 21.0,
            ..busy()
        };
        let estimate = measure_with(&truth, Expected::default(), settings.clone(), seed).unwrap();
        assert!(
            estimate.log_ratio.low > 0.0,
            "{seed}: {:?}",
            estimate.log_ratio
        );
        assert!(
            (estimate.log_ratio.value - 1.05_f64.ln()).abs() < 0.003,
            "{seed}: {:?}",
            estimate.log_ratio
        );
    }
}

#[test]
fn coarse_clocks_are_measured_with_longer_slices() {
    let truth = Truth {
        resolution_ns: 1000.0,
        reading_ns: 40.0,
        ..Truth::default()
    };
    let estimate = measure(&truth, 1);
    assert!(
        estimate.cost_ns.widened(0.05).contains(20.0),
        "{:?}",
        estimate.cost_ns
    );
    assert!(estimate.frames.test_ns * estimate.iterations as f64 >= 100_000.0);
    assert!(
        estimate.total_iterations >= 10_000,
        "equation 4: 1 µs / 0.1 ns"
    );
    assert!(
        !has(&estimate, FindingKind::SeveralModes),
        "ticks are not modes: {:?}",
        estimate.findings
    );
}

#[test]
fn stopping_at_the_wanted_width_keeps_the_confidence() {
    let truth = Truth {
        noise: 0.03,
        ..Truth::default()
    };
    let settings = FrameSettings {
        relative_half_width: 0.005,
        absolute_half_width_ns: 0.0,
        ..FrameSettings::default()
    };
    let mut held = 0;
    for seed in 0..200 {
        let estimate = measure_with(&truth, Expected::default(), settings.clone(), seed).unwrap();
        held += usize::from(estimate.cost_ns.contains(20.0));
    }
    assert!(
        held >= 186,
        "{held} of 200 intervals of 95 % hold the truth"
    );
}

//! Plans against subjects of known truth.

use crate::synthetic_subject::{Subject, Truth, run, run_pair};
use crate::{
    Batch, ClockFacts, Estimate, Expected, FindingKind, FrameError, FramePlan, FrameSettings,
    PairPlan, PairSettings, Placement, Purpose, Role, Step, Stopped, ThreadReport,
};

const CLOCK: ClockFacts = ClockFacts {
    resolution_ns: 1.0,
    cost_ns: 25.0,
};

fn clock(truth: &Truth) -> ClockFacts {
    ClockFacts {
        resolution_ns: truth.resolution_ns,
        cost_ns: truth.reading_ns,
    }
}

fn measure_with(
    truth: &Truth,
    expected: Expected,
    settings: FrameSettings,
    seed: u64,
) -> Result<Estimate, FrameError> {
    let mut plan = FramePlan::new(clock(truth), expected, settings);
    run(&mut plan, &mut Subject::new(truth.clone(), seed))?;
    plan.estimate(None)
}

fn measure(truth: &Truth, seed: u64) -> Estimate {
    measure_with(truth, Expected::default(), FrameSettings::default(), seed).unwrap()
}

fn has(estimate: &Estimate, kind: FindingKind) -> bool {
    estimate.findings.iter().any(|f| f.kind == kind)
}

/// Short slices in a machine that is interrupted, hit, and changes its speed.
fn busy() -> Truth {
    Truth {
        interruption: Some((1e6, 10_000.0)),
        turbo: Some((7e6, 1.25)),
        hits: 1.0,
        noise: 0.002,
        ..Truth::default()
    }
}

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
fn removed_work_is_an_error_and_a_free_feature_is_not() {
    let dead = Truth {
        dead: true,
        ..Truth::default()
    };
    let error = measure_with(&dead, Expected::default(), FrameSettings::default(), 1).unwrap_err();
    assert!(
        matches!(
            error,
            FrameError::DeadCode {
                role: Role::Test,
                ..
            }
        ),
        "{error}"
    );
    // A constant part of 100 µs does not make it look alive.
    let dead = Truth {
        dead: true,
        test_ns: 100_000.0,
        ..Truth::default()
    };
    let error = measure_with(&dead, Expected::default(), FrameSettings::default(), 1).unwrap_err();
    assert!(
        matches!(
            error,
            FrameError::DeadCode {
                role: Role::Test,
                ..
            }
        ),
        "{error}"
    );
    let inlined = measure(
        &Truth {
            control_ns: 3.0,
            test_ns: 3.0,
            ..Truth::default()
        },
        1,
    );
    assert!(has(&inlined, FindingKind::IndistinguishableFromControl));
    let second = inlined.with_instructions(0.0);
    assert!(
        second
            .findings
            .iter()
            .any(|f| f.text.contains("instruction counts agree"))
    );
}

#[test]
fn slow_operations_end_with_the_blocks_that_fit() {
    let settings = FrameSettings {
        budget_ns: 1_000_000_000,
        ..FrameSettings::default()
    };
    for (ms, fewest) in [(1.0, 16), (10.0, 6), (100.0, 3), (300.0, 3)] {
        let truth = Truth {
            test_ns: ms * 1e6,
            noise: 0.05,
            ..Truth::default()
        };
        let mut plan = FramePlan::new(CLOCK, Expected::default(), settings.clone());
        run(&mut plan, &mut Subject::new(truth, 3)).unwrap();
        let estimate = plan.estimate(None).unwrap();
        assert!(estimate.blocks >= fewest, "{ms}: {}", estimate.blocks);
        assert_eq!(estimate.iterations, 1);
        assert!(
            plan.spent_ns() <= 4_600_000_000,
            "{ms}: {}",
            plan.spent_ns()
        );
        assert!(
            (estimate.cost_ns.value / (ms * 1e6) - 1.0).abs() < 0.1,
            "{ms}"
        );
    }
    let second = Truth {
        test_ns: 1e9,
        ..Truth::default()
    };
    let quick = FrameSettings {
        budget_ns: 150_000_000,
        ..FrameSettings::default()
    };
    let estimate = measure_with(&second, Expected::default(), quick, 1).unwrap();
    assert_eq!(estimate.blocks, 1);
    assert_eq!(estimate.stopped, Stopped::BudgetSpent);
    assert!(
        estimate
            .findings
            .iter()
            .any(|f| f.text.contains("one block only"))
    );
}

#[test]
fn requests_are_short_and_replaying_them_gives_the_same_plan() {
    let mut plan = FramePlan::new(
        CLOCK,
        Expected::default(),
        FrameSettings {
            relative_half_width: 0.0,
            absolute_half_width_ns: 0.0,
            ..FrameSettings::default()
        },
    );
    let asked = run(&mut plan, &mut Subject::new(busy(), 8)).unwrap();
    for (request, batch) in &asked {
        let timed: u64 = batch.slices.iter().map(|s| s.elapsed_ns).sum();
        assert!(timed < 60_000_000, "{request:?}: {timed}");
    }
    assert!(asked.iter().any(|(r, _)| r.purpose == Purpose::Growth));
    let text = serde_json::to_string(&asked).unwrap();
    let stored: Vec<(crate::BatchRequest, Batch)> = serde_json::from_str(&text).unwrap();
    let mut again = FramePlan::new(
        CLOCK,
        Expected::default(),
        FrameSettings {
            relative_half_width: 0.0,
            absolute_half_width_ns: 0.0,
            ..FrameSettings::default()
        },
    );
    for (request, batch) in &stored {
        assert_eq!(again.next(), Step::Run(request.clone()));
        again.take(request, batch).unwrap();
    }
    assert_eq!(again.next(), plan.next());
    assert_eq!(again.estimate(Some(0.03)), plan.estimate(Some(0.03)));
}

#[test]
fn what_was_not_asked_is_refused_and_changes_nothing() {
    let mut plan = FramePlan::new(CLOCK, Expected::default(), FrameSettings::default());
    let Step::Run(mut request) = plan.next() else {
        panic!("a new plan asks")
    };
    request.iterations = 77;
    assert!(matches!(
        plan.take(&request, &Batch::default()),
        Err(FrameError::NotAsked { given: 77, .. })
    ));
    let Step::Run(request) = plan.next() else {
        panic!("the plan still asks")
    };
    let error = plan.take(&request, &Batch::default()).unwrap_err();
    assert!(matches!(error, FrameError::NoWholeBlock { slices: 0, .. }));
    assert_eq!(plan.next(), Step::Done);
    assert_eq!(plan.estimate(None), Err(error));
}

#[test]
fn an_interrupted_plan_keeps_what_it_has() {
    let mut plan = FramePlan::new(
        CLOCK,
        Expected::default(),
        FrameSettings {
            budget_ns: u64::MAX,
            relative_half_width: 0.0,
            absolute_half_width_ns: 0.0,
            ..FrameSettings::default()
        },
    );
    assert_eq!(plan.estimate(None), Err(FrameError::NothingMeasured));
    let mut subject = Subject::new(Truth::default(), 1);
    while plan.blocks() < 40 {
        let Step::Run(request) = plan.next() else {
            panic!("there is time left")
        };
        plan.take(&request, &subject.batch(&request)).unwrap();
    }
    plan.interrupt();
    assert_eq!(plan.next(), Step::Done);
    let estimate = plan.estimate(None).unwrap();
    assert_eq!(estimate.stopped, Stopped::Interrupted);
    assert!(estimate.blocks >= 40);
}

#[test]
fn drift_and_turbo_states_are_told() {
    let settings = FrameSettings {
        relative_half_width: 0.0,
        absolute_half_width_ns: 0.0,
        ..FrameSettings::default()
    };
    let drifting = Truth {
        drift: 0.5,
        ..Truth::default()
    };
    let estimate = measure_with(&drifting, Expected::default(), settings.clone(), 1).unwrap();
    assert!(
        has(&estimate, FindingKind::Drift),
        "{:?}",
        estimate.findings
    );
    let turbo = Truth {
        turbo: Some((7e6, 1.3)),
        ..Truth::default()
    };
    let estimate = measure_with(&turbo, Expected::default(), settings.clone(), 1).unwrap();
    assert!(
        has(&estimate, FindingKind::SeveralModes),
        "{:?}",
        estimate.findings
    );
    let quiet = measure_with(&Truth::default(), Expected::default(), settings, 1).unwrap();
    assert!(quiet.findings.is_empty(), "{:?}", quiet.findings);
}

#[test]
fn broken_promises_of_placement_and_switches_are_told() {
    let report = |role: &str, policy: &str| ThreadReport {
        role: role.into(),
        policy: policy.into(),
        priority: 50,
        processor: 0,
        allowed: "0".into(),
        count: 1,
    };
    let expected = Expected {
        policy: "fifo".into(),
        placement: Placement::Same { processor: 0 },
        switches_per_operation: Some(2.0),
        blocking: true,
        work: Some("handoff".into()),
        ..Expected::default()
    };
    let truth = Truth {
        test_ns: 900.0,
        switches: 2.0,
        threads: vec![report("main", "fifo"), report("partner", "fifo")],
        ..Truth::default()
    };
    let kept = measure_with(&truth, expected.clone(), FrameSettings::default(), 1).unwrap();
    assert!(kept.findings.is_empty(), "{:?}", kept.findings);
    assert!((kept.resources.voluntary - 2.0).abs() < 1e-9);
    let truth = Truth {
        switches: 1.0,
        threads: vec![report("main", "fifo"), report("partner", "other")],
        ..truth
    };
    let broken = measure_with(&truth, expected, FrameSettings::default(), 1).unwrap();
    assert!(
        has(&broken, FindingKind::WrongPlacement) && has(&broken, FindingKind::UnexpectedSwitches)
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

#[test]
fn pairs_across_subjects_see_five_percent_and_no_difference() {
    for seed in 0..10 {
        let busy = Truth {
            test_ns: 20.0,
            ..busy()
        };
        for (b_ns, truth) in [(20.0, 0.0), (21.0, 1.05_f64.ln()), (300.0, 15.0_f64.ln())] {
            let mut a = Subject::new(busy.clone(), seed);
            let mut b = Subject::new(
                Truth {
                    test_ns: b_ns,
                    ..busy.clone()
                },
                seed + 100,
            );
            let mut plan = PairPlan::new(CLOCK, CLOCK, PairSettings::default());
            run_pair(&mut plan, &mut a, &mut b).unwrap();
            let pair = plan.estimate().unwrap();
            assert!(
                (pair.log_ratio.value - truth).abs() < 0.004,
                "{seed} {b_ns}: {:?}",
                pair.log_ratio
            );
            assert!(truth == 0.0 || pair.log_ratio.low > 0.0);
        }
    }
}

#[test]
fn pairs_with_controls_give_the_difference_of_costs() {
    let settings = PairSettings {
        controls: true,
        ..PairSettings::default()
    };
    let mut a = Subject::new(Truth::default(), 1);
    let mut b = Subject::new(
        Truth {
            control_ns: 5.0,
            test_ns: 26.0,
            ..Truth::default()
        },
        2,
    );
    let mut plan = PairPlan::new(CLOCK, CLOCK, settings);
    run_pair(&mut plan, &mut a, &mut b).unwrap();
    let pair = plan.estimate().unwrap();
    let difference = pair.cost_difference_ns.unwrap();
    assert!((difference.value - 1.0).abs() < 0.1, "{difference:?}");
    assert!((pair.control_ns.unwrap().1 - 5.0).abs() < 0.05);
}

#[test]
fn a_dead_side_of_a_pair_is_an_error() {
    let mut plan = PairPlan::new(CLOCK, CLOCK, PairSettings::default());
    let mut dead = Subject::new(
        Truth {
            dead: true,
            ..Truth::default()
        },
        1,
    );
    let error = run_pair(&mut plan, &mut Subject::new(Truth::default(), 1), &mut dead).unwrap_err();
    assert!(matches!(error, FrameError::DeadCode { .. }));
}

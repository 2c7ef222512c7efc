//! Plans against operations that are not in proportion to their iterations.

use crate::synthetic_plan::{CLOCK, has};
use crate::synthetic_subject::{Subject, Truth, run, run_pair};
use crate::{
    Estimate, Expected, FindingKind, FrameError, FramePlan, FrameSettings, PairPlan, Placement,
    Stopped,
};

fn measure(truth: &Truth, expected: Expected, settings: FrameSettings) -> Estimate {
    let mut plan = FramePlan::new(CLOCK, expected, settings);
    run(&mut plan, &mut Subject::new(truth.clone(), 5)).unwrap();
    plan.estimate(None).unwrap()
}

fn blocking() -> Expected {
    Expected {
        placement: Placement::Same { processor: 0 },
        switches_per_operation: Some(2.0),
        blocking: true,
        ..Expected::default()
    }
}

#[test]
fn a_constant_part_neither_kills_a_frame_nor_shortens_its_slices() {
    // As eight callers of one entry: they are started in each slice, of control and test.
    for constant_ns in [3_000.0, 13_000.0, 30_000.0, 100_000.0] {
        for test_ns in [40.0, 1_300.0, 6_000.0] {
            let truth = Truth {
                control_ns: 1.0,
                test_ns,
                constant_ns,
                ..Truth::default()
            };
            let estimate = measure(&truth, Expected::default(), FrameSettings::default());
            let cost = test_ns - 1.0;
            assert!(
                estimate.cost_ns.widened(0.01 * cost).contains(cost),
                "{constant_ns} {test_ns}: {:?}",
                estimate.cost_ns
            );
            let growing = test_ns * estimate.iterations as f64;
            assert!(
                (18_000.0..=300_000.0).contains(&growing),
                "{constant_ns} {test_ns}: {growing}"
            );
        }
    }
}

#[test]
fn slices_that_waited_for_a_processor_are_not_called_dead() {
    // A query beside spinning programs behaves so: it waits in batches of the search for N and for
    // growth, or only in the first.
    for batches in [1, 2, 3, 4, 6] {
        let truth = Truth {
            test_ns: 40_000.0,
            waits: (batches, 3e6),
            ..Truth::default()
        };
        let estimate = measure(&truth, Expected::default(), FrameSettings::default());
        let cost = truth.test_ns - truth.control_ns;
        assert!(
            estimate.cost_ns.widened(0.01 * cost).contains(cost),
            "{batches}: {:?}",
            estimate.cost_ns
        );
    }
    // Work that was removed is found beside them all the same.
    let truth = Truth {
        dead: true,
        waits: (3, 3e6),
        ..Truth::default()
    };
    let mut plan = FramePlan::new(CLOCK, Expected::default(), FrameSettings::default());
    let error = run(&mut plan, &mut Subject::new(truth, 5)).unwrap_err();
    assert!(matches!(error, FrameError::DeadCode { .. }), "{error:?}");
}

#[test]
fn an_operation_that_is_one_time_dear_and_one_time_cheap_has_a_figure() {
    // As 64 KiB from malloc: at times the pages are still there, at times each is a fault.
    for mood in [5.0, 30.0, 300.0] {
        let truth = Truth {
            test_ns: 70.0,
            mood,
            ..Truth::default()
        };
        let estimate = measure(&truth, Expected::default(), FrameSettings::default());
        let cost = estimate.cost_ns.value;
        assert!((60.0..=70.0 * mood).contains(&cost), "{mood}: {cost}");
        assert!(estimate.blocks >= 3, "{mood}: {}", estimate.blocks);
    }
}

#[test]
fn an_operation_that_is_dear_from_some_iterations_on_is_measured_where_slices_are_long() {
    // 64 KiB from malloc behave so: a slice returns memory beyond the trim threshold to the system,
    // and each page faults again.
    let truth = Truth {
        test_ns: 20.0,
        dearer_from: Some((32, 70.0)),
        ..Truth::default()
    };
    let estimate = measure(&truth, Expected::default(), FrameSettings::default());
    assert!(
        !has(&estimate, FindingKind::ShortSlice),
        "{:?}",
        estimate.findings
    );
    assert!(
        estimate.cost_ns.widened(20.0).contains(1397.0),
        "{:?}",
        estimate.cost_ns
    );
}

#[test]
fn time_that_is_spent_by_calibration_leaves_its_last_block() {
    let truth = Truth {
        test_ns: 70.0,
        ..Truth::default()
    };
    let settings = FrameSettings {
        budget_ns: 1000,
        ..FrameSettings::default()
    };
    let estimate = measure(&truth, Expected::default(), settings);
    assert_eq!(
        (estimate.blocks, estimate.stopped),
        (1, Stopped::BudgetSpent)
    );
    let reported = |f: &crate::Finding| f.text.contains("still sought");
    assert!(
        estimate.findings.iter().any(reported),
        "{:?}",
        estimate.findings
    );
}

#[test]
fn a_frame_that_stands_still_has_no_figure_however_little_time_there_is() {
    let truth = Truth {
        test_ns: 10_000.0,
        dead: true,
        ..Truth::default()
    };
    for budget_ns in [70_000, 100_000, 200_000, 300_000, 1_000_000, 10_000_000] {
        let settings = FrameSettings {
            budget_ns,
            ..FrameSettings::default()
        };
        let mut plan = FramePlan::new(CLOCK, Expected::default(), settings);
        let ended = run(&mut plan, &mut Subject::new(truth.clone(), 2));
        assert!(
            ended.is_err() || plan.estimate(None).is_err(),
            "{budget_ns}: {:?}",
            plan.estimate(None)
        );
    }
}

#[test]
fn a_machine_that_is_too_busy_for_the_budget_still_gives_a_figure() {
    // The search for N takes all of the budget, or four times as much: each request waits for its
    // turn.
    for (budget_ns, blocks) in [(2_000_000, 6), (300_000, 1)] {
        let settings = FrameSettings {
            budget_ns,
            ..FrameSettings::default()
        };
        let mut plan = FramePlan::new(CLOCK, Expected::default(), settings);
        let mut subject = Subject::new(Truth::default(), 2);
        while let crate::Step::Run(request) = plan.next() {
            let mut batch = subject.batch(&request);
            batch.wall_ns += 290_000;
            plan.take(&request, &batch).unwrap();
        }
        let estimate = plan.estimate(None).unwrap();
        assert!(
            estimate.blocks >= blocks,
            "{budget_ns}: {}",
            estimate.blocks
        );
    }
}

#[test]
fn waiting_alone_does_not_end_the_search_for_n() {
    // On this busy machine each request waits longer than four budgets for the processor, and then
    // runs undisturbed.
    let settings = FrameSettings {
        budget_ns: 2_000_000,
        ..FrameSettings::default()
    };
    let mut plan = FramePlan::new(CLOCK, Expected::default(), settings);
    let mut subject = Subject::new(Truth::default(), 2);
    let mut requests = 0;
    while let crate::Step::Run(request) = plan.next() {
        let mut batch = subject.batch(&request);
        batch.wall_ns += 10_000_000;
        plan.take(&request, &batch).unwrap();
        requests += 1;
        assert!(requests < 30, "the search does not end");
    }
    let estimate = plan.estimate(None).unwrap();
    assert!(
        !has(&estimate, FindingKind::ShortSlice),
        "{:?}",
        estimate.findings
    );
    assert!(estimate.blocks >= 6, "{}", estimate.blocks);
    assert!(
        estimate.cost_ns.widened(1.0).contains(20.0),
        "{:?}",
        estimate.cost_ns
    );
}

#[test]
fn no_slice_has_more_iterations_than_the_test_permits() {
    for most in [1, 2, 3, 100, 1500] {
        let settings = FrameSettings {
            most_iterations: Some(most),
            ..FrameSettings::default()
        };
        let mut plan = FramePlan::new(CLOCK, Expected::default(), settings.clone());
        let asked = run(&mut plan, &mut Subject::new(Truth::default(), 1)).unwrap();
        for (request, _) in &asked {
            assert!(
                request.iterations <= most && request.warmup <= most,
                "{request:?}"
            );
        }
        let estimate = plan.estimate(None).unwrap();
        assert_eq!(
            has(&estimate, FindingKind::Note),
            most == 1,
            "{:?}",
            estimate.findings
        );

        let mut plan = PairPlan::new(CLOCK, CLOCK, settings);
        let mut sides = [1, 2].map(|seed| Subject::new(Truth::default(), seed));
        let [a, b] = &mut sides;
        run_pair(&mut plan, a, b).unwrap();
        let (a, b) = plan.estimate().unwrap().iterations;
        assert!(a <= most && b <= most, "{a} {b}");
    }
}

#[test]
fn switches_are_counted_together_and_preemptions_are_not_deviations() {
    let truth = Truth {
        test_ns: 900.0,
        switches: 2.0,
        ..Truth::default()
    };
    for (yields, preemptions) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let truth = Truth {
            yields,
            preemptions,
            ..truth.clone()
        };
        let kept = measure(&truth, blocking(), FrameSettings::default());
        assert!(
            !has(&kept, FindingKind::UnexpectedSwitches),
            "{:?}",
            kept.findings
        );
        assert!(
            (kept.resources.switches() - 2.0).abs() < 0.01,
            "{:?}",
            kept.resources
        );
    }
    for switches in [1.0, 2.5] {
        let truth = Truth {
            switches,
            yields: true,
            ..truth.clone()
        };
        let broken = measure(&truth, blocking(), FrameSettings::default());
        assert!(has(&broken, FindingKind::UnexpectedSwitches), "{switches}");
    }
    // Other load may preempt a non-blocking operation any number of times.
    let preempted = Truth {
        preemptions: 3,
        ..Truth::default()
    };
    let free = measure(&preempted, Expected::default(), FrameSettings::default());
    assert!(
        !has(&free, FindingKind::UnexpectedSwitches),
        "{:?}",
        free.findings
    );
}

#[test]
fn the_finding_of_no_difference_follows_the_interval() {
    let settings = FrameSettings::default;
    let mut estimate = measure(&Truth::default(), Expected::default(), settings());
    assert!(!has(&estimate, FindingKind::IndistinguishableFromControl));
    estimate.cost_ns.low = -0.1;
    estimate.hold_against_zero();
    estimate.hold_against_zero();
    let kind = FindingKind::IndistinguishableFromControl;
    assert_eq!(
        estimate.findings.iter().filter(|f| f.kind == kind).count(),
        1
    );
    estimate.cost_ns.low = 0.1;
    estimate.hold_against_zero();
    assert!(!has(&estimate, kind));
}

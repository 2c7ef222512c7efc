//! Progress and end of a plan: its requests, its refusals, and its reports of a subject that breaks
//! its promises.

use crate::synthetic_plan::{CLOCK, busy, has, measure, measure_with};
use crate::synthetic_subject::{Subject, Truth, run};
use crate::{
    Batch, ComparisonSettings, CountPass, CountedBy, Expected, Finding, FindingKind, FrameError,
    FramePlan, FrameSettings, InstructionCount, Placement, Purpose, Role, Step, Stopped,
    ThreadReport, Verdict, compare,
};

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
    let pass = CountPass {
        control: (20_000, 40_000),
        test: (20_000, 40_000),
    };
    let mut second = inlined;
    second.resources.instructions =
        InstructionCount::from_passes(4096, &[pass], CountedBy::Callgrind);
    second.tell_instructions();
    let agrees = |f: &Finding| {
        f.text
            .ends_with("the kernel's work, agree: no difference in instructions")
    };
    assert!(second.findings.iter().any(agrees), "{:?}", second.findings);
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
fn one_block_tells_no_limits_and_decides_nothing() {
    let truth = Truth {
        test_ns: 1e9,
        ..busy()
    };
    let quick = FrameSettings {
        budget_ns: 150_000_000,
        ..FrameSettings::default()
    };
    let of = |seed| measure_with(&truth, Expected::default(), quick.clone(), seed).unwrap();
    let (first, again) = (of(1), of(2));
    assert_eq!((first.blocks, again.blocks), (1, 1));
    assert_eq!(first.cost_ns.limits(), None);
    assert_eq!(first.log_ratio.limits(), None);
    assert!(!first.is_like_control());
    let ratio = first.cost_ns.over(&again.cost_ns).unwrap();
    assert!(ratio.limits().is_none() && ratio.contains(1.0), "{ratio:?}");
    let settings = ComparisonSettings::default();
    let one = std::slice::from_ref;
    let compared = compare(one(&first), one(&again), &settings).unwrap();
    assert_eq!(compared.log_ratio.limits(), None);
    // Starts of one block each are judged by their differences, which here are too large.
    let starts = [of(3), of(4), of(5)];
    let same = compare(&starts, &[first, again, of(6)], &settings).unwrap();
    assert_eq!(same.verdict, Verdict::CannotTell, "{same:?}");
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

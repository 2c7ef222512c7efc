//! The conformance checks: a conforming subject passes them all, and each fault fails the rule that
//! it breaks.

use antiphon_lab::Launch;
use antiphon_lab::conformance::{Check, check};

fn checks(fault: Option<&str>) -> Vec<Check> {
    let program = env!("CARGO_BIN_EXE_antiphon-test-subject");
    check(&Launch::new(
        "test/plain",
        std::iter::once(program).chain(fault),
        "/",
    ))
}

fn broken(fault: Option<&str>) -> Vec<(&'static str, String)> {
    let failed = checks(fault).into_iter().filter(|check| !check.passed);
    failed.map(|check| (check.name, check.evidence)).collect()
}

#[test]
fn a_conforming_subject_passes() {
    assert_eq!(broken(None), []);
    assert_eq!(broken(Some("talks")), []);
}

#[test]
fn each_fault_breaks_its_rule() {
    for (fault, rule) in [
        ("version", "hello"),
        ("twice-listed", "list"),
        ("no-handoff", "list.self"),
        ("other-clock", "list.clock"),
        ("no-most", "list.most"),
        ("takes-anything", "error.unknown-request"),
        ("wrong-order", "batch.order"),
        ("missing-slice", "batch.order"),
        ("wrong-reference", "batch.reference"),
        ("unsteady-checksum", "batch.checksum"),
        ("never-grows", "batch.growth"),
        ("silent-threads", "batch.threads"),
        ("silent-threads", "clock.threads"),
        ("silent-threads", "latency.threads"),
        ("silent-threads", "series.threads"),
        ("prints-while-timing", "batch.silence"),
        ("wrong-processor", "placement.same"),
        ("partner-elsewhere", "placement.same"),
        ("missing-reading", "clock"),
        ("clock-goes-back", "clock.monotonic"),
        ("missing-gap", "gaps"),
        ("gaps-backwards", "gaps"),
        ("short-loop", "gaps.time"),
        ("missing-sample", "latency"),
        ("no-outcome", "series"),
        ("half-line", "own-output"),
        ("quit-code", "quit"),
    ] {
        let broken = broken(Some(fault));
        assert!(
            broken.iter().any(|(name, _)| *name == rule),
            "{fault} should break {rule}: {broken:?}"
        );
    }
}

#[test]
fn a_crash_in_one_rule_leaves_the_others() {
    let broken = broken(Some("crashes"));
    let kept = [
        "hello",
        "list",
        "error.unknown-request",
        "clock",
        "latency",
        "series",
        "usage",
        "quit",
    ];
    for (name, evidence) in &broken {
        assert!(!kept.contains(name), "{name}: {evidence}");
    }
    let (_, evidence) = &broken[0];
    assert!(
        evidence.contains("SIGABRT") && evidence.contains("the valve is stuck"),
        "{evidence}"
    );
}

#[test]
fn a_subject_that_does_not_start_is_told_once() {
    let checks = check(&Launch::new("test/missing", ["./no-such-subject"], "/"));
    assert_eq!(checks.len(), 1);
    assert_eq!((checks[0].name, checks[0].passed), ("start", false));
    assert!(
        checks[0].evidence.contains("no-such-subject"),
        "{}",
        checks[0].evidence
    );
}

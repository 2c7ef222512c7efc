//! Promises of a result's name about policy and placement. A subject whose threads contradict them
//! gets no figure under that name.

use crate::common::{Place, Seen, quick};
use antiphon_lab::run::Options;
use antiphon_lab::store::Raw;
use antiphon_lab::{Live, LiveOptions, Outcome, ResultRecord};
use antiphon_measure::{FindingKind, ThreadReport};

/// Everything but frames, whose estimate holds the reports itself.
const ITEMS: [&str; 4] = ["probe.latency", "probe.series", "steady", "interference"];

/// Returns the results of the test subject with a fault, in the order of [`ITEMS`], and their raw
/// readings.
fn measured(fault: &str) -> Vec<(ResultRecord, Vec<Raw>)> {
    let place = Place::with(&[fault]);
    let options = Options {
        only: ITEMS.map(String::from).to_vec(),
        ..quick(&[fault])
    };
    let record = place.measure(&mut Seen::default(), &options);
    let saved = place.store().resume(record.id).unwrap();
    let raws = saved
        .raw
        .into_iter()
        .map(|of_item| of_item.into_iter().map(|(_, raw)| raw).collect());
    let mut results: Vec<_> = record.results.into_iter().zip(raws).collect();
    results.sort_by_key(|(result, _)| ITEMS.iter().position(|item| *item == result.identity.test));
    let tests: Vec<_> = results
        .iter()
        .map(|(r, _)| r.identity.test.as_str())
        .collect();
    assert_eq!(tests, ITEMS, "{fault}");
    results
}

/// Returns the reason for a missing figure; `None` if there is one.
fn refused(result: &ResultRecord) -> Option<&str> {
    match &result.outcome {
        Outcome::Absent { reason, help, .. } => {
            assert!(help.contains("doctor --subject"), "{help}");
            Some(reason)
        }
        _ => None,
    }
}

fn reports(raws: &[Raw]) -> Vec<ThreadReport> {
    let json = raws.iter().find_map(|raw| match raw {
        Raw::Note { name, json } if name == "threads" => Some(json),
        _ => None,
    });
    serde_json::from_str(json.expect("reports are stored")).unwrap()
}

#[test]
fn a_lie_about_the_processor_is_caught_in_every_answer() {
    for (result, _) in measured("wrong-processor") {
        let reason = refused(&result).expect("a promise is broken");
        assert!(
            reason.starts_with("main (2 reports) was allowed on processors 9"),
            "{}: {reason}",
            result.identity.test
        );
    }
}

#[test]
fn a_lie_about_the_policy_is_caught_in_every_answer() {
    for (result, raws) in measured("wrong-policy") {
        let reason = refused(&result).expect("a promise is broken");
        let seen = &reports(&raws)[0].policy;
        assert_ne!(seen, "other");
        assert_eq!(
            reason,
            format!("main (2 reports) ran under {seen} instead of other"),
            "{}",
            result.identity.test
        );
    }
}

#[test]
fn a_partner_that_runs_elsewhere_costs_its_own_test_the_figure() {
    for (result, _) in measured("partner-elsewhere") {
        let test = result.identity.test.as_str();
        match (test, refused(&result)) {
            ("probe.latency", Some(reason)) => {
                assert!(reason.starts_with("partner (2 reports)"), "{reason}");
            }
            (_, refused) => assert_eq!(refused, None, "{test}"),
        }
    }
}

#[test]
fn threads_that_say_nothing_are_noted_beside_the_figure() {
    for (result, _) in measured("silent-threads") {
        assert_eq!(refused(&result), None, "{}", result.identity.test);
        let [finding] = result.findings.as_slice() else {
            panic!("{:?}", result.findings)
        };
        assert_eq!(finding.kind, FindingKind::Note);
        assert_eq!(
            finding.text,
            "the main thread did not report: policy and placement are not verified"
        );
    }
}

#[test]
fn reports_that_hold_are_stored_and_leave_nothing_to_say() {
    for (result, raws) in measured("plain") {
        assert_eq!(refused(&result), None);
        assert_eq!(result.findings, []);
        let reports = reports(&raws);
        let roles: Vec<_> = reports.iter().map(|report| report.role.as_str()).collect();
        let due: &[&str] = match result.identity.test.as_str() {
            "probe.latency" => &["main", "partner"],
            _ => &["main"],
        };
        assert_eq!(roles, due, "{}", result.identity.test);
    }
}

#[test]
fn a_live_comparison_holds_both_sides_to_policy_and_placement() {
    let place = Place::with(&["plain", "partner-elsewhere"]);
    let options = LiveOptions {
        only: vec!["self.*".into()],
        starts: 2,
        seconds: 0.04,
        ..LiveOptions::default()
    };
    let side = |name: &str| {
        let found = place.subjects.iter().find(|subject| subject.name == name);
        let subject = found.unwrap();
        (subject, &subject.variants[0])
    };
    let compared = place.laboratory(&mut Seen::default(), |lab| {
        let mut live = Live {
            cache: lab.cache,
            observer: &mut *lab.observer,
            stop: lab.stop,
        };
        live.compare(side("plain"), side("partner-elsewhere"), &options)
    });
    for row in compared.unwrap() {
        match (row.test.as_str(), row.outcome) {
            ("self.handoff", Err(absence)) => {
                let expected = "partner-elsewhere/v: partner (2 reports) was allowed on";
                assert!(absence.reason.starts_with(expected), "{}", absence.reason);
            }
            (test, outcome) => assert!(outcome.is_ok() && test != "self.handoff", "{test}"),
        }
    }
}

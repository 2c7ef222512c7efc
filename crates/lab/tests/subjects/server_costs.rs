//! Cost of a database's server beside that of the subject that asks it.

use crate::drivers::quick_builds;
use antiphon_lab::run::{Laboratory, Options};
use antiphon_lab::store::Store;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{CostRound, Costs, Outcome, RunRecord};
use antiphon_measure::{Estimate, Finding, FindingKind, Resources};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Suite of one statement of a subject, which the test names.
const STATEMENT: &str = concat!(
    r#"
name = "costly"
title = "Costly"
subjects = ["{subject}"]
costs = true
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "frames"
title = "Frames"
runs = ["other.same"]
[[group.row]]
test = "select.1"
label = "one row"
"#
);

/// Measures one statement over a database by a subject.
fn over_a_database(subject: &str) -> RunRecord {
    let text = STATEMENT.replace("{subject}", subject);
    let suite = Suite::parse("costly.toml", &text).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects");
    let (subjects, errors) = Subject::discover(&folder);
    assert!(errors.is_empty(), "{errors:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("runs.db")).unwrap();
    let mut laboratory = Laboratory {
        subjects: &subjects,
        cache: &quick_builds("databases"),
        store: &mut store,
        observer: &mut (),
        stop: &AtomicBool::new(false),
    };
    let options = Options {
        quick: true,
        ..Options::default()
    };
    let run = laboratory.measure(&suite, &text, &options).unwrap();
    store.load(run).unwrap()
}

/// Returns the one figure of a run, and its costs; `None` if something is not installed.
fn reported(record: &RunRecord) -> Option<(&Estimate, &Costs)> {
    let [result] = record.results.as_slice() else {
        panic!("{:?}", record.results)
    };
    match &result.outcome {
        Outcome::Frame(estimate) => {
            let costs = result.costs.as_ref().expect("the suite asks for costs");
            Some((estimate, costs))
        }
        Outcome::Absent { reason, help, .. } => {
            assert!(help.contains("install"), "{reason}: {help}");
            eprintln!("skipped: {reason} ({help})");
            None
        }
        other => panic!("{other:?}"),
    }
}

/// Checks the server's part by its own clock. The server is no child of the subject's, and works
/// while the subject waits.
fn counts_the_server(database: &str) {
    // The subject that needs least.
    let record = over_a_database(&format!("sql-c/{database}"));
    let Some((estimate, costs)) = reported(&record) else {
        return;
    };
    // The test promises no number of switches. The subject leaves the processor to the server for
    // each answer: it waits, or the woken server takes the processor at once.
    let switched = |finding: &Finding| finding.kind == FindingKind::UnexpectedSwitches;
    assert!(!estimate.findings.iter().any(switched), "{estimate:?}");
    let Resources {
        voluntary,
        involuntary,
        ..
    } = estimate.resources;
    assert!(voluntary + involuntary > 0.5, "{estimate:?}");
    assert!(!costs.ordinary);
    let server = |of: &CostRound| of.server_ns.expect("there is a server");
    let median = |of: &dyn Fn(&CostRound) -> f64| {
        costs.median(|round| Some(of(round))).expect("rounds").value
    };
    let parts = [
        median(&|round| round.subject_ns),
        median(&server),
        median(&|round| round.both_ns()),
    ];
    let [subject, server, both] = parts;
    assert!(subject > 0.0 && server > 0.0, "{parts:?}");
    assert!(both > subject && both > server, "{parts:?}");
    for held in &costs.held {
        let server = held.server.as_ref().expect("it holds memory");
        assert!(server.name.eq_ignore_ascii_case(database), "{held:?}");
        assert!(server.held.pss_bytes > held.subject.pss_bytes, "{held:?}");
    }
}

#[test]
fn a_database_s_server_is_counted_beside_its_subject() {
    counts_the_server("postgresql");
    counts_the_server("mariadb");
}

/// Tests that Go takes ordinary turns. Its run-time looks for other work before it waits for an
/// answer; in real time that would last longer than the server needs.
#[test]
fn who_looks_for_work_while_a_server_answers_takes_ordinary_turns() {
    let record = over_a_database("sql-go/postgresql");
    let Some((_, costs)) = reported(&record) else {
        return;
    };
    let refused = |warning: &String| warning.contains("turns are not taken in real time");
    let are_in_real_time = !record.warnings.iter().any(refused);
    assert_eq!(costs.ordinary, are_in_real_time, "{:?}", record.warnings);
}

//! Whole programs: they take turns, must agree, and their failures are results.

use crate::fixtures::measure_in;
use antiphon_lab::{Outcome, RunRecord};
use antiphon_measure::{RunFigure, WholeRun, run_counter, run_ratio, run_time_ns};
use std::path::Path;

/// A subject whose programs are shell scripts: each names its file after it.
const SUBJECT: &str = r#"
name = "scripts"
language = "sh"
version = ["echo", "1"]
sources = ["programs"]
build = [["cp", "-R", "{source}/programs", "{build}"]]
run = ["sh", "{build}/programs/{program}"]
programs = ["quick", "slow", "wrong", "changing", "failing", "silent", "never_written"]

[[variant]]
name = "plain"
environment = { GREETING = "hello" }
counting = { COUNTING = "yes" }
"#;

const SUITE: &str = r#"
name = "whole"
title = "Whole programs"
subjects = ["scripts/plain"]
[quick]
seconds_per_row = 0.05
relative_half_width = 0.5
[full]
seconds_per_row = 0.05
relative_half_width = 0.1
[[group]]
id = "one"
title = "One"
runs = ["other.same"]
[[group.row]]
kind = "program"
test = "say.{who}.{size}"
label = "{who}"
program = "{who}"
arguments = ["{size}"]
quick_arguments = ["1{size}"]
each = { who = ["quick", "slow", "wrong", "changing", "failing", "silent", "never_written", "unknown"], size = ["5"] }
"#;

/// The scripts; `$1` is the suite's argument.
const SCRIPTS: [(&str, &str); 6] = [
    (
        "quick",
        "echo $GREETING $1; echo '@@ run elapsed_ns=1000 yields=7'; [ -z \"$COUNTING\" ] || echo '{\"p\":3}' >&2",
    ),
    ("slow", "echo $GREETING $1; echo '@@ run elapsed_us=3'"),
    ("wrong", "echo goodbye; echo '@@ run elapsed_ns=1'"),
    ("changing", "date +%N; echo '@@ run elapsed_ns=1'"),
    ("failing", "echo 'it broke' >&2; exit 3"),
    ("silent", "echo $GREETING $1"),
];

fn measured(quick: bool) -> RunRecord {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("subjects/scripts");
    std::fs::create_dir_all(place.join("programs")).unwrap();
    std::fs::write(place.join("subject.toml"), SUBJECT).unwrap();
    for (name, text) in SCRIPTS {
        std::fs::write(place.join("programs").join(name), text).unwrap();
    }
    measure(folder.path(), quick)
}

fn measure(folder: &Path, quick: bool) -> RunRecord {
    let (store, run) = measure_in(folder, SUITE, quick);
    store.load(run).unwrap()
}

fn outcome<'r>(record: &'r RunRecord, program: &str) -> &'r Outcome {
    let test = format!("say.{program}.5");
    let mut results = record.results.iter();
    let found = results.find(|result| result.identity.test == test);
    &found.unwrap_or_else(|| panic!("no {test}")).outcome
}

fn reason<'r>(record: &'r RunRecord, program: &str) -> &'r str {
    match outcome(record, program) {
        Outcome::Absent { reason, .. } => reason,
        other => panic!("{program} has {other:?}"),
    }
}

#[test]
fn programs_that_agree_have_times_ratios_and_counters() {
    // The ballast exceeds these programs' memory, so that the system's figure is ours.
    let ballast = vec![1_u8; 32 << 20];
    let record = measured(false);
    assert!(ballast.iter().all(|byte| *byte == 1));
    let runs = |program| match outcome(&record, program) {
        Outcome::Program { answer, runs, .. } => {
            assert_eq!(
                answer, "hello 5\n",
                "the argument and the environment arrived"
            );
            runs
        }
        other => panic!("{program} has {other:?}"),
    };
    let (quick, slow) = (runs("quick"), runs("slow"));
    assert!(quick.len() >= 3 && quick.len() == slow.len());
    assert_eq!(run_time_ns(slow).unwrap().value, 3000.0);
    let ratio = run_ratio(slow, quick, &RunFigure::Time);
    assert_eq!(ratio.unwrap().value, 3.0);
    assert_eq!(run_counter(quick, "yields"), Some(7.0));
    assert!(quick.iter().all(|run| run.wall_ns > 0));
    let floor = |run: &WholeRun| run.peak_rss_floor_bytes.unwrap_or_default();
    assert!(quick.iter().all(|run| floor(run) > 32 << 20), "{quick:?}");
    assert!(quick.iter().all(WholeRun::peak_is_bound), "{quick:?}");
    assert!(record.ended.is_some());
    let Outcome::Program { counted, .. } = outcome(&record, "quick") else {
        unreachable!("it has runs");
    };
    assert_eq!(counted["p"], 3);
    assert!(
        quick.iter().all(|run| !run.counters.contains_key("p")),
        "the runs that are timed do not count"
    );
}

#[test]
fn a_quick_run_has_arguments_of_its_own() {
    let record = measured(true);
    let answer = |program| match outcome(&record, program) {
        Outcome::Program { answer, .. } => answer.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(answer("quick"), "hello 15\n");
}

#[test]
fn a_wrong_answer_is_an_error_and_not_a_time() {
    let record = measured(false);
    let wrong = reason(&record, "wrong");
    assert!(
        wrong.contains("`goodbye`") && wrong.contains("`hello 5`"),
        "{wrong}"
    );
    let changing = reason(&record, "changing");
    assert!(changing.contains("changes from run to run"), "{changing}");
}

#[test]
fn failures_are_told_with_their_last_words() {
    let record = measured(false);
    assert!(reason(&record, "failing").contains("exit code 3"));
    let Outcome::Absent { last_words, .. } = outcome(&record, "failing") else {
        panic!("it has a figure");
    };
    assert!(last_words.contains("it broke"));
    assert!(reason(&record, "silent").contains("@@ run elapsed_ns"));
    assert!(reason(&record, "never_written").contains("exit code"));
}

#[test]
fn what_no_subject_lists_is_not_planned() {
    let record = measured(false);
    let listed = |test: &str| record.results.iter().any(|r| r.identity.test == test);
    assert!(!listed("say.unknown.5"));
}

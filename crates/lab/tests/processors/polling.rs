//! Polling and sleep of the generator. It takes a processor while it polls.

use crate::fixtures::{measure_in, put, served};
use crate::processors;
use antiphon_lab::{LoadRound, Outcome, ResultRecord, RunRecord};

const SUITE: &str = r#"
name = "polled"
title = "Polled"
subjects = ["served/v"]
[quick]
seconds_per_row = 0.01
relative_half_width = 0.5
[full]
seconds_per_row = 0.01
relative_half_width = 0.1
[[group]]
id = "both"
title = "Both"
runs = ["other.across", "other.same"]
[[group.row]]
kind = "load"
test = "keep"
label = "as it waits by itself"
connections = "2"
path = "/"
body = "hello"
seconds = 0.1
[[group.row]]
kind = "load"
test = "asleep"
label = "as others wait"
sleeps = true
connections = "2"
path = "/"
body = "hello"
seconds = 0.1
"#;

/// Returns whether the generator polled in all rounds of a load, or slept in all.
fn polled(record: &RunRecord, placement: &str, test: &str) -> bool {
    let is_it = |of: &&ResultRecord| of.identity.placement == placement && of.identity.test == test;
    let found = record.results.iter().find(is_it).unwrap();
    let Outcome::Load(load) = &found.outcome else {
        panic!("{found:?}");
    };
    let polled = |round: &LoadRound| round.empty_polls_ns.is_some();
    let rounds: Vec<bool> = load.rounds.iter().map(polled).collect();
    assert!(rounds.len() >= 2, "{rounds:?}");
    assert!(rounds.iter().all(|round| *round == rounds[0]), "{rounds:?}");
    rounds[0]
}

#[test]
fn the_generator_polls_where_it_has_a_processor_for_itself() {
    if std::thread::available_parallelism().unwrap().get() < 2 {
        println!("skipped: there is one processor alone");
        return;
    }
    let _taken = processors();
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "served", &served());
    let (store, run) = measure_in(folder.path(), SUITE, true);
    let record = store.load(run).unwrap();
    // A generator without permission to come first sleeps.
    let polls = antiphon_load::may_come_first();
    assert_eq!(polled(&record, "across", "keep"), polls);
    assert!(!polled(&record, "across", "asleep"));
    assert!(!polled(&record, "same", "keep"));
}

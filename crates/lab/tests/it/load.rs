//! Servers under load: they are started for each round, checked, measured, and ended; their
//! failures are results.

use crate::common::quick;
use crate::fixtures::{measure_in, measure_of, put, served};
use antiphon_lab::build::Cache;
use antiphon_lab::run::Options;
use antiphon_lab::store::Raw;
use antiphon_lab::subject::Subject;
use antiphon_lab::suite::Suite;
use antiphon_lab::{LoadOutcome, LoadRound, Outcome, RunRecord};
use std::path::Path;

const SUITE: &str = r#"
name = "served"
title = "Servers"
subjects = ["server/well", "server/child", "server/late", "server/other", "server/changes", "server/dies", "server/refuses", "server/alone"]
twins = ["server/well", "server/alone"]
[quick]
seconds_per_row = 0.01
relative_half_width = 0.5
[full]
seconds_per_row = 0.01
relative_half_width = 0.1
[[group]]
id = "one"
title = "One"
runs = ["other.free"]
[[group.row]]
kind = "load"
test = "keep.{n}"
label = "{n} connections"
each = { n = ["1", "4"] }
connections = "{n}"
path = "/"
body = "hello"
seconds = 0.3
quick_seconds = 0.1
[[group.row]]
kind = "load"
test = "open"
label = "on a schedule"
subjects = ["server/well"]
connections = "2"
keep_alive = false
per_second = 200
path = "/"
body = "hello"
seconds = 0.1
[[group.row]]
kind = "load"
test = "half"
label = "half of what it can"
subjects = ["server/well"]
connections = "2"
percent_of_closed = "50"
path = "/"
body = "hello"
seconds = 0.2
[[group.row]]
kind = "load"
test = "frozen"
label = "stopped"
subjects = ["server/well"]
connections = "4"
per_second = 500
freeze_ms = 100
path = "/"
body = "hello"
seconds = 0.3
[[group.row]]
test = "call.inter"
label = "not of a server"
"#;

/// Returns a subject whose variants are conducts of the test's server.
fn subject() -> String {
    let conducts = [
        "well", "child", "late", "other", "changes", "dies", "refuses", "alone",
    ];
    let variants = conducts
        .map(|conduct| format!("[[variant]]\nname = \"{conduct}\"\nflags = [\"{conduct}\"]\n"));
    let program = env!("CARGO_BIN_EXE_antiphon-test-server");
    format!(
        r#"
name = "server"
language = "Rust"
version = ["echo", "1"]
sources = ["subject.toml"]
build = [["sh", "-c", "printf '#!/bin/sh\nexec {program} $1 %s $(dirname $0)\n' $0 >run; chmod +x run", "{{flags}}"]]
run = ["{{build}}/run", "{{port}}"]
serves = "http"
{}"#,
        variants.concat()
    )
}

fn put_subject(folder: &Path) {
    let place = folder.join("subjects/server");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("subject.toml"), subject()).unwrap();
}

fn measured(folder: &Path) -> (RunRecord, Vec<(usize, u32, Raw)>) {
    put_subject(folder);
    let (store, run) = measure_in(folder, SUITE, true);
    (store.load(run).unwrap(), store.raws(run).unwrap())
}

fn outcome<'r>(record: &'r RunRecord, subject: &str, test: &str) -> &'r Outcome {
    let found = record.results.iter().find(|result| {
        result.identity.subject == format!("server/{subject}") && result.identity.test == test
    });
    &found
        .unwrap_or_else(|| panic!("no {test} of {subject}"))
        .outcome
}

fn load<'r>(record: &'r RunRecord, subject: &str, test: &str) -> &'r LoadOutcome {
    match outcome(record, subject, test) {
        Outcome::Load(load) => load,
        other => panic!("{subject} has {other:?}"),
    }
}

fn absent<'r>(record: &'r RunRecord, subject: &str, test: &str) -> (&'r str, &'r str) {
    match outcome(record, subject, test) {
        Outcome::Absent {
            reason, last_words, ..
        } => (reason, last_words),
        other => panic!("{subject} has {other:?}"),
    }
}

#[test]
fn servers_are_measured_and_their_failures_are_results() {
    let folder = tempfile::tempdir().unwrap();
    let (record, raws) = measured(folder.path());

    for subject in ["well", "child", "late"] {
        for (test, connections) in [("keep.1", 1), ("keep.4", 4)] {
            let load = load(&record, subject, test);
            let rounds: Vec<u32> = load.rounds.iter().map(|round| round.round).collect();
            assert!(rounds.len() >= 3 && rounds.is_sorted(), "{rounds:?}");
            assert_eq!(load.task.connections, connections);
            assert!(load.median(LoadRound::cpu_ns).unwrap().low > 0.0);
            let all = |fits: fn(&LoadRound) -> bool| load.rounds.iter().all(fits);
            assert!(all(|round| round.answered > 0 && round.p50_ns.is_some()));
            // Without a free processor, the answers of so short a round may all come after the last
            // request.
            assert!(load.rounds.iter().any(|round| round.per_second > 0.0));
            assert!(all(|round| round.pss_bytes > 0
                && round.peak_bytes > 0
                && round.threads > 0));
        }
        // With the first load of each server.
        assert_eq!(load(&record, subject, "keep.1").warm_ups.len(), 1);
        assert!(load(&record, subject, "keep.4").warm_ups.is_empty());
    }
    let twice = load(&record, "well", "keep.4");
    let of = |rounds: &[LoadRound]| rounds.iter().map(|round| round.round).collect::<Vec<_>>();
    assert_eq!(of(&twice.again), of(&twice.rounds));
    assert!(twice.ratio_to_itself(LoadRound::cpu_ns).unwrap().low > 0.0);
    assert!(load(&record, "child", "keep.4").again.is_empty());
    assert!(load(&record, "well", "frozen").again.is_empty());
    assert_eq!(twice.again_failed, None);
    let alone = load(&record, "alone", "keep.4");
    let failed = alone.again_failed.as_ref().expect("the second start fails");
    assert!(alone.again.is_empty() && !alone.rounds.is_empty());
    assert_eq!(failed.last_words, "there is one already");

    let open = load(&record, "well", "open");
    assert!(
        open.rounds
            .iter()
            .all(|round| round.answered + round.unanswered == 20),
        "{open:?}"
    );
    for round in &load(&record, "well", "half").rounds {
        let can = round.closed.expect("it is asked for all it can").per_second;
        let due = (round.answered + round.unanswered) as f64;
        assert!((due - 0.5 * can * 0.2).abs() <= 2.0, "{round:?}");
    }
    assert!(open.rounds.iter().all(|round| round.closed.is_none()));
    // The thread that freezes it may get a processor too late in a round.
    let frozen = load(&record, "well", "frozen");
    let is_seen = |round: &LoadRound| round.freeze.unwrap().is_seen();
    assert!(frozen.rounds.iter().any(is_seen), "{frozen:?}");

    let (reason, _) = absent(&record, "other", "keep.1");
    assert!(reason.contains("`goodbye`"), "{reason}");
    let (reason, _) = absent(&record, "changes", "keep.1");
    assert!(
        reason.contains("the body differs") || reason.contains("failed"),
        "{reason}"
    );
    let (reason, words) = absent(&record, "dies", "keep.1");
    assert!(reason.contains("ended"), "{reason}");
    assert!(words.contains("out of something"), "{words}");
    let (reason, words) = absent(&record, "refuses", "keep.4");
    assert!(reason.contains("before it accepted"), "{reason}");
    assert_eq!(words, "no licence");

    let histograms = raws.iter().filter(|(_, _, raw)| matches!(raw, Raw::Note { name, json } if name == "load" && json.contains("\"latencies\":\"HISTF")));
    assert!(histograms.count() >= 15);
    // No server is noted as running any more.
    assert_eq!(
        std::fs::read_dir(folder.path().join("cache/serving"))
            .unwrap()
            .count(),
        0
    );
}

/// Suite with a server on one processor with its client, which waits for each answer.
const IN_TURNS: &str = concat!(
    r#"
name = "turns"
title = "In turns"
subjects = ["served/v"]
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "one"
title = "One"
runs = ["other.same"]
[[group.row]]
kind = "load"
test = "one"
label = "one connection"
connections = "1"
path = "/"
body = "hello"
seconds = 0.1
"#
);

#[test]
fn a_server_in_turns_with_its_client_leaves_the_processor_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "served", &served());
    let (store, run) = measure_in(folder.path(), IN_TURNS, true);
    let record = store.load(run).unwrap();
    let Outcome::Load(load) = &record.results[0].outcome else {
        panic!("{:?}", record.results[0]);
    };
    // The thread of a connection closed before may end in a round, which then has no count.
    let both = |round: &LoadRound| Some(round.voluntary()? + round.involuntary()?);
    let counted: Vec<f64> = load.rounds.iter().filter_map(both).collect();
    assert!(!counted.is_empty(), "{load:?}");
    assert!(counted.iter().all(|each| *each > 0.9), "{counted:?}");
}

#[test]
fn more_time_than_the_suite_asks_for_brings_more_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    put_subject(folder);
    let suite = SUITE.replace("relative_half_width = 0.5", "relative_half_width = 1e-9");
    let rounds = |time_budget_s| {
        let options = Options {
            only: vec!["keep.4".into()],
            time_budget_s,
            ..quick(&["server/late"])
        };
        let cache = Cache::at(folder.join("cache"));
        let subjects = folder.join("subjects");
        let (store, run) = measure_of(&subjects, &cache, folder, &suite, &options);
        let record = store.load(run).unwrap();
        load(&record, "late", "keep.4").rounds.len()
    };
    assert_eq!(rounds(None), 3);
    // On a busy machine starting and warming the server may take up the least of these.
    assert!(
        [5.0, 20.0, 60.0]
            .into_iter()
            .any(|seconds| rounds(Some(seconds)) > 3)
    );
}

#[test]
fn faults_of_rows_and_subjects_are_named() {
    let faults = |text: &str| Suite::parse("served.toml", text).unwrap_err().to_string();
    let cases = [
        (
            "connections = \"{n}\"",
            "connections = \"{m}\"",
            "`{m}` is no placeholder",
        ),
        (
            "n = [\"1\", \"4\"]",
            "n = [\"1\", \"0\"]",
            "`0` is no number of connections",
        ),
        ("seconds = 0.3\nquick", "quick", "needs `seconds`"),
        ("per_second = 500\n", "", "open schedule alone"),
        (
            "freeze_ms = 100",
            "freeze_ms = 3_600_000_000",
            "a freeze is not shorter than its round; write a shorter `freeze_ms`",
        ),
        (
            "freeze_ms = 100",
            "freeze_ms = 100\nquick_seconds = 0.1",
            "a freeze is not shorter than its round",
        ),
        (
            "per_second = 200",
            "per_second = 200\nby = \"wrk\"",
            "wrk has no open schedule",
        ),
        ("per_second = 200", "by = \"wrak\"", "did you mean `wrk`"),
        (
            "per_second = 200",
            "by = \"wrk\"\nsleeps = true",
            "wrk sleeps while it waits anyway; remove `sleeps` or `by`",
        ),
        (
            "per_second = 200",
            "per_second = 200\npercent_of_closed = \"50\"",
            "a schedule has one rate",
        ),
        (
            "percent_of_closed = \"50\"",
            "percent_of_closed = \"120\"",
            "`120` is no percentage of what a server answers",
        ),
        (
            "percent_of_closed = \"50\"",
            "percent_of_closed = \"50\"\nby = \"wrk\"",
            "remove `percent_of_closed` or `by`",
        ),
        (
            "per_second = 500",
            "percent_of_closed = \"50\"",
            "open schedule alone",
        ),
        (
            "path = \"/\"",
            "path = \"api\"",
            "does not begin with a slash",
        ),
    ];
    for (right, wrong, reported) in cases {
        let text = SUITE.replacen(right, wrong, 1);
        assert_ne!(text, SUITE, "{right}");
        let faults = faults(&text);
        assert!(faults.contains(reported), "{wrong}: {faults}");
    }
    let claims = r#"
[[servers]]
id = "a"
title = "A"
source = "somebody"
claim = [{ text = "t", quantity = "cpuu", of = "server/well", against = "server/wel", tests = ["keep.2"], run = "other.free", at_most = 1.0 }]
"#;
    let faults = faults(&format!("{SUITE}{claims}"));
    for reported in [
        "did you mean `cpu`",
        "`server/wel` is no subject",
        "`keep.2` as a load",
    ] {
        assert!(faults.contains(reported), "{reported}: {faults}");
    }
    let claimed = |claim: &str| {
        let set = "[[servers]]\nid = 'a'\ntitle = 'A'\nsource = 's'\nclaim = [{ text = 't', of = 'server/well', tests = ['keep.1'], run = 'other.free', ";
        Suite::parse("served.toml", &format!("{SUITE}{set}{claim} }}]\n"))
    };
    for (claim, reported) in [
        ("quantity = 'requests', at_most = 1.0", "`against`"),
        (
            "quantity = 'starved', against = 'server/late', at_most = 0",
            "no share of starved connections",
        ),
        (
            "quantity = 'starved', at_most = -1",
            "no fewer connections than 0",
        ),
        ("quantity = 'starved', at_least = 1", "`at_most`"),
        ("quantity = 'memory', at_most = 0", "must be above 0"),
    ] {
        let faults = claimed(claim).unwrap_err().to_string();
        assert!(faults.contains(reported), "{claim}: {faults}");
    }
    for claim in [
        "quantity = 'starved', at_most = 0",
        "quantity = 'memory', at_most = 8_000_000",
    ] {
        let suite = claimed(claim).unwrap();
        assert!(suite.servers[0].claims[0].is_absolute(), "{claim}");
    }
    let folder = tempfile::tempdir().unwrap();
    let text = subject()
        .replace("\"http\"", "\"gopher\"")
        .replace("version", "programs = [\"a\"]\nversion");
    std::fs::write(folder.path().join("subject.toml"), text).unwrap();
    let faults = Subject::load(folder.path()).unwrap_err().to_string();
    assert!(
        faults.contains("`gopher` is nothing") && faults.contains("not both"),
        "{faults}"
    );
}

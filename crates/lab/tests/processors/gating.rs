//! Gate against other programs: a full run repeats disturbed measurements, a quick one marks them.

use crate::fixtures::{measure_in, put, served};
use crate::others::Others;
use crate::processors;
use antiphon_lab::{Foreign, LoadRound, Outcome, ResultRecord, RunRecord};

const SUITE: &str = r#"
name = "gated"
title = "Gated"
subjects = ["framed/v", "run/v", "served/v"]
[quick]
seconds_per_row = 0.1
relative_half_width = 0.01
[full]
seconds_per_row = 0.1
relative_half_width = 0.01
[[group]]
id = "all"
title = "All"
runs = ["other.across"]
[[group.row]]
test = "self.dearer"
label = "a frame"
subjects = ["framed/*"]
[[group.row]]
kind = "program"
test = "waits"
label = "a program"
program = "waits"
arguments = []
rounds = 3
subjects = ["run/*"]
[[group.row]]
kind = "load"
test = "load"
label = "a load"
connections = "1"
path = "/"
body = "hello"
# Who polls leaves others a part of one processor alone.
sleeps = true
seconds = 0.1
subjects = ["served/*"]
"#;

/// Longer than errors of the kernel's account.
const WAITS: &str = "sleep 0.1; echo done; echo '@@ run elapsed_ns=1000'";

fn measured(quick: bool) -> RunRecord {
    let folder = tempfile::tempdir().unwrap();
    let framed = env!("CARGO_BIN_EXE_antiphon-test-subject");
    let framed = format!("sources = []\nbuild = []\nrun = [{framed:?}]\n");
    let run = "sources = ['waits']\nbuild = [['cp', '{source}/waits', '{build}']]\n\
               run = ['sh', '{build}/{program}']\nprograms = ['waits']\n";
    put(folder.path(), "framed", &framed);
    put(folder.path(), "run", run);
    put(folder.path(), "served", &served());
    std::fs::write(folder.path().join("subjects/run/waits"), WAITS).unwrap();
    let (store, run) = measure_in(folder.path(), SUITE, quick);
    store.load(run).unwrap()
}

fn result<'r>(record: &'r RunRecord, test: &str) -> &'r ResultRecord {
    let mut results = record.results.iter();
    results
        .find(|result| result.identity.test == test)
        .unwrap_or_else(|| panic!("no result of {test}"))
}

/// Returns the use by others during a frame or program.
fn foreign<'r>(record: &'r RunRecord, test: &str) -> &'r Foreign {
    let result = result(record, test);
    let [foreign] = result.foreign.as_slice() else {
        panic!("{result:?}")
    };
    assert!(foreign.was_disturbed(), "{test}: {foreign:?}");
    foreign
}

fn rounds(record: &RunRecord) -> &[LoadRound] {
    let Outcome::Load(load) = &result(record, "load").outcome else {
        panic!("{:?}", result(record, "load"))
    };
    assert!(load.rounds.iter().all(LoadRound::was_disturbed));
    &load.rounds
}

#[test]
fn what_others_disturb_is_measured_again_in_a_full_run() {
    let _taken = processors();
    let _others = Others::spin();
    let record = measured(false);
    assert_eq!(foreign(&record, "self.dearer").attempts, 3);
    // The first of three runs was made three times in vain, so the others were made once.
    assert_eq!(foreign(&record, "waits").attempts, 3);
    let Outcome::Program { runs, .. } = &result(&record, "waits").outcome else {
        panic!("{:?}", result(&record, "waits"))
    };
    assert_eq!(runs.len(), 3, "what is made again is no further run");
    let attempts: Vec<u32> = rounds(&record).iter().map(|round| round.attempts).collect();
    assert_eq!(attempts[..3], [3, 1, 1]);

    let record = measured(true);
    assert_eq!(foreign(&record, "self.dearer").attempts, 1);
    assert_eq!(foreign(&record, "waits").attempts, 1);
    assert!(rounds(&record).iter().all(|round| round.attempts == 1));
}

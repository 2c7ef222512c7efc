//! Servers under load: tables by figure, plots over connections, memory, starved connections,
//! claims judged by paired rounds.

mod context_switches;
mod exported_figures;
mod limited_or_disturbed;
mod memory;
mod moved_processors;
mod other_generators;
mod percentiles;
mod second_start;
mod server_claims;
mod starvation;
mod tables_and_plots;
mod warm_up;

use crate::sample::{drawn, empty_run, identity, result, section};
use antiphon_lab::{
    ContextSwitches, Freeze, Generator, LoadOutcome, LoadRound, LoadTask, Outcome, RunRecord,
    WarmSlice, WarmUp,
};
use antiphon_load::Latency;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Document, Note, Plot, Table};
use std::collections::BTreeMap;

const SUITE: &str = concat!(
    r#"
name = "r"
title = "R"
subjects = ["ada/tasks", "java/grizzly"]
"#,
    include_str!("../../../../lab/tests/common/small_sizes.toml"),
    r#"[[group]]
id = "over"
title = "Over concurrency"
runs = ["other.across"]
[[group.row]]
kind = "load"
test = "keep.{n}"
label = "{n} connections"
each = { n = ["1", "64"] }
connections = "{n}"
path = "/api"
body = "x"
seconds = 1.0
[[servers]]
id = "article"
title = "The article"
text = "What   it says."
source = "the article"
claim = [
    { text = "Memory by ten", quantity = "memory", of = "ada/tasks", against = "java/grizzly", tests = ["keep.64"], run = "other.across", at_most = 0.1, published = 0.0062 },
    { text = "Twice the requests", quantity = "requests", of = "ada/tasks", against = "java/grizzly", tests = ["keep.64"], run = "other.across", at_least = 2.0 },
    { text = "Half the latency", quantity = "p99", of = "ada/tasks", against = "java/grizzly", tests = ["keep.1", "keep.64"], run = "other.across", at_most = 0.5 },
    { text = "At most ten megabytes", quantity = "memory", of = "ada/tasks", tests = ["keep.64"], run = "other.across", at_most = 10000000 },
    { text = "Grizzly in as much", quantity = "memory", of = "java/grizzly", tests = ["keep.64"], run = "other.across", at_most = 10000000 },
    { text = "Nobody starves", quantity = "starved", of = "ada/tasks", tests = ["keep.1", "keep.64"], run = "other.across", at_most = 0 },
    { text = "Nor here", quantity = "starved", of = "java/grizzly", tests = ["keep.64"], run = "other.across", at_most = 0 },
    { text = "Half the cost", quantity = "cpu", of = "ada/tasks", against = "java/grizzly", tests = ["keep.1", "keep.64"], run = "other.across", at_most = 0.4 },
]
"#
);

fn task(connections: usize) -> LoadTask {
    LoadTask {
        path: "/api".into(),
        body: "x".into(),
        connections,
        keep_alive: true,
        per_second: None,
        percent_of_closed: None,
        freeze_ms: None,
        by: Generator::Antiphon,
        sleeps: false,
        seconds: 1.0,
    }
}

/// Returns three rounds of a server with this processor time a request, ns, and this memory, MiB.
/// The machine is slow in the second round.
fn load(connections: usize, cpu_ns: u64, mib: u64) -> LoadOutcome {
    let round = |(round, slow): (u32, u64)| LoadRound {
        round,
        answered: 1000,
        per_second: 1e9 / (cpu_ns * slow) as f64,
        server_cpu_ns: 1000 * cpu_ns * slow,
        p50_ns: Some(100_000 * slow),
        p99_ns: Some(200_000 * slow),
        p999_ns: Some(300_000 * slow),
        longest_ns: Some(400_000 * slow),
        fairness: Some(1.0),
        pss_bytes: mib << 20,
        peak_bytes: mib << 21,
        threads: 9,
        attempts: 1,
        ..LoadRound::default()
    };
    LoadOutcome {
        task: task(connections),
        rounds: [(0, 1), (1, 10), (2, 1)].map(round).to_vec(),
        again: Vec::new(),
        again_failed: None,
        warm_ups: Vec::new(),
    }
}

fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite = "r".into();
    run.suite_toml = SUITE.into();
    let at = |test: &str, subject: &str, load: LoadOutcome| {
        result(
            identity(test, subject, "other", "across"),
            Outcome::Load(Box::new(load)),
        )
    };
    let mut first = load(1, 5000, 8);
    let slice = |at_ns, cpu_ns| WarmSlice {
        at_ns,
        cpu_ns,
        per_second: 1.0,
        compiling: 0.0,
    };
    first.warm_ups = vec![WarmUp {
        round: 0,
        slices: vec![slice(100, 9000.0), slice(200, 5000.0)],
        is_warm: true,
    }];
    // The same server again, 2 % more expensive.
    first.again = load(1, 5100, 8).rounds;
    let mut starving = load(64, 12_000, 200);
    starving.rounds[1].starved = vec![0, 7];
    starving.rounds[2].starved = vec![3];
    starving.rounds[1].fairness = Some(0.5);
    let freeze = |longest_ns, long| Freeze {
        frozen_ns: 200_000_000,
        longest_ns,
        long,
        owed: 200,
    };
    starving.rounds[0].freeze = Some(freeze(210_000_000, 200));
    starving.rounds[1].freeze = Some(freeze(5_000_000, 0));
    starving.rounds[2].freeze = Some(freeze(210_000_000, 200));
    run.results = vec![
        at("keep.1", "ada/tasks", first),
        at("keep.1", "java/grizzly", load(1, 10_000, 190)),
        at("keep.64", "ada/tasks", load(64, 5000, 9)),
        at("keep.64", "java/grizzly", starving),
    ];
    run
}

fn tables(document: &Document, id: &str) -> Vec<Table> {
    let tables = section(document, id)
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Table(table) => Some(table.clone()),
            _ => None,
        });
    tables.collect()
}

fn plots(document: &Document, id: &str) -> Vec<Plot> {
    drawn(section(document, id)).into_iter().cloned().collect()
}

fn notes(document: &Document, id: &str) -> Vec<Note> {
    let notes = section(document, id)
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Notes { notes } => Some(notes.clone()),
            _ => None,
        });
    notes.flatten().collect()
}

fn of(run: &mut RunRecord, result: usize) -> &mut LoadOutcome {
    match &mut run.results[result].outcome {
        Outcome::Load(load) => load,
        other => panic!("no load in {other:?}"),
    }
}

/// Returns the verdicts of a run, by claim.
fn verdicts(run: &RunRecord) -> BTreeMap<String, String> {
    let table = tables(&compose(run), "load-claims").remove(0);
    let rows = table.rows.into_iter();
    rows.map(|row| match &row.cells[0] {
        Cell::Text { text } => (row.label.clone(), text.clone()),
        other => panic!("no text in {other:?}"),
    })
    .collect()
}

/// Returns a run in which these rounds of these results are changed.
fn changed(results: &[usize], rounds: usize, change: fn(&mut LoadRound)) -> RunRecord {
    let mut run = run();
    of(&mut run, 3)
        .rounds
        .iter_mut()
        .for_each(|round| round.starved.clear());
    for result in results {
        of(&mut run, *result).rounds[..rounds]
            .iter_mut()
            .for_each(change);
    }
    run
}

/// Returns a run whose second of four rounds has processors farther apart.
fn moved() -> RunRecord {
    let mut run = run();
    let load = of(&mut run, 2);
    load.rounds.push(load.rounds[2].clone());
    let about = [120.0, 330.0, 125.0, 118.0];
    for (round, about) in load.rounds.iter_mut().zip(about) {
        round.core_to_core_ns = Some([about, about]);
    }
    run
}

/// Returns a run whose first server waits this often in its rounds of a thousand requests, and is
/// never preempted.
fn waits(voluntary: [u64; 3]) -> RunRecord {
    let mut run = run();
    for (round, voluntary) in of(&mut run, 2).rounds.iter_mut().zip(voluntary) {
        round.switches = Some(ContextSwitches {
            voluntary,
            involuntary: 0,
        });
    }
    run
}

/// Creates ten rounds of 200 requests of 0.3 ms. In two of them the server paused, and 20 waited
/// from 100 ms on downwards for its end.
fn paused(run: &mut RunRecord) {
    let load = of(run, 3);
    let round = |number: u32| {
        let waits = (0..200).map(|request| match (number, request) {
            (3 | 7, 0..20) => (100_000_000 - request * 5_000_000, 1),
            _ => (300_000, 1),
        });
        let latency = Latency::from(waits.collect::<Vec<(u64, u64)>>());
        LoadRound {
            round: number,
            answered: 200,
            p50_ns: Some(latency.at(0.5)),
            p99_ns: Some(latency.at(0.99)),
            p999_ns: None,
            longest_ns: Some(latency.longest()),
            latencies: latency.packed(),
            starved: Vec::new(),
            freeze: None,
            ..load.rounds[0].clone()
        }
    };
    load.rounds = (0..10).map(round).collect();
}

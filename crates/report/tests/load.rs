//! Servers under load: tables by figure, plots over connections, memory, starved connections named, claims judged by paired rounds.

mod sample;

use antiphon_lab::{
    Freeze, Generator, LoadOutcome, LoadRound, LoadTask, Outcome, RunRecord, WarmSlice, WarmUp,
};
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Document, Note, Plot, Table, Weight};
use antiphon_report::export::{csv, xlsx};
use sample::{empty_run, identity, result, section};

const SUITE: &str = concat!(
    r#"
name = "r"
title = "R"
subjects = ["ada/tasks", "java/grizzly"]
"#,
    include_str!("../../lab/tests/common/small_sizes.toml"),
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
        freeze_ms: None,
        by: Generator::Antiphon,
        seconds: 1.0,
    }
}

/// Three rounds of a server that needs so much a request, ns, and holds so much memory, MiB. The machine is slow in the second round.
fn load(connections: usize, cpu_ns: u64, mib: u64) -> LoadOutcome {
    let round = |(round, slow): (u32, u64)| LoadRound {
        round,
        answered: 1000,
        per_second: 1e9 / (cpu_ns * slow) as f64,
        server_cpu_ns: 1000 * cpu_ns * slow,
        p50_ns: 100_000 * slow,
        p99_ns: 200_000 * slow,
        p999_ns: 300_000 * slow,
        longest_ns: 400_000 * slow,
        fairness: 1.0,
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
        is_warm: false,
    }];
    // The same server again, 2 % dearer.
    first.again = load(1, 5100, 8).rounds;
    let mut starving = load(64, 12_000, 200);
    starving.rounds[1].starved = vec![0, 7];
    starving.rounds[2].starved = vec![3];
    starving.rounds[1].fairness = 0.5;
    starving.rounds[0].freeze = Some(Freeze {
        frozen_ns: 200_000_000,
        longest_ns: 5_000_000,
        long: 0,
        owed: 200,
    });
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
    let plots = section(document, id)
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Plot(plot) => Some(plot.clone()),
            _ => None,
        });
    plots.collect()
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

#[test]
fn what_a_request_costs_comes_first() {
    let document = compose(&run());
    let tables = tables(&document, "group-over");
    assert!(
        tables[0].title.contains("Processor time"),
        "{}",
        tables[0].title
    );
    assert!(tables[1].title.contains("Requests a second"));
    let Cell::Figure(cost) = &tables[0].rows[1].cells[1] else {
        panic!("no figure in {:?}", tables[0].rows[1]);
    };
    assert_eq!((cost.value, cost.high), (12_000.0, 120_000.0));
    assert!(cost.marks.iter().any(|mark| mark.word == "starves"));
    // The table of everything has the share of the first server, by rounds.
    let full = tables.last().unwrap();
    let Cell::Figure(share) = &full.rows[1].cells[1] else {
        panic!("no share in {:?}", full.rows[1]);
    };
    assert_eq!(share.value, 2.4);
    // All rounds agree; by how much another start might differ, one cannot show.
    let unseen = 2.4 * 0.039;
    assert!((share.high - 2.4 - unseen).abs() < 0.01 && (2.4 - share.low - unseen).abs() < 0.01);
}

#[test]
fn curves_go_over_connections_and_memory_has_a_row_a_server() {
    let document = compose(&run());
    let curves = plots(&document, "group-over");
    assert_eq!(curves.len(), 3);
    let xs: Vec<f64> = curves[0].series[0]
        .points
        .iter()
        .map(|point| point.x)
        .collect();
    assert_eq!(xs, [1.0, 64.0]);
    let memory = &plots(&document, "load-memory")[0];
    assert_eq!(memory.categories, ["ada/tasks", "java/grizzly"]);
    // What it was after the last load.
    assert_eq!(memory.series[0].points[0].x, (9_u64 << 20) as f64);
}

#[test]
fn starved_connections_and_an_unseen_freeze_are_told() {
    let notes = notes(&compose(&run()), "group-over");
    let starved = notes
        .iter()
        .find(|note| note.text.contains("starved"))
        .unwrap();
    assert!(
        starved
            .text
            .contains("in 2 of 3 rounds connections were starved, at worst 2 of 64 (1, 8)"),
        "{}",
        starved.text
    );
    assert_eq!(starved.weight, Weight::Warning);
    assert!(
        notes
            .iter()
            .any(|note| note.weight == Weight::Error && note.text.contains("did not see a freeze"))
    );
}

#[test]
fn a_server_that_holds_more_after_each_round_is_named() {
    let grown = |held: [u64; 4]| {
        let mut run = run();
        for result in &mut run.results {
            let Outcome::Load(load) = &mut result.outcome else {
                panic!("no load in {result:?}");
            };
            let round = |(number, mib): (u32, u64)| LoadRound {
                round: number,
                answered: 1 << 19,
                pss_bytes: mib << 20,
                ..load.rounds[0].clone()
            };
            if result.identity.subject == "java/grizzly" {
                load.rounds = (0..).zip(held).map(round).collect();
            }
        }
        notes(&compose(&run), "load-memory")
    };
    // A heap that settles, one that is swept, and one that hardly grows.
    for held in [
        [100, 150, 160, 165],
        [100, 110, 105, 115],
        [1000, 1001, 1002, 1003],
    ] {
        assert_eq!(grown(held).len(), 0, "{held:?}");
    }
    let leaks = grown([100, 104, 108, 112]);
    assert_eq!(leaks.len(), 1);
    assert!(leaks[0].about.contains("java/grizzly"), "{leaks:?}");
    // 12 MiB in three rounds of two loads with half a mebi of requests each.
    assert!(
        leaks[0].text.contains("4.00\u{202f}B a request"),
        "{leaks:?}"
    );
}

#[test]
fn starving_once_is_told_and_does_not_mark_the_server() {
    let mut run = run();
    let Outcome::Load(load) = &mut run.results[3].outcome else {
        panic!("no load in {:?}", run.results[3]);
    };
    load.rounds[2].starved.clear();
    let document = compose(&run);
    let notes = notes(&document, "group-over");
    let starved = notes.iter().find(|note| note.text.contains("starved"));
    let starved = starved.unwrap();
    assert!(starved.text.contains("the machine"), "{}", starved.text);
    assert_eq!(starved.weight, Weight::Info);
    let Cell::Figure(cost) = &tables(&document, "group-over")[0].rows[1].cells[1] else {
        panic!("no figure");
    };
    assert!(cost.marks.iter().all(|mark| mark.word != "starves"));
}

#[test]
fn a_server_that_stayed_cold_is_named_beside_its_curve() {
    let document = compose(&run());
    assert_eq!(
        plots(&document, "load-warm-up")[0].series[0].points.len(),
        2
    );
    assert!(
        notes(&document, "load-warm-up")[0]
            .text
            .contains("after 1 of 1 starts")
    );
}

#[test]
fn claims_are_judged_within_rounds() {
    let table = &tables(&compose(&run()), "load-claims")[0];
    let text = |row: usize, column: usize| match &table.rows[row].cells[column] {
        Cell::Text { text } => text.clone(),
        other => panic!("no text in {other:?}"),
    };
    assert_eq!(text(0, 0), "yes");
    assert!(text(0, 1).contains("published"), "{}", text(0, 1));
    // 5000 of 10 000 in one load is too much; 5000 of 12 000 in the other, too.
    assert!(text(1, 0).starts_with("no: in 0 of 2"), "{}", text(1, 0));
}

#[test]
fn every_figure_is_exported() {
    let text = csv::runs(&[run()]).unwrap();
    for figure in [
        "load_cpu",
        "load_per_second",
        "load_p999",
        "load_starved",
        "load_pss",
    ] {
        assert!(text.contains(figure), "{figure}");
    }
    assert!(xlsx::render(&compose(&run())).is_ok_and(|bytes| !bytes.is_empty()));
}

#[test]
fn a_server_that_was_started_twice_shows_the_noise() {
    let document = compose(&run());
    let [cpu, rate] = &tables(&document, "load-noise")[..] else {
        panic!("two tables");
    };
    let [row] = &cpu.rows[..] else {
        panic!("one load was measured twice: {:?}", cpu.rows);
    };
    let [Cell::Figure(share)] = &row.cells[..] else {
        panic!("one server was started twice: {:?}", row.cells);
    };
    assert!((share.value - 1.02).abs() < 1e-9, "{}", share.value);
    assert!(cpu.caption.contains("2.00"), "{}", cpu.caption);
    assert!(rate.title.starts_with("Requests a second"));
    let full = tables(&document, "group-over");
    let full = full.iter().find(|table| table.folded).unwrap();
    assert!(full.caption.contains("ada/tasks 1.02"), "{}", full.caption);
}

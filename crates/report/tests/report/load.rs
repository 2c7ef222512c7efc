//! Servers under load: tables by figure, plots over connections, memory, starved connections named, claims judged by paired rounds.

use crate::sample::{self, drawn, empty_run, identity, result, section};
use antiphon_lab::{
    Absence, ClosedLoop, ContextSwitches, Freeze, Generator, LoadOutcome, LoadRound, LoadTask,
    Outcome, RunRecord, WaitsDiffer, WarmSlice, WarmUp, agreements,
};
use antiphon_load::{Latency, Packed};
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Document, Figure, Note, Plot, Table, Unit, Weight};
use antiphon_report::export::{csv, json, xlsx};
use std::collections::BTreeMap;

const SUITE: &str = concat!(
    r#"
name = "r"
title = "R"
subjects = ["ada/tasks", "java/grizzly"]
"#,
    include_str!("../../../lab/tests/common/small_sizes.toml"),
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

/// Three rounds of a server that needs so much a request, ns, and holds so much memory, MiB. The machine is slow in the second round.
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
    // The same server again, 2 % dearer.
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
    let unseen = 2.4 * 0.055;
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

/// Two loads that are parts of what each can, 200 and 300 requests a second.
#[test]
fn parts_of_what_a_server_can_have_plots_of_their_own() {
    let mut run = run();
    run.suite_toml = run.suite_toml.replacen(
        "seconds = 1.0\n",
        "seconds = 1.0\n[[group]]\nid = \"parts\"\ntitle = \"Parts\"\nruns = [\"other.across\"]\n[[group.row]]\nkind = \"load\"\ntest = \"of.{p}\"\n\
         label = \"{p} %\"\neach = { p = [\"50\", \"80\"] }\nconnections = \"64\"\npercent_of_closed = \"{p}\"\npath = \"/api\"\nbody = \"x\"\nseconds = 1.0\n",
        1,
    );
    for (subject, can) in [("ada/tasks", 200.0), ("java/grizzly", 300.0)] {
        for percent in [50.0, 80.0] {
            let mut load = load(64, 5000, 9);
            load.task.percent_of_closed = Some(percent);
            for round in &mut load.rounds {
                round.closed = Some(ClosedLoop {
                    per_second: can,
                    generator_share: 0.5,
                });
            }
            let identity = identity(&format!("of.{percent}"), subject, "other", "across");
            run.results
                .push(result(identity, Outcome::Load(Box::new(load))));
        }
    }
    let document = compose(&run);
    let curves = plots(&document, "group-parts");
    let titles: Vec<&str> = curves.iter().map(|plot| plot.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Processor time of the server a request over load (other, across)",
            "Latency at 99 % over load (other, across)"
        ]
    );
    for server in &curves[1].series {
        let at: Vec<f64> = server.points.iter().map(|point| point.x).collect();
        assert_eq!(at, [50.0, 80.0]);
    }
    let full = tables(&document, "group-parts");
    let full = full.iter().find(|table| table.folded).unwrap();
    let titles = |table: &Table| -> Vec<String> {
        let columns = table.columns.iter();
        columns.map(|column| column.title.clone()).collect()
    };
    let can = titles(full)
        .iter()
        .position(|title| title == "In closed loop/s");
    let Cell::Figure(of_java) = &full.rows[1].cells[can.unwrap()] else {
        panic!("no rate in {:?}", full.rows[1]);
    };
    assert_eq!(of_java.value, 300.0);
    // Other loads have no such column, and no such points.
    let others = tables(&document, "group-over");
    assert!(
        others
            .iter()
            .all(|table| !titles(table).contains(&"In closed loop/s".to_owned()))
    );
    assert_eq!(plots(&document, "group-over").len(), 3);
    assert!(
        csv::runs(&[run])
            .unwrap()
            .contains("load_closed_per_second")
    );
}

/// A part of what the generator could send is none of what the server can.
#[test]
fn a_closed_loop_that_the_generator_limited_marks_its_parts() {
    let mut round = LoadRound {
        generator_share: 0.5,
        ..LoadRound::default()
    };
    assert!(!round.generator_was_busy());
    round.closed = Some(ClosedLoop {
        per_second: 1.0,
        generator_share: 0.95,
    });
    assert!(round.generator_was_busy());
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
    // One that fails counts, wherever among the others it is.
    let freeze = notes.iter().find(|note| note.weight == Weight::Error);
    let freeze = &freeze.expect("an error").text;
    assert!(
        freeze.contains("did not see a freeze: 2 of 3 were seen") && freeze.contains("5.00"),
        "{freeze}"
    );
}

#[test]
fn a_server_that_holds_more_after_each_round_is_named() {
    let with = |held: [u64; 4], change: &dyn Fn(&mut RunRecord)| {
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
        change(&mut run);
        notes(&compose(&run), "load-memory")
    };
    let grown = |held| with(held, &|_| {});
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
    // The same process served the other placement, too: one note, and all its requests.
    let placed = with([100, 104, 108, 112], &|run| {
        run.results[3].identity.placement = "same".into();
    });
    assert_eq!(placed, leaks);
    // A virtual machine's heap grows to its limit before anything is thrown away.
    let java = with([100, 104, 108, 112], &|run| {
        run.subjects = sample::many_subjects();
        run.subjects.truncate(1);
        run.subjects[0].id = "java/grizzly".into();
        run.subjects[0].language = "Java".into();
    });
    assert_eq!(java.len(), 0, "{java:?}");
}

/// What is told of a server that starves in one of its rounds, and whether its figures are marked.
fn starving_once(change: impl Fn(&mut RunRecord)) -> (Note, bool) {
    let mut run = run();
    of(&mut run, 3).rounds[2].starved.clear();
    change(&mut run);
    let document = compose(&run);
    let notes = notes(&document, "group-over");
    let told = notes
        .into_iter()
        .find(|note| note.about.contains("java/grizzly") && note.text.contains("starved"));
    let tables = tables(&document, "group-over");
    let row = tables[0]
        .rows
        .iter()
        .find(|row| row.label == "java/grizzly");
    let Some(Cell::Figure(cost)) = row.and_then(|row| row.cells.last()) else {
        panic!("no figure in {row:?}");
    };
    let marked = cost.marks.iter().any(|mark| mark.word == "starves");
    (told.expect("it is told"), marked)
}

fn of(run: &mut RunRecord, result: usize) -> &mut LoadOutcome {
    match &mut run.results[result].outcome {
        Outcome::Load(load) => load,
        other => panic!("no load in {other:?}"),
    }
}

#[test]
fn a_server_that_starves_alone_is_not_excused() {
    let (note, marked) = starving_once(|_| ());
    assert!(note.text.contains("it is this server"), "{}", note.text);
    assert!(note.weight == Weight::Warning && marked);
}

#[test]
fn starving_beside_others_may_be_the_machine_s() {
    let (note, marked) = starving_once(|run| of(run, 0).rounds[1].starved = vec![0]);
    assert!(note.text.contains("the machine"), "{}", note.text);
    assert!(note.weight == Weight::Info && !marked);
    // One that always starves excuses nobody.
    let (note, _) = starving_once(|run| {
        for round in &mut of(run, 2).rounds {
            round.starved = vec![0];
        }
    });
    assert!(note.text.contains("it is this server"), "{}", note.text);
    let (note, marked) =
        starving_once(|run| run.results.retain(|of| of.identity.subject != "ada/tasks"));
    assert!(
        note.text.contains("No other server took turns"),
        "{}",
        note.text
    );
    assert!(note.weight == Weight::Info && !marked);
}

#[test]
fn rounds_of_the_second_start_count() {
    let (note, marked) = starving_once(|run| {
        of(run, 0).rounds[1].starved = vec![0];
        let again = of(run, 3).rounds.clone();
        of(run, 3).again = again;
        for round in &mut of(run, 3).again {
            round.starved = vec![4, 5, 6];
        }
    });
    assert!(
        note.text.contains("in 4 of 6 rounds of its two starts")
            && note.text.contains("at worst 3 of 64"),
        "{}",
        note.text
    );
    assert!(note.weight == Weight::Warning && marked);
}

#[test]
fn a_second_start_that_failed_is_told() {
    let mut run = run();
    of(&mut run, 0).again_failed = Some(Absence {
        reason: "the server ended under load".into(),
        mend: "mend the server".into(),
        last_words: String::new(),
        listed: false,
    });
    let notes = notes(&compose(&run), "group-over");
    let told = notes.iter().find(|note| note.text.contains("second start"));
    let told = told.expect("it is told");
    assert!(
        told.text
            .contains("after 3 rounds: the server ended under load"),
        "{}",
        told.text
    );
    assert_eq!(told.weight, Weight::Warning);
}

#[test]
fn what_a_generator_does_not_tell_has_no_figure() {
    let mut run = run();
    let load = of(&mut run, 2);
    load.task.by = Generator::Ab;
    for round in &mut load.rounds {
        (round.p50_ns, round.p99_ns, round.p999_ns) = (None, None, None);
        (round.longest_ns, round.fairness) = (None, None);
        // The laboratory counts these itself.
        round.switches = Some(ContextSwitches::default());
    }
    let tables = tables(&compose(&run), "group-over");
    let full = tables.last().unwrap();
    for (column, cell) in full.columns.iter().zip(&full.rows[0].cells) {
        let told = ![
            "p50",
            "p99",
            "p99.9",
            "Longest",
            "Starved",
            "Sent late by, p99",
        ]
        .contains(&column.title.as_str());
        assert_eq!(
            matches!(cell, Cell::Figure(_)),
            told,
            "{}: {cell:?}",
            column.title
        );
    }
    let text = csv::runs(&[run]).unwrap();
    let of_ab = text
        .lines()
        .filter(|line| line.contains("keep.64") && line.contains("ada/tasks"));
    assert!(of_ab.clone().count() > 0);
    assert_eq!(
        of_ab
            .filter(|line| line.contains("load_p50") || line.contains("load_fairness"))
            .count(),
        0
    );
}

#[test]
fn a_server_that_stayed_cold_is_named_beside_its_curve() {
    let document = compose(&cold(run()));
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

/// The same, but that Ada's server was not warm when its first load began, with which its warming is kept.
fn cold(mut run: RunRecord) -> RunRecord {
    of(&mut run, 0).warm_ups[0].is_warm = false;
    run
}

#[test]
fn every_figure_of_a_server_that_stayed_cold_is_marked() {
    // In the tables over all loads, and in that of everything of the last one: all but the share of the first.
    let marked = |run: &RunRecord, server: &str| -> Vec<bool> {
        let tables = tables(&compose(run), "group-over");
        let rows = tables.iter().flat_map(|table| &table.rows);
        let cells = rows
            .filter(|row| row.label == server)
            .flat_map(|row| &row.cells);
        let figures = cells.filter_map(|cell| match cell {
            Cell::Figure(figure) if figure.unit != Unit::Ratio => Some(figure),
            _ => None,
        });
        let is_marked = |figure: &Figure| figure.marks.iter().any(|mark| mark.word == "not warm");
        figures.map(|figure| is_marked(figure)).collect()
    };
    let all = |marked: Vec<bool>, wanted: bool| {
        assert!(
            marked.len() > 10 && marked.iter().all(|of| *of == wanted),
            "{marked:?}"
        );
    };
    all(marked(&cold(run()), "ada/tasks"), true);
    all(marked(&cold(run()), "java/grizzly"), false);
    all(marked(&run(), "ada/tasks"), false);
    let explained = |run: &RunRecord| {
        let document = compose(run);
        let mut blocks = section(&document, "method").blocks.iter();
        blocks.any(|block| matches!(block, Block::Facts { facts } if facts.iter().any(|fact| fact.label == "Not warm")))
    };
    assert!(explained(&cold(run())) && !explained(&run()));
}

#[test]
fn what_compilers_use_is_told_beside_processor_time_where_there_are_any() {
    let told = |language: &str| -> Vec<String> {
        let mut run = run();
        run.subjects = sample::many_subjects();
        run.subjects.truncate(1);
        run.subjects[0].language = language.into();
        let tables = tables(&compose(&run), "group-over").into_iter();
        let told = tables.filter(|table| table.caption.contains("HotSpot"));
        told.map(|table| table.title).collect()
    };
    assert!(told("Ada").is_empty());
    for language in ["Java", "JavaScript"] {
        assert_eq!(
            told(language),
            [
                "Over concurrency: Processor time of the server a request",
                "1 connections: all figures",
                "64 connections: all figures"
            ]
        );
    }
}

#[test]
fn a_server_that_stayed_cold_for_another_placement_is_marked_in_this_one() {
    let mut run = cold(run());
    run.results[2].identity.placement = "same".into();
    let document = compose(&run);
    let tables = tables(&document, "group-over");
    let of_same = tables
        .iter()
        .find(|table| table.title.contains("Over") && table.rows[0].place.contains("same"));
    let Cell::Figure(figure) = &of_same.expect("a table").rows[0].cells[0] else {
        panic!("no figure in {of_same:?}");
    };
    assert!(
        figure.marks.iter().any(|mark| mark.word == "not warm"),
        "{figure:?}"
    );
}

#[test]
fn claims_about_the_time_of_a_server_that_stayed_cold_are_undecided() {
    let warm = verdicts(&changed(&[], 0, |_| {}));
    let cold = verdicts(&cold(changed(&[], 0, |_| {})));
    assert_eq!(warm["Twice the requests"], "yes");
    assert_eq!(cold["Twice the requests"], "undecided: not warm");
    assert_eq!(
        cold["Half the latency"],
        "in 0 of 2, 2 undecided (2 not warm)"
    );
    assert_eq!(cold["Half the cost"], "in 0 of 2, 2 undecided (2 not warm)");
    // What it holds does not wait for compilers; that it was not warm is said all the same.
    assert_eq!(warm["Memory by ten"], "yes");
    assert_eq!(cold["Memory by ten"], "yes (not warm)");
    assert_eq!(cold["Nor here"], warm["Nor here"]);
}

#[test]
fn claims_are_judged_within_rounds() {
    let table = &tables(&compose(&run()), "load-claims")[0];
    let text = |row: usize, column: usize| match &table.rows[row].cells[column] {
        Cell::Text { text } => text.clone(),
        other => panic!("no text in {other:?}"),
    };
    // Its server starves connections, which stands beside the verdict.
    assert_eq!(text(0, 0), "yes (starves)");
    assert!(text(0, 1).contains("published"), "{}", text(0, 1));
    // 5000 of 10 000 in one load is too much; 5000 of 12 000 in the other, too.
    let last = table.rows.len() - 1;
    assert!(
        text(last, 0).starts_with("no: in 0 of 2"),
        "{}",
        text(last, 0)
    );
}

#[test]
fn claims_of_figures_by_themselves_have_limits_in_their_own_units() {
    let run = run();
    let verdicts = verdicts(&run);
    // What one start holds is known to a quarter, and another one may hold more than these nine.
    assert_eq!(verdicts["At most ten megabytes"], "undecided");
    let mut twice = run.clone();
    let aws = of(&mut twice, 2);
    aws.again = aws.rounds.clone();
    assert_eq!(self::verdicts(&twice)["At most ten megabytes"], "yes");
    assert_eq!(verdicts["Grizzly in as much"], "no (starves)");
    assert_eq!(verdicts["Nobody starves"], "yes, in all 2");
    assert_eq!(verdicts["Nor here"], "no (starves)");
    let table = tables(&compose(&run), "load-claims").remove(0);
    let row = table
        .rows
        .iter()
        .find(|row| row.label == "Nor here")
        .unwrap();
    assert_eq!(row.place, "starved of java/grizzly: at most 0");
    let row = table
        .rows
        .iter()
        .find(|row| row.label == "Grizzly in as much");
    let (Cell::Text { text }, place) = (&row.unwrap().cells[1], &row.unwrap().place) else {
        panic!("{row:?}");
    };
    assert!(
        text.starts_with("200\u{202f}MiB") && place.ends_with("at most 9.54\u{202f}MiB"),
        "{text}, {place}"
    );
    // Where it may be the machine that starved them, nobody knows.
    let mut beside = changed(&[0], 3, |_| ());
    of(&mut beside, 3).rounds[1].starved = vec![0];
    of(&mut beside, 2).rounds[1].starved = vec![0];
    let verdicts = self::verdicts(&beside);
    assert_eq!(verdicts["Nor here"], "undecided");
    assert_eq!(verdicts["Nobody starves"], "in 1 of 2, 1 undecided");
}

#[test]
fn a_claim_about_a_server_that_is_missing_is_not_tried() {
    for missing in [2, 3] {
        let mut run = run();
        run.results[missing].outcome = Outcome::Absent {
            reason: "it is not here".into(),
            mend: String::new(),
            last_words: String::new(),
            listed: false,
        };
        let verdicts = verdicts(&run);
        assert!(!verdicts.contains_key("Twice the requests"), "{verdicts:?}");
        assert_eq!(verdicts.contains_key("Nor here"), missing == 2);
    }
}

/// The verdicts of a run, by what is claimed.
fn verdicts(run: &RunRecord) -> BTreeMap<String, String> {
    let table = tables(&compose(run), "load-claims").remove(0);
    let rows = table.rows.into_iter();
    rows.map(|row| match &row.cells[0] {
        Cell::Text { text } => (row.label.clone(), text.clone()),
        other => panic!("no text in {other:?}"),
    })
    .collect()
}

/// A run in which these rounds of these results are changed.
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

#[test]
fn what_the_generator_may_have_limited_is_undecided() {
    let busy = |round: &mut LoadRound| round.generator_share = 0.99;
    let quiet = verdicts(&changed(&[], 0, busy));
    assert_eq!(quiet["Twice the requests"], "yes");
    assert_eq!(quiet["Half the latency"], "no: in 0 of 2");
    // Without the limit the server would answer more, and sooner: that may only be more than twice as many as the other, but also in less than half its time. Where it
    // is the other's limit, that is the other way round.
    let (undecided, partly) = (
        "undecided: the generator’s limit",
        "no: in 0 of 2, 1 undecided (1 by the generator’s limit)",
    );
    let cases: [(&[usize], usize, [&str; 2]); 4] = [
        (&[2], 2, ["yes", partly]),
        (&[3], 2, [undecided, "no: in 0 of 2"]),
        (&[3], 3, [undecided, "no: in 0 of 2"]),
        (&[2, 3], 2, [undecided, partly]),
    ];
    for (results, rounds, [requests, latency]) in cases {
        let limited = verdicts(&changed(results, rounds, busy));
        assert_eq!(limited["Twice the requests"], requests, "{results:?}");
        assert_eq!(limited["Half the latency"], latency, "{results:?}");
        // Processor time and memory are the server’s own.
        for (claimed, verdict) in &quiet {
            if claimed.ends_with("cost") || claimed.starts_with("Memory") {
                assert_eq!(&limited[claimed], verdict);
            }
        }
    }
    // In fewer than half of the rounds it does not count.
    assert_eq!(verdicts(&changed(&[3], 1, busy)), quiet);
}

#[test]
fn what_others_disturbed_is_named_beside_the_verdict() {
    let disturb = |round: &mut LoadRound| round.foreign_share = 0.3;
    for result in [2, 3] {
        let disturbed = verdicts(&changed(&[result], 2, disturb));
        assert_eq!(disturbed["Memory by ten"], "yes (disturbed)");
        assert_eq!(disturbed["Twice the requests"], "yes (disturbed)");
        assert_eq!(
            disturbed["Half the latency"],
            "no: in 0 of 2 (disturbed in 1 of 2)"
        );
    }
    let once = verdicts(&changed(&[2], 1, disturb));
    assert_eq!(once["Memory by ten"], "yes");
}

#[test]
fn figures_have_the_marks_of_their_rounds() {
    let marks = |run: &RunRecord| -> Vec<String> {
        let table = tables(&compose(run), "group-over").remove(0);
        let Cell::Figure(cost) = &table.rows[0].cells[1] else {
            panic!("no figure in {:?}", table.rows[0]);
        };
        cost.marks.iter().map(|mark| mark.word.clone()).collect()
    };
    let busy = |round: &mut LoadRound| round.generator_share = 0.99;
    let disturb = |round: &mut LoadRound| round.foreign_share = 0.3;
    assert_eq!(marks(&changed(&[2], 2, busy)), ["generator’s limit"]);
    assert_eq!(marks(&changed(&[2], 2, disturb)), ["disturbed"]);
    assert!(marks(&changed(&[2], 1, busy)).is_empty());
}

/// The second of four rounds is of processors that were farther apart.
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

#[test]
fn processors_that_were_moved_are_told_of_once() {
    let told = |run: &RunRecord| -> Vec<String> {
        let notes = notes(&compose(run), "group-over").into_iter();
        let texts = notes.map(|note| note.text.replace('\u{202f}', " "));
        texts.filter(|text| text.contains("a cache line")).collect()
    };
    let [text] = &told(&moved())[..] else {
        panic!("{:?}", told(&moved()))
    };
    let seen = "took 118 – 330 ns there and back, 122 ns in the median";
    assert!(text.contains(seen), "{text}");
    assert_eq!(told(&run()), [""; 0]);
    let table = tables(&compose(&moved()), "group-over").remove(0);
    let Cell::Figure(cost) = &table.rows[0].cells[1] else {
        panic!("no figure in {:?}", table.rows[0]);
    };
    let seen = cost
        .detail
        .iter()
        .find(|fact| fact.label == "Core-to-core latency");
    assert!(
        seen.is_some_and(|seen| seen.text.contains("330")),
        "{cost:?}"
    );
}

/// The first server waits so often in its rounds of a thousand requests, and is never preempted.
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

#[test]
fn how_often_servers_are_woken_has_a_table() {
    let titled = |run: &RunRecord| -> Option<Table> {
        let mut all = tables(&compose(run), "group-over").into_iter();
        all.find(|table| table.title.contains("context switches"))
    };
    assert_eq!(titled(&run()), None);
    let table = titled(&waits([990, 1000, 20])).expect("it was counted");
    let Cell::Figure(waits) = &table.rows[0].cells[1] else {
        panic!("no figure in {:?}", table.rows[0]);
    };
    assert_eq!((waits.value, waits.unit), (0.99, Unit::Count));
    assert!(table.caption.contains("thousandth"), "{}", table.caption);
    // What was not counted of the other server is no zero.
    assert!(matches!(table.rows[1].cells[1], Cell::Empty));
}

#[test]
fn a_server_that_waited_more_often_in_one_run_is_named() {
    // It is the one that others are compared with.
    let with = |voluntary| waits([voluntary; 3]);
    let waited = |first: &RunRecord, second: &RunRecord| -> Vec<WaitsDiffer> {
        let all = agreements(first, second).into_iter();
        all.filter_map(|of| of.waited).collect()
    };
    let differ = WaitsDiffer {
        subject: "ada/tasks".into(),
        a_request: (0.02, 0.98),
    };
    assert_eq!(waited(&with(20), &with(980)), [differ]);
    assert_eq!(waited(&with(500), &with(600)), []);
    // An older run did not count them.
    assert_eq!(waited(&run(), &with(980)), []);
}

#[test]
fn every_figure_is_exported() {
    let text = csv::runs(&[waits([1000; 3]), moved()]).unwrap();
    for figure in [
        "load_cpu",
        "load_per_second",
        "load_p999",
        "load_starved",
        "load_pss",
        "load_voluntary_switches",
        "load_involuntary_switches",
        "core_to_core",
        "cold_starts",
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

/// What another generator measured of a server that ours measured, too, with so many times the requests a second and the processor time of each.
fn rival(per_second: f64, cpu: f64, busy: f64) -> Vec<(String, String)> {
    let mut run = run();
    let ours = run.results[2].clone();
    let mut by_wrk = ours.clone();
    by_wrk.identity.test = "keep.1".into();
    let Outcome::Load(load) = &mut by_wrk.outcome else {
        panic!("{by_wrk:?}");
    };
    load.task.by = Generator::Wrk;
    for round in &mut load.rounds {
        round.per_second *= per_second;
        round.server_cpu_ns = (round.server_cpu_ns as f64 * cpu) as u64;
        round.generator_share = busy;
    }
    run.results = vec![by_wrk, ours];
    let tables = tables(&compose(&run), "load-rivals");
    let rows = tables.iter().flat_map(|table| &table.rows);
    let told = rows.map(|row| match &row.cells[0] {
        Cell::Text { text } => (row.label.clone(), text.clone()),
        other => panic!("{other:?}"),
    });
    told.collect()
}

#[test]
fn another_generator_agrees_or_not_within_the_rounds_of_both() {
    let verdicts = |told: Vec<(String, String)>| told.into_iter().map(|(_, of)| of).collect();
    let of = |per_second, cpu, busy| -> Vec<String> { verdicts(rival(per_second, cpu, busy)) };
    assert_eq!(of(1.02, 0.99, 0.5), ["yes", "yes"]);
    assert_eq!(of(2.0, 0.99, 0.5), ["no", "yes"], "ours is what limits");
    assert_eq!(of(0.5, 1.5, 0.5), ["no", "no"]);
    assert_eq!(of(1.1, 1.0, 0.5), ["undecided", "yes"]);
    // What has no time left itself says nothing against ours, unless it sends more than ours all the same.
    let limited = "undecided: the generator’s limit";
    assert_eq!(of(0.5, 1.5, 0.95), [limited, "no"]);
    assert_eq!(of(2.0, 1.0, 0.95), ["no", "yes"]);
    assert!(rival(1.0, 1.0, 0.5)[0].0.starts_with("wrk agrees"));
}

#[test]
fn another_generator_is_not_held_against_another_load() {
    let mut run = run();
    let Outcome::Load(load) = &mut run.results[0].outcome else {
        panic!("a load");
    };
    load.task.by = Generator::Siege;
    let has = |run: &RunRecord| {
        let document = compose(run);
        document.sections.iter().any(|of| of.id == "load-rivals")
    };
    assert!(!has(&run), "64 connections are not one");
    let mut same = run.results[2].clone();
    let Outcome::Load(load) = &mut same.outcome else {
        panic!("a load");
    };
    load.task.connections = 1;
    run.results.push(same.clone());
    assert!(has(&run));
    let mut has_instead = |change: &dyn Fn(&mut LoadOutcome)| {
        let mut other = same.clone();
        let Outcome::Load(load) = &mut other.outcome else {
            panic!("a load");
        };
        change(load);
        run.results.pop();
        run.results.push(other);
        has(&run)
    };
    let kept = has_instead(&|load| load.task.keep_alive = false);
    assert!(!kept, "kept connections are not those for one request");
    let asleep = has_instead(&|load| load.task.sleeps = true);
    assert!(asleep, "how a generator waits makes no other load");
}

/// Ten rounds of 200 requests of 0.3 ms; in two of them the server paused, and 20 waited from 100 ms on downwards for its end.
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

/// A figure of the table of everything of the load with 64 connections, by row and column.
fn figure(run: &RunRecord, row: &str, column: &str) -> Option<Figure> {
    let table = tables(&compose(run), "group-over").pop().unwrap();
    let row = table.rows.iter().find(|of| of.label == row).unwrap();
    let mut cells = table.columns.iter().zip(&row.cells);
    match cells.find(|(of, _)| of.title == column).unwrap().1 {
        Cell::Figure(figure) => Some((**figure).clone()),
        _ => None,
    }
}

#[test]
fn a_pause_in_few_rounds_shows_in_the_percentiles() {
    let mut run = run();
    paused(&mut run);
    let of = |column| figure(&run, "java/grizzly", column).unwrap();
    // 40 of 2000 waited: 20 longer than 55 ms, two of them 100 ms.
    let p99 = of("p99");
    assert!((p99.value / 55e6 - 1.0).abs() < 0.1, "{p99:?}");
    assert!(p99.low < 1e6 && p99.high > 90e6, "{p99:?}");
    let limits = p99.detail.iter().find(|fact| fact.label == "Limits");
    assert_eq!(limits.unwrap().text, "0.300 – 100\u{202f}ms");
    assert!(of("p99.9").value > 94e6);
    let longest = of("Longest");
    assert!((longest.value / 100e6 - 1.0).abs() < 0.01 && longest.low == longest.high);
    assert!(of("p50").value < 0.31e6);
    // Nor is it lost in the plot and in the claim.
    let curve = plots(&compose(&run), "group-over").pop().unwrap();
    let grizzly = curve.series.iter().find(|of| of.name == "java/grizzly");
    assert!(
        grizzly.unwrap().points.last().unwrap().y > 50e6,
        "{curve:?}"
    );
    let (mut ours, mut theirs) = (run.clone(), run);
    paused_too(&mut ours);
    let verdict = |run: &RunRecord| verdicts(run)["Half the latency"].clone();
    assert_eq!(verdict(&ours), "no: in 0 of 2, 1 undecided");
    // Without a pause on the other side, whose median it has.
    for round in &mut self::of(&mut theirs, 3).rounds {
        round.latencies = None;
    }
    assert_eq!(verdict(&theirs), "no: in 0 of 2");
}

/// The other server with the same pauses.
fn paused_too(run: &mut RunRecord) {
    of(run, 2).rounds = of(run, 3).rounds.clone();
}

#[test]
fn a_percentile_of_too_few_requests_is_left_out() {
    let mut run = run();
    paused(&mut run);
    of(&mut run, 3).rounds.truncate(4);
    assert!(figure(&run, "java/grizzly", "p99").is_some());
    assert_eq!(figure(&run, "java/grizzly", "p99.9"), None);
    let text = csv::runs(&[run]).unwrap();
    assert!(!text.lines().any(|line| line.contains("java/grizzly")
        && line.contains("keep.64")
        && line.contains("load_p999")));
}

#[test]
fn what_was_measured_without_a_histogram_is_marked() {
    let mut run = run();
    paused(&mut run);
    let is_marked = |server, column| {
        let figure = figure(&run, server, column).unwrap();
        figure.marks.iter().any(|mark| mark.word == "by rounds")
    };
    assert!(is_marked("ada/tasks", "p99") && !is_marked("java/grizzly", "p99"));
    assert!(!is_marked("ada/tasks", "Longest"));
    let captions = |run: &RunRecord| tables(&compose(run), "group-over").pop().unwrap().caption;
    let caption = captions(&run);
    assert!(
        caption.contains("“by rounds”")
            && caption.contains("longest latency is that of all rounds"),
        "{caption}"
    );
    run.results.truncate(4);
    run.results.drain(..3);
    assert!(!captions(&run).contains("by rounds"));
}

#[test]
fn raw_histograms_are_exported() {
    let mut run = run();
    paused(&mut run);
    let parsed: serde_json::Value = serde_json::from_str(&json::run(&run).unwrap()).unwrap();
    let rounds = &parsed["run"]["results"][3]["outcome"]["rounds"];
    let packed =
        |value: &serde_json::Value| -> Packed { serde_json::from_value(value.clone()).unwrap() };
    let long = |packed: Packed| {
        let pairs = packed.pairs().expect("a histogram");
        let all: u64 = pairs.iter().map(|(_, count)| count).sum();
        let long = pairs.iter().filter(|(ns, _)| *ns > 1_000_000);
        (all, long.map(|(_, count)| count).sum::<u64>())
    };
    assert_eq!(long(packed(&rounds[3]["latencies"])), (200, 20));
    assert_eq!(long(packed(&rounds[4]["latencies"])), (200, 0));
    // What an older run has not is not in its export either.
    let old = &parsed["run"]["results"][2]["outcome"]["rounds"][0];
    assert!(old["p99_ns"].is_u64() && old.get("latencies").is_none());

    let text = csv::runs(&[run]).unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let at = |name: &str| headings.iter().position(|of| of == name).unwrap();
    let records: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |figure: &str| {
        let fits = |of: &&::csv::StringRecord| {
            &of[at("figure")] == figure
                && &of[at("test")] == "keep.64"
                && &of[at("subject")] == "java/grizzly"
        };
        records.iter().find(fits).unwrap()
    };
    let histogram = of("load_latencies");
    assert_eq!(&histogram[at("value")], "2000");
    let packed = packed(&histogram[at("histogram")].into());
    assert_eq!(long(packed), (2000, 40));
    assert_eq!(&of("load_p99")[at("standing")], "resolved");
    let longest = of("load_longest");
    assert!(longest[at("high")].is_empty() && longest[at("value")].parse::<f64>().unwrap() > 99e6);
}

#[test]
fn loads_without_kept_connections_say_so_where_they_are_plotted() {
    let mut run = run();
    let titles = |run: &RunRecord| -> Vec<String> {
        let plots = plots(&compose(run), "group-over").into_iter();
        plots
            .map(|plot| plot.title)
            .filter(|title| title.contains("over conc"))
            .collect()
    };
    let kept = titles(&run);
    assert!(
        !kept.is_empty() && kept.iter().all(|title| !title.contains("keep")),
        "{kept:?}"
    );
    for result in &mut run.results {
        if let Outcome::Load(load) = &mut result.outcome {
            load.task.keep_alive = false;
        }
    }
    let anew = titles(&run);
    assert_eq!(anew.len(), kept.len());
    assert!(
        anew.iter()
            .all(|title| title.contains("over concurrency, no keep-alive (")),
        "{anew:?}"
    );
}

//! Tables of execution models: ratios to the fastest concurrent column, published rows, conclusions
//! by intervals, the plot.

use crate::sample::{drawn, empty_run, identity, result, section};
use antiphon_lab::{Foreign, Outcome, RunRecord};
use antiphon_measure::WholeRun;
use antiphon_report::compose;
use antiphon_report::document::{AxisUnit, Block, Cell, Document, Table};
use antiphon_report::export::{csv, markdown, xlsx};

const SUITE: &str = concat!(
    r#"
name = "m"
title = "M"
subjects = ["sr/counted", "sr/sliced", "sr/cooperative"]
"#,
    include_str!("../../../lab/tests/common/small_sizes.toml"),
    r#"[[group]]
id = "dp"
title = "Philosophers"
runs = ["other.same"]
[[group.row]]
kind = "program"
test = "dp.{style}.{work}"
label = "{style}, work {work}"
program = "dp_{style}"
arguments = ["{work}"]
each = { style = ["cp", "cm"], work = ["100", "1000", "10000"] }
[[group.row]]
kind = "program"
test = "sync"
label = "sync"
program = "sync"
[[models]]
id = "six"
title = "Table VI"
text = "What   is shown."
source = "the study"
by = "work"
rows = ["100", "1000", "10000"]
column = [
    { title = "IC", model = "CP", test = "dp.cp.{row}", subject = "sr/counted", run = "other.same", published = [0.42, "", 33.41] },
    { title = "TS", model = "CP", test = "dp.cp.{row}", subject = "sr/sliced", run = "other.same", published = [2.0, 3.18, 13.73] },
    { title = "CM", model = "CM", test = "dp.cm.{row}", subject = "sr/cooperative", run = "other.same", published = [0.13, 1.19, 11.73] },
]
claim = [
    { text = "CM wins for little work", of = ["CM"], rows = ["100"], at_most = 0.9 },
    { text = "CM always wins clearly", of = ["CM"], at_most = 0.9 },
    { text = "Counting costs nothing", of = ["IC"], against = "TS", at_most = 0.5 },
]
[[models]]
id = "three"
title = "Table III"
per_operation = true
column = [{ title = "CP", test = "sync", subject = "sr/counted", run = "other.same" }]
[[models]]
id = "kept"
title = "What is kept"
source = "the study"
by = "work"
rows = ["100", "1000"]
share_of = ["kept", "operations"]
column = [
    { title = "IC", test = "dp.cp.{row}", subject = "sr/counted", run = "other.same", published = [0.25, ""] },
    { title = "TS", test = "dp.cp.{row}", subject = "sr/sliced", run = "other.same" },
]
claim = [
    { text = "Half is kept", of = ["IC", "TS"], rows = ["100"], at_least = 0.5, at_most = 0.5 },
    { text = "All is kept", of = ["IC"], rows = ["100"], at_least = 1.0 },
]
[[profile]]
id = "where"
title = "Where it goes"
text = "Parts."
unit = "things"
subject = "sr/counted"
run = "other.same"
tests = ["sync", "dp.cp.10000"]
parts = [{ counter = "operations", title = "Done" }, { counter = "yields", title = "Yielded" }]
"#
);

/// Runs whose times are these, ns; each counts two operations, of which one is kept.
fn runs(times: &[u64]) -> Outcome {
    let run = |(round, elapsed_ns): (usize, &u64)| WholeRun {
        round: round as u32,
        elapsed_ns: *elapsed_ns,
        counters: [("operations".to_owned(), 2), ("kept".to_owned(), 1)].into(),
        ..WholeRun::default()
    };
    Outcome::Program {
        answer: "meals 16\n".into(),
        runs: times.iter().enumerate().map(run).collect(),
        counted: [("switches.yields".to_owned(), 77)].into(),
    }
}

fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite = "m".into();
    run.suite_toml = SUITE.into();
    let at = |test: &str, subject: &str, outcome| {
        result(identity(test, subject, "other", "same"), outcome)
    };
    run.results = vec![
        at("dp.cp.100", "sr/counted", runs(&[1000, 1000, 10_000])),
        at("dp.cp.100", "sr/sliced", runs(&[1500, 1500, 15_000])),
        // Half of the fastest in each round, also in the one in which the machine was slow.
        at("dp.cm.100", "sr/cooperative", runs(&[500, 500, 5000])),
        at("dp.cp.1000", "sr/counted", runs(&[1000, 1000, 1000])),
        at("dp.cp.1000", "sr/sliced", runs(&[900, 900, 900])),
        at("dp.cm.1000", "sr/cooperative", runs(&[990, 990, 990])),
        at("sync", "sr/counted", runs(&[80, 80, 80])),
    ];
    run
}

fn tables(document: &Document, id: &str) -> Vec<Table> {
    let blocks = section(document, id).blocks.iter();
    blocks
        .filter_map(|block| match block {
            Block::Table(table) => Some(table.clone()),
            _ => None,
        })
        .collect()
}

fn value(cell: &Cell) -> f64 {
    match cell {
        Cell::Figure(figure) => figure.value,
        Cell::Number { value, .. } => *value,
        Cell::Printed { low, .. } => *low,
        other => panic!("no number in {other:?}"),
    }
}

#[test]
fn a_ratio_is_to_the_fastest_concurrent_column_and_pairs_rounds() {
    let table = &tables(&compose(&run()), "models-six")[0];
    let titles: Vec<&str> = table.columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(titles, ["IC", "TS", "CM", "CM/CP"]);
    let Cell::Figure(ratio) = &table.rows[0].cells[3] else {
        panic!("no ratio");
    };
    assert_eq!((ratio.low, ratio.value, ratio.high), (0.5, 0.5, 0.5));
    // In the second row time slicing is the faster of the two.
    assert_eq!(value(&table.rows[2].cells[3]), 1.1);
}

#[test]
fn published_rows_stand_beneath_and_rows_not_measured_are_left_out() {
    let table = &tables(&compose(&run()), "models-six")[0];
    let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["100", "published", "1000", "published"]);
    assert_eq!(value(&table.rows[1].cells[2]), 0.13e9);
    assert!((value(&table.rows[1].cells[3]) - 0.13 / 0.42).abs() < 1e-9);
    // Of one column there was no figure, and of the other table's second row none at all.
    assert!(matches!(table.rows[3].cells[0], Cell::Empty), "{table:?}");
    assert_eq!(value(&table.rows[3].cells[1]), 3.18e9);
    let kept = &tables(&compose(&run()), "models-kept")[0];
    assert_eq!(kept.rows.len(), 3);
    assert!(table.caption.contains("One row was not measured"));
    assert!(table.caption.contains("the study"));
}

#[test]
fn a_time_per_operation_is_the_run_s_share() {
    let table = &tables(&compose(&run()), "models-three")[0];
    assert_eq!(value(&table.rows[0].cells[0]), 40.0);
}

#[test]
fn shares_of_counters_stand_beside_published_ones_and_are_plotted() {
    let document = compose(&run());
    let table = &tables(&document, "models-kept")[0];
    assert_eq!(value(&table.rows[0].cells[0]), 0.5);
    assert_eq!(value(&table.rows[1].cells[0]), 0.25);
    let plot = drawn(section(&document, "models-kept"))[0];
    let drawn: Vec<_> = plot
        .series
        .iter()
        .map(|one| (one.name.as_str(), one.points.len()))
        .collect();
    assert_eq!(drawn, [("IC", 2), ("TS", 2)]);
    assert_eq!(plot.y.title, "Kept as a share of operations");
    assert!(!plot.y.log, "parts of one are read from a zero");
    assert_eq!(plot.y.unit, AxisUnit::Share, "as in the table");
}

/// Returns a run with the same program in each row; the rows are its slices.
fn sliced() -> RunRecord {
    let mut run = run();
    run.suite_toml = SUITE
        .replace(r#"["kept", "operations"]"#, r#"["slice_{row}", "operations"]"#)
        .replace(
            r#"{ title = "IC", test = "dp.cp.{row}", subject = "sr/counted", run = "other.same", published = [0.25, ""] }"#,
            r#"{ title = "IC", test = "sync", subject = "sr/counted", run = "other.same", published = [0.25, ""] }"#,
        );
    let counters = [("operations", 2), ("slice_100", 2000), ("slice_1000", 2)];
    let of_run = WholeRun {
        elapsed_ns: 1000,
        counters: counters
            .map(|(name, count)| (name.to_owned(), count))
            .into(),
        ..WholeRun::default()
    };
    run.results = vec![result(
        identity("sync", "sr/counted", "other", "same"),
        Outcome::Program {
            answer: String::new(),
            runs: vec![of_run],
            counted: Default::default(),
        },
    )];
    run
}

#[test]
fn a_program_whose_counters_are_the_rows_is_counted_once() {
    let document = compose(&sliced());
    let tables = tables(&document, "models-kept");
    assert_eq!(tables[0].rows.len(), 3, "two rows and a published one");
    assert_eq!(tables[1].rows.len(), 1, "{:?}", tables[1].rows);
    let blocks = &section(&document, "models-kept").blocks;
    let axes = blocks.iter().find_map(|block| match block {
        Block::Plot(plot) => Some(&plot.y),
        _ => None,
    });
    let axis = axes.expect("the rows are numbers");
    assert_eq!(axis.title, "Slice as a share of operations");
    assert!(axis.log, "1000 and 1 would be a line along the axis");
}

#[test]
fn conclusions_are_judged_by_the_intervals() {
    let document = compose(&run());
    let section = section(&document, "models-conclusions");
    assert_eq!(
        document.sections[0].id, section.id,
        "conclusions come first"
    );
    let table = &tables(&document, "models-conclusions")[0];
    let verdicts: Vec<String> = table.rows.iter().map(|row| text(&row.cells[0])).collect();
    assert_eq!(
        verdicts,
        [
            "yes",
            "no: in 1 of 2",
            "no: in 0 of 2",
            "yes, in all 2",
            "no"
        ]
    );
    let weakest = text(&table.rows[1].cells[1]);
    assert!(weakest.starts_with("work 1000, CM: 110"), "{weakest}");
    assert!(weakest.contains("published 37"), "{weakest}");
    let prose = section.blocks.iter().find_map(|block| match block {
        Block::Prose { text } => Some(text.as_str()),
        _ => None,
    });
    let prose = prose.expect("a summary");
    assert!(prose.starts_with("Of 5 conclusions, 2 hold"), "{prose}");
    assert!(prose.contains("3 fail"), "{prose}");
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text { text } => text.clone(),
        other => panic!("no words in {other:?}"),
    }
}

#[test]
fn what_others_disturbed_is_marked_in_every_table_and_beside_verdicts() {
    let mut run = run();
    // The concurrent column of the first row that the others are compared with.
    run.results[0].foreign = vec![Foreign {
        share: 0.5,
        foreign_ns: 1e9,
        stopped_ns: 0.0,
        attempts: 3,
    }];
    let document = compose(&run);
    let marked = |cell: &Cell| match cell {
        Cell::Figure(figure) => figure.marks.iter().any(|mark| mark.word == "disturbed"),
        _ => false,
    };
    let [six, runs] = &tables(&document, "models-six")[..] else {
        panic!("two tables");
    };
    let first: Vec<bool> = six.rows[0].cells.iter().map(marked).collect();
    assert_eq!(first, [true, false, false, true], "IC, TS, CM, CM/CP");
    assert!(!six.rows[2].cells.iter().any(marked));
    let times: Vec<bool> = runs.rows.iter().map(|row| marked(&row.cells[0])).collect();
    assert_eq!(times.iter().filter(|marked| **marked).count(), 1);
    assert!(times[0]);
    let group = &tables(&document, "group-dp")[0];
    assert_eq!(
        group
            .rows
            .iter()
            .filter(|row| marked(&row.cells[0]))
            .count(),
        1
    );
    let conclusions = &tables(&document, "models-conclusions")[0];
    assert_eq!(text(&conclusions.rows[0].cells[0]), "yes (disturbed)");
    assert_eq!(
        text(&conclusions.rows[1].cells[0]),
        "no: in 1 of 2 (disturbed in 1 of 2)"
    );
}

#[test]
fn the_plot_holds_today_s_and_the_published_ratios() {
    let document = compose(&run());
    let plot = drawn(section(&document, "models-six"))[0];
    let points: Vec<usize> = plot.series.iter().map(|s| s.points.len()).collect();
    assert_eq!(points, [2, 2]);
    assert_eq!(plot.series[0].points[0].y, 0.5);
    assert_eq!(plot.y.unit, AxisUnit::Share, "as in the table");
}

#[test]
fn what_was_counted_stands_beside_the_times() {
    let counts = &tables(&compose(&run()), "models-six")[1];
    assert!(counts.folded);
    let yields = counts.columns.iter().position(|c| c.title == "Yields");
    let yields = yields.expect("a column of yields");
    assert_eq!(value(&counts.rows[0].cells[yields]), 77.0);
}

#[test]
fn a_profile_divides_what_was_counted() {
    let document = compose(&run());
    let table = &tables(&document, "profile-where")[0];
    let cells: Vec<f64> = table.rows[0].cells.iter().map(value).collect();
    assert_eq!(cells, [79.0, 2.0 / 79.0, 77.0 / 79.0]);
    assert_eq!(table.rows.len(), 1, "what was not measured has no row");
}

#[test]
fn every_exporter_takes_them() {
    let run = run();
    let document = compose(&run);
    assert!(markdown::render(&document).contains("CM/CP"));
    assert!(!xlsx::render(&document).expect("a workbook").is_empty());
    let figures = csv::run(&run).expect("figures");
    assert!(figures.contains("run_time"), "{figures}");
    assert!(figures.contains("switches.yields"), "{figures}");
}

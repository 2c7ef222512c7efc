//! Table of counts in whole programs: their own counters, and knowledge of their memory.

use crate::sample::{empty_run, identity, result, section, tables};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_measure::WholeRun;
use antiphon_report::compose;
use antiphon_report::document::{Cell, Table, Unit};
use antiphon_report::export::{csv, html, markdown, xlsx};

const SUITE: &str = include_str!("../../../../suites/shared-data.toml");
const MIB: u64 = 1 << 20;

/// Returns a program of the group of writers among readers, with this peak and this memory of the
/// laboratory at its start.
fn run(peak_rss_bytes: u64, floor: Option<u64>, counters: &[(&str, u64)]) -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    let counters = counters
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    let whole = WholeRun {
        elapsed_ns: 1_000_000,
        peak_rss_bytes,
        peak_rss_floor_bytes: floor,
        counters: counters.collect(),
        ..WholeRun::default()
    };
    let runs = (0..3).map(|round| WholeRun {
        round,
        ..whole.clone()
    });
    let outcome = Outcome::Program {
        answer: "ok\n".into(),
        runs: runs.collect(),
        counted: Default::default(),
    };
    let identity = identity("starve.lock", "shared-data-c/O2", "other", "across");
    run.results.push(result(identity, outcome));
    run
}

fn table(run: &RunRecord) -> Table {
    let document = compose(run);
    tables(section(&document, "group-starve"))[0].clone()
}

fn cell(table: &Table, title: &str) -> Option<Cell> {
    let column = table
        .columns
        .iter()
        .position(|column| column.title == title)?;
    Some(table.rows[0].cells[column].clone())
}

#[test]
fn a_peak_that_may_be_the_laboratory_s_is_a_bound_wherever_it_is_shown() {
    let bytes = Unit::Bytes;
    let peak = |run: &RunRecord| cell(&table(run), "Peak memory").expect("the column");
    let standing = |run: &RunRecord| -> String {
        let text = csv::runs(std::slice::from_ref(run)).expect("CSV");
        let line = text.lines().find(|line| line.contains("run_peak_rss"));
        line.expect("a line of memory").to_owned()
    };
    let of_laboratory = run(12 * MIB + 100_000, Some(12 * MIB), &[]);
    let value = (12 * MIB + 100_000) as f64;
    assert_eq!(peak(&of_laboratory), Cell::AtMost { value, unit: bytes });
    assert!(standing(&of_laboratory).contains("upper_bound"));
    assert!(table(&of_laboratory).caption.contains('≤'));
    let document = compose(&of_laboratory);
    assert!(html::render(&document).contains("≤\u{202f}12.1\u{202f}MiB"));
    assert!(markdown::render(&document).contains("≤\u{202f}12.1\u{202f}MiB"));
    assert!(xlsx::render(&document).is_ok());

    let own = run(45 * MIB, Some(12 * MIB), &[]);
    let value = (45 * MIB) as f64;
    assert_eq!(peak(&own), Cell::Number { value, unit: bytes });
    assert!(standing(&own).contains("resolved"));
    assert!(!table(&own).caption.contains('≤'));

    // The laboratory's memory was not kept, so nothing tells.
    let old = run(45 * MIB, None, &[]);
    assert_eq!(peak(&old), Cell::AtMost { value, unit: bytes });
}

#[test]
fn what_programs_count_has_a_column_each_in_its_unit() {
    let counters = [
        ("operations", 5000),
        ("kept", 4000),
        ("longest_wait_ns", 2_500_000),
        ("cpu_ns", 1_900_000),
        ("heap_held_bytes", 64),
        ("hits", 7),
    ];
    let table = table(&run(MIB, None, &counters));
    let number = |value, unit| Some(Cell::Number { value, unit });
    assert_eq!(cell(&table, "Operations"), number(5000.0, Unit::Count));
    assert_eq!(cell(&table, "Kept"), number(4000.0, Unit::Count));
    assert_eq!(
        cell(&table, "Longest wait"),
        number(2.5e6, Unit::Nanoseconds)
    );
    let cpu = cell(&table, "Processor time of the operations");
    assert_eq!(cpu, number(1.9e6, Unit::Nanoseconds));
    assert_eq!(cell(&table, "Heap held"), number(64.0, Unit::Bytes));
    assert_eq!(cell(&table, "Hits"), number(7.0, Unit::Count));
    assert_eq!(cell(&table, "Yields"), None, "nobody counted them");
}

#[test]
fn counters_of_each_slice_make_no_wider_table_and_are_told() {
    let names: Vec<String> = (1..=50).map(|slice| format!("slice_{slice}")).collect();
    let mut counters: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    counters.push(("operations", 5));
    let table = table(&run(MIB, None, &counters));
    assert_eq!(table.columns.len(), 7, "{:?}", table.columns);
    assert!(cell(&table, "Operations").is_some());
    assert!(table.caption.contains("50 more"), "{}", table.caption);
}

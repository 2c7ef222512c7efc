//! Costs over a number as a straight line: the table tells its parts, and the plot has a series for each subject.

mod sample;

use antiphon_lab::{Outcome, RunRecord};
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Table};
use sample::{empty_run, estimate, identity, result, section, tables};

const SUITE: &str = include_str!("../../../suites/sql.toml");
const ROWS: [u32; 7] = [1, 10, 50, 100, 200, 500, 1000];

/// One subject costs 2300 ns and 85 ns a row; the other as much, but for a jump at 500 rows.
fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    for (subject, jump) in [("sql-c/sqlite", 0.0), ("sql-go/sqlite", 30_000.0)] {
        for rows in ROWS {
            let more = if rows >= 500 { jump } else { 0.0 };
            let cost = estimate(2300.0 + 85.0 * f64::from(rows) + more, 20.0);
            let test = format!("rows.{rows}");
            let identity = identity(&test, subject, "other", "same");
            let outcome = Outcome::Frame(Box::new(cost));
            run.results.push(result(identity, outcome));
        }
        // The other placement has too few sizes for a line.
        for (rows, cost) in [(1, 9000.0), (1000, 99_000.0)] {
            let identity = identity(&format!("rows.{rows}"), subject, "other", "across");
            let outcome = Outcome::Frame(Box::new(estimate(cost, 20.0)));
            run.results.push(result(identity, outcome));
        }
    }
    run
}

fn text<'t>(table: &'t Table, label: &str, column: usize) -> &'t str {
    let row = table.rows.iter().find(|row| row.label == label);
    match &row.unwrap_or_else(|| panic!("no row {label}")).cells[column] {
        Cell::Text { text } => text,
        other => panic!("{label}: {other:?}"),
    }
}

#[test]
fn a_line_is_told_by_what_it_begins_with_and_what_each_step_adds() {
    let document = compose(&run());
    let section = section(&document, "group-queries");
    let tables = tables(section);
    let table = tables
        .iter()
        .find(|table| table.title == "As a straight line: SELECT * FROM … LIMIT n")
        .expect("the suite asks for a line");
    let subjects: Vec<_> = table.columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(subjects, ["sql-c/sqlite", "sql-go/sqlite"]);
    assert!(
        text(table, "to begin with", 0).starts_with("2.3"),
        "{table:?}"
    );
    assert!(text(table, "for each", 0).starts_with("85"), "{table:?}");
    let away = |column| text(table, "farthest from the line", column);
    assert!(
        away(0).starts_with("under 0.01\u{202f}% (under 0.01"),
        "{}",
        away(0)
    );
    let jump = away(1).split('\u{202f}').next().unwrap();
    let jump: f64 = jump.parse().unwrap();
    assert!(jump > 5.0, "{table:?}");
    let lines = tables
        .iter()
        .filter(|table| table.title.contains("straight"));
    assert_eq!(lines.count(), 1, "all sizes are in one line");
    let plotted = section.blocks.iter().any(|block| {
        matches!(block, Block::Plot(plot) if plot.series.len() == 2 && plot.series[0].points.len() == ROWS.len())
    });
    assert!(plotted, "there is no plot of both subjects");
}

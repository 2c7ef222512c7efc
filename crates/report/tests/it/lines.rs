//! Costs over a number as a straight line: the table tells its parts, and the plot has a series for
//! each subject.

use crate::sample::{
    empty_run, estimate, finding, identity, interval, result, round, section, tables,
};
use antiphon_lab::{CostRound, Costs, Outcome, ResultRecord, RunRecord};
use antiphon_measure::FindingKind;
use antiphon_report::compose;
use antiphon_report::document::{Block, Cell, Figure, Standing, Table};

const SUITE: &str = include_str!("../../../../suites/sql.toml");
const ROWS: [u32; 7] = [1, 10, 50, 100, 200, 500, 1000];

/// Returns two subjects: one costs 2300 ns and 85 ns a row, the other the same with a jump at 500
/// rows.
fn run() -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    for (subject, jump) in [("sql-c/sqlite", 0.0), ("sql-go/sqlite", 30_000.0)] {
        add(&mut run, subject, jump);
    }
    run
}

fn add(run: &mut RunRecord, subject: &str, jump: f64) {
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

/// Returns the same run with equal, spread costs of frames. Turns have the line.
fn by_turns() -> RunRecord {
    let mut run = run();
    let same = |result: &&mut ResultRecord| result.identity.placement == "same";
    for result in run.results.iter_mut().filter(same) {
        let Outcome::Frame(estimate) = &mut result.outcome else {
            continue;
        };
        let cost = std::mem::replace(&mut estimate.cost_ns, interval(7e6, 1e6)).value;
        estimate.findings = vec![
            finding(FindingKind::Outliers, "21 of 824 slices"),
            finding(FindingKind::UnexpectedSwitches, "2.0 a turn"),
        ];
        let turn = |number| CostRound {
            round: number,
            time_ns: Some(cost),
            ..round(1.0, 0.0)
        };
        result.costs = Some(Costs {
            rounds: (0..6).map(turn).collect(),
            ..Costs::default()
        });
    }
    run
}

#[test]
fn the_time_of_turns_stands_before_that_of_frames() {
    let run = by_turns();
    let document = compose(&run);
    let section = section(&document, "group-queries");
    let tables = tables(section);
    let line = tables.iter().find(|table| table.title.contains("straight"));
    let begin = text(line.unwrap(), "to begin with", 0);
    assert!(begin.starts_with("2.3"), "{begin}");
    let costs = tables[0];
    let row = costs.rows.iter().find(|row| row.label.contains("LIMIT 10"));
    let Cell::Figure(figure) = &row.expect("there are ten rows").cells[0] else {
        panic!("no figure: {costs:?}");
    };
    assert_eq!(
        (figure.value, figure.standing.clone()),
        (3150.0, Standing::Resolved)
    );
    let marks: Vec<&str> = figure.marks.iter().map(|mark| mark.word.as_str()).collect();
    assert_eq!(
        marks,
        ["switches"],
        "what slices are worth is nothing to it"
    );
    let reported = |name: &str| figure.detail.iter().find(|fact| fact.label == name);
    assert!(reported("Time in turns").is_some() && reported("Cost, bootstrap").is_some());
    let csv = antiphon_report::export::csv::run(&run).unwrap();
    let value = |figure: &str| {
        let mut lines = csv
            .lines()
            .filter(|line| line.contains(&format!(",rows.10,,sql-c/sqlite,other,same,{figure},")));
        lines
            .next()
            .unwrap_or_else(|| panic!("no {figure}"))
            .to_owned()
    };
    assert!(value("cost").contains(",3150"), "{}", value("cost"));
    assert!(
        value("cost_frames").contains(",7000000"),
        "{}",
        value("cost_frames")
    );
}

/// Returns the titles of the group's plots, each with its subjects.
fn plotted(run: &RunRecord) -> Vec<(String, Vec<String>)> {
    let document = compose(run);
    let of_line = |block: &Block| match block {
        Block::Plot(plot) if plot.title.starts_with("SELECT * FROM") => {
            let names = plot.series.iter().map(|series| series.name.clone());
            Some((plot.title.clone(), names.collect()))
        }
        _ => None,
    };
    let blocks = section(&document, "group-queries").blocks.iter();
    blocks.filter_map(of_line).collect()
}

#[test]
fn each_database_that_several_languages_use_has_a_plot_of_its_own() {
    let mut run = run();
    for subject in ["sql-c/mariadb", "sql-go/mariadb", "sql-c/sqlite (again)"] {
        add(&mut run, subject, 0.0);
    }
    let plots = plotted(&run);
    let sizes: Vec<_> = plots
        .iter()
        .map(|(title, of)| (&**title, of.len()))
        .collect();
    assert_eq!(
        sizes,
        [
            ("SELECT * FROM … LIMIT n: sqlite", 3),
            ("SELECT * FROM … LIMIT n: mariadb", 2)
        ]
    );
    for (title, of) in &plots {
        let variant = title.rsplit(' ').next().unwrap();
        assert!(of.iter().all(|name| name.contains(variant)), "{plots:?}");
    }
}

#[test]
fn subjects_that_share_no_variant_share_a_plot() {
    let mut run = run();
    add(&mut run, "ada/tasks", 0.0);
    add(&mut run, "ada/tasks (again)", 0.0);
    let plots = plotted(&run);
    assert_eq!(plots.len(), 1, "{plots:?}");
    assert_eq!(plots[0].1.len(), 4);
}

/// Returns the shown figure of ten rows, with these times of turns.
fn shown(times: &[f64]) -> Figure {
    let mut run = by_turns();
    for result in &mut run.results {
        let Some(costs) = &mut result.costs else {
            continue;
        };
        costs.rounds.truncate(times.len());
        for (round, time) in costs.rounds.iter_mut().zip(times) {
            round.time_ns = Some(*time);
        }
    }
    let document = compose(&run);
    let table = tables(section(&document, "group-queries"))[0];
    let row = table.rows.iter().find(|row| row.label.contains("LIMIT 10"));
    match &row.expect("there are ten rows").cells[0] {
        Cell::Figure(figure) => (**figure).clone(),
        other => panic!("no figure: {other:?}"),
    }
}

#[test]
fn what_turns_say_of_little_is_marked_and_of_nothing_is_no_number() {
    let words = |figure: &Figure| -> Vec<String> {
        let marks = figure.marks.iter();
        marks.map(|mark| mark.word.clone()).collect()
    };
    let one = shown(&[3150.0]);
    assert_eq!(one.standing, Standing::Resolved);
    assert_eq!(words(&one), ["one round", "switches"]);
    let below = shown(&[-900.0, -950.0, -920.0, -910.0, -930.0, -940.0]);
    assert_eq!(below.standing, Standing::Resolved);
    assert_eq!(words(&below), ["below zero", "switches"]);
    let nothing = shown(&[-9.0, 9.0, 5.0, -5.0, 1.0, -1.0]);
    assert_eq!(nothing.standing, Standing::LikeControl);
}

#[test]
fn what_was_found_in_slices_is_told_of_times_that_are_theirs_alone() {
    let reported = |run: &RunRecord| {
        let document = compose(run);
        let titles = tables(section(&document, "findings"));
        titles
            .iter()
            .map(|table| table.title.clone())
            .collect::<Vec<_>>()
    };
    let mut run = by_turns();
    let is_reported =
        |titles: &[String], what: &str| titles.iter().any(|title| title.starts_with(what));
    let of_turns = reported(&run);
    assert!(
        is_reported(&of_turns, "Unexpected context switches"),
        "{of_turns:?}"
    );
    assert!(!is_reported(&of_turns, "Outlying slices"), "{of_turns:?}");
    run.results
        .iter_mut()
        .for_each(|result| result.costs = None);
    let of_frames = reported(&run);
    assert!(is_reported(&of_frames, "Outlying slices"), "{of_frames:?}");
}

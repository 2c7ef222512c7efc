//! Typical costs of subjects: they stand beside those of single operations, and are compared
//! between runs.

use crate::sample::{drawn, empty_run, estimate, identity, result, round, section, tables};
use antiphon_lab::{CostRound, Costs, Outcome, RunRecord, agreements};
use antiphon_report::document::{Block, Cell, Document, Figure, Table};
use antiphon_report::{compose, compose_agreement};

const SUITE: &str = include_str!("../../../../suites/sql.toml");
const C: &str = "sql-c/sqlite";
const GO: &str = "sql-go/sqlite";

fn costs(subject_ns: f64) -> Costs {
    let numbered = |number| CostRound {
        round: number,
        ..round(subject_ns, 0.0)
    };
    Costs {
        rounds: (0..20).map(numbered).collect(),
        ..Costs::default()
    }
}

/// Returns a run of C's operations of a microsecond each, and Go's with these multiples.
fn run(times: &[(&str, f64)]) -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = SUITE.to_owned();
    for (test, times) in times {
        add(&mut run, test, &[(C, 1e3), (GO, 1e3 * times)]);
    }
    run
}

/// Adds the costs of a test in several subjects, ns.
fn add(run: &mut RunRecord, test: &str, costs_ns: &[(&str, f64)]) {
    for (subject, ns) in costs_ns {
        let identity = identity(test, subject, "other", "same");
        let frame = Outcome::Frame(Box::new(estimate(*ns, 1.0)));
        let mut result = result(identity, frame);
        result.costs = Some(costs(*ns));
        run.results.push(result);
    }
}

/// Returns the groups and figures of Go's only row.
fn shown(document: &Document) -> Vec<(String, Figure)> {
    let table = tables(section(document, "typical")).remove(0);
    assert_eq!(table.rows.len(), 1, "{:?}", table.rows);
    let row = &table.rows[0];
    assert_eq!(
        (row.label.as_str(), row.place.as_str()),
        (GO, "as a ratio to sql-c/sqlite")
    );
    let titles = table.columns.iter().map(|column| column.title.clone());
    let figures = row.cells.iter().map(|cell| match cell {
        Cell::Figure(figure) => (**figure).clone(),
        other => panic!("{other:?}"),
    });
    titles.zip(figures).collect()
}

#[test]
fn a_subject_has_a_ratio_for_each_group_of_which_enough_was_measured() {
    let queries = [("select.1", 2.0), ("rows.1", 2.0), ("rows.100", 8.0)];
    let writing = [("insert", 3.0), ("drop_create", 5.0)];
    let figures = shown(&compose(&run(&[&queries[..], &writing].concat())));
    let [(group, figure)] = &figures[..] else {
        panic!("{figures:?}")
    };
    assert_eq!(group, "Queries");
    // Two, two, two, four, four and eight: between the third and the fourth.
    assert!((figure.value - 8.0_f64.sqrt()).abs() < 1e-6, "{figure:?}");
    assert!(figure.low < figure.value && figure.value < figure.high);
    let reported = |label: &str| {
        let fact = figure.detail.iter().find(|fact| fact.label == label);
        fact.map(|fact| fact.text.clone()).unwrap_or_default()
    };
    assert_eq!(reported("Operations"), "3");
    assert!(
        reported("The largest ratio").contains("LIMIT 100"),
        "{figure:?}"
    );
}

#[test]
fn a_run_in_which_nothing_is_compared_has_no_such_section() {
    let mut alone = run(&[("select.1", 2.0), ("rows.1", 2.0), ("rows.100", 8.0)]);
    alone.results.retain(|result| result.identity.subject == C);
    let document = compose(&alone);
    assert!(
        document
            .sections
            .iter()
            .all(|section| section.id != "typical")
    );
}

#[test]
fn two_runs_agree_on_the_whole_where_one_operation_does_not() {
    let first = run(&[
        ("select.1", 2.0),
        ("rows.1", 2.1),
        ("rows.10", 2.2),
        ("rows.100", 2.3),
        ("do.1", 2.2),
    ]);
    let second = run(&[
        ("select.1", 2.0),
        ("rows.1", 2.1),
        ("rows.10", 3.0),
        ("rows.100", 2.3),
        ("do.1", 2.2),
    ]);
    let document = compose_agreement(&agreements(&first, &second), 0.03, &first, 8);
    let blocks = &document.sections[0].blocks;
    let prose = blocks.iter().filter_map(|block| match block {
        Block::Prose { text } => Some(text.replace('\u{202f}', " ")),
        _ => None,
    });
    let prose: Vec<String> = prose.collect();
    assert!(
        prose[0].starts_with("4 of 5 ratios within 3 %"),
        "{prose:?}"
    );
    assert!(
        prose[1].ends_with("within 3 %: 1 of 1 of Queries."),
        "{prose:?}"
    );
    let all = tables(&document.sections[0]);
    let typical: Vec<&&Table> = all
        .iter()
        .filter(|table| table.title.starts_with("Typical"))
        .collect();
    let [table] = &typical[..] else {
        panic!("{all:?}")
    };
    assert_eq!(table.columns[1].title, "run 8");
    assert!(table.rows[0].place.starts_with(GO), "{:?}", table.rows);
}

/// Two drivers of each of two languages, and their costs.
const DRIVERS: [(&str, f64); 4] = [
    ("sql-go/postgresql", 1e3),
    ("sql-go/postgresql-pq", 2e3),
    ("sql-python/postgresql", 8e3),
    ("sql-python/postgresql-psycopg2", 4e3),
];

/// Returns a run in which only Go's drivers have a figure of the second operation.
fn of_drivers() -> RunRecord {
    let mut run = empty_run();
    run.suite_toml = include_str!("../../../../suites/drivers.toml").to_owned();
    add(&mut run, "select.1", &DRIVERS);
    add(&mut run, "rows.1", &DRIVERS[..2]);
    run
}

#[test]
fn drivers_are_compared_within_their_language_and_operation_by_operation() {
    let mut run = of_drivers();
    add(&mut run, "rows.100", &DRIVERS);
    let mut two = run.clone();
    two.results.retain(|of| of.identity.test != "rows.1");
    let alone = compose(&two);
    let alone = tables(section(&alone, "typical"));
    assert_eq!(alone.len(), 1, "of two operations: {alone:?}");
    assert_eq!(alone[0].rows.len(), 2);
    let document = compose(&run);
    let all = tables(section(&document, "typical"));
    let [typical, single] = &all[..] else {
        panic!("{all:?}")
    };
    // Two operations give no typical ratio.
    let about = |table: &Table| {
        let rows = table.rows.iter();
        rows.map(|row| (row.label.clone(), row.place.clone()))
            .collect::<Vec<_>>()
    };
    let to = |subject: &str, base: &str| (subject.to_owned(), format!("as a ratio to {base}"));
    let (pq, psycopg2) = (
        to("sql-go/postgresql-pq", "sql-go/postgresql"),
        to("sql-python/postgresql-psycopg2", "sql-python/postgresql"),
    );
    assert_eq!(about(typical), std::slice::from_ref(&pq));
    assert_eq!(about(single), [pq, psycopg2]);
    let shown = |row: usize| {
        let cells = single.rows[row].cells.iter();
        let ratios = cells.map(|cell| match cell {
            Cell::Figure(figure) => Some(figure.value),
            _ => None,
        });
        ratios.collect::<Vec<_>>()
    };
    assert_eq!(shown(0), [Some(2.0), Some(2.0), Some(2.0)]);
    assert_eq!(shown(1), [Some(0.5), None, Some(0.5)]);
    // The full table agrees: its ratio is to the usual driver.
    let mut full = document.sections.iter().flat_map(tables);
    let title = "Queries: processor time, memory and threads";
    let full = full.find(|table| table.title == title).unwrap();
    let of = full
        .columns
        .iter()
        .position(|column| column.title == "both, as a ratio to the first");
    let ratio = |row: usize| match &full.rows[row].cells[of.unwrap()] {
        Cell::Figure(figure) => figure.value,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [ratio(0), ratio(1), ratio(2), ratio(3)],
        [1.0, 2.0, 1.0, 0.5]
    );
}

#[test]
fn drivers_costs_are_drawn_language_by_language() {
    let document = compose(&of_drivers());
    let plots = drawn(section(&document, "group-queries")).into_iter();
    let plots: Vec<(&str, Vec<&str>, usize)> = plots
        .map(|plot| {
            let series = plot.series.iter().map(|series| &*series.name);
            (&*plot.title, series.collect(), plot.categories.len())
        })
        .collect();
    let of = |names: [&'static str; 2]| names.to_vec();
    assert_eq!(
        plots,
        [
            (
                "Queries: costs with their intervals, sql-go",
                of([
                    "sql-go/postgresql · other, same",
                    "sql-go/postgresql-pq · other, same"
                ]),
                2
            ),
            (
                "Queries: costs with their intervals, sql-python",
                of([
                    "sql-python/postgresql · other, same",
                    "sql-python/postgresql-psycopg2 · other, same"
                ]),
                1
            ),
        ]
    );
}

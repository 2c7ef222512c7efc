//! Tables of loads: one over all loads of a group for each figure, and one a load with everything.

use super::shown::{Of, Shown, in_full, over_loads};
use super::{Waits, marks, noise, wait};
use crate::compose::cold;
use crate::compose::figure::range;
use crate::compose::view::View;
use crate::document::{Block, Cell, Column, Fact, Figure, Mark, Row, RowKind, Table, Unit, Weight};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{Apart, LoadOutcome, LoadRound, Outcome, ResultRecord};

/// Caption of tables of latencies.
const LATENCIES: &str = "Percentiles are those of all requests of all rounds, with how far they may be off by what rounds differ; of fewer than six rounds the interval holds what \
                         each says by itself. Limits lie unevenly about a percentile: then both stand beside it, and no ±. A percentile p is shown from 1/(1 − p) requests on.";

/// Addition for figures that are not pooled.
const BY_ROUNDS: &str = " Where a figure is marked “by rounds”, no histogram was kept, as by other generators and in runs of older versions: it is the median of \
                         what each round says, in which a pause in fewer than half of the rounds does not show.";

/// Addition for the server's context switches.
const SWITCHES: &str = " To the thousandth: how often the server’s threads wait, for a request, for each other or for a lock. What it takes to be woken is part of what a request costs, \
                        so where rounds differ in it over few connections, as a server and a generator race, costs do.";

/// Returns the tables of a group under one policy and placement.
pub(super) fn blocks(
    view: &View,
    group: &Group,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
) -> Vec<Block> {
    let subjects = in_order(results, |result| result.identity.subject.clone());
    let tests = in_order(results, |result| result.identity.test.clone());
    let has = |shown: &Shown| {
        let mut figures = results.iter().filter_map(|result| {
            let load = result.load()?;
            shown.figure(load, wait(waits, result)?)
        });
        figures.any(|figure| figure.value > 0.0)
    };
    let over = over_loads().filter(has).map(|shown| {
        let column = |test: &String| Column::titled(label(view, results, test));
        let row = |subject: &String| Row {
            label: subject.clone(),
            place: conditions.into(),
            kind: RowKind::Measured,
            subject: view.colour(subject),
            cells: tests
                .iter()
                .map(|test| cell(view, results, find(results, subject, test), waits, &shown))
                .collect(),
        };
        Table {
            title: format!("{}: {}", group.title, shown.title),
            caption: caption(view, &shown, waits),
            corner: "Server".into(),
            columns: tests.iter().map(column).collect(),
            rows: subjects.iter().map(row).collect(),
            folded: false,
        }
    });
    let over = over.map(Block::Table);
    let full = tests.iter().map(|test| {
        Block::Table(of_one_load(
            view, conditions, results, waits, &subjects, test,
        ))
    });
    over.chain(full).collect()
}

/// Returns the folded full table of one load.
fn of_one_load(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    waits: &Waits,
    subjects: &[String],
    test: &str,
) -> Table {
    let base = subjects
        .iter()
        .find_map(|subject| find(results, subject, test)?.load());
    let is_part = base.is_some_and(|load| load.task.percent_of_closed.is_some());
    let has = |shown: &Shown| is_part || !shown.is_of_parts();
    let in_full: Vec<Shown> = in_full().filter(has).collect();
    let rows = subjects.iter().filter_map(|subject| {
        let result = find(results, subject, test)?;
        let mut cells: Vec<Cell> = in_full
            .iter()
            .map(|shown| cell(view, results, Some(result), waits, shown))
            .collect();
        let ratio = base.and_then(|base| result.load()?.ratio(base, LoadRound::cpu_ns));
        cells.insert(
            1,
            ratio.map_or(Cell::Empty, |ratio| {
                Cell::Figure(Box::new(Figure::resolved(ratio, Unit::Ratio)))
            }),
        );
        Some(Row {
            label: subject.clone(),
            place: conditions.into(),
            kind: RowKind::Measured,
            subject: view.colour(subject),
            cells,
        })
    });
    let loads = subjects
        .iter()
        .filter_map(|subject| Some((subject.as_str(), find(results, subject, test)?.load()?)));
    let noise = noise::sentence(loads);
    let mut columns: Vec<Column> = in_full
        .iter()
        .map(|shown| Column::titled(shown.title))
        .collect();
    columns.insert(1, Column::titled("as a share of the first"));
    Table {
        title: format!("{}: all figures", label(view, results, test)),
        caption: format!(
            "Memory is proportional (shared pages in parts) and, like the threads, that of the server's processes after the load; the peak is the \
             sum of their largest resident memories. Latencies count from the time at which a request was due. {} The longest latency is that of all \
             rounds, and the starved connections are those of the worst; other figures are medians of rounds. Shares are taken within rounds.{}{noise}",
            of_latencies(waits),
            cold::compilers(view)
        ),
        corner: "Server".into(),
        columns,
        rows: rows.collect(),
        folded: true,
    }
}

/// Returns the caption with the method of a table's figures.
fn caption(view: &View, shown: &Shown, waits: &Waits) -> String {
    let made = match shown.of {
        Of::All(..) => of_latencies(waits),
        _ => "Medians of rounds with their intervals.".into(),
    };
    let compilers = match shown.is_processor_time() {
        true => cold::compilers(view),
        false => "",
    };
    let switches = match shown.is_of_waits() {
        true => SWITCHES,
        false => "",
    };
    format!("{made} In each round every server had a moment of each load.{compilers}{switches}")
}

fn of_latencies(waits: &Waits) -> String {
    let are_all = waits.values().all(|of| of.are_pooled);
    format!("{LATENCIES}{}", if are_all { "" } else { BY_ROUNDS })
}

fn cell(
    view: &View,
    results: &[&ResultRecord],
    result: Option<&ResultRecord>,
    waits: &Waits,
    shown: &Shown,
) -> Cell {
    let Some(result) = result else {
        return Cell::Empty;
    };
    if let Outcome::Absent { reason, listed, .. } = &result.outcome {
        return Cell::absent(reason, *listed);
    }
    let (Some(load), Some(latencies)) = (result.load(), wait(waits, result)) else {
        return Cell::Empty;
    };
    let Some(interval) = shown.figure(load, latencies) else {
        return Cell::Empty;
    };
    let mut figure = Figure::resolved(interval, shown.unit);
    figure.marks = marks(view, result, results);
    if matches!(shown.of, Of::All(..)) && !latencies.are_pooled {
        figure.marks.push(Mark {
            weight: Weight::Info,
            word: "by rounds".into(),
        });
    }
    figure.detail = detail(load, shown);
    if let (Of::All(..), Some((low, high))) = (&shown.of, interval.limits()) {
        let limits = number::range(shown.unit, low, high);
        figure.detail.insert(0, Fact::new("Limits", limits));
    }
    Cell::Figure(Box::new(figure))
}

/// Returns the evidence of a figure.
fn detail(load: &LoadOutcome, shown: &Shown) -> Vec<Fact> {
    let values: Vec<String> = load
        .rounds
        .iter()
        .filter_map(|round| Some(number::quantity(shown.unit, shown.of_round(round)?)))
        .collect();
    // A round alone may have too few requests for a percentile.
    let in_order = match values.is_empty() {
        true => "none has enough requests to tell".into(),
        false => values.join(", "),
    };
    let total: u64 = load.rounds.iter().map(|round| round.answered).sum();
    let again: u32 = load
        .rounds
        .iter()
        .map(|round| round.attempts.saturating_sub(1))
        .sum();
    let waits = match load.polls() {
        true => "polling",
        false => "asleep",
    };
    let apart = Apart::of(load.distances());
    let apart = apart.map(|apart| Fact::new("Core-to-core latency", range(&apart)));
    let facts = vec![
        Fact::new("Rounds in order", in_order),
        Fact::new("Requests", number::count(total)),
        Fact::new("By", load.task.by.word()),
        Fact::new("The generator waits", waits),
        Fact::new(
            "Rounds that others disturbed",
            number::count(load.count(LoadRound::was_disturbed) as u64),
        ),
        Fact::new("Measured again for it", number::count(again.into())),
    ];
    facts.into_iter().chain(apart).collect()
}

fn find<'a>(results: &[&'a ResultRecord], subject: &str, test: &str) -> Option<&'a ResultRecord> {
    let fits = |result: &&&ResultRecord| {
        result.identity.subject == subject && result.identity.test == test
    };
    results.iter().find(fits).copied()
}

fn label(view: &View, results: &[&ResultRecord], test: &str) -> String {
    let of_test = results.iter().find(|result| result.identity.test == test);
    of_test.map_or_else(|| test.to_owned(), |result| view.label(&result.identity))
}

fn in_order(results: &[&ResultRecord], of: impl Fn(&ResultRecord) -> String) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for result in results {
        let name = of(result);
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

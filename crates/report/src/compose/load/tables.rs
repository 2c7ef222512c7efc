//! Tables of loads: one over all loads of a group for each figure, and one a load with everything.

use super::{marks, noise, outcome, starved};
use crate::compose::view::View;
use crate::document::{Block, Cell, Column, Fact, Figure, Row, RowKind, Table, Unit};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{LoadOutcome, LoadRound, Outcome, ResultRecord};

/// A figure of a round, with its heading and unit.
struct Shown {
    title: &'static str,
    unit: Unit,
    /// `None` where the generator does not tell it.
    of: fn(&LoadRound) -> Option<f64>,
}

fn time(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// In the order of their weight: what a request costs comes first.
const OVER_LOADS: [Shown; 5] = [
    Shown {
        title: "Processor time of the server a request",
        unit: Unit::Nanoseconds,
        of: |round| Some(round.cpu_ns()),
    },
    Shown {
        title: "Requests a second",
        unit: Unit::Count,
        of: |round| Some(round.per_second),
    },
    Shown {
        title: "Latency, median",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p50_ns),
    },
    Shown {
        title: "Latency, 99 %",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p99_ns),
    },
    Shown {
        title: "Latency, 99.9 %",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p999_ns),
    },
];

const IN_FULL: [Shown; 13] = [
    Shown {
        title: "CPU a request",
        unit: Unit::Nanoseconds,
        of: |round| Some(round.cpu_ns()),
    },
    Shown {
        title: "Requests/s",
        unit: Unit::Count,
        of: |round| Some(round.per_second),
    },
    Shown {
        title: "p50",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p50_ns),
    },
    Shown {
        title: "p99",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p99_ns),
    },
    Shown {
        title: "p99.9",
        unit: Unit::Nanoseconds,
        of: |round| time(round.p999_ns),
    },
    Shown {
        title: "Longest",
        unit: Unit::Nanoseconds,
        of: |round| time(round.longest_ns),
    },
    Shown {
        title: "Starved",
        unit: Unit::Count,
        of: |round| {
            round
                .tells_connections()
                .then_some(round.starved.len() as f64)
        },
    },
    Shown {
        title: "Memory after",
        unit: Unit::Bytes,
        of: |round| Some(round.pss_bytes as f64),
    },
    Shown {
        title: "Peak",
        unit: Unit::Bytes,
        of: |round| Some(round.peak_bytes as f64),
    },
    Shown {
        title: "Threads",
        unit: Unit::Count,
        of: |round| Some(round.threads as f64),
    },
    Shown {
        title: "Sent late by, p99",
        unit: Unit::Nanoseconds,
        of: |round| time(round.lag_p99_ns),
    },
    Shown {
        title: "Generator busy",
        unit: Unit::Share,
        of: |round| Some(round.generator_share),
    },
    Shown {
        title: "Foreign",
        unit: Unit::Share,
        of: |round| Some(round.foreign_share),
    },
];

/// The tables of a group under one policy and placement.
pub(super) fn blocks(
    view: &View,
    group: &Group,
    conditions: &str,
    results: &[&ResultRecord],
) -> Vec<Block> {
    let subjects = in_order(results, |result| result.identity.subject.clone());
    let tests = in_order(results, |result| result.identity.test.clone());
    let has = |shown: &&Shown| {
        results
            .iter()
            .filter_map(|result| outcome(result))
            .flat_map(|load| &load.rounds)
            .any(|round| (shown.of)(round).is_some_and(|value| value > 0.0))
    };
    let over = OVER_LOADS.iter().filter(has).map(|shown| {
        let column = |test: &String| Column {
            title: label(view, results, test),
            ..Column::default()
        };
        let row = |subject: &String| Row {
            label: subject.clone(),
            place: conditions.into(),
            kind: RowKind::Measured,
            subject: view.colour(subject),
            cells: tests.iter().map(|test| cell(results, find(results, subject, test), shown)).collect(),
        };
        Table {
            title: format!("{}: {}", group.title, shown.title),
            caption: "Medians of rounds with their intervals; in each round every server had a moment of each load.".into(),
            corner: "Server".into(),
            columns: tests.iter().map(column).collect(),
            rows: subjects.iter().map(row).collect(),
            folded: false,
        }
    });
    let over = over.map(Block::Table);
    let full = tests
        .iter()
        .map(|test| Block::Table(in_full(view, conditions, results, &subjects, test)));
    over.chain(full).collect()
}

/// Everything of one load, folded.
fn in_full(
    view: &View,
    conditions: &str,
    results: &[&ResultRecord],
    subjects: &[String],
    test: &str,
) -> Table {
    let heading = |title: &str| Column {
        title: title.into(),
        ..Column::default()
    };
    let base = subjects
        .iter()
        .find_map(|subject| outcome(find(results, subject, test)?));
    let rows = subjects.iter().filter_map(|subject| {
        let result = find(results, subject, test)?;
        let mut cells: Vec<Cell> = IN_FULL
            .iter()
            .map(|shown| cell(results, Some(result), shown))
            .collect();
        let ratio = base.and_then(|base| outcome(result)?.ratio(base, LoadRound::cpu_ns));
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
        .filter_map(|subject| Some((subject.as_str(), outcome(find(results, subject, test)?)?)));
    let noise = noise::sentence(loads);
    let mut columns: Vec<Column> = IN_FULL.iter().map(|shown| heading(shown.title)).collect();
    columns.insert(1, heading("as a share of the first"));
    Table {
        title: format!("{}: all figures", label(view, results, test)),
        caption: format!(
            "Memory is proportional (shared pages in parts) and, like the threads, that of the server's processes after the load; the peak is the \
             sum of their largest resident memories. Latencies count from the time at which a request was due. Shares are taken within rounds.{noise}"
        ),
        corner: "Server".into(),
        columns,
        rows: rows.collect(),
        folded: true,
    }
}

fn cell(results: &[&ResultRecord], result: Option<&ResultRecord>, shown: &Shown) -> Cell {
    let Some(result) = result else {
        return Cell::Empty;
    };
    if let Outcome::Absent { reason, listed, .. } = &result.outcome {
        return Cell::absent(reason, *listed);
    }
    let Some((load, interval)) =
        outcome(result).and_then(|load| Some((load, load.told(shown.of)?)))
    else {
        return Cell::Empty;
    };
    let mut figure = Figure::resolved(interval, shown.unit);
    figure.marks = marks(load, starved::is_servers(starved::whose(result, results)));
    figure.detail = detail(load, shown);
    Cell::Figure(Box::new(figure))
}

/// The evidence of a figure.
fn detail(load: &LoadOutcome, shown: &Shown) -> Vec<Fact> {
    let values: Vec<String> = load
        .rounds
        .iter()
        .filter_map(|round| Some(number::quantity(shown.unit, (shown.of)(round)?)))
        .collect();
    let total: u64 = load.rounds.iter().map(|round| round.answered).sum();
    let again: u32 = load
        .rounds
        .iter()
        .map(|round| round.attempts.saturating_sub(1))
        .sum();
    vec![
        Fact::new("Rounds in order", values.join(", ")),
        Fact::new("Requests", number::count(total)),
        Fact::new("By", load.task.by.word()),
        Fact::new(
            "Rounds that others disturbed",
            number::count(load.count(LoadRound::was_disturbed) as u64),
        ),
        Fact::new("Measured again for it", number::count(again.into())),
    ]
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

//! Noise of differences: servers that were started twice, as a share of themselves.

use super::conditions;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Figure, Row, RowKind, Section, Table, Unit};
use crate::number;
use antiphon_lab::{LoadOutcome, LoadRound, ResultRecord};
use antiphon_measure::median_interval;

/// A quantity's name, and its value in a round.
type Quantity = (&'static str, fn(&LoadRound) -> f64);

/// Compared quantities.
const QUANTITIES: [Quantity; 2] = [
    ("Processor time of the server a request", LoadRound::cpu_ns),
    ("Requests a second", |round| round.per_second),
];

/// Returns the section; `None` if no server was started twice.
pub(super) fn section(view: &View, results: &[&ResultRecord]) -> Option<Section> {
    let twice = |result: &&ResultRecord| is_twice(result);
    let results: Vec<&ResultRecord> = results.iter().copied().filter(twice).collect();
    if results.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Prose {
        text: "Some servers were started twice and took turns with themselves as with the others. In truth their shares are 1: how far they are from it is \
               what chance, the place in the round and the start alone do, and a difference between two servers that is no larger says nothing."
            .into(),
    }];
    for (title, of) in QUANTITIES {
        for conditions in conditions(&results) {
            blocks.push(Block::Table(table(view, &results, &conditions, title, of)));
        }
    }
    Some(Section {
        id: "load-noise".into(),
        title: "The same server twice".into(),
        blocks,
    })
}

fn is_twice(result: &ResultRecord) -> bool {
    result.load().is_some_and(|load| !load.again.is_empty())
}

fn table(
    view: &View,
    results: &[&ResultRecord],
    conditions: &str,
    title: &str,
    of: fn(&LoadRound) -> f64,
) -> Table {
    let here: Vec<&ResultRecord> = results
        .iter()
        .copied()
        .filter(|result| RunColumn::of(&result.identity).conditions() == conditions)
        .collect();
    let mut subjects: Vec<&str> = Vec::new();
    let mut tests: Vec<&ResultRecord> = Vec::new();
    for result in &here {
        if !subjects.contains(&result.identity.subject.as_str()) {
            subjects.push(&result.identity.subject);
        }
        if !tests
            .iter()
            .any(|known| known.identity.test == result.identity.test)
        {
            tests.push(result);
        }
    }
    let share = |subject: &str, test: &str| {
        here.iter()
            .find(|result| result.identity.subject == subject && result.identity.test == test)
            .and_then(|result| result.load()?.ratio_to_itself(of))
    };
    // Turned, so that a table of few servers and many loads is not wide.
    let row = |test: &&ResultRecord| Row {
        label: view.label(&test.identity),
        place: conditions.into(),
        kind: RowKind::Measured,
        subject: None,
        cells: subjects
            .iter()
            .map(|subject| match share(subject, &test.identity.test) {
                Some(share) => Cell::Figure(Box::new(Figure::resolved(share, Unit::Ratio))),
                None => Cell::Empty,
            })
            .collect(),
    };
    let column = |subject: &&str| Column::titled((*subject).to_owned());
    Table {
        title: format!("{title}, as a share of itself ({conditions})"),
        caption: floor(&here, of),
        corner: "Load".into(),
        columns: subjects.iter().map(column).collect(),
        rows: tests.iter().map(row).collect(),
        folded: false,
    }
}

/// Returns the distance of the shares from 1.
fn floor(results: &[&ResultRecord], of: fn(&LoadRound) -> f64) -> String {
    let off: Vec<f64> = results
        .iter()
        .filter_map(|result| Some((result.load()?.ratio_to_itself(of)?.value - 1.0).abs()))
        .collect();
    let most = off.iter().copied().reduce(f64::max);
    let (Some(median), Some(most)) = (median_interval(&off), most) else {
        return String::new();
    };
    let percent = |share: f64| number::quantity(Unit::Share, share);
    format!(
        "Off by {} at the median of these loads, and by {} at most.",
        percent(median.value),
        percent(most)
    )
}

/// Returns a sentence on servers that were started twice under a load; empty without any.
pub(super) fn sentence<'a>(loads: impl Iterator<Item = (&'a str, &'a LoadOutcome)>) -> String {
    let reported: Vec<String> = loads
        .filter_map(|(subject, load)| {
            let share = load.ratio_to_itself(LoadRound::cpu_ns)?;
            let ratio = |share| number::quantity(Unit::Ratio, share);
            Some(format!(
                "{subject} {} ({} to {})",
                ratio(share.value),
                ratio(share.low),
                ratio(share.high)
            ))
        })
        .collect();
    match reported.is_empty() {
        true => String::new(),
        false => format!(
            " Shares of the same server, started twice: {}.",
            reported.join(", ")
        ),
    }
}

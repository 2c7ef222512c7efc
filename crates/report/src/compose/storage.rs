//! Storage loops: a table of verdicts and the time of each turn.

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Fact, Guide, Plot, Point, Row, RowKind, Series,
    Table, Unit,
};
use crate::number;
use antiphon_lab::{Identity, Outcome, ResultRecord};
use antiphon_measure::{StorageEstimate, storage_verdict};

const COLUMNS: [&str; 7] = [
    "Allocations",
    "Object",
    "Typical turn",
    "Growth every (turns)",
    "Growth costs",
    "Level changes",
    "Ended by",
];

/// Returns table, verdicts and plot; nothing without storage loops.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Storage);
    if results.is_empty() {
        return Vec::new();
    }
    let table = Table {
        title: "Storage loops".into(),
        caption: "Growth is a dearer turn that recurs at a regular distance. Where all storage is kept, the allocator asks for more \
                  then, or pages are touched for the first time. Policy and placement are as the thread reported, where the findings \
                  do not say otherwise."
            .into(),
        corner: "Loop".into(),
        columns: COLUMNS.map(Column::titled).to_vec(),
        rows: results.iter().map(|result| row(view, result)).collect(),
        folded: false,
    };
    let mut blocks = vec![Block::Table(table)];
    let columns = view.columns(results.iter().copied());
    blocks.extend(reclaiming(&results, &columns));
    blocks.extend(verdicts(view, &results));
    blocks.extend(
        columns
            .iter()
            .filter_map(|column| plot(view, &results, column))
            .map(Block::Plot),
    );
    blocks
}

/// Returns the label of the loop alone, because the table has the object's size.
fn loop_label(view: &View, result: &ResultRecord) -> String {
    view.label(&Identity {
        arg: None,
        ..result.identity.clone()
    })
}

fn name(view: &View, result: &ResultRecord) -> String {
    format!(
        "{} · {}",
        loop_label(view, result),
        RunColumn::of(&result.identity).name()
    )
}

fn row(view: &View, result: &ResultRecord) -> Row {
    let mut cells = match &result.outcome {
        Outcome::Storage(estimate) => cells(estimate),
        Outcome::Absent { reason, listed, .. } => vec![Cell::absent(reason, *listed)],
        _ => Vec::new(),
    };
    cells.resize(COLUMNS.len(), Cell::Empty);
    Row {
        label: loop_label(view, result),
        place: RunColumn::of(&result.identity).name(),
        kind: RowKind::Measured,
        subject: view.colour(&result.identity.subject),
        cells,
    }
}

fn cells(estimate: &StorageEstimate) -> Vec<Cell> {
    let (every, costs) = match estimate.growth {
        Some((turns, excess)) => (Cell::count(turns), Cell::ns(excess)),
        None => (Cell::text("none seen"), Cell::Empty),
    };
    let ended = match &estimate.exhausted {
        Some(text) if text.is_empty() => "storage refused".to_string(),
        Some(text) => text.clone(),
        None => "its count".to_string(),
    };
    vec![
        Cell::count(estimate.completed as f64),
        Cell::Number {
            value: estimate.object_bytes as f64,
            unit: Unit::Bytes,
        },
        Cell::ns(estimate.typical_ns),
        every,
        costs,
        Cell::count(estimate.level_changes.len() as f64),
        Cell::text(ended),
    ]
}

/// Last parts of the names of the three loops: all pointers kept, two pointers, two pointers and
/// deallocation.
const LOOPS: [&str; 3] = ["kept", "two_pointers", "deallocated"];

/// Returns the common conclusions of the three loops of each column.
fn reclaiming(results: &[&ResultRecord], columns: &[RunColumn]) -> Option<Block> {
    let facts = columns.iter().filter_map(|column| {
        let own = results.iter().copied();
        let own = own.filter(|result| RunColumn::of(&result.identity) == *column);
        let sentences = together(&own.collect::<Vec<_>>())?;
        Some(Fact::new(
            format!("All loops · {}", column.name()),
            sentences.join("; "),
        ))
    });
    let facts: Vec<Fact> = facts.collect();
    (!facts.is_empty()).then_some(Block::Facts { facts })
}

/// Returns the sentences of one column's loops; `None` if none of the three ran.
fn together(own: &[&ResultRecord]) -> Option<Vec<String>> {
    let [kept, two, deallocated] = LOOPS.map(|name| {
        let named = |result: &&ResultRecord| result.identity.test.rsplit('.').next() == Some(name);
        own.iter()
            .copied()
            .find(named)
            .and_then(|result| match &result.outcome {
                Outcome::Storage(estimate) => Some(estimate),
                _ => None,
            })
    });
    match (kept, two, deallocated) {
        (None, None, None) => None,
        (Some(kept), Some(two), Some(deallocated)) => Some(storage_verdict(kept, two, deallocated)),
        _ => Some(vec![
            "not all three loops gave a figure, so that nothing can be said of reclaiming".into(),
        ]),
    }
}

fn verdicts(view: &View, results: &[&ResultRecord]) -> Option<Block> {
    let facts: Vec<Fact> = results
        .iter()
        .filter_map(|result| match &result.outcome {
            Outcome::Storage(e) if !e.verdict.is_empty() => {
                Some(Fact::new(name(view, result), e.verdict.join("; ")))
            }
            _ => None,
        })
        .collect();
    (!facts.is_empty()).then_some(Block::Facts { facts })
}

/// Plots all loops of a column, one colour a loop.
fn plot(view: &View, results: &[&ResultRecord], column: &RunColumn) -> Option<Plot> {
    let own = results
        .iter()
        .filter(|result| RunColumn::of(&result.identity) == *column);
    let loops: Vec<(String, &StorageEstimate)> = own
        .filter_map(|result| match &result.outcome {
            Outcome::Storage(estimate) if estimate.completed > 0 => {
                Some((loop_label(view, result), estimate))
            }
            _ => None,
        })
        .collect();
    let reported = |(name, e): &(String, &StorageEstimate)| {
        let typical = number::quantity(Unit::Nanoseconds, e.typical_ns);
        format!(
            "{name}: {} turns, typically {typical}, {} dearer ones drawn",
            number::count(e.completed),
            e.steps.len()
        )
    };
    let described: Vec<String> = loops.iter().map(reported).collect();
    (!loops.is_empty()).then(|| Plot {
        title: format!("Time of each turn: {}", column.name()),
        description: format!("{}.", described.join("; ")),
        caption: String::new(),
        categories: Vec::new(),
        x: Axis {
            title: "Turn of the loop".into(),
            unit: AxisUnit::Count,
            log: false,
        },
        y: Axis {
            title: "Time of a turn".into(),
            unit: AxisUnit::Nanoseconds,
            log: true,
        },
        series: loops
            .iter()
            .enumerate()
            .flat_map(|(nth, (name, e))| series(nth, name, e))
            .collect(),
        guides: loops
            .iter()
            .flat_map(|(_, estimate)| level_guides(estimate))
            .collect(),
    })
}

fn series(nth: usize, name: &str, estimate: &StorageEstimate) -> Vec<Series> {
    let series = |name: String, drawn, points| Series {
        name,
        subject: None,
        shape: nth,
        drawn,
        points,
    };
    let dear = |&(turn, excess): &(u64, f64)| Point::at(turn as f64, estimate.typical_ns + excess);
    let mut all = vec![series(
        format!("{name}: typical turn"),
        Drawn::Steps,
        levels(estimate),
    )];
    if !estimate.steps.is_empty() {
        let points = estimate.steps.iter().map(dear).collect();
        all.push(series(
            format!("{name}: dearest turns"),
            Drawn::Sticks,
            points,
        ));
    }
    all
}

/// Returns a line at each of the first changes of level.
fn level_guides(estimate: &StorageEstimate) -> Vec<Guide> {
    let ns = |v: f64| number::quantity(Unit::Nanoseconds, v);
    let changes = estimate.level_changes.iter().take(12);
    changes
        .map(|&(turn, before, after)| Guide::Vertical {
            at: turn as f64,
            text: format!("{} → {}", ns(before), ns(after)),
        })
        .collect()
}

/// Returns the typical level from turn to turn, with its changes.
fn levels(estimate: &StorageEstimate) -> Vec<Point> {
    let first = estimate
        .level_changes
        .first()
        .map_or(estimate.typical_ns, |change| change.1);
    let mut points = vec![Point::at(0.0, first)];
    points.extend(
        estimate
            .level_changes
            .iter()
            .map(|&(turn, _, after)| Point::at(turn as f64, after)),
    );
    let last = points[points.len() - 1].y;
    points.push(Point::at(estimate.completed as f64, last));
    points
}

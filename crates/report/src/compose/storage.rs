//! Storage loops: a table of verdicts and the time of each turn.

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Fact, Guide, Plot, Point, Row, RowKind, Series,
    Table, Unit,
};
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::StorageEstimate;

const COLUMNS: [&str; 7] = [
    "Allocations",
    "Object",
    "Typical turn",
    "Growth every (turns)",
    "Growth costs",
    "Level changes",
    "Ended by",
];

/// Table, verdicts and plot; nothing where no storage loop ran.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Storage);
    if results.is_empty() {
        return Vec::new();
    }
    let table = Table {
        title: "Storage loops".into(),
        caption: "Growth is a dearer turn that recurs at a regular distance: the allocator asks for more, or pages are touched for the \
                  first time."
            .into(),
        corner: "Loop".into(),
        columns: COLUMNS.map(|title| Column { title: title.into(), ..Column::default() }).to_vec(),
        rows: results.iter().map(|result| row(view, result)).collect(),
        folded: false,
    };
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(verdicts(view, &results));
    blocks.extend(
        results
            .iter()
            .filter_map(|result| plot(view, result))
            .map(Block::Plot),
    );
    blocks
}

fn name(view: &View, result: &ResultRecord) -> String {
    let mut identity = result.identity.clone();
    identity.arg = None; // the table says the object's size
    format!(
        "{} · {}",
        view.label(&identity),
        RunColumn::of(&identity).name()
    )
}

fn row(view: &View, result: &ResultRecord) -> Row {
    let mut cells = match &result.outcome {
        Outcome::Storage(estimate) => cells(estimate),
        Outcome::Absent { reason, .. } => vec![Cell::Missing {
            reason: reason.clone(),
        }],
        _ => Vec::new(),
    };
    cells.resize(COLUMNS.len(), Cell::Empty);
    Row {
        label: name(view, result),
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

fn verdicts(view: &View, results: &[&ResultRecord]) -> Option<Block> {
    let facts: Vec<Fact> = results
        .iter()
        .filter_map(|result| match &result.outcome {
            Outcome::Storage(e) if !e.verdict.is_empty() => {
                Some(Fact::new(name(view, result), e.verdict.join(" ")))
            }
            _ => None,
        })
        .collect();
    (!facts.is_empty()).then_some(Block::Facts { facts })
}

fn plot(view: &View, result: &ResultRecord) -> Option<Plot> {
    let Outcome::Storage(estimate) = &result.outcome else {
        return None;
    };
    if estimate.completed == 0 {
        return None;
    }
    let subject = view.colour(&result.identity.subject);
    let series = |name: &str, shape, drawn, points| Series {
        name: name.into(),
        subject,
        shape,
        drawn,
        points,
    };
    let steps = estimate
        .steps
        .iter()
        .map(|&(turn, excess)| Point::at(turn as f64, estimate.typical_ns + excess));
    let mut all = vec![series("typical turn", 0, Drawn::Steps, levels(estimate))];
    if !estimate.steps.is_empty() {
        all.push(series("dearest turns", 1, Drawn::Sticks, steps.collect()));
    }
    let guides = estimate
        .level_changes
        .iter()
        .take(12)
        .map(|&(turn, before, after)| Guide::Vertical {
            at: turn as f64,
            text: format!(
                "{} → {}",
                number::quantity(Unit::Nanoseconds, before),
                number::quantity(Unit::Nanoseconds, after)
            ),
        });
    Some(Plot {
        title: format!("Time of each turn: {}", name(view, result)),
        description: format!(
            "{} turns, typically {}; {} dearer turns are drawn. {}",
            number::count(estimate.completed),
            number::quantity(Unit::Nanoseconds, estimate.typical_ns),
            estimate.steps.len(),
            estimate.verdict.join(" ")
        ),
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
        series: all,
        guides: guides.collect(),
    })
}

/// The typical level from turn to turn, with its changes.
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

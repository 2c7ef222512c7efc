//! Delay curves: classification, curve and points.

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Fact, Guide, Plot, Point, Row, RowKind, Series,
    Table, Unit,
};
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{DelayCurve, DelayMethod, DelayPoint};

const COLUMNS: [&str; 7] = [
    "Scheduling method",
    "Resolution",
    "Minimum actual delay",
    "Overhead",
    "Slope",
    "Immediate below",
    "Compensated",
];

/// Returns table, plot, evidence and points of the curves; nothing without any.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Delay);
    if results.is_empty() {
        return Vec::new();
    }
    let curves: Vec<(String, Option<usize>, &DelayCurve)> = results
        .iter()
        .filter_map(|result| match &result.outcome {
            Outcome::DelayCurve(curve) => Some((
                name(view, result),
                view.colour(&result.identity.subject),
                curve,
            )),
            _ => None,
        })
        .collect();
    let mut blocks = vec![Block::Table(classification(view, &results))];
    let plots = [plot(view, &results, point), beyond(view, &results)];
    blocks.extend(plots.into_iter().flatten().map(Block::Plot));
    blocks.extend(evidence(&curves));
    blocks.extend(
        curves
            .iter()
            .map(|(name, subject, curve)| Block::Table(points(name, *subject, curve))),
    );
    blocks
}

fn name(view: &View, result: &ResultRecord) -> String {
    format!(
        "{} · {}",
        view.label(&result.identity),
        RunColumn::of(&result.identity).name()
    )
}

fn classification(view: &View, results: &[&ResultRecord]) -> Table {
    let rows = results.iter().map(|result| Row {
        label: view.label(&result.identity),
        place: RunColumn::of(&result.identity).name(),
        kind: RowKind::Measured,
        subject: view.colour(&result.identity.subject),
        cells: match &result.outcome {
            Outcome::DelayCurve(curve) => cells(curve),
            Outcome::Absent { reason, listed, .. } => {
                let mut cells = vec![Cell::absent(reason, *listed)];
                cells.resize(COLUMNS.len(), Cell::Empty);
                cells
            }
            _ => vec![Cell::Empty; COLUMNS.len()],
        },
    });
    Table {
        title: "How a delay is scheduled".into(),
        corner: "Delay".into(),
        columns: COLUMNS.map(Column::titled).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// Returns a scheduling method in the paper's words.
pub fn method(method: DelayMethod) -> &'static str {
    match method {
        DelayMethod::Preemptive => "pre-emptive",
        DelayMethod::FixedInterval => "fixed interval",
        DelayMethod::Unclassified => "unclassified",
    }
}

/// Returns the resolution of a curve. A mere bound from the requested points is text, without a
/// number to compute with.
pub fn resolution(curve: &DelayCurve) -> Cell {
    match curve.resolution_is_bound {
        false => Cell::ns(curve.resolution_ns),
        true => {
            let finest = number::quantity(Unit::Nanoseconds, curve.resolution_ns);
            Cell::text(format!("≤ {finest} (finest step tried)"))
        }
    }
}

fn cells(curve: &DelayCurve) -> Vec<Cell> {
    vec![
        Cell::text(method(curve.method)),
        resolution(curve),
        Cell::ns(curve.minimum_ns),
        Cell::ns(curve.overhead_ns),
        slope(curve.slope),
        curve
            .immediate_below_ns
            .map_or(Cell::text("none seen"), Cell::ns),
        Cell::text(if curve.compensated { "yes" } else { "no" }),
    ]
}

/// Returns a slope with more digits than other numbers, because slopes differ little from 1.
fn slope(slope: f64) -> Cell {
    Cell::Printed {
        text: number::significant(slope, 5),
        low: slope,
        high: slope,
        unit: Unit::Count,
    }
}

/// Returns every curve as a series; those of one subject differ in shape.
fn series(view: &View, results: &[&ResultRecord], point: fn(&DelayPoint) -> Point) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for result in results {
        let Outcome::DelayCurve(curve) = &result.outcome else {
            continue;
        };
        let subject = view.colour(&result.identity.subject);
        let shape = all.iter().filter(|other| other.subject == subject).count();
        let points = curve.points.iter().map(point).collect();
        all.push(Series {
            name: name(view, result),
            subject,
            shape,
            drawn: Drawn::Line,
            points,
        });
    }
    all.retain(|series| !series.points.is_empty());
    all
}

fn plot(view: &View, results: &[&ResultRecord], point: fn(&DelayPoint) -> Point) -> Option<Plot> {
    let series = series(view, results, point);
    let points: usize = series.iter().map(|s| s.points.len()).sum();
    (points > 0).then(|| Plot {
        title: "Actual against requested delay".into(),
        description: format!(
            "Delay curves, {} in all, with {points} points. The table above classifies them; the points stand in the tables below.",
            series.len()
        ),
        caption: "Whiskers are the smallest and largest single delay: they tell a fixed interval from pre-emptive scheduling.".into(),
        categories: Vec::new(),
        x: Axis { title: "Requested delay".into(), unit: AxisUnit::Nanoseconds, log: true },
        y: Axis { title: "Actual delay".into(), unit: AxisUnit::Nanoseconds, log: true },
        series,
        guides: vec![Guide::Diagonal { text: "ideal".into() }],
    })
}

/// Returns the same curves less the ideal line, if they are distinguishable.
fn beyond(view: &View, results: &[&ResultRecord]) -> Option<Plot> {
    let excess = |point_of: &DelayPoint| Point {
        y: point_of.actual_ns.value - point_of.requested_ns,
        interval: Some((
            point_of.actual_ns.low - point_of.requested_ns,
            point_of.actual_ns.high - point_of.requested_ns,
        )),
        ..point(point_of)
    };
    plot(view, results, excess).map(|plot| Plot {
        title: "Delay beyond the request".into(),
        caption: "Whiskers are the intervals of the medians.".into(),
        y: Axis {
            title: "Actual less requested delay".into(),
            ..plot.y
        },
        guides: Vec::new(),
        ..plot
    })
}

fn point(point: &DelayPoint) -> Point {
    let ns = |v| number::quantity(Unit::Nanoseconds, v);
    let actual = &point.actual_ns;
    let line = number::interval(Unit::Nanoseconds, actual.value, actual.low, actual.high).line();
    Point {
        x: point.requested_ns,
        y: actual.value,
        interval: Some(point.range_ns),
        text: format!(
            "asked {}, took {line}, single delays {}",
            ns(point.requested_ns),
            number::range(Unit::Nanoseconds, point.range_ns.0, point.range_ns.1)
        ),
    }
}

fn evidence(curves: &[(String, Option<usize>, &DelayCurve)]) -> Option<Block> {
    let facts: Vec<Fact> = curves
        .iter()
        .filter(|(_, _, curve)| !curve.evidence.is_empty())
        .map(|(name, _, curve)| Fact::new(name.clone(), curve.evidence.join("; ")))
        .collect();
    (!facts.is_empty()).then_some(Block::Facts { facts })
}

fn points(name: &str, subject: Option<usize>, curve: &DelayCurve) -> Table {
    let titles = ["Actual delay", "Single delays", "Beyond the request"];
    let rows = curve.points.iter().map(|point| Row {
        label: number::quantity(Unit::Nanoseconds, point.requested_ns),
        place: String::new(),
        kind: RowKind::Measured,
        subject,
        cells: vec![
            Cell::ns(point.actual_ns.value),
            Cell::Range {
                low: point.range_ns.0,
                high: point.range_ns.1,
                unit: Unit::Nanoseconds,
            },
            Cell::ns(point.actual_ns.value - point.requested_ns),
        ],
    });
    Table {
        title: format!("Points of the curve: {name}"),
        corner: "Requested".into(),
        columns: titles.map(Column::titled).to_vec(),
        rows: rows.collect(),
        folded: true,
        ..Table::default()
    }
}

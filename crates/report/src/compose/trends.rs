//! Costs read against a number: by copy or by reference, and where an allocator changes level.

use super::view::{RunColumn, View};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Guide, Plot, Point, Row, RowKind, Series, Table,
    Unit,
};
use crate::layout::{Asks, Group, Trend};
use crate::number;
use antiphon_lab::ResultRecord;
use antiphon_measure::{AllocatorStep, Interval, Passing, allocator_steps, by_copy_or_reference};

/// One trend of one column, measured.
struct Measured<'t> {
    trend: &'t Trend,
    column: usize,
    points: Vec<(f64, Interval)>,
    /// Sizes that the suite asks for and that gave no figure.
    missing: Vec<f64>,
}

/// Tables and plots of the group's trends; nothing where it asks for none.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let columns = view.columns(results.iter().copied());
    let mut blocks = Vec::new();
    for asks in [Asks::Passing, Asks::Steps] {
        let measured = measured(view, group, &columns, asks);
        if measured.is_empty() {
            continue;
        }
        blocks.push(Block::Table(table(view, &columns, &measured, asks)));
        let plots =
            (0..columns.len()).filter_map(|column| plot(view, &columns, &measured, asks, column));
        blocks.extend(plots.map(Block::Plot));
    }
    blocks
}

fn measured<'t>(
    view: &View,
    group: &'t Group,
    columns: &[RunColumn],
    asks: Asks,
) -> Vec<Measured<'t>> {
    let trends = group.trends.iter().filter(|trend| trend.asks == asks);
    let pairs = trends.flat_map(|trend| (0..columns.len()).map(move |column| (trend, column)));
    pairs
        .map(|(trend, column)| {
            let cost = |test: &str| view.estimate(test, &columns[column]).map(|e| e.cost_ns);
            // Levels are separated by their limits.
            let cost = |test: &str| cost(test).filter(|cost| cost.limits().is_some());
            let points = trend
                .points
                .iter()
                .filter_map(|(number, test)| Some((*number, cost(test)?)));
            let points: Vec<(f64, Interval)> = points.collect();
            let measured = |size: &f64| points.iter().any(|(found, _)| found == size);
            let sizes = trend.points.iter().map(|(size, _)| *size);
            Measured {
                trend,
                column,
                missing: sizes.filter(|size| !measured(size)).collect(),
                points,
            }
        })
        .filter(|m| m.points.len() >= 2)
        .collect()
}

fn table(view: &View, columns: &[RunColumn], measured: &[Measured], asks: Asks) -> Table {
    let mut labels: Vec<&str> = Vec::new();
    for m in measured {
        if !labels.contains(&m.trend.label.as_str()) {
            labels.push(&m.trend.label);
        }
    }
    let cell = |label: &str, column: usize| {
        let found = measured
            .iter()
            .find(|m| m.trend.label == label && m.column == column);
        found.map_or(Cell::Empty, |m| Cell::text(verdict(m)))
    };
    let rows = labels.iter().map(|label| Row {
        label: label.to_string(),
        place: String::new(),
        kind: RowKind::Derived,
        subject: None,
        cells: (0..columns.len())
            .map(|column| cell(label, column))
            .collect(),
    });
    let (title, caption) = match asks {
        Asks::Passing => (
            "By copy or by reference",
            "Told from how cost follows size. By copy: the largest costs more than the smallest by more than the fastest copy would take. \
             By reference: by less than an ordinary copy would take. Otherwise the figures do not decide.",
        ),
        Asks::Steps => (
            "Where allocation changes level",
            "Neighbouring sizes are on different levels when their intervals are apart and the cost changes by half or more, and by more \
             than in proportion to the bytes that are touched.",
        ),
    };
    Table {
        title: title.into(),
        caption: caption.into(),
        corner: "n bytes".into(),
        columns: columns.iter().map(|column| heading(view, column)).collect(),
        rows: rows.collect(),
        folded: false,
    }
}

fn heading(view: &View, column: &RunColumn) -> Column {
    super::costs::heading(view, column)
}

fn verdict(measured: &Measured) -> String {
    if measured.trend.asks == Asks::Passing {
        return passing(&measured.points);
    }
    let mut found: Vec<String> = steps(measured).into_iter().map(|step| step.text).collect();
    if !measured.missing.is_empty() {
        let sizes = measured
            .missing
            .iter()
            .map(|size| number::exact(Unit::Bytes, *size));
        let sizes = sizes.collect::<Vec<_>>().join(", ");
        found.push(format!("undecided beside {sizes}: no figure"));
    }
    match found.is_empty() {
        true => "one level".into(),
        false => found.join("; "),
    }
}

/// Returns the verdict on the passing of a composite parameter, with its evidence.
fn passing(points: &[(f64, Interval)]) -> String {
    let (sizes, costs) = split(points);
    match by_copy_or_reference(&sizes, &costs) {
        Passing::ByCopy { ns_per_byte } => {
            let per_kib = number::quantity(Unit::Nanoseconds, ns_per_byte * 1024.0);
            format!("by copy ({per_kib} a KiB)")
        }
        Passing::ByReference => "by reference".into(),
        Passing::Undecided => "undecided".into(),
    }
}

fn split(points: &[(f64, Interval)]) -> (Vec<u64>, Vec<Interval>) {
    points
        .iter()
        .map(|(bytes, cost)| (*bytes as u64, *cost))
        .unzip()
}

/// A change of level.
struct Step {
    /// First size on the new level, bytes.
    at: f64,
    /// Both levels of the change, in words.
    text: String,
}

/// Returns changes of level between neighbouring sizes of the suite. None is told across a missing
/// size.
fn steps(measured: &Measured) -> Vec<Step> {
    let (sizes, costs) = split(&measured.points);
    let ns = |v| number::quantity(Unit::Nanoseconds, v);
    let at = |bytes| number::exact(Unit::Bytes, bytes);
    let between = |step: &AllocatorStep| {
        let inside = |size: &f64| step.from_bytes as f64 <= *size && *size <= step.to_bytes as f64;
        measured.missing.iter().any(inside)
    };
    let steps = allocator_steps(&sizes, &costs).into_iter();
    steps
        .filter(|step| !between(step))
        .map(|step| Step {
            at: step.to_bytes as f64,
            text: format!(
                "{} → {} at {}",
                ns(step.before_ns),
                ns(step.after_ns),
                at(step.to_bytes as f64)
            ),
        })
        .collect()
}

/// Plots a column, with the trends as series, so that they are distinguishable.
fn plot(
    view: &View,
    columns: &[RunColumn],
    measured: &[Measured],
    asks: Asks,
    column: usize,
) -> Option<Plot> {
    let own: Vec<&Measured> = measured.iter().filter(|m| m.column == column).collect();
    let series: Vec<Series> = own
        .iter()
        .enumerate()
        .map(|(shape, m)| Series {
            name: series_name(m),
            subject: None,
            shape,
            drawn: Drawn::Line,
            points: m
                .points
                .iter()
                .map(|(bytes, cost)| point(*bytes, cost))
                .collect(),
        })
        .collect();
    let name = columns[column].name();
    let what = match asks {
        Asks::Passing => "Cost of composite parameters",
        Asks::Steps => "Cost of allocation",
    };
    (!series.is_empty()).then(|| Plot {
        title: format!("{what} against bytes: {name}"),
        description: format!(
            "{} series of cost against size for {}. The table above gives each one's verdict.",
            series.len(),
            view.subjects
                .iter()
                .find(|s| **s == columns[column].subject)
                .map_or("", |s| s)
        ),
        caption: String::new(),
        categories: Vec::new(),
        x: Axis {
            title: "Size".into(),
            unit: AxisUnit::Bytes,
            log: true,
        },
        y: Axis {
            title: "Cost".into(),
            unit: AxisUnit::Nanoseconds,
            log: true,
        },
        series,
        guides: if asks == Asks::Steps {
            step_guides(&own)
        } else {
            Vec::new()
        },
    })
}

/// Returns the name of a trend, with the passing of its parameter.
fn series_name(measured: &Measured) -> String {
    let label = &measured.trend.label;
    match measured.trend.asks {
        Asks::Steps => label.clone(),
        Asks::Passing => {
            let verdict = passing(&measured.points);
            let word = verdict.split(" (").next().unwrap_or_default();
            format!("{label}: {word}")
        }
    }
}

fn step_guides(measured: &[&Measured]) -> Vec<Guide> {
    let mut at: Vec<f64> = measured
        .iter()
        .flat_map(|m| steps(m))
        .map(|step| step.at)
        .collect();
    at.sort_by(f64::total_cmp);
    at.dedup();
    let text = |at: f64| format!("step at {}", number::exact(Unit::Bytes, at));
    at.into_iter()
        .map(|at| Guide::Vertical { at, text: text(at) })
        .collect()
}

fn point(bytes: f64, cost: &Interval) -> Point {
    let line = number::interval(Unit::Nanoseconds, cost.value, cost.low, cost.high).line();
    Point {
        x: bytes,
        y: cost.value,
        interval: Some((cost.low, cost.high)),
        text: format!("{}: {line}", number::exact(Unit::Bytes, bytes)),
    }
}

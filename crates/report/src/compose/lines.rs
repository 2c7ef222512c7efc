//! Costs that should be straight lines: the constant part, the cost of each step, and the costs'
//! distance from the line.

use super::costs::heading;
use super::view::{RunColumn, View};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Drawn, Plot, Point, Row, RowKind, Series, Table, Unit,
};
use crate::grouped::grouped;
use crate::layout::{Group, Sweep};
use crate::number;
use antiphon_lab::suite::Compare;
use antiphon_lab::{ResultRecord, original_of};
use antiphon_measure::{Interval, Line, farthest, line};

/// One sweep of one column, measured.
struct Measured {
    points: Vec<(f64, Interval)>,
    line: Option<(Line, Interval)>,
}

/// Least number of points of a line. A column with fewer is left out, such as a placement that
/// measures only some sizes.
const POINTS_LEAST: usize = 3;

/// Returns a table and a plot for each of the group's lines; nothing without any.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let columns = view.columns(results.iter().copied());
    let mut blocks = Vec::new();
    for sweep in &group.lines {
        let all = columns
            .iter()
            .map(|column| (column.clone(), measured(view, sweep, column)));
        let (columns, measured): (Vec<_>, Vec<_>) = all
            .filter(|(_, measured)| measured.points.len() >= POINTS_LEAST)
            .unzip();
        if columns.is_empty() {
            continue;
        }
        blocks.push(Block::Table(table(view, sweep, &columns, &measured)));
        let all: Vec<(RunColumn, Measured)> = columns.into_iter().zip(measured).collect();
        blocks.extend(plots(view, sweep, &all).into_iter().map(Block::Plot));
    }
    blocks
}

fn measured(view: &View, sweep: &Sweep, column: &RunColumn) -> Measured {
    let cost = |test: &str| view.time(test, column);
    let points = sweep.points.iter();
    let points: Vec<_> = points
        .filter_map(|(number, test)| Some((*number, cost(test)?)))
        .collect();
    let values: Vec<_> = points.iter().map(|(n, cost)| (*n, cost.value)).collect();
    Measured {
        line: line(&values).zip(farthest(&points)),
        points,
    }
}

fn table(view: &View, sweep: &Sweep, columns: &[RunColumn], measured: &[Measured]) -> Table {
    let row = |label: &str, of: &dyn Fn(&(Line, Interval)) -> String| Row {
        label: label.to_owned(),
        place: String::new(),
        kind: RowKind::Derived,
        subject: None,
        cells: measured
            .iter()
            .map(|m| match &m.line {
                Some(line) => Cell::text(of(line)),
                None => Cell::Empty,
            })
            .collect(),
    };
    Table {
        title: format!("As a straight line: {}", sweep.label),
        caption: "Least squares of relative deviations; 95 % intervals from how the costs deviate from the line. The last row is the part by which \
                  the farthest cost misses it: the smaller, the more predictable. Its limits are of costs anywhere in their intervals: the part by which the \
                  farthest must miss every line, and what it misses the line put through them anew by at most."
            .into(),
        corner: "n".into(),
        columns: columns.iter().map(|column| heading(view, column)).collect(),
        rows: vec![
            row("to begin with", &|(line, _)| written(&line.intercept)),
            row("for each", &|(line, _)| written(&line.slope)),
            row("farthest from the line", &|(_, farthest)| {
                deviation(farthest)
            }),
        ],
        folded: false,
    }
}

/// Returns the deviation of the costs, and its possible range by their intervals.
fn deviation(farthest: &Interval) -> String {
    let value = away(farthest.value);
    match (farthest.low.is_finite(), farthest.high.is_finite()) {
        (true, true) => format!(
            "{value} ({} to {})",
            away(farthest.low),
            away(farthest.high)
        ),
        (true, false) => format!("{value}, no upper limit"),
        (false, _) => format!("{value}, no limits"),
    }
}

/// Returns a deviation in words; below a ten-thousandth it is rounding.
fn away(farthest: f64) -> String {
    match farthest < 1e-4 {
        true => "under 0.01\u{202f}%".into(),
        false => number::quantity(Unit::Share, farthest),
    }
}

fn written(of: &Interval) -> String {
    number::interval(Unit::Nanoseconds, of.value, of.low, of.high).line()
}

/// Returns one plot of all columns, or one of each variant that several subjects share, such as a
/// database.
///
/// Only subjects with the same database are to be compared: another database would press them to
/// the bottom. If variants are compared, there is one plot for each base.
fn plots(view: &View, sweep: &Sweep, all: &[(RunColumn, Measured)]) -> Vec<Plot> {
    let within = view.layout.compare == Compare::Variants;
    let key = |column: &RunColumn| match within {
        true => base(view, sweep, column),
        false => variant(column).to_owned(),
    };
    let groups = grouped(all.iter().map(|one| (key(&one.0), one)));
    if groups.len() == 1 || !(within || groups.iter().all(|(_, of)| has_several(of))) {
        let all: Vec<_> = all.iter().collect();
        return vec![plot(view, sweep.label.clone(), &all)];
    }
    let plot = |(key, of): &(String, Vec<_>)| plot(view, format!("{}: {key}", sweep.label), of);
    groups.iter().map(plot).collect()
}

/// Returns the base of a subject; itself without a known one.
fn base(view: &View, sweep: &Sweep, column: &RunColumn) -> String {
    let mut results = sweep
        .points
        .iter()
        .filter_map(|(_, test)| view.find(test, column));
    let base = results.find_map(|result| view.bases().base(result));
    base.map_or_else(
        || column.subject.clone(),
        |base| base.identity.subject.clone(),
    )
}

fn has_several(of: &[&(RunColumn, Measured)]) -> bool {
    let mut subjects = of.iter().map(|(column, _)| original(column));
    let first = subjects.next();
    subjects.any(|subject| Some(subject) != first)
}

/// Returns the subject, or the original of a twin.
fn original(column: &RunColumn) -> &str {
    original_of(&column.subject).unwrap_or(&column.subject)
}

/// Returns the part behind the `/` of a subject's name; empty without one.
fn variant(column: &RunColumn) -> &str {
    let name = original(column).split_once('/');
    name.map_or("", |(_, variant)| variant)
}

fn plot(view: &View, title: String, all: &[&(RunColumn, Measured)]) -> Plot {
    let columns: Vec<RunColumn> = all.iter().map(|(column, _)| column.clone()).collect();
    let series: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(index, (column, m))| Series {
            name: column.name(),
            subject: view.colour(&column.subject),
            shape: view.shape(&columns, index),
            drawn: Drawn::Line,
            points: m.points.iter().map(point).collect(),
        })
        .collect();
    Plot {
        title,
        description: format!(
            "Cost against n, a series for each of {} subjects. The table above gives each one's line.",
            series.len()
        ),
        caption: String::new(),
        categories: Vec::new(),
        x: Axis {
            title: "n".into(),
            unit: AxisUnit::Count,
            log: false,
        },
        y: Axis {
            title: "Cost".into(),
            unit: AxisUnit::Nanoseconds,
            log: false,
        },
        series,
        guides: Vec::new(),
    }
}

fn point((number, cost): &(f64, Interval)) -> Point {
    Point {
        x: *number,
        y: cost.value,
        interval: cost.limits(),
        text: format!("n = {number}: {}", written(cost)),
    }
}

//! Costs that should be straight lines: what there is to begin with, what each step adds, and how far from the line a cost lies.

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

/// Fewer points make no line. A column that has no more, as of a placement that only some sizes are measured in, is left out.
const POINTS_LEAST: usize = 3;

/// A table and a plot for each of the group's lines; nothing where it has none.
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

/// The deviation of the costs, and what it may be for all that their intervals tell.
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

/// A deviation; what is below a ten-thousandth is rounding.
fn away(farthest: f64) -> String {
    match farthest < 1e-4 {
        true => "under 0.01\u{202f}%".into(),
        false => number::quantity(Unit::Share, farthest),
    }
}

fn written(of: &Interval) -> String {
    number::interval(Unit::Nanoseconds, of.value, of.low, of.high).line()
}

/// One plot of all; or one of each variant, where each is that of several subjects, such as a database that all languages use: they are then to be compared
/// with each other, and what another database costs would make them lines at the bottom. Where variants are compared, one of each that others are compared with.
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

/// The subject that one is compared with; itself if that is not told.
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

/// The subject, of one that is measured twice the one that it is.
fn original(column: &RunColumn) -> &str {
    original_of(&column.subject).unwrap_or(&column.subject)
}

/// What stands behind the `/` of a subject's name; nothing where it has none.
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

//! Tables and plots of costs per operation.

use super::figure::figure;
use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Figure, Plot, Point, Row, RowKind, Series,
    Standing, Table,
};
use crate::grouped::grouped;
use crate::layout::Group;
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use std::collections::{HashMap, HashSet};

/// A row of the table: a test and its argument.
type Key<'a> = (&'a str, Option<u64>);

/// Returns the group's table of costs and its plot; nothing without frames.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Frame);
    if results.is_empty() {
        return Vec::new();
    }
    let columns = view.columns(results.iter().copied());
    let keys = keys(group, &results);
    let table = table(view, group, &results, &columns, &keys);
    let plots = plots(view, group, &columns, &table);
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(plots.into_iter().map(Block::Plot));
    blocks
}

/// Returns rows in the order of the suite, then those that it does not name.
fn keys<'a>(group: &Group, results: &[&'a ResultRecord]) -> Vec<Key<'a>> {
    let mut places: HashMap<Key, usize> = HashMap::new();
    for (place, row) in group.rows.iter().enumerate() {
        places.entry((&row.test, row.arg)).or_insert(place);
    }
    // A row without an argument is for all.
    let place = |key: &Key| {
        let places = [*key, (key.0, None)].map(|key| places.get(&key).copied());
        places.into_iter().flatten().min()
    };
    let mut keys: Vec<Key> = Vec::new();
    let mut seen = HashSet::new();
    for result in results {
        let key = (result.identity.test.as_str(), result.identity.arg);
        if seen.insert(key) {
            keys.push(key);
        }
    }
    keys.sort_by_cached_key(|key| place(key).unwrap_or(usize::MAX));
    keys
}

fn table(
    view: &View,
    group: &Group,
    results: &[&ResultRecord],
    columns: &[RunColumn],
    keys: &[Key],
) -> Table {
    let by_place: HashMap<_, _> = results
        .iter()
        .map(|r| {
            (
                (
                    r.identity.test.as_str(),
                    r.identity.arg,
                    RunColumn::of(&r.identity).name(),
                ),
                *r,
            )
        })
        .collect();
    let names: Vec<String> = columns.iter().map(RunColumn::name).collect();
    let rows = keys.iter().map(|&(test, arg)| {
        let found = names
            .iter()
            .map(|name| by_place.get(&(test, arg, name.clone())).copied());
        let found: Vec<_> = found.collect();
        let any = found.iter().flatten().next();
        Row {
            label: any.map_or_else(|| test.to_string(), |r| view.label(&r.identity)),
            place: String::new(),
            kind: RowKind::Measured,
            subject: None,
            cells: found.into_iter().map(cell).collect(),
        }
    });
    Table {
        title: format!("{}: cost per operation", group.title),
        corner: "Operation".into(),
        columns: columns.iter().map(|column| heading(view, column)).collect(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// Returns the heading of a column of results.
pub fn heading(view: &View, column: &RunColumn) -> Column {
    Column {
        title: column.subject.clone(),
        subtitle: column.conditions(),
        subject: view.colour(&column.subject),
    }
}

fn cell(result: Option<&ResultRecord>) -> Cell {
    let Some(result) = result else {
        return Cell::Empty;
    };
    match &result.outcome {
        Outcome::Frame(estimate) => Cell::Figure(Box::new(figure(result, estimate))),
        Outcome::Absent { reason, listed, .. } => Cell::absent(reason, *listed),
        _ => Cell::text("see below"),
    }
}

/// Returns one plot of all columns, or one for each set of compared columns if variants are
/// compared.
///
/// A few drivers of each language do not belong into one plot.
fn plots(view: &View, group: &Group, columns: &[RunColumn], table: &Table) -> Vec<Plot> {
    let numbered = columns.iter().enumerate();
    let of_each = grouped(
        numbered.map(|(index, column)| (view.layout.compare.common(&column.subject), index)),
    );
    let title = |common: &str| match common {
        "" => format!("{}: costs with their intervals", group.title),
        name => format!("{}: costs with their intervals, {name}", group.title),
    };
    let plot =
        |(common, indices): (&str, Vec<usize>)| plot(view, title(common), columns, &indices, table);
    of_each.into_iter().filter_map(plot).collect()
}

/// Returns a plot of some columns of a table, by their indices.
fn plot(
    view: &View,
    title: String,
    columns: &[RunColumn],
    indices: &[usize],
    table: &Table,
) -> Option<Plot> {
    let has_point = |row: &&Row| {
        let mut cells = indices.iter().map(|index| &row.cells[*index]);
        cells.any(|cell| drawable(cell).is_some())
    };
    // An empty line tells nothing beyond the table.
    let drawn: Vec<&Row> = table.rows.iter().filter(has_point).collect();
    let series: Vec<Series> = indices
        .iter()
        .map(|&index| Series {
            name: columns[index].name(),
            subject: view.colour(&columns[index].subject),
            shape: view.shape(columns, index),
            drawn: Drawn::Points,
            points: points(&drawn, index),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let costs: Vec<f64> = series
        .iter()
        .flat_map(|s| s.points.iter().map(|p| p.x))
        .collect();
    let (low, high) = extent(&costs)?;
    Some(Plot {
        title,
        description: format!(
            "{} of {} in {}, from {} to {}. The table above holds the same figures.",
            number::counted(costs.len(), "cost"),
            number::counted(drawn.len(), "operation"),
            number::counted(series.len(), "column"),
            number::quantity(crate::document::Unit::Nanoseconds, low),
            number::quantity(crate::document::Unit::Nanoseconds, high),
        ),
        caption: "Points are medians of paired differences, or of turns where these measure processor time; whiskers their intervals, where they are wider than the point. \
                  Operations that cannot be told from their control are left out."
            .into(),
        categories: drawn.iter().map(|row| row.label.clone()).collect(),
        x: Axis { title: "Cost per operation".into(), unit: AxisUnit::Nanoseconds, log: true },
        y: Axis { title: String::new(), unit: AxisUnit::Count, log: false },
        series,
        guides: Vec::new(),
    })
}

fn drawable(cell: &Cell) -> Option<&Figure> {
    match cell {
        Cell::Figure(figure) if figure.standing == Standing::Resolved && figure.value > 0.0 => {
            Some(figure)
        }
        _ => None,
    }
}

fn points(rows: &[&Row], column: usize) -> Vec<Point> {
    let figures = rows
        .iter()
        .enumerate()
        .filter_map(|(index, row)| Some((index, drawable(&row.cells[column])?)));
    figures
        .map(|(index, figure)| point(index, figure))
        .collect()
}

fn point(index: usize, figure: &Figure) -> Point {
    Point {
        x: figure.value,
        y: index as f64,
        interval: figure.limits(),
        text: number::interval(figure.unit, figure.value, figure.low, figure.high).line(),
    }
}

/// Returns the smallest and largest value; `None` without values.
pub fn extent(values: &[f64]) -> Option<(f64, f64)> {
    values
        .iter()
        .filter(|v| v.is_finite())
        .fold(None, |extent, &v| {
            let (low, high) = extent.unwrap_or((v, v));
            Some((low.min(v), high.max(v)))
        })
}

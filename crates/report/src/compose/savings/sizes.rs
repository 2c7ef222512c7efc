//! Programs in several sizes, under several placements: savings in time and switches as tasks and
//! processors grow.

use super::{Comparison, share, shown};
use crate::compose::costs::heading;
use crate::compose::view::RunColumn;
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Plot, Point, Row, RowKind, Series, Table, Unit,
};
use crate::number;
use antiphon_lab::suite::{Program, Quantity};
use antiphon_measure::Interval;

/// Returns a table of the savings, and a plot a program; nothing without sizes.
pub(super) fn blocks(comparison: &Comparison) -> Vec<Block> {
    let rows: Vec<Row> = comparison
        .savings
        .programs
        .iter()
        .flat_map(|program| rows(comparison, program))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(table(comparison, rows))];
    let programs = comparison.savings.programs.iter();
    let plots = programs.filter_map(|program| plot(comparison, program));
    blocks.extend(plots.map(Block::Plot));
    blocks
}

/// Returns the variants with measurements in some size.
fn variants<'c>(comparison: &'c Comparison) -> Vec<&'c str> {
    let all = comparison.savings.variants.iter().map(String::as_str);
    let sized = |variant: &&str| {
        let programs = comparison.savings.programs.iter();
        let mut sized =
            programs.flat_map(|p| p.sizes.iter().map(move |s| p.sized_test(variant, s)));
        sized.any(|test| {
            let mut results = comparison.view.run.results.iter();
            results.any(|result| result.identity.test == test)
        })
    };
    all.filter(sized).collect()
}

fn table(comparison: &Comparison, rows: Vec<Row>) -> Table {
    let savings = comparison.savings;
    let columns = comparison.sized_columns.iter();
    let columns = columns.flat_map(|column| {
        let of = ["time", "switches"].into_iter();
        of.map(|what| {
            let own = heading(comparison.view, column);
            Column {
                subtitle: format!("{what}; {}", own.subtitle),
                ..own
            }
        })
    });
    Table {
        title: format!(
            "What is left of time and switches, by number of {} and processors",
            savings.sizes_of
        ),
        caption: format!(
            "Shares of what {} takes with as many {}.",
            shown(&savings.base),
            savings.sizes_of
        ),
        corner: "Program".into(),
        columns: columns.collect(),
        rows,
        folded: false,
    }
}

/// Returns a row for each size and variant with results.
fn rows(comparison: &Comparison, program: &Program) -> Vec<Row> {
    let mut rows = Vec::new();
    for variant in variants(comparison) {
        for size in &program.sizes {
            let cells = cells(comparison, program, variant, size);
            if cells.iter().any(|cell| *cell != Cell::Empty) {
                rows.push(Row {
                    label: format!("{}, {size} {}", program.label, comparison.savings.sizes_of),
                    place: shown(variant),
                    kind: RowKind::Derived,
                    subject: None,
                    cells,
                });
            }
        }
    }
    rows
}

fn cells(comparison: &Comparison, program: &Program, variant: &str, size: &str) -> Vec<Cell> {
    let columns = comparison.sized_columns.iter();
    let cells = columns.flat_map(|column| {
        let of = [Quantity::Time, Quantity::Switches].into_iter();
        of.map(move |of| {
            let amount = |name: &str| {
                let test = program.sized_test(name, size);
                comparison.amount(of, program, &test, column)
            };
            let both = amount(variant).zip(amount(&comparison.savings.base));
            let left = both.and_then(|(now, before)| share(now, before));
            left.map_or(Cell::Empty, |left| Cell::Number {
                value: left.value,
                unit: Unit::Share,
            })
        })
    });
    cells.collect()
}

/// Plots time against size: a line for each variant under each condition.
fn plot(comparison: &Comparison, program: &Program) -> Option<Plot> {
    let savings = comparison.savings;
    let columns = &comparison.sized_columns;
    let names = std::iter::once(savings.base.as_str()).chain(variants(comparison));
    let mut series = Vec::new();
    for (colour, variant) in names.enumerate() {
        for (shape, column) in columns.iter().enumerate() {
            let points = points(comparison, program, variant, column);
            if points.len() >= 2 {
                series.push(Series {
                    name: format!("{} · {}", shown(variant), column.conditions()),
                    subject: Some(colour),
                    shape,
                    drawn: Drawn::Line,
                    points,
                });
            }
        }
    }
    (!series.is_empty()).then(|| Plot {
        title: format!("{}: time of synchronization against {}", program.label, savings.sizes_of),
        description: format!(
            "{} of the time of synchronization in a run against the number of {}. The tables hold the same figures.",
            number::counted(series.len(), "line"),
            savings.sizes_of
        ),
        caption: "Colours are variants, dashes policies and placements.".into(),
        categories: Vec::new(),
        x: axis(&format!("Number of {}", savings.sizes_of), AxisUnit::Count),
        y: axis("Time of a run", AxisUnit::Nanoseconds),
        series,
        guides: Vec::new(),
    })
}

fn axis(title: &str, unit: AxisUnit) -> Axis {
    Axis {
        title: title.into(),
        unit,
        log: true,
    }
}

fn points(
    comparison: &Comparison,
    program: &Program,
    variant: &str,
    column: &RunColumn,
) -> Vec<Point> {
    let sizes = program.sizes.iter();
    let point = |size: &String| {
        let test = program.sized_test(variant, size);
        let cost = comparison.amount(Quantity::Time, program, &test, column)?;
        Some(point(
            size.parse().ok()?,
            cost,
            &comparison.savings.sizes_of,
        ))
    };
    sizes.filter_map(point).collect()
}

fn point(size: f64, cost: Interval, sizes_of: &str) -> Point {
    let line = number::interval(Unit::Nanoseconds, cost.value, cost.low, cost.high).line();
    Point {
        x: size,
        y: cost.value,
        interval: cost.limits(),
        text: format!("{} {sizes_of}: {line}", number::printed(size)),
    }
}

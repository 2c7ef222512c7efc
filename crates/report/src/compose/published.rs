//! Tables in the shape of the published ones, with today's rows beneath.

use super::figure::{bound, figure, like_control};
use super::slope::{number_of, slope};
use super::view::{RunColumn, View};
use super::{costs::extent, delay};
use crate::document::{
    Block, Cell, Column, Fact, Figure, Row, RowKind, Section, Standing, Table, Unit,
};
use crate::number;
use antiphon_lab::suite::{
    Column as PublishedColumn, Figures, Published, PublishedRow, PublishedValue,
};
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{DelayCurve, Estimate, Interval, PLACEMENT_FLOOR_NS};

/// Returns the section of published tables; `None` if the suite has none.
pub fn section(view: &View) -> Option<Section> {
    if view.layout.published.is_empty() {
        return None;
    }
    let prose = "Published figures stand as they were printed; today's rows stand beneath, each cell the range over the tests that \
                 belong in its column. “Best published ÷ today” compares the cheapest published figure with the middle of today's range: \
                 it spans decades of hardware as well as compilers.";
    let mut blocks = vec![Block::Prose { text: prose.into() }];
    blocks.extend(
        view.layout
            .published
            .iter()
            .map(|published| Block::Table(table(view, published))),
    );
    Some(Section {
        id: "published".into(),
        title: "Beside the published tables".into(),
        blocks,
    })
}

fn table(view: &View, published: &Published) -> Table {
    let mut rows: Vec<Row> = published
        .rows
        .iter()
        .map(|row| published_row(row, published))
        .collect();
    let columns = todays_columns(view, published);
    for column in &columns {
        let cells: Vec<Cell> = published
            .columns
            .iter()
            .map(|c| today(view, c, column))
            .collect();
        if cells.iter().all(|cell| matches!(cell, Cell::Empty)) {
            continue;
        }
        let ratios = ratios(published, &cells);
        rows.push(Row {
            label: format!("Today: {}", column.name()),
            place: String::new(),
            kind: RowKind::Measured,
            subject: view.colour(&column.subject),
            cells,
        });
        rows.extend(ratios);
    }
    let none = rows.iter().all(|row| row.kind == RowKind::Published);
    let missing = if none {
        " No row of this run belongs in this table."
    } else {
        ""
    };
    Table {
        title: published.title.clone(),
        caption: format!("Published figures: {}.{missing}", published.source),
        corner: "System".into(),
        columns: published.columns.iter().map(heading).collect(),
        rows,
        folded: false,
    }
}

fn heading(column: &PublishedColumn) -> Column {
    Column::titled(column.title.clone())
}

fn todays_columns(view: &View, published: &Published) -> Vec<RunColumn> {
    let named: Vec<&String> = published
        .columns
        .iter()
        .flat_map(|c| c.figures.names())
        .collect();
    let belongs = |result: &&ResultRecord| named.contains(&&result.identity.test);
    view.columns(view.run.results.iter().filter(belongs))
}

fn published_row(row: &PublishedRow, published: &Published) -> Row {
    let cell = |(index, column): (usize, &PublishedColumn)| match row.values.get(index) {
        Some(value) => published_cell(value, &column.unit),
        None => Cell::Empty,
    };
    Row {
        label: row.label.clone(),
        place: String::new(),
        kind: RowKind::Published,
        subject: None,
        cells: published.columns.iter().enumerate().map(cell).collect(),
    }
}

fn published_cell(value: &PublishedValue, unit: &str) -> Cell {
    let (low, high, text) = match value {
        PublishedValue::Words(text) => return Cell::text(text.clone()),
        PublishedValue::Number(value) => (*value, *value, number::printed(*value)),
        PublishedValue::Range(low, high) => (
            *low,
            *high,
            format!("{} – {}", number::printed(*low), number::printed(*high)),
        ),
    };
    let unit = if unit == "us" { "µs" } else { unit };
    match factor(unit) {
        Some(factor) => Cell::Printed {
            text: format!("{text}\u{202f}{unit}"),
            low: low * factor,
            high: high * factor,
            unit: Unit::Nanoseconds,
        },
        None => Cell::Printed {
            text,
            low,
            high,
            unit: Unit::Count,
        },
    }
}

/// Nanoseconds in a unit of time; `None` for columns without one.
fn factor(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1.0),
        "us" | "µs" => Some(1e3),
        "ms" => Some(1e6),
        "s" => Some(1e9),
        _ => None,
    }
}

fn today(view: &View, published: &PublishedColumn, column: &RunColumn) -> Cell {
    let method = |curve: &DelayCurve| Cell::text(delay::method(curve.method));
    match &published.figures {
        Figures::Tests(tests) => range_cell(view, tests, column),
        Figures::Slope(tests) => slope_cell(view, tests, column),
        Figures::ClockResolution(clocks) => clock_cell(view, clocks, column),
        Figures::DelayMethod(tests) => delay_cell(view, tests, column, method),
        Figures::DelayResolution(tests) => delay_cell(view, tests, column, delay::resolution),
    }
}

/// Returns one test's figure as it is, or the range of several.
fn range_cell(view: &View, tests: &[String], column: &RunColumn) -> Cell {
    let measured: Vec<&String> = tests
        .iter()
        .filter(|test| view.estimate(test, column).is_some())
        .collect();
    if let [test] = measured[..]
        && let Some(result) = view.find(test, column)
        && let Outcome::Frame(estimate) = &result.outcome
    {
        return Cell::Figure(Box::new(figure(result, estimate)));
    }
    let estimates: Vec<&Estimate> = measured
        .iter()
        .filter_map(|t| view.estimate(t, column))
        .collect();
    if estimates.is_empty() {
        return why_missing(view, tests, column);
    }
    let reported = estimates.iter().filter(|e| !e.is_like_control());
    let values: Vec<f64> = reported.map(|e| e.cost_ns.value).collect();
    let Some((low, high)) = extent(&values) else {
        let bounds = estimates
            .iter()
            .map(|e| bound(e.cost_ns.low, e.cost_ns.high));
        let most = bounds.fold(0.0, f64::max);
        return Cell::text(like_control(Unit::Nanoseconds, most));
    };
    let like = estimates.len() - values.len();
    if like > 0 {
        let others = number::range(Unit::Nanoseconds, low, high);
        return Cell::text(format!("{others}; {like} of {} ≈ control", estimates.len()));
    }
    Cell::Range {
        low,
        high,
        unit: Unit::Nanoseconds,
    }
}

fn slope_cell(view: &View, tests: &[String], column: &RunColumn) -> Cell {
    let point = |test: &String| {
        let cost = view.estimate(test, column)?.cost_ns;
        cost.limits()?;
        Some((number_of(test)?, with_floor(cost)))
    };
    let points: Vec<(f64, Interval)> = tests.iter().filter_map(point).collect();
    match slope(&points) {
        Some(slope) => Cell::Figure(Box::new(slope_figure(slope, &points))),
        None if points.len() == 1 => Cell::Missing {
            reason: "one size was measured: no slope".into(),
        },
        None => why_missing(view, tests, column),
    }
}

/// Adds the effect of loop placement to a cost's interval, because slopes combine costs of
/// different loops.
pub fn with_floor(cost: Interval) -> Interval {
    let widened = |distance: f64| distance.hypot(PLACEMENT_FLOOR_NS);
    Interval {
        value: cost.value,
        low: cost.value - widened(cost.value - cost.low),
        high: cost.value + widened(cost.high - cost.value),
    }
}

fn slope_figure(slope: Interval, points: &[(f64, Interval)]) -> Figure {
    let cost = |(number, cost): &(f64, Interval)| {
        let line = number::interval(Unit::Nanoseconds, cost.value, cost.low, cost.high).line();
        Fact::new(number::printed(*number), line)
    };
    Figure {
        value: slope.value,
        low: slope.low,
        high: slope.high,
        unit: Unit::Nanoseconds,
        standing: if slope.low <= 0.0 && slope.high >= 0.0 {
            Standing::LikeControl
        } else {
            Standing::Resolved
        },
        switches: None,
        instructions: None,
        marks: Vec::new(),
        detail: std::iter::once(Fact::new(
            "Slope",
            "least squares through the costs below, each with the floor of ± 0.5 ns",
        ))
        .chain(points.iter().map(cost))
        .collect(),
    }
}

fn clock_cell(view: &View, clocks: &[String], column: &RunColumn) -> Cell {
    let resolution = clocks
        .iter()
        .find_map(|clock| match &view.find(clock, column)?.outcome {
            Outcome::Clock { unit, estimate } if unit != "ticks" => Some(estimate.resolution),
            _ => None,
        });
    resolution.map_or_else(|| why_missing(view, clocks, column), Cell::ns)
}

fn delay_cell(
    view: &View,
    tests: &[String],
    column: &RunColumn,
    show: impl Fn(&DelayCurve) -> Cell,
) -> Cell {
    let curve = tests
        .iter()
        .find_map(|test| match &view.find(test, column)?.outcome {
            Outcome::DelayCurve(curve) => Some(curve),
            _ => None,
        });
    curve.map_or_else(|| why_missing(view, tests, column), show)
}

/// Returns the reason why no test of the column gave a figure; nothing if none was run.
fn why_missing(view: &View, tests: &[String], column: &RunColumn) -> Cell {
    let mut cells = tests
        .iter()
        .filter_map(|test| view.find(test, column))
        .map(|r| match &r.outcome {
            Outcome::Absent { reason, listed, .. } => Cell::absent(reason, *listed),
            _ => Cell::Missing {
                reason: "the figure is withheld; see the findings".into(),
            },
        });
    let first = cells.next().unwrap_or(Cell::Empty);
    match &first {
        // Failures precede missing tests.
        Cell::Lacking { .. } => cells
            .find(|cell| matches!(cell, Cell::Missing { .. }))
            .unwrap_or(first),
        _ => first,
    }
}

/// Returns the cheapest published figure over the middle of today's range, if both are times above
/// zero.
fn ratios(published: &Published, today: &[Cell]) -> Option<Row> {
    let cells: Vec<Cell> = published
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| ratio(published, index, column, &today[index]))
        .collect();
    cells
        .iter()
        .any(|cell| !matches!(cell, Cell::Empty))
        .then(|| Row {
            label: "best published ÷ today".into(),
            place: String::new(),
            kind: RowKind::Derived,
            subject: None,
            cells,
        })
}

fn ratio(published: &Published, index: usize, column: &PublishedColumn, today: &Cell) -> Cell {
    let best = published
        .rows
        .iter()
        .filter_map(|row| row.values.get(index))
        .filter_map(|value| middle(&published_cell(value, &column.unit)))
        .filter(|value| *value > 0.0)
        .reduce(f64::min);
    match (best, middle(today)) {
        (Some(best), Some(today)) if today > 0.0 && factor(&column.unit).is_some() => {
            Cell::Number {
                value: best / today,
                unit: Unit::Ratio,
            }
        }
        _ => Cell::Empty,
    }
}

fn middle(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number { value, .. } => Some(*value),
        Cell::Range { low, high, .. } | Cell::Printed { low, high, .. } => Some((low + high) / 2.0),
        Cell::Figure(figure) if figure.standing == Standing::Resolved => Some(figure.value),
        _ => None,
    }
}

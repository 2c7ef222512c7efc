//! Latency series: tables of percentiles and percentile plots, from the actual and from the
//! intended start.

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Plot, Point, Row, RowKind, Series, Table, Unit,
};
use crate::grouped::grouped;
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{Distribution, LatencyEstimate};

/// More series than this are shown a plot a test.
const MOST_IN_ONE_PLOT: usize = 6;
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// Returns table and plots of the latency series; nothing without any.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Latency);
    if results.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(table(view, &results))];
    let few = series(view, &results).len() <= MOST_IN_ONE_PLOT;
    let plots: Vec<Option<Plot>> = match few {
        true => vec![plot("Latency by percentile".into(), series(view, &results))],
        false => by_test(&results)
            .iter()
            .map(|of_test| {
                let title = format!(
                    "{}: latency by percentile",
                    view.label(&of_test[0].identity)
                );
                plot(title, series(view, of_test))
            })
            .collect(),
    };
    blocks.extend(plots.into_iter().flatten().map(Block::Plot));
    blocks
}

/// Groups the results by test, in order of appearance; no group is empty.
fn by_test<'a>(results: &[&'a ResultRecord]) -> Vec<Vec<&'a ResultRecord>> {
    let keyed = results.iter().map(|result| {
        let identity = &result.identity;
        ((&identity.test, identity.arg), *result)
    });
    let tests = grouped(keyed).into_iter().map(|(_, of_test)| of_test);
    tests.collect()
}

fn table(view: &View, results: &[&ResultRecord]) -> Table {
    let columns = Columns::of(results);
    let titled = |title: &String| Column::titled(title.clone());
    Table {
        title: "Latencies".into(),
        caption: "“Intended” counts from when an operation was meant to start: what a caller who kept to the schedule would have seen. \
                  It is shown where operations had such times, and did not each start when the one before had ended. \
                  Percentiles that the number of samples does not support are left out. Mean − overhead is the paper's Tave − Tov, \
                  where Tov is what reading the clock costs; what it takes to cause the event, such as sending a signal, is inside \
                  the response. Policy and placement are as the threads reported, where the findings do not say otherwise."
            .into(),
        corner: "Operation".into(),
        columns: columns.titles.iter().map(titled).collect(),
        rows: results.iter().flat_map(|result| rows(view, result, &columns)).collect(),
        folded: false,
    }
}

/// Columns of the table: the percentiles that some series supports.
struct Columns {
    titles: Vec<String>,
    percentiles: Vec<f64>,
}

impl Columns {
    fn of(results: &[&ResultRecord]) -> Self {
        let supported = |p: &f64| {
            results.iter().any(|result| match &result.outcome {
                Outcome::Latency(e) => e
                    .from_actual
                    .percentiles
                    .iter()
                    .any(|(q, _)| (q - p).abs() < 1e-9),
                _ => false,
            })
        };
        let percentiles: Vec<f64> = PERCENTILES.into_iter().filter(supported).collect();
        let mut titles: Vec<String> = ["Samples", "Minimum", "Mean"].map(String::from).to_vec();
        titles.extend(percentiles.iter().map(|p| format!("{p}\u{202f}%")));
        titles.extend(["Maximum", "Mean − overhead", "Overhead"].map(String::from));
        Columns {
            titles,
            percentiles,
        }
    }
}

fn rows(view: &View, result: &ResultRecord, columns: &Columns) -> Vec<Row> {
    let place = RunColumn::of(&result.identity).name();
    let row = |place: String, mut cells: Vec<Cell>| {
        cells.resize(columns.titles.len(), Cell::Empty);
        Row {
            label: view.label(&result.identity),
            place,
            kind: RowKind::Measured,
            subject: view.colour(&result.identity.subject),
            cells,
        }
    };
    match &result.outcome {
        Outcome::Latency(e) if e.scheduled => vec![
            row(
                format!("{place}, from actual start"),
                cells(&e.from_actual, Some(e), columns),
            ),
            row(
                format!("{place}, from intended start"),
                cells(&e.from_intended, None, columns),
            ),
        ],
        Outcome::Latency(e) => vec![row(place, cells(&e.from_actual, Some(e), columns))],
        Outcome::Absent { reason, listed, .. } => {
            vec![row(place, vec![Cell::absent(reason, *listed)])]
        }
        _ => Vec::new(),
    }
}

/// Returns the cells of one distribution. The paper's response, from the actual start, is added if
/// `response` is given.
fn cells(
    distribution: &Distribution,
    response: Option<&LatencyEstimate>,
    columns: &Columns,
) -> Vec<Cell> {
    let at = |percentile: f64| {
        let found = distribution
            .percentiles
            .iter()
            .find(|(p, _)| (p - percentile).abs() < 1e-9);
        found.map_or(Cell::Empty, |&(_, value)| Cell::ns(value as f64))
    };
    let mut cells = vec![
        Cell::count(distribution.count as f64),
        Cell::ns(distribution.minimum_ns as f64),
        Cell::ns(distribution.mean_ns),
    ];
    cells.extend(columns.percentiles.iter().map(|p| at(*p)));
    cells.push(at(100.0));
    if let Some(estimate) = response {
        cells.extend([
            Cell::ns(estimate.response_ns()),
            Cell::ns(estimate.overhead_ns),
        ]);
    }
    cells
}

/// Returns every distribution as a series; those of one subject differ in dashes.
fn series(view: &View, results: &[&ResultRecord]) -> Vec<Series> {
    let one_test = by_test(results).len() == 1;
    let mut all: Vec<Series> = Vec::new();
    for result in results {
        let Outcome::Latency(estimate) = &result.outcome else {
            continue;
        };
        let subject = view.colour(&result.identity.subject);
        let column = RunColumn::of(&result.identity).name();
        let name = match one_test {
            true => column,
            false => format!("{} · {column}", view.label(&result.identity)),
        };
        let parts = match estimate.scheduled {
            true => vec![
                (", from actual", &estimate.from_actual),
                (", from intended", &estimate.from_intended),
            ],
            false => vec![("", &estimate.from_actual)],
        };
        for (suffix, distribution) in parts {
            let shape = all.iter().filter(|other| other.subject == subject).count();
            let points = percentile_points(distribution);
            all.push(Series {
                name: format!("{name}{suffix}"),
                subject,
                shape,
                drawn: Drawn::Steps,
                points,
            });
        }
    }
    all.retain(|series| !series.points.is_empty());
    all
}

fn plot(title: String, series: Vec<Series>) -> Option<Plot> {
    (!series.is_empty()).then(|| Plot {
        title,
        description: format!(
            "Cumulative distributions of latency, {} in all. Their percentiles stand in the table of latencies.",
            series.len()
        ),
        caption: "The axis gives each further nine of the percentile the same room, so the slowest operations can be seen.".into(),
        categories: Vec::new(),
        x: Axis { title: "Percentile".into(), unit: AxisUnit::Nines, log: true },
        y: Axis { title: "Latency".into(), unit: AxisUnit::Nanoseconds, log: true },
        series,
        guides: Vec::new(),
    })
}

/// Returns points (1 / (1 − p), latency) of the cumulative distribution: each bucket begins at
/// the share of samples below it.
fn percentile_points(distribution: &Distribution) -> Vec<Point> {
    const MOST: usize = 400;
    let total = distribution.count as f64;
    if total <= 0.0 || distribution.buckets.is_empty() {
        return Vec::new();
    }
    let mut below = 0.0;
    let mut points = Vec::new();
    for &(edge, count) in &distribution.buckets {
        let from = below / total;
        below += count as f64;
        points.push(percentile_point(from, below / total, edge));
    }
    let last = distribution.buckets[distribution.buckets.len() - 1].0;
    points.push(percentile_point(1.0 - 0.5 / total, 1.0, last));
    thin(points, MOST)
}

/// Returns the point at which a bucket's step begins, the share of the samples below it. Its text
/// is the share up to and including the bucket.
fn percentile_point(at: f64, within: f64, latency_ns: u64) -> Point {
    let percent = number::fixed(within * 100.0, if within > 0.99 { 3 } else { 1 });
    let latency = number::quantity(Unit::Nanoseconds, latency_ns as f64);
    Point {
        x: 1.0 / (1.0 - at.clamp(0.0, 1.0 - 1e-9)),
        y: latency_ns as f64,
        interval: None,
        text: format!("{percent} % take at most {latency}"),
    }
}

/// Returns at most `most` points. Those far along the axis are kept first, because they are the
/// rare ones.
fn thin(points: Vec<Point>, most: usize) -> Vec<Point> {
    if points.len() <= most {
        return points;
    }
    let tail = most / 2;
    let head = points.len() - tail;
    let stride = head.div_ceil(most - tail);
    let kept = |index: usize| index >= head || index.is_multiple_of(stride);
    points
        .into_iter()
        .enumerate()
        .filter(|(i, _)| kept(*i))
        .map(|(_, p)| p)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_says_how_many_took_at_most_its_latency() {
        let distribution = Distribution {
            count: 4,
            minimum_ns: 100,
            mean_ns: 150.0,
            percentiles: Vec::new(),
            buckets: vec![(106, 3), (212, 1)],
        };
        let points = percentile_points(&distribution);
        let reported: Vec<(f64, &str)> = points.iter().map(|of| (of.x, of.text.as_str())).collect();
        assert_eq!(
            reported,
            [
                (1.0, "75.0 % take at most 106\u{202f}ns"),
                (4.0, "100.000 % take at most 212\u{202f}ns"),
                (8.0, "100.000 % take at most 212\u{202f}ns"),
            ]
        );
    }
}

//! Costs against a number: as plots, and as multiples of their bases.

use super::cold;
use super::figure::cell_without_ratio;
use super::programs::runs;
use super::slug;
use super::view::{RunColumn, View};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Figure, Guide, Plot, Point, Row, RowKind, Section,
    Series, Table, Unit,
};
use crate::number;
use antiphon_lab::ResultRecord;
use antiphon_lab::suite::{Curve, CurveColumn, CurveUnit, Rate};
use antiphon_measure::{Interval, run_counter};

/// Returns a section for each curve with measurements.
pub fn sections(view: &View) -> Vec<Section> {
    let curves = view.layout.curves.iter();
    let measured = curves.map(|curve| Measured { view, curve });
    measured.filter_map(|measured| section(&measured)).collect()
}

fn section(measured: &Measured) -> Option<Section> {
    let curve = measured.curve;
    let costs = plot(measured, Shown::Costs)?;
    let mut blocks = Vec::new();
    if !curve.text.is_empty() {
        let words: Vec<&str> = curve.text.split_whitespace().collect();
        blocks.push(Block::Prose {
            text: words.join(" "),
        });
    }
    blocks.push(Block::Plot(costs));
    if curve.counted.is_some() || curve.rate.is_some() {
        // Costs stand in the tables of their groups; counts and rates nowhere else.
        blocks.extend(table(measured, Shown::Costs).map(Block::Table));
    }
    blocks.extend(table(measured, Shown::Multiples).map(Block::Table));
    blocks.extend(plot(measured, Shown::Multiples).map(Block::Plot));
    Some(Section {
        id: format!("curve-{}", slug(&curve.id)),
        title: curve.title.clone(),
        blocks,
    })
}

/// Quantity of a plot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Costs,
    Multiples,
}

/// A curve in a run.
struct Measured<'a> {
    view: &'a View<'a>,
    curve: &'a Curve,
}

impl Measured<'_> {
    /// Returns a count without error, a cost, or a rate.
    fn cost(&self, column: &CurveColumn, row: &str) -> Option<Interval> {
        if self.curve.counted.is_none() {
            let time = self.time(column, row)?;
            return match self.curve.rate {
                None => Some(time),
                Some(Rate::Operations) => per_second(1.0, time),
                Some(Rate::Bytes) => per_second(row.parse().ok()?, time),
            };
        }
        let place = RunColumn {
            subject: column.subject.clone(),
            policy: column.run.policy.clone(),
            placement: column.run.placement.clone(),
        };
        let result = self.view.find(&column.test_in(row), &place)?;
        let value = run_counter(runs(result), &column.counter)?;
        Some(Interval {
            value,
            low: value,
            high: value,
        })
    }

    fn time(&self, column: &CurveColumn, row: &str) -> Option<Interval> {
        self.reported(column, row)?.time()
    }

    /// Returns the result whose time is shown.
    fn reported(&self, column: &CurveColumn, row: &str) -> Option<&ResultRecord> {
        let under = |policy: &str| {
            let place = RunColumn {
                subject: column.subject.clone(),
                policy: policy.to_owned(),
                placement: column.run.placement.clone(),
            };
            let test = column.test_in(row);
            self.view.reported(&test, self.curve.arg_in(row), &place)
        };
        // Without permission for FIFO, its rows are measured under `other`.
        under(&column.run.policy).or_else(|| under("other"))
    }

    /// Returns the cost as a multiple of its base.
    ///
    /// Both were measured one after the other, so their intervals are independent. The limits are
    /// those of the farthest ends.
    fn multiple(&self, column: &CurveColumn, row: &str) -> Option<Interval> {
        let beside = self.curve.column(column.against.as_deref()?)?;
        let (own, other) = (self.cost(column, row)?, self.cost(beside, row)?);
        own.over(&other)
    }

    /// Checks that both costs of a multiple exist, if it is one.
    fn has_both(&self, shown: Shown, column: &CurveColumn, row: &str) -> bool {
        let beside = column.against.as_deref();
        let beside = beside.and_then(|name| self.curve.column(name));
        let has = |column| self.cost(column, row).is_some();
        shown == Shown::Multiples && has(column) && beside.is_some_and(has)
    }

    fn shown(&self, shown: Shown, column: &CurveColumn, row: &str) -> Option<Interval> {
        match shown {
            Shown::Costs => self.cost(column, row),
            Shown::Multiples => self.multiple(column, row),
        }
    }

    /// Checks whether a subject of the shown quantity was not warm.
    fn is_cold(&self, shown: Shown, column: &CurveColumn, row: &str) -> bool {
        let beside = column
            .against
            .as_deref()
            .filter(|_| shown == Shown::Multiples);
        let beside = beside.and_then(|name| self.curve.column(name));
        let reported = |column| self.reported(column, row);
        let mut results = std::iter::once(column).chain(beside).filter_map(reported);
        results.any(cold::is_subject_cold)
    }

    /// Returns the unit of the plot, and the name of its axis.
    fn what(&self) -> (Unit, AxisUnit, &str) {
        match (self.curve.counted.as_deref(), self.curve.rate) {
            (Some(what), _) => (Unit::Count, AxisUnit::Count, what),
            (None, None) => (Unit::Nanoseconds, AxisUnit::Nanoseconds, "Cost"),
            (None, Some(Rate::Operations)) => (Unit::PerSecond, AxisUnit::PerSecond, "Rate"),
            (None, Some(Rate::Bytes)) => {
                (Unit::BytesPerSecond, AxisUnit::BytesPerSecond, "Bandwidth")
            }
        }
    }

    fn number(&self, row: &str) -> String {
        match self.curve.unit {
            CurveUnit::Bytes => number::exact(Unit::Bytes, row.parse().unwrap_or(0.0)),
            CurveUnit::Count => row.to_owned(),
        }
    }
}

/// Converts a time for `much` into a rate a second.
fn per_second(much: f64, time: Interval) -> Option<Interval> {
    let rate = |time: f64| much * 1e9 / time;
    let reported = match time.limits() {
        Some((low, high)) => Interval {
            value: rate(time.value),
            low: rate(high),
            high: rate(low),
        },
        None => Interval::open(rate(time.value)),
    };
    (much > 0.0 && reported.value > 0.0 && time.limits().is_none_or(|(low, _)| low > 0.0))
        .then_some(reported)
}

/// Returns the table; `None` if there is nothing to show.
fn table(measured: &Measured, shown: Shown) -> Option<Table> {
    let curve = measured.curve;
    let columns: Vec<&CurveColumn> = curve
        .columns
        .iter()
        .filter(|column| {
            let mut rows = curve.rows.iter();
            rows.any(|row| measured.shown(shown, column, row).is_some())
        })
        .collect();
    let row = |row: &String| Row {
        label: measured.number(row),
        place: String::new(),
        kind: RowKind::Derived,
        subject: None,
        cells: columns
            .iter()
            .map(|column| cell(measured, shown, column, row))
            .collect(),
    };
    let rows: Vec<Row> = curve.rows.iter().map(row).collect();
    let rows = rows.into_iter();
    let rows: Vec<Row> = rows
        .filter(|row| row.cells.iter().any(|cell| *cell != Cell::Empty))
        .collect();
    let (title, caption) = match shown {
        Shown::Costs if curve.rate.is_some() => (
            curve.title.clone(),
            "From the costs of single operations; where these were like their control there is none.",
        ),
        Shown::Costs => (curve.title.clone(), "Whole numbers of one operation."),
        Shown::Multiples => (
            format!("{}: how many times", curve.title),
            "Figures of one run, one divided by the other; the limits are those of the farthest ends of their intervals.",
        ),
    };
    (!rows.is_empty()).then(|| Table {
        title,
        caption: caption.into(),
        corner: curve.by.clone(),
        columns: columns
            .iter()
            .map(|column| heading(measured, shown, column))
            .collect(),
        rows,
        folded: false,
    })
}

fn heading(measured: &Measured, shown: Shown, column: &CurveColumn) -> Column {
    Column {
        title: column.title.clone(),
        subtitle: match (shown, &column.against) {
            (Shown::Multiples, Some(against)) => format!("÷ {against}"),
            _ => String::new(),
        },
        subject: measured.view.colour(&column.subject),
    }
}

fn cell(measured: &Measured, shown: Shown, column: &CurveColumn, row: &str) -> Cell {
    let Some(shown_here) = measured.shown(shown, column, row) else {
        return match measured.has_both(shown, column, row) {
            true => cell_without_ratio(),
            false => Cell::Empty,
        };
    };
    let unit = match shown {
        Shown::Costs if measured.curve.counted.is_some() => return Cell::count(shown_here.value),
        Shown::Costs => measured.what().0,
        Shown::Multiples => Unit::Ratio,
    };
    let mut figure = Figure::resolved(shown_here, unit);
    figure
        .marks
        .extend(cold::mark(measured.is_cold(shown, column, row)));
    Cell::Figure(Box::new(figure))
}

/// Returns the plot; `None` if no column has two points.
fn plot(measured: &Measured, shown: Shown) -> Option<Plot> {
    let curve = measured.curve;
    let ((unit, axis_unit, axis), title) = match shown {
        Shown::Costs => (measured.what(), curve.title.clone()),
        Shown::Multiples => (
            (Unit::Ratio, AxisUnit::Ratio, "Times the other"),
            format!("{}: how many times", curve.title),
        ),
    };
    let mut series: Vec<Series> = Vec::new();
    for column in &curve.columns {
        let points = curve.rows.iter().filter_map(|row| {
            let figure = measured.shown(shown, column, row)?;
            Some(point(measured, row, unit, figure))
        });
        let points: Vec<Point> = points.collect();
        let subject = measured.view.colour(&column.subject);
        let shape = series.iter().filter(|s| s.subject == subject).count();
        series.push(Series {
            name: column.title.clone(),
            subject,
            shape,
            drawn: Drawn::Line,
            points,
        });
    }
    series.retain(|one| one.points.len() > 1);
    let values = || series.iter().flat_map(|one| one.points.iter().map(|p| p.y));
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let reported = |value| number::quantity(unit, value);
    let is_bytes = curve.unit == CurveUnit::Bytes;
    Some(Plot {
        title,
        description: format!(
            "{} against {}, from {} to {}.",
            number::counted(series.len(), "curve"),
            curve.by,
            reported(low),
            reported(high)
        ),
        caption: match is_bytes {
            true => "0 bytes are drawn as 1.".into(),
            false => String::new(),
        },
        categories: Vec::new(),
        x: Axis {
            title: curve.by.clone(),
            unit: match is_bytes {
                true => AxisUnit::Bytes,
                false => AxisUnit::Count,
            },
            log: true,
        },
        y: Axis {
            title: axis.into(),
            unit: axis_unit,
            log: shown == Shown::Costs,
        },
        series,
        guides: match shown {
            Shown::Costs => Vec::new(),
            Shown::Multiples => vec![Guide::Horizontal {
                at: 1.0,
                text: "the same".into(),
            }],
        },
    })
}

fn point(measured: &Measured, row: &str, unit: Unit, figure: Interval) -> Point {
    let line = match figure.low < figure.high && figure.limits().is_some() {
        true => number::interval(unit, figure.value, figure.low, figure.high).line(),
        false => number::exact(unit, figure.value),
    };
    Point {
        x: row.parse().unwrap_or(1.0),
        y: figure.value,
        interval: figure.limits(),
        text: format!("{}: {line}", measured.number(row)),
    }
}

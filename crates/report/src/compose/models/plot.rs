//! Ratios of the cooperative columns against the rows' number, today's and the published ones. For
//! a table without models it plots the figures.

use super::tables::unit;
use super::{Compared, with_ratio};
use crate::compose::programs::words;
use crate::document::{Axis, AxisUnit, Drawn, Guide, Plot, Point, Series, Unit};
use crate::number;
use antiphon_lab::suite::{Model, ModelColumn};
use antiphon_measure::{Interval, RunFigure};

/// The largest share by the smallest from which an axis is logarithmic.
const SPAN: f64 = 20.0;

/// Returns the plot; `None` with fewer than two numbered rows, or without values.
pub(super) fn plot(compared: &Compared) -> Option<Plot> {
    let rows: Vec<(f64, &str)> = compared
        .rows()
        .into_iter()
        .filter_map(|row| Some((row.parse().ok()?, row)))
        .collect();
    let modelled = compared.models.columns.iter().any(|c| c.model.is_some());
    match rows.len() {
        0 | 1 => None,
        _ if modelled => ratios(compared, &rows),
        _ => figures(compared, &rows),
    }
}

/// Plots every column's figures, if no column belongs to a model.
fn figures(compared: &Compared, rows: &[(f64, &str)]) -> Option<Plot> {
    let models = compared.models;
    let columns = models.columns.iter().enumerate();
    let series = columns.map(|(index, column)| Series {
        name: column.title.clone(),
        subject: Some(index),
        shape: index,
        drawn: Drawn::Line,
        points: points(rows, |row| compared.figure(column, row)),
    });
    let series: Vec<Series> = series.filter(|one| !one.points.is_empty()).collect();
    let values = || series.iter().flat_map(|one| one.points.iter().map(|p| p.y));
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let (said, axis) = match &models.figure {
        RunFigure::Share { of, whole } => (share_of(of, whole), AxisUnit::Share),
        _ => ("Time".into(), AxisUnit::Nanoseconds),
    };
    Some(Plot {
        title: models.title.clone(),
        description: format!(
            "{} over {}, from {} to {}. The table above holds the same figures.",
            number::counted(series.len(), "column"),
            models.by,
            number::quantity(unit(compared), low),
            number::quantity(unit(compared), high)
        ),
        caption: String::new(),
        categories: Vec::new(),
        x: Axis {
            title: models.by.clone(),
            unit: AxisUnit::Count,
            log: rows.iter().all(|(x, _)| *x > 0.0),
        },
        y: Axis {
            title: said,
            unit: axis,
            // Shares have an axis from zero, unless their span is so large that most would lie
            // along it.
            log: !models.of_shares() || high > low * SPAN && low > 0.0,
        },
        series,
        guides: Vec::new(),
    })
}

/// Returns a share as dividend and divisor, in the words of the counters, which may include the
/// row.
fn share_of(of: &str, whole: &str) -> String {
    let named = |name: &str| words(name.replace("{row}", "").trim_matches(['_', '.']));
    format!(
        "{} as a share of {}",
        named(of),
        named(whole).to_lowercase()
    )
}

fn points(rows: &[(f64, &str)], figure: impl Fn(&str) -> Option<Interval>) -> Vec<Point> {
    let point = |(x, row): &(f64, &str)| {
        let found = figure(row)?;
        Some(Point {
            interval: Some((found.low, found.high)),
            ..Point::at(*x, found.value)
        })
    };
    rows.iter().filter_map(point).collect()
}

fn ratios(compared: &Compared, rows: &[(f64, &str)]) -> Option<Plot> {
    let models = compared.models;
    let mut series = Vec::new();
    for (index, (column, model)) in with_ratio(models).enumerate() {
        let all = [
            (false, points(rows, |row| compared.share(column, None, row))),
            (true, published(compared, column, rows)),
        ];
        for (is_published, points) in all {
            let name = name(column, model, is_published);
            series.push(Series {
                name,
                subject: Some(2 * index + usize::from(is_published)),
                shape: 2 * index + usize::from(is_published),
                drawn: Drawn::Line,
                points,
            });
        }
    }
    series.retain(|one| !one.points.is_empty());
    let ratios = || series.iter().flat_map(|one| one.points.iter().map(|p| p.y));
    let (low, high) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
    let share = |value| number::quantity(Unit::Share, value);
    Some(Plot {
        title: format!("{}: ratios", models.title),
        description: format!(
            "{} over {}, from {} to {}. The table above holds the same figures.",
            number::counted(series.len(), "ratio"),
            models.by,
            share(low),
            share(high)
        ),
        caption: "Below 100 % the cooperative program is faster than the fastest of CP.".into(),
        categories: Vec::new(),
        x: Axis {
            title: models.by.clone(),
            unit: AxisUnit::Count,
            log: true,
        },
        y: Axis {
            title: "Time as a share of CP's".into(),
            unit: AxisUnit::Share,
            log: false,
        },
        series,
        guides: vec![Guide::Horizontal {
            at: 1.0,
            text: "as fast as CP".into(),
        }],
    })
}

fn name(column: &ModelColumn, model: Model, is_published: bool) -> String {
    let word = model.word();
    match is_published {
        false => format!("{} {word}/CP", column.title),
        true => format!("{} {word}/CP, published", column.title),
    }
}

fn published(compared: &Compared, column: &ModelColumn, rows: &[(f64, &str)]) -> Vec<Point> {
    let point = |(x, row): &(f64, &str)| {
        let share = compared.published_share(column, None, row)?;
        Some(Point::at(*x, share))
    };
    rows.iter().filter_map(point).collect()
}

//! The ratios of the cooperative columns against the rows' number, today's and the published ones.

use super::{Compared, with_ratio};
use crate::document::{Axis, AxisUnit, Drawn, Guide, Plot, Point, Series, Unit};
use crate::number;
use antiphon_lab::suite::{Model, ModelColumn};

/// `None` where there are fewer than two rows with a number for a name, or no ratio.
pub(super) fn plot(compared: &Compared) -> Option<Plot> {
    let models = compared.models;
    let rows: Vec<(f64, &str)> = compared
        .rows()
        .into_iter()
        .filter_map(|row| Some((row.parse().ok()?, row)))
        .collect();
    if rows.len() < 2 {
        return None;
    }
    let mut series = Vec::new();
    for (index, (column, model)) in with_ratio(models).enumerate() {
        let all = [
            (false, todays(compared, column, &rows)),
            (true, published(compared, column, &rows)),
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
        caption: "Below 1 the cooperative program is faster than the fastest of CP.".into(),
        categories: Vec::new(),
        x: Axis {
            title: models.by.clone(),
            unit: AxisUnit::Count,
            log: true,
        },
        y: Axis {
            title: "Time as a share of CP's".into(),
            unit: AxisUnit::Ratio,
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

fn todays(compared: &Compared, column: &ModelColumn, rows: &[(f64, &str)]) -> Vec<Point> {
    let point = |(x, row): &(f64, &str)| {
        let share = compared.share(column, None, row)?;
        Some(Point {
            interval: Some((share.low, share.high)),
            ..Point::at(*x, share.value)
        })
    };
    rows.iter().filter_map(point).collect()
}

fn published(compared: &Compared, column: &ModelColumn, rows: &[(f64, &str)]) -> Vec<Point> {
    let point = |(x, row): &(f64, &str)| {
        let share = compared.published_share(column, None, row)?;
        Some(Point::at(*x, share))
    };
    rows.iter().filter_map(point).collect()
}

//! Drawn form of a plot's points in a chart: points with a place on its axes, whiskers cut at the
//! axis, and the corners of steps.

use super::scale::{Scale, is_log};
use crate::document::{Drawn, Plot, Point, Series};

/// Ends of axes and points as they are drawn.
pub(super) struct Drawing {
    pub(super) x: Option<Scale>,
    /// `None` where rows have names.
    pub(super) y: Option<Scale>,
    /// The points of each series.
    pub(super) series: Vec<Vec<Point>>,
}

/// Prepares a plot over two numbers.
pub(super) fn over_number(plot: &Plot) -> Drawing {
    let placed: Vec<Vec<Point>> = plot.series.iter().map(|of| placed(plot, of)).collect();
    let points = || placed.iter().flatten();
    let x_log = is_log(&plot.x, points().map(|point| point.x));
    let y_log = is_log(&plot.y, points().map(|point| point.y));
    let can_stand = |point: &Point| {
        let stands = |value: f64, log: bool| value.is_finite() && (!log || value > 0.0);
        stands(point.x, x_log) && stands(point.y, y_log)
    };
    let kept = |of: Vec<Point>| of.into_iter().filter(can_stand).collect::<Vec<_>>();
    let kept: Vec<Vec<Point>> = placed.into_iter().map(kept).collect();
    let xs: Vec<f64> = kept.iter().flatten().map(|point| point.x).collect();
    let x = Scale::of(plot.x.unit, x_log, &xs);
    let mut held = held(kept.iter().flatten(), |point| point.y, y_log);
    if !y_log && plot.series.iter().any(|of| of.drawn == Drawn::Sticks) {
        held.push(0.0);
    }
    let y = Scale::of(plot.y.unit, y_log, &held);
    let series = plot.series.iter().zip(kept);
    let series = series.map(|(of, points)| finished(of, points, y.as_ref()));
    Drawing {
        series: series.collect(),
        x,
        y,
    }
}

/// Prepares a plot whose rows have names: bars, which begin at zero if the axis has one.
pub(super) fn over_rows(plot: &Plot) -> Drawing {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let log = is_log(&plot.x, points().map(|point| point.x));
    let can_stand = |point: &&Point| point.x.is_finite() && (!log || point.x > 0.0);
    let mut held = held(points().filter(can_stand), |point| point.x, log);
    if !log && !held.is_empty() {
        held.push(0.0);
    }
    let x = Scale::of(plot.x.unit, log, &held);
    let drawn = |series: &Series| {
        let kept = series.points.iter().filter(can_stand).cloned();
        kept.map(|point| clipped(point, x.as_ref())).collect()
    };
    Drawing {
        series: plot.series.iter().map(drawn).collect(),
        x,
        y: None,
    }
}

impl Drawing {
    /// Checks that all points are drawn unchanged.
    pub(super) fn is_of(&self, plot: &Plot) -> bool {
        let same = |(series, drawn): (&Series, &Vec<Point>)| series.points == *drawn;
        plot.series.iter().zip(&self.series).all(same)
    }
}

fn placed(plot: &Plot, series: &Series) -> Vec<Point> {
    let place = |point: &Point| Point {
        x: plot.x.place(point.x),
        ..point.clone()
    };
    series.points.iter().map(place).collect()
}

/// Returns the values that an axis must hold. Limits far below their value do not stretch a
/// logarithmic one.
fn held<'p>(
    points: impl Iterator<Item = &'p Point>,
    value: fn(&Point) -> f64,
    log: bool,
) -> Vec<f64> {
    let of_point = |point: &Point| {
        let value = value(point);
        let limits = point.interval.filter(is_reported);
        let floor = if log { value / 10.0 } else { f64::NEG_INFINITY };
        let limits = limits.map(|(low, high)| [low.max(floor), high]);
        std::iter::once(value).chain(limits.into_iter().flatten())
    };
    points.flat_map(of_point).collect()
}

fn is_reported(limits: &(f64, f64)) -> bool {
    limits.0.is_finite() && limits.1.is_finite()
}

fn finished(series: &Series, points: Vec<Point>, y: Option<&Scale>) -> Vec<Point> {
    let points = points.into_iter().map(|point| clipped(point, y));
    match series.drawn {
        Drawn::Steps => corners(&points.collect::<Vec<_>>()),
        // A stick is a whisker down to the axis. At an axis from zero a chart draws it without a
        // value.
        Drawn::Sticks => match y.filter(|scale| scale.is_log()) {
            Some(scale) => points.map(|point| stick(point, scale.low)).collect(),
            None => points.collect(),
        },
        Drawn::Points | Drawn::Line => points.collect(),
    }
}

fn stick(point: Point, from: f64) -> Point {
    Point {
        interval: Some((from, point.y)),
        ..point
    }
}

/// Cuts whiskers at a logarithmic axis, which has no end of its own.
fn clipped(point: Point, scale: Option<&Scale>) -> Point {
    let floor = scale.filter(|scale| scale.is_log()).map(|scale| scale.low);
    let clip = |(low, high): (f64, f64)| match floor {
        Some(floor) => (low.max(floor), high.max(floor)),
        None => (low, high),
    };
    Point {
        interval: point.interval.map(clip),
        ..point
    }
}

/// Returns the corners of steps: level up to the next point, and then to its value.
fn corners(points: &[Point]) -> Vec<Point> {
    let mut corners: Vec<Point> = points.first().cloned().into_iter().collect();
    for pair in points.windows(2) {
        if pair[0].y != pair[1].y {
            corners.push(Point::at(pair[1].x, pair[0].y));
        }
        corners.push(pair[1].clone());
    }
    corners
}

//! Points of a plot as rows, and their chart beside these. If a chart cannot draw the points
//! unchanged, its own points are in separate cells.

use super::Styles;
use super::chart::{self, ABOVE, BELOW, BarRows, Rows, WIDE, X, Y};
use super::drawn::{self, Drawing};
use super::grid::{Fit, Grid};
use super::split;
use crate::document::{AxisUnit, Drawn, Plot, Point, Series};

/// The height of a row, in which charts are placed.
const ROW_PIXELS: u32 = 20;

/// Result of a write: a chart with its height, if there is something to draw, and the first free
/// column.
type Written = (Option<(rust_xlsxwriter::Chart, u32)>, u16);

/// A sheet that is written from above.
pub(super) struct Sheet<'s> {
    pub(super) grid: &'s mut Grid,
    pub(super) name: &'s str,
    /// The next row.
    pub(super) line: &'s mut u32,
    pub(super) styles: &'s Styles,
}

impl Sheet<'_> {
    /// Writes every point of a plot, under the names of its axes, and its chart. A large plot is
    /// written in parts.
    pub(super) fn write_plot(&mut self, plot: &Plot) {
        for part in split::parts(plot) {
            self.write_part(&part);
        }
    }

    fn write_part(&mut self, plot: &Plot) {
        let title = (*self.line, 0);
        self.grid
            .text(title, &plot.title, Fit::Over, &self.styles.title);
        *self.line += 1;
        if !plot.caption.is_empty() {
            let caption = (*self.line, 0);
            let style = &self.styles.wrapped;
            self.grid
                .text(caption, &plot.caption, Fit::Paragraph, style);
            *self.line += 1;
        }
        let top = *self.line;
        let (chart, column) = match plot.categories.is_empty() {
            true => self.write_over_number(plot),
            false => self.write_over_rows(plot),
        };
        if let Some((chart, height)) = chart {
            self.grid.chart((top, column), chart);
            *self.line = (*self.line).max(top + height.div_ceil(ROW_PIXELS));
        }
        *self.line += 1;
    }

    /// Writes a row a point: its series, its two numbers, and the interval's extent to either side.
    fn write_over_number(&mut self, plot: &Plot) -> Written {
        let top = *self.line;
        let points: Vec<&[Point]> = plot.series.iter().map(|of| &of.points[..]).collect();
        let rows = self.write_points(plot, "Point", &points, 0);
        let drawing = drawn::over_number(plot);
        if drawing.is_of(plot) {
            let chart = chart::over_number(plot, self.name, &rows, &drawing);
            return (chart, WIDE + 1);
        }
        let end = std::mem::replace(self.line, top);
        let heading = heading_of_drawn(plot, &drawing);
        let rows = self.write_points(plot, heading, &drawing.series, WIDE + 1);
        *self.line = end.max(*self.line);
        let chart = chart::over_number(plot, self.name, &rows, &drawing);
        (chart, 2 * (WIDE + 1))
    }

    /// Writes the points of each series from a column on.
    fn write_points(
        &mut self,
        plot: &Plot,
        heading: &str,
        series: &[impl AsRef<[Point]>],
        column: u16,
    ) -> Vec<Rows> {
        let headings = [
            heading.to_owned(),
            named(&plot.x.title, plot.x.unit),
            named(&plot.y.title, plot.y.unit),
            "interval, below".to_owned(),
            "interval, above".to_owned(),
        ];
        self.write_headings(&headings, column);
        let mut rows = Vec::new();
        for (of, points) in plot.series.iter().zip(series) {
            let first = *self.line;
            for point in points.as_ref() {
                self.write_point(&of.name, point, column);
            }
            rows.push(Rows {
                first,
                last: (*self.line).saturating_sub(1),
                column,
                has_intervals: points
                    .as_ref()
                    .iter()
                    .any(|point| sides(point, point.y).is_some()),
            });
        }
        rows
    }

    fn write_point(&mut self, name: &str, point: &Point, column: u16) {
        let at = |offset| (*self.line, column + offset);
        self.grid.text(at(0), name, Fit::Column, &self.styles.label);
        self.grid.number(at(X), point.x, &self.styles.point);
        self.grid.number(at(Y), point.y, &self.styles.point);
        if let Some((below, above)) = sides(point, point.y) {
            self.grid.number(at(BELOW), below, &self.styles.point);
            self.grid.number(at(ABOVE), above, &self.styles.point);
        }
        *self.line += 1;
    }

    /// Writes a row for each of the plot's rows, with a column a series. If a series has several
    /// points in one row, it writes a row a point.
    fn write_over_rows(&mut self, plot: &Plot) -> Written {
        if plot.series.iter().any(has_several_in_a_row) {
            self.write_list(plot);
            return (None, 0);
        }
        let points: Vec<&[Point]> = plot.series.iter().map(|of| &of.points[..]).collect();
        let drawing = drawn::over_rows(plot);
        let mut block = self.write_block(plot, &points, "");
        if !drawing.is_of(plot) {
            block = self.write_block(plot, &drawing.series, ", as drawn");
        }
        let chart = chart::over_rows(plot, self.name, &block, &drawing);
        (chart, plot.series.len() as u16 + 2)
    }

    /// Writes the values, and below them the intervals' extents to either side.
    fn write_block(&mut self, plot: &Plot, series: &[impl AsRef<[Point]>], more: &str) -> BarRows {
        let value: Value = &|point| Some(point.x);
        let below: Value = &|point| Some(sides(point, point.x)?.0);
        let above: Value = &|point| Some(sides(point, point.x)?.1);
        let title = named(&plot.x.title, plot.x.unit);
        let first = self.write_matrix(plot, series, &format!("{title}{more}"), value);
        let mut points = series.iter().flat_map(AsRef::as_ref);
        let intervals = points.any(|point| below(point).is_some()).then(|| {
            let mut side = |word: &str, side: Value| {
                *self.line += 1;
                self.write_matrix(plot, series, &format!("interval, {word}{more}"), side)
            };
            (side("below", below), side("above", above))
        });
        *self.line += u32::from(intervals.is_some());
        BarRows {
            first,
            intervals,
            rows: plot.categories.len() as u32,
        }
    }

    /// Writes one number of each point; returns the first row of them.
    fn write_matrix(
        &mut self,
        plot: &Plot,
        series: &[impl AsRef<[Point]>],
        heading: &str,
        number: Value,
    ) -> u32 {
        let mut headings = vec![heading.to_owned()];
        headings.extend(plot.series.iter().map(|series| series.name.clone()));
        self.write_headings(&headings, 0);
        let first = *self.line;
        for (row, category) in (first..).zip(&plot.categories) {
            self.grid
                .text((row, 0), category, Fit::Column, &self.styles.label);
        }
        for (column, points) in (1..).zip(series) {
            for point in points.as_ref() {
                if let Some(number) = number(point) {
                    self.grid
                        .number((first + point.y as u32, column), number, &self.styles.point);
                }
            }
        }
        *self.line = first + plot.categories.len() as u32;
        first
    }

    fn write_list(&mut self, plot: &Plot) {
        let headings = [
            "Point".to_owned(),
            named(&plot.x.title, plot.x.unit),
            "Series".to_owned(),
        ];
        self.write_headings(&headings, 0);
        for series in &plot.series {
            for point in &series.points {
                let row = plot.categories.get(point.y as usize);
                let (row, style) = (row.unwrap_or(&series.name), &self.styles.label);
                self.grid.text((*self.line, 0), row, Fit::Column, style);
                self.grid
                    .number((*self.line, 1), point.x, &self.styles.point);
                self.grid
                    .text((*self.line, 2), &series.name, Fit::Column, style);
                *self.line += 1;
            }
        }
    }

    fn write_headings(&mut self, headings: &[String], from: u16) {
        for (column, heading) in (from..).zip(headings) {
            let at = (*self.line, column);
            self.grid
                .text(at, heading, Fit::Heading, &self.styles.heading);
        }
        *self.line += 1;
    }
}

/// A number of a point, if it has it.
type Value<'v> = &'v dyn Fn(&Point) -> Option<f64>;

/// Returns the reason why points are not drawn unchanged.
fn heading_of_drawn(plot: &Plot, drawing: &Drawing) -> &'static str {
    let is_stepped = plot
        .series
        .iter()
        .any(|series| series.drawn == Drawn::Steps);
    let is_log = [&drawing.x, &drawing.y]
        .into_iter()
        .flatten()
        .any(|s| s.is_log());
    match (is_stepped, is_log) {
        (true, false) => "As drawn: with the corners of the steps",
        (true, true) => "As drawn: with the corners of the steps, on logarithmic axes",
        _ => "As drawn: on logarithmic axes, which have no zero",
    }
}

/// Returns the interval's extent to either side of the value.
fn sides(point: &Point, value: f64) -> Option<(f64, f64)> {
    let (low, high) = point.interval?;
    let sides = (value - low, high - value);
    (sides.0.is_finite() && sides.1.is_finite()).then_some(sides)
}

fn has_several_in_a_row(series: &Series) -> bool {
    let mut rows: Vec<u32> = series.points.iter().map(|point| point.y as u32).collect();
    rows.sort_unstable();
    rows.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns an axis title with the unit of the numbers in cells.
pub(super) fn named(title: &str, unit: AxisUnit) -> String {
    let unit = match unit {
        AxisUnit::Nanoseconds => "ns",
        AxisUnit::Bytes => "bytes",
        AxisUnit::PerSecond => "/s",
        AxisUnit::BytesPerSecond => "bytes/s",
        AxisUnit::Share => "fraction",
        AxisUnit::Nines => "1 / (1 − p)",
        AxisUnit::Count | AxisUnit::Ratio => "",
    };
    let is_reported = title.to_lowercase().split(' ').any(|word| word == unit);
    match unit.is_empty() || is_reported {
        true => title.to_owned(),
        false => format!("{title} ({unit})"),
    }
}

//! The points of a plot as rows, and the chart of them beside these.

use super::chart::{self, ABOVE, BELOW, Rows, X, Y};
use super::{Styles, fitting, write_number};
use crate::document::{AxisUnit, Plot, Point, Series};
use rust_xlsxwriter::{Worksheet, XlsxError};

/// The height of a row, in which charts are placed.
const ROW_PIXELS: u32 = 20;

/// What was written: a chart with its height, if there is something to draw, and the first column that is free.
type Written = (Option<(rust_xlsxwriter::Chart, u32)>, u16);

/// A sheet that is written from above.
pub(super) struct Sheet<'s> {
    pub(super) sheet: &'s mut Worksheet,
    pub(super) name: &'s str,
    /// The next row.
    pub(super) line: &'s mut u32,
    pub(super) styles: &'s Styles,
}

impl Sheet<'_> {
    /// Writes every point of a plot, under the names of its axes, and its chart.
    pub(super) fn write_plot(&mut self, plot: &Plot) -> Result<(), XlsxError> {
        let title = fitting(&plot.title);
        self.sheet
            .write_string_with_format(*self.line, 0, title, &self.styles.heading)?;
        *self.line += 1;
        let top = *self.line;
        let (chart, column) = match plot.categories.is_empty() {
            true => self.write_over_number(plot)?,
            false => self.write_over_rows(plot)?,
        };
        if let Some((chart, height)) = chart {
            self.sheet.insert_chart(top, column, &chart)?;
            *self.line = (*self.line).max(top + height.div_ceil(ROW_PIXELS));
        }
        *self.line += 1;
        Ok(())
    }

    /// A row a point: whose it is, its two numbers, and how far its interval goes to either side.
    fn write_over_number(&mut self, plot: &Plot) -> Result<Written, XlsxError> {
        self.write_headings(&[
            "Point".to_owned(),
            named(&plot.x.title, plot.x.unit),
            named(&plot.y.title, plot.y.unit),
            "interval, below".to_owned(),
            "interval, above".to_owned(),
        ])?;
        let mut rows = Vec::new();
        for series in &plot.series {
            let first = *self.line;
            for point in &series.points {
                self.write_point(series, point)?;
            }
            rows.push(Rows {
                first,
                last: (*self.line).saturating_sub(1),
                has_intervals: series.points.iter().any(|point| sides(point).is_some()),
            });
        }
        Ok((chart::over_number(plot, self.name, &rows), ABOVE + 2))
    }

    fn write_point(&mut self, series: &Series, point: &Point) -> Result<(), XlsxError> {
        let line = *self.line;
        self.sheet.write_string(line, 0, fitting(&series.name))?;
        write_number(self.sheet, line, X, point.x)?;
        write_number(self.sheet, line, Y, point.y)?;
        if let Some((below, above)) = sides(point) {
            write_number(self.sheet, line, BELOW, below)?;
            write_number(self.sheet, line, ABOVE, above)?;
        }
        *self.line += 1;
        Ok(())
    }

    /// A row for each of the plot's rows, a column a series; or a row a point where a series has several in one.
    fn write_over_rows(&mut self, plot: &Plot) -> Result<Written, XlsxError> {
        if plot.series.iter().any(has_several_in_a_row) {
            self.write_list(plot)?;
            return Ok((None, 0));
        }
        let mut headings = vec![named(&plot.x.title, plot.x.unit)];
        headings.extend(plot.series.iter().map(|series| series.name.clone()));
        self.write_headings(&headings)?;
        let first = *self.line;
        for (row, category) in (first..).zip(&plot.categories) {
            self.sheet.write_string(row, 0, fitting(category))?;
        }
        for (column, series) in (1..).zip(&plot.series) {
            for point in &series.points {
                write_number(self.sheet, first + point.y as u32, column, point.x)?;
            }
        }
        *self.line = first + plot.categories.len() as u32;
        let free = plot.series.len() as u16 + 2;
        Ok((
            chart::over_rows(plot, self.name, &(first..*self.line)),
            free,
        ))
    }

    fn write_list(&mut self, plot: &Plot) -> Result<(), XlsxError> {
        self.write_headings(&[
            "Point".to_owned(),
            named(&plot.x.title, plot.x.unit),
            "Series".to_owned(),
        ])?;
        for series in &plot.series {
            for point in &series.points {
                let row = plot.categories.get(point.y as usize);
                let row = fitting(row.unwrap_or(&series.name));
                self.sheet.write_string(*self.line, 0, row)?;
                write_number(self.sheet, *self.line, 1, point.x)?;
                self.sheet
                    .write_string(*self.line, 2, fitting(&series.name))?;
                *self.line += 1;
            }
        }
        Ok(())
    }

    fn write_headings(&mut self, headings: &[String]) -> Result<(), XlsxError> {
        for (column, heading) in (0..).zip(headings) {
            let (line, style) = (*self.line, &self.styles.heading);
            self.sheet
                .write_string_with_format(line, column, fitting(heading), style)?;
        }
        *self.line += 1;
        Ok(())
    }
}

/// How far the interval goes to either side of the value.
fn sides(point: &Point) -> Option<(f64, f64)> {
    let (low, high) = point.interval?;
    let sides = (point.y - low, high - point.y);
    (sides.0.is_finite() && sides.1.is_finite()).then_some(sides)
}

fn has_several_in_a_row(series: &Series) -> bool {
    let mut rows: Vec<u32> = series.points.iter().map(|point| point.y as u32).collect();
    rows.sort_unstable();
    rows.windows(2).any(|pair| pair[0] == pair[1])
}

/// An axis with its unit.
pub(super) fn named(title: &str, unit: AxisUnit) -> String {
    let unit = match unit {
        AxisUnit::Nanoseconds => " (ns)",
        AxisUnit::Bytes => " (bytes)",
        AxisUnit::PerSecond => " (/s)",
        AxisUnit::BytesPerSecond => " (bytes/s)",
        AxisUnit::Nines => " (1 / (1 − p))",
        AxisUnit::Count | AxisUnit::Ratio => "",
    };
    format!("{title}{unit}")
}

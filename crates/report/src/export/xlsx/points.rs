//! The points of a plot as rows, and the chart of them beside these.

use super::chart::{self, Columns, Place, Rows};
use super::{Styles, fitting, write_number};
use crate::document::{AxisUnit, Plot, Point, Series};
use rust_xlsxwriter::{Worksheet, XlsxError};

/// The height of a row, in which charts are placed.
const ROW_PIXELS: u32 = 20;

/// Writes every point of a plot, under the names of its axes, and its chart.
pub(super) fn write_plot(
    sheet: &mut Worksheet,
    name: &str,
    line: &mut u32,
    plot: &Plot,
    styles: &Styles,
) -> Result<(), XlsxError> {
    sheet.write_string_with_format(*line, 0, fitting(&plot.title), &styles.heading)?;
    *line += 1;
    let top = *line;
    let (chart, column) = match plot.categories.is_empty() {
        true => write_over_number(sheet, name, line, plot, styles)?,
        false => write_over_rows(sheet, name, line, plot, styles)?,
    };
    if let Some((chart, height)) = chart {
        sheet.insert_chart(top, column, &chart)?;
        *line = (*line).max(top + height.div_ceil(ROW_PIXELS));
    }
    *line += 1;
    Ok(())
}

/// What was written: a chart with its height, if there is something to draw, and the first column that is free.
type Written = (Option<(rust_xlsxwriter::Chart, u32)>, u16);

/// A row a point: whose it is, its two numbers, and how far its interval goes to either side.
fn write_over_number(
    sheet: &mut Worksheet,
    name: &str,
    line: &mut u32,
    plot: &Plot,
    styles: &Styles,
) -> Result<Written, XlsxError> {
    let headings = [
        "Point".to_owned(),
        named(&plot.x.title, plot.x.unit),
        named(&plot.y.title, plot.y.unit),
        "interval, below".to_owned(),
        "interval, above".to_owned(),
    ];
    write_headings(sheet, line, &headings, styles)?;
    let mut rows = Vec::new();
    for series in &plot.series {
        let first = *line;
        for point in &series.points {
            sheet.write_string(*line, 0, fitting(&series.name))?;
            write_number(sheet, *line, 1, point.x)?;
            write_number(sheet, *line, 2, point.y)?;
            if let Some((below, above)) = sides(point) {
                write_number(sheet, *line, 3, below)?;
                write_number(sheet, *line, 4, above)?;
            }
            *line += 1;
        }
        rows.push(Rows {
            first,
            last: (*line).saturating_sub(1),
            has_intervals: series.points.iter().any(|point| sides(point).is_some()),
        });
    }
    let place = Place {
        sheet: name,
        columns: Columns {
            x: 1,
            y: 2,
            below: 3,
            above: 4,
        },
    };
    Ok((chart::over_number(plot, &place, &rows), 6))
}

/// How far the interval goes to either side of the value.
fn sides(point: &Point) -> Option<(f64, f64)> {
    let (low, high) = point.interval?;
    let sides = (point.y - low, high - point.y);
    (sides.0.is_finite() && sides.1.is_finite()).then_some(sides)
}

/// A row for each of the plot's rows, a column a series; or a row a point where a series has several in one.
fn write_over_rows(
    sheet: &mut Worksheet,
    name: &str,
    line: &mut u32,
    plot: &Plot,
    styles: &Styles,
) -> Result<Written, XlsxError> {
    if plot.series.iter().any(has_several_in_a_row) {
        write_list(sheet, line, plot, styles)?;
        return Ok((None, 0));
    }
    let mut headings = vec![named(&plot.x.title, plot.x.unit)];
    headings.extend(plot.series.iter().map(|series| series.name.clone()));
    write_headings(sheet, line, &headings, styles)?;
    let first = *line;
    for (row, category) in (first..).zip(&plot.categories) {
        sheet.write_string(row, 0, fitting(category))?;
    }
    for (column, series) in (1..).zip(&plot.series) {
        for point in &series.points {
            write_number(sheet, first + point.y as u32, column, point.x)?;
        }
    }
    *line = first + plot.categories.len() as u32;
    let rows = first..*line;
    let free = plot.series.len() as u16 + 2;
    Ok((chart::over_rows(plot, name, &rows), free))
}

fn has_several_in_a_row(series: &Series) -> bool {
    let mut rows: Vec<u32> = series.points.iter().map(|point| point.y as u32).collect();
    rows.sort_unstable();
    rows.windows(2).any(|pair| pair[0] == pair[1])
}

fn write_list(
    sheet: &mut Worksheet,
    line: &mut u32,
    plot: &Plot,
    styles: &Styles,
) -> Result<(), XlsxError> {
    let headings = [
        "Point".to_owned(),
        named(&plot.x.title, plot.x.unit),
        "Series".to_owned(),
    ];
    write_headings(sheet, line, &headings, styles)?;
    for series in &plot.series {
        for point in &series.points {
            let row = plot.categories.get(point.y as usize);
            sheet.write_string(*line, 0, fitting(row.unwrap_or(&series.name)))?;
            write_number(sheet, *line, 1, point.x)?;
            sheet.write_string(*line, 2, fitting(&series.name))?;
            *line += 1;
        }
    }
    Ok(())
}

fn write_headings(
    sheet: &mut Worksheet,
    line: &mut u32,
    headings: &[String],
    styles: &Styles,
) -> Result<(), XlsxError> {
    for (column, heading) in (0..).zip(headings) {
        sheet.write_string_with_format(*line, column, fitting(heading), &styles.heading)?;
    }
    *line += 1;
    Ok(())
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

//! The points of a plot as rows, where no table of the section has them.

use super::{Styles, fitting};
use crate::document::{AxisUnit, Plot};
use rust_xlsxwriter::{Worksheet, XlsxError};

/// Writes every point of a plot, under the names of its axes.
pub(super) fn write_points(
    sheet: &mut Worksheet,
    line: &mut u32,
    plot: &Plot,
    styles: &Styles,
) -> Result<(), XlsxError> {
    sheet.write_string_with_format(*line, 0, fitting(&plot.title), &styles.heading)?;
    *line += 1;
    let is_dots = !plot.categories.is_empty();
    let second = match is_dots {
        true => "Series".to_owned(),
        false => named(&plot.y.title, plot.y.unit),
    };
    let headings = [
        "Point".to_owned(),
        named(&plot.x.title, plot.x.unit),
        second,
    ];
    for (column, heading) in (0..).zip(&headings) {
        sheet.write_string_with_format(*line, column, fitting(heading), &styles.heading)?;
    }
    *line += 1;
    for series in &plot.series {
        for point in &series.points {
            let row = plot.categories.get(point.y as usize).filter(|_| is_dots);
            sheet.write_string(*line, 0, fitting(row.unwrap_or(&series.name)))?;
            sheet.write_number(*line, 1, point.x)?;
            match is_dots {
                true => sheet.write_string(*line, 2, fitting(&series.name))?,
                false => sheet.write_number(*line, 2, point.y)?,
            };
            *line += 1;
        }
    }
    *line += 1;
    Ok(())
}

fn named(title: &str, unit: AxisUnit) -> String {
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

//! Tables in a sheet: numbers are numbers in base units, each figure with its limits in separate
//! cells.

use super::Styles;
use super::grid::{Fit, Grid};
use crate::document::{Cell, Figure, Row, RowKind, Standing, Table, Unit};
use crate::export::cells::{like_control, row_title};
use crate::number::significant;

/// Number of a column's cells: figures and ranges have their limits beside them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    One,
    Range,
    Figure,
}

impl Width {
    fn of(table: &Table, column: usize) -> Width {
        let widths = table
            .rows
            .iter()
            .filter_map(|row| row.cells.get(column))
            .map(|cell| match cell {
                Cell::Figure(_) => Width::Figure,
                Cell::Range { .. } => Width::Range,
                Cell::Printed { low, high, .. } if low != high => Width::Range,
                _ => Width::One,
            });
        widths.max().unwrap_or(Width::One)
    }

    fn parts(self) -> &'static [&'static str] {
        match self {
            Width::One => &[""],
            Width::Range => &["from", "to"],
            Width::Figure => &["value", "low", "high", "switches", "findings"],
        }
    }
}

/// Writes a table from a line on, which is then the next that is free.
pub(super) fn write(grid: &mut Grid, line: &mut u32, table: &Table, styles: &Styles) {
    grid.text((*line, 0), &table.title, Fit::Over, &styles.title);
    *line += 1;
    let widths: Vec<Width> = (0..table.columns.len())
        .map(|column| Width::of(table, column))
        .collect();
    write_headings(grid, *line, table, &widths, styles);
    *line += 1;
    for row in &table.rows {
        write_row(grid, *line, row, &widths, styles);
        *line += 1;
    }
    if !table.caption.is_empty() {
        let at = (*line, 0);
        grid.text(at, &table.caption, Fit::Paragraph, &styles.wrapped);
        *line += 1;
    }
    *line += 1;
}

fn write_headings(grid: &mut Grid, line: u32, table: &Table, widths: &[Width], styles: &Styles) {
    grid.text((line, 0), &table.corner, Fit::Heading, &styles.heading);
    let mut at = 1;
    for (index, (column, width)) in table.columns.iter().zip(widths).enumerate() {
        for part in width.parts() {
            // Switches are counted, and findings are words.
            let unit = match *part {
                "switches" | "findings" => "",
                _ => unit_of(table, index),
            };
            let words = [column.title.as_str(), column.subtitle.as_str(), part, unit];
            let text: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let text = text.join("\n");
            grid.text((line, at), &text, Fit::Heading, &styles.heading);
            at += 1;
        }
    }
}

/// Returns the common unit of a column's numbers; empty if they differ.
fn unit_of(table: &Table, column: usize) -> &'static str {
    let unit = |cell: &Cell| match cell {
        Cell::Number { unit, .. }
        | Cell::AtMost { unit, .. }
        | Cell::Range { unit, .. }
        | Cell::Printed { unit, .. } => Some(*unit),
        Cell::Figure(figure) => Some(figure.unit),
        _ => None,
    };
    let measured = table.rows.iter().filter(|row| row.kind != RowKind::Derived);
    let units: Vec<Unit> = measured
        .filter_map(|row| row.cells.get(column))
        .filter_map(unit)
        .collect();
    match units.first() {
        Some(first) if units.iter().all(|unit| unit == first) => symbol(*first),
        _ => "",
    }
}

fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Ticks => "ticks",
        Unit::Bytes => "bytes",
        Unit::Count => "",
        Unit::Ratio => "ratio",
        Unit::Share => "fraction",
        Unit::PerSecond => "1/s",
        Unit::BytesPerSecond => "bytes/s",
    }
}

fn write_row(grid: &mut Grid, line: u32, row: &Row, widths: &[Width], styles: &Styles) {
    let style = if row.kind == RowKind::Published {
        &styles.published
    } else {
        &styles.label
    };
    let title = row_title(row);
    match number_of(&title) {
        Some(number) => grid.exact((line, 0), number, style),
        None => grid.text((line, 0), &title, Fit::Column, style),
    }
    let mut writer = Cells {
        grid,
        line,
        at: 1,
        styles,
    };
    for (cell, width) in row.cells.iter().zip(widths) {
        writer.write(cell, *width);
        writer.at += width.parts().len() as u16;
    }
}

/// Returns the number that a label is, if it is one and would be written the same.
fn number_of(label: &str) -> Option<f64> {
    let number: f64 = label.parse().ok()?;
    (number.is_finite() && number.to_string() == label).then_some(number)
}

/// A place among the cells of a row.
struct Cells<'g> {
    grid: &'g mut Grid,
    line: u32,
    at: u16,
    styles: &'g Styles,
}

impl Cells<'_> {
    fn text(&mut self, part: u16, text: &str) {
        let at = (self.line, self.at + part);
        self.grid.text(at, text, Fit::Column, &self.styles.wrapped);
    }

    fn number(&mut self, part: u16, value: f64) {
        let at = (self.line, self.at + part);
        self.grid.number(at, value, &self.styles.number);
    }

    fn write(&mut self, cell: &Cell, width: Width) {
        match cell {
            Cell::Empty => {}
            Cell::Text { text } => self.text(0, text),
            Cell::Lacking { reason } => self.text(0, &format!("– ({reason})")),
            Cell::Missing { reason } => self.text(0, &format!("no figure: {reason}")),
            // A sum or a chart must not take up a number that is not one.
            Cell::AtMost { value, .. } => {
                self.text(0, &format!("≤ {}", significant(*value, 4)));
            }
            Cell::Number { value, .. } => self.span((*value, *value), width),
            Cell::Range { low, high, .. } | Cell::Printed { low, high, .. } => {
                self.span((*low, *high), width);
            }
            Cell::Figure(figure) => self.figure(figure),
        }
    }

    /// Writes a number or a range, in the cells that the column has for it.
    fn span(&mut self, (low, high): (f64, f64), width: Width) {
        match width {
            Width::One => self.number(0, low),
            Width::Figure if low == high => self.number(0, low),
            Width::Range | Width::Figure => {
                let first = u16::from(width == Width::Figure);
                self.number(first, low);
                self.number(first + 1, high);
            }
        }
    }

    fn figure(&mut self, figure: &Figure) {
        let mut words: Vec<String> = figure.marks.iter().map(|mark| mark.word.clone()).collect();
        match &figure.standing {
            Standing::Withheld { reason } => self.text(0, &format!("withheld: {reason}")),
            standing => {
                // A sum or a chart must not take up a number that is not one.
                match standing {
                    Standing::LikeControl => {
                        self.text(0, &like_control(figure));
                        words.insert(0, "like the control".into());
                    }
                    _ => self.number(0, figure.value),
                }
                // Empty where no limits are known.
                if let Some((low, high)) = figure.limits() {
                    self.number(1, low);
                    self.number(2, high);
                }
            }
        }
        if let Some(switches) = figure.switches {
            self.number(3, switches);
        }
        if !words.is_empty() {
            self.text(4, &words.join(", "));
        }
    }
}

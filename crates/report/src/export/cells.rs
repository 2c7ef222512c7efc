//! A table's cells in one line of plain text each, for exporters without markup.

use crate::compose::figure;
use crate::document::{Cell, Figure, Row, Standing, Table, Unit};
use crate::number::{self, Scale};

/// Returns all cells of a row.
pub fn line_cells(row: &Row, scale: Option<Scale>) -> Vec<String> {
    row.cells.iter().map(|cell| line(cell, scale)).collect()
}

/// Returns the scale for the figures of each row: one for the whole table if that reads well, else
/// one for the row. `None` gives each figure its own.
pub fn scales(table: &Table) -> Vec<Option<Scale>> {
    let whole = common(table.rows.iter().flat_map(|row| &row.cells));
    table
        .rows
        .iter()
        .map(|row| whole.or_else(|| common(&row.cells)))
        .collect()
}

fn common<'c>(cells: impl IntoIterator<Item = &'c Cell>) -> Option<Scale> {
    let times = cells.into_iter().filter_map(|cell| match cell {
        Cell::Figure(f) if f.standing == Standing::Resolved && f.unit == Unit::Nanoseconds => {
            Some(f.value)
        }
        _ => None,
    });
    number::common_scale(Unit::Nanoseconds, &times.collect::<Vec<f64>>())
}

fn line(cell: &Cell, scale: Option<Scale>) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text { text } | Cell::Printed { text, .. } => text.clone(),
        Cell::Number { value, unit } => number_text(*value, *unit),
        Cell::AtMost { value, unit } => at_most(*value, *unit),
        Cell::Range { low, high, unit } => number::range(*unit, *low, *high),
        Cell::Lacking { .. } => "–".to_owned(),
        Cell::Missing { reason } => format!("– ({reason})"),
        Cell::Figure(figure) => figure_line(figure, scale),
    }
}

/// Formats a bare number: counts and sizes exactly, the rest to three digits.
pub fn number_text(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count | Unit::Bytes => number::exact(unit, value),
        _ => number::quantity(unit, value),
    }
}

/// Formats a bare number that is a bound.
pub fn at_most(value: f64, unit: Unit) -> String {
    format!("≤\u{202f}{}", number_text(value, unit))
}

/// Formats the value of a figure, without marks.
pub fn figure_value(figure: &Figure, scale: Option<Scale>) -> number::Written {
    let scale = scale.filter(|_| figure.unit == Unit::Nanoseconds);
    match scale {
        Some(scale) => number::interval_in(scale, figure.value, figure.low, figure.high),
        None => number::interval(figure.unit, figure.value, figure.low, figure.high),
    }
}

/// Formats a cost that is indistinguishable from the control.
pub fn like_control(figure: &Figure) -> String {
    figure::like_control(figure.unit, figure::bound(figure.low, figure.high))
}

fn figure_line(figure: &Figure, scale: Option<Scale>) -> String {
    let mut text = match &figure.standing {
        Standing::Resolved => figure_value(figure, scale).line(),
        Standing::LikeControl => like_control(figure),
        Standing::Withheld { reason } => return format!("withheld: {reason}"),
    };
    for note in side_notes(figure) {
        text.push_str(", ");
        text.push_str(&note);
    }
    for mark in &figure.marks {
        text.push_str(&format!(" [{}]", mark.word));
    }
    text
}

/// Returns switches, and the instructions if they are a second measure.
pub fn side_notes(figure: &Figure) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(switches) = figure.switches.filter(|s| s.abs() >= 0.005) {
        notes.push(format!("{} sw", number::significant(switches, 2)));
    }
    if let Some(instructions) = figure.instructions {
        notes.push(match instructions {
            fewer if fewer < 0.0 => format!("{} instr", number::exact(Unit::Count, fewer)),
            more => format!("+{} instr", number::exact(Unit::Count, more)),
        });
    }
    notes
}

/// Returns column titles with their second line.
pub fn titles(table: &Table) -> Vec<String> {
    let title = |column: &crate::document::Column| match column.subtitle.is_empty() {
        true => column.title.clone(),
        false => format!("{} ({})", column.title, column.subtitle),
    };
    std::iter::once(table.corner.clone())
        .chain(table.columns.iter().map(title))
        .collect()
}

/// Returns the row's label with its second line.
pub fn row_title(row: &Row) -> String {
    match row.place.is_empty() {
        true => row.label.clone(),
        false => format!("{} · {}", row.label, row.place),
    }
}

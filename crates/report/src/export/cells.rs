//! A table's cells in one line of plain text each, for exporters without markup.

use crate::compose::figure::bound;
use crate::document::{Cell, Figure, Row, Standing, Table, Unit};
use crate::number::{self, Scale};

/// All cells of a row; figures of one unit share a scale where that reads well.
pub fn line_cells(row: &Row) -> Vec<String> {
    let scale = row_scale(row);
    row.cells.iter().map(|cell| line(cell, scale)).collect()
}

/// The scale that the figures of a row share; `None`: each has its own.
pub fn row_scale(row: &Row) -> Option<Scale> {
    let figures: Vec<&Figure> = row
        .cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Figure(figure) if figure.standing == Standing::Resolved => Some(&**figure),
            _ => None,
        })
        .collect();
    let unit = figures.first()?.unit;
    let values: Vec<f64> = figures
        .iter()
        .filter(|f| f.unit == unit)
        .map(|f| f.value)
        .collect();
    let same = unit == Unit::Nanoseconds && values.len() == figures.len();
    same.then(|| number::common_scale(unit, &values)).flatten()
}

fn line(cell: &Cell, scale: Option<Scale>) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text { text } => text.clone(),
        Cell::Number { value, unit } => number_text(*value, *unit),
        Cell::Range { low, high, unit } => number::range(*unit, *low, *high),
        Cell::Missing { reason } => format!("– ({reason})"),
        Cell::Figure(figure) => figure_line(figure, scale),
    }
}

/// A bare number: counts and sizes exactly, the rest to three digits.
pub fn number_text(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Count | Unit::Bytes => number::exact(unit, value),
        _ => number::quantity(unit, value),
    }
}

/// The value of a figure as it is written, without marks.
pub fn figure_value(figure: &Figure, scale: Option<Scale>) -> number::Written {
    let scale = scale.filter(|_| figure.unit == Unit::Nanoseconds);
    match scale {
        Some(scale) => number::interval_in(scale, figure.value, figure.low, figure.high),
        None => number::interval(figure.unit, figure.value, figure.low, figure.high),
    }
}

/// What stands for a cost that cannot be told from the control.
pub fn like_control(figure: &Figure) -> String {
    format!(
        "≈ control (< {})",
        number::quantity(figure.unit, bound(figure.low, figure.high))
    )
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

/// Switches, and the instructions where they are the second opinion.
pub fn side_notes(figure: &Figure) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(switches) = figure.switches.filter(|s| s.abs() >= 0.005) {
        notes.push(format!("{} sw", number::significant(switches, 2)));
    }
    if figure.standing == Standing::LikeControl
        && let Some(instructions) = figure.instructions
    {
        notes.push(format!("{} instr", number::significant(instructions, 3)));
    }
    notes
}

/// Column titles with their second line.
pub fn titles(table: &Table) -> Vec<String> {
    let title = |column: &crate::document::Column| match column.subtitle.is_empty() {
        true => column.title.clone(),
        false => format!("{} ({})", column.title, column.subtitle),
    };
    std::iter::once(table.corner.clone())
        .chain(table.columns.iter().map(title))
        .collect()
}

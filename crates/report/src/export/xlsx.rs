//! A workbook: a sheet of conditions, then a sheet a section. Numbers are numbers, times in ns, each figure with its limits in cells of their own;
//! each plot is a chart of the workbook's own beside its points.

mod chart;
mod names;
mod order;
mod points;

use super::cells::{like_control, row_title};
use crate::document::{
    Block, Cell, Document, Fact, Figure, Note, Row, RowKind, Section, Standing, Table, Unit,
};
use rust_xlsxwriter::{Format, FormatBorder, Workbook, Worksheet, XlsxError};

/// The workbook's bytes.
///
/// # Errors
/// The document does not fit the format (more than a million rows, for instance).
pub fn render(document: &Document) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let styles = Styles::new();
    let mut names = vec!["Run".to_string()];
    cover(workbook.add_worksheet(), document, &styles)?;
    for section in &document.sections {
        let name = names::sheet(&section.title, &names);
        names.push(name.clone());
        let sheet = workbook.add_worksheet();
        sheet.set_name(&name)?;
        write_section(sheet, &name, section, &styles)?;
    }
    order::mended(workbook.save_to_buffer()?)
}

struct Styles {
    title: Format,
    heading: Format,
    label: Format,
    published: Format,
    wrapped: Format,
}

impl Styles {
    fn new() -> Self {
        Styles {
            title: Format::new().set_bold().set_font_size(13),
            heading: Format::new()
                .set_bold()
                .set_border_bottom(FormatBorder::Thin)
                .set_text_wrap(),
            label: Format::new(),
            published: Format::new().set_italic(),
            wrapped: Format::new().set_text_wrap(),
        }
    }
}

fn cover(sheet: &mut Worksheet, document: &Document, styles: &Styles) -> Result<(), XlsxError> {
    sheet.set_name("Run")?;
    sheet.set_column_width(0, 24)?.set_column_width(1, 100)?;
    sheet.write_string_with_format(0, 0, &document.title, &styles.title)?;
    sheet.write_string(1, 0, &document.subtitle)?;
    let mut line = 3;
    write_notes(sheet, &mut line, &document.summary, styles)?;
    write_facts(sheet, &mut line, &document.facts, styles)
}

fn write_section(
    sheet: &mut Worksheet,
    name: &str,
    section: &Section,
    styles: &Styles,
) -> Result<(), XlsxError> {
    sheet.set_column_width(0, 44)?;
    sheet.write_string_with_format(0, 0, &section.title, &styles.title)?;
    let mut line = 2;
    for block in &section.blocks {
        match block {
            Block::Prose { text } => {
                sheet.write_string(line, 0, text)?;
                line += 2;
            }
            Block::Table(table) => write_table(sheet, &mut line, table, styles)?,
            Block::Notes { notes } => write_notes(sheet, &mut line, notes, styles)?,
            Block::Facts { facts } => write_facts(sheet, &mut line, facts, styles)?,
            Block::Plot(plot) => points::Sheet {
                sheet: &mut *sheet,
                name,
                line: &mut line,
                styles,
            }
            .write_plot(plot)?,
        }
    }
    Ok(())
}

fn write_notes(
    sheet: &mut Worksheet,
    line: &mut u32,
    notes: &[Note],
    styles: &Styles,
) -> Result<(), XlsxError> {
    for note in notes {
        let text: Vec<&str> = [&note.text, &note.mend, &note.quote]
            .into_iter()
            .map(String::as_str)
            .filter(|t| !t.is_empty())
            .collect();
        sheet.write_string(*line, 0, fitting(&note.about))?;
        sheet.write_string_with_format(*line, 1, fitting(&text.join("\n")), &styles.wrapped)?;
        *line += 1;
    }
    *line += 1;
    Ok(())
}

fn write_facts(
    sheet: &mut Worksheet,
    line: &mut u32,
    facts: &[Fact],
    styles: &Styles,
) -> Result<(), XlsxError> {
    for fact in facts {
        sheet.write_string(*line, 0, fitting(&fact.label))?;
        sheet.write_string_with_format(*line, 1, fitting(&fact.text), &styles.wrapped)?;
        *line += 1;
    }
    *line += 1;
    Ok(())
}

/// A cell holds at most 32 767 characters.
fn fitting(text: &str) -> String {
    text.chars().take(32_000).collect()
}

/// How many cells a column takes: figures and ranges have their limits beside them.
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

fn write_table(
    sheet: &mut Worksheet,
    line: &mut u32,
    table: &Table,
    styles: &Styles,
) -> Result<(), XlsxError> {
    sheet.write_string_with_format(*line, 0, &table.title, &styles.title)?;
    *line += 1;
    let widths: Vec<Width> = (0..table.columns.len())
        .map(|column| Width::of(table, column))
        .collect();
    write_headings(sheet, *line, table, &widths, styles)?;
    *line += 1;
    for row in &table.rows {
        write_row(sheet, *line, row, &widths, styles)?;
        *line += 1;
    }
    if !table.caption.is_empty() {
        sheet.write_string(*line, 0, &table.caption)?;
        *line += 1;
    }
    *line += 1;
    Ok(())
}

fn write_headings(
    sheet: &mut Worksheet,
    line: u32,
    table: &Table,
    widths: &[Width],
    styles: &Styles,
) -> Result<(), XlsxError> {
    sheet.write_string_with_format(line, 0, &table.corner, &styles.heading)?;
    let mut at = 1;
    for (index, (column, width)) in table.columns.iter().zip(widths).enumerate() {
        for part in width.parts() {
            let unit = unit_of(table, index);
            let unit = if *part == "findings" { "" } else { unit };
            let words = [column.title.as_str(), column.subtitle.as_str(), part, unit];
            let text: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            sheet.write_string_with_format(line, at, text.join("\n"), &styles.heading)?;
            at += 1;
        }
    }
    Ok(())
}

/// The unit that the numbers of a column share; empty where they differ.
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

fn write_row(
    sheet: &mut Worksheet,
    line: u32,
    row: &Row,
    widths: &[Width],
    styles: &Styles,
) -> Result<(), XlsxError> {
    let style = if row.kind == RowKind::Published {
        &styles.published
    } else {
        &styles.label
    };
    sheet.write_string_with_format(line, 0, fitting(&row_title(row)), style)?;
    let mut at = 1;
    for (cell, width) in row.cells.iter().zip(widths) {
        write_cell(sheet, line, at, cell, *width)?;
        at += width.parts().len() as u16;
    }
    Ok(())
}

fn write_cell(
    sheet: &mut Worksheet,
    line: u32,
    at: u16,
    cell: &Cell,
    width: Width,
) -> Result<(), XlsxError> {
    match cell {
        Cell::Empty => {}
        Cell::Text { text } => {
            sheet.write_string(line, at, fitting(text))?;
        }
        Cell::Lacking { reason } => {
            sheet.write_string(line, at, fitting(&format!("– ({reason})")))?;
        }
        Cell::Missing { reason } => {
            sheet.write_string(line, at, fitting(&format!("no figure: {reason}")))?;
        }
        // A sum or a chart must not take up a number that is not one.
        Cell::AtMost { value, .. } => {
            sheet.write_string(line, at, format!("≤ {value}"))?;
        }
        Cell::Number { value, .. } => write_span(sheet, (line, at), (*value, *value), width)?,
        Cell::Range { low, high, .. } | Cell::Printed { low, high, .. } => {
            write_span(sheet, (line, at), (*low, *high), width)?;
        }
        Cell::Figure(figure) => write_figure(sheet, line, at, figure)?,
    }
    Ok(())
}

/// A number or a range, in the cells that the column has for it.
fn write_span(
    sheet: &mut Worksheet,
    (line, at): (u32, u16),
    (low, high): (f64, f64),
    width: Width,
) -> Result<(), XlsxError> {
    match width {
        Width::One => write_number(sheet, line, at, low),
        Width::Figure if low == high => write_number(sheet, line, at, low),
        Width::Range | Width::Figure => {
            let first = if width == Width::Range { at } else { at + 1 };
            write_number(sheet, line, first, low)?;
            write_number(sheet, line, first + 1, high)
        }
    }
}

fn write_figure(
    sheet: &mut Worksheet,
    line: u32,
    at: u16,
    figure: &Figure,
) -> Result<(), XlsxError> {
    let mut words: Vec<String> = figure.marks.iter().map(|mark| mark.word.clone()).collect();
    match &figure.standing {
        Standing::Withheld { reason } => {
            sheet.write_string(line, at, format!("withheld: {reason}"))?;
        }
        standing => {
            // A sum or a chart must not take up a number that is not one.
            match standing {
                Standing::LikeControl => {
                    sheet.write_string(line, at, like_control(figure))?;
                    words.insert(0, "like the control".into());
                }
                _ => write_number(sheet, line, at, figure.value)?,
            }
            // Empty where no limits are known.
            if let Some((low, high)) = figure.limits() {
                write_number(sheet, line, at + 1, low)?;
                write_number(sheet, line, at + 2, high)?;
            }
        }
    }
    if let Some(switches) = figure.switches {
        write_number(sheet, line, at + 3, switches)?;
    }
    if !words.is_empty() {
        sheet.write_string(line, at + 4, words.join(", "))?;
    }
    Ok(())
}

/// A number, or words where a spreadsheet has no number for it.
fn write_number(sheet: &mut Worksheet, line: u32, at: u16, value: f64) -> Result<(), XlsxError> {
    if value.is_finite() {
        sheet.write_number(line, at, value)?;
    } else {
        sheet.write_string(line, at, "not finite")?;
    }
    Ok(())
}

//! A workbook: a sheet of conditions, then a sheet a section.
//!
//! Numbers are numbers, times in ns, each figure with its limits in separate cells. Each plot is a
//! native chart beside its points.

mod chart;
mod drawn;
mod grid;
mod names;
mod order;
mod points;
mod scale;
mod split;
mod table;

use super::headlines::lines as sentences;
use crate::document::{Block, Document, Fact, Note, Section};
use grid::{Fit, Grid, Style};
use rust_xlsxwriter::{Format, FormatAlign, FormatBorder, Workbook, XlsxError};

/// Renders the workbook's bytes.
///
/// # Errors
/// The document does not fit the format (more than a million rows, for instance).
pub fn render(document: &Document) -> Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    let styles = Styles::new();
    let titles: Vec<&str> = document.sections.iter().map(|s| s.title.as_str()).collect();
    let names = names::sheets(&titles, &[COVER]);
    let sheet = workbook.add_worksheet();
    sheet.set_name(COVER)?;
    cover(document, &styles).write(sheet)?;
    for (section, name) in document.sections.iter().zip(&names) {
        let sheet = workbook.add_worksheet();
        sheet.set_name(name)?;
        sheet_of(section, name, &styles).write(sheet)?;
    }
    order::mended(workbook.save_to_buffer()?)
}

/// The first sheet.
const COVER: &str = "Run";

struct Styles {
    title: Style,
    heading: Style,
    label: Style,
    published: Style,
    wrapped: Style,
    number: Style,
    /// Style of a plot's points.
    point: Style,
}

impl Styles {
    fn new() -> Self {
        let cell = || Format::new().set_align(FormatAlign::Top);
        let label = || cell().set_align(FormatAlign::Left).set_text_wrap();
        Styles {
            title: Format::new().set_bold().set_font_size(13).into(),
            heading: cell()
                .set_bold()
                .set_border_bottom(FormatBorder::Thin)
                .set_text_wrap()
                .into(),
            label: label().into(),
            published: label().set_italic().into(),
            wrapped: cell().set_text_wrap().into(),
            number: cell().into(),
            point: Format::new().into(),
        }
    }
}

fn cover(document: &Document, styles: &Styles) -> Grid {
    let mut grid = Grid::default();
    grid.set_width(0, 28);
    grid.set_width(1, 100);
    grid.text((0, 0), &document.title, Fit::Over, &styles.title);
    let subtitle = (1, 0);
    grid.text(
        subtitle,
        &document.subtitle,
        Fit::Paragraph,
        &styles.wrapped,
    );
    let mut line = 3;
    for suite in &document.headlines {
        let pairs = sentences(suite).enumerate();
        for (number, sentence) in pairs {
            let label = if number == 0 {
                suite.title.as_str()
            } else {
                ""
            };
            write_pair(&mut grid, &mut line, label, &sentence, styles);
        }
        line += 1;
    }
    write_notes(&mut grid, &mut line, &document.summary, styles);
    write_facts(&mut grid, &mut line, &document.facts, styles);
    grid
}

fn sheet_of(section: &Section, name: &str, styles: &Styles) -> Grid {
    let mut grid = Grid::default();
    grid.text((0, 0), &section.title, Fit::Over, &styles.title);
    grid.freeze(0);
    let mut line = 2;
    for block in &section.blocks {
        match block {
            Block::Prose { text } => {
                grid.text((line, 0), text, Fit::Paragraph, &styles.wrapped);
                line += 2;
            }
            Block::Table(table) => {
                if is_only_table(section) {
                    grid.freeze(line + 2);
                }
                table::write(&mut grid, &mut line, table, styles);
            }
            Block::Notes { notes } => write_notes(&mut grid, &mut line, notes, styles),
            Block::Facts { facts } => write_facts(&mut grid, &mut line, facts, styles),
            Block::Plot(plot) => points::Sheet {
                grid: &mut grid,
                name,
                line: &mut line,
                styles,
            }
            .write_plot(plot),
        }
    }
    grid
}

/// Headings must not stay in sight above another table, because they would mislead.
fn is_only_table(section: &Section) -> bool {
    let blocks = section.blocks.iter();
    let mut with_headings = blocks.filter(|b| matches!(b, Block::Table(_) | Block::Plot(_)));
    with_headings.next().is_some() && with_headings.next().is_none()
}

fn write_notes(grid: &mut Grid, line: &mut u32, notes: &[Note], styles: &Styles) {
    for note in notes {
        let text: Vec<&str> = [&note.text, &note.help, &note.quote]
            .into_iter()
            .map(String::as_str)
            .filter(|t| !t.is_empty())
            .collect();
        write_pair(grid, line, &note.about, &text.join("\n"), styles);
    }
    *line += 1;
}

fn write_facts(grid: &mut Grid, line: &mut u32, facts: &[Fact], styles: &Styles) {
    for fact in facts {
        write_pair(grid, line, &fact.label, &fact.text, styles);
    }
    *line += 1;
}

/// Writes a label in the first column and its text beside it.
fn write_pair(grid: &mut Grid, line: &mut u32, label: &str, text: &str, styles: &Styles) {
    grid.text((*line, 0), label, Fit::Column, &styles.label);
    grid.text((*line, 1), text, Fit::Paragraph, &styles.wrapped);
    *line += 1;
}

//! A sheet's cells before they are written. All of them together decide widths of columns and
//! heights of rows, which readers of the format do not compute themselves.

use crate::number::last_place;
use rust_xlsxwriter::{Chart, Format, Worksheet, XlsxError};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Widths in digits, as the format counts them.
const NARROWEST: usize = 9;
const WIDEST: usize = 32;
/// The first column names rows.
const WIDEST_FIRST: usize = 44;
/// Width of a paragraph.
const PARAGRAPH: f64 = 110.0;
/// Heights in points.
const LINE: f64 = 15.0;
const TITLE_LINE: f64 = 18.0;
const HIGHEST: f64 = 409.0;
/// More rows that stay in sight would leave too little for the others.
const FROZEN_HIGHEST: f64 = 16.0 * LINE;
/// Most lines of a heading.
const HEADING_LINES: usize = 3;
/// Significant digits that a cell shows of a number; it holds all of them.
const DIGITS: usize = 4;
/// Legible width of one page, in digits of a column's width: half of the size, on A4.
const PAGE: usize = 260;
const A4: u8 = 9;

/// Layout of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// On one line, over empty cells beside it.
    Over,
    /// In its column, which is at least as wide as its longest word and not much higher.
    Heading,
    /// In its column, which is as wide as the text if that is not too much.
    Column,
    /// In as many columns as a paragraph needs.
    Paragraph,
}

enum Content {
    Text(String, Fit),
    Number(f64),
}

/// A format that cells share.
pub(super) type Style = Rc<Format>;

/// The cells of a sheet.
#[derive(Default)]
pub(super) struct Grid {
    cells: BTreeMap<(u32, u16), (Content, Style)>,
    /// Styles of numbers, by the style that each is made of and the digits that it shows. A style
    /// has kilobytes, so cells share them.
    numbers: HashMap<(*const Format, String), Style>,
    charts: Vec<(u32, u16, Chart)>,
    widths: BTreeMap<u16, usize>,
    frozen: Option<u32>,
}

impl Grid {
    /// Writes as much of a text as a cell holds.
    pub(super) fn text(&mut self, at: (u32, u16), text: &str, fit: Fit, style: &Style) {
        // A cell holds at most 32 767 characters.
        let text: String = text.chars().take(32_000).collect();
        if !text.is_empty() {
            let content = Content::Text(text, fit);
            self.cells.insert(at, (content, Rc::clone(style)));
        }
    }

    /// Writes a number with its significant digits, or words if a spreadsheet has no number for it.
    pub(super) fn number(&mut self, at: (u32, u16), value: f64, style: &Style) {
        let Some(digits) = shown(value) else {
            return self.exact(at, value, style);
        };
        let of_digits = self.numbers.entry((Rc::as_ptr(style), digits.clone()));
        let made = || Rc::new(Format::clone(style).set_num_format(digits));
        let style = Rc::clone(of_digits.or_insert_with(made));
        self.exact(at, value, &style);
    }

    /// Writes a number with all its digits.
    pub(super) fn exact(&mut self, at: (u32, u16), value: f64, style: &Style) {
        let content = match value.is_finite() {
            true => Content::Number(value),
            false => Content::Text("not finite".into(), Fit::Column),
        };
        self.cells.insert(at, (content, Rc::clone(style)));
    }

    pub(super) fn chart(&mut self, (line, column): (u32, u16), chart: Chart) {
        self.charts.push((line, column, chart));
    }

    /// Sets a column's width, independent of its content.
    pub(super) fn set_width(&mut self, column: u16, width: usize) {
        self.widths.insert(column, width);
    }

    /// Keeps the first column in sight, and the rows above this one.
    pub(super) fn freeze(&mut self, rows: u32) {
        self.frozen = Some(rows);
    }

    pub(super) fn write(self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        let widths = self.column_widths();
        for (column, width) in &widths {
            sheet.set_column_width(*column, *width as f64)?;
        }
        let heights = self.row_heights(&widths);
        for (line, height) in &heights {
            sheet.set_row_height(*line, *height)?;
        }
        if let Some(rows) = self.frozen {
            let height: f64 = (0..rows)
                .map(|row| heights.get(&row).copied().unwrap_or(LINE))
                .sum();
            let rows = if height > FROZEN_HIGHEST { 0 } else { rows };
            sheet.set_freeze_panes(rows, 1)?;
            print_again(sheet, rows)?;
        }
        set_pages(sheet, &widths);
        for ((line, at), (content, format)) in &self.cells {
            write_cell(sheet, (*line, *at), content, format, &widths)?;
        }
        for (line, column, chart) in &self.charts {
            sheet.insert_chart(*line, *column, chart)?;
        }
        Ok(())
    }

    fn column_widths(&self) -> BTreeMap<u16, usize> {
        let mut widths = BTreeMap::new();
        for ((_, column), (content, _)) in &self.cells {
            let widest = if *column == 0 { WIDEST_FIRST } else { WIDEST };
            let wanted = content.width().min(widest);
            let width = widths.entry(*column).or_insert(NARROWEST);
            *width = wanted.max(*width);
        }
        widths.extend(&self.widths);
        widths
    }

    /// Returns the heights of rows that are higher than others.
    fn row_heights(&self, widths: &BTreeMap<u16, usize>) -> BTreeMap<u32, f64> {
        let mut heights = BTreeMap::new();
        for ((line, column), (content, _)) in &self.cells {
            let Content::Text(text, fit) = content else {
                continue;
            };
            let wanted = match fit {
                Fit::Over => TITLE_LINE,
                // Bold letters are wider.
                Fit::Heading => LINE * lines(text, width_of(widths, *column) * 0.9),
                Fit::Column => LINE * lines(text, width_of(widths, *column)),
                Fit::Paragraph => LINE * lines(text, spread(widths, *column).1),
            };
            if wanted > LINE {
                let height = heights.entry(*line).or_insert(LINE);
                *height = wanted.min(HIGHEST).max(*height);
            }
        }
        heights
    }
}

impl Content {
    /// Returns the width that it needs in a column.
    fn width(&self) -> usize {
        let longest = |parts: &mut dyn Iterator<Item = &str>| {
            parts.map(|part| part.chars().count()).max().unwrap_or(0)
        };
        match self {
            Content::Text(text, Fit::Heading) => {
                let words = longest(&mut text.split_whitespace());
                words.max(longest(&mut text.lines()).div_ceil(HEADING_LINES)) + 2
            }
            Content::Text(text, Fit::Column) => longest(&mut text.lines()) + 1,
            Content::Text(..) => 0,
            // Digits after the point give way, and thousands are apart.
            Content::Number(value) => {
                let whole = format!("{:.0}", value.abs()).len();
                whole + whole / 3 + 3
            }
        }
    }
}

/// Returns the format of a number with its significant digits; `None` if it is short already.
fn shown(value: f64) -> Option<String> {
    let is_short = value.fract() == 0.0 && value.abs() < 10_000.0;
    if is_short || !value.is_finite() {
        return None;
    }
    Some(match -last_place(value, DIGITS) {
        ..=0 => "#,##0".into(),
        decimals if decimals <= 6 => format!("0.{}", "0".repeat(decimals as usize)),
        _ => format!("0.{}E+00", "0".repeat(DIGITS - 1)),
    })
}

/// Repeats on each printed page the parts that stay in sight on the screen.
fn print_again(sheet: &mut Worksheet, rows: u32) -> Result<(), XlsxError> {
    sheet.set_repeat_columns(0, 0)?;
    if rows > 0 {
        sheet.set_repeat_rows(0, rows - 1)?;
    }
    Ok(())
}

/// Sets as few pages across as are readable, each with the sheet's name.
fn set_pages(sheet: &mut Worksheet, widths: &BTreeMap<u16, usize>) {
    let width: usize = widths.values().sum();
    let across = width.div_ceil(PAGE).max(1) as u16;
    sheet
        .set_paper_size(A4)
        .set_landscape()
        .set_print_fit_to_pages(across, 0)
        .set_footer("&L&A&R&P / &N");
}

fn write_cell(
    sheet: &mut Worksheet,
    (line, at): (u32, u16),
    content: &Content,
    format: &Format,
    widths: &BTreeMap<u16, usize>,
) -> Result<(), XlsxError> {
    let last = match content {
        Content::Text(_, Fit::Paragraph) => spread(widths, at).0,
        _ => at,
    };
    match content {
        Content::Number(value) => sheet.write_number_with_format(line, at, *value, format)?,
        Content::Text(text, _) if last > at => {
            sheet.merge_range(line, at, line, last, text, format)?
        }
        Content::Text(text, _) => sheet.write_string_with_format(line, at, text, format)?,
    };
    Ok(())
}

fn width_of(widths: &BTreeMap<u16, usize>, column: u16) -> f64 {
    widths.get(&column).map_or(8.43, |width| *width as f64)
}

/// Returns the last column of a paragraph, and the resulting width.
fn spread(widths: &BTreeMap<u16, usize>, from: u16) -> (u16, f64) {
    let mut width = width_of(widths, from);
    let mut last = from;
    while width < PARAGRAPH - 10.0 {
        last += 1;
        width += width_of(widths, last);
    }
    (last, width)
}

/// Returns the number of lines of a text that is broken between words.
fn lines(text: &str, width: f64) -> f64 {
    let width = (width as usize).max(1);
    let of_line = |line: &str| {
        let mut count = 1;
        let mut used = 0;
        for word in line.split(' ').map(|word| word.chars().count()) {
            if used > 0 && used + 1 + word > width {
                count += 1;
                used = 0;
            }
            used += word + usize::from(used > 0);
            // A word that is longer than a line is broken itself.
            count += used.saturating_sub(1) / width;
            used = if used > width { used % width } else { used };
        }
        count
    };
    text.split('\n').map(of_line).sum::<usize>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_digits_that_tell_something() {
        let formats = [
            (64.0, None),
            (-3.0, None),
            (115_227.0, Some("#,##0")),
            (8734.25, Some("#,##0")),
            (999.96, Some("#,##0")),
            (17.733_333, Some("0.00")),
            (9.999_99, Some("0.00")),
            (-0.012_345_6, Some("0.00000")),
            (1.5e-9, Some("0.000E+00")),
            (f64::NAN, None),
        ];
        for (value, format) in formats {
            assert_eq!(shown(value).as_deref(), format, "{value}");
        }
    }

    #[test]
    fn lines_are_counted_as_words_are_broken() {
        assert_eq!(lines("", 10.0), 1.0);
        assert_eq!(lines("one two", 10.0), 1.0);
        assert_eq!(lines("one two three", 10.0), 2.0);
        assert_eq!(lines("one\ntwo\n", 10.0), 3.0);
        assert_eq!(lines(&"x".repeat(25), 10.0), 3.0);
    }
}

//! Plain text for terminals.

use super::cells::{line_cells, scales, titles};
use super::headlines::{line, lines as sentences};
use crate::compose::{compose, view::View};
use crate::document::{Block, Cell, Document, Fact, Headlines, Note, Row, RowKind, Table, Weight};
use crate::layout::Layout;
use antiphon_lab::RunRecord;
use comfy_table::{
    Attribute, Cell as Drawn, CellAlignment, Color, ColumnConstraint, ContentArrangement,
    LineStyle, TableStyle, Width,
};

/// A rule above, below the heading and at the end; rows stand close.
const RULED: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// Options for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal; tables wrap within them.
    pub width: u16,
    /// Whether colours and weights may be used.
    pub colour: bool,
}

/// Renders the whole document.
pub fn render(document: &Document, options: TextOptions) -> String {
    let mut out = format!("{}\n", clean(&document.title));
    if !document.subtitle.is_empty() {
        out.push_str(&format!("{}\n", clean(&document.subtitle)));
    }
    out.push('\n');
    for suite in &document.headlines {
        if document.headlines.len() > 1 {
            out.push_str(&format!("{}\n", clean(&suite.title)));
        }
        out.push_str(&found(suite, options));
        out.push('\n');
    }
    notes(&mut out, &document.summary, options);
    facts(&mut out, &document.facts);
    for section in &document.sections {
        heading(&mut out, &section.title);
        section
            .blocks
            .iter()
            .for_each(|b| block(&mut out, b, options));
    }
    out
}

/// Renders what was found, a numbered sentence each.
pub fn found(suite: &Headlines, options: TextOptions) -> String {
    let sentences = sentences(suite).enumerate();
    let sentences = sentences.map(|(number, line)| {
        let line = wrap(&clean(&line), options.width.saturating_sub(3), "   ");
        format!("{}. {line}\n", number + 1)
    });
    sentences.collect()
}

/// Renders the largest differences of a document of several suites, a line each. Nothing for one
/// suite, whose findings its measurement has just shown.
pub fn largest(document: &Document, options: TextOptions) -> String {
    const COUNT: usize = 3;
    if document.headlines.len() < 2 {
        return String::new();
    }
    let found = document.largest(COUNT).into_iter();
    let lines = found.map(|(suite, one)| {
        let line = format!("{}: {}", suite.title, line(one));
        format!(
            "· {}\n",
            wrap(&clean(&line), options.width.saturating_sub(2), "  ")
        )
    });
    lines.collect()
}

/// Renders the tables and notes of a run, and at the end what was found, without the parts that the terminal's user has just seen
/// or rarely needs. These are the method and folded tables.
pub fn render_tables(run: &RunRecord, options: TextOptions) -> String {
    let mut document = compose(run);
    let headlines = std::mem::take(&mut document.headlines);
    document.facts.clear();
    document.subtitle.clear();
    document.sections.retain(|section| section.id != "method");
    for section in &mut document.sections {
        section.blocks.retain(|block| match block {
            Block::Table(table) => !table.folded && is_todays(table),
            Block::Plot(_) | Block::Prose { .. } => false,
            Block::Notes { .. } | Block::Facts { .. } => true,
        });
    }
    document
        .sections
        .retain(|section| !section.blocks.is_empty());
    let mut out = render(&document, options);
    // The end of a long output is what its reader sees.
    for suite in &headlines {
        heading(&mut out, "What was found");
        out.push_str(&found(suite, options));
        out.push('\n');
    }
    out
}

/// Checks whether a table holds more than published figures.
fn is_todays(table: &Table) -> bool {
    table.rows.iter().any(|row| row.kind != RowKind::Published)
}

/// Returns one line about a run: its suite, time and size.
pub fn summary(run: &RunRecord) -> String {
    let layout = Layout::default();
    let notes = crate::compose::summary(&View::new(run, &layout));
    let sentence = notes
        .first()
        .map_or(String::new(), |note| note.text.clone());
    let state = if run.ended.is_some() {
        ""
    } else {
        " (not ended)"
    };
    clean(&format!(
        "run {} · {} · {}{state} · {sentence}",
        run.id, run.suite, run.started
    ))
}

fn heading(out: &mut String, title: &str) {
    let title = clean(title);
    out.push_str(&format!(
        "\n{title}\n{}\n\n",
        "═".repeat(title.chars().count())
    ));
}

fn block(out: &mut String, block: &Block, options: TextOptions) {
    match block {
        Block::Prose { text } => {
            out.push_str(&format!("{}\n\n", wrap(&clean(text), options.width, "")))
        }
        Block::Table(found) => table(out, found, options),
        Block::Plot(_) => {}
        Block::Notes { notes: found } => notes(out, found, options),
        Block::Facts { facts: found } => facts(out, found),
    }
}

fn notes(out: &mut String, notes: &[Note], options: TextOptions) {
    for note in notes {
        let sign = match note.weight {
            Weight::Info => "·",
            Weight::Warning => "!",
            Weight::Error => "✗",
        };
        let about = if note.about.is_empty() {
            String::new()
        } else {
            format!("{}: ", note.about)
        };
        let help = if note.help.is_empty() {
            String::new()
        } else {
            format!(" → {}", note.help)
        };
        let text = clean(&format!("{about}{}{help}", note.text));
        out.push_str(&format!(
            "{sign} {}\n",
            wrap(&text, options.width.saturating_sub(2), "  ")
        ));
        for line in note.quote.lines() {
            out.push_str(&format!("    │ {}\n", clean(line)));
        }
    }
    if !notes.is_empty() {
        out.push('\n');
    }
}

fn facts(out: &mut String, facts: &[Fact]) {
    let width = facts
        .iter()
        .map(|fact| fact.label.chars().count())
        .max()
        .unwrap_or(0)
        .min(32);
    for fact in facts {
        out.push_str(&format!(
            "{:width$}  {}\n",
            clean(&fact.label),
            clean(&fact.text)
        ));
    }
    if !facts.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, table: &Table, options: TextOptions) {
    out.push_str(&format!("{}\n", clean(&table.title)));
    for part in parts(&lines(table), options.width.max(40)) {
        out.push_str(&format!("{}\n", drawn(table, &part, options)));
    }
    if !table.caption.is_empty() {
        out.push_str(&format!(
            "{}\n",
            wrap(&clean(&table.caption), options.width, "")
        ));
    }
    out.push('\n');
}

/// Returns the heading and the rows, each with its label first.
fn lines(table: &Table) -> Vec<Vec<String>> {
    let heading = titles(table).iter().map(|title| clean(title)).collect();
    let rows = table.rows.iter().zip(scales(table)).map(|(row, scale)| {
        let cells = row.cells.iter().zip(line_cells(row, scale));
        let cells = cells.map(|(cell, line)| match cell {
            // A column has no room for reasons; the findings have them.
            Cell::Missing { .. } => "–".to_owned(),
            _ => clean(&line),
        });
        std::iter::once(label(row)).chain(cells).collect()
    });
    std::iter::once(heading).chain(rows).collect()
}

/// Returns the label with its place below it.
fn label(row: &Row) -> String {
    match row.place.is_empty() {
        true => clean(&row.label),
        false => format!("{}\n{}", clean(&row.label), clean(&row.place)),
    }
}

/// Some columns of a table, by number, with the widths that they need.
type Part = Vec<(usize, u16)>;

/// Divides the columns so that each part fits the width with no word broken; each part begins with
/// the labels.
fn parts(lines: &[Vec<String>], width: u16) -> Vec<Part> {
    let needs = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        let words = cells.flat_map(|cell| cell.split([' ', '\n']));
        // Two more for the space on both sides.
        words
            .map(|word| word.chars().count() as u16 + 2)
            .max()
            .unwrap_or(2)
    };
    let columns = lines.first().map_or(0, Vec::len);
    let label = (0, needs(0).max(LABEL.min(width / 4)).min(width / 2));
    let mut parts: Vec<Part> = vec![vec![label]];
    let mut used = label.1;
    for column in 1..columns {
        let need = needs(column).min(width - label.1 - BETWEEN);
        let last = parts.len() - 1;
        if used + BETWEEN + need > width && parts[last].len() > 1 {
            parts.push(vec![label]);
            used = label.1;
        }
        let last = parts.len() - 1;
        parts[last].push((column, need));
        used += BETWEEN + need;
    }
    parts
}

/// Width of the style's space between two columns.
const BETWEEN: u16 = 1;
/// Least width of labels, if a quarter of the terminal is as wide.
const LABEL: u16 = 26;

fn drawn(table: &Table, part: &Part, options: TextOptions) -> comfy_table::Table {
    let lines = lines(table);
    let mut drawn = comfy_table::Table::new();
    drawn
        .load_style(RULED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(options.width.max(40))
        .set_header(
            part.iter()
                .map(|(column, _)| Drawn::new(&lines[0][*column])),
        );
    for (row, line) in table.rows.iter().zip(&lines[1..]) {
        let cells = part.iter().map(|(column, _)| {
            let text = line.get(*column).map_or("", String::as_str);
            match column {
                0 => Drawn::new(text),
                _ => value_cell(text, row.kind, options),
            }
        });
        drawn.add_row(cells);
    }
    for (column, (_, need)) in drawn.column_iter_mut().zip(part) {
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(*need)));
    }
    drawn
}

fn value_cell(text: &str, kind: RowKind, options: TextOptions) -> Drawn {
    let cell = Drawn::new(text).set_alignment(CellAlignment::Right);
    if !options.colour {
        return cell;
    }
    match kind {
        _ if text.starts_with('–') || text.starts_with("withheld") => cell.fg(Color::Red),
        RowKind::Measured => cell.add_attribute(Attribute::Bold),
        RowKind::Published | RowKind::Derived => cell.add_attribute(Attribute::Dim),
    }
}

/// Removes control characters, so that a subject's words cannot steer the terminal.
pub(super) fn clean(text: &str) -> String {
    antiphon_outside::line(text).into_owned()
}

fn wrap(text: &str, width: u16, indent: &str) -> String {
    let width = usize::from(width.max(20));
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let used = lines[last].chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(word.to_string());
        } else {
            if used > 0 {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join(&format!("\n{indent}"))
}

//! Plain text for terminals.

use super::cells::{line_cells, row_title, scales, titles};
use crate::compose::{compose, view::View};
use crate::document::{Block, Document, Fact, Note, RowKind, Table, Weight};
use crate::layout::Layout;
use antiphon_lab::RunRecord;
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, TableStyle,
};

/// A rule above, below the heading and at the end; rows stand close.
const RULED: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// How to write for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal; tables wrap within them.
    pub width: u16,
    /// Whether colours and weights may be used.
    pub colour: bool,
}

/// The whole document.
pub fn render(document: &Document, options: TextOptions) -> String {
    let mut out = format!("{}\n", clean(&document.title));
    if !document.subtitle.is_empty() {
        out.push_str(&format!("{}\n", clean(&document.subtitle)));
    }
    out.push('\n');
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

/// The tables and notes of a run without what the terminal's user has just seen or rarely needs: no method, no folded tables.
pub fn render_tables(run: &RunRecord, options: TextOptions) -> String {
    let mut document = compose(run);
    document.facts.clear();
    document.subtitle.clear();
    document.sections.retain(|section| section.id != "method");
    for section in &mut document.sections {
        section.blocks.retain(|block| match block {
            Block::Table(table) => !table.folded,
            Block::Plot(_) | Block::Prose { .. } => false,
            Block::Notes { .. } | Block::Facts { .. } => true,
        });
    }
    render(&document, options)
}

/// One line about a run: what, when, how much.
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
        let mend = if note.mend.is_empty() {
            String::new()
        } else {
            format!(" → {}", note.mend)
        };
        let text = clean(&format!("{about}{}{mend}", note.text));
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
    let mut drawn = comfy_table::Table::new();
    drawn
        .load_style(RULED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(options.width.max(40))
        .set_header(titles(table).iter().map(|title| Cell::new(clean(title))));
    for (row, scale) in table.rows.iter().zip(scales(table)) {
        let label = Cell::new(clean(&row_title(row)));
        let cells = line_cells(row, scale);
        let cells = cells
            .iter()
            .map(|cell| value_cell(&clean(cell), row.kind, options));
        drawn.add_row(std::iter::once(label).chain(cells));
    }
    out.push_str(&format!("{}\n{drawn}\n", clean(&table.title)));
    if !table.caption.is_empty() {
        out.push_str(&format!(
            "{}\n",
            wrap(&clean(&table.caption), options.width, "")
        ));
    }
    out.push('\n');
}

fn value_cell(text: &str, kind: RowKind, options: TextOptions) -> Cell {
    let cell = Cell::new(text).set_alignment(CellAlignment::Right);
    if !options.colour {
        return cell;
    }
    match kind {
        _ if text.starts_with('–') || text.starts_with("withheld") => cell.fg(Color::Red),
        RowKind::Measured => cell.add_attribute(Attribute::Bold),
        RowKind::Published | RowKind::Derived => cell.add_attribute(Attribute::Dim),
    }
}

/// Without control characters, so that a subject's words cannot steer the terminal.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
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

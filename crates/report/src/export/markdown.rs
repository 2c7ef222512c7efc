//! Markdown: tables and notes, for an issue or a repository. Plots are replaced by their
//! descriptions.

use super::cells::{line_cells, row_title, scales, titles};
use super::headlines::lines as sentences;
use crate::document::{Block, Document, Fact, Headlines, Note, Table};

/// Renders the document in Markdown (with the tables of CommonMark's usual extension).
pub fn render(document: &Document) -> String {
    let mut out = format!("# {}\n\n", escape(&document.title));
    if !document.subtitle.is_empty() {
        out.push_str(&format!("{}\n\n", escape(&document.subtitle)));
    }
    headlines(&mut out, &document.headlines);
    notes(&mut out, &document.summary);
    facts(&mut out, &document.facts);
    for section in &document.sections {
        out.push_str(&format!("## {}\n\n", escape(&section.title)));
        section.blocks.iter().for_each(|b| block(&mut out, b));
    }
    out
}

/// Writes what was found before everything else, as a pull request shows it.
fn headlines(out: &mut String, all: &[Headlines]) {
    for suite in all {
        if all.len() > 1 {
            out.push_str(&format!("**{}**\n\n", escape(&suite.title)));
        }
        for (number, line) in sentences(suite).enumerate() {
            out.push_str(&format!("{}. {}\n", number + 1, escape(&line)));
        }
        out.push('\n');
    }
}

fn block(out: &mut String, block: &Block) {
    match block {
        Block::Prose { text } => out.push_str(&format!("{}\n\n", escape(text))),
        Block::Table(found) => table(out, found),
        Block::Plot(plot) => {
            out.push_str(&format!(
                "*Plot: {}.* {}\n\n",
                escape(&plot.title),
                escape(&plot.description)
            ));
        }
        Block::Notes { notes: found } => notes(out, found),
        Block::Facts { facts: found } => facts(out, found),
    }
}

fn notes(out: &mut String, notes: &[Note]) {
    for note in notes {
        let about = if note.about.is_empty() {
            String::new()
        } else {
            format!("**{}**: ", escape(&note.about))
        };
        out.push_str(&format!("- {about}{}", escape(&note.text)));
        if !note.help.is_empty() {
            out.push_str(&format!(" *{}*", escape(&note.help)));
        }
        for line in note.quote.lines() {
            out.push_str(&format!("\n  > {}", escape(line)));
        }
        out.push('\n');
    }
    if !notes.is_empty() {
        out.push('\n');
    }
}

fn facts(out: &mut String, facts: &[Fact]) {
    for fact in facts {
        out.push_str(&format!(
            "- {}: {}\n",
            escape(&fact.label),
            escape(&fact.text)
        ));
    }
    if !facts.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, table: &Table) {
    out.push_str(&format!("### {}\n\n", escape(&table.title)));
    let titles = titles(table);
    line(out, &titles);
    let rule: Vec<String> = (0..titles.len())
        .map(|i| if i == 0 { ":--".into() } else { "--:".into() })
        .collect();
    out.push_str(&format!("| {} |\n", rule.join(" | ")));
    for (row, scale) in table.rows.iter().zip(scales(table)) {
        let mut cells = vec![row_title(row)];
        cells.extend(line_cells(row, scale));
        line(out, &cells);
    }
    out.push('\n');
    if !table.caption.is_empty() {
        out.push_str(&format!("{}\n\n", escape(&table.caption)));
    }
}

fn line(out: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
    out.push_str(&format!("| {} |\n", cells.join(" | ")));
}

/// Escapes text so that Markdown shows it literally: markup characters escaped, HTML made harmless,
/// lines joined.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c => out.push(antiphon_outside::shown(c)),
        }
    }
    out
}

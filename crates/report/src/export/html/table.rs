//! Tables.

use super::colour;
use super::evidence::Evidence;
use crate::document::{Cell, Column, Figure, Mark, Row, RowKind, Standing, Table, Weight};
use crate::export::cells::{at_most, figure_value, like_control, number_text, scales, side_notes};
use crate::number::{self, Scale, Spread};
use maud::{Markup, html};

/// Number of columns from which they stand closer, so that all fit on a usual screen.
const MANY_COLUMNS: usize = 5;

/// Most rows of a table that stands open on a page with scripts.
const LONG: usize = 16;

/// Returns a table in its own scrolling box.
pub fn table(table: &Table, id: &str, evidence: &mut Evidence) -> Markup {
    let scaled = table.rows.iter().zip(scales(table));
    let rows: Vec<Markup> = scaled.map(|(r, scale)| row(r, scale, evidence)).collect();
    let dense = (table.columns.len() >= MANY_COLUMNS).then_some("dense");
    let grid = html! {
        div.scroll tabindex="0" role="group" aria-label=(table.title) {
            table class=[dense] {
                thead { tr {
                    th scope="col" { (table.corner) }
                    @for column in &table.columns { (heading(column)) }
                } }
                tbody { @for row in &rows { (row) } }
            }
        }
        @if !table.caption.is_empty() { p.caption { (table.caption) } }
    };
    html! {
        @if table.folded || table.rows.len() > LONG {
            details.folded id=(id) open data-folds {
                summary { (table.title) (of_rows(table)) }
                (grid)
            }
        } @else {
            div.table id=(id) { h3 { (table.title) } (grid) }
        }
    }
}

/// Returns how many rows a folded table has, and how many of them have which sign.
fn of_rows(table: &Table) -> Markup {
    let mut counts: Vec<(Sign, usize)> = Vec::new();
    for sign in table.rows.iter().flat_map(signs_of) {
        match counts.iter_mut().find(|(known, _)| known.0 == sign.0) {
            Some((_, count)) => *count += 1,
            None => counts.push((sign, 1)),
        }
    }
    counts.sort_by_key(|(sign, _)| ORDER.iter().position(|known| *known == sign.0));
    html! {
        span.size { " · " (number::counted(table.rows.len(), "row")) }
        @for (Sign(sign, _, of_many), count) in counts {
            span.signs { " · " (count) " " (sign) span.meaning { " " (of_many) } }
        }
    }
}

fn heading(column: &Column) -> Markup {
    html! {
        th scope="col" class=[column.subject.map(|index| colour(Some(index)))] {
            span.name { (column.title) }
            @if !column.subtitle.is_empty() { span.conditions { (column.subtitle) } }
        }
    }
}

fn row(row: &Row, scale: Option<Scale>, evidence: &mut Evidence) -> Markup {
    let cells: Vec<Markup> = row
        .cells
        .iter()
        .map(|found| cell(found, scale, evidence))
        .collect();
    html! {
        tr class={ (kind(row.kind)) " " (colour(row.subject)) } {
            th scope="row" {
                (row.label)
                (signs(row))
                @if !row.place.is_empty() { span.place { (row.place) } }
            }
            @for cell in &cells { (cell) }
        }
    }
}

/// A sign of a row, its meaning, and its meaning for several rows.
#[derive(Clone, Copy)]
struct Sign(&'static str, &'static str, &'static str);

const WARNED: Sign = Sign(
    "!",
    "a figure of this row has a warning, or is missing",
    "with a warning, or without a figure",
);
const NOTED: Sign = Sign("†", "a figure of this row has a note", "with a note");
const LACKING: Sign = Sign("–", "a subject lacks this row", "that a subject lacks");

/// The signs in the order in which they are counted.
const ORDER: [&str; 3] = [WARNED.0, NOTED.0, LACKING.0];

/// Returns the signs of a row beside its name. The name stays in sight when cells are beyond the
/// edge of a narrow window, or of paper.
fn signs(row: &Row) -> Markup {
    let signs = signs_of(row);
    html! {
        @if !signs.is_empty() {
            span.signs {
                @for Sign(sign, meaning, _) in signs {
                    " " span title=(meaning) role="img" { (sign) }
                }
            }
        }
    }
}

/// Returns the marks of a row's cells as signs.
fn signs_of(row: &Row) -> Vec<Sign> {
    let figures = || {
        row.cells.iter().filter_map(|cell| match cell {
            Cell::Figure(figure) => Some(figure.as_ref()),
            _ => None,
        })
    };
    let marked = |is: fn(Weight) -> bool| {
        let mut marks = figures().flat_map(|figure| &figure.marks);
        marks.any(|mark| is(mark.weight))
    };
    let is_withheld = |figure: &Figure| matches!(figure.standing, Standing::Withheld { .. });
    let is_missing = |cell: &Cell| matches!(cell, Cell::Missing { .. });
    let is_lacking = |cell: &Cell| matches!(cell, Cell::Lacking { .. });
    let warned = marked(|weight| weight != Weight::Info)
        || figures().any(is_withheld)
        || row.cells.iter().any(is_missing);
    let signs = [
        (warned, WARNED),
        (marked(|weight| weight == Weight::Info), NOTED),
        (row.cells.iter().any(is_lacking), LACKING),
    ];
    let signs = signs.into_iter().filter(|(is, _)| *is);
    signs.map(|(_, sign)| sign).collect()
}

fn kind(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Measured => "measured",
        RowKind::Published => "published",
        RowKind::Derived => "derived",
    }
}

/// Returns a cell in short tags, because a page of all suites has twenty thousand. Numbers are what
/// the style expects, and an empty cell gets its dot there.
fn cell(cell: &Cell, scale: Option<Scale>, evidence: &mut Evidence) -> Markup {
    match cell {
        Cell::Empty => html! { td {} },
        Cell::Text { text } if text.chars().count() > 40 => html! { td.words.long { (text) } },
        Cell::Text { text } => html! { td.words { (text) } },
        Cell::Printed { text, .. } => html! { td { (text) } },
        Cell::Number { value, unit } => html! { td { (number_text(*value, *unit)) } },
        Cell::AtMost { value, unit } => html! { td { (at_most(*value, *unit)) } },
        Cell::Range { low, high, unit } => {
            html! { td { (number::range(*unit, *low, *high)) } }
        }
        Cell::Lacking { reason } => {
            html! { td.lacking { abbr title=(reason) aria-label=(reason) tabindex="0" { "–" } } }
        }
        Cell::Missing { reason } => html! { td.missing title=(reason) { (shortened(reason)) } },
        Cell::Figure(found) => html! { td { (figure(found, scale, evidence)) } },
    }
}

fn figure(figure: &Figure, scale: Option<Scale>, evidence: &mut Evidence) -> Markup {
    evidence.keep(&figure.detail);
    let (asides, marks): (Vec<&Mark>, Vec<&Mark>) = figure
        .marks
        .iter()
        .partition(|mark| mark.weight == Weight::Info);
    html! {
        @for note in side_notes(figure) { span.beside { (note) } " " }
        button {
            (value(figure, scale))
            (dagger(&asides))
        }
        @if !marks.is_empty() {
            div.marks {
                @for mark in marks { span class={ "mark " (mark_class(mark.weight)) } { (mark.word) } " " }
            }
        }
    }
}

/// Returns a small sign for marks that do not weaken the figure.
fn dagger(asides: &[&Mark]) -> Markup {
    let words: Vec<&str> = asides.iter().map(|mark| mark.word.as_str()).collect();
    html! {
        @if !words.is_empty() { abbr title=(words.join(", ")) { "†" } }
    }
}

/// Returns the beginning of a reason; the findings have the whole.
fn shortened(reason: &str) -> String {
    const ROOM: usize = 56;
    if reason.chars().count() <= ROOM {
        return reason.to_string();
    }
    let cut: String = reason.chars().take(ROOM).collect();
    let whole_words = cut
        .rsplit_once(' ')
        .map_or(cut.as_str(), |(start, _)| start);
    format!("{}…", whole_words.trim_end_matches([',', ':', ';']))
}

fn value(figure: &Figure, scale: Option<Scale>) -> Markup {
    match &figure.standing {
        Standing::Resolved => {
            let written = figure_value(figure, scale);
            html! {
                b { (written.value) } " "
                @if let Spread::Half(half) = &written.spread { span { "± " (half) } " " }
                i { (written.unit) }
                // Below the value, so that the column is no wider for them.
                @if let Spread::Limits(low, high) = &written.spread {
                    " " small { "(" (low) " to " (high) ")" }
                }
            }
        }
        Standing::LikeControl => html! { span.like { (like_control(figure)) } },
        Standing::Withheld { reason } => html! { span.withheld { "withheld: " (reason) } },
    }
}

fn mark_class(weight: Weight) -> &'static str {
    match weight {
        Weight::Info => "",
        Weight::Warning => "warning",
        Weight::Error => "error",
    }
}

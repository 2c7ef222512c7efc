//! Tables.

use super::colour;
use super::evidence::Evidence;
use crate::document::{Cell, Column, Figure, Mark, Row, RowKind, Standing, Table, Weight};
use crate::export::cells::{at_most, figure_value, like_control, number_text, scales, side_notes};
use crate::number::{self, Scale, Spread};
use maud::{Markup, html};

/// From so many columns on they stand closer, so that all are seen on a usual screen.
const MANY_COLUMNS: usize = 5;

/// A table in a box of its own, in which it scrolls.
pub fn table(table: &Table, evidence: &mut Evidence) -> Markup {
    let scaled = table.rows.iter().zip(scales(table));
    let rows: Vec<Markup> = scaled
        .map(|(r, scale)| row(r, scale, table, evidence))
        .collect();
    let dense = (table.columns.len() >= MANY_COLUMNS).then_some("dense");
    let grid = html! {
        div.scroll tabindex="0" role="region" aria-label=(table.title) {
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
        @if table.folded {
            details.folded { summary { (table.title) } (grid) }
        } @else {
            div.table { h3 { (table.title) } (grid) }
        }
    }
}

fn heading(column: &Column) -> Markup {
    html! {
        th scope="col" class=(colour(column.subject)) {
            span.name { (column.title) }
            @if !column.subtitle.is_empty() { span.conditions { (column.subtitle) } }
        }
    }
}

fn row(row: &Row, scale: Option<Scale>, table: &Table, evidence: &mut Evidence) -> Markup {
    let cells: Vec<Markup> = row
        .cells
        .iter()
        .zip(&table.columns)
        .map(|(found, column)| cell(found, column, scale, evidence))
        .collect();
    html! {
        tr class={ (kind(row.kind)) " " (colour(row.subject)) } {
            th scope="row" {
                (row.label)
                @if !row.place.is_empty() { span.place { (row.place) } }
            }
            @for cell in &cells { (cell) }
        }
    }
}

fn kind(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Measured => "measured",
        RowKind::Published => "published",
        RowKind::Derived => "derived",
    }
}

fn cell(cell: &Cell, column: &Column, scale: Option<Scale>, evidence: &mut Evidence) -> Markup {
    match cell {
        Cell::Empty => html! { td.empty { span aria-label="nothing belongs here" { "·" } } },
        Cell::Text { text } if text.chars().count() > 40 => html! { td.words.long { (text) } },
        Cell::Text { text } => html! { td.words { (text) } },
        Cell::Printed { text, .. } => html! { td.number { (text) } },
        Cell::Number { value, unit } => html! { td.number { (number_text(*value, *unit)) } },
        Cell::AtMost { value, unit } => html! { td.number { (at_most(*value, *unit)) } },
        Cell::Range { low, high, unit } => {
            html! { td.number { (number::range(*unit, *low, *high)) } }
        }
        Cell::Lacking { reason } => {
            html! { td.lacking { abbr title=(reason) aria-label=(reason) tabindex="0" { "–" } } }
        }
        Cell::Missing { reason } => html! { td.missing title=(reason) { (shortened(reason)) } },
        Cell::Figure(found) => html! {
            td class={ "number " (colour(column.subject)) } { (figure(found, scale, evidence)) }
        },
    }
}

fn figure(figure: &Figure, scale: Option<Scale>, evidence: &mut Evidence) -> Markup {
    let number = evidence.keep(&figure.detail);
    let (asides, marks): (Vec<&Mark>, Vec<&Mark>) = figure
        .marks
        .iter()
        .partition(|mark| mark.weight == Weight::Info);
    html! {
        @for note in side_notes(figure) { span.beside { (note) } " " }
        button.figure type="button" data-evidence=(number) aria-expanded="false" aria-controls="evidence" {
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

/// A small sign for what does not weaken the figure.
fn dagger(asides: &[&Mark]) -> Markup {
    let words: Vec<&str> = asides.iter().map(|mark| mark.word.as_str()).collect();
    html! {
        @if !words.is_empty() { span.dagger title=(words.join(", ")) { "†" } }
    }
}

/// The beginning of a reason; the findings have the whole.
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
                span.value { (written.value) } " "
                @if let Spread::Half(half) = &written.spread { span.half { "± " (half) } " " }
                span.unit { (written.unit) }
                // Below the value, so that the column is no wider for them.
                @if let Spread::Limits(low, high) = &written.spread {
                    " " span.limits { "(" (low) " to " (high) ")" }
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

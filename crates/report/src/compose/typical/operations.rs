//! Single ratios, operation by operation, for compared variants of a subject. A choice between
//! drivers may depend on one operation or on all.

use super::{is_cold, pairs, sides};
use crate::compose::view::{RunColumn, View};
use crate::compose::{cold, processor_time};
use crate::document::{Cell, Column, Figure, Table, Unit};
use antiphon_lab::{Compared, Identity};

/// Returns the table: a row for each subject and its base, a column for each operation.
pub(super) fn table(view: &View, all: &[Compared]) -> Table {
    let mut operations: Vec<&Identity> = Vec::new();
    for of in all {
        if !operations.iter().any(|known| known.is_beside(&of.identity)) {
            operations.push(&of.identity);
        }
    }
    let subjects = pairs(
        view,
        all.iter().map(|of| (&*of.identity.subject, &*of.base)),
    );
    let row = |(subject, base): &(&str, &str)| {
        let own = |of: &&Compared| of.identity.subject == *subject && of.base == *base;
        let own: Vec<&Compared> = all.iter().filter(own).collect();
        let cell = |operation: &&Identity| {
            let found = own.iter().find(|of| operation.is_beside(&of.identity));
            found.map_or(Cell::Empty, |of| cell(view, of))
        };
        super::row(view, subject, base, operations.iter().map(cell).collect())
    };
    Table {
        title: "Ratios of processor time, operation by operation".into(),
        caption: "Where a database’s server has a part, it is included. Paired within rounds."
            .into(),
        corner: "Subject".into(),
        columns: operations.iter().map(|of| heading(view, of)).collect(),
        rows: subjects.iter().map(row).collect(),
        folded: false,
    }
}

fn heading(view: &View, operation: &Identity) -> Column {
    Column {
        title: view.label(operation),
        subtitle: RunColumn::of(operation).conditions(),
        ..Column::default()
    }
}

fn cell(view: &View, of: &Compared) -> Cell {
    let mut figure = Figure::resolved(of.ratio, Unit::Ratio);
    let of_sides = sides(view, &of.identity, &of.base).flat_map(processor_time::marks_of_turns);
    let cold = cold::mark(is_cold(view, &of.identity, &of.base));
    for mark in of_sides.chain(cold) {
        if !figure.marks.contains(&mark) {
            figure.marks.push(mark);
        }
    }
    Cell::Figure(Box::new(figure))
}

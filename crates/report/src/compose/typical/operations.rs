//! The single ratios, operation by operation, where variants of a subject are compared: whoever chooses between drivers asks of one operation what
//! another would ask of all.

use crate::compose::spent;
use crate::compose::view::View;
use crate::document::{Cell, Column, Figure, Mark, Table, Unit};
use antiphon_lab::{Compared, Identity, ResultRecord};

/// The table: a row for each subject and what it is compared with, a column for each operation.
pub(super) fn table(view: &View, all: &[Compared]) -> Table {
    let mut operations: Vec<&Identity> = Vec::new();
    for of in all {
        if !operations.iter().any(|known| is_same(known, &of.identity)) {
            operations.push(&of.identity);
        }
    }
    let mut subjects: Vec<(&str, &str)> = Vec::new();
    for of in all {
        let pair = (of.identity.subject.as_str(), of.base.as_str());
        if !subjects.contains(&pair) {
            subjects.push(pair);
        }
    }
    subjects.sort_by_key(|(subject, _)| view.colour(subject));
    let row = |(subject, base): &(&str, &str)| {
        let own = |of: &&Compared| of.identity.subject == *subject && of.base == *base;
        let own: Vec<&Compared> = all.iter().filter(own).collect();
        let cell = |operation: &&Identity| {
            let found = own.iter().find(|of| is_same(&of.identity, operation));
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

/// Whether two results are of the same operation, under the same policy and placement.
fn is_same(one: &Identity, other: &Identity) -> bool {
    (&one.test, one.arg, &one.policy, &one.placement)
        == (&other.test, other.arg, &other.policy, &other.placement)
}

fn heading(view: &View, operation: &Identity) -> Column {
    Column {
        title: view.label(operation),
        subtitle: format!("{}, {}", operation.policy, operation.placement),
        ..Column::default()
    }
}

fn cell(view: &View, of: &Compared) -> Cell {
    let mut figure = Figure::resolved(of.ratio, Unit::Ratio);
    let is_side = |result: &&ResultRecord| {
        is_same(&result.identity, &of.identity)
            && [&of.identity.subject, &of.base].contains(&&result.identity.subject)
    };
    let sides = view.run.results.iter().filter(is_side);
    let mut marks: Vec<Mark> = Vec::new();
    for mark in sides.flat_map(spent::marks_of_turns) {
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    figure.marks = marks;
    Cell::Figure(Box::new(figure))
}

//! Instructions, reads, writes and misses: in all, and by function.

use super::Sides;
use crate::document::{Block, Cell, Column, Row, RowKind, Section, Table, Unit};
use antiphon_lab::profile::{Counts, EVENTS, Function, Profile, Work, place};
use std::collections::BTreeSet;

/// Functions shown.
const FUNCTIONS: usize = 20;

/// Columns of each function. Misses of the last cache are summed, because they cost alike.
const COLUMNS: [(&str, &[&str]); 6] = [
    ("Ir", &["Ir"]),
    ("Dr", &["Dr"]),
    ("D1mr", &["D1mr"]),
    ("Dw", &["Dw"]),
    ("D1mw", &["D1mw"]),
    ("DLmr + DLmw", &["DLmr", "DLmw"]),
];

/// Functions of less than this share of all weight are left out.
const LEAST_SHARE: f64 = 0.0005;

pub(super) fn section(sides: &Sides) -> Section {
    let mut blocks = vec![Block::Table(totals(sides))];
    match sides.after {
        Some(after) => {
            let title = "Which functions it changed in";
            blocks.push(Block::Table(functions(
                title,
                "Changes.",
                &changes(sides.before, after),
            )));
            for side in sides.each() {
                blocks.push(Block::Table(Table {
                    folded: true,
                    ..of_side(side)
                }));
            }
        }
        None => blocks.push(Block::Table(of_side(sides.before))),
    }
    Section {
        id: "caches".into(),
        title: "Instructions and caches".into(),
        blocks,
    }
}

/// Returns the number of operations behind the counts.
pub(super) fn operations(profile: &Profile) -> f64 {
    match profile.work {
        Work::Program { .. } => 1.0,
        Work::Frame { iterations, .. } => iterations.max(1) as f64,
    }
}

/// Returns the count of one operation, or of the whole program.
pub(super) fn of_event(profile: &Profile, counts: &Counts, event: &str) -> f64 {
    counts.of(event) as f64 / operations(profile)
}

fn totals(sides: &Sides) -> Table {
    let row = |(event, words): &(&str, &str)| {
        let of = |side: &Profile| of_event(side, &side.cache.total, event);
        let values: Vec<f64> = sides.each().map(of).collect();
        let mut cells: Vec<Cell> = values.iter().map(|value| Cell::count(*value)).collect();
        if let [before, after] = values[..] {
            cells.push(share(before, after));
        }
        Row {
            label: (*words).to_owned(),
            place: (*event).to_owned(),
            kind: RowKind::Measured,
            subject: None,
            cells,
        }
    };
    Table {
        title: "In all".into(),
        caption: String::new(),
        corner: "Event".into(),
        columns: sides.columns(match sides.before.work {
            Work::Program { .. } => "",
            Work::Frame { .. } => "an operation",
        }),
        rows: EVENTS.iter().map(row).collect(),
        folded: false,
    }
}

fn share(before: f64, after: f64) -> Cell {
    match before == 0.0 {
        true => Cell::Empty,
        false => Cell::Number {
            value: after / before - 1.0,
            unit: Unit::Share,
        },
    }
}

/// A function's counts for an operation, in the order of [`EVENTS`].
pub(super) type PerOperation = [f64; EVENTS.len()];

fn per_operation(profile: &Profile, function: &Function) -> PerOperation {
    let counts = profile.cache.functions.get(function);
    let operations = operations(profile);
    counts.map_or([0.0; EVENTS.len()], |counts| {
        counts.0.map(|count| count as f64 / operations)
    })
}

/// Returns the change of each function.
pub(super) fn changes<'a>(
    before: &'a Profile,
    after: &'a Profile,
) -> Vec<(&'a Function, PerOperation)> {
    let functions = [before, after].map(|side| side.cache.functions.keys());
    let functions: BTreeSet<&Function> = functions.into_iter().flatten().collect();
    let change = |function| {
        let (was, mut is) = (
            per_operation(before, function),
            per_operation(after, function),
        );
        is.iter_mut().zip(was).for_each(|(is, was)| *is -= was);
        (function, is)
    };
    let all = functions.into_iter().map(change);
    all.filter(|(_, change)| change.iter().any(|change| *change != 0.0))
        .collect()
}

fn of_side(side: &Profile) -> Table {
    let functions = side.cache.functions.keys();
    let counts: Vec<_> = functions
        .map(|function| (function, per_operation(side, function)))
        .collect();
    self::functions(&format!("Functions of {}", side.subject), "", &counts)
}

/// Returns the weight of events: a miss of the first cache costs some 10 instructions, one of the
/// last some 100.
fn weight(counts: &PerOperation) -> f64 {
    let of = |event| counts[place(event)].abs();
    of("Ir") + 10.0 * (of("D1mr") + of("D1mw")) + 100.0 * (of("DLmr") + of("DLmw"))
}

fn functions(title: &str, caption: &str, all: &[(&Function, PerOperation)]) -> Table {
    let total: f64 = all.iter().map(|(_, counts)| weight(counts)).sum();
    let weighs = |(_, counts): &&(&Function, PerOperation)| weight(counts) >= LEAST_SHARE * total;
    let mut heaviest: Vec<_> = all.iter().filter(weighs).collect();
    heaviest.sort_by(|a, b| weight(&b.1).total_cmp(&weight(&a.1)));
    let sum = |counts: &PerOperation, events: &[&str]| -> f64 {
        events.iter().map(|event| counts[place(event)]).sum()
    };
    let row = |(function, counts): &&(&Function, PerOperation)| Row {
        label: function.name.clone(),
        place: function.file.clone(),
        kind: RowKind::Measured,
        subject: None,
        cells: COLUMNS
            .map(|(_, events)| Cell::count(sum(counts, events)))
            .to_vec(),
    };
    let order = "The heaviest first: instructions, with 10 for each miss of the first cache and 100 for each of the last.";
    Table {
        title: title.into(),
        caption: format!("{caption} {order}").trim().to_owned(),
        corner: "Function".into(),
        columns: COLUMNS.map(|(title, _)| Column::titled(title)).to_vec(),
        rows: heaviest.iter().take(FUNCTIONS).map(row).collect(),
        folded: false,
    }
}

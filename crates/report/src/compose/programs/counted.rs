//! Counters of programs or their run-time systems, a column each.

use super::counter;
use crate::document::{Cell, Column, Unit};
use antiphon_lab::{Outcome, ResultRecord};
use std::collections::BTreeSet;

/// Counters with a heading of their own, in the order of the columns: work and waits of tasks,
/// switches by cause, and use of semaphores.
const KNOWN: [(&str, &str); 15] = [
    ("operations", "Operations"),
    ("kept", "Kept"),
    ("updates", "Updates"),
    ("longest_wait_ns", "Longest wait"),
    ("cpu_ns", "Processor time of the operations"),
    ("whole_ns", "Until the last had ended"),
    ("warm_up_ns", "Warming up"),
    ("yields", "Yields"),
    ("blocks", "Blocked"),
    ("budgets", "Counts used up"),
    ("ticks", "Ticks"),
    ("p_operations", "P"),
    ("blocked_p_operations", "P that blocked"),
    ("needless_wake_ups", "Needless wake-ups"),
    ("turns", "Turns"),
];

/// Most counters under other names that get a column, such as one of each slice or primitive. More
/// are shown if the suite asks for them, because a wider table is unreadable.
const OTHERS_MOST: usize = 8;

/// A counter that has a column.
pub(super) struct Counted {
    name: String,
    title: String,
}

impl Counted {
    pub(super) fn column(&self) -> Column {
        Column::titled(self.title.clone())
    }

    pub(super) fn cell(&self, result: &ResultRecord) -> Cell {
        let unit = unit(&self.name);
        counter(result, &self.name).map_or(Cell::Empty, |value| Cell::Number { value, unit })
    }
}

/// Returns the counters of these programs that have a column, and the number of others.
pub(super) fn columns(results: &[&ResultRecord]) -> (Vec<Counted>, usize) {
    let is_counted = |name: &str| results.iter().any(|result| counter(result, name).is_some());
    let known = KNOWN.iter().filter(|(name, _)| is_counted(name));
    let known = known.map(|(name, title)| Counted {
        name: (*name).into(),
        title: (*title).into(),
    });
    let others = others(results);
    if others.len() > OTHERS_MOST {
        return (known.collect(), others.len());
    }
    let others = others.into_iter().map(|name| Counted {
        title: words(name),
        name: name.into(),
    });
    (known.chain(others).collect(), 0)
}

/// Returns the programs' own counters whose names have no heading.
fn others<'r>(results: &[&'r ResultRecord]) -> BTreeSet<&'r str> {
    let runs = results.iter().flat_map(|result| match &result.outcome {
        Outcome::Program { runs, .. } => runs.as_slice(),
        _ => &[],
    });
    let names = runs.flat_map(|run| run.counters.keys().map(String::as_str));
    let is_known = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        KNOWN.iter().any(|(known, _)| *known == last)
    };
    names.filter(|name| !is_known(name)).collect()
}

/// Names end in their units.
fn unit(name: &str) -> Unit {
    match name.rsplit('_').next() {
        Some("ns") => Unit::Nanoseconds,
        Some("bytes") => Unit::Bytes,
        _ => Unit::Count,
    }
}

/// Returns a name as a heading: `longest_wait_ns` is `Longest wait`.
pub fn words(name: &str) -> String {
    let plain = match unit(name) {
        Unit::Count => name,
        _ => name.rsplit_once('_').map_or(name, |(plain, _)| plain),
    };
    let spaced = plain.replace(['_', '.'], " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

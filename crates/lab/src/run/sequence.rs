//! Order of a plan's items.

use super::plan::{Item, Known};
use super::{Options, Task};
use crate::record::Identity;
use crate::suite::{Placed, Suite};
use std::collections::{HashMap, HashSet};

/// Orders the items of a run.
///
/// 1. Clocks and interference come first.
/// 2. In a full run with a time budget the items of a quick run follow, so that everything is
///    covered.
/// 3. The rest is ordered by group, and in each by a test's number of threads or processes. A
///    subject may have to start others for another number.
///
/// Otherwise items keep the suite's order, in which one subject after the other measures a row. In
/// any case, tests that a curve compares are in one turn of their subject.
pub(super) fn arrange(items: &mut [Item], suite: &Suite, options: &Options, known: &[Known]) {
    let threads = threads(known);
    let group = |item: &Item| suite.groups.iter().position(|group| group.id == item.group);
    let quick = match options.time_budget_s {
        Some(_) if !options.quick => of_quick_runs(suite),
        _ => HashSet::new(),
    };
    items.sort_by_cached_key(|item| {
        let identity = &item.identity;
        let placed = Placed {
            policy: identity.policy.clone(),
            placement: identity.placement.clone(),
        };
        (
            item.task.phase(),
            !quick.contains(&(identity.test.clone(), identity.arg, placed)),
            group(item),
            threads.get(identity.test.as_str()).copied(),
        )
    });
    bring_together(items, &compared(suite));
}

/// Moves tests that a curve compares behind the first of them, if subject, argument and place are
/// equal.
fn bring_together(items: &mut [Item], compared: &HashMap<String, usize>) {
    let turn = |item: &Item| {
        let set = compared.get(&item.identity.test)?;
        let identity = Identity {
            test: String::new(),
            ..item.identity.clone()
        };
        (item.task == Task::Frame).then_some((*set, identity))
    };
    let (mut own, mut first) = (HashMap::new(), HashMap::new());
    for (place, item) in items.iter().enumerate() {
        own.insert(item.identity.clone(), place);
        if let Some(turn) = turn(item) {
            first.entry(turn).or_insert(place);
        }
    }
    items.sort_by_cached_key(|item| {
        let own = own[&item.identity];
        let first = turn(item).and_then(|turn| first.get(&turn));
        (first.copied().unwrap_or(own), own)
    });
}

/// Sets of different tests that curves compare with each other: the number of each test's set.
fn compared(suite: &Suite) -> HashMap<String, usize> {
    let mut sets: HashMap<String, usize> = HashMap::new();
    for (test, other) in pairs(suite).filter(|(test, other)| test != other) {
        let next = sets.len();
        let kept = *sets.entry(other).or_insert(next);
        let joined = *sets.entry(test).or_insert(kept);
        let others = sets.values_mut().filter(|set| **set == joined);
        others.for_each(|set| *set = kept);
    }
    sets
}

/// Returns each test of a curve with the test that it is a multiple of.
fn pairs(suite: &Suite) -> impl Iterator<Item = (String, String)> {
    suite.curves.iter().flat_map(|curve| {
        let columns = curve.columns.iter();
        let pairs =
            columns.filter_map(|column| Some((column, curve.column(column.against.as_deref()?)?)));
        pairs.flat_map(|(column, other)| {
            let rows = curve.rows.iter();
            rows.map(|row| (column.test_in(row), other.test_in(row)))
        })
    })
}

/// Returns the most threads of a test in any subject: the same for all, so that its row stays
/// together.
fn threads(known: &[Known]) -> HashMap<&str, u32> {
    let mut most = HashMap::new();
    let listings = known.iter().filter_map(|known| known.listing.as_ref().ok());
    for test in listings.flat_map(|listing| &listing.tests) {
        let entry = most.entry(test.name.as_str()).or_default();
        *entry = test.threads.max(*entry);
    }
    most
}

/// Returns the tests of a quick run, with their arguments and places.
fn of_quick_runs(suite: &Suite) -> HashSet<(String, Option<u64>, Placed)> {
    let rows = suite.groups.iter().flat_map(|group| &group.rows);
    rows.flat_map(|row| {
        let instances = row.instances(true).into_iter();
        instances.flat_map(|instance| {
            let arg = row.arg_of(&instance);
            let runs = row.runs(true).iter().cloned();
            runs.map(move |placed| (instance.test.clone(), arg, placed))
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = concat!(
        r#"
name = "s"
title = "S"
subjects = ["a/v", "b/v"]
"#,
        include_str!("../../tests/common/small_sizes.toml"),
        r#"
[[group]]
id = "messages"
title = "M"
runs = ["other.same", "other.across"]
[[group.row]]
test = "two"
label = "two, {bytes} bytes"
arg = "{bytes}"
each = { bytes = ["0", "64"] }
[[group]]
id = "calls"
title = "C"
runs = ["other.same", "other.across"]
[[group.row]]
test = "alone"
label = "alone"
[[group.row]]
test = "call"
label = "call, {bytes} bytes"
arg = "{bytes}"
each = { bytes = ["0", "64"] }
[[curve]]
id = "c"
title = "C"
by = "bytes"
unit = "bytes"
rows = ["0", "64"]
arg = "{row}"
column = [
    { title = "two", test = "two", subject = "a/v", run = "other.same" },
    { title = "call", test = "call", subject = "a/v", run = "other.same", against = "two" },
]
"#
    );

    /// Returns the items of the suite as planned: row by row, and in each subject by subject.
    fn planned(suite: &Suite) -> Vec<Item> {
        let mut items = Vec::new();
        for group in &suite.groups {
            for row in &group.rows {
                for instance in row.instances(false) {
                    for run in row.runs(false) {
                        items.extend(["a/v", "b/v"].map(|subject| Item {
                            identity: Identity {
                                test: instance.test.clone(),
                                arg: row.arg_of(&instance),
                                subject: subject.to_owned(),
                                policy: run.policy.clone(),
                                placement: run.placement.clone(),
                            },
                            group: group.id.clone(),
                            label: instance.label.clone(),
                            task: Task::Frame,
                        }));
                    }
                }
            }
        }
        items
    }

    #[test]
    fn tests_that_a_curve_compares_are_in_one_turn_of_their_subject() {
        let suite = Suite::parse("s.toml", SUITE).unwrap();
        let mut items = planned(&suite);
        arrange(&mut items, &suite, &Options::default(), &[]);
        let reported: Vec<String> = items
            .iter()
            .map(|item| {
                let identity = &item.identity;
                let arg = identity.arg.map_or(String::new(), |arg| arg.to_string());
                let subject = &identity.subject[..1];
                format!("{}{arg} {subject} {}", identity.test, identity.placement)
            })
            .collect();
        assert_eq!(
            reported,
            [
                "two0 a same",
                "call0 a same",
                "two0 b same",
                "call0 b same",
                "two0 a across",
                "call0 a across",
                "two0 b across",
                "call0 b across",
                "two64 a same",
                "call64 a same",
                "two64 b same",
                "call64 b same",
                "two64 a across",
                "call64 a across",
                "two64 b across",
                "call64 b across",
                "alone a same",
                "alone b same",
                "alone a across",
                "alone b across",
            ]
        );
    }

    #[test]
    fn sets_of_compared_tests_grow_together() {
        let mut suite = Suite::parse("s.toml", SUITE).unwrap();
        let curve = suite.curves[0].clone();
        let mut other = curve.clone();
        let pair = |title: &str| (title.to_owned(), title.to_owned());
        for (column, (title, test)) in other.columns.iter_mut().zip([pair("fast"), pair("slow")]) {
            (column.title, column.test) = (title, test);
        }
        other.columns[1].against = Some("fast".to_owned());
        suite.curves.push(other.clone());
        let sets = compared(&suite);
        assert!(sets["two"] == sets["call"] && sets["fast"] == sets["slow"]);
        assert_ne!(sets["two"], sets["fast"]);
        // And a curve that compares one of either.
        other.columns[0].test = "call".to_owned();
        suite.curves.push(other);
        let sets = compared(&suite);
        assert!(
            ["call", "fast", "slow"]
                .iter()
                .all(|test| sets[*test] == sets["two"])
        );
    }
}

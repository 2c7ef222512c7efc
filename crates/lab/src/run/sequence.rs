//! In which order a plan's items are measured.

use super::Options;
use super::plan::{Item, Known};
use crate::suite::{Placed, Suite};
use std::collections::{HashMap, HashSet};

/// Orders the items: clocks and interference first; then, where a full run has a time budget that may not reach for all of it, what a quick run
/// has, so that something of everything is measured; then by groups, and in each by the number of threads or processes that a test has, since a subject
/// may have to start others for another number. Otherwise they stay in the suite's order, in which a row is measured in one subject after the other.
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
}

/// The most threads that a test has in any subject: the same for all, so that its row stays together.
fn threads(known: &[Known]) -> HashMap<&str, u32> {
    let mut most = HashMap::new();
    let listings = known.iter().filter_map(|known| known.listing.as_ref().ok());
    for test in listings.flat_map(|listing| &listing.tests) {
        let entry = most.entry(test.name.as_str()).or_default();
        *entry = test.threads.max(*entry);
    }
    most
}

/// What a quick run measures: tests, their arguments, and where.
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

//! Reading of a suite file into a checked suite.

mod curve;
mod except;
mod headline;
mod load;
mod models;
mod profile;
mod row;
mod savings;
mod tables;

use super::{ClaimSets, Compare, FirstLook, Group, Placed, Row, Servers, Sizes, Suite};
use crate::document::{Document, Faults, Item, Section, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};

/// Ten years, s: the limit of the command line. Multiples of it still fit into nanoseconds.
const TIME_MOST_S: u64 = 320_000_000;
const SECONDS_MOST: f64 = TIME_MOST_S as f64;

/// Most starts of a process.
const RUNS_MOST: u64 = 1000;

pub(super) fn suite(file: &str, text: &str) -> Result<Suite, Faults> {
    Document::read(file, text, read_suite)
}

fn read_suite(top: Section<'_>) -> Suite {
    let mut entered = Entered::default();
    let groups = groups(&top, &mut entered);
    let tests = entered.tests.clone();
    let subjects = subjects(&top);
    let mut suite = Suite {
        name: top.required_string("name"),
        title: top.required_string("title"),
        text: top.string("text").unwrap_or_default(),
        twins: among(&top, "twins", &subjects),
        full_twins: among(&top, "full_twins", &subjects),
        only_full: among(&top, "only_full", &subjects),
        costs: top
            .get("costs")
            .and_then(|item| item.boolean())
            .unwrap_or_default(),
        compare: compare(&top),
        quick: sizes(&top, "quick"),
        full: sizes(&top, "full"),
        first_look: first_look(&top, &subjects),
        groups,
        published: tables::published(&top, &tests),
        savings: savings::savings(&top, &tests, &subjects),
        models: models::models(&top, &tests, &subjects),
        profiles: profile::profiles(&top, &tests, &subjects),
        curves: curve::curves(&top, &tests, &subjects),
        servers: load::claims(&top, "servers", "load", &tests, &subjects),
        findings: load::claims(&top, "findings", "frame", &tests, &subjects),
        headlines: Vec::new(),
        subjects,
    };
    let sets = sets(&suite);
    suite.headlines = headline::headlines(&top, &entered, &suite.subjects, &sets);
    top.finish();
    suite
}

/// Returns the ids of the sets of claims that a suite has.
fn sets(suite: &Suite) -> headline::KnownSets {
    let ids = |all: &[Servers]| all.iter().map(|set| set.id.clone()).collect();
    let models = suite.models.iter().filter(|set| !set.claims.is_empty());
    let savings = suite.savings.iter().filter(|set| !set.claims.is_empty());
    [
        (
            ClaimSets::Models,
            models.map(|set| set.id.clone()).collect(),
        ),
        (
            ClaimSets::Savings,
            savings.map(|set| set.id.clone()).collect(),
        ),
        (ClaimSets::Servers, ids(&suite.servers)),
        (ClaimSets::Findings, ids(&suite.findings)),
    ]
}

/// Every test of the suite, with the kind of its row.
type Tests = BTreeMap<String, &'static str>;

/// Content of the rows read so far.
#[derive(Default)]
struct Entered {
    tests: Tests,
    /// The tests with the arguments that rows give them.
    arguments: BTreeSet<(String, Option<u64>)>,
}

/// Reads the limits of a claim, as shares of its base: from, to. One of them must be given.
fn limits(claim: &Section<'_>) -> (f64, f64) {
    let limits = (claim.positive("at_least"), claim.positive("at_most"));
    if limits == (None, None) {
        claim.fault(
            "a claim needs a limit",
            "give it `at_least`, `at_most` or both, as shares of what it is compared with",
        );
    }
    (
        limits.0.unwrap_or(f64::NEG_INFINITY),
        limits.1.unwrap_or(f64::INFINITY),
    )
}

/// Reads sections with unique ids. `what` names such a section in messages.
fn identified<T>(
    sections: Option<Item<'_>>,
    what: &str,
    mut read: impl FnMut(Section<'_>, String) -> T,
) -> Vec<T> {
    let mut ids = BTreeSet::new();
    let sections = sections.map(|item| item.sections());
    let mut all = Vec::new();
    for section in sections.unwrap_or_default() {
        let id = section.required_string("id");
        if !id.is_empty() && !ids.insert(id.clone()) {
            section.fault(
                format!("another {what} has the id `{id}`"),
                "choose another",
            );
        }
        all.push(read(section, id));
    }
    all
}

fn subjects(top: &Section<'_>) -> Vec<String> {
    let Some(list) = top.get("subjects").and_then(|item| item.list()) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    for item in list {
        let Some(name) = item.string() else { continue };
        let parts: Vec<_> = name.split('/').collect();
        if parts.len() != 2 || parts.iter().any(|part| part.is_empty()) {
            item.fault(
                format!("`{name}` is no subject in a variant"),
                "write `subject/variant`, such as `ada/O2`",
            );
        }
        if named.contains(&name) {
            item.fault(format!("`{name}` is listed twice"), "remove one");
        }
        named.push(name);
    }
    named
}

/// Reads some of the suite's subjects.
fn among(top: &Section<'_>, key: &'static str, subjects: &[String]) -> Vec<String> {
    let Some(item) = top.get(key) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    for element in item.list().unwrap_or_default() {
        let Some(name) = element.string() else {
            continue;
        };
        models::known(&element, &name, "subject of this suite", subjects.iter());
        named.push(name);
    }
    named
}

fn compare(top: &Section<'_>) -> Compare {
    let found = top.get("compare").and_then(|item| {
        let is_unknown = |word: &str| format!("costs are not compared by `{word}`");
        one_of(&item, &Compare::ALL, Compare::word, is_unknown)
    });
    found.unwrap_or_default()
}

/// Reads one of a few things by its word; a fault has the nearest word.
fn one_of<T: Copy>(
    item: &Item<'_>,
    all: &[T],
    word: fn(T) -> &'static str,
    is_unknown: impl Fn(&str) -> String,
) -> Option<T> {
    let asked = item.string()?;
    let found = all.iter().copied().find(|known| word(*known) == asked);
    if found.is_none() {
        let words = all.iter().map(|known| word(*known));
        item.fault(is_unknown(&asked), did_you_mean(&asked, words));
    }
    found
}

fn sizes(top: &Section<'_>, key: &'static str) -> Sizes {
    let nothing = Sizes {
        seconds_per_row: 1.0,
        relative_half_width: 0.01,
        runs: 1,
        seconds: None,
    };
    let Some(section) = top.require(key).and_then(|item| item.section()) else {
        return nothing;
    };
    let per_row = section.require("seconds_per_row");
    let per_row = per_row.and_then(|item| item.positive_up_to(SECONDS_MOST));
    let half_width = section.require("relative_half_width");
    let half_width = half_width.and_then(|item| item.positive());
    let sizes = Sizes {
        seconds_per_row: per_row.unwrap_or(1.0),
        relative_half_width: half_width.unwrap_or(0.01),
        runs: section.count_up_to("runs", RUNS_MOST).unwrap_or(1),
        seconds: section.positive_up_to("seconds", SECONDS_MOST),
    };
    section.finish();
    sizes
}

fn first_look(top: &Section<'_>, subjects: &[String]) -> Option<FirstLook> {
    let section = top.get("first_look")?.section()?;
    let seconds = section.require("seconds");
    let seconds = seconds.and_then(|item| item.positive_up_to(SECONDS_MOST));
    let first_look = FirstLook {
        subjects: match section.require("subjects") {
            Some(_) => among(&section, "subjects", subjects),
            None => Vec::new(),
        },
        seconds: seconds.unwrap_or(1.0),
    };
    section.finish();
    Some(first_look)
}

fn groups(top: &Section<'_>, entered: &mut Entered) -> Vec<Group> {
    identified(top.require("group"), "group", |section, id| {
        group(section, id, entered)
    })
}

fn group(section: Section<'_>, id: String, entered: &mut Entered) -> Group {
    let runs = section
        .require("runs")
        .map(|item| placed(&item))
        .unwrap_or_default();
    let quick_runs = section
        .get("quick_runs")
        .map_or_else(|| runs.clone(), |item| any_placed(&item));
    let of_group = OfGroup {
        runs,
        quick_runs,
        waits_for_disk: waits_for_disk(&section).unwrap_or_default(),
    };
    let group = Group {
        id,
        title: section.required_string("title"),
        text: section.string("text").unwrap_or_default(),
        rows: rows(&section, &of_group, entered),
    };
    section.finish();
    group
}

/// Defaults of a group for its rows.
struct OfGroup {
    runs: Vec<Placed>,
    quick_runs: Vec<Placed>,
    waits_for_disk: bool,
}

/// Reads whether operations wait for a disk, if a section says so.
fn waits_for_disk(section: &Section<'_>) -> Option<bool> {
    section.get("waits_for_disk")?.boolean()
}

fn rows(group: &Section<'_>, of_group: &OfGroup, entered: &mut Entered) -> Vec<Row> {
    let sections = group
        .require("row")
        .map(|item| item.sections())
        .unwrap_or_default();
    let mut rows = Vec::new();
    for section in sections {
        if let Some(row) = row::read(section, of_group, entered) {
            rows.push(row);
        }
    }
    rows
}

/// Reads a list of at least one `policy.placement`.
fn placed(item: &Item<'_>) -> Vec<Placed> {
    let all = any_placed(item);
    if all.is_empty() {
        item.fault(
            "nothing to run under",
            "name at least one, such as `other.same`",
        );
    }
    all
}

/// Reads a list of `policy.placement`.
fn any_placed(item: &Item<'_>) -> Vec<Placed> {
    let mut all = Vec::new();
    for element in item.list().unwrap_or_default() {
        let Some(word) = element.string() else {
            continue;
        };
        match parse_placed(&word) {
            Some(placed) => all.push(placed),
            None => element.fault(
                format!("`{word}` is no policy and placement"),
                "write `other` or `fifo`, a dot, and `same`, `across` or `free`, such as `fifo.same`",
            ),
        }
    }
    all
}

fn parse_placed(word: &str) -> Option<Placed> {
    let (policy, placement) = word.split_once('.')?;
    let known =
        ["other", "fifo"].contains(&policy) && ["same", "across", "free"].contains(&placement);
    known.then(|| Placed {
        policy: policy.to_owned(),
        placement: placement.to_owned(),
    })
}

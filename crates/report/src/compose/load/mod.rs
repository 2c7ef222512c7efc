//! Servers under load: a request's cost for the server, rates and latencies, memory, and claims
//! about them.

mod apart;
mod claims;
mod leak;
mod noise;
mod plots;
mod rivals;
mod shown;
mod starved;
mod tables;
mod warm;

pub use claims::{Trial, judged, judged_of_servers, needs_warmth, ratio, table as claims_table};
pub use warm::plot as warm_plot;

use super::processor_time::DISTURBED;
use super::view::{RunColumn, View};
use super::{Kind, cold, of_kind};
use crate::document::{Block, Mark, Note, Section, Weight};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{Freeze, Latencies, LoadOutcome, LoadRound, ResultRecord};
use std::collections::HashMap;

/// Returns a group's tables and plots, for each policy and placement; nothing without loads.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Load);
    let mut blocks = Vec::new();
    let mut notes = notes(view, &results);
    for conditions in conditions(&results) {
        let here: Vec<&ResultRecord> = results
            .iter()
            .copied()
            .filter(|result| RunColumn::of(&result.identity).conditions() == conditions)
            .collect();
        notes.extend(apart::note(&here));
        let waits = waits(&here);
        blocks.extend(tables::blocks(view, group, &conditions, &here, &waits));
        blocks.extend(
            plots::of_group(view, &conditions, &here, &waits)
                .into_iter()
                .map(Block::Plot),
        );
    }
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    blocks
}

/// Returns the sections outside of groups: the claims, the servers' memory, and their warm-up.
pub fn sections(view: &View) -> Vec<Section> {
    let all: Vec<&ResultRecord> = view
        .run
        .results
        .iter()
        .filter(|result| result.load().is_some())
        .collect();
    let sections = [
        claims::section(view),
        rivals::section(view, &all),
        noise::section(view, &all),
        plots::memory(view, &all),
        warm::section(view, &all),
    ];
    sections.into_iter().flatten().collect()
}

/// Latencies of loads under one policy and placement, by subject and test. They are pooled once,
/// because histograms of many rounds take long.
type Waits = HashMap<(String, String), Latencies>;

fn waits(results: &[&ResultRecord]) -> Waits {
    let of = |result: &&ResultRecord| Some((key(result), result.load()?.latencies()));
    results.iter().filter_map(of).collect()
}

fn wait<'w>(waits: &'w Waits, result: &ResultRecord) -> Option<&'w Latencies> {
    waits.get(&key(result))
}

fn key(result: &ResultRecord) -> (String, String) {
    let identity = &result.identity;
    (identity.subject.clone(), identity.test.clone())
}

/// Policies and placements in the order of their appearance.
fn conditions(results: &[&ResultRecord]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for result in results {
        let conditions = RunColumn::of(&result.identity).conditions();
        if !all.contains(&conditions) {
            all.push(conditions);
        }
    }
    all
}

fn in_most_rounds(load: &LoadOutcome, fits: fn(&LoadRound) -> bool) -> bool {
    2 * load.count(fits) > load.rounds.len()
}

/// The mark of a figure that the generator may have limited.
const LIMITED: &str = "generator’s limit";

/// Checks whether the generator may have limited the rate.
fn is_limited(load: &LoadOutcome) -> bool {
    in_most_rounds(load, LoadRound::generator_was_busy)
}

fn is_disturbed(load: &LoadOutcome) -> bool {
    in_most_rounds(load, LoadRound::was_disturbed)
}

/// Returns the weaknesses of a load's figure, in a word or two each; `beside` are the results to
/// compare it with.
pub fn marks(view: &View, result: &ResultRecord, beside: &[&ResultRecord]) -> Vec<Mark> {
    let Some(load) = result.load() else {
        return Vec::new();
    };
    let starves = starved::is_servers(starved::whose(result, beside));
    let words = [
        (is_disturbed(load), Weight::Info, DISTURBED),
        (is_limited(load), Weight::Warning, LIMITED),
        (starves, Weight::Warning, "starves"),
        (
            load.count(|round| round.unanswered > 0) > 0,
            Weight::Warning,
            "unanswered",
        ),
    ];
    let seen = words.into_iter().filter(|(seen, ..)| *seen);
    let marks = seen.map(|(_, weight, word)| Mark {
        weight,
        word: word.into(),
    });
    marks
        .chain(cold::mark(cold::is_server_cold(view, result)))
        .collect()
}

/// Notes facts of single loads: starved connections by number, a failed second start, and the
/// result of the freeze.
fn notes(view: &View, results: &[&ResultRecord]) -> Vec<Note> {
    let mut notes = Vec::new();
    for result in results {
        let Some(load) = result.load() else {
            continue;
        };
        let about = format!(
            "{} · {}",
            view.label(&result.identity),
            RunColumn::of(&result.identity).name()
        );
        let starving =
            starved::whose(result, results).and_then(|whose| starved::reported(load, whose));
        let reported = [starving, second_start(load), frozen(load)];
        notes.extend(
            reported
                .into_iter()
                .flatten()
                .map(|(weight, text)| Note::new(weight, about.clone(), text)),
        );
    }
    notes
}

fn second_start(load: &LoadOutcome) -> Option<(Weight, String)> {
    let failed = load.again_failed.as_ref()?;
    let text = format!(
        "its second start, by which it is held against itself, failed after {}: {}",
        number::counted(load.again.len(), "round"),
        failed.reason
    );
    Some((Weight::Warning, text))
}

/// Returns the worst result of the self-tests, because one failure is one too many.
fn frozen(load: &LoadOutcome) -> Option<(Weight, String)> {
    let freezes: Vec<Freeze> = load
        .rounds
        .iter()
        .filter_map(|round| round.freeze)
        .collect();
    let seen_part = |freeze: &Freeze| {
        let part = |of: u64, whole: u64| of as f64 / (whole as f64).max(1.0);
        part(freeze.longest_ns, freeze.frozen_ns).min(part(freeze.long, freeze.owed))
    };
    let worst = freezes
        .iter()
        .min_by(|a, b| seen_part(a).total_cmp(&seen_part(b)))?;
    let seen = freezes.iter().filter(|freeze| freeze.is_seen()).count();
    let ns = |ns: u64| number::quantity(crate::document::Unit::Nanoseconds, ns as f64);
    let facts = format!(
        "the server stood still for {}; the longest latency is {}, and {} of at least {} that were due in the first half of it waited for more than half",
        ns(worst.frozen_ns),
        ns(worst.longest_ns),
        number::count(worst.long),
        number::count(worst.owed)
    );
    let all = freezes.len();
    Some(match seen == all {
        true => (
            Weight::Info,
            format!("self-test: {seen} of {all} freezes were seen; in the least clear one {facts}"),
        ),
        false => (
            Weight::Error,
            format!(
                "the generator did not see a freeze: {seen} of {all} were seen; in the worst one {facts}"
            ),
        ),
    })
}

//! Servers under load: what a request costs the server, rates and latencies, memory, and what is claimed of them.

mod claims;
mod leak;
mod noise;
mod plots;
mod tables;
mod warm;

pub use claims::table as claims_table;
pub use warm::{never_warm, plot as warm_plot};

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{Block, Mark, Note, Section, Weight};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{LoadOutcome, LoadRound, Outcome, ResultRecord};

/// A group's tables and plots, for each policy and placement; nothing where it has no loads.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Load);
    let mut blocks = Vec::new();
    for conditions in conditions(&results) {
        let here: Vec<&ResultRecord> = results
            .iter()
            .copied()
            .filter(|result| RunColumn::of(&result.identity).conditions() == conditions)
            .collect();
        blocks.extend(tables::blocks(view, group, &conditions, &here));
        blocks.extend(
            plots::over_connections(view, &conditions, &here)
                .into_iter()
                .map(Block::Plot),
        );
    }
    let notes = notes(view, &results);
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    blocks
}

/// The sections that are of no group: the claims, the servers' memory, and how they became warm.
pub fn sections(view: &View) -> Vec<Section> {
    let all: Vec<&ResultRecord> = view
        .run
        .results
        .iter()
        .filter(|result| outcome(result).is_some())
        .collect();
    let sections = [
        claims::section(view),
        noise::section(view, &all),
        plots::memory(&all),
        warm::section(view, &all),
    ];
    sections.into_iter().flatten().collect()
}

/// What came out of a load; `None` if nothing did.
fn outcome(result: &ResultRecord) -> Option<&LoadOutcome> {
    match &result.outcome {
        Outcome::Load(load) => Some(load),
        _ => None,
    }
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

/// What weakens a figure of these rounds, in a word or two each.
fn marks(load: &LoadOutcome) -> Vec<Mark> {
    let words = [
        (
            in_most_rounds(load, LoadRound::was_disturbed),
            Weight::Info,
            "disturbed",
        ),
        (
            in_most_rounds(load, LoadRound::generator_was_busy),
            Weight::Warning,
            "generator’s limit",
        ),
        (in_most_rounds(load, starves), Weight::Warning, "starves"),
        (
            load.count(|round| round.unanswered > 0) > 0,
            Weight::Warning,
            "unanswered",
        ),
    ];
    let seen = words.into_iter().filter(|(seen, ..)| *seen);
    seen.map(|(_, weight, word)| Mark {
        weight,
        word: word.into(),
    })
    .collect()
}

/// What must be said of single loads: starved connections by number, and what the freeze showed.
fn notes(view: &View, results: &[&ResultRecord]) -> Vec<Note> {
    let mut notes = Vec::new();
    for result in results {
        let Some(load) = outcome(result) else {
            continue;
        };
        let about = format!(
            "{} · {}",
            view.label(&result.identity),
            RunColumn::of(&result.identity).name()
        );
        notes.extend(starved(load).map(|(weight, text)| Note::new(weight, about.clone(), text)));
        notes.extend(
            load.rounds
                .iter()
                .filter_map(frozen)
                .map(|(weight, text)| Note::new(weight, about.clone(), text))
                .next(),
        );
    }
    notes
}

fn starves(round: &LoadRound) -> bool {
    !round.starved.is_empty()
}

fn starved(load: &LoadOutcome) -> Option<(Weight, String)> {
    const NAMED: usize = 8;
    let worst = load.rounds.iter().max_by_key(|round| round.starved.len())?;
    if worst.starved.is_empty() {
        return None;
    }
    let names: Vec<String> = worst
        .starved
        .iter()
        .take(NAMED)
        .map(|index| (index + 1).to_string())
        .collect();
    let more = if worst.starved.len() > NAMED {
        ", …"
    } else {
        ""
    };
    // What a server does by itself, it does again.
    let (weight, whose) = match in_most_rounds(load, starves) {
        true => (Weight::Warning, ""),
        false => (
            Weight::Info,
            ". In most rounds none was, so it may be the machine that kept them waiting",
        ),
    };
    let text = format!(
        "in {} of {} rounds connections were starved, at worst {} of {} ({}{more}): each had less than a tenth of the mean, or waited once for \
         more than half of the time and half a second while others had answers; Jain's index is {}, the longest wait {}{whose}",
        load.count(starves),
        load.rounds.len(),
        worst.starved.len(),
        load.task.connections,
        names.join(", "),
        number::fixed(worst.fairness, 3),
        number::quantity(crate::document::Unit::Nanoseconds, worst.longest_ns as f64)
    );
    Some((weight, text))
}

fn frozen(round: &LoadRound) -> Option<(Weight, String)> {
    let freeze = round.freeze?;
    let ns = |ns: u64| number::quantity(crate::document::Unit::Nanoseconds, ns as f64);
    let facts = format!(
        "the server stood still for {}; the longest latency is {}, and {} of at least {} that were due in the first half of it waited for more than half",
        ns(freeze.frozen_ns),
        ns(freeze.longest_ns),
        number::count(freeze.long),
        number::count(freeze.owed)
    );
    Some(match freeze.is_seen() {
        true => (Weight::Info, format!("self-test: {facts}")),
        false => (
            Weight::Error,
            format!("the generator did not see a freeze: {facts}"),
        ),
    })
}

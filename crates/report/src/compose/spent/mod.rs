//! What operations cost beside their time: processor time of subjects and of databases, memory and threads; and what tells how far that may
//! be believed: subjects measured twice, and how others disturbed.

mod claims;
mod leak;
mod memory;
mod same;
mod tables;
mod warm;

use super::view::View;
use crate::document::{Block, Fact, Mark, Note, Section, Unit, Weight};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{CostRound, Foreign, ResultRecord};

/// Processor time of the subject an operation, ns.
fn of_subject(round: &CostRound) -> Option<f64> {
    Some(round.subject_ns)
}

/// The same of the database server.
fn of_server(round: &CostRound) -> Option<f64> {
    round.server_ns
}

/// The same of both.
fn of_both(round: &CostRound) -> Option<f64> {
    Some(round.both_ns())
}

/// A group's tables; nothing where no test of it has such costs.
pub fn blocks(view: &View, group: &Group, results: &[&ResultRecord]) -> Vec<Block> {
    let results: Vec<&ResultRecord> = results
        .iter()
        .copied()
        .filter(|result| result.costs.is_some())
        .collect();
    match results.is_empty() {
        true => Vec::new(),
        false => tables::blocks(view, group, &results),
    }
}

/// The sections that are of no group.
pub fn sections(view: &View) -> Vec<Section> {
    let sections = [
        claims::section(view),
        memory::section(view),
        same::section(view),
        warm::section(view),
    ];
    sections.into_iter().flatten().collect()
}

/// What is told beside a figure of a result that others disturbed in most of its starts.
pub fn mark(result: &ResultRecord) -> Option<Mark> {
    is_disturbed(result).then(|| Mark {
        weight: Weight::Info,
        word: "disturbed".into(),
    })
}

fn is_disturbed(result: &ResultRecord) -> bool {
    let disturbed = result
        .foreign
        .iter()
        .filter(|of| of.was_disturbed())
        .count();
    2 * disturbed > result.foreign.len()
}

/// How much others used, for the evidence of a figure; nothing where that is not known.
pub fn facts(result: &ResultRecord) -> Vec<Fact> {
    if result.foreign.is_empty() {
        return Vec::new();
    }
    let share = |of: &Foreign| number::quantity(Unit::Share, of.share);
    let shares: Vec<String> = result.foreign.iter().map(share).collect();
    let again: u32 = result
        .foreign
        .iter()
        .map(|of| of.attempts.saturating_sub(1))
        .sum();
    vec![
        Fact::new("Used by others meanwhile", shares.join(", ")),
        Fact::new("Measured again for it", number::count(again.into())),
    ]
}

/// How many results others disturbed; `None` if they disturbed none.
pub fn summary(view: &View) -> Option<Note> {
    let watched = view
        .run
        .results
        .iter()
        .filter(|result| !result.foreign.is_empty());
    let (mut all, mut disturbed) = (0, 0);
    for result in watched {
        all += 1;
        disturbed += usize::from(is_disturbed(result));
    }
    let text = format!(
        "{} of {} were measured while others used more than a tenth of the processors in use; they are marked. Ratios that were taken in \
         turns suffer least",
        number::count(disturbed as u64),
        number::counted(all, "result")
    );
    (disturbed > 0).then(|| Note::new(Weight::Info, "Disturbed", text))
}

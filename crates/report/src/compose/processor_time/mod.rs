//! Costs of operations beside their time: processor time of subjects and databases, memory and
//! threads.
//!
//! It includes the evidence for their reliability: subjects measured twice, and disturbance by
//! others.

mod claims;
mod leak;
mod memory;
mod same;
mod tables;
mod warm;

pub use claims::judged;

use super::cold;
use super::view::View;
use crate::document::{Block, Fact, Mark, Note, Section, Unit, Weight};
use crate::layout::Group;
use crate::number;
use antiphon_lab::{CostRound, Costs, Foreign, ResultRecord, mostly_disturbed};

/// Returns the subject's processor time an operation, ns.
pub fn of_subject(round: &CostRound) -> Option<f64> {
    Some(round.subject_ns)
}

/// Returns the database server's processor time an operation, ns.
fn of_server(round: &CostRound) -> Option<f64> {
    round.server_ns
}

/// Returns the processor time of both an operation, ns.
pub fn of_both(round: &CostRound) -> Option<f64> {
    Some(round.both_ns())
}

/// Returns a group's tables; nothing without such costs.
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

/// Returns the sections outside of groups.
pub fn sections(view: &View) -> Vec<Section> {
    let sections = [
        claims::section(view),
        memory::section(view),
        same::section(view),
        warm::section(view),
    ];
    sections.into_iter().flatten().collect()
}

/// The mark of a figure in most of whose starts, or rounds, others used much of the processors.
pub const DISTURBED: &str = "disturbed";

/// Returns the mark of a result that others disturbed in most of its starts.
pub fn mark(result: &ResultRecord) -> Option<Mark> {
    is_disturbed(result).then(|| info(DISTURBED))
}

/// Returns the marks of a cost, whose time may be that of its turns. It is also marked if its
/// subject was not warm.
pub fn marks(result: &ResultRecord) -> Vec<Mark> {
    if result.time_of_turns().is_some() {
        return marks_of_turns(result);
    }
    let cold = cold::mark(cold::is_subject_cold(result));
    mark(result).into_iter().chain(cold).collect()
}

/// Returns the marks of processor time, whose turns are another measurement than that of the time.
///
/// They tell disturbance by others, slowed processors in all turns, and a cold subject.
pub fn marks_of_turns(result: &ResultRecord) -> Vec<Mark> {
    let Some(costs) = &result.costs else {
        return Vec::new();
    };
    let disturbed = costs.was_disturbed().then(|| info(DISTURBED));
    let is_slowed = !costs.rounds.is_empty() && costs.calm_rounds() == 0;
    let slowed = is_slowed.then(|| info("slowed"));
    let marks = disturbed.into_iter().chain(slowed);
    marks
        .chain(cold::mark(cold::is_subject_cold(result)))
        .collect()
}

fn info(word: &str) -> Mark {
    Mark {
        weight: Weight::Info,
        word: word.into(),
    }
}

fn is_disturbed(result: &ResultRecord) -> bool {
    mostly_disturbed(&result.foreign)
}

fn shares(all: &[Foreign]) -> String {
    let share = |of: &Foreign| {
        let share = number::quantity(Unit::Share, of.share);
        match of.stopped_ns > 0.0 {
            true => format!(
                "{share} (stopped by its quota for {})",
                number::quantity(Unit::Nanoseconds, of.stopped_ns)
            ),
            false => share,
        }
    };
    all.iter().map(share).collect::<Vec<String>>().join(", ")
}

/// Returns the evidence for turns: the number of calm rounds, and the use by others if it was
/// watched.
fn facts_of_turns(costs: &Costs) -> Vec<Fact> {
    let calm = format!(
        "{} of {}",
        number::count(costs.calm_rounds() as u64),
        number::count(costs.rounds.len() as u64)
    );
    let mut facts = vec![Fact::new("Rounds with no slowed processor", calm)];
    if !costs.foreign.is_empty() {
        facts.push(Fact::new(
            "Used by others during its turns",
            shares(&costs.foreign),
        ));
    }
    if let Some(slice_ms) = costs.slice_ms {
        let text = format!("{slice_ms} ms of a processor, as its subject’s file says");
        facts.push(Fact::new("Slices", text));
    }
    if costs.ordinary {
        facts.push(Fact::new(
            "Its turns",
            "ordinary, and not in real time, as its subject’s file asks for",
        ));
    }
    if costs.awake {
        facts.push(Fact::new("Its processors", "kept awake while it waited"));
    }
    facts
}

/// Returns the use by others, as evidence of a figure; nothing if it is not known.
pub fn facts(result: &ResultRecord) -> Vec<Fact> {
    if result.foreign.is_empty() {
        return Vec::new();
    }
    let again: u32 = result
        .foreign
        .iter()
        .map(|of| of.attempts.saturating_sub(1))
        .sum();
    vec![
        Fact::new("Used by others meanwhile", shares(&result.foreign)),
        Fact::new("Measured again for it", number::count(again.into())),
    ]
}

/// Returns the number of results that others disturbed; `None` without any.
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
    let costs = view.run.results.iter().filter_map(|of| of.costs.as_ref());
    let watched: Vec<&Costs> = costs.filter(|costs| !costs.foreign.is_empty()).collect();
    let turns = watched.iter().filter(|costs| costs.was_disturbed()).count();
    let of_turns = match watched.len() {
        0 => "Ratios that were taken in turns suffer least".to_owned(),
        all => format!(
            "Processor time an operation is from turns of its own: of {}, {} were",
            number::counted(all, "figure"),
            number::count(turns as u64)
        ),
    };
    let text = format!(
        "{} of {} were measured while others, or a quota, took more than a tenth of the processors in use; they are marked. {of_turns}",
        number::count(disturbed as u64),
        number::counted(all, "result")
    );
    (disturbed + turns > 0).then(|| Note::new(Weight::Info, "Disturbed", text))
}

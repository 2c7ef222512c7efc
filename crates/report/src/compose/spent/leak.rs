//! Subjects that hold more memory after each round of a test than before it.

use crate::compose::growth;
use crate::compose::view::{RunColumn, View};
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::{CostRound, ResultRecord};

/// Fewer rounds of one start do not tell a leak from a heap that is still growing to its size.
const ROUNDS_LEAST: usize = 6;

/// Slices of the test in a round: half a one first, which does not count, and two.
const SLICES: f64 = 2.5;

/// A note for each test in which a subject's memory grew so, in every start that is long enough.
pub(super) fn notes(view: &View) -> Vec<Note> {
    let note = |result: &ResultRecord| {
        let place = RunColumn::of(&result.identity).name();
        let about = format!("{} · {place}", view.label(&result.identity));
        Some(Note::new(Weight::Warning, about, grown(result)?))
    };
    view.run.results.iter().filter_map(note).collect()
}

/// What is to be said of a test, if its subject's memory grew.
fn grown(result: &ResultRecord) -> Option<String> {
    let rounds = &result.costs.as_ref()?.rounds;
    let long = |start: &&[CostRound]| {
        start.len() >= ROUNDS_LEAST && start.iter().all(|round| round.held_bytes > 0)
    };
    let starts: Vec<&[CostRound]> = rounds
        .chunk_by(|a, b| a.start == b.start)
        .filter(long)
        .collect();
    let first = *starts.first()?;
    if !starts.iter().all(|start| growth::goes_on(&held(start))) {
        return None;
    }
    let iterations: u64 = first[1..].iter().map(|round| round.iterations).sum();
    let counted = held(first);
    let grown = counted[counted.len() - 1] - counted[0];
    let each = grown / (SLICES * iterations as f64).max(1.0);
    let bytes = |of: f64| number::quantity(Unit::Bytes, of);
    let told: Vec<String> = counted.into_iter().map(bytes).collect();
    Some(format!(
        "it held more memory after each round than before it, and did not settle: {}, {} an operation. It may leak: \
         `antiphon profile {} {}` says who holds it",
        told.join(", "),
        bytes(each),
        result.identity.subject,
        result.identity.test
    ))
}

/// What was held after each round, without what was reserved before them and only filled since.
fn held(rounds: &[CostRound]) -> Vec<f64> {
    let of = |round: &CostRound| round.held_bytes.saturating_sub(round.walked_bytes) as f64;
    rounds.iter().map(of).collect()
}

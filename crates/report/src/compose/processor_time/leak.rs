//! Subjects that hold more memory after each round of a test than before it.

use crate::compose::growth;
use crate::compose::view::{RunColumn, View};
use crate::document::{Note, Unit, Weight};
use crate::number;
use antiphon_lab::{CostRound, ResultRecord};

/// Least rounds of one start that separate a leak from a heap that still grows to its size.
const ROUNDS_LEAST: usize = 6;

/// Slices of the test in a round: half a one first, which does not count, and two.
const SLICES: f64 = 2.5;

/// Notes each test in which a subject's memory grew, in every start that is long enough.
pub(super) fn notes(view: &View) -> Vec<Note> {
    let note = |result: &ResultRecord| {
        let place = RunColumn::of(&result.identity).name();
        let about = format!("{} · {place}", view.label(&result.identity));
        Some(Note::new(Weight::Warning, about, grown(result)?))
    };
    view.run.results.iter().filter_map(note).collect()
}

/// Returns the remark on a test, if its subject's memory grew.
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
    let reported: Vec<String> = counted.into_iter().map(bytes).collect();
    Some(format!(
        "it held more memory after each round than before it, and did not settle: {}{}, {} an operation. It may leak: \
         `antiphon profile {} {}` says who holds it",
        reported.join(", "),
        reckoned(first),
        bytes(each),
        result.identity.subject,
        result.identity.test
    ))
}

/// Returns the difference between the reported memory of rounds and the readings after them, as a
/// text for the end.
fn reckoned(rounds: &[CostRound]) -> &'static str {
    let later = &rounds[1..];
    let again = later.iter().any(|round| round.taken > 1);
    let walked = later.iter().any(|round| round.walked_bytes > 0);
    match (again, walked) {
        (false, false) => "",
        (true, false) => {
            " (reckoned as if each turn had been taken once, though some were taken again)"
        }
        (false, true) => " (without memory that was reserved before and only filled since)",
        (true, true) => {
            " (reckoned as if each turn had been taken once, though some were taken again, and without memory that was reserved before and only filled since)"
        }
    }
}

/// Returns the memory held after each round, without earlier reservations that were only filled
/// since.
///
/// It counts each turn once. A turn that was repeated because of slowness adds its memory with each
/// attempt.
fn held(rounds: &[CostRound]) -> Vec<f64> {
    let of = |round: &CostRound| round.held_bytes.saturating_sub(round.walked_bytes) as f64;
    let mut held: Vec<f64> = rounds.iter().take(1).map(of).collect();
    for (before, round) in rounds.iter().zip(rounds.iter().skip(1)) {
        let added = (of(round) - of(before)) / f64::from(round.taken.max(1));
        held.push(held[held.len() - 1] + added);
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_was_taken_again_adds_as_often() {
        let round = |(round, (held_bytes, taken)): (u32, &(u64, u32))| CostRound {
            start: 0,
            round,
            iterations: 1,
            subject_ns: 1.0,
            server_ns: None,
            wall_ns: 1.0,
            time_ns: None,
            step_ns: 0.0,
            slowed: 0.0,
            held_bytes: *held_bytes,
            walked_bytes: 0,
            taken: *taken,
        };
        let of = |readings: &[(u64, u32)]| {
            let rounds: Vec<CostRound> = (0..).zip(readings).map(round).collect();
            held(&rounds)
        };
        assert_eq!(
            of(&[(130, 3), (160, 3), (170, 1), (190, 2)]),
            [130.0, 140.0, 150.0, 160.0]
        );
        assert!(of(&[]).is_empty());
    }
}

//! Servers that hold more memory after each round than before it.

use crate::compose::view::View;
use crate::compose::{cold, growth};
use crate::document::{Note, Unit, Weight};
use crate::grouped::grouped;
use crate::number;
use antiphon_lab::{LoadOutcome, LoadRound, ResultRecord};

/// Least rounds of one start that separate a leak from a heap that still grows to its size.
const ROUNDS_LEAST: usize = 4;

/// A server: its subject, its policy, and whether the system places it. The other placements share
/// the same processes.
type Server<'r> = (&'r str, &'r str, bool);

/// Notes each server whose memory grew after all of its loads, in every epoch that is long enough.
///
/// Virtual machines are exempt, because their heaps grow to a limit before any collection.
pub(super) fn notes(view: &View, results: &[&ResultRecord]) -> Vec<Note> {
    let loads = results.iter().filter_map(|result| {
        let of = &result.identity;
        let server: Server = (&of.subject, &of.policy, of.placement == "free");
        Some((server, result.load()?))
    });
    let servers = grouped(loads);
    let note = |((subject, policy, _), loads): &(Server, Vec<&LoadOutcome>)| {
        let text = grown(loads)?;
        Some(Note::new(
            Weight::Warning,
            format!("{subject} · {policy}"),
            text,
        ))
    };
    servers
        .iter()
        .filter(|((subject, ..), _)| !cold::is_virtual_machine(view, subject))
        .filter_map(note)
        .collect()
}

/// Returns the remark on a server with these loads, if its memory grew.
fn grown(loads: &[&LoadOutcome]) -> Option<String> {
    let held = |epoch: &[LoadRound]| -> Vec<f64> {
        epoch.iter().map(|round| round.pss_bytes as f64).collect()
    };
    let mut all = loads.iter().flat_map(|load| epochs(load));
    if !all.all(|epoch| growth::goes_on(&held(epoch))) {
        return None;
    }
    let rounds = loads.iter().rev().find_map(|load| epochs(load).next())?;
    let (first, last) = (rounds.first()?, rounds.last()?);
    let between = |round: &&LoadRound| first.round < round.round && round.round <= last.round;
    let all = loads.iter().flat_map(|load| &load.rounds);
    let requests: u64 = all.filter(between).map(|round| round.answered).sum();
    let grown = last.pss_bytes.saturating_sub(first.pss_bytes) as f64;
    let held: Vec<String> = held(rounds).into_iter().map(bytes).collect();
    Some(format!(
        "it held more memory after each round than before it, whatever the load, and did not settle: {}, {} a request. It may leak: \
         let `antiphon load` ask it for some minutes",
        held.join(", "),
        bytes(grown / (requests as f64).max(1.0))
    ))
}

/// Returns the rounds of each epoch that is long enough.
fn epochs(load: &LoadOutcome) -> impl Iterator<Item = &[LoadRound]> {
    let epochs = load.rounds.chunk_by(|a, b| a.epoch == b.epoch);
    epochs.filter(|epoch| epoch.len() >= ROUNDS_LEAST)
}

fn bytes(of: f64) -> String {
    number::quantity(Unit::Bytes, of)
}

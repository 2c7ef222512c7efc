//! Starved connections: the number of rounds with them, and their cause, the server or the machine.

use crate::compose::view::RunColumn;
use crate::document::{Unit, Weight};
use crate::number;
use antiphon_lab::{LoadOutcome, LoadRound, ResultRecord};
use std::collections::BTreeSet;

/// Most connections that are named.
const NAMED: usize = 8;

/// Cause of a server's starved connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The server, because it starves connections in most rounds: its own fault recurs.
    Server,
    /// The server, because no other server starved a connection in these rounds.
    ServerAlone,
    /// Possibly the machine, because other servers starved connections in these rounds, too.
    Machine,
    /// Unknown, because nothing was measured beside it.
    Unknown,
}

/// Returns the cause, if a result has starved connections; `results` are those to compare it with.
pub(super) fn whose(result: &ResultRecord, results: &[&ResultRecord]) -> Option<Whose> {
    let load = result.load()?;
    let rounds: BTreeSet<u32> = starved_rounds(load).collect();
    if rounds.is_empty() {
        return None;
    }
    if starves_mostly(load) {
        return Some(Whose::Server);
    }
    let others: Vec<&LoadOutcome> = others(result, results).collect();
    // A server that starves by itself is no evidence about the machine.
    let mut telling = others.iter().filter(|other| !starves_mostly(other));
    Some(match others.is_empty() {
        true => Whose::Unknown,
        false => match telling.any(|other| starved_rounds(other).any(|at| rounds.contains(&at))) {
            true => Whose::Machine,
            false => Whose::ServerAlone,
        },
    })
}

/// Checks whether the cause is the server.
pub(super) fn is_servers(whose: Option<Whose>) -> bool {
    matches!(whose, Some(Whose::Server | Whose::ServerAlone))
}

fn starves_mostly(load: &LoadOutcome) -> bool {
    2 * starved_rounds(load).count() > load.all_rounds().count()
}

fn starved_rounds(load: &LoadOutcome) -> impl Iterator<Item = u32> {
    let starving = load.all_rounds().filter(|round| round.starves());
    starving.map(|round| round.round)
}

/// Returns the loads of other servers under the same policy and placement. All count, because a
/// round has a moment of each load.
fn others<'r>(
    result: &ResultRecord,
    results: &[&'r ResultRecord],
) -> impl Iterator<Item = &'r LoadOutcome> {
    let own = RunColumn::of(&result.identity);
    let others = results.iter().filter(move |other| {
        let column = RunColumn::of(&other.identity);
        column.subject != own.subject && column.conditions() == own.conditions()
    });
    others.filter_map(|other| other.load())
}

/// Returns the remark on starved connections.
pub(super) fn reported(load: &LoadOutcome, whose: Whose) -> Option<(Weight, String)> {
    let worst = load.all_rounds().max_by_key(|round| round.starved.len())?;
    let twice = if load.again.is_empty() {
        ""
    } else {
        " of its two starts"
    };
    let (weight, end) = match whose {
        Whose::Server => (Weight::Warning, ""),
        Whose::ServerAlone => (
            Weight::Warning,
            ". No other server starved one in these rounds, so it is this server that does",
        ),
        Whose::Machine => (
            Weight::Info,
            ". Other servers starved some in these rounds, too, so it may be the machine that kept them waiting",
        ),
        Whose::Unknown => (
            Weight::Info,
            ". No other server took turns with it, so it may be the machine that kept them waiting",
        ),
    };
    let text = format!(
        "in {} of {} rounds{twice} connections were starved, at worst {} of {} ({}): each had less than a tenth of the mean, or waited once for \
         more than half of the time and half a second while others had answers; {}{end}",
        starved_rounds(load).count(),
        load.all_rounds().count(),
        worst.starved.len(),
        load.task.connections,
        names(&worst.starved),
        extent(worst),
    );
    Some((weight, text))
}

/// Connections by their numbers from 1.
fn names(starved: &[usize]) -> String {
    let names = starved.iter().take(NAMED).map(|index| index + 1);
    let names: Vec<String> = names.map(|number| number.to_string()).collect();
    let more = if starved.len() > NAMED { ", …" } else { "" };
    names.join(", ") + more
}

fn extent(worst: &LoadRound) -> String {
    let index = worst
        .fairness
        .map(|index| format!("Jain’s index is {}", number::fixed(index, 3)));
    let longest = worst
        .longest_ns
        .map(|ns| number::quantity(Unit::Nanoseconds, ns as f64));
    let longest = longest.map(|ns| format!("the longest wait {ns}"));
    let all: Vec<String> = index.into_iter().chain(longest).collect();
    all.join(", ")
}

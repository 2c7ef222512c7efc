//! Which of the claims about servers hold in this run: the words come from the figures.

use super::outcome;
use crate::compose::verdict::{self, Fate, Limits};
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Section, Unit};
use crate::number;
use antiphon_lab::suite::{ServerClaim, ServerQuantity, Servers};
use antiphon_lab::{LoadOutcome, LoadRound};
use antiphon_measure::Interval;

/// The section of claims; `None` where none can be tried.
pub(super) fn section(view: &View) -> Option<Section> {
    let servers = view.layout.servers.iter();
    let blocks: Vec<Block> = servers
        .flat_map(|servers| table(servers, &|claim, test| trial(view, claim, test)))
        .collect();
    (!blocks.is_empty()).then(|| Section {
        id: "load-claims".into(),
        title: "What was claimed of servers, and whether it holds here".into(),
        blocks,
    })
}

/// How a claim fares in one test: what the test is called, and the share. `None` where it cannot be tried.
pub type Trial<'t> = dyn Fn(&ServerClaim, &str) -> Option<(String, Interval)> + 't;

/// The table of a set of claims, with what is said of it; nothing where none can be tried.
pub fn table(servers: &Servers, trial: &Trial) -> Vec<Block> {
    let rows: Vec<_> = servers
        .claims
        .iter()
        .filter_map(|claim| row(claim, trial))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let text: Vec<&str> = servers.text.split_whitespace().collect();
    let caption = format!(
        "A claim holds where the whole interval of the ratio is within its limits, and fails where none of it is. Claims: {}.",
        servers.source
    );
    vec![
        Block::Prose {
            text: text.join(" "),
        },
        Block::Table(verdict::table(&servers.title, &caption, rows)),
    ]
}

fn row(claim: &ServerClaim, trial: &Trial) -> Option<crate::document::Row> {
    let limits = Limits {
        at_least: claim.at_least,
        at_most: claim.at_most,
    };
    let trials: Vec<(String, Interval)> = claim
        .tests
        .iter()
        .filter_map(|test| trial(claim, test))
        .collect();
    let fates: Vec<Fate> = trials
        .iter()
        .map(|(_, share)| limits.fate(*share))
        .collect();
    let weakest = trials
        .iter()
        .max_by(|a, b| limits.excess(a.1).total_cmp(&limits.excess(b.1)))?;
    let percent = |share| number::quantity(Unit::Share, share);
    let published = claim.published.map_or(String::new(), |share| {
        format!("; published: {}", percent(share))
    });
    let told = format!(
        "{} ({} to {}) with {}{published}",
        percent(weakest.1.value),
        percent(weakest.1.low),
        percent(weakest.1.high),
        weakest.0
    );
    let place = format!(
        "{} of {}: {} of that of {}",
        claim.quantity.word(),
        claim.of,
        limits.words(),
        claim.against
    );
    Some(verdict::row(&claim.text, place, &fates, Some(told)))
}

/// The share under one load, by the rounds that both servers have.
fn trial(view: &View, claim: &ServerClaim, test: &str) -> Option<(String, Interval)> {
    let of = |subject: &String| -> Option<(&LoadOutcome, String)> {
        let column = RunColumn {
            subject: subject.clone(),
            policy: claim.run.policy.clone(),
            placement: claim.run.placement.clone(),
        };
        let result = view.find(test, &column)?;
        Some((outcome(result)?, view.label(&result.identity)))
    };
    let (ours, label) = of(&claim.of)?;
    let (theirs, _) = of(&claim.against)?;
    Some((label, ours.ratio(theirs, quantity(claim.quantity)?)?))
}

fn quantity(quantity: ServerQuantity) -> Option<fn(&LoadRound) -> f64> {
    Some(match quantity {
        ServerQuantity::Cpu => LoadRound::cpu_ns,
        ServerQuantity::Requests => |round| round.per_second,
        ServerQuantity::P99 => |round| round.p99_ns.map_or(f64::NAN, |ns| ns as f64),
        ServerQuantity::Memory => |round| round.pss_bytes as f64,
        ServerQuantity::Threads => |round| round.threads as f64,
        ServerQuantity::Time | ServerQuantity::BothCpu | ServerQuantity::Deviation => return None,
    })
}

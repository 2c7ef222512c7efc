//! Claims about the variants, judged by this run's figures.

use super::{Comparison, on_one_processor, share, shown};
use crate::compose::verdict::{self, Fate, Judged, Limits};
use crate::compose::view::RunColumn;
use crate::document::{Block, Note, Table, Unit, Weight};
use crate::number;
use antiphon_lab::suite::{Claim, Program, Quantity};
use antiphon_measure::Interval;

/// A claim tried on one variant of one program in one column.
struct Trial<'a> {
    program: &'a Program,
    variant: &'a str,
    column: &'a RunColumn,
    share: Interval,
    fate: Fate,
}

/// Returns a table of the claims, and a note for each that does not hold; nothing if no claim can
/// be tried.
pub(super) fn blocks(comparison: &Comparison) -> Vec<Block> {
    let claims = comparison.savings.claims.iter();
    let tried: Vec<(&Claim, Vec<Trial>)> = claims
        .map(|claim| (claim, trials(comparison, claim)))
        .filter(|(_, trials)| !trials.is_empty())
        .collect();
    if tried.is_empty() {
        return Vec::new();
    }
    let notes: Vec<Note> = tried.iter().filter_map(note).collect();
    let mut blocks = vec![Block::Table(table(&tried))];
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    blocks
}

/// Returns the claims that can be tried.
pub(super) fn judged(comparison: &Comparison, section: &str) -> Vec<Judged> {
    let claims = comparison.savings.claims.iter();
    claims
        .filter_map(|claim| {
            let trials = trials(comparison, claim);
            let fates: Vec<Fate> = trials.iter().map(|trial| trial.fate).collect();
            Some(Judged {
                text: claim.text.clone(),
                fate: Fate::of_all(&fates),
                weakest: weakest(claim, &trials)?.share,
                limits: limits_of(claim),
                unit: Unit::Share,
                section: section.into(),
            })
        })
        .collect()
}

/// Tries the claim on one processor: for switches by every way of counting.
fn trials<'a>(comparison: &'a Comparison<'a>, claim: &'a Claim) -> Vec<Trial<'a>> {
    let programs = comparison.savings.programs.iter();
    let programs = programs.filter(|program| claim.programs.contains(&program.test));
    let columns: Vec<&RunColumn> = comparison
        .columns(claim.of)
        .into_iter()
        .filter(|column| on_one_processor(column))
        .collect();
    let mut trials = Vec::new();
    for program in programs {
        for column in &columns {
            let amount =
                |name: &str| comparison.amount(claim.of, program, &program.test(name), column);
            for variant in &claim.variants {
                let both = amount(variant).zip(amount(&claim.against));
                let Some(share) = both.and_then(|(now, before)| share(now, before)) else {
                    continue;
                };
                trials.push(Trial {
                    program,
                    variant,
                    column,
                    fate: limits_of(claim).fate(share),
                    share,
                });
            }
        }
    }
    trials
}

fn limits_of(claim: &Claim) -> Limits {
    Limits {
        at_least: claim.at_least,
        at_most: claim.at_most,
    }
}

fn weakest<'t, 'a>(claim: &Claim, trials: &'t [Trial<'a>]) -> Option<&'t Trial<'a>> {
    limits_of(claim).weakest(trials, |trial| (trial.fate, trial.share))
}

fn table(tried: &[(&Claim, Vec<Trial>)]) -> Table {
    let rows = tried.iter().map(|(claim, trials)| {
        let fates: Vec<Fate> = trials.iter().map(|trial| trial.fate).collect();
        let weakest = weakest(claim, trials).map(reported);
        verdict::row(
            &claim.text,
            limits(claim),
            verdict::verdict(&fates),
            weakest,
        )
    });
    verdict::table(
        "What is claimed, and whether it holds here",
        "Tried on one processor, for switches by each way of counting. A claim holds where the whole interval is within its limits, \
         and fails where none of it is.",
        rows.collect(),
    )
}

/// Returns the limits in words.
fn limits(claim: &Claim) -> String {
    let what = match claim.of {
        Quantity::Switches => "context switches",
        Quantity::Time => "time of synchronization",
        Quantity::Run => "processor time of a run",
    };
    let range = limits_of(claim).words();
    format!("{range} of the {what} of {}", shown(&claim.against))
}

/// Returns a trial in words.
fn reported(trial: &Trial) -> String {
    let size = number::quantity(Unit::Share, trial.share.value);
    format!(
        "{}, {}: {size} ({})",
        trial.program.label,
        shown(trial.variant),
        trial.column.name()
    )
}

/// Notes the trials in which a claim does not hold.
fn note((claim, trials): &(&Claim, Vec<Trial>)) -> Option<Note> {
    let failed = trials.iter().filter(|trial| trial.fate == Fate::Fails);
    let failed: Vec<String> = failed.map(reported).collect();
    let text = format!("does not hold here: {}", failed.join("; "));
    (!failed.is_empty()).then(|| Note::new(Weight::Info, claim.text.clone(), text))
}

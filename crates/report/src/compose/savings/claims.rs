//! Whether what is claimed of the variants holds in this run: the words come from the figures.

use super::{Comparison, on_one_processor, share, shown};
use crate::compose::view::RunColumn;
use crate::document::{Block, Cell, Column, Note, Row, RowKind, Table, Unit, Weight};
use crate::number;
use antiphon_lab::suite::{Claim, Program, Quantity};
use antiphon_measure::Interval;

/// How a claim fares where it can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The whole interval is within the limits.
    Holds,
    /// It is neither within them nor outside.
    Undecided,
    /// The whole interval is outside.
    Fails,
}

/// A claim tried on one variant of one program in one column.
struct Trial<'a> {
    program: &'a Program,
    variant: &'a str,
    column: &'a RunColumn,
    share: Interval,
    fate: Fate,
}

/// A table of the claims, and a note for each that does not hold; nothing where no claim can be tried.
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

/// The claim on one processor: for switches by every way of counting.
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
                    fate: fate(claim, share),
                    share,
                });
            }
        }
    }
    trials
}

fn fate(claim: &Claim, share: Interval) -> Fate {
    if claim.at_least <= share.low && share.high <= claim.at_most {
        Fate::Holds
    } else if share.high < claim.at_least || claim.at_most < share.low {
        Fate::Fails
    } else {
        Fate::Undecided
    }
}

/// How far outside the limits; below zero within them.
fn excess(claim: &Claim, share: Interval) -> f64 {
    (share.value - claim.at_most).max(claim.at_least - share.value)
}

fn weakest<'t, 'a>(claim: &Claim, trials: &'t [Trial<'a>]) -> Option<&'t Trial<'a>> {
    let excess = |trial: &&Trial| excess(claim, trial.share);
    trials.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)))
}

fn count(trials: &[Trial], fate: Fate) -> usize {
    trials.iter().filter(|trial| trial.fate == fate).count()
}

fn table(tried: &[(&Claim, Vec<Trial>)]) -> Table {
    let heading = |title: &str| Column {
        title: title.into(),
        ..Column::default()
    };
    let rows = tried.iter().map(|(claim, trials)| {
        let text = |text: String| Cell::text(text);
        Row {
            label: claim.text.clone(),
            place: limits(claim),
            kind: RowKind::Derived,
            subject: None,
            cells: vec![
                text(verdict(trials)),
                weakest(claim, trials).map_or(Cell::Empty, |trial| text(told(trial))),
            ],
        }
    });
    Table {
        title: "What is claimed, and whether it holds here".into(),
        caption:
            "Tried on one processor, for switches by each way of counting. A claim holds where the whole interval is within its limits, \
             and fails where none of it is."
                .into(),
        corner: "Claim".into(),
        columns: vec![heading("Holds"), heading("Weakest case")],
        rows: rows.collect(),
        folded: false,
    }
}

/// In how many trials the claim holds, and what of the others.
fn verdict(trials: &[Trial]) -> String {
    let (holds, fails) = (count(trials, Fate::Holds), count(trials, Fate::Fails));
    let mut text = match (holds, fails) {
        (holds, 0) if holds == trials.len() => format!("yes, in all {holds}"),
        (holds, 0) => format!("in {holds} of {}", trials.len()),
        (holds, _) => format!("no: in {holds} of {}", trials.len()),
    };
    let undecided = count(trials, Fate::Undecided);
    if undecided > 0 {
        text.push_str(&format!(", {undecided} undecided"));
    }
    text
}

/// The limits in words.
fn limits(claim: &Claim) -> String {
    let what = match claim.of {
        Quantity::Switches => "context switches",
        Quantity::Time => "time of synchronization",
        Quantity::Run => "processor time of a run",
    };
    let percent = |share| number::quantity(Unit::Share, share);
    let range = match (claim.at_least.is_finite(), claim.at_most.is_finite()) {
        (true, true) => format!("{} to {}", percent(claim.at_least), percent(claim.at_most)),
        (true, false) => format!("at least {}", percent(claim.at_least)),
        _ => format!("at most {}", percent(claim.at_most)),
    };
    format!("{range} of the {what} of {}", shown(&claim.against))
}

/// A trial in words.
fn told(trial: &Trial) -> String {
    let size = number::quantity(Unit::Share, trial.share.value);
    format!(
        "{}, {}: {size} ({})",
        trial.program.label,
        shown(trial.variant),
        trial.column.name()
    )
}

/// Where a claim does not hold.
fn note((claim, trials): &(&Claim, Vec<Trial>)) -> Option<Note> {
    let failed = trials.iter().filter(|trial| trial.fate == Fate::Fails);
    let failed: Vec<String> = failed.map(told).collect();
    let text = format!("does not hold here: {}", failed.join("; "));
    (!failed.is_empty()).then(|| Note::new(Weight::Warning, claim.text.clone(), text))
}

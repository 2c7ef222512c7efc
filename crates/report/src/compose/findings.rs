//! What a reader must be told: rows without a figure and why, and every finding.

use super::figure::{name, weight};
use super::view::{RunColumn, View};
use crate::document::{Block, Note, Section, Weight};
use antiphon_lab::{Identity, Outcome};
use antiphon_measure::{Finding, FindingKind};
use std::collections::BTreeMap;

/// The section of findings; `None` where there is nothing to say.
pub fn section(view: &View) -> Option<Section> {
    let mut blocks = Vec::new();
    let missing = missing(view);
    if !missing.is_empty() {
        blocks.push(Block::Prose {
            text: "Without a figure:".into(),
        });
        blocks.push(Block::Notes { notes: missing });
    }
    let found = found(view);
    if !found.is_empty() {
        let prose = "Findings, the gravest first. An error withholds its figure; a warning weakens it; the rest is worth knowing.";
        blocks.push(Block::Prose { text: prose.into() });
        blocks.push(Block::Notes { notes: found });
    }
    (!blocks.is_empty()).then(|| Section {
        id: "findings".into(),
        title: "Findings".into(),
        blocks,
    })
}

fn place(view: &View, identity: &Identity) -> String {
    format!(
        "{} · {}",
        view.label(identity),
        RunColumn::of(identity).name()
    )
}

/// One note a reason: tests that miss for the same reason are named together.
fn missing(view: &View) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for result in &view.run.results {
        let Outcome::Absent {
            reason,
            mend,
            last_words,
        } = &result.outcome
        else {
            continue;
        };
        let place = place(view, &result.identity);
        let same = |n: &&mut Note| {
            n.text == *reason && n.mend == *mend && n.quote == last_words.trim_end()
        };
        match notes.iter_mut().find(same) {
            Some(note) => {
                note.about.push_str("; ");
                note.about.push_str(&place);
            }
            None => notes.push(Note {
                weight: Weight::Warning,
                about: place,
                text: reason.clone(),
                mend: mend.clone(),
                quote: last_words.trim_end().into(),
            }),
        }
    }
    notes
}

fn found(view: &View) -> Vec<Note> {
    let mut by_kind: BTreeMap<(std::cmp::Reverse<Weight>, &str), Vec<Note>> = BTreeMap::new();
    for result in &view.run.results {
        let Outcome::Frame(estimate) = &result.outcome else {
            continue;
        };
        for finding in &estimate.findings {
            let key = (std::cmp::Reverse(weight(finding.kind)), name(finding.kind));
            by_kind
                .entry(key)
                .or_default()
                .push(note(view, &result.identity, finding));
        }
    }
    by_kind.into_values().flatten().collect()
}

fn note(view: &View, identity: &Identity, finding: &Finding) -> Note {
    let text = match finding.kind {
        FindingKind::Note => finding.text.clone(),
        kind => format!("{}: {}", name(kind), finding.text),
    };
    Note::new(weight(finding.kind), place(view, identity), text)
}

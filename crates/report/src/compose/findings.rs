//! Remarks for the reader: rows without a figure and their reasons, and every finding.

use super::figure::{is_of_shown, name, weight};
use super::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Note, Row, RowKind, Section, Table, Weight};
use crate::number;
use antiphon_lab::{Identity, Outcome};
use antiphon_measure::{Finding, FindingKind};
use std::cmp::Reverse;

const PROSE: &str = "What makes figures doubtful, the gravest first. An error withholds its figure; the others are marked beside theirs.";

/// Returns the section of missing and doubtful figures; `None` without any.
pub fn section(view: &View) -> Option<Section> {
    let mut blocks = Vec::new();
    let missing = missing(view, false);
    if !missing.is_empty() {
        blocks.push(Block::Prose {
            text: "Without a figure:".into(),
        });
        blocks.push(Block::Notes { notes: missing });
    }
    let lacking = missing_from_subjects(view);
    blocks.extend(lacking);
    let found = found(view);
    if !found.is_empty() {
        blocks.push(Block::Prose { text: PROSE.into() });
    }
    blocks.extend(found.into_iter().map(|(kind, noted)| match weight(kind) {
        Weight::Error => Block::Notes {
            notes: noted.iter().map(|n| note(view, n)).collect(),
        },
        Weight::Warning | Weight::Info => Block::Table(table(view, kind, &noted)),
    }));
    (!blocks.is_empty()).then(|| Section {
        id: "findings".into(),
        title: "Missing and doubtful figures".into(),
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

/// Returns the operations that subjects list as missing, folded: no figure is due.
fn missing_from_subjects(view: &View) -> Option<Block> {
    let rows: Vec<Row> = missing(view, true)
        .into_iter()
        .map(|note| Row {
            label: note.text,
            place: String::new(),
            kind: RowKind::Derived,
            subject: None,
            cells: vec![Cell::text(note.about)],
        })
        .collect();
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            title: "What does not exist for a subject".into(),
            corner: "Reason".into(),
            columns: vec![Column::titled("Operations")],
            rows,
            folded: true,
            ..Table::default()
        })
    })
}

/// Returns one note a reason, which names all its tests. `of_listed` selects tests that subjects
/// list as missing, or those that failed.
fn missing(view: &View, of_listed: bool) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for result in &view.run.results {
        let Outcome::Absent {
            reason,
            help,
            last_words,
            listed,
        } = &result.outcome
        else {
            continue;
        };
        if *listed != of_listed {
            continue;
        }
        let place = place(view, &result.identity);
        let same = |n: &&mut Note| {
            n.text == *reason && n.help == *help && n.quote == last_words.trim_end()
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
                help: help.clone(),
                quote: last_words.trim_end().into(),
            }),
        }
    }
    notes
}

/// A finding and whose it is.
type Noted<'a> = (&'a Identity, &'a Finding);

/// Returns the findings by kind, the gravest kinds first.
fn found<'a>(view: &View<'a>) -> Vec<(FindingKind, Vec<Noted<'a>>)> {
    let mut by_kind: Vec<(FindingKind, Vec<Noted>)> = Vec::new();
    for result in &view.run.results {
        let of_frame = match &result.outcome {
            Outcome::Frame(estimate) => estimate.findings.as_slice(),
            _ => &[],
        };
        let of_frame = of_frame
            .iter()
            .filter(|finding| is_of_shown(result, finding.kind));
        for finding in of_frame.chain(&result.findings) {
            let noted = (&result.identity, finding);
            match by_kind.iter_mut().find(|(kind, _)| *kind == finding.kind) {
                Some((_, all)) => all.push(noted),
                None => by_kind.push((finding.kind, vec![noted])),
            }
        }
    }
    by_kind.sort_by_key(|(kind, _)| (Reverse(weight(*kind)), name(*kind)));
    by_kind
}

fn note(view: &View, (identity, finding): &Noted) -> Note {
    let text = format!("{}: {}", name(finding.kind), finding.text);
    Note::new(weight(finding.kind), place(view, identity), text)
}

/// Returns the table of findings of one kind, of which a busy machine may have hundreds.
fn table(view: &View, kind: FindingKind, noted: &[Noted]) -> Table {
    let rows = noted.iter().map(|(identity, finding)| Row {
        label: view.label(identity),
        place: RunColumn::of(identity).name(),
        kind: RowKind::Measured,
        subject: view.colour(&identity.subject),
        cells: vec![Cell::text(finding.text.clone())],
    });
    Table {
        title: format!("{}: {}", name(kind), number::counted(noted.len(), "row")),
        corner: "Operation".into(),
        columns: vec![Column::titled("What was seen")],
        rows: rows.collect(),
        folded: true,
        ..Table::default()
    }
}

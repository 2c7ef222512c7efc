//! Variance between starts of the same process, and with it the agreement with another run like
//! this one.

use super::view::View;
use crate::document::{Block, Cell, Column, Note, Row, RowKind, Section, Table, Unit, Weight};
use crate::number;
use antiphon_lab::{Measured, StartsOf, WANTED, starts};

const PROSE: &str = "What a process is like is settled in part when it starts: where its memory lies, what its virtual machine compiled, when its collector comes. Each \
                     start counts once in a ratio of processor times, and its interval holds what they say. How far two runs of so many starts are from each other \
                     nine times in ten follows from how far these starts are.";

/// Returns the section; `None` if nothing was compared in turns.
pub fn section(view: &View) -> Option<Section> {
    let all = starts(view.run);
    let mut subjects: Vec<&str> = Vec::new();
    for of in &all {
        if !subjects.contains(&of.identity.subject.as_str()) {
            subjects.push(&of.identity.subject);
        }
    }
    if subjects.is_empty() {
        return None;
    }
    let titles = [
        "Ratios",
        "Starts, at least",
        "Starts differ, half of the ratios",
        "all of them",
        "Another run within 3 %",
    ];
    let table = Table {
        title: "How far starts differ".into(),
        caption: "Ratios of processor time to the first subject of the same test, or to the first variant where variants are compared. How starts differ is their standard deviation, as a part of the ratio; the last \
                  column counts ratios of which two runs like this one differ by no more than that nine times in ten."
            .into(),
        corner: "Subject".into(),
        columns: titles.map(Column::titled).into(),
        rows: subjects
            .iter()
            .map(|subject| row(view, subject, &all))
            .collect(),
        folded: false,
    };
    let blocks = vec![Block::Prose { text: PROSE.into() }, Block::Table(table)];
    Some(Section {
        id: "starts".into(),
        title: "Would another run say the same?".into(),
        blocks,
    })
}

fn row(view: &View, subject: &str, all: &[StartsOf]) -> Row {
    let own: Vec<&StartsOf> = all
        .iter()
        .filter(|of| of.identity.subject == subject)
        .collect();
    let mut deviations: Vec<f64> = own.iter().filter_map(|of| of.starts.deviation()).collect();
    deviations.sort_by(f64::total_cmp);
    let share = |at: Option<&f64>| match at {
        Some(value) => Cell::Number {
            value: *value,
            unit: Unit::Share,
        },
        None => Cell::text("not known"),
    };
    let least = own.iter().map(|of| of.starts.medians.len()).min();
    let agree = own
        .iter()
        .filter(|of| apart(of).is_some_and(|apart| apart <= WANTED));
    let agree = match deviations.is_empty() {
        true => Cell::text("not known"),
        false => Cell::count(agree.count() as f64),
    };
    Row {
        label: subject.to_owned(),
        place: String::new(),
        kind: RowKind::Measured,
        subject: view.colour(subject),
        cells: vec![
            Cell::count(own.len() as f64),
            Cell::count(least.unwrap_or_default() as f64),
            share(deviations.get(deviations.len().saturating_sub(1) / 2)),
            share(deviations.last()),
            agree,
        ],
    }
}

/// Returns the possible distance of another run, nine times in ten; `None` if one start does not
/// tell.
fn apart(of: &StartsOf) -> Option<f64> {
    Some(of.starts.apart(of.starts.deviation()?))
}

/// Returns a note on the starts; `None` if every start agrees well enough, or nothing was compared.
pub fn summary(view: &View) -> Option<Note> {
    reported(&starts(view.run)).map(|text| Note::new(Weight::Info, "Starts", text))
}

fn reported(all: &[StartsOf]) -> Option<String> {
    // A start does not settle operations that mostly wait, or that the system places.
    let by_start = |of: &&StartsOf| !matches!(of.by, Measured::Waiting | Measured::Unplaced);
    let all: Vec<&StartsOf> = all.iter().filter(by_start).collect();
    let alone = all.iter().filter(|of| of.starts.medians.len() < 2).count();
    let mut far: Vec<(f64, &StartsOf)> = all
        .iter()
        .filter_map(|of| Some((apart(of)?, *of)))
        .filter(|(apart, _)| *apart > WANTED)
        .collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts = Vec::new();
    if alone > 0 {
        parts.push(format!(
            "{} of {} of processor times rest on one start, which does not tell whether another run says the same",
            number::count(alone as u64),
            number::counted(all.len(), "ratio")
        ));
    }
    if let Some((apart, farthest)) = far.first() {
        parts.push(format!(
            "starts of the same process differ so much that of {} of {} another run may be farther off than 3 %: {} of {}, the farthest, by {}",
            number::count(far.len() as u64),
            number::counted(all.len(), "ratio"),
            farthest.identity.test,
            farthest.identity.subject,
            number::quantity(Unit::Share, *apart)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_lab::{Identity, Starts};

    fn starts_of(test: &str, by: Measured, medians: &[f64]) -> StartsOf {
        StartsOf {
            identity: Identity {
                test: test.into(),
                arg: None,
                subject: "s/v".into(),
                policy: "other".into(),
                placement: "same".into(),
            },
            by,
            starts: Starts {
                medians: medians.to_vec(),
            },
        }
    }

    #[test]
    fn starts_that_disagree_and_starts_that_are_alone_are_told() {
        let own = Measured::InProcess;
        assert_eq!(reported(&[]), None);
        assert_eq!(reported(&[starts_of("even", own, &[2.0, 2.0])]), None);
        let alone = reported(&[starts_of("one", own, &[2.0])]).unwrap();
        assert!(
            alone.contains("1 of 1 ratio of processor times rest on one start"),
            "{alone}"
        );
        let apart = [
            starts_of("even", own, &[2.0, 2.0]),
            starts_of("near", own, &[2.0, 2.1]),
            starts_of("far", own, &[2.0, 3.0]),
            starts_of("waits", Measured::Waiting, &[2.0, 9.0]),
        ];
        let apart = reported(&apart).unwrap();
        assert!(
            apart.contains("of 2 of 3 ratios") && apart.contains("far of s/v, the farthest, by"),
            "{apart}"
        );
    }
}

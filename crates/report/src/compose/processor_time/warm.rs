//! Warm-up of subjects that compile at run time, and those for which the rule did not hold.

use crate::compose::load::warm_plot;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Note, Section, Weight};
use crate::grouped::grouped;
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};

const RULE: &str = "Subjects whose language compiles while it runs do each test’s operations until it is warm, by the rule that servers are warmed by: \
                    in slices of processor time, until the median cost of the last third of them is at most 3 % below that of the third before. None of this time is in any \
                    figure. A process that is warm for one test is nearly so for the next that is like it.";

/// Returns the section; `None` if nothing was warmed.
pub(super) fn section(view: &View) -> Option<Section> {
    let warmed: Vec<&ResultRecord> = view
        .run
        .results
        .iter()
        .filter(|result| !result.warm_ups.is_empty() && matches!(result.outcome, Outcome::Frame(_)))
        .collect();
    // The first test of each process has the whole of the curve.
    let mut first: Vec<&ResultRecord> = Vec::new();
    for result in &warmed {
        let subject = &result.identity.subject;
        if first.iter().all(|known| known.identity.subject != *subject) {
            first.push(result);
        }
    }
    let curves: Vec<_> = first
        .iter()
        .map(|result| (*result, result.warm_ups.as_slice()))
        .collect();
    let plot = warm_plot(view, &curves, "operation", "subject")?;
    let notes = never_warm(view, &warmed);
    let mut blocks = vec![Block::Prose { text: RULE.into() }, Block::Plot(plot)];
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    Some(Section {
        id: "spent-warm-up".into(),
        title: "Warming up".into(),
        blocks,
    })
}

/// Notes each subject that was not always warm, with the tests concerned.
fn never_warm(view: &View, warmed: &[&ResultRecord]) -> Vec<Note> {
    let warmed = warmed.iter().copied();
    let subjects = grouped(warmed.map(|result| (result.identity.subject.as_str(), result)));
    let note = |(subject, of): &(&str, Vec<&ResultRecord>)| {
        Some(Note::new(Weight::Warning, *subject, reported(view, of)?))
    };
    subjects.iter().filter_map(note).collect()
}

/// Returns the remark on a subject's tests; nothing if it was warm in all of them.
fn reported(view: &View, warmed: &[&ResultRecord]) -> Option<String> {
    let labels = warmed.iter().filter_map(|result| {
        let place = RunColumn::of(&result.identity).conditions();
        Some((place, label(view, result)?))
    });
    let places = grouped(labels);
    let count: u64 = places.iter().map(|(_, labels)| labels.len() as u64).sum();
    let places = places.into_iter();
    let places: Vec<String> = places
        .map(|(place, of)| format!("{place}: {}", of.join(", ")))
        .collect();
    (count > 0).then(|| {
        format!(
            "the rule did not hold yet when the time for warming was over in {} of {}, whose figures may be too high, and are marked. {}",
            number::count(count),
            number::counted(warmed.len(), "test"),
            places.join("; ")
        )
    })
}

/// Returns the label of a test with a cold subject, and the number of such starts if there were
/// several.
fn label(view: &View, result: &ResultRecord) -> Option<String> {
    let (all, of) = (result.warm_ups.len(), result.warm_ups.iter());
    let label = view.label(&result.identity);
    match of.filter(|warm_up| !warm_up.is_warm).count() {
        0 => None,
        _ if all == 1 => Some(label),
        cold => Some(format!("{label} (after {cold} of {all} starts)")),
    }
}

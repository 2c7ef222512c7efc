//! How subjects whose language compiles while it runs became warm, and for which of them the rule did not hold.

use crate::compose::load::{never_warm, warm_plot};
use crate::compose::view::View;
use crate::document::{Block, Note, Section};
use antiphon_lab::{Outcome, ResultRecord};

const RULE: &str = "Subjects whose language compiles while it runs do each test’s operations until it is warm, by the rule that servers are warmed by: \
                    in slices of processor time, until the median cost of the last third of them is at most 3 % below that of the third before. None of this time is in any \
                    figure. A process that is warm for one test is nearly so for the next that is like it.";

/// The section; `None` where nothing was warmed.
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
    let notes: Vec<Note> = warmed
        .iter()
        .filter_map(|result| never_warm(result, &result.warm_ups))
        .collect();
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

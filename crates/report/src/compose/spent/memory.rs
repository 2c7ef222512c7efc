//! Memory of subjects and databases when their tests were over, as bars.

use super::leak;
use crate::compose::bars::MemoryBars;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Point, Section};
use antiphon_lab::{Held, HeldAfter};

/// The section; `None` where nothing was read.
pub(super) fn section(view: &View) -> Option<Section> {
    let bars = bars(view);
    let points = |of: fn(&Held) -> u64| {
        let rows = bars.iter().enumerate();
        rows.map(|(row, (_, held))| Point::at(of(held) as f64, row as f64))
            .collect()
    };
    let plot = MemoryBars {
        title: "Memory after the last test".into(),
        of: "process tree",
        more: " The tables of the groups hold the figures after each test.",
        names: bars.iter().map(|(name, _)| name.clone()).collect(),
        when: "after the last test",
        held: points(|held| held.pss_bytes),
        largest: points(|held| held.peak_bytes),
    }
    .plot()?;
    let mut blocks = vec![
            Block::Prose {
                text: "Proportional memory of each subject’s processes, and of each database server’s, when the last test was over, and their largest \
                       resident memory till then. A server serves all subjects of its kind at once."
                    .into(),
            },
            Block::Plot(plot),
        ];
    let notes = leak::notes(view);
    if !notes.is_empty() {
        blocks.push(Block::Notes { notes });
    }
    Some(Section {
        id: "spent-memory".into(),
        title: "Memory of subjects and databases".into(),
        blocks,
    })
}

/// Names with what was held last: subjects in the order of their appearance, then the servers.
fn bars(view: &View) -> Vec<(String, Held)> {
    let (mut subjects, mut servers): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for result in &view.run.results {
        let Some(after) = result.costs.iter().flat_map(|costs| &costs.held).last() else {
            continue;
        };
        let after: &HeldAfter = after;
        put(
            &mut subjects,
            RunColumn::of(&result.identity).name(),
            after.subject,
        );
        if let Some(server) = &after.server {
            put(
                &mut servers,
                format!("{} (server)", server.name),
                server.held,
            );
        }
    }
    subjects.append(&mut servers);
    subjects
}

/// A later reading takes the place of an earlier one.
fn put(bars: &mut Vec<(String, Held)>, name: String, held: Held) {
    match bars.iter_mut().find(|(known, _)| *known == name) {
        Some(bar) => bar.1 = held,
        None => bars.push((name, held)),
    }
}

//! Memory of subjects and databases when their tests were over, as bars.

use super::leak;
use crate::compose::bars::MemoryBars;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Point, Section};

/// Returns the section; `None` without readings.
pub(super) fn section(view: &View) -> Option<Section> {
    let bars = bars(view);
    let points = |of: fn(&Bar) -> Option<u64>| {
        let rows = bars.iter().enumerate();
        rows.filter_map(|(row, bar)| Some(Point::at(of(bar)? as f64, row as f64)))
            .collect()
    };
    let plot = MemoryBars {
        title: "Memory after the last test".into(),
        of: "process tree",
        more: " The tables of the groups hold the figures after each test.",
        names: bars.iter().map(|bar| bar.name.clone()).collect(),
        when: "after the last test",
        held: points(|bar| Some(bar.held_bytes)),
        largest: points(|bar| bar.peak_bytes),
    }
    .plot()?;
    let mut blocks = vec![
            Block::Prose {
                text: "Proportional memory of each subject’s processes, and of each database server’s, when the last test was over, and their largest \
                       resident memory till then. A server serves all subjects of its kind at once; one of several processes, which share memory, has no \
                       largest resident figure, as a sum would count what they share once for each."
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

/// Last memory of one of them.
struct Bar {
    name: String,
    held_bytes: u64,
    peak_bytes: Option<u64>,
}

/// Subjects in the order of their appearance, then the servers.
fn bars(view: &View) -> Vec<Bar> {
    let (mut subjects, mut servers): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for result in &view.run.results {
        let Some(after) = result.costs.iter().flat_map(|costs| &costs.held).last() else {
            continue;
        };
        let subject = Bar {
            name: RunColumn::of(&result.identity).name(),
            held_bytes: after.subject.pss_bytes,
            peak_bytes: Some(after.subject.peak_bytes),
        };
        put(&mut subjects, subject);
        if let Some(server) = &after.server {
            let server = Bar {
                name: format!("{} (server)", server.name),
                held_bytes: server.held.pss_bytes,
                peak_bytes: server.peak_bytes(),
            };
            put(&mut servers, server);
        }
    }
    subjects.append(&mut servers);
    subjects
}

/// Adds a bar. A later reading replaces an earlier one.
fn put(bars: &mut Vec<Bar>, bar: Bar) {
    match bars.iter_mut().find(|known| known.name == bar.name) {
        Some(known) => *known = bar,
        None => bars.push(bar),
    }
}

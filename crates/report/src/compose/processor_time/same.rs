//! Subjects that were measured twice, as two: how far the same thing differs from itself.

use super::of_both;
use crate::compose::cold;
use crate::compose::figure::cell_without_ratio;
use crate::compose::view::{RunColumn, View};
use crate::document::{Block, Cell, Column, Figure, Row, RowKind, Section, Table, Unit};
use antiphon_lab::{Outcome, ResultRecord, original_of};
use antiphon_measure::{Interval, RunFigure, median_interval, run_ratio};

const PROSE: &str = "Some subjects are measured twice, by processes of their own, as if they were two. A true ratio is 1: what is off here is an error of \
                     measuring these, which ratios of others have, too. It says nothing of what others differ by from start to start, as virtual machines do: \
                     ratios with them may be off by more.";

/// Returns the section; `None` if nothing was measured twice.
pub(super) fn section(view: &View) -> Option<Section> {
    let pairs: Vec<(&ResultRecord, &ResultRecord)> = view
        .run
        .results
        .iter()
        .filter_map(|twin| Some((original(view, twin)?, twin)))
        .collect();
    let rows: Vec<Row> = pairs
        .iter()
        .filter_map(|(original, twin)| row(view, original, twin))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let table = Table {
        title: "The same against itself".into(),
        caption: "The second measurement as a ratio to the first. Processor time is that of the subject and its database an operation, and, like times of \
                  programs, paired within rounds; costs are medians of each process."
            .into(),
        corner: "Operation".into(),
        columns: vec![Column::titled("Time"), Column::titled("Processor time")],
        rows,
        folded: false,
    };
    Some(Section {
        id: "spent-same".into(),
        title: "A/A: what is equal, measured twice".into(),
        blocks: vec![
            Block::Prose {
                text: PROSE.to_owned(),
            },
            Block::Prose {
                text: farthest(&pairs),
            },
            Block::Table(table),
        ],
    })
}

fn original<'a>(view: &View<'a>, twin: &ResultRecord) -> Option<&'a ResultRecord> {
    let column = RunColumn {
        subject: original_of(&twin.identity.subject)?.to_owned(),
        ..RunColumn::of(&twin.identity)
    };
    let fits = |result: &&ResultRecord| {
        result.identity.arg == twin.identity.arg && column.is_of(&result.identity)
    };
    view.of_test(&twin.identity.test).find(fits)
}

fn row(view: &View, original: &ResultRecord, twin: &ResultRecord) -> Option<Row> {
    let (time, cpu) = (time(original, twin), cpu(original, twin));
    if time.is_none() && cpu.is_none() && no_ratio(original, twin) == Cell::Empty {
        return None;
    }
    let is_cold = [original, twin].iter().any(|of| cold::is_subject_cold(of));
    let cell = |ratio: Interval| {
        let mut figure = Figure::resolved(ratio, Unit::Ratio);
        figure.marks.extend(cold::mark(is_cold));
        Cell::Figure(Box::new(figure))
    };
    let time = time.map_or_else(|| no_ratio(original, twin), cell);
    let cpu = cpu.map_or(Cell::Empty, cell);
    Some(Row {
        label: view.label(&original.identity),
        place: RunColumn::of(&original.identity).name(),
        kind: RowKind::Measured,
        subject: view.colour(&original.identity.subject),
        cells: vec![time, cpu],
    })
}

/// Returns the cell of two times without a ratio: a remark for costs, empty otherwise.
fn no_ratio(original: &ResultRecord, twin: &ResultRecord) -> Cell {
    match (&original.outcome, &twin.outcome) {
        (Outcome::Frame(_), Outcome::Frame(_)) => cell_without_ratio(),
        _ => Cell::Empty,
    }
}

fn time(original: &ResultRecord, twin: &ResultRecord) -> Option<Interval> {
    match (&original.outcome, &twin.outcome) {
        (Outcome::Frame(_), Outcome::Frame(_)) => twin.time()?.over(&original.time()?),
        (Outcome::Program { runs: a, .. }, Outcome::Program { runs: b, .. }) => {
            run_ratio(b, a, &RunFigure::TimePerOperation)
        }
        _ => None,
    }
}

fn cpu(original: &ResultRecord, twin: &ResultRecord) -> Option<Interval> {
    if let (Outcome::Program { runs: a, .. }, Outcome::Program { runs: b, .. }) =
        (&original.outcome, &twin.outcome)
    {
        return run_ratio(b, a, &RunFigure::CpuPerOperation);
    }
    let costs = (twin.costs.as_ref()?, original.costs.as_ref()?);
    costs.0.ratio(costs.1, of_both)
}

/// Returns the deviation of the processor times, in a sentence.
fn farthest(pairs: &[(&ResultRecord, &ResultRecord)]) -> String {
    let off: Vec<f64> = pairs
        .iter()
        .filter_map(|(original, twin)| Some((cpu(original, twin)?.value - 1.0).abs()))
        .collect();
    let percent = |share| crate::number::quantity(Unit::Share, share);
    match (median_interval(&off), off.iter().copied().reduce(f64::max)) {
        (Some(typical), Some(farthest)) => format!(
            "In processor time an operation, half of {} are off by at most {}, and the farthest by {}.",
            crate::number::counted(off.len(), "ratio"),
            percent(typical.value),
            percent(farthest)
        ),
        _ => "No processor time was measured.".to_owned(),
    }
}

//! The operating system's interference: a table of periodic functions and a timeline of gaps.

use super::view::{RunColumn, View};
use super::{Kind, of_kind};
use crate::document::{
    Axis, AxisUnit, Block, Cell, Column, Drawn, Plot, Point, Row, RowKind, Series, Table, Unit,
};
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{Interference, InterferenceCase};

const COLUMNS: [&str; 7] = [
    "Share lost β",
    "By schedstat",
    "Observed",
    "Gaps kept",
    "Longest gap",
    "Periodic functions (Tos every Tp)",
    "Case",
];

/// Returns table and timeline; nothing without an estimate of interference.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Interference);
    if results.is_empty() {
        return Vec::new();
    }
    let table = Table {
        title: "The operating system's interference".into(),
        caption: "β is the share of the time in which the processor did something else (equations 13–21). It corrects the paper's \
                  long-loop mean, never a paired median."
            .into(),
        corner: "Subject".into(),
        columns: COLUMNS.map(Column::titled).to_vec(),
        rows: results.iter().filter_map(|result| row(view, result)).collect(),
        folded: false,
    };
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(timeline(view, &results).map(Block::Plot));
    blocks
}

fn row(view: &View, result: &ResultRecord) -> Option<Row> {
    let cells = match &result.outcome {
        Outcome::Interference(found) => cells(found),
        Outcome::Absent { reason, listed, .. } => {
            let mut cells = vec![Cell::absent(reason, *listed)];
            cells.resize(COLUMNS.len(), Cell::Empty);
            cells
        }
        _ => return None,
    };
    Some(Row {
        label: RunColumn::of(&result.identity).name(),
        place: String::new(),
        kind: RowKind::Measured,
        subject: view.colour(&result.identity.subject),
        cells,
    })
}

fn cells(found: &Interference) -> Vec<Cell> {
    let share = |value| Cell::Number {
        value,
        unit: Unit::Share,
    };
    let longest = found.gaps.iter().map(|gap| gap.1).fold(0.0, f64::max);
    let case = match found.case {
        InterferenceCase::Gaps => "gaps (Tos ≫ τ)",
        InterferenceCase::ShortenedZeroStrings => "shortened zero strings (Tos < τ)",
    };
    vec![
        share(found.beta),
        found.schedstat_beta.map_or(Cell::text("not told"), share),
        Cell::ns(found.observed_ns),
        Cell::count(found.gaps.len() as f64),
        if longest > 0.0 {
            Cell::ns(longest)
        } else {
            Cell::Empty
        },
        Cell::text(periodic(found)),
        Cell::text(case),
    ]
}

fn periodic(found: &Interference) -> String {
    let ns = |v| number::quantity(Unit::Nanoseconds, v);
    let functions: Vec<String> = found
        .periodic
        .iter()
        .map(|f| {
            format!(
                "{} every {} ({} times)",
                ns(f.duration_ns),
                ns(f.period_ns),
                f.occurrences
            )
        })
        .collect();
    if functions.is_empty() {
        "none found".into()
    } else {
        functions.join("; ")
    }
}

fn timeline(view: &View, results: &[&ResultRecord]) -> Option<Plot> {
    let columns = view.columns(results.iter().copied());
    let series: Vec<Series> = results
        .iter()
        .filter_map(|result| match &result.outcome {
            Outcome::Interference(found) if !found.gaps.is_empty() => Some((result, found)),
            _ => None,
        })
        .map(|(result, found)| {
            let column = RunColumn::of(&result.identity);
            let index = columns.iter().position(|c| *c == column).unwrap_or(0);
            Series {
                name: column.name(),
                subject: view.colour(&column.subject),
                shape: view.shape(&columns, index),
                drawn: Drawn::Sticks,
                points: found
                    .gaps
                    .iter()
                    .map(|&(start, length)| Point::at(start, length))
                    .collect(),
            }
        })
        .collect();
    let gaps: usize = series.iter().map(|s| s.points.len()).sum();
    (gaps > 0).then(|| Plot {
        title: "When the processor was taken away".into(),
        description: format!(
            "{} in {} series of clock readings; the table above gives their share, longest and periods.",
            number::counted(gaps, "gap"),
            series.len()
        ),
        caption: "Each stick is a gap between two readings that the clock's own cost does not explain.".into(),
        categories: Vec::new(),
        x: Axis { title: "Time since the series began".into(), unit: AxisUnit::Nanoseconds, log: false },
        y: Axis { title: "Gap".into(), unit: AxisUnit::Nanoseconds, log: true },
        series,
        guides: Vec::new(),
    })
}

//! The table of clocks.

use super::view::View;
use super::{Kind, of_kind};
use crate::document::{Block, Cell, Column, Row, RowKind, Table, Unit};
use crate::number;
use antiphon_lab::{Outcome, ResultRecord};
use antiphon_measure::{ClockEstimate, ResolutionBy};

const COLUMNS: [&str; 7] = [
    "Resolution τ",
    "Found by",
    "Cost of a reading",
    "Zero strings (eq. 12)",
    "Readings",
    "Steps back",
    "Gaps",
];

/// Returns the clocks of a group; nothing without any.
pub fn blocks(view: &View, results: &[&ResultRecord]) -> Vec<Block> {
    let results = of_kind(results, Kind::Clock);
    if results.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Row> = results
        .iter()
        .filter_map(|result| row(view, result))
        .collect();
    rows.sort_by_key(|row| row.subject);
    vec![Block::Table(Table {
        title: "Clocks".into(),
        caption: "Resolution by first or second differences of a series of readings (equations 5–12). A step back is a reading lower \
                  than the one before; a gap is interference, not the clock's doing. The strings of zeros in the second differences of a regular \
                  series are as long as equation 12 says where resolution and cost are right."
            .into(),
        corner: "Clock".into(),
        columns: COLUMNS.map(Column::titled).to_vec(),
        rows,
        folded: false,
    })]
}

fn row(view: &View, result: &ResultRecord) -> Option<Row> {
    let cells = match &result.outcome {
        Outcome::Clock { unit, estimate } => cells(unit, estimate),
        Outcome::Absent { reason, listed, .. } => {
            let mut cells = vec![Cell::absent(reason, *listed)];
            cells.resize(COLUMNS.len(), Cell::Empty);
            cells
        }
        _ => return None,
    };
    Some(Row {
        label: format!("{} ({})", result.identity.test, result.identity.subject),
        place: String::new(),
        kind: RowKind::Measured,
        subject: view.colour(&result.identity.subject),
        cells,
    })
}

fn cells(unit: &str, estimate: &ClockEstimate) -> Vec<Cell> {
    let unit = if unit == "ticks" {
        Unit::Ticks
    } else {
        Unit::Nanoseconds
    };
    let by = match estimate.by {
        ResolutionBy::FirstDifferences => "first differences",
        ResolutionBy::SecondDifferences => "second differences",
    };
    vec![
        Cell::Number {
            value: estimate.resolution,
            unit,
        },
        Cell::text(by),
        Cell::Number {
            value: estimate.cost,
            unit,
        },
        Cell::text(zero_strings(estimate)),
        Cell::count(estimate.readings as f64),
        Cell::count(estimate.steps_back as f64),
        Cell::count(estimate.gaps as f64),
    ]
}

/// Returns the cross-check of equation 12 in words.
fn zero_strings(estimate: &ClockEstimate) -> String {
    let Some(strings) = &estimate.zero_strings else {
        return "not applicable".into();
    };
    let agree = if strings.agree() { "agree" } else { "disagree" };
    format!(
        "{agree}: {} seen, {} due",
        number::significant(strings.observed, 3),
        number::significant(strings.predicted, 3)
    )
}

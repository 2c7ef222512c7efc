//! What changed between two sides, in sentences that stand before the tables.

use super::{change, factor, group_id};
use crate::comparison::{Comparison, ComparisonRow, Verdict};
use crate::document::{Bar, Headline, Headlines, Measured, Picture, Place, Told, Unit};
use crate::number;
use antiphon_measure::Interval;

/// Most sentences about single rows.
const MOST: usize = 4;

/// Returns the largest changes, the largest first, and one sentence about all other rows.
pub fn headlines(comparison: &Comparison) -> Headlines {
    let rows = comparison.rows.iter();
    let mut changed: Vec<(f64, &ComparisonRow)> = rows
        .filter(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster))
        .filter_map(|row| Some((row.log_ratio?.value.abs(), row)))
        .collect();
    changed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let shown = changed.iter().take(MOST);
    let mut sentences: Vec<Headline> = shown
        .filter_map(|(_, row)| sentence(comparison, row))
        .collect();
    sentences.extend(rest(comparison, sentences.len()));
    Headlines {
        title: "What changed".into(),
        section: String::new(),
        sentences,
    }
}

fn sentence(comparison: &Comparison, row: &ComparisonRow) -> Option<Headline> {
    let (before, after, log) = (row.before_ns?, row.after_ns?, row.log_ratio?);
    let shown = |cost: Interval| number::quantity(Unit::Nanoseconds, cost.value);
    let bar = |side: usize, cost: Interval| Bar {
        label: [&comparison.before, &comparison.after][side].name.clone(),
        figure: Measured::of(cost, Unit::Nanoseconds),
        subject: Some(side),
    };
    Some(Headline {
        text: format!(
            "{} is {}: {} ({} before, {} after).",
            row.label,
            row.verdict.word(),
            change(log.value),
            shown(before),
            shown(after)
        ),
        about: row.label.clone(),
        told: Told::Found,
        number: Some(Measured::of(factor(log), Unit::Ratio)),
        marks: Vec::new(),
        picture: Some(Picture::Bars {
            bars: vec![bar(0, before), bar(1, after)],
        }),
        stands_on: Some(Place {
            section: group_id(comparison, &row.group),
            row: row.label.clone(),
        }),
    })
}

/// Returns the sentence about the rows that have none; `None` without such rows.
fn rest(comparison: &Comparison, told: usize) -> Option<Headline> {
    let count = |verdict| comparison.count(verdict);
    let changed = count(Verdict::Slower) + count(Verdict::Faster);
    let parts = [
        (changed - told, "also changed"),
        (count(Verdict::Same), "did not change"),
        (count(Verdict::CannotTell), "cannot be told"),
        (count(Verdict::Incomparable), "cannot be compared"),
        (count(Verdict::Missing), "without a figure on one side"),
    ];
    let parts = parts.iter().filter(|(rows, _)| *rows > 0);
    let parts: Vec<String> = parts
        .map(|(rows, what)| format!("{} {what}", number::counted(*rows, "row")))
        .collect();
    (!parts.is_empty()).then(|| Headline {
        text: format!("{}.", parts.join(", ")),
        about: "The other rows".into(),
        told: Told::Nothing,
        number: None,
        marks: Vec::new(),
        picture: None,
        stands_on: None,
    })
}

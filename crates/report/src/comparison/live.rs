//! From two builds interleaved in one run.

use super::{Comparison, ComparisonRow, Side, Verdict};
use antiphon_lab::LiveRow;
use antiphon_measure::{Interval, PairEstimate};

impl Comparison {
    /// The comparison of two sides whose slices alternated; each row is judged by its own interval.
    pub fn of_live(
        before: Side,
        after: Side,
        rows: &[LiveRow],
        threshold: f64,
        confidence: f64,
    ) -> Self {
        Comparison {
            before,
            after,
            basis: "Slices of both sides alternated in one run; ratios are those of the whole test frames.".into(),
            threshold,
            confidence,
            suite_fault: None,
            rows: rows.iter().map(|found| row(found, threshold)).collect(),
        }
    }
}

fn row(found: &LiveRow, threshold: f64) -> ComparisonRow {
    let label = match found.arg {
        Some(arg) => format!("{} ({})", found.test, crate::number::count(arg)),
        None => found.test.clone(),
    };
    let empty = ComparisonRow {
        group: "Interleaved".into(),
        label,
        before_ns: None,
        after_ns: None,
        log_ratio: None,
        verdict: Verdict::Missing,
        note: String::new(),
    };
    match &found.outcome {
        Ok(pair) => measured(empty, pair, threshold),
        Err(absence) => {
            let words = [&absence.reason, &absence.mend];
            let words = words.into_iter().filter(|word| !word.is_empty());
            ComparisonRow {
                note: words.map(String::as_str).collect::<Vec<_>>().join("; "),
                ..empty
            }
        }
    }
}

fn measured(empty: ComparisonRow, pair: &PairEstimate, threshold: f64) -> ComparisonRow {
    let bare = |value: f64| Interval {
        value,
        low: value,
        high: value,
    };
    let findings: Vec<&str> = pair
        .findings
        .iter()
        .map(|finding| finding.text.as_str())
        .collect();
    ComparisonRow {
        before_ns: Some(bare(pair.test_ns.0)),
        after_ns: Some(bare(pair.test_ns.1)),
        log_ratio: Some(pair.log_ratio),
        verdict: Verdict::of_interval(&pair.log_ratio, threshold),
        note: findings.join("; "),
        ..empty
    }
}

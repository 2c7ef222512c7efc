//! Comparison of two builds interleaved in one run.

use super::{Comparison, ComparisonRow, Side};
use antiphon_lab::{LiveOptions, LiveRow};
use antiphon_measure::{Comparison as Compared, Interval};

impl Comparison {
    /// Creates the comparison of two sides from the laboratory's judged rows. The sides were
    /// started several times, and their slices alternated in each start.
    pub fn of_live(before: Side, after: Side, rows: &[LiveRow], options: &LiveOptions) -> Self {
        let starts = rows.iter().filter_map(|row| row.outcome.as_ref().ok());
        let starts = starts.map(|compared| compared.starts.0).max();
        let starts = crate::number::counted(starts.unwrap_or(0), "start");
        Comparison {
            before,
            after,
            basis: format!(
                "{starts} of each side, with other addresses each time; in each start the slices of both took turns. \
                 Ratios are those of the whole test frames, and intervals hold what starts differ by."
            ),
            threshold: options.judging.threshold,
            confidence: options.judging.confidence,
            suite_fault: None,
            rows: rows.iter().map(|found| row(found, options)).collect(),
        }
    }
}

fn row(found: &LiveRow, options: &LiveOptions) -> ComparisonRow {
    let label = match found.arg {
        Some(arg) => format!("{} ({})", found.test, crate::number::count(arg)),
        None => found.test.clone(),
    };
    let without = |note| ComparisonRow::without("Interleaved".into(), label, note);
    match &found.outcome {
        Ok(compared) => measured(without(String::new()), compared, options),
        Err(absence) => {
            let words = [absence.reason.as_str(), absence.help.as_str()];
            let words = words.into_iter().filter(|word| !word.is_empty());
            without(words.collect::<Vec<_>>().join("; "))
        }
    }
}

fn measured(empty: ComparisonRow, compared: &Compared, options: &LiveOptions) -> ComparisonRow {
    let more = |starts: usize| {
        let seconds = options.seconds * starts as f64 / f64::from(options.starts);
        format!(
            "--starts {starts} --seconds {}",
            (10.0 * seconds).ceil() / 10.0
        )
    };
    let bare = |value: f64| Interval {
        value,
        low: value,
        high: value,
    };
    ComparisonRow {
        before_ns: Some(bare(compared.each_ns.0)),
        after_ns: Some(bare(compared.each_ns.1)),
        ..empty
    }
    .judged(compared, more)
}

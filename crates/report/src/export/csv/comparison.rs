//! Two sides compared, one line a row.

use super::record::harmless;
use super::{CsvError, finish, word};
use crate::comparison::Comparison;

/// The columns of a comparison.
const COMPARED: [&str; 17] = [
    "group",
    "label",
    "before_ns",
    "before_low",
    "before_high",
    "after_ns",
    "after_low",
    "after_high",
    "log_ratio",
    "log_ratio_low",
    "log_ratio_high",
    "starts_before",
    "starts_after",
    "limit",
    "verdict",
    "same_within",
    "note",
];

/// Writes the rows of a comparison. A row with only a note precedes them if the suite with groups
/// and labels cannot be read.
///
/// # Errors
/// Writing into memory failed.
pub fn comparison(comparison: &Comparison) -> Result<String, CsvError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COMPARED)?;
    if let Some(why) = &comparison.suite_fault {
        let mut fields = COMPARED.map(|_| String::new());
        fields[COMPARED.len() - 1] = harmless(why);
        writer.write_record(&fields)?;
    }
    for row in &comparison.rows {
        let mut fields = vec![harmless(&row.group), harmless(&row.label)];
        for interval in [row.before_ns, row.after_ns, row.log_ratio] {
            let value = interval.map(|i| i.value.to_string());
            let limits = interval.and_then(|i| i.limits());
            let limits = limits.map(|(low, high)| [low, high].map(|v| v.to_string()));
            fields.push(value.unwrap_or_default());
            fields.extend(limits.unwrap_or_default());
        }
        let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        let starts = |of: fn((usize, usize)) -> usize| row.starts.map(|s| of(s) as f64);
        fields.extend([number(starts(|s| s.0)), number(starts(|s| s.1))]);
        fields.extend([number(row.limit), word(&row.verdict)]);
        fields.extend([number(row.same_within), harmless(&row.note)]);
        writer.write_record(&fields)?;
    }
    finish(writer)
}

//! One line of a run's CSV, column by column.

use antiphon_measure::Interval;

/// The columns.
pub(super) const HEADINGS: [&str; 36] = [
    "group",
    "label",
    "test",
    "arg",
    "subject",
    "policy",
    "placement",
    "figure",
    "unit",
    "value",
    "low",
    "high",
    "standing",
    "sign_low",
    "sign_high",
    "ratio_to_control",
    "ratio_to_reference",
    "minima_difference",
    "mean_raw",
    "mean_corrected",
    "clock_accuracy",
    "voluntary",
    "involuntary",
    "minor_faults",
    "major_faults",
    "instructions",
    "iterations",
    "blocks",
    "total_iterations",
    "stopped",
    "findings",
    "reason",
    "mend",
    "suite",
    "run",
    "histogram",
];

/// One record by column name; columns that it does not name are empty.
#[derive(Default)]
pub(super) struct Record(Vec<(&'static str, String)>);

impl Record {
    pub(super) fn with(mut self, column: &'static str, value: impl ToString) -> Self {
        self.0.push((column, value.to_string()));
        self
    }

    pub(super) fn with_text(self, column: &'static str, text: &str) -> Self {
        self.with(column, harmless(text))
    }

    pub(super) fn with_interval(self, interval: &Interval) -> Self {
        self.with("value", interval.value)
            .with_limits("low", "high", interval)
    }

    /// Adds the limits; both fields are empty if they are not known.
    pub(super) fn with_limits(
        self,
        low: &'static str,
        high: &'static str,
        interval: &Interval,
    ) -> Self {
        match interval.limits() {
            Some((lower, upper)) => self.with(low, lower).with(high, upper),
            None => self,
        }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        HEADINGS.iter().map(|heading| {
            let found = self.0.iter().find(|(column, _)| column == heading);
            found.map_or("", |(_, value)| value.as_str())
        })
    }
}

/// Keeps the last value of a column that was given more than once.
pub(super) fn keep_last(record: &mut Record, column: &str) {
    let last = record.0.iter().rposition(|(name, _)| *name == column);
    let mut index = 0;
    record.0.retain(|(name, _)| {
        index += 1;
        *name != column || Some(index - 1) == last
    });
}

/// Removes terminal controls from a text, and puts an apostrophe before a possible formula.
pub(super) fn harmless(text: &str) -> String {
    let text = antiphon_outside::text(text);
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text.to_string(),
    }
}

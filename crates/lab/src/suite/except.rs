//! Exceptions of a row: some subjects, for some values of its placeholders.

use super::{Instance, Matrix, Row};
use crate::patterns::Patterns;

/// Subjects without a figure for some of a row's tests. This is known beforehand and no failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Patterns of subjects as `name/variant`; empty: all.
    pub subjects: Vec<String>,
    /// Excepted values; placeholders without an entry are excepted with all of theirs.
    pub each: Matrix,
    /// Reason, for the reader of the report.
    pub because: String,
}

impl Exception {
    fn holds(&self, subject: &str, instance: &Instance) -> bool {
        let has = |(name, values): &(String, Vec<String>)| {
            let value = instance.value(name);
            value.is_some_and(|value| values.iter().any(|excepted| excepted == value))
        };
        // The patterns were read when the suite was.
        Patterns::new(&self.subjects).is_ok_and(|patterns| patterns.fit(subject))
            && self.each.0.iter().all(has)
    }
}

impl Row {
    /// Returns the reason why a test of the row is not intended for a subject, if there is one.
    pub fn excepts(&self, subject: &str, instance: &Instance) -> Option<&str> {
        let mut all = self.except.iter();
        let found = all.find(|exception| exception.holds(subject, instance));
        found.map(|exception| exception.because.as_str())
    }
}

//! What a row is not meant for: some subjects, for some values of its placeholders.

use super::{Instance, Matrix, Row};
use crate::patterns::Patterns;

/// Subjects that cannot have a figure for some of a row's tests, which is known beforehand and no failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Patterns of subjects as `name/variant`; empty: all.
    pub subjects: Vec<String>,
    /// The values that are excepted; placeholders that are not named here are excepted with all of theirs.
    pub each: Matrix,
    /// Why, for the reader of the report.
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
    /// Why a test of the row is not meant for a subject, if it is not.
    pub fn excepts(&self, subject: &str, instance: &Instance) -> Option<&str> {
        let mut all = self.except.iter();
        let found = all.find(|exception| exception.holds(subject, instance));
        found.map(|exception| exception.because.as_str())
    }
}

//! Figures of whole programs in the suite's tables. Programs run until these are narrow; the time
//! of fixed-time work always is.

use crate::record::{Identity, original_of};
use crate::suite::Suite;
use antiphon_measure::RunFigure;
use std::collections::HashMap;

/// The figures of programs, by subject and test.
pub(super) struct Shown(HashMap<(String, String), Vec<RunFigure>>);

impl Shown {
    pub(super) fn of(suite: &Suite) -> Shown {
        let mut shown: HashMap<_, Vec<RunFigure>> = HashMap::new();
        for models in &suite.models {
            for row in &models.rows {
                for column in &models.columns {
                    let place = (column.subject.clone(), column.test(row));
                    shown.entry(place).or_default().push(models.figure(row));
                }
            }
        }
        Shown(shown)
    }

    /// Returns the shown figures of a program; its time if it is in no table. A twin goes on for as
    /// long as its original.
    pub(super) fn figures(&self, identity: &Identity) -> &[RunFigure] {
        let subject = original_of(&identity.subject).unwrap_or(&identity.subject);
        let place = (subject.to_owned(), identity.test.clone());
        self.0.get(&place).map_or(&[RunFigure::Time], Vec::as_slice)
    }
}

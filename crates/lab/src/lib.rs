//! What is measured and where results are kept: suites, subjects, plans, runs, the store.

mod record;

pub use record::{Identity, Machine, Outcome, ResultRecord, RunRecord, SubjectRecord};

//! What is measured and where results are kept: suites, subjects, plans, runs, the store.

mod document;
mod record;
pub mod store;
pub mod subject;
pub mod suite;

pub use document::{Fault, Faults};
pub use record::{Identity, Machine, Outcome, ResultRecord, RunRecord, SubjectRecord};

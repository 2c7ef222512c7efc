//! What is measured and where results are kept: suites, subjects, plans, runs, the store.

pub mod build;
pub mod conformance;
mod document;
pub mod instructions;
pub mod machine;
pub mod protocol;
mod record;
mod session;
pub mod store;
pub mod subject;
pub mod suite;

pub use document::{Fault, Faults};
pub use record::{Identity, Machine, Outcome, ResultRecord, RunRecord, SubjectRecord};
pub use session::{
    ANSWER_LIMIT, Answer, Conversation, Launch, Listing, RawLine, SeriesAnswer, Session,
    SessionError,
};

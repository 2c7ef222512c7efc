//! Measurements and their storage: suites, subjects, plans, runs, the store.

mod agreement;
pub mod build;
mod compare;
pub mod conformance;
mod document;
mod environment;
pub mod instructions;
mod live;
pub mod machine;
mod orphan_cleanup;
mod patterns;
pub mod profile;
pub mod protocol;
mod record;
pub mod run;
mod services;
mod session;
mod side_by_side;
pub mod store;
pub mod subject;
pub mod suite;

pub use agreement::{
    Agreed, Agreement, Bases, Compared, Measured, SlicesDiffer, StartsOf, WANTED, WaitsDiffer,
    agreements, compared, starts,
};
pub use compare::{ComparisonRow, compare_runs};
pub use document::{Fault, Faults};
pub use live::{Contender, Live, LiveError, LiveOptions, LiveRow};
pub use orphan_cleanup::clear_leftovers;
pub use patterns::{PatternError, Patterns};
pub use record::{
    Absence, Apart, ClosedLoop, ContextSwitches, CoreToCore, CostRound, Costs, Foreign, Freeze,
    Generator, Held, HeldAfter, Identity, Latencies, LoadOutcome, LoadRound, LoadTask, Machine,
    Outcome, ResultRecord, RunRecord, ServerHeld, Starts, SubjectRecord, WarmSlice, WarmUp,
    mostly_disturbed, original_of, twin_of, typical,
};
pub use services::Services;
pub use session::{
    ANSWER_LIMIT, Answer, Conversation, Launch, Listing, RawLine, Reported, SeriesAnswer, Session,
    SessionError,
};

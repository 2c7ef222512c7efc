//! Plans: the next step of a measurement, from the answers so far.
//!
//! A plan does no I/O and has no clock of its own. Given the same answers again it makes the same
//! requests again, which resumes an interrupted run.

mod calibration;
mod error;
mod frame;
mod growth;
mod looks;
mod pair;
mod request;
mod settings;

pub use error::FrameError;
pub use frame::FramePlan;
pub use pair::{PairEstimate, PairPlan, PairStep, Side};
pub use request::{BatchRequest, Purpose, Step};
pub use settings::{ClockFacts, FrameSettings};

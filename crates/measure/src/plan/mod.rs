//! Plans: what to run next, from what has come back so far. A plan does no I/O and has no clock of its own; fed the same
//! answers again it asks the same questions again, which is how an interrupted run is resumed.

mod calibration;
mod error;
mod frame;
mod growth;
mod looks;
mod pair;
mod pair_estimate;
mod request;
mod settings;

pub use error::FrameError;
pub use frame::FramePlan;
pub use pair::{PairPlan, PairSettings, PairStep, Side};
pub use pair_estimate::PairEstimate;
pub use request::{BatchRequest, Purpose, Step};
pub use settings::{ClockFacts, FrameSettings};

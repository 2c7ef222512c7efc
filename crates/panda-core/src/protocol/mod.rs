//! The protocols: state machines without I/O, clocks or threads, driven alike by the simulator and
//! by the real platforms.
//!
//! Input is the time and events; output are [`Action`]s. [`Stack`] holds all protocols of one
//! process.

use std::time::Duration;

pub mod clock;
pub mod collective;
pub mod failure_detector;
pub mod fault;
pub mod group;
pub mod link;
mod presence;
pub mod requests;
mod stack;
pub mod termination;
pub mod wire;

pub use presence::{PeerEvent, PeerNews};
pub use stack::{Action, Answer, Delivery, GroupId, Stack};
pub use stack::{Content, Envelope, Incoming};

/// A time since some moment before the session began.
pub type Time = Duration;

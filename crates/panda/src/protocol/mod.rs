//! The protocols: state machines without I/O, clocks or threads, driven alike by the simulator and by the real platforms.

use std::time::Duration;

pub mod group;
pub mod link;
pub mod wire;

/// A time, from some moment before the session began.
pub type Time = Duration;

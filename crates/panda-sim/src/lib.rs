//! A simulated network in virtual time: every run follows from its seed.
//!
//! The protocols run as they do on real platforms; the network loses, doubles, delays and reorders frames, splits, and processes crash and start again.
//! [`Simulation`] runs whole programs so, each as a process of a session. Of the protocols alone [`Scenario`] draws a whole history from a seed, [`check`](check::check) says what is wrong with it.

pub mod check;
mod communicator;
mod events;
mod history;
mod medium;
#[cfg(test)]
mod mutants;
mod network;
mod programs;
pub mod scale;
mod scenario;
mod world;

pub use antiphon_panda_core::Chance;
pub use communicator::{Calls, Communicator, Done, Task, Turn};
pub use history::{Call, History, Life, Membership, Place, Posted, Taken};
pub use network::{Kind, Network};
pub use programs::{Clock, End, Failure, Fault, Halt, Outcome as Run, Programs, Simulation, seeds};
pub use scenario::{Outcome, Scenario, run};
pub use world::{GROUP, World};

/// The programs in the documentation compile, and those of the simulator run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/panda.md")]
struct Documentation;

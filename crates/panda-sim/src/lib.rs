//! A simulated network in virtual time: every run follows from its seed.
//!
//! The protocols run as they do on real platforms. The network loses, doubles, delays and reorders
//! frames, and splits. Processes crash and start again. [`Simulation`] runs whole programs so, each
//! as a process of a session. [`Scenario`] draws a whole history of the protocols alone from a
//! seed, and [`check`](check::check) checks it.

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

/// The documentation's programs: they compile, and those of the simulator run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial/panda.md")]
#[doc = include_str!("../../../docs/guide/calls.md")]
#[doc = include_str!("../../../docs/guide/clocks.md")]
#[doc = include_str!("../../../docs/guide/collectives.md")]
#[doc = include_str!("../../../docs/guide/fibers.md")]
#[doc = include_str!("../../../docs/guide/group-state.md")]
#[doc = include_str!("../../../docs/guide/language-runtime.md")]
#[doc = include_str!("../../../docs/guide/lost-peer.md")]
#[doc = include_str!("../../../docs/guide/messages.md")]
#[doc = include_str!("../../../docs/guide/quiescence.md")]
#[doc = include_str!("../../../docs/guide/simulate.md")]
#[doc = include_str!("../../../docs/guide/spawn.md")]
struct Documentation;

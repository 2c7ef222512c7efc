//! The portability layer: threads, message passing, RPC, totally ordered groups and collectives,
//! over platforms that differ in what they guarantee.
//!
//! Two layers, after Rühl et al., *Experience with a Portability Layer for Implementing Parallel
//! Programming Systems* (1996), section 3.2. The system layer ([`platform`]) carries frames; the
//! interface layer ([`session`]) is built from protocols ([`protocol`], of the crate
//! `antiphon-panda-core`) that are state machines without I/O, clocks or threads.

mod error;
#[doc(hidden)]
pub mod hook;
pub mod platform;
pub mod session;
pub mod starter;
pub mod thread;

pub use antiphon_panda_core::{DecodeError, Message, Number, Rank, Reduction, message, protocol};
pub use error::{Error, Named, SameNumber};
pub use platform::{LaunchInfo, Platform};
pub use protocol::PeerEvent;
pub use protocol::clock::ClockOffset;
pub use protocol::group::GroupEvent;
pub use protocol::termination::{Event as QuiescenceEvent, Verdict};
pub use session::{
    Arrived, Call, Communicator, Group, Multicast, Port, Probed, Quiescence, Replica, Reply,
    Session, SpawnOptions, WeakSession,
};
pub use starter::Signal;

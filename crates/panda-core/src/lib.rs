//! The protocols of the portability layer, without I/O. Messages, reliable links, ordered groups
//! and collectives are state machines.
//!
//! Nothing here knows a platform, a session, a thread or a clock. [`protocol::Stack`] holds all
//! protocols of one process. A driver feeds it the time and events, and performs the
//! [actions](protocol::Action) that it asks for. The crate `antiphon-panda` drives it over real
//! platforms, the simulator in virtual time.

mod chance;
mod event;
pub mod message;
pub mod number;
pub mod protocol;

pub use chance::Chance;
pub use event::{Event, Flow, Loss, Rank, Transfer};
pub use message::{DecodeError, Header, Message};
pub use number::{Number, Reduction};

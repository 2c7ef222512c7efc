//! The protocols of the portability layer, without I/O: messages, reliable links, ordered groups and
//! collectives as state machines.
//!
//! Nothing here knows a platform, a session, a thread or a clock. [`protocol::Stack`] is all
//! protocols as one process has them; a driver feeds it the time and what happened, and performs
//! the [actions](protocol::Action) that it asks for. The crate `antiphon-panda` drives it over real
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

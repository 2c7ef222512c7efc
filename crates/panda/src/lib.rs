//! The portability layer: threads, message passing, RPC, totally ordered groups and collectives, over platforms that differ in what they guarantee.
//!
//! Two layers, after Rühl et al., *Experience with a Portability Layer for Implementing Parallel Programming Systems* (1996), section 3.2. The system layer
//! ([`platform`]) carries frames; the interface layer is built from protocols ([`protocol`]) that are state machines without I/O, clocks or threads.

pub mod message;
pub mod platform;
pub mod protocol;
pub mod sim;

pub use message::{DecodeError, Message};

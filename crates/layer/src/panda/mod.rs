//! Panda's primitives as operations.

mod collectives;
mod messages;
mod ordered;

pub use collectives::{all_to_all, barrier, broadcast, reduce};
pub use messages::{roundtrip, roundtrip_upcall, rpc, stream, synchronous};
pub use ordered::{Ordered, group_all, group_own};

use bytes::Bytes;

/// A payload.
fn payload(bytes: usize) -> Bytes {
    Bytes::from(vec![7; bytes])
}

/// What is added to the checksum for a message that came.
fn weight(length: usize) -> u64 {
    length as u64 + 1
}

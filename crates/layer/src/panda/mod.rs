//! Panda's primitives as operations.

mod calls;
mod collectives;
mod messages;
mod ordered;
mod served;
mod threads;

pub use calls::{rendezvous, rendezvous_fiber, rpc, rpc_fiber, rpc_thread};
pub use collectives::{
    all_reduce, all_to_all, barrier, barrier_half, broadcast, gather, reduce, scatter,
};
pub use messages::{roundtrip, roundtrip_upcall, stream, synchronous};
pub use ordered::{
    Ordered, group_all, group_join, group_own, group_round, group_stream, group_turn, place_in_turn,
};
pub use served::Counted;
pub use threads::{create_fiber, create_system, switch_fiber, switch_system};

use bytes::Bytes;

use crate::failure::Failed;
use crate::tests::Part;

/// A part that only waits for the slice's end: its upcalls do the work.
pub struct Passive<T>(#[allow(dead_code)] pub T);

impl<T> Part for Passive<T> {
    fn run(&mut self, _iterations: u64) -> Result<u64, Failed> {
        Ok(0)
    }
}

/// Returns a payload.
fn payload(bytes: usize) -> Bytes {
    Bytes::from(vec![7; bytes])
}

/// Returns the addition to the checksum for a received message.
fn weight(length: usize) -> u64 {
    length as u64 + 1
}

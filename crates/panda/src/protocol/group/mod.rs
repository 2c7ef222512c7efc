//! Groups: all members deliver the same messages in the same order.

/// How a platform's groups are ordered.
pub trait Order: Send + 'static {
    /// Whether it relies on [`Platform::ORDERED`](crate::platform::Platform::ORDERED).
    const NEEDS_ORDERED: bool;
}

/// Order by the platform itself: nothing is added.
#[derive(Debug)]
pub struct Bus;

impl Order for Bus {
    const NEEDS_ORDERED: bool = true;
}

/// Order by a sequencer, one of the members.
#[derive(Debug)]
pub struct Sequencer;

impl Order for Sequencer {
    const NEEDS_ORDERED: bool = false;
}

//! Collective operations of a simulated run: their calls, and their outcomes.

use std::sync::Arc;

use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::requests::Failure;

/// Lives that call the same operations in the same order, on a list of their own.
#[derive(Debug)]
pub struct Communicator {
    /// Their ranks, in the order of the list.
    pub ranks: Arc<[Rank]>,
    /// The lives.
    pub lives: Vec<usize>,
    /// Operations that they call in turn, whatever the outcome of each.
    pub tasks: Vec<Task>,
    /// Operations that each place has begun.
    pub turns: Vec<Vec<Turn>>,
}

/// An operation that all members of a communicator call.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// The operation.
    pub calls: Calls,
    /// The place of its root.
    pub root: usize,
    /// Bytes of its values, besides the number in each.
    pub length: usize,
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// A barrier.
    Barrier,
    /// The root's number.
    Broadcast,
    /// All numbers, at the root.
    Gather,
    /// One of the root's numbers to each member.
    Scatter,
    /// The sum, at the root.
    Reduce,
    /// The sum.
    AllReduce,
    /// The sums of arrays, at the root.
    ReduceNumbers,
    /// The sums of arrays.
    AllReduceNumbers,
}

impl Calls {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Gather,
        Self::Scatter,
        Self::Reduce,
        Self::AllReduce,
        Self::ReduceNumbers,
        Self::AllReduceNumbers,
    ];
}

/// One place's part in an operation.
#[derive(Debug)]
pub struct Turn {
    /// Time of its begin.
    pub at: Time,
    /// Time and outcome of its end.
    pub ended: Option<(Time, Done)>,
}

/// The outcome of a part.
#[derive(Debug)]
pub enum Done {
    /// Success with these numbers; `None` for a value of a wrong length.
    Well(Vec<Option<u64>>),
    /// A failure.
    Failed(Failure),
}

/// Returns the number that a place brings to an operation.
pub(super) fn own(number: usize, place: usize) -> u64 {
    (number as u64 + 1) * 1_000_003 + (place as u64 + 1) * 7_919
}

/// Returns the number that a root gives to a place.
pub(super) fn given(number: usize, place: usize) -> u64 {
    own(number, place) ^ 0xffff_0000
}

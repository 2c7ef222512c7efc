//! Collective operations of a simulated run: who called what, and how it ended.

use std::sync::Arc;

use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::requests::Failure;

/// Some lives that call the same operations in the same order, on a list of their own.
#[derive(Debug)]
pub struct Communicator {
    /// Their ranks, in the order of the list.
    pub ranks: Arc<[Rank]>,
    /// The lives.
    pub lives: Vec<usize>,
    /// What they call, one after another, whatever comes of each.
    pub tasks: Vec<Task>,
    /// At each place, the operations that were begun.
    pub turns: Vec<Vec<Turn>>,
}

/// An operation that all of a communicator call.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Which.
    pub calls: Calls,
    /// The place of its root.
    pub root: usize,
    /// Bytes of its values, beside the number in each.
    pub length: usize,
}

/// Which operation is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// See the operations themselves.
    Barrier,
    /// The root's number.
    Broadcast,
    /// Everybody's numbers, at the root.
    Gather,
    /// To each a number of the root's.
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
    /// When it was begun.
    pub at: Time,
    /// When and how it ended.
    pub ended: Option<(Time, Done)>,
}

/// How a part ended.
#[derive(Debug)]
pub enum Done {
    /// With these numbers; none for a value of another length than it should have.
    Well(Vec<Option<u64>>),
    /// With a failure.
    Failed(Failure),
}

/// The number that a place brings to the operation of a number.
pub(super) fn own(number: usize, place: usize) -> u64 {
    (number as u64 + 1) * 1_000_003 + (place as u64 + 1) * 7_919
}

/// The number that a root gives to a place.
pub(super) fn given(number: usize, place: usize) -> u64 {
    own(number, place) ^ 0xffff_0000
}

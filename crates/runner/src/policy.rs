//! The scheduling policy that a child begins with.

use crate::start;

/// Scheduling policy of a child's threads, unless they change it themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// `SCHED_OTHER`: ordinary time sharing.
    #[default]
    Other,
    /// `SCHED_FIFO`: the child runs until it blocks or a more urgent thread is ready.
    ///
    /// The priority is 1 … 98: the one above it belongs to the keeper, which must get through to
    /// a child that spins.
    Fifo {
        /// Real-time priority, 1 … 98.
        priority: i32,
    },
    /// `SCHED_IDLE`: the child runs where nothing else would.
    Idle,
}

impl Policy {
    /// Returns the policy's word in a result's identity: `other`, `fifo` or `idle`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Fifo { .. } => "fifo",
            Self::Idle => "idle",
        }
    }

    /// Checks that this process may start children under the policy.
    ///
    /// # Errors
    /// A sentence with the reason and the remedy.
    pub fn permitted(self) -> Result<(), String> {
        match self {
            Self::Other | Self::Idle => Ok(()),
            Self::Fifo { priority } => start::try_fifo(priority),
        }
    }
}

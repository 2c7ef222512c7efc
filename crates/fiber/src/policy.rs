//! Scheduling policies: when a running fiber loses its processor.

use std::time::Duration;

/// The rule by which a running fiber loses its processor to the next ready one, besides when it
/// yields or blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Never.
    Cooperative,
    /// After so many calls of [`Fibers::poll`](crate::Fibers::poll), which stand at the heads of
    /// loops: iteration counting. The count belongs to the processor and not to the fiber. Only a
    /// switch by it, or a yield, begins it anew.
    Counted(u32),
    /// When a timer has ticked, at any instruction of
    /// [`Fibers::sliceable`](crate::Fibers::sliceable) code; otherwise when the run-time is left.
    /// Loops need no code for it.
    Sliced(Duration),
    /// When a timer has ticked, at the next call of [`Fibers::poll`](crate::Fibers::poll).
    SlicedDeferred(Duration),
}

impl Policy {
    /// Returns the time between two ticks, if it has any.
    pub(crate) fn quantum(self) -> Option<Duration> {
        match self {
            Policy::Sliced(quantum) | Policy::SlicedDeferred(quantum) => Some(quantum),
            Policy::Cooperative | Policy::Counted(_) => None,
        }
    }

    /// Returns the number of polls until a switch.
    pub(crate) fn budget(self) -> i64 {
        match self {
            Policy::Counted(polls) if polls > 0 => i64::from(polls),
            _ => i64::MAX,
        }
    }
}

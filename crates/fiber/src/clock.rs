//! The run-time's clock: the machine's, or a virtual one that moves only when every fiber waits.

use std::time::{Duration, Instant};

use crate::servers::{Servers, Word};

/// Nanoseconds since the run-time began.
pub(crate) enum Clock<S: Servers> {
    Real(Instant),
    Virtual(S::Word),
}

impl<S: Servers> Clock<S> {
    pub fn new(is_virtual: bool) -> Self {
        if is_virtual {
            Clock::Virtual(S::Word::default())
        } else {
            Clock::Real(Instant::now())
        }
    }

    pub fn now_ns(&self) -> u64 {
        match self {
            Clock::Real(start) => nanoseconds(start.elapsed()),
            Clock::Virtual(now) => now.get(),
        }
    }

    /// Returns the instant of the machine's clock to wait for. A virtual clock moves there at once,
    /// and returns `None`.
    pub fn reach(&self, at_ns: u64) -> Option<Instant> {
        match self {
            Clock::Real(start) => start.checked_add(Duration::from_nanos(at_ns)),
            Clock::Virtual(now) => {
                now.set(now.get().max(at_ns));
                None
            }
        }
    }
}

/// Returns a duration in nanoseconds; 584 years at most.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

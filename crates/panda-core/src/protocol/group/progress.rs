//! A membership's progress in the delivery of events, and the places of the program's own messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::fault::{Fault, Mutant};

/// The place of the last event that the program was told of, in one membership. Threads read it
/// while another one hands events over.
#[derive(Debug, Default)]
pub struct Progress {
    /// The place; 0 before the first event.
    delivered: AtomicU64,
    fault: Fault,
}

impl Progress {
    /// Returns the place of the last event that the program has been told of; 0 if it was told of
    /// none.
    #[inline]
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Acquire)
    }

    /// Returns whether the program was told of the event at a place and of all before it.
    #[inline]
    #[must_use]
    pub fn has_reached(&self, place: u64) -> bool {
        self.delivered() >= place
    }

    /// Hands the event at a place over. The place counts as delivered if `tell` returns that the
    /// program has taken the event.
    pub fn hand_over(&self, place: u64, tell: impl FnOnce() -> bool) {
        if self.fault.is(Mutant::CountsUndelivered) {
            self.reached(place);
        }
        if tell() {
            self.reached(place);
        }
    }

    /// Notes that the program has all up to a place. Only the thread that hands events over does
    /// so.
    pub fn reached(&self, place: u64) {
        self.delivered.fetch_max(place, Ordering::Release);
    }

    /// Injects a fault, to see whether the simulator notices.
    #[must_use]
    pub fn with(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }
}

/// Stand-in for a place: the message is not delivered yet.
const UNPLACED: u64 = 0;
/// Stand-in for a place: the membership ended first.
const LOST: u64 = u64::MAX;

/// The sending half of a message's place, which is set when the message is delivered here. If it
/// drops unset, it says so to the waiting thread.
#[derive(Debug)]
pub struct Ticket {
    place: Arc<AtomicU64>,
}

/// The waiting half of a [`Ticket`]: the fate of the message.
#[derive(Debug)]
pub struct Placed {
    place: Arc<AtomicU64>,
}

impl Ticket {
    /// Makes a ticket and its other half.
    #[must_use]
    pub fn pair() -> (Self, Placed) {
        let place = Arc::new(AtomicU64::new(UNPLACED));
        let ticket = Self {
            place: place.clone(),
        };
        (ticket, Placed { place })
    }

    /// Notes that the message was delivered to its sender.
    pub fn delivered(self, place: u64) {
        self.place.store(place, Ordering::Release);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Only this half writes, so a relaxed load suffices.
        if self.place.load(Ordering::Relaxed) == UNPLACED {
            self.place.store(LOST, Ordering::Release);
        }
    }
}

impl Placed {
    /// Returns whether the message's fate is decided.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.place.load(Ordering::Acquire) != UNPLACED
    }

    /// Returns the message's place, if it has been delivered to its sender.
    #[must_use]
    pub fn place(&self) -> Option<u64> {
        let place = self.place.load(Ordering::Acquire);
        (place != UNPLACED && place != LOST).then_some(place)
    }
}

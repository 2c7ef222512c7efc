//! Timers of fibers that wait for a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::servers::{Servers, Word};

/// A fiber to wake, with its parking state when the wait began.
pub(crate) struct Alarm<S: Servers> {
    pub fiber: NonNull<Fiber<S>>,
    pub parking: u64,
}

/// Alarms by time; those of equal times in the order in which they were set.
pub(crate) struct Timers<S: Servers> {
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    alarms: Vec<Option<Alarm<S>>>,
    free: Vec<usize>,
    set: u64,
    /// Number of alarms at which stale ones are looked for.
    full: usize,
}

/// Number of alarms, stale or not, below which a look is not worth it.
const FEW: usize = 64;

impl<S: Servers> Alarm<S> {
    /// Returns whether something else has woken its fiber.
    fn is_stale(&self) -> bool {
        // SAFETY: descriptors live as long as the run-time.
        unsafe { self.fiber.as_ref() }.parking.get() != self.parking
    }
}

// SAFETY: descriptors outlive the run-time's timers, which are used only under their lock.
unsafe impl<S: Servers> Send for Timers<S> {}

impl<S: Servers> Default for Timers<S> {
    fn default() -> Self {
        Timers {
            heap: BinaryHeap::new(),
            alarms: Vec::new(),
            free: Vec::new(),
            set: 0,
            full: FEW,
        }
    }
}

impl<S: Servers> Timers<S> {
    /// Sets an alarm, and returns the time of the first.
    pub fn set(&mut self, at_ns: u64, alarm: Alarm<S>) -> u64 {
        if self.heap.len() >= self.full {
            self.forget_stale();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.alarms.push(None);
            self.alarms.len() - 1
        });
        self.alarms[slot] = Some(alarm);
        self.set += 1;
        self.heap.push(Reverse((at_ns, self.set, slot)));
        self.first_ns()
    }

    /// Returns the time of the first alarm; `u64::MAX` if there is none.
    pub fn first_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at, _, _))| *at)
    }

    /// Forgets the first alarms that are stale, and returns the time of the first that is not.
    pub fn first_live_ns(&mut self) -> u64 {
        while let Some(&Reverse((at_ns, _, slot))) = self.heap.peek() {
            if !self.alarms[slot].as_ref().is_none_or(Alarm::is_stale) {
                return at_ns;
            }
            self.heap.pop();
            self.forget(slot);
        }
        u64::MAX
    }

    /// Forgets all stale alarms.
    fn forget_stale(&mut self) {
        for Reverse(entry) in std::mem::take(&mut self.heap).into_vec() {
            let slot = entry.2;
            if self.alarms[slot].as_ref().is_none_or(Alarm::is_stale) {
                self.forget(slot);
            } else {
                self.heap.push(Reverse(entry));
            }
        }
        self.full = FEW.max(2 * self.heap.len());
    }

    fn forget(&mut self, slot: usize) {
        self.alarms[slot] = None;
        self.free.push(slot);
    }

    /// Takes the first alarm that is due.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Alarm<S>> {
        if self.first_ns() > now_ns {
            return None;
        }
        let Reverse((_, _, slot)) = self.heap.pop()?;
        self.free.push(slot);
        self.alarms[slot].take()
    }
}

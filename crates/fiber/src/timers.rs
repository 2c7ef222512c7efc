//! Fibers that wait for a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::servers::Servers;

/// A fiber that is to be woken, in the state of parking that it was in when it began to wait.
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
}

// SAFETY: descriptors outlive the run-time's timers, which are used under their lock.
unsafe impl<S: Servers> Send for Timers<S> {}

impl<S: Servers> Default for Timers<S> {
    fn default() -> Self {
        Timers {
            heap: BinaryHeap::new(),
            alarms: Vec::new(),
            free: Vec::new(),
            set: 0,
        }
    }
}

impl<S: Servers> Timers<S> {
    /// Sets an alarm; gives the time of the first.
    pub fn set(&mut self, at_ns: u64, alarm: Alarm<S>) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.alarms.push(None);
            self.alarms.len() - 1
        });
        self.alarms[slot] = Some(alarm);
        self.set += 1;
        self.heap.push(Reverse((at_ns, self.set, slot)));
        self.first_ns()
    }

    /// The time of the first alarm; `u64::MAX` if there is none.
    pub fn first_ns(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at, _, _))| *at)
    }

    /// The first alarm that is due.
    pub fn take_due(&mut self, now_ns: u64) -> Option<Alarm<S>> {
        if self.first_ns() > now_ns {
            return None;
        }
        let Reverse((_, _, slot)) = self.heap.pop()?;
        self.free.push(slot);
        self.alarms[slot].take()
    }
}

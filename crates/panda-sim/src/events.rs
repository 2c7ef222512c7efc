//! Events to come, in the order of time, and at one time in the order in which they were added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use antiphon_panda_core::protocol::Time;

/// A queue of events. The heap holds only times and numbers; the events themselves do not move,
/// since messages are long.
pub struct Events<W> {
    queue: BinaryHeap<Reverse<(Time, u64, u32)>>,
    things: Vec<Option<W>>,
    free: Vec<u32>,
    added: u64,
}

impl<W> Default for Events<W> {
    fn default() -> Self {
        Self {
            queue: BinaryHeap::new(),
            things: Vec::new(),
            free: Vec::new(),
            added: 0,
        }
    }
}

impl<W> Events<W> {
    pub fn add(&mut self, at: Time, what: W) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.things[slot as usize] = Some(what);
                slot
            }
            None => {
                self.things.push(Some(what));
                self.things.len() as u32 - 1
            }
        };
        self.added += 1;
        self.queue.push(Reverse((at, self.added, slot)));
    }

    /// Returns whether no event is to come.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes the next event up to a moment.
    pub fn next(&mut self, until: Time) -> Option<(Time, W)> {
        let &Reverse((at, _, slot)) = self.queue.peek().filter(|next| next.0.0 <= until)?;
        self.queue.pop();
        self.free.push(slot);
        let what = self.things[slot as usize].take();
        Some((at, what.expect("each thing comes once")))
    }
}

//! A queue of fibers, first in first out, linked through their descriptors: to wait costs no memory.

use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::servers::Servers;

/// Which of a fiber's links a queue uses.
pub(crate) const READY: usize = 0;
/// As [`READY`].
pub(crate) const WAITING: usize = 1;

/// A queue of fibers. A fiber is in one queue of a sort at most.
///
/// Every queue belongs to a lock; with it go the links of the fibers in the queue.
pub struct WaitQueue<S: Servers, const SORT: usize = WAITING> {
    first: Option<NonNull<Fiber<S>>>,
    last: Option<NonNull<Fiber<S>>>,
    length: usize,
}

// SAFETY: the descriptors outlive their queues, and their links are touched under the queue's lock only.
unsafe impl<S: Servers, const SORT: usize> Send for WaitQueue<S, SORT> {}

impl<S: Servers, const SORT: usize> Default for WaitQueue<S, SORT> {
    fn default() -> Self {
        WaitQueue {
            first: None,
            last: None,
            length: 0,
        }
    }
}

// SAFETY of all dereferences below: a descriptor lives until its run-time ends, and queues of a run-time are used by its fibers alone.
impl<S: Servers, const SORT: usize> WaitQueue<S, SORT> {
    /// Fibers in it.
    pub fn length(&self) -> usize {
        self.length
    }

    #[inline]
    pub(crate) fn push_last(&mut self, fiber: NonNull<Fiber<S>>) {
        let links = unsafe { &fiber.as_ref().links[SORT] };
        debug_assert!(!links.is_in.get(), "a fiber is in one queue at most");
        links.is_in.set(true);
        links.next.set(None);
        links.previous.set(self.last);
        match self.last {
            Some(last) => unsafe { last.as_ref() }.links[SORT].next.set(Some(fiber)),
            None => self.first = Some(fiber),
        }
        self.last = Some(fiber);
        self.length += 1;
    }

    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<NonNull<Fiber<S>>> {
        let first = self.first?;
        let links = unsafe { &first.as_ref().links[SORT] };
        let next = links.next.get();
        links.is_in.set(false);
        match next {
            Some(n) => unsafe { n.as_ref() }.links[SORT].previous.set(None),
            None => self.last = None,
        }
        self.first = next;
        self.length -= 1;
        Some(first)
    }

    /// The fiber at a place in the queue, counted from 0.
    pub(crate) fn at(&self, place: usize) -> Option<NonNull<Fiber<S>>> {
        let mut fiber = self.first?;
        for _ in 0..place {
            fiber = unsafe { fiber.as_ref() }.links[SORT].next.get()?;
        }
        Some(fiber)
    }

    /// The first fiber that is such.
    pub(crate) fn find(
        &self,
        is_such: impl Fn(NonNull<Fiber<S>>) -> bool,
    ) -> Option<NonNull<Fiber<S>>> {
        let mut fiber = self.first;
        while let Some(f) = fiber {
            if is_such(f) {
                return Some(f);
            }
            fiber = unsafe { f.as_ref() }.links[SORT].next.get();
        }
        None
    }

    /// Takes a fiber out; it must be in this queue.
    #[inline]
    pub(crate) fn remove(&mut self, fiber: NonNull<Fiber<S>>) {
        let links = unsafe { &fiber.as_ref().links[SORT] };
        debug_assert!(links.is_in.get(), "a fiber is removed from its own queue");
        let (previous, next) = (links.previous.get(), links.next.get());
        match previous {
            Some(p) => unsafe { p.as_ref() }.links[SORT].next.set(next),
            None => self.first = next,
        }
        match next {
            Some(n) => unsafe { n.as_ref() }.links[SORT].previous.set(previous),
            None => self.last = previous,
        }
        links.is_in.set(false);
        self.length -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::servers::One;

    #[derive(Debug, Clone)]
    enum Step {
        Push(usize),
        Take,
        Remove(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..8usize).prop_map(Step::Push),
            Just(Step::Take),
            (0..8usize).prop_map(Step::Remove)
        ]
    }

    proptest! {
        #[test]
        fn a_fiber_can_leave_from_any_place_of_a_queue(steps in prop::collection::vec(step(), 0..60)) {
            let fibers: Vec<Box<Fiber<One>>> = (0..8).map(|_| Box::new(Fiber::new())).collect();
            let number = |f: NonNull<Fiber<One>>| fibers.iter().position(|g| NonNull::from(&**g) == f).unwrap();
            let (mut queue, mut model) = (WaitQueue::<One>::default(), VecDeque::new());
            for step in steps {
                match step {
                    Step::Push(n) if !model.contains(&n) => {
                        queue.push_last(NonNull::from(&*fibers[n]));
                        model.push_back(n);
                    }
                    Step::Push(_) => {}
                    Step::Take => prop_assert_eq!(queue.take_first().map(number), model.pop_front()),
                    Step::Remove(n) => {
                        if let Some(at) = model.iter().position(|&m| m == n) {
                            queue.remove(NonNull::from(&*fibers[n]));
                            model.remove(at);
                        }
                    }
                }
                prop_assert_eq!(queue.length(), model.len());
                for (place, &n) in model.iter().enumerate() {
                    prop_assert_eq!(queue.at(place).map(number), Some(n));
                }
            }
        }
    }
}

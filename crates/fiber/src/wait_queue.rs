//! A queue of fibers, first in first out, linked through their descriptors: to wait costs no
//! memory.

use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::run_id::RunId;
use crate::servers::Servers;

/// Index of a fiber's links for ready lists.
pub(crate) const READY: usize = 0;
/// Index of a fiber's links for waiting queues.
pub(crate) const WAITING: usize = 1;

/// A queue of fibers. A fiber is in at most one queue of a sort.
///
/// Every queue belongs to a lock, which also protects the links of its fibers. All fibers in a
/// queue are of one run. A queue that outlives its run forgets the fibers that were blocked in it,
/// when a fiber of another run uses it.
pub struct WaitQueue<S: Servers, const SORT: usize = WAITING> {
    first: Option<NonNull<Fiber<S>>>,
    last: Option<NonNull<Fiber<S>>>,
    length: usize,
    /// Run of its fibers. Ready lists have none: they are a run's own.
    run: RunId,
}

// SAFETY: links are touched only under the queue's lock, and descriptors only by fibers of their
// run: see `belong_to`.
unsafe impl<S: Servers, const SORT: usize> Send for WaitQueue<S, SORT> {}

impl<S: Servers, const SORT: usize> Default for WaitQueue<S, SORT> {
    fn default() -> Self {
        WaitQueue {
            first: None,
            last: None,
            length: 0,
            run: RunId::default(),
        }
    }
}

// A descriptor lives until its run ends. A ready list is a part of its run. Every user of a waiting
// queue has called `belong_to` with its run, so all descriptors in the queue are alive.
impl<S: Servers, const SORT: usize> WaitQueue<S, SORT> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Returns the number of its fibers.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Makes the queue one of the caller's run, and returns whether it was not: then it is empty.
    /// Fibers of an ended run are forgotten, untouched: their descriptors are gone.
    ///
    /// # Panics
    ///
    /// The queue holds fibers of another run that has not ended.
    #[inline]
    pub(crate) fn belong_to(&mut self, run: RunId) -> bool {
        let is_other = self.run != run;
        if is_other {
            self.change_run(run);
        }
        is_other
    }

    #[cold]
    fn change_run(&mut self, run: RunId) {
        assert!(
            self.first.is_none() || !self.run.is_live(),
            "two runs wait in one queue at the same time: each needs semaphores, mutexes, conditions and barriers of its own"
        );
        *self = WaitQueue {
            run,
            ..Self::default()
        };
    }

    #[inline]
    pub(crate) fn push_last(&mut self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: the fiber is of the live run that the queue belongs to, and in no queue of this
        // sort, so nothing else uses these links.
        let links = unsafe { &fiber.as_ref().links[SORT] };
        debug_assert!(!links.is_in.get(), "a fiber is in one queue at most");
        links.is_in.set(true);
        links.next.set(None);
        links.previous.set(self.last);
        match self.last {
            // SAFETY: the last fiber is in this queue, so it is alive, and the lock covers it.
            Some(last) => unsafe { last.as_ref() }.links[SORT].next.set(Some(fiber)),
            None => self.first = Some(fiber),
        }
        self.last = Some(fiber);
        self.length += 1;
    }

    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<NonNull<Fiber<S>>> {
        let first = self.first?;
        // SAFETY: the first fiber is in this queue, so it is alive and the lock covers its links.
        let links = unsafe { &first.as_ref().links[SORT] };
        let next = links.next.get();
        links.is_in.set(false);
        match next {
            // SAFETY: as for the first fiber: the next one is in this queue.
            Some(n) => unsafe { n.as_ref() }.links[SORT].previous.set(None),
            None => self.last = None,
        }
        self.first = next;
        self.length -= 1;
        Some(first)
    }

    /// Returns the first fiber that satisfies a condition.
    pub(crate) fn find(
        &self,
        is_such: impl Fn(NonNull<Fiber<S>>) -> bool,
    ) -> Option<NonNull<Fiber<S>>> {
        let mut fiber = self.first;
        while let Some(f) = fiber {
            if is_such(f) {
                return Some(f);
            }
            // SAFETY: the walk began at this queue's first fiber, and all that follow are in it.
            fiber = unsafe { f.as_ref() }.links[SORT].next.get();
        }
        None
    }

    /// Takes a fiber out, which must be in this queue.
    #[inline]
    pub(crate) fn remove(&mut self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: the fiber is in this queue, so it is alive and the lock covers its links.
        let links = unsafe { &fiber.as_ref().links[SORT] };
        debug_assert!(links.is_in.get(), "a fiber is removed from its own queue");
        let (previous, next) = (links.previous.get(), links.next.get());
        match previous {
            // SAFETY: a neighbour in a queue is in that queue.
            Some(p) => unsafe { p.as_ref() }.links[SORT].next.set(next),
            None => self.first = next,
        }
        match next {
            // SAFETY: as for the neighbour before it.
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
                let seen = std::cell::RefCell::new(VecDeque::new());
                queue.find(|fiber| {
                    seen.borrow_mut().push_back(number(fiber));
                    false
                });
                prop_assert_eq!(seen.into_inner(), model.clone());
            }
        }
    }
}

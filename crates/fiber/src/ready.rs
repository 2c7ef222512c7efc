//! Fibers that are ready: higher priorities first, first in first out within one.

use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::servers::{Servers, Word};
use crate::wait_queue::{READY, WaitQueue};

/// A ready list. Most programs use one priority, so levels are few and stand in a vector, highest first.
pub(crate) struct Ready<S: Servers> {
    levels: Vec<(i32, WaitQueue<S, READY>)>,
    length: usize,
    /// One more than the number of the server that it belongs to, as fibers in it have it.
    mark: u64,
}

// SAFETY of all dereferences below: descriptors outlive the run-time's lists, and those in this list are its lock's.
impl<S: Servers> Ready<S> {
    /// The list of the server of that number.
    pub fn new(server: usize) -> Self {
        Ready {
            levels: Vec::new(),
            length: 0,
            mark: server as u64 + 1,
        }
    }

    /// Whether a fiber is in this list.
    pub fn holds(&self, fiber: NonNull<Fiber<S>>) -> bool {
        unsafe { fiber.as_ref() }.queue.get() == self.mark
    }

    pub fn length(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn push(&mut self, fiber: NonNull<Fiber<S>>) {
        let it = unsafe { fiber.as_ref() };
        let priority = it.priority.get();
        it.queue.set(self.mark);
        self.length += 1;
        if let [(only, queue)] = &mut self.levels[..]
            && *only == priority
        {
            return queue.push_last(fiber);
        }
        self.level(priority).push_last(fiber);
    }

    fn level(&mut self, priority: i32) -> &mut WaitQueue<S, READY> {
        let found = self.levels.binary_search_by(|(p, _)| priority.cmp(p));
        let at = found.unwrap_or_else(|at| {
            self.levels.insert(at, (priority, WaitQueue::default()));
            at
        });
        &mut self.levels[at].1
    }

    /// The first of the highest priority.
    #[inline]
    pub fn take(&mut self) -> Option<NonNull<Fiber<S>>> {
        if self.length == 0 {
            return None;
        }
        let queue = match &mut self.levels[..] {
            [(_, only)] => only,
            several => several
                .iter_mut()
                .map(|(_, l)| l)
                .find(|l| l.length() > 0)?,
        };
        let fiber = queue.take_first()?;
        self.left(fiber);
        Some(fiber)
    }

    /// How many there are of the highest priority.
    pub fn choices(&self) -> usize {
        self.levels
            .iter()
            .map(|(_, l)| l.length())
            .find(|&n| n > 0)
            .unwrap_or(0)
    }

    /// One of the highest priority by its place, counted from 0.
    pub fn take_at(&mut self, place: usize) -> Option<NonNull<Fiber<S>>> {
        let (_, queue) = self.levels.iter_mut().find(|(_, l)| l.length() > 0)?;
        let fiber = queue.at(place)?;
        queue.remove(fiber);
        self.left(fiber);
        Some(fiber)
    }

    /// Whether somebody in it may leave it for another server.
    pub fn has_movable(&self) -> bool {
        let is_free = |f: NonNull<Fiber<S>>| unsafe { f.as_ref() }.home.get().is_none();
        self.length > 0
            && self
                .levels
                .iter()
                .any(|(_, queue)| queue.find(is_free).is_some())
    }

    /// The first that may leave this list for another server.
    pub fn steal(&mut self) -> Option<NonNull<Fiber<S>>> {
        for (_, queue) in &mut self.levels {
            if let Some(fiber) = queue.find(|f| unsafe { f.as_ref() }.home.get().is_none()) {
                queue.remove(fiber);
                self.left(fiber);
                return Some(fiber);
            }
        }
        None
    }

    /// Takes a fiber out of the list; it must be in it.
    pub fn remove(&mut self, fiber: NonNull<Fiber<S>>) {
        let priority = unsafe { fiber.as_ref() }.priority.get();
        self.level(priority).remove(fiber);
        self.left(fiber);
    }

    #[inline]
    fn left(&mut self, fiber: NonNull<Fiber<S>>) {
        unsafe { fiber.as_ref() }.queue.set(0);
        self.length -= 1;
    }

    /// Whether somebody ready has more priority than this.
    pub fn is_above(&self, priority: i32) -> bool {
        self.levels
            .iter()
            .any(|(p, l)| *p > priority && l.length() > 0)
    }
}

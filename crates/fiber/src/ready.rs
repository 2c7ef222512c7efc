//! Ready lists: higher priorities first, first in first out within one.

use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::fiber::Fiber;
use crate::servers::{Servers, Word};
use crate::wait_queue::{READY, WaitQueue};

/// A ready list. Most programs use one priority, so the few levels are in a vector, highest first.
pub(crate) struct Ready<S: Servers> {
    levels: Vec<(i32, WaitQueue<S, READY>)>,
    /// Fibers from which [`Ready::take_at`] chooses, highest priority first. They come here from
    /// `levels`, where a choice by place would walk along the queue.
    pool: Vec<(i32, VecDeque<NonNull<Fiber<S>>>)>,
    length: usize,
    /// Number of its server plus one, as fibers in it store it.
    mark: u64,
}

// Every caller holds the lock of this list, which also protects the descriptors of its fibers.
impl<S: Servers> Ready<S> {
    /// Makes the list of a server.
    pub fn new(server: usize) -> Self {
        Ready {
            levels: Vec::new(),
            pool: Vec::new(),
            length: 0,
            mark: server as u64 + 1,
        }
    }

    /// Returns whether a fiber is in this list.
    pub fn holds(&self, fiber: NonNull<Fiber<S>>) -> bool {
        // SAFETY: descriptors live as long as their run, of which this list is a part.
        unsafe { fiber.as_ref() }.queue.get() == self.mark
    }

    pub fn length(&self) -> usize {
        self.length
    }

    #[inline]
    pub fn push(&mut self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: the descriptor lives as long as the run. The fiber is in no list, so the caller
        // alone uses it.
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

    /// Takes the first fiber of the highest priority.
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

    /// Moves the fibers into the pool, and returns how many there are of the highest priority.
    pub fn choices(&mut self) -> usize {
        for (priority, queue) in &mut self.levels {
            if queue.length() == 0 {
                continue;
            }
            let found = self.pool.binary_search_by(|(p, _)| (*priority).cmp(p));
            let at = found.unwrap_or_else(|at| {
                self.pool.insert(at, (*priority, VecDeque::new()));
                at
            });
            while let Some(fiber) = queue.take_first() {
                self.pool[at].1.push_back(fiber);
            }
        }
        self.pool
            .iter()
            .map(|(_, fibers)| fibers.len())
            .find(|&n| n > 0)
            .unwrap_or(0)
    }

    /// Takes a fiber of the highest priority in the pool by its place, from 0. The first fiber
    /// moves into that place, so place 0 each time is first come, first served.
    pub fn take_at(&mut self, place: usize) -> Option<NonNull<Fiber<S>>> {
        let (_, fibers) = self.pool.iter_mut().find(|(_, f)| !f.is_empty())?;
        let fiber = fibers.swap_remove_front(place)?;
        self.left(fiber);
        Some(fiber)
    }

    /// Returns whether a fiber in it may leave it for another server.
    pub fn has_movable(&self) -> bool {
        self.length > 0
            && self
                .levels
                .iter()
                .any(|(_, queue)| queue.find(Self::is_movable).is_some())
    }

    /// Returns whether a fiber in this list may run on any server.
    fn is_movable(fiber: NonNull<Fiber<S>>) -> bool {
        // SAFETY: a fiber in this list has a descriptor that lives as long as the run.
        unsafe { fiber.as_ref() }.home.get().is_none()
    }

    /// Takes the first fiber that may leave this list for another server.
    pub fn steal(&mut self) -> Option<NonNull<Fiber<S>>> {
        for (_, queue) in &mut self.levels {
            if let Some(fiber) = queue.find(Self::is_movable) {
                queue.remove(fiber);
                self.left(fiber);
                return Some(fiber);
            }
        }
        None
    }

    /// Takes a fiber out of the list, in which it must be.
    pub fn remove(&mut self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: the fiber is in this list, whose lock the caller holds.
        let it = unsafe { fiber.as_ref() };
        if it.links[READY].is_in.get() {
            self.level(it.priority.get()).remove(fiber);
        } else {
            self.pool
                .iter_mut()
                .for_each(|(_, fibers)| fibers.retain(|&other| other != fiber));
        }
        self.left(fiber);
    }

    #[inline]
    fn left(&mut self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: this list held the fiber until now, and the caller still holds its lock.
        unsafe { fiber.as_ref() }.queue.set(0);
        self.length -= 1;
    }

    /// Returns whether a ready fiber has a higher priority.
    pub fn is_above(&self, priority: i32) -> bool {
        let mut levels = self.levels.iter().map(|(p, l)| (*p, l.length()));
        let mut pool = self.pool.iter().map(|(p, f)| (*p, f.len()));
        let is_above = |(p, length): (i32, usize)| p > priority && length > 0;
        levels.any(is_above) || pool.any(is_above)
    }
}

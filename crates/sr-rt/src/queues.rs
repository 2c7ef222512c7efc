//! Queues of invocations and crowds of processes. The links are in the members, so waiting needs no
//! memory.

use std::ptr;

use antiphon_fiber::Servers;

use crate::flavour::Flavour;
use crate::layout::{Invocation, Op};
use crate::process::Process;

/// Invocations in the order of their arrival.
#[repr(C)]
pub struct Queue {
    pub first: *mut Invocation,
    last: *mut Invocation,
}

/// Processes in the order of their arrival.
pub struct Crowd<S: Servers> {
    pub first: *mut Process<S>,
    last: *mut Process<S>,
}

impl Queue {
    pub const EMPTY: Queue = Queue {
        first: ptr::null_mut(),
        last: ptr::null_mut(),
    };

    #[inline]
    pub unsafe fn push(&mut self, block: *mut Invocation) {
        // SAFETY: the class's lock is held, which protects the links of its members. The new block
        // is in no queue.
        unsafe {
            (*block).next = ptr::null_mut();
            (*block).previous = self.last;
            if self.last.is_null() {
                self.first = block;
            } else {
                (*self.last).next = block;
            }
        }
        self.last = block;
    }

    #[inline]
    pub unsafe fn remove(&mut self, block: *mut Invocation) {
        // SAFETY: the class's lock is held, and the block is in this queue.
        unsafe {
            let (next, previous) = ((*block).next, (*block).previous);
            if previous.is_null() {
                self.first = next;
            } else {
                (*previous).next = next;
            }
            if next.is_null() {
                self.last = previous;
            } else {
                (*next).previous = previous;
            }
        }
    }

    /// Takes out all invocations of one operation; they are chained by `next`.
    pub unsafe fn remove_all(&mut self, op: *mut Op) -> *mut Invocation {
        let mut removed = Queue::EMPTY;
        let mut block = self.first;
        while !block.is_null() {
            // SAFETY: the class's lock is held, and the blocks come from this queue.
            unsafe {
                let next = (*block).next;
                if (*block).op.op == op {
                    self.remove(block);
                    removed.push(block);
                }
                block = next;
            }
        }
        removed.first
    }
}

impl<S: Flavour> Crowd<S> {
    pub const EMPTY: Crowd<S> = Crowd {
        first: ptr::null_mut(),
        last: ptr::null_mut(),
    };

    pub unsafe fn push(&mut self, process: *mut Process<S>) {
        // SAFETY: the class's lock is held, which protects the links of its members. The process is
        // in no crowd.
        unsafe {
            (*process).next_waiting = ptr::null_mut();
            if self.last.is_null() {
                self.first = process;
            } else {
                (*self.last).next_waiting = process;
            }
        }
        self.last = process;
    }

    pub unsafe fn pop(&mut self) -> *mut Process<S> {
        let process = self.first;
        if !process.is_null() {
            // SAFETY: the class's lock is held, and the process is in this crowd.
            self.first = unsafe { (*process).next_waiting };
            if self.first.is_null() {
                self.last = ptr::null_mut();
            }
        }
        process
    }

    /// Takes over another crowd, behind this one.
    pub unsafe fn append(&mut self, other: &mut Crowd<S>) {
        if other.first.is_null() {
            return;
        }
        if self.last.is_null() {
            self.first = other.first;
        } else {
            // SAFETY: both crowds belong to the class whose lock is held, and `last` is in one of
            // them.
            unsafe { (*self.last).next_waiting = other.first };
        }
        self.last = other.last;
        *other = Crowd::EMPTY;
    }
}

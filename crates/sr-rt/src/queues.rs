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

// SAFETY of everything below: the class's lock protects the links of the members of a queue or
// crowd, and the caller holds it.

impl Queue {
    pub const EMPTY: Queue = Queue {
        first: ptr::null_mut(),
        last: ptr::null_mut(),
    };

    #[inline]
    pub unsafe fn push(&mut self, block: *mut Invocation) {
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
            unsafe { (*self.last).next_waiting = other.first };
        }
        self.last = other.last;
        *other = Crowd::EMPTY;
    }
}

//! Classes of operations: one queue of invocations, that one process at a time looks through (the original's `iop.c` has the rules; the notes on the
//! language, section 7, restate them).
//!
//! An invocation that comes while a process looks stands aside until that is done. Processes that found nothing wait for a new one; those that have not
//! looked yet wait for access. A new invocation sends the former in front of the latter.

use std::ffi::c_void;
use std::ptr;

use antiphon_fiber::{Fibers, Lock, Servers, Threads};

use crate::flavour::Flavour;
use crate::invocation;
use crate::layout::{At, Invocation, Op};
use crate::process::{self, Process, Waits};
use crate::queues::{Crowd, Queue};
use crate::semaphore::Semaphore;

/// A class, in the memory of `struct sr_class`.
#[repr(C)]
pub struct Class<S: Servers> {
    /// The invocations to look through, oldest first. Generated code reads the first and its successors while its process has access.
    old: Queue,
    /// Those that came since.
    new: Queue,
    /// Processes that wait for access.
    entering: Crowd<S>,
    /// Processes that wait for a new invocation.
    waiting: Crowd<S>,
    is_held: bool,
    lock: S::Lock<()>,
}

const _: () = assert!(size_of::<Class<antiphon_fiber::One>>() <= 96);
const _: () = assert!(size_of::<Class<antiphon_fiber::Many>>() <= 96);

// SAFETY of everything in this file: a class's parts belong to its lock, invocations in its queues and the links of processes in its crowds as well;
// `old` belongs to the process that has access as long as one has.

impl<S: Flavour> Class<S> {
    pub fn new() -> Self {
        Class {
            old: Queue::EMPTY,
            new: Queue::EMPTY,
            entering: Crowd::EMPTY,
            waiting: Crowd::EMPTY,
            is_held: false,
            lock: S::Lock::new(()),
        }
    }

    /// An invocation comes.
    ///
    /// # Safety
    /// Of all functions here: the class lives, its caller is a process.
    #[inline]
    pub unsafe fn append(it: *mut Self, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let _held = (*it).lock.lock();
            if (*it).is_held {
                return (*it).new.push(block);
            }
            (*it).admit(block);
            (*it).recall();
            (*it).hand_on();
        }
    }

    /// Lets an invocation be looked at.
    #[inline]
    unsafe fn admit(&mut self, block: *mut Invocation) {
        unsafe {
            (*(*block).op.op).pending += 1;
            self.old.push(block);
        }
    }

    /// Lets those be looked at that came meanwhile.
    unsafe fn admit_new(&mut self) {
        let mut block = std::mem::replace(&mut self.new, Queue::EMPTY).first;
        while !block.is_null() {
            unsafe {
                let next = (*block).next;
                self.admit(block);
                block = next;
            }
        }
    }

    /// Those that found nothing may look again, before those that have not yet.
    #[inline]
    unsafe fn recall(&mut self) {
        unsafe {
            self.waiting.append(&mut self.entering);
        }
        std::mem::swap(&mut self.waiting, &mut self.entering);
    }

    /// Gives access to the first that waits for it, or to nobody.
    #[inline]
    unsafe fn hand_on(&mut self) {
        self.is_held = false;
        loop {
            unsafe {
                let next = self.entering.pop();
                if next.is_null() {
                    return;
                }
                let is_killed = process::is_killed(next);
                if !is_killed {
                    self.is_held = true;
                    (*next).holds = self;
                }
                // Who was killed is woken to be gone.
                Semaphore::v(&raw mut (*next).private);
                if !is_killed {
                    return;
                }
            }
        }
    }

    /// Gets access; waits while another has it.
    ///
    /// # Safety
    /// As for [`Class::append`].
    #[inline(always)]
    pub unsafe fn enter(it: *mut Self, at: At, name: *const std::ffi::c_char, has_else: bool) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let this = S::this();
            (*this).head.at = at;
            let held = (*it).lock.lock();
            if !(*it).is_held {
                (*it).is_held = true;
                (*this).holds = it;
                return;
            }
            (*this).has_else = has_else;
            (*it).entering.push(this);
            drop(held);
            Self::pause(it, this, name);
        }
    }

    #[inline(always)]
    unsafe fn pause(it: *mut Self, this: *mut Process<S>, name: *const std::ffi::c_char) {
        let class: *mut c_void = it.cast();
        unsafe {
            Semaphore::wait(
                &raw mut (*this).private,
                ptr::null(),
                Waits::Invocation(name, class),
            );
        }
    }

    /// The oldest pending invocation; its `next` are the younger ones.
    ///
    /// # Safety
    /// As for [`Class::append`]; the caller has access.
    pub unsafe fn first(it: *mut Self) -> *mut Invocation {
        unsafe { (*it).old.first }
    }

    /// Nothing suits the caller: waits for a new invocation, and has access again.
    ///
    /// # Safety
    /// As for [`Class::first`].
    #[inline(always)]
    pub unsafe fn wait(it: *mut Self, at: At, name: *const std::ffi::c_char) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let this = S::this();
            (*this).head.at = at;
            (*this).has_else = false;
            let held = (*it).lock.lock();
            if (*it).new.first.is_null() {
                (*it).waiting.push(this);
                (*it).hand_on();
            } else {
                (*it).admit_new();
                if (*it).waiting.first.is_null() {
                    return;
                }
                // Who waits longer looks first.
                (*it).waiting.push(this);
                (*it).recall();
                (*it).hand_on();
            }
            drop(held);
            Self::pause(it, this, name);
        }
    }

    /// Takes an invocation out and gives access away.
    ///
    /// # Safety
    /// As for [`Class::first`]; the invocation is in the queue.
    #[inline]
    pub unsafe fn take(it: *mut Self, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let _held = (*it).lock.lock();
            (*it).old.remove(block);
            (*(*block).op.op).pending -= 1;
            (*it).give_up();
        }
    }

    /// Gives access away.
    ///
    /// # Safety
    /// As for [`Class::first`].
    pub unsafe fn leave(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let _held = (*it).lock.lock();
            (*it).give_up();
        }
    }

    /// Gives access away for a process that was killed.
    ///
    /// # Safety
    /// As for [`Class::append`]; that process has access.
    pub unsafe fn forfeit(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let _held = (*it).lock.lock();
            (*it).hand_on();
        }
    }

    #[inline]
    unsafe fn give_up(&mut self) {
        unsafe {
            (*S::this()).holds = ptr::null_mut();
            if !self.new.first.is_null() {
                self.admit_new();
                self.recall();
            } else if self.old.first.is_null() {
                self.skip_hopeless();
            }
            self.hand_on();
        }
    }

    /// There is nothing to look at: who has no else would only look and wait.
    unsafe fn skip_hopeless(&mut self) {
        unsafe {
            while !self.entering.first.is_null() && !(*self.entering.first).has_else {
                let hopeless = self.entering.pop();
                self.waiting.push(hopeless);
            }
        }
    }

    /// An operation ends: its pending invocations are refused.
    ///
    /// # Safety
    /// As for [`Class::append`].
    pub unsafe fn purge(it: *mut Self, op: *mut Op) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let held = (*it).lock.lock();
            let refused = [(*it).old.remove_all(op), (*it).new.remove_all(op)];
            (*op).pending = 0;
            drop(held);
            for mut block in refused {
                while !block.is_null() {
                    let next = (*block).next;
                    invocation::refuse::<S>(block);
                    block = next;
                }
            }
        }
    }

    /// Wakes the killed processes that wait here, so that they are gone; the class is not used any more.
    ///
    /// # Safety
    /// As for [`Class::append`].
    pub unsafe fn wake_killed(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        unsafe {
            let _held = (*it).lock.lock();
            (*it).recall();
            let mut crowd = std::mem::replace(&mut (*it).entering, Crowd::EMPTY);
            loop {
                let process = crowd.pop();
                if process.is_null() {
                    return;
                }
                if process::is_killed(process) {
                    Semaphore::v(&raw mut (*process).private);
                } else {
                    (*it).entering.push(process);
                }
            }
        }
    }
}

//! Classes of operations: one queue of invocations, which one process at a time looks through. The
//! rules are those of the original's `iop.c`; section 7 of the notes on the language restates them.
//!
//! An invocation that arrives while a process looks is set aside until that process is done.
//! Processes that found nothing wait for a new invocation. Processes that have not looked yet wait
//! for access. A new invocation puts the former in front of the latter.

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
///
/// Its lock protects its parts, the invocations in its queues, and the links of processes in its
/// crowds. But `old` belongs to the process that has access, if there is one.
#[repr(C)]
pub struct Class<S: Servers> {
    /// The invocations to look through, oldest first. Generated code reads the first and its
    /// successors while its process has access.
    old: Queue,
    /// Invocations that arrived while a process had access.
    new: Queue,
    /// Processes that wait for access.
    entering: Crowd<S>,
    /// Processes that wait for a new invocation.
    waiting: Crowd<S>,
    is_held: bool,
    lock: S::Lock<()>,
    /// The class that the process with access already had access to: the condition of an input
    /// statement may contain an input statement of another class.
    outer: *mut Class<S>,
}

const _: () = assert!(size_of::<Class<antiphon_fiber::One>>() <= 96);
const _: () = assert!(size_of::<Class<antiphon_fiber::Many>>() <= 96);

impl<S: Flavour> Class<S> {
    pub fn new() -> Self {
        Class {
            old: Queue::EMPTY,
            new: Queue::EMPTY,
            entering: Crowd::EMPTY,
            waiting: Crowd::EMPTY,
            is_held: false,
            lock: S::Lock::new(()),
            outer: ptr::null_mut(),
        }
    }

    /// Gives access to a process.
    #[inline]
    unsafe fn grant(it: *mut Self, process: *mut Process<S>) {
        // SAFETY: the caller holds the class's lock, and the process is its own or one that waits.
        unsafe {
            (*it).is_held = true;
            (*it).outer = (*process).holds;
            (*process).holds = it;
        }
    }

    /// Adds an invocation.
    ///
    /// # Safety
    /// For all functions here: the class lives, and the caller is a process.
    #[inline]
    pub unsafe fn append(it: *mut Self, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract. Its lock is held, and the new block is in no
        // queue.
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

    /// Puts an invocation where the next process looks.
    #[inline]
    unsafe fn admit(&mut self, block: *mut Invocation) {
        // SAFETY: the caller holds the lock; an invocation in a queue keeps its operation's memory.
        unsafe {
            (*(*block).op.op).pending += 1;
            self.old.push(block);
        }
    }

    /// Admits the invocations that were set aside.
    unsafe fn admit_new(&mut self) {
        let mut block = std::mem::replace(&mut self.new, Queue::EMPTY).first;
        while !block.is_null() {
            // SAFETY: the caller holds the lock, which protects the links of set-aside invocations.
            unsafe {
                let next = (*block).next;
                self.admit(block);
                block = next;
            }
        }
    }

    /// Lets processes that found nothing look again, before those that have not looked yet.
    #[inline]
    unsafe fn recall(&mut self) {
        // SAFETY: the caller holds the lock, which protects the links of both crowds.
        unsafe {
            self.waiting.append(&mut self.entering);
        }
        std::mem::swap(&mut self.waiting, &mut self.entering);
    }

    /// Gives access to the first process that waits for it, if any.
    #[inline]
    unsafe fn hand_on(&mut self) {
        self.is_held = false;
        loop {
            // SAFETY: the caller holds the lock. A waiting process keeps its descriptor until it is
            // woken.
            unsafe {
                let next = self.entering.pop();
                if next.is_null() {
                    return;
                }
                let is_killed = process::is_killed(next);
                if !is_killed {
                    Self::grant(self, next);
                }
                // A killed process is woken only so that it ends.
                Semaphore::v(&raw mut (*next).private);
                if !is_killed {
                    return;
                }
            }
        }
    }

    /// Acquires access; waits while another process has it.
    ///
    /// # Safety
    /// As for [`Class::append`].
    #[inline(always)]
    pub unsafe fn enter(it: *mut Self, at: At, op: *mut Op, has_else: bool) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract. The descriptor is the caller's own, and the lock
        // is held while the class changes.
        unsafe {
            let this = S::this();
            (*this).head.at = at;
            let held = (*it).lock.lock();
            if !(*it).is_held {
                Self::grant(it, this);
                return;
            }
            (*this).has_else = has_else;
            (*it).entering.push(this);
            drop(held);
            Self::pause(it, this, op);
        }
    }

    #[inline(always)]
    unsafe fn pause(it: *mut Self, this: *mut Process<S>, op: *mut Op) {
        let class: *mut c_void = it.cast();
        // SAFETY: the descriptor is the caller's own.
        unsafe {
            Semaphore::wait(
                &raw mut (*this).private,
                ptr::null(),
                Waits::Invocation(op, class),
            );
        }
    }

    /// Returns the oldest pending invocation; `next` leads to the younger ones.
    ///
    /// # Safety
    /// As for [`Class::append`]; the caller has access.
    pub unsafe fn first(it: *mut Self) -> *mut Invocation {
        // SAFETY: the class lives, and `old` belongs to the caller, who has access.
        unsafe { (*it).old.first }
    }

    /// Waits for a new invocation, because none suits the caller; then has access again.
    ///
    /// # Safety
    /// As for [`Class::first`].
    #[inline(always)]
    pub unsafe fn wait(it: *mut Self, at: At, op: *mut Op) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: as in `enter`; the caller has access, which it gives up before it waits.
        unsafe {
            let this = S::this();
            (*this).head.at = at;
            (*this).has_else = false;
            let held = (*it).lock.lock();
            if (*it).new.first.is_null() {
                (*this).holds = (*it).outer;
                (*it).waiting.push(this);
                (*it).hand_on();
            } else {
                (*it).admit_new();
                if (*it).waiting.first.is_null() {
                    return;
                }
                // Processes that have waited longer look first.
                (*this).holds = (*it).outer;
                (*it).waiting.push(this);
                (*it).recall();
                (*it).hand_on();
            }
            drop(held);
            Self::pause(it, this, op);
        }
    }

    /// Takes an invocation out and releases access.
    ///
    /// # Safety
    /// As for [`Class::first`]; the invocation is in the queue.
    #[inline]
    pub unsafe fn take(it: *mut Self, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract. The lock is held, and the block is in `old`,
        // which belongs to the caller.
        unsafe {
            let _held = (*it).lock.lock();
            (*it).old.remove(block);
            (*(*block).op.op).pending -= 1;
            (*it).give_up();
        }
    }

    /// Releases access.
    ///
    /// # Safety
    /// As for [`Class::first`].
    pub unsafe fn leave(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract, and the lock is held.
        unsafe {
            let _held = (*it).lock.lock();
            (*it).give_up();
        }
    }

    /// Returns the class to which the process with access had access before.
    ///
    /// # Safety
    /// As for [`Class::append`]; a process that does not run has access.
    pub unsafe fn outer(it: *const Self) -> *mut Self {
        // SAFETY: the class lives. Only a process with access changes `outer`, and that one does
        // not run.
        unsafe { (*it).outer }
    }

    /// Releases access in the name of a killed process.
    ///
    /// # Safety
    /// As for [`Class::append`]; the killed process has access.
    pub unsafe fn forfeit(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract, and the lock is held. The killed process never
        // looks again.
        unsafe {
            let _held = (*it).lock.lock();
            (*it).hand_on();
        }
    }

    #[inline]
    unsafe fn give_up(&mut self) {
        // SAFETY: the caller holds the lock and has access, so that `old` is its own to read.
        unsafe {
            (*S::this()).holds = self.outer;
            if !self.new.first.is_null() {
                self.admit_new();
                self.recall();
            } else if self.old.first.is_null() {
                self.skip_hopeless();
            }
            self.hand_on();
        }
    }

    /// Skips processes without an else while there is nothing to look at: they would only look and
    /// wait again.
    unsafe fn skip_hopeless(&mut self) {
        // SAFETY: the caller holds the lock; processes in a crowd keep their descriptors.
        unsafe {
            while !self.entering.first.is_null() && !(*self.entering.first).has_else {
                let hopeless = self.entering.pop();
                self.waiting.push(hopeless);
            }
        }
    }

    /// Refuses the pending invocations of an operation that ends.
    ///
    /// # Safety
    /// As for [`Class::append`].
    pub unsafe fn purge(it: *mut Self, op: *mut Op) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class and the operation live by the contract. The lock is held until the
        // invocations are out of the queues; from then on they belong to the caller.
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

    /// Wakes the killed processes that wait here, so that they end. The class is not used
    /// afterwards.
    ///
    /// # Safety
    /// As for [`Class::append`].
    pub unsafe fn wake_killed(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the class lives by the contract. The lock is held, and processes in a crowd keep
        // their descriptors.
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

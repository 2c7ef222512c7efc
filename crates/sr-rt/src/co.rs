//! `co`: invocations started together. The process that started them handles their completions one
//! at a time, the latest first among those that have arrived.

use std::ptr;

use antiphon_fiber::{Fibers, Lock, Servers, Threads};

use crate::flavour::Flavour;
use crate::invocation::{self, Found};
use crate::layout::{At, Invocation, invoked};
use crate::process::Waits;
use crate::semaphore::Semaphore;

/// A running `co` statement. It lives until the statement is left and all its invocations have
/// completed.
pub struct Co<S: Servers> {
    state: S::Lock<State>,
    completed: Semaphore<S>,
    /// Started and not yet handled; used by the starter alone.
    open: u32,
}

struct State {
    /// Completed and not yet handled, latest first.
    done: *mut Invocation,
    /// Started and not yet completed.
    running: u32,
    /// Whether the statement was left.
    is_over: bool,
}

const LOST: &str = "attempting to invoke operation that no longer exists";

impl<S: Flavour> Co<S> {
    pub fn begin() -> *mut Self {
        Box::into_raw(Box::new(Co {
            state: S::Lock::new(State {
                done: ptr::null_mut(),
                running: 0,
                is_over: false,
            }),
            completed: Semaphore::new(ptr::null(), 0),
            open: 0,
        }))
    }

    unsafe fn count(it: *mut Self) {
        // SAFETY: the `co` lives: its statement goes on.
        unsafe {
            (*it).open += 1;
            (*it).state.lock().running += 1;
        }
    }

    /// Starts a call.
    ///
    /// # Safety
    /// Called by the process that began the `co`, which has entered the run-time. The block is from
    /// [`invocation::allocate`].
    pub unsafe fn call(it: *mut Self, at: At, block: *mut Invocation) {
        // SAFETY: by the contract the block is the caller's to give away, and the `co` lives until
        // its statement is left.
        unsafe {
            (*block).kind = invoked::CO;
            (*block).is_replied = false;
            (*block).co = it.cast();
            Self::count(it);
            match invocation::find(at, (*block).op, LOST) {
                Found::Op(op) => invocation::deliver::<S>(at, op, block),
                Found::Noop => Self::completed(it, block),
                #[cfg(feature = "machines")]
                Found::Elsewhere(to) => crate::machines::co_call::<S>(at, to, block),
            }
        }
    }

    /// Starts a send, which completes at once.
    ///
    /// # Safety
    /// As for [`Co::call`].
    pub unsafe fn send(it: *mut Self, at: At, block: *mut Invocation) {
        // SAFETY: the block belongs to the caller, and has as many bytes as it says. The copy is
        // new, and `relocate` was made for this block.
        unsafe {
            let size = (*block).size;
            let sent = invocation::allocate::<S>(at, i64::from(size));
            ptr::copy_nonoverlapping(block.cast::<u8>(), sent.cast::<u8>(), size as usize);
            if let Some(relocate) = (*sent).relocate {
                relocate(sent, sent as isize - block as isize);
            }
            invocation::send::<S>(at, sent);
            Self::count(it);
            Self::completed(it, block);
        }
    }

    /// Records an arm that completed at once.
    ///
    /// # Safety
    /// As for [`Co::call`].
    pub unsafe fn done(it: *mut Self, at: At, arm: i32) {
        // SAFETY: the new block belongs to the caller until it counts as completed.
        unsafe {
            let block = invocation::allocate::<S>(at, size_of::<Invocation>() as i64);
            (*block).arm = arm;
            Self::count(it);
            Self::completed(it, block);
        }
    }

    /// Records that an invocation has completed.
    ///
    /// # Safety
    /// The invocation was started by [`Co::call`] of this `Co`, or counted as such.
    pub unsafe fn completed(it: *mut Self, block: *mut Invocation) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the `co` lives until its statement is left and all its invocations have
        // completed, of which this is one. The last of both frees it.
        unsafe {
            // The starter frees it.
            (*block).is_replied = true;
            let mut state = (*it).state.lock();
            state.running -= 1;
            if !state.is_over {
                (*block).next = state.done;
                state.done = block;
                drop(state);
                return Semaphore::v(&raw mut (*it).completed);
            }
            let is_last = state.running == 0;
            drop(state);
            invocation::free(block);
            if is_last {
                drop(Box::from_raw(it));
            }
        }
    }

    /// Waits for the next completion. Returns null if all were handled.
    ///
    /// # Safety
    /// Called by the process that began the `co`.
    #[inline(always)]
    pub unsafe fn wait(it: *mut Self, at: At) -> *mut Invocation {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the `co` lives: its statement goes on. There is a block for each completion that
        // the semaphore counts.
        unsafe {
            if (*it).open == 0 {
                return ptr::null_mut();
            }
            (*it).open -= 1;
            Semaphore::wait(&raw mut (*it).completed, at, Waits::Co);
            let mut state = (*it).state.lock();
            let block = state.done;
            state.done = (*block).next;
            drop(state);
            #[cfg(feature = "machines")]
            crate::machines::check_completed(at, block);
            block
        }
    }

    /// Leaves the statement. Invocations that still run go on, and their results are dropped.
    ///
    /// # Safety
    /// Called by the process that began the `co`, which does not use it afterwards.
    pub unsafe fn end(it: *mut Self) {
        let _entered = Fibers::<S>::enter();
        // SAFETY: the `co` lives until here. If no invocation runs any more, nothing else can reach
        // it, and it is freed.
        unsafe {
            let mut state = (*it).state.lock();
            state.is_over = true;
            let mut block = std::mem::replace(&mut state.done, ptr::null_mut());
            let is_last = state.running == 0;
            drop(state);
            while !block.is_null() {
                let next = (*block).next;
                invocation::free(block);
                block = next;
            }
            if is_last {
                drop(Box::from_raw(it));
            }
        }
    }
}

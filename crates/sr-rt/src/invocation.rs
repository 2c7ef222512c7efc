//! Invocations: call, send, reply, forward, and their ends.
//!
//! A block belongs to one process at a time: to its caller before the call and after the answer, to
//! its servant in between.

use std::ptr;

use antiphon_fiber::{Fibers, Region, Threads};

use crate::class::Class;
use crate::co::Co;
use crate::flavour::Flavour;
use crate::layout::{At, Cap, Invocation, NOOP_SERIAL, Op, invoked, kind};
use crate::process::{self, Place, Process, Role, Waits};
use crate::semaphore::Semaphore;
use crate::{errors, options};

/// The operation that a capability leads to.
pub enum Found {
    Op(*mut Op),
    /// Nothing is to be done.
    Noop,
    /// An operation on another virtual machine.
    #[cfg(feature = "machines")]
    Elsewhere(u32),
}

/// Returns the operation of a capability, if it still exists.
///
/// # Safety
/// The capability's memory is only ever used for operations, as in the contract.
#[inline(always)]
pub unsafe fn find(at: At, cap: Cap, lost: &str) -> Found {
    #[cfg(feature = "machines")]
    if cap.machine != crate::machines::own() && !cap.op.is_null() {
        // SAFETY: by the contract.
        return unsafe { crate::machines::find(at, cap, lost) };
    }
    if cap.op.is_null() {
        if cap.serial == NOOP_SERIAL {
            return Found::Noop;
        }
        let plain = "invalid operation capability";
        let message = match options::get().is_plain {
            true => plain,
            false => "use of a null operation capability",
        };
        errors::abort(at, message);
    }
    // SAFETY: by the contract.
    if unsafe { (*cap.op).serial } != cap.serial {
        errors::abort(at, lost);
    }
    Found::Op(cap.op)
}

const LOST: &str = "attempting to invoke operation that no longer exists";
const LOST_BY_FORWARD: &str = "attempting to forward to operation that no longer exists";

/// Allocates a block, its head zeroed.
///
/// # Safety
/// Called by a process; `bytes` is at least the size of a head.
pub unsafe fn allocate<S: Flavour>(at: At, bytes: i64) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    let is_possible = (size_of::<Invocation>() as i64..i64::from(u32::MAX)).contains(&bytes);
    let block: *mut Invocation = if is_possible {
        // SAFETY: malloc of a size above zero.
        unsafe { libc::malloc(bytes as usize) }.cast()
    } else {
        ptr::null_mut()
    };
    if block.is_null() {
        crate::arena::exhausted(at, bytes);
    }
    // SAFETY: the memory is new, and has at least the size of a head, for which zero is valid.
    unsafe {
        ptr::write_bytes(block, 0, 1);
        (*block).size = bytes as u32;
        (*block).is_owned = true;
    }
    block
}

/// # Safety
/// As above; the block is not used afterwards.
pub unsafe fn free(block: *mut Invocation) {
    // SAFETY: by the contract the block is the caller's, and is not used again.
    unsafe {
        if (*block).is_owned {
            libc::free(block.cast());
        }
    }
}

/// Copies a block for a servant whose caller goes on. No process waits for the copy.
unsafe fn copy<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
    // SAFETY: the block has as many bytes as it says, and so has its copy. `relocate` was made for
    // this block.
    unsafe {
        let size = (*block).size;
        let copy = allocate::<S>(at, i64::from(size));
        ptr::copy_nonoverlapping(block.cast::<u8>(), copy.cast::<u8>(), size as usize);
        (*copy).is_owned = true;
        disclaim(copy);
        if let Some(relocate) = (*copy).relocate {
            relocate(copy, copy as isize - block as isize);
        }
        copy
    }
}

/// Marks a block for which no process waits any more.
unsafe fn disclaim(block: *mut Invocation) {
    // SAFETY: the block is the caller's.
    unsafe {
        (*block).kind = invoked::SEND;
        (*block).is_replied = true;
        (*block).co = ptr::null_mut();
        (*block).answer = ptr::null_mut();
    }
}

/// Implements call.
///
/// # Safety
/// As above; called by a process.
#[inline(always)]
pub unsafe fn call<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
    let entered = Fibers::<S>::enter();
    // SAFETY: the block is the caller's until it is delivered, and the caller's descriptor is its
    // own. An operation that `find` returns lives. `answer` outlives the wait for the reply.
    unsafe {
        let this = S::this();
        (*this).head.at = at;
        let op = match find(at, (*block).op, LOST) {
            Found::Op(op) => op,
            Found::Noop => return block,
            #[cfg(feature = "machines")]
            Found::Elsewhere(to) => return crate::machines::call::<S>(at, to, block),
        };
        (*block).kind = invoked::CALL;
        (*block).is_replied = false;
        if (*op).kind == kind::PROC {
            drop(entered);
            return call_here(this, at, op, block);
        }
        let mut answer: *mut Invocation = ptr::null_mut();
        (*block).caller = this.cast();
        (*block).answer = &mut answer;
        if (*op).kind == kind::SEMAPHORE {
            Semaphore::<S>::v((*op).target.semaphore.cast());
            return block;
        }
        deliver::<S>(at, op, block);
        Semaphore::wait(&raw mut (*this).private, ptr::null(), Waits::Reply(op));
        // The replying process has written it before the V.
        (&raw const answer).read_volatile()
    }
}

/// Runs a proc in the caller's own process, as generated code calls generated code. Meanwhile
/// reports name the proc, as original SR's do.
#[inline(always)]
unsafe fn call_here<S: Flavour>(
    this: *mut Process<S>,
    at: At,
    op: *mut Op,
    block: *mut Invocation,
) -> *mut Invocation {
    // SAFETY: the descriptor is the caller's own, and the operation lives. Generated code made the
    // block for the operation's code.
    unsafe {
        let (name, role) = ((*this).name, (*this).role);
        (*this).name = (*op).name;
        (*this).role = Role::Proc;
        let block = code_of(op, at)((*op).instance, block);
        (*this).name = name;
        (*this).role = role;
        (*this).head.at = at;
        block
    }
}

unsafe fn code_of(op: *mut Op, at: At) -> crate::layout::Code {
    // SAFETY: the caller passes an operation of a proc, whose target is its code.
    match unsafe { (*op).target.code } {
        Some(code) => code,
        None => errors::abort(at, "an operation has no code"),
    }
}

/// Delivers an invocation to the process or operation that serves it.
#[inline]
pub unsafe fn deliver<S: Flavour>(at: At, op: *mut Op, block: *mut Invocation) {
    // SAFETY: the operation lives, its kind says what its target is, and the block is an invocation
    // of it that belongs to nobody else.
    unsafe {
        match (*op).kind {
            kind::INPUT => Class::<S>::append((*op).target.class.cast(), block),
            kind::SEMAPHORE => {
                Semaphore::<S>::v((*op).target.semaphore.cast());
                finish::<S>(block);
            }
            _ => {
                let (code, instance, name) = (code_of(op, at), (*op).instance, (*op).name);
                let place = Place {
                    #[cfg(feature = "machines")]
                    priority: ((*block).token != 0).then_some((*block).priority),
                    #[cfg(not(feature = "machines"))]
                    priority: None,
                    region: usize::try_from((*block).region - 1).ok().map(Region),
                    invocation: Some((op, block)),
                };
                process::start_in::<S>(at, instance, name, Role::Proc, place, move |_| {
                    let last = process::generated::<S, _>(|| code(instance, block));
                    finish::<S>(last);
                });
            }
        }
    }
}

/// Implements send.
///
/// # Safety
/// As above; the block is from [`allocate`], and the callee takes it over.
pub unsafe fn send<S: Flavour>(at: At, block: *mut Invocation) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the block is the caller's until it is delivered, freed or sent.
    unsafe {
        disclaim(block);
        match find(at, (*block).op, LOST) {
            Found::Op(op) => deliver::<S>(at, op, block),
            Found::Noop => free(block),
            #[cfg(feature = "machines")]
            Found::Elsewhere(to) => crate::machines::send::<S>(at, to, block),
        }
    }
}

/// Tells the caller that the block holds its results.
unsafe fn answer<S: Flavour>(block: *mut Invocation) {
    // SAFETY: the servant owns the block until here. The caller that the block names waits until
    // the V, and so its `answer` lives; a `co` lives until its invocations have completed.
    unsafe {
        (*block).is_replied = true;
        match (*block).kind {
            invoked::CALL => {
                let caller: *mut Process<S> = (*block).caller.cast();
                *(*block).answer = block;
                Semaphore::v(&raw mut (*caller).private);
            }
            invoked::CO => Co::<S>::completed((*block).co.cast(), block),
            #[cfg(feature = "machines")]
            invoked::REMOTE => crate::machines::answer::<S>(block),
            _ => free(block),
        }
    }
}

/// Implements reply. Returns the servant's new block.
///
/// # Safety
/// As above.
pub unsafe fn reply<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the servant owns the block until it answers, and the copy from then on.
    unsafe {
        if (*block).is_replied {
            return block;
        }
        let copy = copy::<S>(at, block);
        answer::<S>(block);
        copy
    }
}

/// Implements forward. Returns the servant's new block.
///
/// # Safety
/// As above; `next` is from [`allocate`], and the callee takes it over.
pub unsafe fn forward<S: Flavour>(
    at: At,
    block: *mut Invocation,
    next: *mut Invocation,
) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the servant owns both blocks. `next` gets the duty to answer, and `kept` has none.
    unsafe {
        (*next).kind = (*block).kind;
        (*next).caller = (*block).caller;
        (*next).co = (*block).co;
        (*next).arm = (*block).arm;
        (*next).answer = (*block).answer;
        (*next).is_replied = (*block).is_replied;
        #[cfg(feature = "machines")]
        crate::machines::inherit(block, next);
        // A block of the caller's own would be gone when the caller goes on.
        let kept = if (*block).is_owned {
            disclaim(block);
            block
        } else {
            copy::<S>(at, block)
        };
        match find(at, (*next).op, LOST_BY_FORWARD) {
            Found::Op(op) => deliver::<S>(at, op, next),
            Found::Noop => finish::<S>(next),
            #[cfg(feature = "machines")]
            Found::Elsewhere(to) => crate::machines::forward::<S>(at, to, next),
        }
        kept
    }
}

/// Ends an arm or a proc.
///
/// # Safety
/// As above.
pub unsafe fn finish<S: Flavour>(block: *mut Invocation) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the servant owns the block, and does not use it afterwards.
    unsafe {
        if (*block).is_replied {
            free(block);
        } else {
            answer::<S>(block);
        }
    }
}

/// Refuses an invocation whose operation ended before it was served.
///
/// # Safety
/// As above; the block is in no queue.
pub unsafe fn refuse<S: Flavour>(block: *mut Invocation) {
    // SAFETY: the block is in no queue, so that it belongs to the caller.
    unsafe {
        (*block).is_refused = true;
        finish::<S>(block);
    }
}

//! Invocations: call, send, reply, forward, and their ends.

use std::ptr;

use antiphon_fiber::{Fibers, Threads};

use crate::class::Class;
use crate::co::Co;
use crate::errors;
use crate::flavour::Flavour;
use crate::layout::{At, Cap, Invocation, NOOP_SERIAL, Op, invoked, kind};
use crate::process::{self, Process, Role, Waits};
use crate::semaphore::Semaphore;

/// What a capability turns out to be.
pub enum Found {
    Op(*mut Op),
    /// Nothing is to be done.
    Noop,
}

/// The operation of a capability, if it still is one.
///
/// # Safety
/// The capability's memory is only ever used for operations, as the contract says.
#[inline(always)]
pub unsafe fn find(at: At, cap: Cap, lost: &str) -> Found {
    if cap.op.is_null() {
        if cap.serial == NOOP_SERIAL {
            return Found::Noop;
        }
        errors::abort(at, "invalid operation capability");
    }
    // SAFETY: by the contract.
    if unsafe { (*cap.op).serial } != cap.serial {
        errors::abort(at, lost);
    }
    Found::Op(cap.op)
}

const LOST: &str = "attempting to invoke operation that no longer exists";
const LOST_BY_FORWARD: &str = "attempting to forward to operation that no longer exists";

// SAFETY of everything below: blocks and operations are as the contract has them; a block belongs to one process at a time, to its
// caller before the call and after the answer, to its servant in between.

/// A block, its head zeroed.
///
/// # Safety
/// Called by a process, with at least the bytes of a head.
pub unsafe fn allocate<S: Flavour>(at: At, bytes: i64) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    let is_possible = (size_of::<Invocation>() as i64..i64::from(u32::MAX)).contains(&bytes);
    let block: *mut Invocation = if is_possible {
        unsafe { libc::malloc(bytes as usize) }.cast()
    } else {
        ptr::null_mut()
    };
    if block.is_null() {
        crate::arena::exhausted(at, bytes);
    }
    unsafe {
        ptr::write_bytes(block, 0, 1);
        (*block).size = bytes as u32;
        (*block).is_owned = true;
    }
    block
}

/// # Safety
/// As above; nobody uses the block afterwards.
pub unsafe fn free(block: *mut Invocation) {
    unsafe {
        if (*block).is_owned {
            libc::free(block.cast());
        }
    }
}

/// A copy for a servant whose caller goes on: what becomes of it interests nobody.
unsafe fn copy<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
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

/// Nobody waits for this block any more.
unsafe fn disclaim(block: *mut Invocation) {
    unsafe {
        (*block).kind = invoked::SEND;
        (*block).is_replied = true;
        (*block).co = ptr::null_mut();
        (*block).answer = ptr::null_mut();
    }
}

/// call.
///
/// # Safety
/// As above; called by a process.
#[inline(always)]
pub unsafe fn call<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
    let entered = Fibers::<S>::enter();
    unsafe {
        let this = S::this();
        (*this).head.at = at;
        let op = match find(at, (*block).op, LOST) {
            Found::Op(op) => op,
            Found::Noop => return block,
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
        Semaphore::wait(
            &raw mut (*this).private,
            ptr::null(),
            Waits::Reply((*op).name),
        );
        // Written by who replied, before the V.
        (&raw const answer).read_volatile()
    }
}

/// Runs a proc in the caller's own process, as generated code that is called by generated code. Reports name the proc meanwhile, as original SR's do.
#[inline(always)]
unsafe fn call_here<S: Flavour>(
    this: *mut Process<S>,
    at: At,
    op: *mut Op,
    block: *mut Invocation,
) -> *mut Invocation {
    unsafe {
        let (name, role) = ((*this).name, (*this).role);
        (*this).name = (*op).name;
        (*this).role = Role::Proc;
        let block = code_of(op, at)((*op).instance, block);
        (*this).name = name;
        (*this).role = role;
        block
    }
}

unsafe fn code_of(op: *mut Op, at: At) -> crate::layout::Code {
    match unsafe { (*op).target.code } {
        Some(code) => code,
        None => errors::abort(at, "an operation has no code"),
    }
}

/// Brings an invocation to who serves it.
#[inline]
pub unsafe fn deliver<S: Flavour>(at: At, op: *mut Op, block: *mut Invocation) {
    unsafe {
        match (*op).kind {
            kind::INPUT => Class::<S>::append((*op).target.class.cast(), block),
            kind::SEMAPHORE => {
                Semaphore::<S>::v((*op).target.semaphore.cast());
                finish::<S>(block);
            }
            _ => {
                let (code, instance, name) = (code_of(op, at), (*op).instance, (*op).name);
                process::start::<S>(at, instance, name, Role::Proc, move |_| {
                    let last = process::generated::<S, _>(|| code(instance, block));
                    finish::<S>(last);
                });
            }
        }
    }
}

/// send.
///
/// # Safety
/// As above; the block is from [`allocate`] and is given away.
pub unsafe fn send<S: Flavour>(at: At, block: *mut Invocation) {
    let _entered = Fibers::<S>::enter();
    unsafe {
        disclaim(block);
        match find(at, (*block).op, LOST) {
            Found::Op(op) => deliver::<S>(at, op, block),
            Found::Noop => free(block),
        }
    }
}

/// Tells the caller that the block has its results.
unsafe fn answer<S: Flavour>(block: *mut Invocation) {
    unsafe {
        (*block).is_replied = true;
        match (*block).kind {
            invoked::CALL => {
                let caller: *mut Process<S> = (*block).caller.cast();
                *(*block).answer = block;
                Semaphore::v(&raw mut (*caller).private);
            }
            invoked::CO => Co::<S>::completed((*block).co.cast(), block),
            _ => free(block),
        }
    }
}

/// reply: the servant's new block.
///
/// # Safety
/// As above.
pub unsafe fn reply<S: Flavour>(at: At, block: *mut Invocation) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    unsafe {
        if (*block).is_replied {
            return block;
        }
        let copy = copy::<S>(at, block);
        answer::<S>(block);
        copy
    }
}

/// forward: the servant's new block.
///
/// # Safety
/// As above; `next` is from [`allocate`] and is given away.
pub unsafe fn forward<S: Flavour>(
    at: At,
    block: *mut Invocation,
    next: *mut Invocation,
) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    unsafe {
        (*next).kind = (*block).kind;
        (*next).caller = (*block).caller;
        (*next).co = (*block).co;
        (*next).arm = (*block).arm;
        (*next).answer = (*block).answer;
        (*next).is_replied = (*block).is_replied;
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
        }
        kept
    }
}

/// The end of an arm, or of a proc.
///
/// # Safety
/// As above.
pub unsafe fn finish<S: Flavour>(block: *mut Invocation) {
    let _entered = Fibers::<S>::enter();
    unsafe {
        if (*block).is_replied {
            free(block);
        } else {
            answer::<S>(block);
        }
    }
}

/// Its operation ended before anybody served it.
///
/// # Safety
/// As above; the block is in no queue.
pub unsafe fn refuse<S: Flavour>(block: *mut Invocation) {
    unsafe {
        (*block).is_refused = true;
        finish::<S>(block);
    }
}

//! Operations: their memory, their beginning and their end.

use std::ptr;

use antiphon_fiber::{Fibers, Lock, Threads};

use crate::arena::exhausted;
use crate::class::Class;
use crate::errors;
use crate::flavour::Flavour;
use crate::invocation::{self, Found};
use crate::layout::{At, Cap, Instance, Name, Op, OpTarget, kind};
use crate::semaphore::Semaphore;

/// Makes an operation.
///
/// # Safety
/// The memory is that of an operation that is not in use; the name is static; the target lives as
/// long as the operation.
pub unsafe fn begin<S: Flavour>(
    op: *mut Op,
    of: *mut Instance,
    name: Name,
    kind: i16,
    target: OpTarget,
) {
    let serial = S::runtime().serial();
    // SAFETY: by the contract nothing else uses the memory.
    unsafe {
        op.write(Op {
            serial,
            kind,
            is_dynamic: 0,
            pending: 0,
            index: 0,
            name,
            instance: of,
            target,
        });
    }
}

/// Ends operations that lie side by side. Pending invocations are refused, and capabilities find
/// nothing any more.
///
/// # Safety
/// They are operations, or zeroed.
pub unsafe fn end<S: Flavour>(ops: *mut Op, count: i64) {
    for number in 0..count as usize {
        // SAFETY: operations or zeroes lie there, `count` of them; the class of an input operation
        // outlives it.
        unsafe {
            let op = ops.add(number);
            let kind = std::mem::replace(&mut (*op).kind, kind::NONE);
            (*op).serial = 0;
            if kind == kind::INPUT {
                Class::<S>::purge((*op).target.class.cast(), op);
            }
        }
    }
}

/// Allocates memory for that many operations, side by side; none of them has begun.
pub fn allocate<S: Flavour>(at: At, count: i64) -> *mut Op {
    let _entered = Fibers::<S>::enter();
    let spare = S::runtime()
        .spare_ops
        .lock()
        .get_mut(&count)
        .and_then(Vec::pop);
    if let Some(ops) = spare {
        return ops;
    }
    let Ok(wanted) = usize::try_from(count) else {
        exhausted(at, count);
    };
    // SAFETY: calloc checks the product.
    let ops: *mut Op = unsafe { libc::calloc(wanted.max(1), size_of::<Op>()) }.cast();
    if ops.is_null() {
        exhausted(at, count.saturating_mul(size_of::<Op>() as i64));
    }
    ops
}

/// Ends operations and keeps their memory for others.
///
/// # Safety
/// They are from [`allocate`] with that count.
pub unsafe fn free<S: Flavour>(ops: *mut Op, count: i64) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: by the contract.
    unsafe { end::<S>(ops, count) };
    let mut spare = S::runtime().spare_ops.lock();
    spare.entry(count).or_default().push(ops);
}

/// Implements new(op(...)): an input operation of a class. A null class means a class of its own.
///
/// # Safety
/// The instance lives, or is null; the class lives as long as the operation.
pub unsafe fn create<S: Flavour>(
    at: At,
    of: *mut Instance,
    name: Name,
    class: *mut Class<S>,
) -> Cap {
    let _entered = Fibers::<S>::enter();
    let op = allocate::<S>(at, 1);
    let class = if class.is_null() {
        Box::into_raw(Box::new(Class::<S>::new()))
    } else {
        class
    };
    let target = OpTarget {
        class: class.cast(),
    };
    // SAFETY: the memory is new, and the class and the instance live by the contract.
    unsafe {
        begin::<S>(op, of, name, kind::INPUT, target);
        // The mark of operations that do not end with a block or an instance.
        (*op).is_dynamic = 1;
        Cap::here(op, (*op).serial)
    }
}

/// Implements destroy of an operation's capability.
///
/// # Safety
/// As for all capabilities.
pub unsafe fn destroy<S: Flavour>(at: At, cap: Cap) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: memory of operations is only ever used for operations. A dynamic operation was
    // allocated by itself.
    unsafe {
        let op = match invocation::find(at, cap, "op no longer exists") {
            Found::Op(op) => op,
            Found::Noop => return,
            #[cfg(feature = "machines")]
            Found::Elsewhere(to) => return crate::machines::destroy_op(at, to, cap),
        };
        if (*op).is_dynamic == 0 {
            errors::abort(at, "not a dynamic op");
        }
        // The class stays, because a process may wait in it.
        free::<S>(op, 1);
    }
}

/// Implements ?cap.
///
/// # Safety
/// As for all capabilities.
pub unsafe fn pending<S: Flavour>(at: At, cap: Cap) -> i32 {
    // SAFETY: an operation that `find` returns lives, and its kind says what its target is.
    unsafe {
        let op = match invocation::find(at, cap, "op no longer exists") {
            Found::Op(op) => op,
            Found::Noop => return 0,
            #[cfg(feature = "machines")]
            Found::Elsewhere(to) => return crate::machines::pending(at, to, cap),
        };
        match (*op).kind {
            kind::INPUT => (*op).pending,
            kind::SEMAPHORE => {
                let semaphore: *mut Semaphore<S> = (*op).target.semaphore.cast();
                (*semaphore).value().max(0)
            }
            _ => 0,
        }
    }
}

/// Takes the oldest invocation of an operation. Returns null if there is none and there is an else.
///
/// # Safety
/// As for all capabilities; called by a process.
#[inline(always)]
pub unsafe fn receive<S: Flavour>(
    at: At,
    cap: Cap,
    has_else: bool,
) -> *mut crate::layout::Invocation {
    let _entered = Fibers::<S>::enter();
    // SAFETY: an operation that `find` returns lives, and so does its class. Between `enter` and
    // `take`, `leave` or `wait` this process alone looks through the queue.
    unsafe {
        let Found::Op(op) = invocation::find(at, cap, "op no longer exists") else {
            if !has_else {
                wait_for_ever::<S>(at);
            }
            return ptr::null_mut();
        };
        match (*op).kind {
            kind::INPUT => {}
            kind::SEMAPHORE => return receive_token::<S>(at, op, has_else),
            _ => errors::abort(at, "cannot input from a proc operation"),
        }
        let class: *mut Class<S> = (*op).target.class.cast();
        Class::enter(class, at, op, has_else);
        loop {
            let mut block = Class::first(class);
            while !block.is_null() {
                if (*block).op.op == op {
                    Class::take(class, block);
                    return block;
                }
                block = (*block).next;
            }
            if has_else {
                Class::leave(class);
                return ptr::null_mut();
            }
            Class::wait(class, at, op);
        }
    }
}

/// Implements receive from a semaphore: a P, and a block that only satisfies the contract.
#[cold]
unsafe fn receive_token<S: Flavour>(
    at: At,
    op: *mut Op,
    has_else: bool,
) -> *mut crate::layout::Invocation {
    // SAFETY: the operation lives, and its target is a semaphore. The new block belongs to the
    // caller.
    unsafe {
        let semaphore: *mut Semaphore<S> = (*op).target.semaphore.cast();
        if has_else && (*semaphore).value() <= 0 {
            return ptr::null_mut();
        }
        Semaphore::p(semaphore, at);
        let block = invocation::allocate::<S>(at, size_of::<crate::layout::Invocation>() as i64);
        (*block).is_replied = true;
        block
    }
}

/// Waits for input from noop, which never comes.
#[cold]
unsafe fn wait_for_ever<S: Flavour>(at: At) {
    loop {
        // SAFETY: the descriptor is the caller's own.
        unsafe {
            let this = S::this();
            Semaphore::wait(&raw mut (*this).private, at, crate::process::Waits::Ever);
        }
    }
}

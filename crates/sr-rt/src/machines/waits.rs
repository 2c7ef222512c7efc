//! Waits of this machine's processes for other machines.

use std::ffi::c_void;
use std::ptr;

use bytes::Bytes;

use super::letters::{Awaits, BlockSent, Letter};
use super::session::link;
use super::{blocks, own};
use crate::co::Co;
use crate::flavour::Flavour;
use crate::invocation;
use crate::layout::{At, Invocation, invoked};
use crate::process::{Process, Waits};
use crate::semaphore::Semaphore;

/// What happens at the end of a wait.
#[derive(Clone, Copy)]
pub enum Waiter {
    /// A call: where to put the block with its results.
    Call {
        caller: *mut c_void,
        answer: *mut *mut Invocation,
    },
    /// An invocation of a `co`, and the number of its arm.
    Co { co: *mut c_void, arm: i32 },
    /// A question of the run-time's.
    Question {
        process: *mut c_void,
        reply: *mut Option<Reply>,
    },
}

/// The outcome of a question.
pub type Reply = Result<(Letter, Bytes), String>;

// SAFETY: the pointers lead to memory that lives while its process waits. The process that serves
// this machine uses it, before it wakes the waiting one.
unsafe impl Send for Waiter {}

/// The mark of an invocation of a `co` whose machine was lost.
const LOST: u64 = u64::MAX - 1;

/// Notes which process waits for the end of an invocation that goes to another machine.
///
/// # Safety
/// The block's head names the process that waits for it.
pub unsafe fn for_block(on: u32, block: *mut Invocation) -> Awaits {
    // SAFETY: the block is the caller's, and its kind says which parts of its head are set.
    unsafe {
        let Some(link) = link().filter(|_| !(*block).is_replied) else {
            return Awaits::Nobody;
        };
        let waiter = match (*block).kind {
            invoked::CALL => Waiter::Call {
                caller: (*block).caller.cast(),
                answer: (*block).answer,
            },
            invoked::CO => Waiter::Co {
                co: (*block).co,
                arm: (*block).arm,
            },
            invoked::REMOTE => {
                let invocation = Awaits::Process {
                    home: (*block).home,
                    token: (*block).token,
                    hops: (*block).hops,
                };
                let (awaits, told) = link.protocol.passes_on(invocation, on);
                link.tell(told);
                return awaits;
            }
            _ => return Awaits::Nobody,
        };
        Awaits::Process {
            home: own(),
            token: link.protocol.begin_wait(on, waiter),
            hops: 0,
        }
    }
}

/// Takes the block of an invocation that has come back.
///
/// # Safety
/// The caller is a process.
pub unsafe fn answered<S: Flavour>(token: u64, sent: BlockSent, body: &[u8]) {
    // SAFETY: the caller is a process, and the block that came back is new.
    unsafe {
        let Some(waiter) = link().and_then(|link| link.protocol.end_wait(token)) else {
            return;
        };
        let block = blocks::received::<S>(sent, body);
        (*block).is_replied = true;
        finish::<S>(waiter, block);
    }
}

unsafe fn finish<S: Flavour>(waiter: Waiter, block: *mut Invocation) {
    // SAFETY: the waiter's process waits until the V, or its `co` until all its invocations have
    // completed. So what the waiter points at lives.
    unsafe {
        match waiter {
            Waiter::Call { caller, answer } => {
                *answer = block;
                let caller: *mut Process<S> = caller.cast();
                Semaphore::v(&raw mut (*caller).private);
            }
            Waiter::Co { co, arm } => {
                (*block).arm = arm;
                Co::<S>::completed(co.cast(), block);
            }
            Waiter::Question { .. } => invocation::free(block),
        }
    }
}

/// Takes the reply to a question.
///
/// # Safety
/// The caller is a process.
pub unsafe fn replied<S: Flavour>(token: u64, reply: Reply) {
    let waiter = link().and_then(|link| link.protocol.end_wait(token));
    if let Some(Waiter::Question { process, reply: to }) = waiter {
        // SAFETY: they live while the process waits.
        unsafe {
            *to = Some(reply);
            let process: *mut Process<S> = process.cast();
            Semaphore::v(&raw mut (*process).private);
        }
    }
}

/// Ends waits for a machine that is gone.
///
/// # Safety
/// The caller is a process.
pub unsafe fn fail<S: Flavour>(waiters: Vec<Waiter>, machine: u32, why: &str) {
    for waiter in waiters {
        // SAFETY: as in `answered`.
        unsafe {
            match waiter {
                Waiter::Question { process, reply } => {
                    *reply = Some(Err(why.to_owned()));
                    let process: *mut Process<S> = process.cast();
                    Semaphore::v(&raw mut (*process).private);
                }
                Waiter::Co { .. } => {
                    let head = size_of::<Invocation>() as i64;
                    let block = invocation::allocate::<S>(ptr::null(), head);
                    (*block).token = LOST;
                    (*block).home = machine;
                    finish::<S>(waiter, block);
                }
                Waiter::Call { .. } => finish::<S>(waiter, ptr::null_mut()),
            }
        }
    }
}

/// Ends the program if an invocation that a `co` counts as completed was lost with its machine.
///
/// # Safety
/// The block belongs to the `co`.
pub unsafe fn check_completed(at: At, block: *mut Invocation) {
    // SAFETY: the `co` owns the block, which is either a completed one or a mark.
    unsafe {
        if (*block).token == LOST {
            gone(at, (*block).home);
        }
    }
}

/// Ends the program because a machine is gone.
pub fn gone(at: At, machine: u32) -> ! {
    let why = link().and_then(|link| link.check(machine).err());
    let why = why.unwrap_or_else(|| format!("virtual machine {} is gone", machine + 1));
    super::refuse(at, machine, &why)
}

/// Waits for the answer to a call that was sent.
///
/// # Safety
/// The caller is the process named in the block's head, and `answer` is what that head points at.
pub unsafe fn await_answer<S: Flavour>(
    at: At,
    on: u32,
    answer: *const *mut Invocation,
) -> *mut Invocation {
    // SAFETY: the descriptor is the caller's own. The process that serves this machine writes the
    // answer before its V.
    unsafe {
        let this = S::this();
        Semaphore::wait(&raw mut (*this).private, ptr::null(), Waits::Machine(on));
        let block = answer.read_volatile();
        if block.is_null() {
            gone(at, on);
        }
        block
    }
}

/// Asks another machine and waits for its reply. Ends the program if there is none.
///
/// # Safety
/// The caller is a process.
pub unsafe fn ask<S: Flavour>(
    at: At,
    to: u32,
    letter: impl FnOnce(u64) -> Letter,
    body: Vec<u8>,
) -> (Letter, Bytes) {
    // SAFETY: the contract is the same.
    match unsafe { try_ask::<S>(at, to, letter, body) } {
        Ok(reply) => reply,
        Err(why) => super::refuse(at, to, &why),
    }
}

/// The same, except that a loss is no error.
///
/// # Safety
/// The caller is a process.
pub unsafe fn try_ask<S: Flavour>(
    at: At,
    to: u32,
    letter: impl FnOnce(u64) -> Letter,
    body: Vec<u8>,
) -> Reply {
    let Some(link) = link() else {
        return Err("there are no virtual machines".into());
    };
    let this = S::this();
    let mut reply: Option<Reply> = None;
    let waiter = Waiter::Question {
        process: this.cast(),
        reply: &raw mut reply,
    };
    let token = link.protocol.begin_wait(to, waiter);
    if let Err(why) = link.post(to, &letter(token), body) {
        let _ = link.protocol.end_wait(token);
        return Err(why);
    }
    // SAFETY: the caller's own descriptor; the reply is written before the V.
    unsafe {
        Semaphore::wait(&raw mut (*this).private, at, Waits::Machine(to));
        let reply = (&raw mut reply).replace(None);
        reply.unwrap_or_else(|| Err("nothing was answered".into()))
    }
}

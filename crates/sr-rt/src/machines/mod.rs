//! Virtual machines: other address spaces, each an OS process that runs the same program.
//!
//! The machines are the processes of a panda session. The first machine begins the session when the
//! program creates the second, and starts all others. This follows Rühl et al. 1996, section 4.2,
//! where the original's execution manager runs as a thread of the main machine. A capability has
//! the number of its machine. An invocation of another machine's operation goes there as a message,
//! and is served there like a local one. On each machine one process handles all messages, and must
//! not wait. For actions that may wait it starts other processes.
//!
//! The end is found by panda's detection of quiescence, on which the first machine acts. What needs
//! neither processes nor blocks is the [`protocol`], which the simulator runs, too.

use std::ptr;

use antiphon_fiber::{Fibers, Threads};
use antiphon_panda::Message;

use crate::errors;
use crate::flavour::Flavour;
use crate::invocation::Found;
use crate::layout::{At, Cap, Instance, Invocation, Op, invoked};
use crate::options;

use protocol::{inbox, letters};

use letters::{Awaits, Letter, Origin};
use session::link;

mod addresses;
mod answers;
mod blocks;
mod counts;
mod ending;
mod exports;
mod protocol;
mod relay;
mod roll_call;
mod serve;
mod session;
mod timeline;
mod vms;
mod waits;

pub use counts::of_others as counts_of_others;
pub use ending::{at_rest, before_exit, stop, take_leave};
pub use relay::{read_line, relay};
pub use roll_call::{everywhere_else, wake_at_signal};
#[cfg(not(test))]
pub use serve::{become_guest, begin_joined};
pub use timeline::{other_data, turns_dropped, write_timelines};
pub use waits::check_completed;

/// This machine's number, where generated code reads it. The first machine has 0; in messages,
/// numbers start at 1.
#[unsafe(no_mangle)]
static mut sr_machine: u32 = 0;

/// A flag in the place of a machine's number: the capability is for an operation of a resource, and
/// has the resource's serial.
const BY_RESOURCE: u32 = 1 << 31;

/// This machine's number.
#[inline(always)]
pub fn own() -> u32 {
    // SAFETY: set before the first process runs, or while there is only one machine.
    unsafe { (&raw const sr_machine).read() }
}

fn set_own(machine: u32) {
    // SAFETY: as above.
    unsafe { (&raw mut sr_machine).write(machine) };
}

/// Whether there are, or were, other machines.
pub fn is_joined() -> bool {
    link().is_some()
}

/// Whether this is not the first machine.
pub fn is_guest() -> bool {
    own() != 0
}

/// Returns the text that precedes this machine's messages.
pub fn prefix() -> String {
    match is_joined() {
        true => format!("[vm {}] ", own() + 1),
        false => String::new(),
    }
}

/// Returns the machine of a capability.
fn machine_of(cap: Cap) -> u32 {
    cap.machine & !BY_RESOURCE
}

/// Returns the operation of a capability of this machine, if it still exists.
///
/// # Safety
/// The capability's memory is only ever used for operations.
unsafe fn operation(cap: Cap) -> Option<*mut Op> {
    // SAFETY: memory of operations is only ever used for operations, and instances are never
    // unmapped.
    unsafe {
        let op = cap.op;
        let is_there = match cap.machine & BY_RESOURCE {
            0 => (*op).serial == cap.serial,
            _ => {
                let of = (*op).instance;
                (*op).serial != 0 && !of.is_null() && (*of).serial == cap.serial
            }
        };
        is_there.then_some(op)
    }
}

/// Resolves a capability whose mark is not that of this machine's own.
///
/// # Safety
/// As for [`crate::invocation::find`].
#[cold]
pub unsafe fn find(at: At, cap: Cap, lost: &str) -> Found {
    let machine = machine_of(cap);
    if machine != own() {
        return Found::Elsewhere(machine);
    }
    // SAFETY: by the contract.
    match unsafe { operation(cap) } {
        Some(op) => Found::Op(op),
        None => errors::abort(at, lost),
    }
}

/// Returns the place of a message, and its sender's priority.
fn origin<S: Flavour>(at: At) -> Origin {
    Origin {
        base: letters::Base::own(),
        at: at as u64,
        priority: Fibers::<S>::priority(),
    }
}

/// Ends the program because a machine cannot be asked.
fn refuse(at: At, machine: u32, why: &str) -> ! {
    if let Some(link) = link() {
        link.note_told(machine);
    }
    errors::abort(at, why)
}

/// Sends a letter; ends the program if its machine is gone.
fn post(at: At, to: u32, letter: &Letter, body: impl Into<Message>) {
    let posted = match link() {
        Some(link) => link.post(to, letter, body),
        None => Err(format!("there is no virtual machine {}", to + 1)),
    };
    if let Err(why) = posted {
        refuse(at, to, &why);
    }
}

/// Sends an invocation to another machine, with the process that waits for it. The message takes
/// the block over.
unsafe fn invoke<S: Flavour>(at: At, to: u32, block: *mut Invocation) {
    // SAFETY: by the callers' contract the block is theirs to give away, and its head names the
    // process that waits.
    unsafe {
        blocks::check(at, block);
        let awaits = waits::for_block(to, block);
        let (sent, body) = blocks::give::<S>(block, false);
        let letter = Letter::Invoke {
            origin: origin::<S>(at),
            awaits,
            block: sent,
        };
        post(at, to, &letter, body);
    }
}

/// Implements call.
///
/// # Safety
/// As for [`crate::invocation::call`].
#[cold]
#[inline(never)]
pub unsafe fn call<S: Flavour>(at: At, to: u32, block: *mut Invocation) -> *mut Invocation {
    // SAFETY: as for a local call: the block is the caller's, and `answer` outlives the wait for
    // the reply.
    unsafe {
        let mut answer: *mut Invocation = ptr::null_mut();
        (*block).kind = invoked::CALL;
        (*block).is_replied = false;
        (*block).caller = S::this().cast();
        (*block).answer = &raw mut answer;
        invoke::<S>(at, to, block);
        waits::await_answer::<S>(at, to, &raw const answer)
    }
}

/// Implements send.
///
/// # Safety
/// As for [`crate::invocation::send`].
#[cold]
pub unsafe fn send<S: Flavour>(at: At, to: u32, block: *mut Invocation) {
    // SAFETY: by the contract the block is the caller's to give away.
    unsafe { invoke::<S>(at, to, block) };
}

/// Sends an invocation of a `co`.
///
/// # Safety
/// As for [`crate::co::Co::call`].
#[cold]
pub unsafe fn co_call<S: Flavour>(at: At, to: u32, block: *mut Invocation) {
    // SAFETY: by the contract the block is the caller's to give away.
    unsafe { invoke::<S>(at, to, block) };
}

/// Gives the duty of a block to the new block of a forward.
///
/// # Safety
/// As for [`crate::invocation::forward`].
pub unsafe fn inherit(block: *const Invocation, next: *mut Invocation) {
    // SAFETY: the servant owns both blocks.
    unsafe {
        (*next).home = (*block).home;
        (*next).token = (*block).token;
        (*next).hops = (*block).hops;
        (*next).priority = (*block).priority;
    }
}

/// Implements forward.
///
/// # Safety
/// As for [`crate::invocation::forward`].
#[cold]
pub unsafe fn forward<S: Flavour>(at: At, to: u32, next: *mut Invocation) {
    // SAFETY: by the contract the block is the caller's to give away.
    unsafe { invoke::<S>(at, to, next) };
}

/// Tells a caller on another machine that the block holds its results, and frees the block.
///
/// # Safety
/// As for [`crate::invocation::finish`].
#[cold]
pub unsafe fn answer<S: Flavour>(block: *mut Invocation) {
    // SAFETY: the servant owns the block, which is not used after `give`.
    unsafe {
        let (home, token) = ((*block).home, (*block).token);
        let (sent, body) = blocks::give::<S>(block, true);
        if home == own() {
            return waits::answered::<S>(token, sent, &body.to_bytes());
        }
        // If the caller's machine is gone, no answer is needed.
        if let Some(link) = link() {
            let _ = link.post(home, &Letter::Answer { token, block: sent }, body);
        }
    }
}

/// Implements destroy of an operation's capability.
#[cold]
pub fn destroy_op(at: At, to: u32, cap: Cap) {
    let origin = Origin {
        base: letters::Base::own(),
        at: at as u64,
        priority: 0,
    };
    let cap = cap.into();
    post(at, to, &Letter::DestroyOp { origin, cap }, Vec::new());
}

/// Implements ?cap.
#[cold]
pub fn pending(at: At, to: u32, cap: Cap) -> i32 {
    let cap = cap.into();
    let answer = match link() {
        Some(link) => link.ask(to, |token| Letter::Pending { token, cap }),
        None => Err(format!("there is no virtual machine {}", to + 1)),
    };
    match answer {
        Ok(Some((_, count))) => {
            let count = count.as_ref().try_into().map(i32::from_le_bytes);
            count.unwrap_or_default()
        }
        Ok(None) => errors::abort(at, "op no longer exists"),
        Err(why) => refuse(at, to, &why),
    }
}

/// Implements destroy of a resource's capability.
///
/// # Safety
/// Called by a process.
#[cold]
pub unsafe fn destroy<S: Flavour>(at: At, to: u32, of: *mut Instance, serial: u32) {
    let _entered = Fibers::<S>::enter();
    let origin = origin::<S>(at);
    let instance = of as u64;
    let letter = |token| Letter::Destroy {
        origin,
        token,
        instance,
        serial,
    };
    // SAFETY: by the contract.
    unsafe { waits::ask::<S>(at, to, letter, Vec::new()) };
}

/// Delivers an invocation from another machine to the operation that serves it here.
unsafe fn adopt(block: *mut Invocation, awaits: Awaits, priority: i32) {
    // SAFETY: the block has just been received, so that it belongs to the caller.
    unsafe {
        (*block).priority = priority;
        match awaits {
            Awaits::Nobody => {
                (*block).kind = invoked::SEND;
                (*block).is_replied = true;
                (*block).token = u64::MAX;
            }
            Awaits::Process { home, token, hops } => {
                (*block).kind = invoked::REMOTE;
                (*block).is_replied = false;
                (*block).home = home;
                (*block).token = token;
                (*block).hops = hops;
            }
        }
        if let Some(link) = link() {
            link.tell(link.protocol.comes(awaits));
        }
    }
}

/// Returns how many machines the program may have.
fn most_machines() -> u32 {
    options::get().machines
}

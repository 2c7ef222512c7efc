//! The process of a machine that carries out its letters.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_fiber::{Fibers, Threads};
use antiphon_panda::Message;
use bytes::Bytes;

use super::inbox::Event;
use super::letters::{Awaits, BlockSent, Blocked, Letter, Origin};
use super::session::{self, Link, link};
use super::{adopt, blocks, ending, relay, timeline, vms, waits};
use crate::flavour::Flavour;
use crate::invocation::{self, Found};
use crate::layout::{At, Cap, Component, Instance, Invocation, Location};
use crate::process::{self, Place, Role};
use crate::{destruction, errors, instance, interruption, ops, options, report};

/// The variable that makes a program a machine other than the first, and says which one.
pub const VARIABLE: &str = "ANTIPHON_SR_MACHINE";

const LOST: &str = "attempting to invoke operation that no longer exists";

/// Joins the session if this process was started as another machine, or with others by `mpirun`.
/// Returns whether it is not the first one.
pub fn become_guest() -> bool {
    if let Ok(number) = std::env::var(VARIABLE) {
        // SAFETY: there are no other threads yet.
        unsafe { std::env::remove_var(VARIABLE) };
        session::let_signals_through();
        vms::set_own_number(number.parse().unwrap_or(0));
    } else if !session::is_of_mpirun(&options::get().over) {
        return false;
    }
    if let Err(why) = session::join() {
        errors::abort(
            ptr::null(),
            &format!("this virtual machine cannot join: {why}"),
        );
    }
    if !super::is_guest() {
        return false;
    }
    let hash = vms::program_hash();
    if let Some(link) = link() {
        let _ = link.post(0, &Letter::Hello { hash }, Vec::new());
    }
    true
}

/// Runs as the first process of a machine that has joined a session.
pub fn begin_joined<S: Flavour>() {
    if super::is_joined() {
        begin::<S>();
    }
}

/// Starts the serving process, once.
pub fn begin<S: Flavour>() {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if HAS_BEGUN.swap(true, Ordering::AcqRel) {
        return;
    }
    if let Some(link) = link() {
        timeline::begin::<S>(link);
    }
    // Letters are read at the highest priority, whatever priorities the program uses.
    start::<S>(i32::MAX, || {
        while let Some(link) = link() {
            let event = session::next_event::<S>(link);
            let _entered = Fibers::<S>::enter();
            if link.protocol.begins(&event) {
                // SAFETY: this is a process.
                unsafe { handle::<S>(link, event) };
            }
            link.protocol.ends();
        }
    });
}

/// Starts a process of the run-time's own.
pub fn start<S: Flavour>(priority: i32, run: impl FnOnce() + 'static) {
    let place = Place {
        priority: Some(priority),
        ..Place::default()
    };
    // SAFETY: a process of no instance.
    unsafe {
        process::start_in::<S>(
            ptr::null(),
            ptr::null_mut(),
            ptr::null(),
            Role::System,
            place,
            move |_| run(),
        );
    }
}

unsafe fn handle<S: Flavour>(link: &'static Link, event: Event) {
    match event {
        Event::Letter {
            from,
            letter,
            number,
            body,
        } => {
            timeline::note_handled(letter.kind(), from, number);
            // SAFETY: the caller is a process, and all machines run the same program.
            unsafe { read::<S>(link, from, letter, body) }
        }
        Event::Verdict { .. } => start::<S>(0, || ending::conclude::<S>(true)),
        Event::Lost { machine } => {
            let why = link.check(machine).err().unwrap_or_default();
            // SAFETY: the caller is a process.
            unsafe { waits::fail::<S>(link.protocol.fail(machine), machine, &why) };
            if let Some(letter) = link.protocol.obituary(machine) {
                for other in vms::live() {
                    let _ = link.post(other, &letter, Vec::new());
                }
            }
        }
        Event::Exit(code) => ending::obey(code),
        Event::Signal => interruption::tell_and_end(None),
    }
}

fn place_of(origin: Origin) -> At {
    origin.base.here(origin.at as *const Location)
}

unsafe fn read<S: Flavour>(link: &'static Link, from: u32, letter: Letter, body: Bytes) {
    let reply = move |letter: Letter| {
        let _ = link.post(from, &letter, Vec::new());
    };
    match letter {
        Letter::Invoke {
            origin,
            awaits,
            block,
        } => {
            // SAFETY: this is a process, and the message holds the block of an invocation.
            unsafe { deliver::<S>(origin, awaits, block, &body) }
        }
        Letter::Answer { token, block } => {
            // SAFETY: this is a process.
            unsafe { waits::answered::<S>(token, block, &body) }
        }
        Letter::Receive {
            origin,
            token,
            cap,
            has_else,
        } => start::<S>(origin.priority, move || {
            // SAFETY: this is a process, and this machine has given out the capability.
            let taken =
                unsafe { take_for::<S>(link, from, place_of(origin), cap.into(), has_else) };
            if let Some((taken, body)) = taken {
                let _ = link.post(from, &Letter::Received { token, taken }, body);
            }
        }),
        Letter::Moved {
            token,
            to,
            sender,
            hops,
        } => link.protocol.moved(token, (to, sender), hops),
        Letter::DestroyOp { origin, cap } => {
            // SAFETY: this is a process, and this machine has given out the capability.
            unsafe { ops::destroy::<S>(place_of(origin), cap.into()) };
        }
        Letter::Create {
            origin,
            token,
            component,
            bytes,
            fields,
        } => start::<S>(origin.priority, move || {
            let (at, component) = (place_of(origin), origin.base.here(component as *const _));
            debug_assert!(bytes as usize <= body.len());
            // SAFETY: this is a process. All machines have the same components, and the sender made
            // the body of this one's parameters.
            let (instance, serial) = unsafe { create::<S>(at, component, &body, &fields) };
            reply(Letter::Made {
                token,
                instance,
                serial,
            });
        }),
        Letter::Destroy {
            origin,
            token,
            instance,
            serial,
        } => start::<S>(origin.priority, move || {
            let (at, of) = (place_of(origin), instance as *mut Instance);
            // SAFETY: this is a process, and this machine has given out the instance's address.
            unsafe { destruction::destroy::<S>(at, of, serial) };
            reply(Letter::Done { token });
        }),
        Letter::CreateMachine { token, place } => start::<S>(0, move || {
            let made = vms::create::<S>(place);
            reply(Letter::MachineMade { token, made });
        }),
        Letter::DestroyMachine { token, machine } => start::<S>(0, move || {
            let made = vms::destroy::<S>(machine).map(|()| machine);
            reply(Letter::MachineMade { token, made });
        }),
        Letter::Locate { number, host, path } => vms::locate(number, host, path),
        Letter::Stop => ending::stop::<S>(),
        Letter::Finals { token, all } => start::<S>(0, move || {
            if all {
                destroy_all::<S>();
            }
            crate::ending::run_global_finals::<S>();
            reply(Letter::Done { token });
        }),
        Letter::Report { token } => {
            let blocked = blocked::<S>();
            reply(Letter::Reported { token, blocked });
        }
        Letter::Where => {
            let lines = report::everywhere::<S>(None);
            reply(Letter::Places { lines });
        }
        Letter::Read { token } => relay::serve_reader::<S>(from, token),
        Letter::Lost { machine, why } => link.lose(machine, why),
        Letter::Ended { machine } => {
            let waiters = link.protocol.end(machine);
            let why = link.check(machine).err().unwrap_or_default();
            // SAFETY: this is a process.
            unsafe { waits::fail::<S>(waiters, machine, &why) };
        }
        Letter::Received { token, .. }
        | Letter::Made { token, .. }
        | Letter::MachineMade { token, .. }
        | Letter::Reported { token, .. }
        | Letter::Line { token }
        | Letter::Done { token } => {
            // SAFETY: this is a process.
            unsafe { waits::replied::<S>(token, Ok((letter, body))) };
        }
        // Panda's threads take these.
        Letter::Hello { .. }
        | Letter::Output { .. }
        | Letter::Written { .. }
        | Letter::Places { .. }
        | Letter::Peek { .. }
        | Letter::Pending { .. }
        | Letter::Claim { .. }
        | Letter::Known { .. }
        | Letter::Exit { .. }
        | Letter::Quit
        | Letter::Timeline
        | Letter::Counts => {}
    }
}

/// Delivers an invocation of another machine.
///
/// # Safety
/// The caller is a process, and the body is that of the invocation's message.
unsafe fn deliver<S: Flavour>(origin: Origin, awaits: Awaits, block: BlockSent, body: &[u8]) {
    let at = place_of(origin);
    // SAFETY: the block is new, and belongs to this process until it is delivered. Its capability is
    // one that this machine has given out.
    unsafe {
        let block = blocks::received::<S>(block, body);
        adopt(block, awaits, origin.priority);
        match invocation::find(at, (*block).op, LOST) {
            Found::Op(op) => invocation::deliver::<S>(at, op, block),
            Found::Noop => invocation::finish::<S>(block),
            Found::Elsewhere(_) => errors::abort(at, LOST),
        }
    }
}

/// An invocation that was taken for another machine, if there was one, and its block as it is sent.
type Taken = (Option<(Awaits, BlockSent)>, Message);

/// Takes an invocation for a process of another machine. Returns `None` if that machine is gone.
///
/// # Safety
/// The caller is a process, and the capability is one of this machine's.
unsafe fn take_for<S: Flavour>(
    link: &Link,
    from: u32,
    at: At,
    cap: Cap,
    has_else: bool,
) -> Option<Taken> {
    // SAFETY: by the contract; an invocation that was taken belongs to the caller.
    unsafe {
        let block = ops::receive::<S>(at, cap, has_else);
        if block.is_null() {
            return Some((None, Message::new()));
        }
        if link.check(from).is_err() {
            give_back::<S>(at, cap, block);
            return None;
        }
        let awaits = waits::for_block(from, block);
        let (sent, body) = blocks::give::<S>(block, false);
        Some((Some((awaits, sent)), body))
    }
}

/// Gives an invocation back to its operation: the machine that it was taken for is gone.
///
/// # Safety
/// The caller is a process that has taken the invocation from this operation.
unsafe fn give_back<S: Flavour>(at: At, cap: Cap, block: *mut Invocation) {
    // SAFETY: by the contract.
    unsafe {
        match super::operation(cap) {
            Some(op) => invocation::deliver::<S>(at, op, block),
            None => invocation::refuse::<S>(block),
        }
    }
}

/// Creates an instance for a process of another machine. Returns its address and serial.
///
/// # Safety
/// The caller is a process. The component is static, and the parameters are those that
/// [`blocks::parameters`] made for it.
unsafe fn create<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: &[u8],
    fields: &[(u32, i32)],
) -> (u64, u32) {
    let place = |place: *mut c_void| {
        // SAFETY: a copy of the parameters, in the instance's memory.
        unsafe { blocks::place_parameters(place.cast(), fields) };
    };
    // SAFETY: by the contract; instances are never unmapped.
    unsafe {
        let of = instance::create_placed::<S>(at, component, parameters, &place);
        (of as u64, (*of).serial)
    }
}

/// Returns the blocked processes of this machine.
pub fn blocked<S: Flavour>() -> Blocked {
    let at_rest = report::at_rest::<S>();
    Blocked {
        lines: at_rest.lines,
        is_deadlock: at_rest.is_deadlock,
    }
}

/// Destroys all instances of resources, in the order of their creation.
fn destroy_all<S: Flavour>() {
    for (of, serial) in instance::resources::<S>() {
        // SAFETY: the serial shows whether the instance is still alive.
        unsafe {
            if (*of).serial == serial {
                destruction::destroy::<S>(ptr::null(), of, serial);
            }
        }
    }
}

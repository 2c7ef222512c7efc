//! The functions of the contract for programs that create virtual machines.

use std::ffi::c_void;
use std::ptr;

use antiphon_fiber::{Fibers, Many, One, Threads};

use super::letters::{Letter, Where};
use super::session::link;
use super::{adopt, blocks, origin, own, post, refuse, vms, waits};
use crate::errors;
#[cfg(target_arch = "x86_64")]
use crate::exports::Word;
use crate::flavour::{self, Flavour};
#[cfg(target_arch = "x86_64")]
use crate::gate;
use crate::instance;
use crate::invocation;
use crate::layout::{At, Cap, Component, Field, Instance, Invocation, Text};
use crate::ops;

/// `struct sr_creation`.
#[repr(C)]
struct Creation {
    component: *const Component,
    parameters: *const c_void,
    bytes: usize,
    fields: *const Field,
    fields_count: i32,
    machine: u32,
    made: *mut Instance,
    serial: u32,
}

/// `struct sr_vm_place`.
#[repr(C)]
struct Site {
    /// Whether the host has a name rather than a number.
    is_named: bool,
    number: i32,
    name: Text,
}

// SAFETY: generated code calls these functions as `include/sr.h` says, and each passes its
// parameters on to a function with the same contract.
export_gated! {
    fn create_on<S>(at: At, creation: *mut Creation) { create_on_machine::<S>(at, creation); }
    fn create_vm<S>(at: At, site: *const Site) -> u32 { create_machine::<S>(at, site) }
    fn destroy_vm<S>(at: At, machine: u32) { destroy_machine::<S>(at, machine); }
    fn receive_elsewhere<S>(at: At, cap: *const Cap, has_else: bool) -> *mut Invocation {
        receive_from::<S>(at, *cap, has_else)
    }
}

unsafe fn create_on_machine<S: Flavour>(at: At, creation: *mut Creation) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: generated code passes a creation that it has filled in, with that many fields.
    unsafe {
        let it = &mut *creation;
        if it.machine == own() {
            it.made = instance::create::<S>(at, it.component, it.parameters, it.bytes);
            it.serial = (*it.made).serial;
            return;
        }
        let count = usize::try_from(it.fields_count).unwrap_or(0);
        let fields: Vec<(u32, i32)> = (0..count)
            .map(|n| ((*it.fields.add(n)).offset, (*it.fields.add(n)).dimensions))
            .collect();
        let body = blocks::parameters(it.parameters.cast(), it.bytes, &fields);
        let (origin, component, bytes) = (origin::<S>(at), it.component as u64, it.bytes as u64);
        let letter = |token| Letter::Create {
            origin,
            token,
            component,
            bytes,
            fields,
        };
        let (letter, _) = waits::ask::<S>(at, it.machine, letter, body);
        if let Letter::Made {
            instance, serial, ..
        } = letter
        {
            it.made = instance as *mut Instance;
            it.serial = serial;
        }
    }
}

unsafe fn create_machine<S: Flavour>(at: At, site: *const Site) -> u32 {
    let _entered = Fibers::<S>::enter();
    crate::files::flush_standard_output();
    // SAFETY: generated code passes a site that it has filled in; the descriptor is the caller's
    // own.
    unsafe {
        let site = &*site;
        (*S::this()).head.at = at;
        let place = match site.is_named {
            true => Where::Host(String::from_utf8_lossy(site.name.bytes()).into_owned()),
            false => Where::Number(site.number),
        };
        let made = match own() {
            0 => vms::create::<S>(place),
            _ => {
                let letter = |token| Letter::CreateMachine { token, place };
                made(waits::ask::<S>(at, 0, letter, Vec::new()).0)
            }
        };
        made.unwrap_or_else(|why| errors::abort(at, &why))
    }
}

fn made(letter: Letter) -> Result<u32, String> {
    match letter {
        Letter::MachineMade { made, .. } => made,
        _ => Err("the first virtual machine has answered something else".into()),
    }
}

unsafe fn destroy_machine<S: Flavour>(at: At, machine: u32) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the descriptor is the caller's own.
    unsafe {
        (*S::this()).head.at = at;
        let destroyed = match own() {
            0 => vms::destroy::<S>(machine),
            _ => {
                let letter = |token| Letter::DestroyMachine { token, machine };
                made(waits::ask::<S>(at, 0, letter, Vec::new()).0).map(drop)
            }
        };
        destroyed.unwrap_or_else(|why| refuse(at, machine, &why));
    }
}

unsafe fn receive_from<S: Flavour>(at: At, cap: Cap, has_else: bool) -> *mut Invocation {
    let _entered = Fibers::<S>::enter();
    // SAFETY: a capability of the contract. The machine that answers runs the same program, and
    // sends the block of an invocation that it has given up.
    unsafe {
        let to = super::machine_of(cap);
        // A capability of one of this machine's resources.
        if to == own() {
            return ops::receive::<S>(at, cap, has_else);
        }
        let (origin, cap) = (origin::<S>(at), cap.into());
        let letter = |token| Letter::Receive {
            origin,
            token,
            cap,
            has_else,
        };
        let (letter, body) = waits::ask::<S>(at, to, letter, Vec::new());
        let Letter::Received {
            taken: Some((awaits, sent)),
            ..
        } = letter
        else {
            return ptr::null_mut();
        };
        let block = blocks::received::<S>(sent, &body);
        adopt(block, awaits, Fibers::<S>::priority());
        block
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_locate(at: At, number: i32, host: Text, path: Text) {
    let _busy = flavour::busy();
    // SAFETY: texts of the contract.
    let text = |text: Text| String::from_utf8_lossy(unsafe { text.bytes() }).into_owned();
    let (host, path) = (text(host), text(path));
    match own() {
        0 => vms::locate(number, host, path),
        _ => post(at, 0, &Letter::Locate { number, host, path }, Vec::new()),
    }
}

/// Reads bytes of an instance on any machine.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_peek(
    at: At,
    of: *mut Instance,
    serial: u32,
    machine: u32,
    offset: usize,
    to: *mut u8,
    bytes: usize,
) {
    let _busy = flavour::busy();
    // SAFETY: both machines have that many bytes there.
    unsafe {
        if machine == own() {
            ptr::copy_nonoverlapping(of.byte_add(offset).cast::<u8>(), to, bytes);
            return;
        }
        let found = match link() {
            Some(link) => link.ask(machine, |token| Letter::Peek {
                token,
                instance: of as u64,
                serial,
                offset: offset as u64,
                bytes: bytes as u32,
            }),
            None => Err(format!("there is no virtual machine {}", machine + 1)),
        };
        match found {
            Ok(Some((_, found))) if found.len() == bytes => {
                ptr::copy_nonoverlapping(found.as_ptr(), to, bytes);
            }
            Ok(_) => errors::abort(at, "attempting to invoke operation that no longer exists"),
            Err(why) => refuse(at, machine, &why),
        }
    }
}

/// Returns the component of an instance on any machine.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_component_elsewhere(
    of: *mut Instance,
    serial: u32,
    machine: u32,
) -> *const Component {
    let _busy = flavour::busy();
    let offset = std::mem::offset_of!(Instance, component) as u64;
    let found = link().and_then(|link| {
        let letter = |token| Letter::Peek {
            token,
            instance: of as u64,
            serial,
            offset,
            bytes: size_of::<usize>() as u32,
        };
        link.ask(machine, letter).ok().flatten()
    });
    // An instance that no longer exists is reported when it is invoked.
    let Some((base, found)) = found else {
        return ptr::null();
    };
    let address = found.as_ref().try_into().map(u64::from_le_bytes);
    base.here(address.unwrap_or_default() as *const Component)
}

/// Returns a capability to take input from, which must be for an operation of this machine.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_cap_resolved(at: At, cap: Cap) -> Cap {
    let _busy = flavour::busy();
    // SAFETY: as for all capabilities.
    match unsafe { invocation::find(at, cap, "op no longer exists") } {
        // SAFETY: it was found.
        invocation::Found::Op(op) => Cap::here(op, unsafe { (*op).serial }),
        invocation::Found::Noop => cap,
        invocation::Found::Elsewhere(machine) => errors::abort(
            at,
            &format!(
                "an input statement with `by`, `and` or several arms takes from an operation of virtual machine {}: write one arm without them",
                machine + 1
            ),
        ),
    }
}

//! The end of instances: their finals, and destroy.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering;

use antiphon_fiber::{Fibers, Threads};

use crate::class::Class;
use crate::errors;
use crate::flavour::Flavour;
use crate::instance::{recycle, with_processes};
use crate::layout::{At, Instance, NOOP_SERIAL, name_of};
use crate::ops;
use crate::process::{self, Process, Role, Waits};
use crate::semaphore::Semaphore;

/// Runs the final of an instance, if it has one, as a process of that instance.
///
/// # Safety
/// The instance lives; called by a process.
pub unsafe fn run_final<S: Flavour>(at: At, of: *mut Instance) {
    // SAFETY: the instance lives by the contract, and components are static. The caller's
    // descriptor lives, since it waits for the final.
    unsafe {
        let component = (*of).component;
        let Some(last) = (*component).last else {
            return;
        };
        let this = S::this();
        process::start::<S>(at, of, (*component).name, Role::Final, move |_| {
            process::generated::<S, _>(|| last(of));
            Semaphore::v(&raw mut (*this).private);
        });
        Semaphore::wait(
            &raw mut (*this).private,
            at,
            Waits::Component((*component).name),
        );
    }
}

/// Implements `destroy`.
///
/// # Safety
/// The instance is from a capability. Called by a process.
pub unsafe fn destroy<S: Flavour>(at: At, of: *mut Instance, serial: u32) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: instances are never unmapped, and the serial tells whether it still is the
    // capability's. From the new serial on no other process destroys it.
    unsafe {
        if of.is_null() {
            if serial == NOOP_SERIAL {
                return;
            }
            errors::abort_somewhere(at, "attempting to destroy null resource");
        }
        if (*of).serial != serial {
            let name = name_of((*(*of).component).name);
            errors::abort_somewhere(
                at,
                &format!("attempting to destroy resource ({name}) that no longer exists"),
            );
        }
        (*of).serial = S::runtime().serial();
        run_final::<S>(at, of);
        // This comes first, so that processes on other servers do not report the end of their
        // operations as an error.
        kill_processes::<S>(of);
        let ended = with_processes::<S, _>(of, |inner| std::mem::take(&mut inner.ops));
        for (ops, count) in ended {
            ops::end::<S>(ops, count);
        }
        let this = S::this();
        let (is_mine, is_over) = with_processes::<S, _>(of, |inner| {
            inner.is_destroyed = true;
            ((*this).instance == of, inner.live == 0)
        });
        if is_over {
            recycle::<S>(of);
        }
        if is_mine {
            process::die::<S>();
        }
    }
}

/// Kills all processes of an instance except the caller.
unsafe fn kill_processes<S: Flavour>(of: *mut Instance) {
    // SAFETY: `with_processes` keeps the processes in their list, and a listed process keeps its
    // descriptor. The creator waits, so that its descriptor lives.
    unsafe {
        let this = S::this();
        let mut killed = Vec::new();
        let mut creator = ptr::null_mut();
        with_processes::<S, _>(of, |inner| {
            let mut process = inner.first;
            while !process.is_null() {
                if process != this && !process::is_killed(process) {
                    (*process).is_killed.store(true, Ordering::Relaxed);
                    if let Some(fiber) = (*process).fiber {
                        fiber.kill();
                    }
                    killed.push(process);
                }
                if (*process).role == Role::Body && !std::mem::replace(&mut inner.has_replied, true)
                {
                    creator = inner.waits;
                }
                process = (*process).next;
            }
        });
        let memory = with_processes::<S, _>(of, |inner| inner.memory.clone());
        for process in killed {
            wake_killed::<S>(of, &memory, process);
        }
        if !creator.is_null() {
            errors::warn("body process destroyed");
            Semaphore::v(&raw mut (*creator).private);
        }
    }
}

/// Lets a killed process end if it waits where no other process would wake it: at something that
/// belongs to its own instance. `memory` is the instance's memory besides its variables.
unsafe fn wake_killed<S: Flavour>(
    of: *mut Instance,
    memory: &[*mut c_void],
    process: *mut Process<S>,
) {
    // SAFETY: the killed process keeps its descriptor until it is woken. It waits for a part of the
    // instance, whose memory is kept until its last process has ended.
    unsafe {
        let mut held = std::mem::replace(&mut (*process).holds, ptr::null_mut());
        while !held.is_null() {
            let outer = Class::outer(held);
            Class::forfeit(held);
            held = outer;
        }
        let bytes = (*(*of).component).instance_bytes;
        let is_own = |address: *mut c_void| {
            let address = address as usize;
            let is_in = |first: usize, bytes| (first..first + bytes).contains(&address);
            is_in(of as usize, bytes)
                || memory
                    .iter()
                    .any(|&block| is_in(block as usize, libc::malloc_usable_size(block)))
        };
        match (*process).waits_for {
            Waits::Semaphore(it) if is_own(it) => Semaphore::<S>::wake_killed(it.cast()),
            Waits::Invocation(_, it) if is_own(it) => Class::<S>::wake_killed(it.cast()),
            _ => {}
        }
    }
}

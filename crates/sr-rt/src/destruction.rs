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

// SAFETY of everything below: as in `instance`.

/// Runs the final of an instance, if it has one, as a process of it.
///
/// # Safety
/// The instance lives; called by a process.
pub unsafe fn run_final<S: Flavour>(at: At, of: *mut Instance) {
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

/// destroy.
///
/// # Safety
/// The instance is of a capability; called by a process.
pub unsafe fn destroy<S: Flavour>(at: At, of: *mut Instance, serial: u32) {
    let _entered = Fibers::<S>::enter();
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
        // First, so that those that run on other servers do not take the end of their operations for an error.
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

/// All processes of an instance but the caller run no more.
unsafe fn kill_processes<S: Flavour>(of: *mut Instance) {
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
        for process in killed {
            wake_killed::<S>(of, process);
        }
        if !creator.is_null() {
            errors::warn("body process destroyed");
            Semaphore::v(&raw mut (*creator).private);
        }
    }
}

/// Lets a killed process be gone if it waits where nobody else would wake it: at what belongs to its own instance.
unsafe fn wake_killed<S: Flavour>(of: *mut Instance, process: *mut Process<S>) {
    unsafe {
        let held = std::mem::replace(&mut (*process).holds, ptr::null_mut());
        if !held.is_null() {
            Class::forfeit(held);
        }
        let bytes = (*(*of).component).instance_bytes;
        let is_own =
            |address: *mut c_void| (of as usize..of as usize + bytes).contains(&(address as usize));
        match (*process).waits_for {
            Waits::Semaphore(it) if is_own(it) => Semaphore::<S>::wake_killed(it.cast()),
            Waits::Invocation(_, it) if is_own(it) => Class::<S>::wake_killed(it.cast()),
            _ => {}
        }
    }
}

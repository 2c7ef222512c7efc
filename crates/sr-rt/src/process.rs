//! Processes: their descriptors, their start and their end.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_fiber::{Builder, Detached, Fibers, Lock, Many, One, Region, Servers, Word};

use crate::arena;
use crate::class::Class;
use crate::errors;
use crate::flavour::{self, Flavour};
use crate::instance;
use crate::layout::{Arena, At, Instance, Name, ProcessHead};
use crate::options;
use crate::semaphore::Semaphore;

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The run-time's own: never reported.
    System,
    Proc,
    Body,
    Final,
}

/// What a process waits for, for reports.
#[derive(Debug, Clone, Copy)]
pub enum Waits {
    Nothing,
    /// The semaphore's address.
    Semaphore(*mut c_void),
    /// An invocation of an operation; of any of several of a class if there is no name. The class's address.
    Invocation(Name, *mut c_void),
    /// The end or reply of an operation.
    Reply(Name),
    /// Invocations of a `co`.
    Co,
    /// The body or the final of a component.
    Component(Name),
    /// Something that never comes.
    Ever,
    Time,
}

/// A descriptor. Generated code sees the head. It is used again for other processes, and never unmapped.
#[repr(C)]
pub struct Process<S: Servers> {
    pub head: ProcessHead,
    /// "component.op", or the component's name.
    pub name: Name,
    pub role: Role,
    pub waits_for: Waits,
    pub instance: *mut Instance,
    /// Where it waits for replies, for access to a class, and for bodies.
    pub private: Semaphore<S>,
    /// Known once it has begun.
    pub fiber: Option<Detached<S>>,
    /// Set by who destroys its instance, on any server.
    pub is_killed: AtomicBool,
    /// Of a process that waits for access to a class: whether its input statement has an else.
    pub has_else: bool,
    /// The next that waits for the same class.
    pub next_waiting: *mut Process<S>,
    /// The class that it looks through.
    pub holds: *mut Class<S>,
    /// How many were started before it.
    pub number: u64,
    /// Its neighbours among its instance's processes.
    pub next: *mut Process<S>,
    pub previous: *mut Process<S>,
}

/// A descriptor for a new process.
fn take<S: Flavour>() -> *mut Process<S> {
    let spare = S::runtime().spare_processes.lock().pop();
    spare.unwrap_or_else(|| {
        Box::into_raw(Box::new(Process {
            head: ProcessHead {
                at: ptr::null(),
                arena: Arena::EMPTY,
            },
            name: ptr::null(),
            role: Role::System,
            waits_for: Waits::Nothing,
            instance: ptr::null_mut(),
            private: Semaphore::new(ptr::null(), 0),
            fiber: None,
            is_killed: AtomicBool::new(false),
            has_else: false,
            next_waiting: ptr::null_mut(),
            holds: ptr::null_mut(),
            number: 0,
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
        }))
    })
}

/// Starts a process of an instance, or of none. It is appended to the ready list; the caller goes on.
///
/// # Safety
/// The instance lives; `run` keeps the contract of its caller. The caller has entered the run-time.
#[inline]
pub unsafe fn start<S: Flavour>(
    at: At,
    instance: *mut Instance,
    name: Name,
    role: Role,
    run: impl FnOnce(*mut Process<S>) + 'static,
) {
    unsafe { start_in(at, instance, name, role, None, run) }
}

/// The same for one that is in a region of its own, if one is given, rather than in its instance's.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn start_in<S: Flavour>(
    at: At,
    instance: *mut Instance,
    name: Name,
    role: Role,
    region: Option<Region>,
    run: impl FnOnce(*mut Process<S>) + 'static,
) {
    let process = take::<S>();
    let mut builder = Builder::default();
    // SAFETY: a spare descriptor is nobody else's; the instance lives by the contract.
    unsafe {
        (*process).head.at = at;
        (*process).name = name;
        (*process).role = role;
        (*process).waits_for = Waits::Nothing;
        (*process).instance = instance;
        (*process).fiber = None;
        (*process).is_killed.store(false, Ordering::Relaxed);
        (*process).private.reset();
        (*process).number = S::runtime().processes.add(1);
        if !instance.is_null() {
            instance::enlist(instance, process);
            if (*instance).region >= 0 {
                builder.region = Some(Region((*instance).region as usize));
            }
        }
        if region.is_some() {
            builder.region = region;
        }
    }
    let body = move || {
        // SAFETY: the descriptor is this process's until `end`.
        unsafe {
            if begin(process) {
                run(process);
            }
            end(process);
        }
    };
    // SAFETY: what the body owns is used by one process at a time, and generated code keeps no address of a thread-local over a switch.
    if let Err(error) = unsafe { Fibers::<S>::detach(builder, process.cast(), body) } {
        errors::abort(at, &error.to_string());
    }
}

/// Whether it is to run: it may have been killed before.
unsafe fn begin<S: Flavour>(process: *mut Process<S>) -> bool {
    // SAFETY: the caller's own descriptor.
    unsafe {
        if (*process).instance.is_null() {
            (*process).fiber = Some(Fibers::<S>::this());
            return true;
        }
        instance::with_processes::<S, _>((*process).instance, |_| {
            (*process).fiber = Some(Fibers::<S>::this());
            !is_killed(process)
        })
    }
}

unsafe fn end<S: Flavour>(process: *mut Process<S>) {
    let _entered = <Fibers<S> as antiphon_fiber::Threads>::enter();
    // SAFETY: the caller's own descriptor, which it does not use afterwards.
    unsafe {
        arena::release_all(&mut (*process).head.arena);
        if !(*process).instance.is_null() {
            instance::leave(process);
        }
    }
    S::runtime().spare_processes.lock().push(process);
}

/// Runs generated code. Under a model with time slices, ticks switch in it.
///
/// # Safety
/// The code is generated code, and the caller a process.
#[inline(always)]
pub unsafe fn generated<S: Flavour, T>(code: impl FnOnce() -> T) -> T {
    if options::is_sliced() {
        // SAFETY: generated code takes no lock and allocates nothing between two calls of the run-time.
        unsafe { Fibers::<S>::sliceable(code) }
    } else {
        code()
    }
}

/// Whether a process may not run any more.
///
/// # Safety
/// The descriptor of a process.
#[inline]
pub unsafe fn is_killed<S: Flavour>(process: *const Process<S>) -> bool {
    // SAFETY: descriptors are never unmapped.
    unsafe { &(*process).is_killed }.load(Ordering::Relaxed)
}

/// Ends the calling process if it was killed while it ran: what it comes upon is no error of the program then.
pub fn die_if_killed() {
    fn look<S: Flavour>() {
        let this = S::this();
        // SAFETY: the caller's own descriptor.
        if !this.is_null() && unsafe { is_killed(this) } {
            die::<S>();
        }
    }
    match () {
        () if !flavour::has_begun() => {}
        () if options::is_many() => look::<Many>(),
        () => look::<One>(),
    }
}

/// A killed process is gone.
pub fn discarded<S: Flavour>(process: *mut ()) {
    if !process.is_null() {
        // SAFETY: it does not run any more, and its fiber kept it.
        unsafe { end::<S>(process.cast()) };
    }
}

/// The calling process does not run any more.
pub fn die<S: Flavour>() -> ! {
    let this = Fibers::<S>::this();
    // SAFETY: the caller's own descriptor.
    unsafe { &(*S::this()).is_killed }.store(true, Ordering::Relaxed);
    loop {
        // SAFETY: it was killed with its instance, and nobody waits for what is on its stack.
        unsafe { this.kill() };
        <Fibers<S> as antiphon_fiber::Threads>::yield_now();
    }
}

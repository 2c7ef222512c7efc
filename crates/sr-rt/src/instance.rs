//! Instances of components: create, globals, and the processes that belong to each.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

use antiphon_fiber::{Fibers, Lock, Servers, Threads};

use crate::arena::exhausted;
use crate::errors;
use crate::flavour::Flavour;
use crate::layout::{At, Component, Instance, Op};
use crate::machines;
use crate::process::{self, Process, Role, Waits};
use crate::semaphore::Semaphore;

/// State of an instance besides its variables. It stays with the instance's memory for ever.
pub struct State<S: Servers> {
    pub inner: S::Lock<Inner<S>>,
}

/// The parts of that state that the lock protects.
pub struct Inner<S: Servers> {
    /// Its processes, oldest first.
    pub first: *mut Process<S>,
    last: *mut Process<S>,
    pub live: u64,
    /// Memory that is freed with the instance.
    pub memory: Vec<*mut c_void>,
    /// Operations that end with the instance.
    pub ops: Vec<(*mut Op, i64)>,
    /// Processes that wait for the end of the body or of the final.
    pub waits: *mut Process<S>,
    pub has_replied: bool,
    pub is_destroyed: bool,
}

/// Returns the state of an instance.
///
/// # Safety
/// The instance was made by [`take`].
#[inline]
pub unsafe fn state<'a, S: Flavour>(of: *mut Instance) -> &'a State<S> {
    // SAFETY: `take` made the state, which is never freed.
    unsafe { &*(*of).state.cast::<State<S>>() }
}

/// Reads an instance's state while its processes cannot change.
///
/// # Safety
/// As for [`state`].
#[inline]
pub unsafe fn with_processes<S: Flavour, T>(
    of: *mut Instance,
    look: impl FnOnce(&mut Inner<S>) -> T,
) -> T {
    // SAFETY: by the contract.
    look(&mut unsafe { state::<S>(of) }.inner.lock())
}

/// Adds a process to an instance.
///
/// # Safety
/// As for [`state`]; the process belongs to none.
#[inline]
pub unsafe fn enlist<S: Flavour>(of: *mut Instance, process: *mut Process<S>) {
    // SAFETY: the instance's lock is held, which protects its list. The new process is in no list.
    unsafe {
        let mut inner = state::<S>(of).inner.lock();
        (*process).next = ptr::null_mut();
        (*process).previous = inner.last;
        if inner.last.is_null() {
            inner.first = process;
        } else {
            (*inner.last).next = process;
        }
        inner.last = process;
        inner.live += 1;
    }
}

/// Removes a process that ends from its instance.
///
/// # Safety
/// It belongs to an instance.
#[inline]
pub unsafe fn leave<S: Flavour>(process: *mut Process<S>) {
    // SAFETY: the process is in its instance's list, whose lock is held until the process is out of
    // it.
    unsafe {
        let of = (*process).instance;
        let mut inner = state::<S>(of).inner.lock();
        let (next, previous) = ((*process).next, (*process).previous);
        if previous.is_null() {
            inner.first = next;
        } else {
            (*previous).next = next;
        }
        if next.is_null() {
            inner.last = previous;
        } else {
            (*next).previous = previous;
        }
        inner.live -= 1;
        let is_over = inner.is_destroyed && inner.live == 0;
        drop(inner);
        if is_over {
            recycle::<S>(of);
        }
    }
}

/// Calls a function for each process of an instance, oldest first.
///
/// # Safety
/// As for [`state`].
pub unsafe fn each<S: Flavour>(of: *mut Instance, mut look: impl FnMut(*mut Process<S>)) {
    // SAFETY: the instance's lock is held, and listed processes keep their descriptors.
    unsafe {
        let inner = state::<S>(of).inner.lock();
        let mut process = inner.first;
        while !process.is_null() {
            look(process);
            process = (*process).next;
        }
    }
}

/// Allocates memory for an instance, zeroed except for the run-time's own part.
unsafe fn take<S: Flavour>(at: At, component: *const Component) -> *mut Instance {
    let mut instances = S::runtime().instances.lock();
    if let Some(of) = instances.spare.get_mut(&component).and_then(Vec::pop) {
        return of;
    }
    // SAFETY: components are static; calloc gives zeroed memory with room for the head, which
    // nothing else uses yet.
    unsafe {
        let bytes = (*component).instance_bytes;
        let of: *mut Instance = libc::calloc(1, bytes.max(size_of::<Instance>())).cast();
        if of.is_null() {
            exhausted(at, bytes as i64);
        }
        (*of).component = component;
        let state = State::<S> {
            inner: S::Lock::new(Inner {
                first: ptr::null_mut(),
                last: ptr::null_mut(),
                live: 0,
                memory: Vec::new(),
                ops: Vec::new(),
                waits: ptr::null_mut(),
                has_replied: false,
                is_destroyed: false,
            }),
        };
        (*of).state = Box::into_raw(Box::new(state)).cast();
        instances.all.push(of);
        of
    }
}

/// Keeps the memory of a destroyed instance for the next instance of its component.
///
/// # Safety
/// As for [`state`]; the instance is destroyed, and no process belongs to it.
pub unsafe fn recycle<S: Flavour>(of: *mut Instance) {
    // SAFETY: no process belongs to the instance, and its serial is above those of all
    // capabilities. So nothing else uses its memory, which has as many bytes as its component says.
    unsafe {
        let mut inner = state::<S>(of).inner.lock();
        for block in inner.memory.drain(..) {
            libc::free(block);
        }
        libc::free(std::mem::replace(&mut (*of).parameters, ptr::null_mut()));
        inner.is_destroyed = false;
        drop(inner);
        let bytes = (*(*of).component).instance_bytes;
        // The serial stays above those of old capabilities. The zeroes say that operations in it
        // have ended.
        let head = size_of::<Instance>();
        ptr::write_bytes(of.cast::<u8>().add(head), 0, bytes.saturating_sub(head));
        let mut instances = S::runtime().instances.lock();
        instances.spare.entry((*of).component).or_default().push(of);
    }
}

/// Implements create, and the making of a global. Returns the instance when its body has ended or
/// replied.
///
/// # Safety
/// The component is static; `parameters` has that many bytes; called by a process.
#[inline(always)]
pub unsafe fn create<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: *const c_void,
    bytes: usize,
) -> *mut Instance {
    let _entered = Fibers::<S>::enter();
    // SAFETY: by the contract; the descriptor is the caller's own.
    unsafe {
        let of = prepare::<S>(at, component, parameters, bytes, &|_| {});
        let this = S::this();
        Semaphore::wait(
            &raw mut (*this).private,
            at,
            Waits::Component((*component).name),
        );
        of
    }
}

/// The same with parameters that came from another virtual machine; `place` turns the offsets in
/// them into addresses.
///
/// # Safety
/// As for [`create`].
#[cfg(feature = "machines")]
pub unsafe fn create_placed<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: &[u8],
    place: &dyn Fn(*mut c_void),
) -> *mut Instance {
    let _entered = Fibers::<S>::enter();
    // SAFETY: as in `create`; `parameters` is a slice.
    unsafe {
        let (from, bytes) = (parameters.as_ptr().cast(), parameters.len());
        let of = prepare::<S>(at, component, from, bytes, place);
        let this = S::this();
        let waits_for = Waits::Component((*component).name);
        Semaphore::wait(&raw mut (*this).private, at, waits_for);
        of
    }
}

/// Returns all living instances of resources, with their serials, in the order of their creation.
#[cfg(feature = "machines")]
pub fn resources<S: Flavour>() -> Vec<(*mut Instance, u32)> {
    let all = S::runtime().instances.lock().all.clone();
    // SAFETY: instances are never unmapped; one that is not in use has no parameters.
    let lives = |of: &*mut Instance| unsafe {
        let is_global = !(*(**of).component).global.is_null();
        let is_in_use = !(**of).parameters.is_null();
        is_in_use && !is_global && !with_processes::<S, _>(*of, |inner| inner.is_destroyed)
    };
    let mut living: Vec<_> = all.into_iter().filter(lives).collect();
    // SAFETY: as above. Serials grow.
    living.sort_by_key(|of| unsafe { (**of).serial });
    // SAFETY: instances are never unmapped.
    let with_serials = living.into_iter().map(|of| (of, unsafe { (*of).serial }));
    with_serials.collect()
}

unsafe fn prepare<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: *const c_void,
    bytes: usize,
    place: &dyn Fn(*mut c_void),
) -> *mut Instance {
    // SAFETY: by the callers' contract. The instance is new, so that only this process knows it
    // until it is started; its memory is never unmapped.
    unsafe {
        let of = take::<S>(at, component);
        (*of).serial = S::runtime().serial();
        (*of).region = -1;
        (*of).parameters = libc::calloc(1, bytes.max(1));
        if (*of).parameters.is_null() {
            exhausted(at, bytes as i64);
        }
        if bytes > 0 {
            ptr::copy_nonoverlapping(parameters.cast::<u8>(), (*of).parameters.cast(), bytes);
        }
        place((*of).parameters);
        if !(*component).global.is_null() {
            *(*component).global = of;
        }
        let this = S::this();
        with_processes::<S, _>(of, |inner| {
            inner.waits = this;
            inner.has_replied = false;
        });
        let mut instances = S::runtime().instances.lock();
        let may_be_main = !machines::is_guest() && (*component).global.is_null();
        if may_be_main && instances.main.is_none() {
            instances.main = Some((of, (*of).serial));
        }
        drop(instances);
        process::start::<S>(at, of, (*component).name, Role::Body, move |_| {
            process::generated::<S, _>(|| ((*component).body)(of, (*of).parameters));
            answer::<S>(of);
        });
        of
    }
}

/// Wakes the process that waits for the body or the final, which has ended or replied. Returns
/// whether one waited.
unsafe fn answer<S: Flavour>(of: *mut Instance) -> bool {
    // SAFETY: instances are never unmapped. The process in `waits` waits until the V, so that its
    // descriptor lives.
    unsafe {
        let (waits, had_replied) = with_processes::<S, _>(of, |inner| {
            (inner.waits, std::mem::replace(&mut inner.has_replied, true))
        });
        if had_replied {
            return false;
        }
        let is_global = !(*(*of).component).global.is_null();
        if is_global {
            S::runtime().instances.lock().globals.push(of);
        }
        Semaphore::v(&raw mut (*waits).private);
        true
    }
}

/// Implements reply in a body or final.
///
/// # Safety
/// Called by a process.
pub unsafe fn reply<S: Flavour>(at: At) {
    let _entered = Fibers::<S>::enter();
    // SAFETY: the descriptor is the caller's own; the instance lives as long as one of its
    // processes.
    unsafe {
        let this = S::this();
        match (*this).role {
            Role::Body if answer::<S>((*this).instance) => {}
            Role::Body => errors::warn("ignoring extra reply in body"),
            Role::Final => errors::warn("reply in final ignored"),
            Role::Proc | Role::System => errors::abort(at, "reply outside of a body"),
        }
    }
}

/// Implements import: the global exists when this returns.
///
/// # Safety
/// As for [`create`]; the component is a global.
#[inline(always)]
pub unsafe fn need_global<S: Flavour>(at: At, component: *const Component) {
    let entered = Fibers::<S>::enter();
    // SAFETY: components are static. A process in the list waits until its V, so that its
    // descriptor lives.
    unsafe {
        let mut instances = S::runtime().instances.lock();
        let maker = instances.makers.entry(component).or_insert(Making::Nobody);
        match maker {
            Making::Done => {}
            Making::Nobody => {
                *maker = Making::Somebody(Vec::new());
                drop(instances);
                create::<S>(at, component, ptr::null(), 0);
                let mut instances = S::runtime().instances.lock();
                let made = instances.makers.insert(component, Making::Done);
                drop(instances);
                if let Some(Making::Somebody(waiting)) = made {
                    for process in waiting {
                        Semaphore::v(&raw mut (*process.cast::<Process<S>>()).private);
                    }
                }
            }
            Making::Somebody(waiting) => {
                let this = S::this();
                waiting.push(this.cast());
                drop(instances);
                Semaphore::wait(
                    &raw mut (*this).private,
                    at,
                    Waits::Component((*component).name),
                );
            }
        }
    }
    drop(entered);
}

/// The state of a global.
pub enum Making {
    Nobody,
    /// Its body runs; these processes wait for it.
    Somebody(Vec<*mut c_void>),
    Done,
}

/// The state of each global.
pub type Makers = HashMap<*const Component, Making>;

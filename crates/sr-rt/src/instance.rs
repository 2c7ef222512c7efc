//! Instances of components: create, globals, and the processes that belong to each.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

use antiphon_fiber::{Fibers, Lock, Servers, Threads};

use crate::arena::exhausted;
use crate::errors;
use crate::flavour::Flavour;
use crate::layout::{At, Component, Instance, Op};
use crate::process::{self, Process, Role, Waits};
use crate::semaphore::Semaphore;

/// What belongs to an instance besides its variables. It stays with the instance's memory for ever.
pub struct State<S: Servers> {
    pub inner: S::Lock<Inner<S>>,
}

/// An instance's belongings.
pub struct Inner<S: Servers> {
    /// Its processes, oldest first.
    pub first: *mut Process<S>,
    last: *mut Process<S>,
    pub live: u64,
    /// Memory that lives as long as it.
    pub memory: Vec<*mut c_void>,
    /// Operations that end with it.
    pub ops: Vec<(*mut Op, i64)>,
    /// Who waits for the end of the body or of the final.
    pub waits: *mut Process<S>,
    pub has_replied: bool,
    pub is_destroyed: bool,
}

// SAFETY of everything below: instances' memory is never unmapped, and their belongings are their lock's.

/// An instance's belongings.
///
/// # Safety
/// The instance was made by [`take`].
#[inline]
pub unsafe fn state<'a, S: Flavour>(of: *mut Instance) -> &'a State<S> {
    unsafe { &*(*of).state.cast::<State<S>>() }
}

/// Looks at an instance's belongings while nobody changes its processes.
///
/// # Safety
/// As for [`state`].
#[inline]
pub unsafe fn with_processes<S: Flavour, T>(
    of: *mut Instance,
    look: impl FnOnce(&mut Inner<S>) -> T,
) -> T {
    look(&mut unsafe { state::<S>(of) }.inner.lock())
}

/// A process begins to belong to an instance.
///
/// # Safety
/// As for [`state`]; the process belongs to none.
#[inline]
pub unsafe fn enlist<S: Flavour>(of: *mut Instance, process: *mut Process<S>) {
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

/// A process ends.
///
/// # Safety
/// It belongs to an instance.
#[inline]
pub unsafe fn leave<S: Flavour>(process: *mut Process<S>) {
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

/// Calls something for each process of an instance, oldest first.
///
/// # Safety
/// As for [`state`].
pub unsafe fn each<S: Flavour>(of: *mut Instance, mut look: impl FnMut(*mut Process<S>)) {
    unsafe {
        let inner = state::<S>(of).inner.lock();
        let mut process = inner.first;
        while !process.is_null() {
            look(process);
            process = (*process).next;
        }
    }
}

/// Memory for an instance, zeroed but for what the run-time keeps in it.
unsafe fn take<S: Flavour>(at: At, component: *const Component) -> *mut Instance {
    let mut instances = S::runtime().instances.lock();
    if let Some(of) = instances.spare.get_mut(&component).and_then(Vec::pop) {
        return of;
    }
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

/// Nothing of a destroyed instance is used any more: its memory is kept for the next of its component.
///
/// # Safety
/// As for [`state`]; the instance is destroyed, and no process belongs to it.
pub unsafe fn recycle<S: Flavour>(of: *mut Instance) {
    unsafe {
        let mut inner = state::<S>(of).inner.lock();
        for block in inner.memory.drain(..) {
            libc::free(block);
        }
        libc::free(std::mem::replace(&mut (*of).parameters, ptr::null_mut()));
        inner.is_destroyed = false;
        drop(inner);
        let bytes = (*(*of).component).instance_bytes;
        // The serial stays above what old capabilities have; operations in it are ended, which is what zeroes say.
        let head = size_of::<Instance>();
        ptr::write_bytes(of.cast::<u8>().add(head), 0, bytes.saturating_sub(head));
        let mut instances = S::runtime().instances.lock();
        instances.spare.entry((*of).component).or_default().push(of);
    }
}

/// create, and the making of a global: gives the instance when its body has ended or replied.
///
/// # Safety
/// The component is static; the parameters are so many bytes; called by a process.
#[inline(always)]
pub unsafe fn create<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: *const c_void,
    bytes: usize,
) -> *mut Instance {
    let _entered = Fibers::<S>::enter();
    unsafe {
        let of = prepare::<S>(at, component, parameters, bytes);
        let this = S::this();
        Semaphore::wait(
            &raw mut (*this).private,
            at,
            Waits::Component((*component).name),
        );
        of
    }
}

unsafe fn prepare<S: Flavour>(
    at: At,
    component: *const Component,
    parameters: *const c_void,
    bytes: usize,
) -> *mut Instance {
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
        if !(*component).global.is_null() {
            *(*component).global = of;
        }
        let this = S::this();
        with_processes::<S, _>(of, |inner| {
            inner.waits = this;
            inner.has_replied = false;
        });
        let mut instances = S::runtime().instances.lock();
        if instances.main.is_none() && (*component).global.is_null() {
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

/// The body or the final has ended or replied: whoever waits for it goes on. Whether somebody did.
unsafe fn answer<S: Flavour>(of: *mut Instance) -> bool {
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

/// reply in a body or final.
///
/// # Safety
/// Called by a process.
pub unsafe fn reply<S: Flavour>(at: At) {
    let _entered = Fibers::<S>::enter();
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

/// import: the global is there when this returns.
///
/// # Safety
/// As for [`create`]; the component is a global.
#[inline(always)]
pub unsafe fn need_global<S: Flavour>(at: At, component: *const Component) {
    let entered = Fibers::<S>::enter();
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

/// How far a global is.
pub enum Making {
    Nobody,
    /// Its body runs; these processes wait for it.
    Somebody(Vec<*mut c_void>),
    Done,
}

/// How far each global is.
pub type Makers = HashMap<*const Component, Making>;

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
use crate::layout::{Arena, At, Instance, Invocation, Name, Op, ProcessHead};
use crate::options;
use crate::semaphore::Semaphore;

/// The code that a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Code of the run-time: never reported.
    System,
    Proc,
    Body,
    Final,
}

/// What a process waits for; used in reports.
#[derive(Debug, Clone, Copy)]
pub enum Waits {
    Nothing,
    /// The semaphore's address.
    Semaphore(*mut c_void),
    /// An invocation: the operation, or null for any of several in a class, and the class's
    /// address.
    Invocation(*mut Op, *mut c_void),
    /// The end or reply of an operation.
    Reply(*mut Op),
    /// Invocations of a `co`.
    Co,
    /// The body or the final of a component.
    Component(Name),
    /// An action of another virtual machine.
    #[cfg(feature = "machines")]
    Machine(u32),
    /// Nothing: it waits for ever.
    Ever,
    Time,
    /// Input from outside of the program.
    Input,
}

/// A descriptor. Generated code reads the head. Descriptors are reused for other processes, and
/// never unmapped.
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
    /// The fiber, once it has begun.
    pub fiber: Option<Detached<S>>,
    /// Set, on any server, by the process that destroys its instance.
    pub is_killed: AtomicBool,
    /// While it waits for access to a class: whether its input statement has an else.
    pub has_else: bool,
    /// The next process that waits for the same class.
    pub next_waiting: *mut Process<S>,
    /// The class that it looks through, the innermost if there are several.
    pub holds: *mut Class<S>,
    /// The values of the quantifiers that it was started for.
    pub indices: Indices,
    /// The number of processes that were started before it.
    pub number: u64,
    /// Its neighbours among its instance's processes.
    pub next: *mut Process<S>,
    pub previous: *mut Process<S>,
}

/// Values of a process declaration's quantifiers, for reports.
#[derive(Debug, Clone, Copy)]
pub struct Indices {
    /// The declaration's name. While the process runs a proc that it called, its own name is that
    /// of the proc.
    of: Name,
    count: u8,
    values: [i32; Indices::MOST],
}

impl Indices {
    const MOST: usize = 4;
    /// For a process that was started without quantifiers.
    pub const NONE: Indices = Indices {
        of: ptr::null(),
        count: 0,
        values: [0; Indices::MOST],
    };

    /// Takes the values for the process that an invocation starts.
    ///
    /// # Safety
    /// The operation is a proc's, and the block is an invocation of it.
    #[inline]
    unsafe fn take(&mut self, op: *const Op, block: *const Invocation) {
        // SAFETY: by the contract, `index` says where the block has the values and how many.
        unsafe {
            let index = (*op).index;
            if index != 0 {
                let count = (index as usize & 0xf).min(Indices::MOST);
                let first = block.byte_add(index as usize >> 4).cast::<i32>();
                ptr::copy_nonoverlapping(first, self.values.as_mut_ptr(), count);
                self.count = count as u8;
                self.of = (*op).name;
            }
        }
    }

    /// Returns the values, if the process has its declaration's name.
    pub fn values(&self, name: Name) -> &[i32] {
        match name == self.of {
            true => &self.values[..usize::from(self.count)],
            false => &[],
        }
    }
}

/// Returns a descriptor for a new process.
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
            indices: Indices::NONE,
            number: 0,
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
        }))
    })
}

/// Starts a process of an instance, or of none. It is appended to the ready list; the caller
/// continues.
///
/// # Safety
/// The instance lives; `run` keeps its caller's contract. The caller has entered the run-time.
#[inline]
pub unsafe fn start<S: Flavour>(
    at: At,
    instance: *mut Instance,
    name: Name,
    role: Role,
    run: impl FnOnce(*mut Process<S>) + 'static,
) {
    // SAFETY: the contract is the same.
    unsafe { start_in(at, instance, name, role, Place::default(), run) }
}

/// Where a process belongs, and which one of its declaration it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// Its own region, in place of its instance's.
    pub region: Option<Region>,
    /// Its priority, in place of its creator's.
    pub priority: Option<i32>,
    /// The proc and the invocation that it runs, which have the values of its quantifiers.
    pub invocation: Option<(*const Op, *const Invocation)>,
}

/// The same for one of several processes of a declaration, or for one in a region of its own.
///
/// # Safety
/// As above. The invocation is one of the operation, which is a proc.
#[inline]
pub unsafe fn start_in<S: Flavour>(
    at: At,
    instance: *mut Instance,
    name: Name,
    role: Role,
    place: Place,
    run: impl FnOnce(*mut Process<S>) + 'static,
) {
    let process = take::<S>();
    let mut builder = Builder {
        priority: place.priority,
        ..Builder::default()
    };
    // SAFETY: no other process uses a spare descriptor; the instance lives by the contract.
    unsafe {
        (*process).head.at = at;
        (*process).name = name;
        (*process).role = role;
        (*process).waits_for = Waits::Nothing;
        (*process).instance = instance;
        (*process).fiber = None;
        (*process).indices.count = 0;
        if let Some((op, block)) = place.invocation {
            (*process).indices.take(op, block);
        }
        (*process).is_killed.store(false, Ordering::Relaxed);
        (*process).holds = ptr::null_mut();
        (*process).private.reset();
        (*process).number = S::runtime().processes.add(1);
        if !instance.is_null() {
            instance::enlist(instance, process);
            if (*instance).region >= 0 {
                builder.region = Some(Region((*instance).region as usize));
            }
        }
        if place.region.is_some() {
            builder.region = place.region;
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
    // SAFETY: one process at a time uses the body's data. Generated code keeps no address of a
    // thread-local across a switch.
    if let Err(error) = unsafe { Fibers::<S>::detach(builder, process.cast(), body) } {
        errors::abort(at, &error.to_string());
    }
}

/// Whether the process should run: it may have been killed before.
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

/// Runs generated code. Under a model with time slices, ticks may switch inside it.
///
/// # Safety
/// The code is generated code, and the caller is a process.
#[inline(always)]
pub unsafe fn generated<S: Flavour, T>(code: impl FnOnce() -> T) -> T {
    if options::is_sliced() {
        // SAFETY: generated code takes no lock and allocates nothing between two calls of the
        // run-time.
        unsafe { Fibers::<S>::sliceable(code) }
    } else {
        code()
    }
}

/// Whether a process was killed.
///
/// # Safety
/// The descriptor of a process.
#[inline]
pub unsafe fn is_killed<S: Flavour>(process: *const Process<S>) -> bool {
    // SAFETY: descriptors are never unmapped.
    unsafe { &(*process).is_killed }.load(Ordering::Relaxed)
}

/// Ends the calling process if it was killed while it ran. An error that it then meets is not the
/// program's.
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

/// Notes that the calling process waits for input from outside.
pub fn note_input() {
    fn of<S: Flavour>() {
        let this = S::this();
        if !this.is_null() {
            // SAFETY: the caller's own descriptor.
            unsafe { (*this).waits_for = Waits::Input };
        }
    }
    match options::is_many() {
        true => of::<Many>(),
        false => of::<One>(),
    }
}

/// Ends a killed process that does not run any more.
pub fn discarded<S: Flavour>(process: *mut ()) {
    if !process.is_null() {
        // SAFETY: the process does not run any more, and its fiber has kept the descriptor.
        unsafe { end::<S>(process.cast()) };
    }
}

/// Ends the calling process.
pub fn die<S: Flavour>() -> ! {
    let this = Fibers::<S>::this();
    // SAFETY: the caller's own descriptor.
    unsafe { &(*S::this()).is_killed }.store(true, Ordering::Relaxed);
    loop {
        // SAFETY: the process was killed with its instance, and nothing else uses its stack.
        unsafe { this.kill() };
        <Fibers<S> as antiphon_fiber::Threads>::yield_now();
    }
}

//! The two flavours of the run-time, for one server and for many, from one generic core. Their C
//! names begin with `sr1_` and `srn_`.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_fiber::{Entered, Fibers, Many, One, Places, Servers, Threads};

use crate::options;
use crate::process::Process;
use crate::runtime::Runtime;

/// A flavour: a number of servers, with the state that generated code and the core keep for it.
pub trait Flavour: Servers {
    /// Returns the state that the whole program shares.
    fn runtime() -> &'static Runtime<Self>;
    /// Returns the running process.
    fn this() -> *mut Process<Self>;
    /// Called on each server before its first process, because generated code reads the server's
    /// places directly.
    fn settle();
}

/// Whether processes run; before that the run-time cannot be entered.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether the caller is within the run: on a server's OS thread.
pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Relaxed)
}

/// A guard against switches by ticks, for functions that are the same in both flavours.
pub enum Busy {
    /// The run has not begun.
    Outside,
    #[allow(dead_code, reason = "it is there to be dropped")]
    One(Entered<One>),
    #[allow(dead_code, reason = "as above")]
    Many(Entered<Many>),
}

/// Enters the run-time in the program's flavour.
pub fn busy() -> Busy {
    if !has_begun() {
        Busy::Outside
    } else if options::is_many() {
        Busy::Many(Fibers::<Many>::enter())
    } else {
        Busy::One(Fibers::<One>::enter())
    }
}

/// Runs a system call that blocks; other processes go on meanwhile.
pub fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    if options::is_many() {
        Fibers::<Many>::blocking(call)
    } else {
        Fibers::<One>::blocking(call)
    }
}

/// A static of a program whose processes all run on one OS thread.
struct Alone<T>(UnsafeCell<Option<T>>);

// SAFETY: set once before the first process, and then used only by the one server's OS thread.
unsafe impl<T> Sync for Alone<T> {}

static OF_ONE: Alone<Runtime<One>> = Alone(UnsafeCell::new(None));
static OF_MANY: std::sync::OnceLock<Runtime<Many>> = std::sync::OnceLock::new();

/// Where generated code finds the running process.
#[unsafe(no_mangle)]
static mut sr1_self_place: *const *mut () = std::ptr::null();
/// Where generated code counts loops.
#[unsafe(no_mangle)]
static mut sr1_budget: *mut i64 = std::ptr::null_mut();
/// Where generated code counts its own P operations.
#[unsafe(no_mangle)]
static mut sr1_p_operations: *mut u64 = std::ptr::null_mut();

impl Flavour for One {
    #[inline(always)]
    fn runtime() -> &'static Runtime<One> {
        // SAFETY: as `Alone` says; `prepare_one` comes first.
        let runtime = unsafe { &*OF_ONE.0.get() };
        runtime.as_ref().expect("prepared before the first process")
    }

    #[inline(always)]
    fn this() -> *mut Process<One> {
        // SAFETY: `settle` comes before the first process.
        unsafe { (*(&raw const sr1_self_place).read()).cast() }
    }

    fn settle() {
        let places = Fibers::<One>::places();
        // SAFETY: one OS thread.
        unsafe {
            (&raw mut sr1_self_place).write(places.local);
            (&raw mut sr1_budget).write(places.budget);
            (&raw mut sr1_p_operations).write(places.p_operations);
        }
        HAS_BEGUN.store(true, Ordering::Relaxed);
    }
}

impl Flavour for Many {
    #[inline(always)]
    fn runtime() -> &'static Runtime<Many> {
        OF_MANY.get().expect("prepared before the first process")
    }

    #[inline(always)]
    fn this() -> *mut Process<Many> {
        Fibers::<Many>::local().cast()
    }

    fn settle() {
        keep_places_of_thread(Fibers::<Many>::places());
        HAS_BEGUN.store(true, Ordering::Relaxed);
    }
}

pub fn prepare_one() {
    // SAFETY: called by `main` before the run.
    unsafe { *OF_ONE.0.get() = Some(Runtime::new()) };
}

pub fn prepare_many() {
    OF_MANY.get_or_init(Runtime::new);
}

/// Keeps the places of the calling OS thread's server in `__thread` variables of the contract. The
/// assembler defines them, because thread-local statics with C names are not stable in Rust.
#[cfg(target_arch = "x86_64")]
fn keep_places_of_thread(places: Places) {
    unsafe extern "C" {
        fn sr_places_of_thread() -> *mut [*mut u64; 2];
    }
    // SAFETY: the calling OS thread's own variables, which live as long as the thread.
    unsafe { *sr_places_of_thread() = [places.budget.cast(), places.p_operations] };
}

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".globl srn_budget",
    ".type srn_budget, @object",
    ".size srn_budget, 8",
    "srn_budget: .zero 8",
    ".globl srn_p_operations",
    ".type srn_p_operations, @object",
    ".size srn_p_operations, 8",
    "srn_p_operations: .zero 8",
    ".text",
    ".type sr_places_of_thread, @function",
    "sr_places_of_thread:",
    "    mov rax, fs:0",
    "    add rax, [rip + srn_budget@GOTTPOFF]",
    "    ret",
    ".size sr_places_of_thread, . - sr_places_of_thread",
);

/// Without such variables, generated code asks each time.
#[cfg(not(target_arch = "x86_64"))]
fn keep_places_of_thread(_places: Places) {}

#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
extern "C" fn srn_budget_of_thread() -> *mut i64 {
    Fibers::<Many>::places().budget
}

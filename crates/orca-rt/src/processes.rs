//! Processes: the one that a thread runs, and those that it forks.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use antiphon_panda::thread::{self, Id};
use bytes::Bytes;
use orca::{Handle, On, Orca};

use crate::errors::{self, fail_with};
use crate::layout::{self, At, Reader, slice, text};
use crate::objects;
use crate::settings::{self, Model};
use crate::start;
use crate::statistics;

/// A process, with the objects in its arguments in their order.
struct Running {
    orca: Orca,
    shared: VecDeque<Handle>,
}

thread_local! {
    /// The process that this thread runs.
    static HERE: RefCell<Option<Running>> = const { RefCell::new(None) };
    /// The machine for which this thread executes operations on partitioned objects.
    static SERVES: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The machines for which fibers execute operations on partitioned objects.
static SERVING: LazyLock<Mutex<HashMap<Id, u32>>> = LazyLock::new(Mutex::default);

/// Records the machine for which the caller executes operations.
pub fn serve(machine: u32) {
    match settings::get().model {
        Model::Threads => SERVES.set(Some(machine)),
        Model::Cooperative => {
            let mut serving = SERVING.lock().unwrap_or_else(|it| it.into_inner());
            serving.insert(thread::current(), machine);
        }
    }
}

fn served() -> Option<u32> {
    match settings::get().model {
        Model::Threads => SERVES.get(),
        Model::Cooperative => {
            let serving = SERVING.lock().unwrap_or_else(|it| it.into_inner());
            serving.get(&thread::current()).copied()
        }
    }
}

/// The processes that are fibers. A fiber may go on on another thread after each wait.
static FIBERS: LazyLock<Mutex<HashMap<Id, Running>>> = LazyLock::new(Mutex::default);

fn fibers() -> MutexGuard<'static, HashMap<Id, Running>> {
    FIBERS.lock().unwrap_or_else(|it| it.into_inner())
}

/// Calls `body` with the process of the caller, which does not wait meanwhile.
fn with_own<R>(body: impl FnOnce(Option<&mut Running>) -> R) -> R {
    match settings::get().model {
        Model::Threads => HERE.with_borrow_mut(|it| body(it.as_mut())),
        Model::Cooperative => body(fibers().get_mut(&thread::current())),
    }
}

/// Sets the process of the caller, or removes it.
fn set_own(running: Option<Running>) {
    // The old one is dropped where no lock is held.
    let _old = match (settings::get().model, running) {
        (Model::Threads, running) => HERE.replace(running),
        (Model::Cooperative, Some(running)) => fibers().insert(thread::current(), running),
        (Model::Cooperative, None) => fibers().remove(&thread::current()),
    };
}

/// Calls `body` with the process of the caller, if it is one.
pub fn if_here<R>(body: impl FnOnce(&Orca) -> R) -> Option<R> {
    let orca = with_own(|it| it.map(|it| it.orca.clone()))?;
    Some(body(&orca))
}

/// Calls `body` with the process of the caller.
pub fn here<R>(body: impl FnOnce(&Orca) -> R) -> R {
    if_here(body).unwrap_or_else(|| fail_with("an object is shared outside of all processes"))
}

/// Returns the machine of the caller's process, or of the operations that it executes, if known.
pub fn machine() -> Option<u32> {
    with_own(|it| it.map(|it| it.orca.machine())).or_else(served)
}

/// Runs a process on this thread.
pub fn run(orca: &Orca, shared: VecDeque<Handle>, body: impl FnOnce()) {
    let orca = orca.clone();
    set_own(Some(Running { orca, shared }));
    body();
    set_own(None);
}

/// Registers the processes of the program.
pub fn register() {
    // SAFETY: generated code defines the program, and its table is a constant.
    let table = unsafe {
        let program = &layout::orca_program;
        slice(program.processes, program.process_count)
    };
    for (number, process) in table.iter().enumerate() {
        orca::register_process(name(number as u32), move |orca, arguments| {
            let (bytes, handles): (Bytes, Vec<Handle>) = arguments.decode()?;
            run(orca, handles.into(), || {
                let mut reader = Reader::of(&bytes);
                // SAFETY: the process reads the bytes that `fork` has written for it.
                unsafe { (process.run)(&mut reader) };
            });
            Ok(())
        });
    }
}

fn name(number: u32) -> &'static str {
    // SAFETY: as in `register`. The number comes from generated code.
    unsafe {
        let program = &layout::orca_program;
        let table = slice(program.processes, program.process_count);
        text(table[number as usize].name)
    }
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_argument() -> *mut c_void {
    let next = with_own(|it| it.and_then(|it| it.shared.pop_front()));
    objects::for_c(next.unwrap_or_else(|| fail_with("a process has too few arguments")))
}

#[unsafe(no_mangle)]
extern "C" fn orca_shared_fork(
    process: u32,
    has_cpu: bool,
    cpu: i64,
    arguments: *const u8,
    size: usize,
    handles: *const *mut c_void,
    count: usize,
    at: At,
) {
    let bytes = match size {
        0 => Bytes::new(),
        // SAFETY: C passes this many bytes.
        _ => Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(arguments, size) }),
    };
    let handles: Vec<Handle> = match count {
        0 => Vec::new(),
        // SAFETY: C passes this many handles, each one of ours.
        _ => unsafe {
            let handles = std::slice::from_raw_parts(handles, count);
            handles
                .iter()
                .map(|it| (*it.cast::<Handle>()).clone())
                .collect()
        },
    };
    let outcome = here(|orca| {
        let on = if has_cpu { cpu as u32 } else { orca.machine() };
        orca.fork(On::Machine(on), name(process), &(bytes, handles))
    });
    if let Err(error) = outcome {
        errors::give_up(at, &error);
    }
}

#[unsafe(no_mangle)]
extern "C" fn orca_ncpus() -> i32 {
    start::machines() as i32
}

#[unsafe(no_mangle)]
extern "C" fn orca_mycpu() -> i32 {
    machine().unwrap_or_else(start::own_machine) as i32
}

#[unsafe(no_mangle)]
extern "C" fn orca_finish() -> ! {
    errors::flush();
    // It fails if the program is already over.
    let _ = here(Orca::finish);
    errors::wait_for_the_end()
}

/// Sleeps, and lets other processes run.
#[unsafe(no_mangle)]
extern "C" fn orca_sleep(seconds: i64, nanoseconds: i64) {
    let seconds = Duration::from_secs(seconds.max(0) as u64);
    thread::sleep(seconds + Duration::from_nanos(nanoseconds.max(0) as u64));
}

/// Writes the counts of this machine to standard error.
#[unsafe(no_mangle)]
extern "C" fn orca_print_statistics() {
    let text = here(|orca| statistics::text(&[orca.machine_statistics()]));
    errors::say(text.trim_end());
}

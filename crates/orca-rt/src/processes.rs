//! Processes: the one that a thread runs, and those that it forks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::c_void;

use bytes::Bytes;
use orca::{Handle, On, Orca};

use crate::errors::{self, fail_with};
use crate::layout::{self, At, Reader, slice, text};
use crate::objects;
use crate::start;

thread_local! {
    /// The process that this thread runs.
    static HERE: RefCell<Option<Orca>> = const { RefCell::new(None) };
    /// The objects in the process's arguments, in their order.
    static SHARED: RefCell<VecDeque<Handle>> = const { RefCell::new(VecDeque::new()) };
    /// The machine for which this thread executes operations on partitioned objects.
    static SERVES: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Records the machine for which this thread executes operations.
pub fn serve(machine: u32) {
    SERVES.set(Some(machine));
}

/// Calls `body` with the process that this thread runs.
pub fn here<R>(body: impl FnOnce(&Orca) -> R) -> R {
    HERE.with_borrow(|orca| match orca {
        Some(orca) => body(orca),
        None => fail_with("an object is shared outside of all processes"),
    })
}

/// Returns the machine of the process or of the operations that this thread runs, if known.
pub fn machine() -> Option<u32> {
    let own = HERE.with_borrow(|orca| orca.as_ref().map(Orca::machine));
    own.or_else(|| SERVES.get())
}

/// Runs a process on this thread.
pub fn run(orca: &Orca, body: impl FnOnce()) {
    HERE.set(Some(orca.clone()));
    body();
    HERE.set(None);
    SHARED.with_borrow_mut(VecDeque::clear);
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
            SHARED.set(handles.into());
            run(orca, || {
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
    let next = SHARED.with_borrow_mut(VecDeque::pop_front);
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
    // SAFETY: the library flushes its output.
    unsafe { layout::orca_flush() };
    // It fails if the program is already over.
    let _ = here(Orca::finish);
    errors::wait_for_the_end()
}

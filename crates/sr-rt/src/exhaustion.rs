//! The end of a program that has run out of memory: a message with the place and the process,
//! composed without memory.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::files;
use crate::layout::At;
use crate::line::Line;
use crate::options;
use crate::report::{self, Running};

/// The system's allocator. If it has no memory for the run-time, the program ends with a message,
/// as when generated code asks for memory.
struct Allocator;

#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn found(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        end(std::ptr::null(), bytes as u64);
    }
    block
}

// SAFETY: forwards everything to the system's allocator; a returned block is one of its blocks.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: by the caller's contract.
        found(unsafe { System.realloc(block, layout, bytes) }, bytes)
    }
}

/// Ends the program with exit code 1 because `bytes` more bytes cannot be allocated. Without a
/// place, the message has the place of the running process.
#[cold]
pub fn end(at: At, bytes: u64) -> ! {
    files::flush_standard_output_if_free();
    let running = Running::find();
    let at = if at.is_null() { running.at() } else { at };
    let mut line = Line::default();
    // SAFETY: places are static locations of the generated program.
    unsafe { line.add_abort(at) };
    line.add("out of memory: ").add_number(bytes);
    line.add(" bytes are more than the machine gives\n");
    if !options::get().is_plain {
        report::add_process(&mut line, &running);
    }
    line.write();
    // SAFETY: ends the process. The C library's files are not written out, as that may need memory.
    unsafe { libc::_exit(1) }
}

//! Counts of this executable's allocations, once a test asks for them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

struct Counting;

/// Whether the process is counted. Threads that allocate at once would wait for each other's
/// counts, so most tests do without.
static IS_PROCESS_COUNTED: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: the system's allocator does the work. The counters are atomics, so counting never
// allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_PROCESS_COUNTED.load(Relaxed) {
            ALLOCATED.fetch_add(layout.size(), Relaxed);
            LIVE.fetch_add(layout.size() as isize, Relaxed);
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if IS_PROCESS_COUNTED.load(Relaxed) {
            LIVE.fetch_sub(layout.size() as isize, Relaxed);
        }
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Counts what the process allocates from now on. Its test has a process of its own.
pub fn count_process() {
    IS_PROCESS_COUNTED.store(true, Relaxed);
}

/// Returns the bytes that the process has allocated since [`count_process`].
pub fn allocated() -> usize {
    ALLOCATED.load(Relaxed)
}

/// Returns how many more bytes are in use in the process than at [`count_process`].
pub fn live() -> isize {
    LIVE.load(Relaxed)
}

//! Counts what each thread of this executable allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work. The counters are cells without destructors, so
// counting never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size() as isize);
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the bytes that this thread has allocated less those that it has freed.
pub fn live_of_thread() -> isize {
    LIVE.get()
}

/// Returns the bytes of this thread's largest allocation since the last
/// [`forget_largest_of_thread`].
pub fn largest_of_thread() -> usize {
    LARGEST.get()
}

/// Starts anew to look for this thread's largest allocation.
pub fn forget_largest_of_thread() {
    LARGEST.set(0);
}

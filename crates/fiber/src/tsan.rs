//! Tells ThreadSanitizer of switches, so that it knows on whose behalf a thread reads and writes, and that what a fiber did before a switch happened before what follows.
//!
//! Compiled under `--cfg antiphon_tsan` alone, which `make sanitize` sets. A switch is told of a few calls before it is made, so calls must not be counted
//! (`-tsan-instrument-func-entry-exit=0`): they would be entered on one shadow stack and left on another.

use std::cell::Cell;
use std::ffi::{c_uint, c_void};
use std::ptr::null_mut;

// Of compiler-rt, `sanitizer/tsan_interface.h`.
unsafe extern "C" {
    safe fn __tsan_get_current_fiber() -> *mut c_void;
    safe fn __tsan_create_fiber(flags: c_uint) -> *mut c_void;
    fn __tsan_destroy_fiber(fiber: *mut c_void);
    fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: c_uint);
}

/// What the sanitizer knows of a fiber, and of the thread that runs it.
#[derive(Debug)]
pub(crate) struct Shadow {
    own: Cell<*mut c_void>,
    server: Cell<*mut c_void>,
}

impl Default for Shadow {
    fn default() -> Self {
        Shadow {
            own: Cell::new(null_mut()),
            server: Cell::new(null_mut()),
        }
    }
}

impl Shadow {
    /// A fiber is there that has not run.
    pub fn begin(&self) {
        self.own.set(__tsan_create_fiber(0));
    }

    /// The thread goes over to the fiber.
    #[inline(always)]
    pub fn enter(&self) {
        self.server.set(__tsan_get_current_fiber());
        // SAFETY: the fiber has begun and not ended.
        unsafe { __tsan_switch_to_fiber(self.own.get(), 0) };
    }

    /// The fiber goes back to the thread that entered it.
    #[inline(always)]
    pub fn leave(&self) {
        // SAFETY: that thread waits for it.
        unsafe { __tsan_switch_to_fiber(self.server.get(), 0) };
    }

    /// The fiber does not run any more.
    pub fn end(&self) {
        // SAFETY: it has begun, and no thread is on it.
        unsafe { __tsan_destroy_fiber(self.own.replace(null_mut())) };
    }
}

//! Reports of switches to ThreadSanitizer. It then knows on whose behalf a thread reads and writes,
//! and that a fiber's actions before a switch happen before those after it.
//!
//! This is compiled under `--cfg antiphon_tsan` alone, which `make sanitize` sets. A switch is
//! reported a few calls before it is made. So calls must not be counted
//! (`-tsan-instrument-func-entry-exit=0`): they would be entered on one shadow stack and left on
//! another.

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

/// The sanitizer's state of a fiber, and of the thread that runs it.
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
    /// Reports a new fiber that has not run.
    pub fn begin(&self) {
        self.own.set(__tsan_create_fiber(0));
    }

    /// Reports that the thread goes over to the fiber.
    #[inline(always)]
    pub fn enter(&self) {
        self.server.set(__tsan_get_current_fiber());
        // SAFETY: the fiber has begun and not ended.
        unsafe { __tsan_switch_to_fiber(self.own.get(), 0) };
    }

    /// Reports that the fiber goes back to the thread that entered it.
    #[inline(always)]
    pub fn leave(&self) {
        // SAFETY: the thread that entered the fiber is suspended in it, so its context exists.
        unsafe { __tsan_switch_to_fiber(self.server.get(), 0) };
    }

    /// Reports that the fiber does not run any more.
    pub fn end(&self) {
        // SAFETY: it has begun, and no thread is on it.
        unsafe { __tsan_destroy_fiber(self.own.replace(null_mut())) };
    }
}

//! Stacks of fibers, mapped many at a time, each with a guard below it, and reused.
//!
//! A guard by `mprotect` splits a mapping in two. The kernel allows 65 530 mappings by default,
//! which is 32 000 fibers. Since Linux 6.13 `MADV_GUARD_INSTALL` makes guards without splitting;
//! older kernels get `mprotect`.
//!
//! ```text
//!   slab   | guard | stack | guard | stack | …
//!                  ^ bottom      top       addresses grow to the right
//! ```

use std::num::NonZeroUsize;
use std::ops::Range;
use std::ptr::NonNull;

use corosensei::stack::{Stack as Switchable, StackPointer};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Number of stacks mapped at once: few system calls and few mappings, without much unused address
/// space.
const STACKS_A_SLAB: usize = 64;

/// Bytes of the guard below a stack. A function with a larger frame must touch its pages in order
/// (`-fstack-clash-protection`, and Rust's own probes), or it could jump over the guard. Some
/// compilers count on a guard of this width, and do not touch smaller frames at all.
const GUARD_BYTES: usize = 64 << 10;

/// `MADV_GUARD_INSTALL` of `linux/mman.h`; the C library's headers may be older than the kernel.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// Reason why there is no further stack.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// The kernel gives no memory.
    #[error(
        "no memory for {count} more stacks of {size} bytes: {cause}; use smaller stacks or fewer fibers"
    )]
    Memory {
        /// Number of stacks that were to be mapped.
        count: usize,
        /// Bytes of one stack.
        size: usize,
        /// Error of the kernel.
        cause: rustix::io::Errno,
    },
    /// The kernel gives no guards.
    #[error(
        "no guard below a stack: {cause}; this kernel needs two mappings a fiber, raise vm.max_map_count (sysctl -w vm.max_map_count=1000000)"
    )]
    Guard {
        /// Error of the kernel.
        cause: rustix::io::Errno,
    },
}

/// A stack, owned by a fiber or by the pool. Its memory belongs to the pool's slabs.
#[derive(Debug)]
pub(crate) struct Stack {
    /// The lowest usable address.
    bottom: usize,
    /// One past the highest.
    top: NonZeroUsize,
}

// SAFETY: every stack is cut from a slab with a guard below it, has at least `MIN_STACK_SIZE`
// usable bytes (see `Pool::new`), and page alignment.
unsafe impl Switchable for Stack {
    #[inline]
    fn base(&self) -> StackPointer {
        self.top
    }
    #[inline]
    fn limit(&self) -> StackPointer {
        // SAFETY of the unwrap: a mapping never begins at address 0, so the fallback is never used.
        NonZeroUsize::new(self.guard().start).unwrap_or(self.top)
    }
}

impl Stack {
    /// Returns the addresses of the guard below it.
    pub fn guard(&self) -> Range<usize> {
        self.bottom - guard_bytes()..self.bottom
    }

    /// Returns the same stack, for code that runs on it and ends before anything else uses it.
    pub fn again(&self) -> Stack {
        Stack {
            bottom: self.bottom,
            top: self.top,
        }
    }

    /// Returns the address behind its highest one.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    /// Returns its usable bytes.
    pub fn bytes(&self) -> usize {
        self.top.get() - self.bottom
    }
}

/// The stacks of one size: those in use and those to reuse.
#[derive(Debug)]
pub(crate) struct Pool {
    size: usize,
    /// Number of stacks that are mapped at once.
    slab: usize,
    free: Vec<Stack>,
    slabs: Vec<(NonNull<std::ffi::c_void>, usize)>,
    has_light_guards: bool,
}

// SAFETY: the slabs are plain memory that only this pool unmaps, so the pool may move between
// threads.
unsafe impl Send for Pool {}

fn page() -> usize {
    rustix::param::page_size()
}

/// Returns the bytes of a guard: a multiple of the page, as both are powers of two.
fn guard_bytes() -> usize {
    GUARD_BYTES.max(page())
}

impl Pool {
    /// Makes a pool of stacks of at least `size` usable bytes each.
    pub fn new(size: usize) -> Pool {
        Pool::with_slabs(size, STACKS_A_SLAB)
    }

    /// Makes a pool that maps `slab` stacks at once.
    pub fn with_slabs(size: usize, slab: usize) -> Pool {
        let page = page();
        let size = size.max(corosensei::stack::MIN_STACK_SIZE).max(page);
        Pool {
            size: size.next_multiple_of(page),
            slab,
            free: Vec::new(),
            slabs: Vec::new(),
            has_light_guards: true,
        }
    }

    /// Takes a stack that is not in use.
    pub fn take(&mut self) -> Result<Stack, StackError> {
        if self.free.is_empty() {
            self.map_slab()?;
        }
        Ok(self.free.pop().expect("a slab holds stacks"))
    }

    fn map_slab(&mut self) -> Result<(), StackError> {
        let each = self.size + guard_bytes();
        let length = each * self.slab;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        // SAFETY: the kernel chooses an unused address for the new anonymous mapping, so no memory
        // in use changes.
        let slab = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }
        .map_err(|cause| StackError::Memory {
            count: self.slab,
            size: self.size,
            cause,
        })?;
        self.slabs.push((
            NonNull::new(slab).expect("mmap gives an address or an error"),
            length,
        ));
        let start = slab as usize;
        // The lowest one is pushed last, so that stacks are handed out from the slab's beginning.
        for number in (0..self.slab).rev() {
            let guard = start + number * each;
            self.guard(guard)?;
            let top = NonZeroUsize::new(guard + each).expect("above the guard");
            self.free.push(Stack {
                bottom: guard + guard_bytes(),
                top,
            });
        }
        Ok(())
    }

    fn guard(&mut self, at: usize) -> Result<(), StackError> {
        let at = at as *mut std::ffi::c_void;
        let bytes = guard_bytes();
        // SAFETY: the pages were mapped by `map_slab` and hold nothing yet.
        if self.has_light_guards && unsafe { libc::madvise(at, bytes, MADV_GUARD_INSTALL) } == 0 {
            return Ok(());
        }
        self.has_light_guards = false;
        // SAFETY: the pages were mapped by `map_slab` and hold nothing yet.
        unsafe { mprotect(at, bytes, MprotectFlags::empty()) }
            .map_err(|cause| StackError::Guard { cause })
    }
}

impl Pool {
    /// Leaves all stacks mapped for ever: on some of them are the values of fibers that never end.
    pub fn leak(&mut self) {
        self.slabs.clear();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for &(slab, length) in &self.slabs {
            // SAFETY: `map_slab` mapped the slab, and the owner of the pool ensures that no stack
            // of it is in use.
            let _ = unsafe { munmap(slab.as_ptr(), length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_do_not_overlap_and_have_guards() {
        let mut pool = Pool::new(16 << 10);
        let mut stacks: Vec<Stack> = (0..STACKS_A_SLAB * 3)
            .map(|_| pool.take().unwrap())
            .collect();
        stacks.sort_by_key(|s| s.bottom);
        for pair in stacks.windows(2) {
            assert!(pair[0].top.get() <= pair[1].guard().start);
        }
        for stack in &stacks {
            assert_eq!(stack.top.get() - stack.bottom, 16 << 10);
            // SAFETY: the address is usable memory of a stack on which nothing runs.
            unsafe { *(stack.bottom as *mut u8) = 1 };
        }
    }

    #[test]
    fn small_sizes_are_rounded_up_to_what_can_be_switched_to() {
        assert_eq!(Pool::new(1).size % page(), 0);
        assert!(Pool::new(1).size >= corosensei::stack::MIN_STACK_SIZE);
    }
}

//! `new` and `free`, and memory that lives as long as an instance.

use std::ffi::c_void;

use antiphon_fiber::{Fibers, Lock, Threads};

use crate::arena::exhausted;
use crate::errors;
use crate::flavour::Flavour;
use crate::instance;
use crate::layout::{At, Instance};

/// The head before each block.
#[repr(C, align(16))]
struct Head {
    mark: u64,
    bytes: u64,
}

/// Marks of used and of freed blocks, mixed with the block's address.
const IN_USE: u64 = 0x5e11_1a7e_ca11_ed0f;

const MOST: i64 = 1 << 47;

/// Implements new(T).
///
/// # Safety
/// Called by a process.
pub unsafe fn allocate<S: Flavour>(at: At, bytes: i64) -> *mut c_void {
    let _entered = Fibers::<S>::enter();
    if !(0..MOST).contains(&bytes) {
        exhausted(at, bytes);
    }
    // SAFETY: calloc of a head and the block.
    unsafe {
        let head: *mut Head = libc::calloc(1, bytes as usize + size_of::<Head>()).cast();
        if head.is_null() {
            exhausted(at, bytes);
        }
        let block = head.add(1);
        (*head).mark = IN_USE ^ block as u64;
        (*head).bytes = bytes as u64;
        block.cast()
    }
}

/// Implements free(p).
///
/// # Safety
/// Called by a process. The pointer is null, or from [`allocate`], or an address with readable
/// memory before it. In the last case the error is found.
pub unsafe fn free<S: Flavour>(at: At, block: *mut c_void) {
    if block.is_null() {
        return;
    }
    let _entered = Fibers::<S>::enter();
    let is_aligned = (block as usize).is_multiple_of(align_of::<Head>());
    // SAFETY: by the contract.
    unsafe {
        let head = block.cast::<Head>().sub(1);
        if !is_aligned || (*head).mark != IN_USE ^ block as u64 {
            errors::abort(at, "bad address for free(), or block overwritten");
        }
        (*head).mark = 0;
        libc::free(head.cast());
    }
}

/// Allocates zeroed bytes that live as long as an instance.
///
/// # Safety
/// The instance lives.
pub unsafe fn allocate_in<S: Flavour>(at: At, of: *mut Instance, bytes: i64) -> *mut c_void {
    let _entered = Fibers::<S>::enter();
    if !(0..MOST).contains(&bytes) {
        exhausted(at, bytes);
    }
    // SAFETY: calloc: large blocks come from the kernel, zeroed when they are touched.
    let block = unsafe { libc::calloc(1, (bytes as usize).max(1)) };
    if block.is_null() {
        exhausted(at, bytes);
    }
    // SAFETY: by the contract.
    unsafe { instance::state::<S>(of) }
        .inner
        .lock()
        .memory
        .push(block);
    block
}

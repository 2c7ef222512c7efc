//! Memory of processes: temporaries and arrays of blocks, used as a stack.

use std::ffi::c_void;
use std::ptr;

use crate::layout::{Arena, At};
use crate::{errors, exhaustion, process};

/// A piece of an arena's memory; its bytes follow.
#[repr(C, align(16))]
struct Chunk {
    previous: *mut Chunk,
    /// Includes this head.
    bytes: usize,
    is_mapped: bool,
}

const HEAD: usize = size_of::<Chunk>();
/// Sizes of chunks: the first one's, and the limit up to which further ones double.
const FIRST_BYTES: usize = 4 << 10;
pub const MOST_BYTES: usize = 64 << 10;
/// Larger than any address space.
const TOO_MANY: i64 = 1 << 47;

/// Zeroed memory from the kernel, untouched; null if there is none.
pub fn map(bytes: usize) -> *mut c_void {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let mapping = unsafe {
        libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if mapping == libc::MAP_FAILED {
        ptr::null_mut()
    } else {
        mapping
    }
}

/// Aborts the program because there is no memory of that size.
pub fn exhausted(at: At, bytes: i64) -> ! {
    match u64::try_from(bytes) {
        Ok(bytes) => {
            process::die_if_killed();
            exhaustion::end(at, bytes)
        }
        // No block can have such a size.
        Err(_) => errors::abort(at, &format!("out of memory: there are no {bytes} bytes")),
    }
}

/// Allocates from a new chunk because the arena is full. The caller has entered the run-time.
///
/// # Safety
/// The arena belongs to the caller.
pub unsafe fn allocate_more(arena: &mut Arena, at: At, bytes: i64) -> *mut c_void {
    if !(0..TOO_MANY).contains(&bytes) {
        exhausted(at, bytes);
    }
    let needed = (bytes as usize).next_multiple_of(16) + HEAD;
    let before: *mut Chunk = arena.chunk.cast();
    let is_mapped = needed > MOST_BYTES;
    let size = if is_mapped {
        needed
    } else {
        let last = if before.is_null() {
            0
        } else {
            // SAFETY: the arena's chunks live.
            unsafe { (*before).bytes }
        };
        (last * 2).clamp(FIRST_BYTES, MOST_BYTES).max(needed)
    };
    let memory = if is_mapped {
        map(size)
    } else {
        // SAFETY: malloc of a size above zero.
        unsafe { libc::malloc(size) }
    };
    if memory.is_null() {
        exhausted(at, bytes);
    }
    let chunk: *mut Chunk = memory.cast();
    // SAFETY: fresh memory of at least a head and the bytes.
    unsafe {
        chunk.write(Chunk {
            previous: before,
            bytes: size,
            is_mapped,
        });
        let start = memory.cast::<u8>().add(HEAD);
        arena.chunk = memory;
        arena.limit = memory.cast::<u8>().add(size);
        arena.next = start.add(needed - HEAD);
        start.cast()
    }
}

/// Releases all memory above a mark: down to `next` in `chunk`, or everything if the mark has no
/// chunk. The first chunk stays.
///
/// # Safety
/// The arena belongs to the caller. The mark was taken from it, and it was not released below the
/// mark since.
pub unsafe fn release(arena: &mut Arena, chunk: *mut c_void, next: *mut u8) {
    // SAFETY: the arena's chunks live; the loop ends at the mark's chunk or at the first one.
    unsafe {
        let mut last: *mut Chunk = arena.chunk.cast();
        while !last.is_null() && last.cast() != chunk {
            let previous = (*last).previous;
            if previous.is_null() && chunk.is_null() && !(*last).is_mapped {
                break;
            }
            free(last);
            last = previous;
        }
        arena.chunk = last.cast();
        if last.is_null() {
            (arena.next, arena.limit) = (ptr::null_mut(), ptr::null_mut());
        } else {
            arena.limit = last.cast::<u8>().add((*last).bytes);
            arena.next = if last.cast() == chunk {
                next
            } else {
                last.cast::<u8>().add(HEAD)
            };
        }
    }
}

/// Empties the arena; a first chunk stays, for the next process.
///
/// # Safety
/// As for [`release`].
pub unsafe fn release_all(arena: &mut Arena) {
    if !arena.chunk.is_null() {
        // SAFETY: by the contract.
        unsafe { release(arena, ptr::null_mut(), ptr::null_mut()) };
    }
}

unsafe fn free(chunk: *mut Chunk) {
    // SAFETY: `allocate_more` got the memory from this same source.
    unsafe {
        if (*chunk).is_mapped {
            libc::munmap(chunk.cast(), (*chunk).bytes);
        } else {
            libc::free(chunk.cast());
        }
    }
}

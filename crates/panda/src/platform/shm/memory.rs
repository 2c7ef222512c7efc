//! The memory that the processes of a session share, and where things lie in it.
//!
//! ```text
//!   header | a slot for each rank | a ring for each ordered pair of ranks
//! ```
//!
//! The memory is an anonymous file. So its pages exist only once they are touched, and are freed
//! with the last process, in whatever way that ended. Each process maps the header, the slots, and
//! the used rings to it and from it. Any process of the session may write anything at any time, so
//! no value that is read here is trusted. Only atomics are referred to; all else is copied by
//! address.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Most ranks of a session, spawned ones included.
pub const RANKS: u32 = 1024;
/// Magic number: `antiph` and the layout's version.
pub const MAGIC: u64 = u64::from_le_bytes(*b"antiph\x00\x05");

const PAGE: usize = 4096;
/// Longest name of a process here, in bytes; longer ones are cut.
pub const NAME: usize = 64;

/// The words that belong to no process.
#[repr(C)]
pub struct Header {
    pub magic: AtomicU64,
    pub secret: [AtomicU64; 2],
    pub size: AtomicU32,
    pub next_rank: AtomicU32,
    /// Grows whenever a slot's state changes.
    pub changes: AtomicU32,
}

/// The words of one rank.
#[repr(C, align(128))]
pub struct Slot {
    /// State of the slot; see [`state`].
    pub state: AtomicU32,
    pub pid: AtomicU32,
    /// Time when the process was started, by the system's count. So a later process with its number
    /// is not taken for it.
    pub started: AtomicU64,
    /// Address of its mark in its own memory (see `single_copy`).
    pub mark_at: AtomicU64,
    pub name_bytes: AtomicU32,
    pub name: [AtomicU64; NAME / 8],
    /// Processors that it may use, one bit each.
    pub processors: [AtomicU64; 4],
    pub bell: Bell,
    pub openings: Openings,
}

/// The word on which a process sleeps, on lines of its own.
#[repr(C, align(128))]
pub struct Bell {
    pub asleep: AtomicU32,
}

/// The senders that have ever sent something to a process. Only their rings are looked at and have
/// memory.
#[repr(C, align(128))]
pub struct Openings {
    /// Number of such senders.
    pub count: AtomicU32,
    /// One bit for each rank that has.
    pub from: [AtomicU64; RANKS as usize / 64],
}

/// A slot's states.
pub mod state {
    /// No process has been here.
    pub const FREE: u32 = 0;
    /// A process fills the slot in.
    pub const TAKEN: u32 = 1;
    /// Its process had not joined when it ended.
    pub const NEVER_CAME: u32 = 2;
    /// The process is there. In a state below this one, it has not joined.
    pub const JOINED: u32 = 3;
    /// The process has left by itself.
    pub const LEFT: u32 = 4;
    /// Its process is gone.
    pub const DEAD: u32 = 5;
}

/// The counters of a ring, each side's on lines of its own.
#[repr(C)]
pub struct Counters {
    pub sent: Sent,
    pub taken: Taken,
    pub starved: Starved,
}

/// Written by the sender: bytes put into the stream.
#[repr(C, align(128))]
pub struct Sent {
    pub stream: AtomicU64,
}

/// Written by the receiver: cells, bytes of the stream, and lent frames that it has taken out.
#[repr(C, align(128))]
pub struct Taken {
    pub cells: AtomicU64,
    pub stream: AtomicU64,
    pub lent: AtomicU64,
    /// Nonzero if the receiver can read the sender's memory.
    pub reads: AtomicU32,
}

/// Written by the sender: whether it waits for room, and whether it waits for lent frames to be
/// read.
#[repr(C, align(128))]
pub struct Starved {
    pub is: AtomicU32,
    pub lends: AtomicU32,
}

/// Cells of a ring, a power of two.
pub const CELLS: u64 = 64;
/// Bytes of a cell.
pub const CELL: usize = 256;
/// Bytes of a ring's stream, a power of two. Two rings with all pages touched, shared by two
/// processes, stay below 64 KiB for each of them.
pub const STREAM: u64 = 32 << 10;

/// The start of a cell.
#[repr(C)]
pub struct CellHead {
    /// Lap round the ring in which this cell was written last, from 1.
    pub lap: AtomicU32,
    pub length: AtomicU32,
}

/// Offsets of the parts of a ring.
pub const CELLS_AT: usize = PAGE;
pub const STREAM_AT: usize = CELLS_AT + CELLS as usize * CELL;
pub const RING: usize = STREAM_AT + STREAM as usize;

/// Offset of the slots in the shared part.
pub const SLOTS_AT: usize = PAGE;
pub const COMMON: usize = (SLOTS_AT + RANKS as usize * size_of::<Slot>()).next_multiple_of(PAGE);

/// Bytes of the whole file.
pub const FILE: u64 = COMMON as u64 + RANKS as u64 * RANKS as u64 * RING as u64;

/// Returns the offset in the file of the ring from one rank to another.
pub fn ring_at(from: u32, to: u32) -> u64 {
    assert!(from < RANKS && to < RANKS);
    COMMON as u64 + (u64::from(from) * u64::from(RANKS) + u64::from(to)) * RING as u64
}

/// A type for which every pattern of bytes is a value. Other processes may change it while it is
/// referred to.
///
/// # Safety
///
/// The type consists of atomics (and padding) only.
pub unsafe trait Plain {}
// SAFETY: `Header` consists of atomics only.
unsafe impl Plain for Header {}
// SAFETY: `Slot` consists of atomics only, also in its `Bell` and `Openings`.
unsafe impl Plain for Slot {}
// SAFETY: `Counters` consists of atomics only, also in its three parts.
unsafe impl Plain for Counters {}
// SAFETY: `CellHead` consists of atomics only.
unsafe impl Plain for CellHead {}

/// A part of the file, mapped.
#[derive(Debug)]
pub struct Map {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread. Threads use it as other processes do: through atomics
// and copies by address.
unsafe impl Send for Map {}
// SAFETY: shared access goes through atomics and copies by address alone, as of other processes.
unsafe impl Sync for Map {}

impl Map {
    /// Maps `bytes` of the file from `offset` on. The file is sealed against shrinking, so the
    /// memory stays there.
    pub fn new(file: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses an unused address for the new mapping, so no memory in use
        // changes.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
                file,
                offset,
            )
        }?;
        let base = NonNull::new(base.cast()).expect("a mapping is not at address 0");
        Ok(Self { base, bytes })
    }

    /// Returns the value at `offset`.
    ///
    /// # Panics
    ///
    /// The value is out of bounds or unaligned.
    pub fn view<T: Plain>(&self, offset: usize) -> &T {
        assert!(offset + size_of::<T>() <= self.bytes && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: the value is in bounds and aligned (a mapping begins at a page), is mapped as
        // long as `self` lives, and `T: Plain`.
        unsafe { &*self.base.as_ptr().add(offset).cast::<T>() }
    }

    /// Copies bytes in.
    ///
    /// # Panics
    ///
    /// They are out of bounds.
    pub fn write(&self, offset: usize, from: &[u8]) {
        assert!(offset <= self.bytes && from.len() <= self.bytes - offset);
        // SAFETY: in bounds; no reference to these bytes exists in this process.
        unsafe {
            self.base
                .as_ptr()
                .add(offset)
                .copy_from_nonoverlapping(from.as_ptr(), from.len());
        }
    }

    /// Copies bytes out.
    ///
    /// # Panics
    ///
    /// They are out of bounds.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset <= self.bytes && into.len() <= self.bytes - offset);
        // SAFETY: in bounds; `into` is this process's own.
        unsafe {
            self.base
                .as_ptr()
                .add(offset)
                .copy_to_nonoverlapping(into.as_mut_ptr(), into.len());
        }
    }

    /// Copies bytes out, behind the bytes of `into`.
    ///
    /// # Panics
    ///
    /// They are out of bounds, or `into` has no room for them.
    pub fn read_onto(&self, offset: usize, length: usize, into: &mut Vec<u8>) {
        assert!(offset <= self.bytes && length <= self.bytes - offset);
        let room = into.spare_capacity_mut();
        assert!(length <= room.len());
        // SAFETY: both sides are in bounds, and `set_len` counts the bytes only after they are
        // written.
        unsafe {
            self.base
                .as_ptr()
                .add(offset)
                .copy_to_nonoverlapping(room.as_mut_ptr().cast(), length);
            into.set_len(into.len() + length);
        }
    }
}

#[cfg(test)]
impl Map {
    /// Returns two maps of the same zeroed memory of this process. Neither may be dropped, because
    /// the memory is not mapped.
    pub fn within(bytes: usize) -> [std::mem::ManuallyDrop<Self>; 2] {
        let layout = std::alloc::Layout::from_size_align(bytes, PAGE).expect("a page's alignment");
        // SAFETY: the layout has a size above zero.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        let base = NonNull::new(base).expect("memory");
        [(); 2].map(|()| std::mem::ManuallyDrop::new(Self { base, bytes }))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this memory, and no reference is left, since references borrow
        // `self`.
        unsafe {
            let _ = munmap(self.base.as_ptr().cast(), self.bytes);
        }
    }
}

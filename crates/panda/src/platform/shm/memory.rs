//! The memory that the processes of a session share, and where things lie in it.
//!
//! ```text
//!   header | a slot for each rank | a ring for each ordered pair of ranks
//! ```
//!
//! It is an anonymous file, so its pages exist only once they are touched, and are gone when the last process is, in whatever way that ended. Each process maps the
//! header, the slots, and the rings to and from the peers that it has. Everything in it may be written by any process of the session at any time, so what is read
//! here is never trusted: only atomics are referred to, all else is copied by address.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Ranks that a session can have, spawned ones included.
pub const RANKS: u32 = 256;
/// `antiphon` and the layout's version.
pub const MAGIC: u64 = u64::from_le_bytes(*b"antiph\x00\x03");

const PAGE: usize = 4096;
/// The longest name that a process can have here; longer ones are cut.
pub const NAME: usize = 64;

/// What belongs to nobody.
#[repr(C)]
pub struct Header {
    pub magic: AtomicU64,
    pub secret: [AtomicU64; 2],
    pub size: AtomicU32,
    pub next_rank: AtomicU32,
    /// Grows whenever a slot's state changes.
    pub changes: AtomicU32,
}

/// What belongs to one rank.
#[repr(C, align(128))]
pub struct Slot {
    /// A [`state`].
    pub state: AtomicU32,
    pub pid: AtomicU32,
    /// When the process was started, as the system says, so that another with its number is not taken for it.
    pub started: AtomicU64,
    /// Where its mark lies in its own memory (see `single_copy`).
    pub mark_at: AtomicU64,
    pub name_bytes: AtomicU32,
    pub name: [AtomicU64; NAME / 8],
    /// The processors that it may use, one bit each.
    pub processors: [AtomicU64; 4],
    pub bell: Bell,
}

/// Where a process sleeps. On lines of its own.
#[repr(C, align(128))]
pub struct Bell {
    pub asleep: AtomicU32,
}

/// A slot's states.
pub mod state {
    /// Nobody has been here.
    pub const FREE: u32 = 0;
    /// Being filled in.
    pub const TAKEN: u32 = 1;
    /// There.
    pub const JOINED: u32 = 2;
    /// Left by itself.
    pub const LEFT: u32 = 3;
    /// Its process is gone.
    pub const DEAD: u32 = 4;
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

/// Written by the receiver: cells, bytes of the stream and frames of the sender's memory taken out.
#[repr(C, align(128))]
pub struct Taken {
    pub cells: AtomicU64,
    pub stream: AtomicU64,
    pub lent: AtomicU64,
    /// Not 0 if the receiver can read the sender's memory.
    pub reads: AtomicU32,
}

/// Written by the sender: it waits for room, or for frames to be read before it can let go of them.
#[repr(C, align(128))]
pub struct Starved {
    pub is: AtomicU32,
    pub lends: AtomicU32,
}

/// Cells of a ring, a power of two.
pub const CELLS: u64 = 64;
/// Bytes of a cell.
pub const CELL: usize = 256;
/// Bytes of a ring's stream, a power of two. Two rings with all pages touched, shared by two processes, stay below 64 KiB for each of them.
pub const STREAM: u64 = 32 << 10;

/// The start of a cell.
#[repr(C)]
pub struct CellHead {
    /// Which time round the ring this cell was written last, from 1.
    pub lap: AtomicU32,
    pub length: AtomicU32,
}

/// Where things lie in a ring.
pub const CELLS_AT: usize = PAGE;
pub const STREAM_AT: usize = CELLS_AT + CELLS as usize * CELL;
pub const RING: usize = STREAM_AT + STREAM as usize;

/// Where slots lie in the shared part.
pub const SLOTS_AT: usize = PAGE;
pub const COMMON: usize = (SLOTS_AT + RANKS as usize * size_of::<Slot>()).next_multiple_of(PAGE);

/// Bytes of the whole file.
pub const FILE: u64 = COMMON as u64 + RANKS as u64 * RANKS as u64 * RING as u64;

/// Where the ring from one rank to another lies in the file.
pub fn ring_at(from: u32, to: u32) -> u64 {
    assert!(from < RANKS && to < RANKS);
    COMMON as u64 + (u64::from(from) * u64::from(RANKS) + u64::from(to)) * RING as u64
}

/// A type of which every pattern of bytes is a value, and which other processes may change while it is referred to.
///
/// # Safety
/// It consists of atomics (and padding) only.
pub unsafe trait Plain {}
// SAFETY: see the definitions above.
unsafe impl Plain for Header {}
// SAFETY: as above.
unsafe impl Plain for Slot {}
// SAFETY: as above.
unsafe impl Plain for Counters {}
// SAFETY: as above.
unsafe impl Plain for CellHead {}

/// A part of the file, mapped.
pub struct Map {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is shared with other processes anyway; atomics and copies by address are all that is done to it.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    /// Maps `bytes` of the file from `offset` on. The file is sealed against shrinking, so the memory stays there.
    pub fn new(file: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        // SAFETY: a new mapping where the kernel likes.
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

    /// What lies at `offset`.
    pub fn view<T: Plain>(&self, offset: usize) -> &T {
        assert!(offset + size_of::<T>() <= self.bytes && offset.is_multiple_of(align_of::<T>()));
        // SAFETY: in bounds and aligned (a mapping begins at a page), mapped as long as `self` is, and `T: Plain`.
        unsafe { &*self.base.as_ptr().add(offset).cast::<T>() }
    }

    /// Copies in.
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

    /// Copies out.
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

    /// Copies out, behind what `into` holds, for which it has room.
    pub fn read_onto(&self, offset: usize, length: usize, into: &mut Vec<u8>) {
        assert!(offset <= self.bytes && length <= self.bytes - offset);
        let room = into.spare_capacity_mut();
        assert!(length <= room.len());
        // SAFETY: in bounds on both sides; the bytes are initialised before they count as such.
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
    /// Zeroed memory of this process alone, seen twice. It is nobody's to unmap: neither may be dropped.
    pub fn within(bytes: usize) -> [std::mem::ManuallyDrop<Self>; 2] {
        let layout = std::alloc::Layout::from_size_align(bytes, PAGE).expect("a page's alignment");
        // SAFETY: there are some bytes.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        let base = NonNull::new(base).expect("memory");
        [(); 2].map(|()| std::mem::ManuallyDrop::new(Self { base, bytes }))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` and referred to by nobody any more, since references borrow `self`.
        unsafe {
            let _ = munmap(self.base.as_ptr().cast(), self.bytes);
        }
    }
}

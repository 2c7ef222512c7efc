//! A ring: the way from one process to another. It has one sender and one receiver, so a third
//! process that dies holds up neither.
//!
//! Frames are announced in cells of 256 bytes. Each cell starts with the number of the lap in which
//! it was written. The receiver watches the very line in which the next frame comes. So a short
//! frame costs one transfer between processors.
//!
//! ```text
//!   cells     | lap, length, frame | lap, length, frame | …      a short frame lies in its cell
//!   stream    | … bytes of a longer frame, longer than the stream if need be … |
//! ```
//!
//! A longer frame lies in a stream of bytes beside the cells. The receiver takes it out while the
//! sender still puts it in, and it may be longer than the stream. That makes two copies: into the
//! ring and out of it.
//!
//! From 16 KiB on, the sender may only describe the part of a frame that the receiver does not take
//! at once. The receiver then reads it out of the sender's memory (see [`single_copy`]). That makes
//! one copy, for which neither needs the other to be awake. But the system looks up each page for
//! it, which costs more than two copies by near processors (see `copy_mode`). It needs the system's
//! permission.
//!
//! Each end keeps its own counters in its own memory and checks the other's. So whatever the other
//! end writes, the worst outcome is a [`Corrupt`] ring.

use super::memory::{CELL, CELLS, CELLS_AT, Counters, RING, STREAM, STREAM_AT};

pub mod receiver;
pub mod sender;
mod single_copy;

pub use receiver::{Receiver, Taken};
pub use sender::Sender;
pub use single_copy::LentFrames;

/// An impossible value that the other side of a ring wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt(pub String);

/// Bytes of a cell before its content.
const CELL_HEAD: usize = 8;
/// Bytes that go from one processor to another at once.
const LINE: usize = 64;
/// Longest frame that lies in a cell, in bytes.
pub const INLINE: usize = CELL - CELL_HEAD;
/// A cell's length if the frame lies in the stream; the cell then holds the frame's length.
const IN_STREAM: u32 = u32::MAX;
/// A cell's length if the frame lies in the sender's memory; the cell then holds its addresses.
const LENT: u32 = u32::MAX - 1;
/// A cell's length if a frame's beginning is in the stream and its rest in the sender's memory; the
/// cell then holds the rest's addresses.
const REST_LENT: u32 = u32::MAX - 2;
/// Length from which frames may be lent. Below it a system call costs more than a wait for room in
/// the stream.
pub const LENT_MIN: usize = 16 << 10;
/// Length from which a frame, which the stream does not hold, is better lent as a whole. That holds
/// if its receiver does not take the beginning while it is put in. Two copies of the beginning cost
/// more than the lookup of its pages.
pub const LENT_WHOLE_MIN: usize = STREAM as usize;
/// Bytes of the stream that are announced, and given back, at a time.
const STEP: u64 = 8 << 10;
/// Alignment of frames in the stream, so that the two sides copy whole lines.
const ALIGN: u64 = LINE as u64;

const _: () = assert!(CELLS.is_power_of_two() && STREAM.is_power_of_two());
const _: () = assert!(size_of::<Counters>() <= CELLS_AT && STREAM_AT + STREAM as usize == RING);

/// Returns the offset of the cell with this number.
fn cell_at(number: u64) -> usize {
    CELLS_AT + (number % CELLS) as usize * CELL
}

/// Returns the lap in which the cell with this number is written. It is never 0, which new cells
/// hold.
fn lap(number: u64) -> u32 {
    (number / CELLS % 0xffff_fffe) as u32 + 1
}

/// Returns the offset and length of the contiguous part of the stream from `position` on, at most
/// `length` long.
fn run(position: u64, length: u64) -> (usize, usize) {
    let offset = position % STREAM;
    (
        STREAM_AT + offset as usize,
        length.min(STREAM - offset) as usize,
    )
}

#[cfg(test)]
mod race;
#[cfg(test)]
mod tests;

//! A ring: the way from one process to another. One sender, one receiver, so neither can be held up by a third that dies.
//!
//! Frames are announced in cells. Each cell is 256 bytes and starts with the number of the lap in which it was written: the receiver watches the very line that the
//! next frame comes in, so a short frame costs one transfer between processors. Longer frames lie in a stream of bytes beside the cells, and are taken out while they
//! are still being put in; a frame may be longer than the stream. Two copies in all: into the ring and out of it. Where the system permits it, what a receiver does not take
//! at once of a frame from 16 KiB on is only described, and the receiver reads it out of the sender's memory (see [`single_copy`]): one copy, for which neither needs the other
//! to be awake, but one in which the system looks up each page, which costs more than two copies by processors of their own that are near each other (see `pace`).
//!
//! Both ends keep their own counters in their own memory and check what they read of the other's: whatever the other writes, it is at worst a [`Corrupt`] ring.

use super::memory::{CELL, CELLS, CELLS_AT, Counters, RING, STREAM, STREAM_AT};

pub mod receiver;
pub mod sender;
mod single_copy;

pub use receiver::{Receiver, Taken};
pub use sender::Sender;
pub use single_copy::LentFrames;

/// The other side of a ring wrote what it cannot have meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corrupt(pub String);

/// Bytes of a cell before its content.
const CELL_HEAD: usize = 8;
/// What goes from one processor to another at once.
const LINE: usize = 64;
/// The longest frame that lies in a cell.
pub const INLINE: usize = CELL - CELL_HEAD;
/// A cell's length if the frame lies in the stream; the cell then holds the frame's length.
const IN_STREAM: u32 = u32::MAX;
/// A cell's length if the frame lies in the sender's memory; the cell then says where.
const LENT: u32 = u32::MAX - 1;
/// A cell's length if it says where in the sender's memory the rest of the frame lies whose beginning is in the stream.
const REST_LENT: u32 = u32::MAX - 2;
/// Frames from this length on may be lent: below it a system call costs more than to wait for room in the stream.
pub const LENT_MIN: usize = 16 << 10;
/// Frames from this length on, which the stream does not hold, are better lent as a whole if nobody takes the beginning out while it is put in: two copies of that are dearer than to look up its pages.
pub const LENT_WHOLE_MIN: usize = STREAM as usize;
/// Bytes of the stream that are announced, and given back, at a time.
const STEP: u64 = 8 << 10;
/// Frames in the stream begin at multiples of this, so that the two sides copy whole lines.
const ALIGN: u64 = LINE as u64;

const _: () = assert!(CELLS.is_power_of_two() && STREAM.is_power_of_two());
const _: () = assert!(size_of::<Counters>() <= CELLS_AT && STREAM_AT + STREAM as usize == RING);

/// Where the cell with this number lies.
fn cell_at(number: u64) -> usize {
    CELLS_AT + (number % CELLS) as usize * CELL
}

/// In which lap the cell with this number is written. Never 0, which is how cells begin.
fn lap(number: u64) -> u32 {
    (number / CELLS % 0xffff_fffe) as u32 + 1
}

/// The part of the stream from `position` on, at most `length` long, that lies in one piece: where and how long.
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

//! Lent frames, which a receiver reads where they lie: in the sender's memory.
//!
//! The cell of a lent frame, or of one whose rest is lent, holds the frame's headers and the
//! addresses of the rest. The sender keeps these bytes unchanged until the receiver's count says
//! that they were read.
//!
//! ```text
//!   bytes of headers 4 | pieces 4 | address 8, length 8 of each piece | headers
//! ```

use std::collections::VecDeque;

use super::super::memory::Map;
use super::super::single_copy::{PIECES, Piece};
use super::{CELL_HEAD, Corrupt, INLINE};
use crate::message::Message;

/// Longest slice that counts as a header. Headers lie in the message itself and are copied.
const HEADERS_MAX: usize = 64;
const FIXED: usize = 8;
const PIECE: usize = 16;

const _: () = assert!(FIXED + PIECES * PIECE + HEADERS_MAX <= INLINE);

/// A frame as its cell describes it.
pub struct Descriptor {
    pub headers: ([u8; HEADERS_MAX], usize),
    pub pieces: ([Piece; PIECES], usize),
}

impl Descriptor {
    /// Describes a frame without its first bytes; `None` if it lies in too many pieces to lend.
    pub fn of(frame: &Message, mut without: usize) -> Option<Self> {
        let mut descriptor = Self {
            headers: ([0; HEADERS_MAX], 0),
            pieces: ([(0, 0); PIECES], 0),
        };
        for (i, slice) in frame.slices().enumerate() {
            let whole = slice.len();
            let slice = &slice[without.min(whole)..];
            without = without.saturating_sub(whole);
            if slice.is_empty() {
                continue;
            }
            if i == 0 && slice.len() <= HEADERS_MAX {
                descriptor.headers.0[..slice.len()].copy_from_slice(slice);
                descriptor.headers.1 = slice.len();
                continue;
            }
            *descriptor.pieces.0.get_mut(descriptor.pieces.1)? =
                (slice.as_ptr() as u64, slice.len());
            descriptor.pieces.1 += 1;
        }
        Some(descriptor)
    }

    /// Writes the description into a cell.
    pub fn write(&self, map: &Map, cell_at: usize) {
        let at = cell_at + CELL_HEAD;
        map.write(at, &(self.headers.1 as u32).to_ne_bytes());
        map.write(at + 4, &(self.pieces.1 as u32).to_ne_bytes());
        for (i, (address, bytes)) in self.pieces().iter().enumerate() {
            let at = at + FIXED + i * PIECE;
            map.write(at, &address.to_ne_bytes());
            map.write(at + 8, &(*bytes as u64).to_ne_bytes());
        }
        let at = at + FIXED + self.pieces.1 * PIECE;
        map.write(at, &self.headers.0[..self.headers.1]);
    }

    /// Reads a description from a cell.
    pub fn read(map: &Map, cell_at: usize) -> Result<Self, Corrupt> {
        let at = cell_at + CELL_HEAD;
        let number = |at| {
            let mut bytes = [0; 4];
            map.read(at, &mut bytes);
            u32::from_ne_bytes(bytes) as usize
        };
        let (headers, count) = (number(at), number(at + 4));
        if headers > HEADERS_MAX || count > PIECES {
            return Err(Corrupt(format!(
                "it lent a frame of {headers} bytes of headers and {count} pieces"
            )));
        }
        let mut descriptor = Self {
            headers: ([0; HEADERS_MAX], headers),
            pieces: ([(0, 0); PIECES], count),
        };
        let mut whole = 0_u64;
        for (i, piece) in descriptor.pieces.0[..count].iter_mut().enumerate() {
            let at = at + FIXED + i * PIECE;
            let mut words = [[0; 8]; 2];
            map.read(at, &mut words[0]);
            map.read(at + 8, &mut words[1]);
            let bytes = u64::from_ne_bytes(words[1]);
            whole = whole.saturating_add(bytes);
            if whole > isize::MAX as u64 {
                return Err(Corrupt(format!("it lent a frame of {whole} bytes")));
            }
            *piece = (u64::from_ne_bytes(words[0]), bytes as usize);
        }
        let at = at + FIXED + count * PIECE;
        map.read(at, &mut descriptor.headers.0[..headers]);
        Ok(descriptor)
    }

    pub fn headers(&self) -> &[u8] {
        &self.headers.0[..self.headers.1]
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces.0[..self.pieces.1]
    }

    /// Returns the bytes of headers and pieces.
    pub fn bytes(&self) -> u64 {
        let pieces = self.pieces().iter().map(|piece| piece.1 as u64);
        self.headers.1 as u64 + pieces.sum::<u64>()
    }
}

/// The frames that a sender has lent, oldest first.
#[derive(Default)]
pub struct LentFrames {
    held: VecDeque<Message>,
    bytes: usize,
    /// Number of frames that were ever given back.
    back: u64,
}

impl LentFrames {
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn add(&mut self, frame: Message) {
        self.bytes += frame.len();
        self.held.push_back(frame);
    }

    /// Frees the frames that the receiver has read, of which there are `count` in all.
    pub fn read(&mut self, count: u64) -> Result<(), Corrupt> {
        let news = count.checked_sub(self.back);
        let Some(news) = news.filter(|&news| news <= self.held.len() as u64) else {
            return Err(Corrupt(format!(
                "it claims to have read {count} frames where {} were lent",
                self.back + self.held.len() as u64
            )));
        };
        for frame in self.held.drain(..news as usize) {
            self.bytes -= frame.len();
        }
        self.back = count;
        Ok(())
    }
}

//! The sending end of a ring.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use super::super::memory::{CELLS, CellHead, Counters, Map, STREAM};
use super::single_copy::{Descriptor, LentFrames};
use super::{
    ALIGN, CELL_HEAD, Corrupt, IN_STREAM, INLINE, LENT, LENT_MIN, REST_LENT, STEP, cell_at, lap,
    run,
};
use crate::message::{Header, Message};

/// The sending end of a ring, which keeps frames for which there is no room.
pub struct Sender {
    map: Map,
    /// Number of the next cell, and of cells known to be taken.
    cell: u64,
    cells_taken: u64,
    /// Bytes put into the stream, and bytes known to be taken.
    stream: u64,
    stream_taken: u64,
    current: Option<Current>,
    waiting: VecDeque<Message>,
    waiting_bytes: usize,
    lent: LentFrames,
    /// Whether the receiver can read this process's memory.
    may_lend: bool,
    /// Length from which frames do not begin in the stream.
    lends_whole_from: usize,
}

/// The frame that goes into the stream.
struct Current {
    frame: Message,
    /// Bytes of it that are in.
    done: usize,
    /// Whether the rest may be lent.
    is_lendable: bool,
}

impl Sender {
    pub fn new(map: Map) -> Self {
        Self {
            map,
            cell: 0,
            cells_taken: 0,
            stream: 0,
            stream_taken: 0,
            current: None,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            lent: LentFrames::default(),
            may_lend: false,
            lends_whole_from: usize::MAX,
        }
    }

    /// Puts a frame in behind those that wait, as far as there is room.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn send(&mut self, frame: Message) -> Result<(), Corrupt> {
        if self.takes_at_once(frame.len())? {
            self.put_inline(&frame);
            return Ok(());
        }
        self.waiting_bytes += frame.len();
        self.waiting.push_back(frame);
        self.go_on()
    }

    /// Puts a frame of two parts into a cell, unless it is too long or others wait. Returns whether
    /// it did.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn send_parts(&mut self, header: &Header, rest: &Message) -> Result<bool, Corrupt> {
        let length = header.len() + rest.len();
        let fits = self.takes_at_once(length)?;
        if fits {
            // The bytes after the header in its space are overwritten, or beyond the announced
            // length.
            let at = cell_at(self.cell) + CELL_HEAD;
            self.map.write(at, header.with_rest());
            self.put_slices(at + header.len(), rest.slices());
            self.publish_cell(length as u32);
        }
        Ok(fits)
    }

    /// Sets the length from which frames are lent as a whole, if they may be lent.
    pub fn lend_whole_from(&mut self, length: usize) {
        self.lends_whole_from = length;
    }

    /// Puts waiting frames in, as far as there is room.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn go_on(&mut self) -> Result<(), Corrupt> {
        self.let_go()?;
        loop {
            if let Some(mut current) = self.current.take() {
                current.done = self.put(&current.frame, current.done)?;
                if current.done < current.frame.len() {
                    self.current = Some(current);
                    break;
                }
                self.end_stream(&current.frame);
                continue;
            }
            if self.waiting.is_empty() || !self.has_cell()? {
                break;
            }
            let Some(frame) = self.waiting.pop_front() else {
                break;
            };
            if frame.len() <= INLINE {
                self.waiting_bytes -= frame.len();
                self.put_inline(&frame);
                continue;
            }
            let descriptor = self.descriptor(&frame);
            let is_whole = frame.len() >= self.lends_whole_from;
            // A receiver that leaves no room is busy with something else.
            if let Some(descriptor) = &descriptor
                && (is_whole || self.room()? < STEP)
            {
                self.waiting_bytes -= frame.len();
                self.lend(frame, descriptor, LENT);
                continue;
            }
            self.announce(frame.len());
            self.current = Some(Current {
                frame,
                done: 0,
                is_lendable: descriptor.is_some(),
            });
        }
        Ok(())
    }

    /// Lends the rest of the frame that goes into the stream. Returns whether it did.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn lend_rest(&mut self) -> Result<bool, Corrupt> {
        if !self.may_lend_rest() || !self.has_cell()? {
            return Ok(false);
        }
        let current = self.current.take();
        let descriptor = current
            .as_ref()
            .and_then(|c| Descriptor::of(&c.frame, c.done));
        let (Some(Current { frame, .. }), Some(descriptor)) = (current, descriptor) else {
            unreachable!("a rest lies in no more pieces than the frame");
        };
        self.end_stream(&frame);
        self.lend(frame, &descriptor, REST_LENT);
        Ok(true)
    }

    /// Returns whether a frame goes into the stream whose rest may be lent.
    pub fn may_lend_rest(&self) -> bool {
        self.current.as_ref().is_some_and(|c| c.is_lendable)
    }

    /// Does the same as [`go_on`](Self::go_on), and returns whether anything was put in.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn advance(&mut self) -> Result<bool, Corrupt> {
        let before = (self.cell, self.stream);
        self.go_on()?;
        Ok((self.cell, self.stream) != before)
    }

    /// Returns whether frames wait for room in the ring.
    pub fn has_queue(&self) -> bool {
        self.current.is_some() || !self.waiting.is_empty()
    }

    /// Returns whether everything is in the ring, and nothing of it lies in this process's memory.
    pub fn is_idle(&self) -> bool {
        !self.has_queue() && self.lent.is_empty()
    }

    /// Returns the lent frames, which the receiver may still read.
    pub fn into_lent(self) -> LentFrames {
        self.lent
    }

    /// Returns the bytes that are lent.
    pub fn lent_bytes(&self) -> usize {
        self.lent.bytes()
    }

    /// Returns the bytes that wait or are lent.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes + self.lent.bytes()
    }

    /// Returns the memory of waiting and lent frames, in bytes: a short frame takes some, too.
    pub fn untaken(&self) -> usize {
        self.waiting_bytes() + self.waiting.len() * size_of::<Message>()
    }

    /// Asks the receiver to ring when it makes room, or has read what was lent. Returns true if it
    /// has already.
    ///
    /// # Errors
    ///
    /// The receiver's counters are wrong.
    pub fn wait_for_room(&mut self) -> Result<bool, Corrupt> {
        // The release publishes that something waits: a thread that is rung for this knows it.
        self.counters().starved.is.store(1, Release);
        fence(SeqCst);
        if self.current.is_some() {
            return Ok(self.room()? > 0);
        }
        if !self.waiting.is_empty() {
            return self.has_cell();
        }
        let before = self.lent.bytes();
        self.let_go()?;
        Ok(self.lent.bytes() < before)
    }

    fn counters(&self) -> &Counters {
        self.map.view(0)
    }

    /// Returns whether a frame of so many bytes goes into a cell now.
    fn takes_at_once(&mut self, length: usize) -> Result<bool, Corrupt> {
        Ok(!self.has_queue() && length <= INLINE && self.has_cell()?)
    }

    fn has_cell(&mut self) -> Result<bool, Corrupt> {
        if self.cell - self.cells_taken < CELLS {
            return Ok(true);
        }
        let taken = self.counters().taken.cells.load(Acquire);
        if taken < self.cells_taken || taken > self.cell {
            return Err(Corrupt(format!(
                "it claims to have taken {taken} of {} frames",
                self.cell
            )));
        }
        self.cells_taken = taken;
        Ok(self.cell - taken < CELLS)
    }

    /// Returns the room in the stream, in bytes.
    fn room(&mut self) -> Result<u64, Corrupt> {
        let room = STREAM.saturating_sub(self.stream - self.stream_taken);
        if room >= STEP {
            return Ok(room);
        }
        let taken = self.counters().taken.stream.load(Acquire);
        if taken < self.stream_taken || taken > self.stream {
            return Err(Corrupt(format!(
                "it claims to have taken {taken} of {} bytes",
                self.stream
            )));
        }
        self.stream_taken = taken;
        Ok(STREAM.saturating_sub(self.stream - taken))
    }

    fn put_inline(&mut self, frame: &Message) {
        self.put_slices(cell_at(self.cell) + CELL_HEAD, frame.slices());
        self.publish_cell(frame.len() as u32);
    }

    fn put_slices<'a>(&self, mut at: usize, slices: impl Iterator<Item = &'a [u8]>) {
        for slice in slices {
            self.map.write(at, slice);
            at += slice.len();
        }
    }

    /// Returns the description of a frame to lend, if it is long enough and the receiver can read
    /// it.
    fn descriptor(&mut self, frame: &Message) -> Option<Descriptor> {
        if frame.len() < LENT_MIN {
            return None;
        }
        self.may_lend = self.may_lend || self.counters().taken.reads.load(Acquire) != 0;
        self.may_lend.then(|| Descriptor::of(frame, 0)).flatten()
    }

    /// Lends a frame, or the rest of one.
    fn lend(&mut self, frame: Message, descriptor: &Descriptor, what: u32) {
        descriptor.write(&self.map, cell_at(self.cell));
        self.lent.add(frame);
        self.counters().starved.lends.store(1, Relaxed);
        self.publish_cell(what);
    }

    /// Frees lent frames that were read.
    fn let_go(&mut self) -> Result<(), Corrupt> {
        if self.lent.is_empty() {
            return Ok(());
        }
        let read = self.counters().taken.lent.load(Acquire);
        self.lent.read(read)?;
        if self.lent.is_empty() {
            self.counters().starved.lends.store(0, Relaxed);
        }
        Ok(())
    }

    fn announce(&mut self, length: usize) {
        let at = cell_at(self.cell) + CELL_HEAD;
        self.map.write(at, &(length as u64).to_ne_bytes());
        self.publish_cell(IN_STREAM);
    }

    fn publish_cell(&mut self, length: u32) {
        let head: &CellHead = self.map.view(cell_at(self.cell));
        head.length.store(length, Relaxed);
        head.lap.store(lap(self.cell), Release);
        self.cell += 1;
    }

    /// Ends a frame's part of the stream.
    fn end_stream(&mut self, frame: &Message) {
        self.waiting_bytes -= frame.len();
        self.stream = self.stream.next_multiple_of(ALIGN);
    }

    /// Puts more of a frame into the stream, and returns how many of its bytes are in then.
    fn put(&mut self, frame: &Message, done: usize) -> Result<usize, Corrupt> {
        let mut end = done;
        let mut skip = done;
        for slice in frame.slices() {
            let mut rest = &slice[skip.min(slice.len())..];
            skip = skip.saturating_sub(slice.len());
            while !rest.is_empty() {
                let room = self.room()?;
                if room == 0 {
                    return Ok(end);
                }
                let (at, length) = run(self.stream, room.min(STEP).min(rest.len() as u64));
                self.map.write(at, &rest[..length]);
                rest = &rest[length..];
                end += length;
                self.stream += length as u64;
                self.counters().sent.stream.store(self.stream, Release);
            }
        }
        Ok(end)
    }
}

//! The receiving end of a ring.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use super::super::memory::{CellHead, Counters, Map, STREAM};
use super::super::single_copy::{PeerMemory, Unread};
use super::single_copy::Descriptor;
use super::{
    ALIGN, CELL_HEAD, CELLS, Corrupt, IN_STREAM, INLINE, LENT, LINE, REST_LENT, STEP, cell_at, lap,
    run,
};
use crate::message::Message;
use crate::platform::pool::Pool;

/// Longest frame in the first line of its cell. It is copied into the message itself, without
/// allocating.
const SHORT: usize = LINE - CELL_HEAD;
/// Space that a frame gets before any of it has come. More follows only as bytes come, so an
/// announcement alone costs no memory.
const BELIEVED: u64 = 64 << 20;

/// Cells taken before the sender is told while there are more. Telling it takes a fence, which is
/// best done when nothing is there.
const MUCH: u64 = CELLS / 4;

/// The result of a take.
#[derive(Debug)]
pub enum Taken {
    Nothing,
    Frame(Message),
    /// The closure that it was offered to took the next frame.
    Already,
}

impl From<Option<Message>> for Taken {
    fn from(frame: Option<Message>) -> Self {
        frame.map_or(Self::Nothing, Self::Frame)
    }
}

/// Takes frames out.
pub struct Receiver {
    map: Map,
    cell: u64,
    stream: u64,
    /// The frame that comes through the stream: its bytes so far, and its length.
    current: Option<(Vec<u8>, u64)>,
    /// Positions up to which the sender knows that all is taken.
    cells_reported: u64,
    stream_reported: u64,
    pool: Pool,
    /// Access to the sender's memory, if there is any.
    peer_memory: Option<PeerMemory>,
    /// Number of lent frames that were read, in all and when the sender was last told.
    lent: u64,
    loans_reported: u64,
    /// Whether the sender's process ended amid a frame: nothing more comes.
    is_cut: bool,
}

impl Receiver {
    /// Makes a receiver, which tells the sender whether it can read the sender's memory.
    pub fn new(map: Map, peer_memory: Option<PeerMemory>, pool: Pool) -> Self {
        if peer_memory.is_some() {
            map.view::<Counters>(0).taken.reads.store(1, Release);
        }
        Self {
            map,
            cell: 0,
            stream: 0,
            current: None,
            cells_reported: 0,
            stream_reported: 0,
            pool,
            peer_memory,
            lent: 0,
            loans_reported: 0,
            is_cut: false,
        }
    }

    /// Takes the next frame, if all of it is there. Takes its available part in any case. A short
    /// frame is `offer`ed before it becomes a message.
    ///
    /// # Errors
    ///
    /// The sender's counters or lengths are wrong; nothing more can be taken.
    #[inline]
    pub fn take_or(&mut self, offer: impl FnOnce(&[u8]) -> bool) -> Result<Taken, Corrupt> {
        if self.current.is_some() {
            return self.take_stream().map(Taken::from);
        }
        if !self.has_cell() || self.is_cut {
            return Ok(Taken::Nothing);
        }
        let at = cell_at(self.cell);
        let length = self.map.view::<CellHead>(at).length.load(Relaxed);
        self.cell += 1;
        match length {
            IN_STREAM => self.begin(at).map(Taken::from),
            LENT => self.take_lent(at).map(Taken::from),
            length if length as usize <= SHORT => {
                // The full `SHORT` bytes are copied, not `length`: a copy of a constant length is a
                // few instructions.
                let mut bytes = [0; SHORT];
                self.map.read(at + CELL_HEAD, &mut bytes);
                let frame = &bytes[..length as usize];
                Ok(match offer(frame) {
                    true => Taken::Already,
                    false => Taken::Frame(Message::copy_of(frame)),
                })
            }
            length => self.take_inline(at, length as usize).map(Taken::Frame),
        }
    }

    /// Takes the next frame without offering it.
    #[cfg(test)]
    pub fn take(&mut self) -> Result<Option<Message>, Corrupt> {
        Ok(match self.take_or(|_| false)? {
            Taken::Frame(frame) => Some(frame),
            Taken::Nothing | Taken::Already => None,
        })
    }

    /// Returns whether [`take_or`](Self::take_or) would find anything new.
    pub fn has_any(&self) -> bool {
        let has_more = || self.map.view::<Counters>(0).sent.stream.load(Acquire) > self.stream;
        self.has_cell() && !self.is_cut || self.current.is_some() && has_more()
    }

    /// Returns whether another cell was written.
    fn has_cell(&self) -> bool {
        let head: &CellHead = self.map.view(cell_at(self.cell));
        head.lap.load(Acquire) == lap(self.cell)
    }

    /// Returns the bytes of the stream that were taken: while they grow a frame is coming.
    pub fn position(&self) -> u64 {
        self.stream
    }

    /// Returns whether the sender should learn at once what was taken: it may wait for that, or
    /// soon will.
    #[inline]
    pub fn owes_much(&self) -> bool {
        self.cell - self.cells_reported >= MUCH || self.stream_reported != self.stream
    }

    /// Tells the sender what was taken. Returns true if it waits for that: the caller then rings
    /// its bell.
    #[inline]
    pub fn tell(&mut self) -> bool {
        if self.cells_reported == self.cell && self.stream_reported == self.stream {
            return false;
        }
        let counters: &Counters = self.map.view(0);
        counters.taken.cells.store(self.cell, Release);
        counters.taken.stream.store(self.stream, Release);
        (self.cells_reported, self.stream_reported) = (self.cell, self.stream);
        fence(SeqCst);
        counters.starved.is.load(Relaxed) != 0 && counters.starved.is.swap(0, Relaxed) != 0
    }

    /// Returns whether the sender keeps lent frames that were read since the last call. Before a
    /// sleep, the caller then rings its bell.
    pub fn owes_bell(&mut self) -> bool {
        if self.loans_reported == self.lent {
            return false;
        }
        self.loans_reported = self.lent;
        fence(SeqCst);
        self.map.view::<Counters>(0).starved.lends.load(Relaxed) != 0
    }

    /// Reads a lent frame out of the sender's memory.
    fn take_lent(&mut self, at: usize) -> Result<Option<Message>, Corrupt> {
        let descriptor = Descriptor::read(&self.map, at)?;
        // The space is as long as for a streamed frame, so that space of either kind fits the
        // other.
        let mut bytes = self.pool.space(descriptor.bytes() as usize);
        reserve(&mut bytes, descriptor.bytes().min(BELIEVED))?;
        if !self.read_lent(&descriptor, &mut bytes)? {
            return Ok(None);
        }
        let mut frame = self.pool.frame(bytes);
        frame.push(descriptor.headers());
        Ok(Some(frame))
    }

    /// Returns where the rest of a streamed frame lies, if the next cell says so.
    fn rest_lent(&self) -> Result<Option<Descriptor>, Corrupt> {
        let at = cell_at(self.cell);
        let what = self.map.view::<CellHead>(at).length.load(Relaxed);
        (what == REST_LENT)
            .then(|| Descriptor::read(&self.map, at))
            .transpose()
    }

    /// Reads the rest of a frame out of the sender's memory, behind the bytes that came through the
    /// stream.
    fn take_rest(
        &mut self,
        descriptor: &Descriptor,
        mut bytes: Vec<u8>,
    ) -> Result<Option<Message>, Corrupt> {
        self.cell += 1;
        self.stream = self.stream.next_multiple_of(ALIGN);
        reserve(&mut bytes, descriptor.headers().len() as u64)?;
        bytes.extend_from_slice(descriptor.headers());
        let is_whole = self.read_lent(descriptor, &mut bytes)?;
        Ok(is_whole.then(|| self.pool.frame(bytes)))
    }

    /// Reads the pieces of a descriptor. Returns false if the sender's process has ended.
    fn read_lent(&mut self, descriptor: &Descriptor, bytes: &mut Vec<u8>) -> Result<bool, Corrupt> {
        let Some(peer_memory) = &self.peer_memory else {
            return Err(Corrupt(
                "it lent a frame to a process that cannot read its memory".into(),
            ));
        };
        match peer_memory.read(descriptor.pieces(), bytes) {
            Ok(()) => {}
            Err(Unread::Gone) => {
                self.is_cut = true;
                return Ok(false);
            }
            Err(Unread::Failed(error)) => {
                return Err(Corrupt(format!(
                    "a frame that it lent cannot be read from its memory: {error}"
                )));
            }
        }
        self.lent += 1;
        let taken = &self.map.view::<Counters>(0).taken;
        taken.lent.store(self.lent, Release);
        Ok(true)
    }

    fn take_inline(&self, at: usize, length: usize) -> Result<Message, Corrupt> {
        if length > INLINE {
            return Err(Corrupt(format!("a cell says that it holds {length} bytes")));
        }
        let mut bytes = Vec::with_capacity(length);
        self.map.read_onto(at + CELL_HEAD, length, &mut bytes);
        Ok(Message::from(bytes))
    }

    /// Begins a frame that was announced.
    fn begin(&mut self, at: usize) -> Result<Option<Message>, Corrupt> {
        let mut length = [0; 8];
        self.map.read(at + CELL_HEAD, &mut length);
        let length = u64::from_ne_bytes(length);
        if length <= INLINE as u64 || length > isize::MAX as u64 {
            return Err(Corrupt(format!("it announced a frame of {length} bytes")));
        }
        let mut bytes = self.pool.space(length as usize);
        reserve(&mut bytes, length.min(BELIEVED))?;
        self.current = Some((bytes, length));
        self.take_stream()
    }

    /// Returns how many bytes are in the stream, when `sent` were ever sent.
    fn there(&self, sent: u64) -> Result<u64, Corrupt> {
        match sent.checked_sub(self.stream) {
            Some(there) if there <= STREAM => Ok(there),
            // The padding between two frames is skipped here before the sender counts it.
            None if self.stream - sent < ALIGN => Ok(0),
            _ => Err(Corrupt(format!(
                "it claims to have sent {sent} bytes where {} were taken",
                self.stream
            ))),
        }
    }

    fn take_stream(&mut self) -> Result<Option<Message>, Corrupt> {
        let Some((mut bytes, length)) = self.current.take() else {
            return Ok(None);
        };
        let (mut rest, mut is_followed) = (None, false);
        loop {
            let sent = self.map.view::<Counters>(0).sent.stream.load(Acquire);
            // The cell is read after `sent`. Bytes of later frames are there only if the cell is,
            // which says where this frame ends.
            let was_followed = std::mem::replace(&mut is_followed, self.has_cell());
            if is_followed && rest.is_none() {
                rest = self.rest_lent()?;
            }
            let there = self.there(sent)?;
            let missing = missing(length, bytes.len() as u64, rest.as_ref())?;
            if let Some(rest) = rest.as_ref().filter(|_| missing == 0) {
                return self.take_rest(rest, bytes);
            }
            let (from, count) = run(self.stream, there.min(missing).min(STEP));
            match (count, was_followed, is_followed) {
                (0, true, _) => {
                    return Err(Corrupt(format!(
                        "it sent another frame when {missing} bytes of one of {length} were missing"
                    )));
                }
                // The missing bytes were put into the stream before the cell was written, and
                // perhaps after this read of `sent`.
                (0, false, true) => continue,
                (0, false, false) => {
                    self.current = Some((bytes, length));
                    return Ok(None);
                }
                _ => {}
            }
            if bytes.capacity() - bytes.len() < count {
                let more = missing.min(bytes.len() as u64).max(count as u64);
                reserve(&mut bytes, more)?;
            }
            self.map.read_onto(from, count, &mut bytes);
            self.stream += count as u64;
            if bytes.len() as u64 == length {
                self.stream = self.stream.next_multiple_of(ALIGN);
                return Ok(Some(self.pool.frame(bytes)));
            }
            // A sender that is awake goes on at once. A sleeping one is rung when all available
            // bytes were taken ([`tell`](Self::tell)).
            let taken = &self.map.view::<Counters>(0).taken.stream;
            taken.store(self.stream, Release);
        }
    }
}

/// Returns the bytes of a frame that are still to come through the stream.
fn missing(length: u64, came: u64, rest: Option<&Descriptor>) -> Result<u64, Corrupt> {
    let lent = rest.map_or(0, Descriptor::bytes);
    let streamed = length.checked_sub(lent);
    let missing = streamed.and_then(|streamed| streamed.checked_sub(came));
    missing.ok_or_else(|| {
        Corrupt(format!(
            "it lent {lent} bytes of a frame of {length}, of which {came} had come"
        ))
    })
}

fn reserve(bytes: &mut Vec<u8>, more: u64) -> Result<(), Corrupt> {
    let refused = |_| {
        Corrupt(format!(
            "it announced a frame for which this process has no memory ({more} bytes more)"
        ))
    };
    let more = usize::try_from(more).map_err(|e| refused(e.to_string()))?;
    bytes
        .try_reserve_exact(more)
        .map_err(|e| refused(e.to_string()))
}

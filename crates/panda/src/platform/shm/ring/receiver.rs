//! The receiving end of a ring.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::fence;

use super::super::memory::{CellHead, Counters, Map, STREAM};
use super::pool::Pool;
use super::{ALIGN, CELL_HEAD, Corrupt, IN_STREAM, INLINE, STEP, cell_at, lap, run};
use crate::message::Message;

/// The longest frame that is copied into the message itself, without allocating.
const WITHIN: usize = 64;
/// Space that a frame is given before any of it has come. The rest only as it comes, so that an announcement alone costs no memory.
const BELIEVED: u64 = 64 << 20;

/// Takes frames out.
pub struct Receiver {
    map: Map,
    cell: u64,
    stream: u64,
    /// The frame that is coming through the stream: what is there of it, and its length.
    current: Option<(Vec<u8>, u64)>,
    /// What the sender knows to be taken.
    cells_told: u64,
    stream_told: u64,
    pool: Pool,
}

impl Receiver {
    pub fn new(map: Map) -> Self {
        Self {
            map,
            cell: 0,
            stream: 0,
            current: None,
            cells_told: 0,
            stream_told: 0,
            pool: Pool::default(),
        }
    }

    /// The next frame, if it is there as a whole. Takes what is there of it in any case.
    ///
    /// # Errors
    /// The sender's counters or lengths are wrong; nothing more can be taken.
    #[inline]
    pub fn take(&mut self) -> Result<Option<Message>, Corrupt> {
        if self.current.is_some() {
            return self.take_stream();
        }
        let at = cell_at(self.cell);
        let head: &CellHead = self.map.view(at);
        if head.lap.load(Acquire) != lap(self.cell) {
            return Ok(None);
        }
        let length = head.length.load(Relaxed);
        self.cell += 1;
        if length == IN_STREAM {
            return self.begin(at);
        }
        self.take_inline(at, length as usize).map(Some)
    }

    /// Tells the sender what was taken. True if it waits for that: ring its bell.
    pub fn tell(&mut self) -> bool {
        if self.cells_told == self.cell && self.stream_told == self.stream {
            return false;
        }
        let counters: &Counters = self.map.view(0);
        counters.taken.cells.store(self.cell, Release);
        counters.taken.stream.store(self.stream, Release);
        (self.cells_told, self.stream_told) = (self.cell, self.stream);
        fence(SeqCst);
        counters.starved.is.load(Relaxed) != 0 && counters.starved.is.swap(0, Relaxed) != 0
    }

    fn take_inline(&self, at: usize, length: usize) -> Result<Message, Corrupt> {
        if length > INLINE {
            return Err(Corrupt(format!("a cell says that it holds {length} bytes")));
        }
        if length <= WITHIN {
            let mut bytes = [0; WITHIN];
            let bytes = &mut bytes[..length];
            self.map.read(at + CELL_HEAD, bytes);
            let mut frame = Message::new();
            frame.push(bytes);
            return Ok(frame);
        }
        let mut bytes = Vec::with_capacity(length);
        self.map.read_onto(at + CELL_HEAD, length, &mut bytes);
        Ok(Message::from(bytes))
    }

    /// A frame was announced.
    fn begin(&mut self, at: usize) -> Result<Option<Message>, Corrupt> {
        let mut length = [0; 8];
        self.map.read(at + CELL_HEAD, &mut length);
        let length = u64::from_ne_bytes(length);
        if length <= INLINE as u64 || length > isize::MAX as u64 {
            return Err(Corrupt(format!("it announced a frame of {length} bytes")));
        }
        let mut bytes = self.pool.space();
        reserve(&mut bytes, length.min(BELIEVED))?;
        self.current = Some((bytes, length));
        self.take_stream()
    }

    fn take_stream(&mut self) -> Result<Option<Message>, Corrupt> {
        let Some((mut bytes, length)) = self.current.take() else {
            return Ok(None);
        };
        loop {
            let sent = self.map.view::<Counters>(0).sent.stream.load(Acquire);
            let there = match sent.checked_sub(self.stream) {
                Some(there) if there <= STREAM => there,
                // The bytes between two frames are skipped here before they are there.
                None if self.stream - sent < ALIGN => 0,
                _ => {
                    return Err(Corrupt(format!(
                        "it claims to have sent {sent} bytes where {} were taken",
                        self.stream
                    )));
                }
            };
            let missing = length - bytes.len() as u64;
            let (from, count) = run(self.stream, there.min(missing).min(STEP));
            if count == 0 {
                self.current = Some((bytes, length));
                return Ok(None);
            }
            if bytes.capacity() - bytes.len() < count {
                let more = missing.min(bytes.len() as u64).max(count as u64);
                reserve(&mut bytes, more)?;
            }
            self.map.read_onto(from, count, &mut bytes);
            self.stream += count as u64;
            if bytes.len() as u64 == length {
                self.stream = self.stream.next_multiple_of(ALIGN);
                return Ok(Some(Message::from(self.pool.frame(bytes))));
            }
            // A sender that is awake goes on at once; one that sleeps is rung when all that is there was taken ([`tell`](Self::tell)).
            let taken = &self.map.view::<Counters>(0).taken.stream;
            taken.store(self.stream, Release);
        }
    }
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

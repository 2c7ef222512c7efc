//! One peer's connection: what waits to be written, and what has been read of a frame.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use parking_lot::Mutex;

use crate::message::Message;
use crate::platform::Flow;

/// The longest frame that is believed; a longer one comes from nobody of ours.
const FRAME_MAX: usize = 1 << 30;
/// Read at once, and reserved before the bytes of a long frame have come.
const READ: usize = 64 * 1024;
/// Bytes that wait before senders are asked to.
const FULL: usize = 1 << 20;

/// The writing end, shared by all threads that send.
#[derive(Debug)]
pub struct Outbox {
    pub stream: Arc<TcpStream>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    told_full: bool,
    is_closed: bool,
}

impl Outbox {
    pub fn new(stream: Arc<TcpStream>) -> Self {
        Self {
            stream,
            waiting: Mutex::default(),
        }
    }

    /// Sends a frame, or keeps what does not go out; whether anything was kept that nobody watches over yet, and whether the peer is slow.
    pub fn send(&self, mut frame: Message) -> (bool, Flow) {
        let length = frame.len() as u32;
        frame.push(&length.to_le_bytes());
        let mut waiting = self.waiting.lock();
        if waiting.is_closed {
            return (false, Flow::Free);
        }
        let was_empty = waiting.pieces.is_empty();
        let gone = if was_empty { self.write_now(&frame) } else { 0 };
        if gone == frame.len() {
            return (false, Flow::Free);
        }
        // A frame that is gone in part is kept in part; its pieces are copied only if they are headers.
        waiting.bytes += frame.len() - gone;
        waiting.pieces.extend(frame.rest(gone));
        let is_full = waiting.bytes > FULL;
        waiting.told_full |= is_full;
        (
            was_empty,
            if is_full { Flow::Congested } else { Flow::Free },
        )
    }

    /// Bytes of a frame that go out at once. An error is left to the reading end, which finds it too.
    fn write_now(&self, frame: &Message) -> usize {
        let mut slices = [IoSlice::new(&[]); 16];
        let mut count = 0;
        for slice in frame.slices().take(16) {
            slices[count] = IoSlice::new(slice);
            count += 1;
        }
        (&*self.stream)
            .write_vectored(&slices[..count])
            .unwrap_or(0)
    }

    pub fn wants_to_write(&self) -> bool {
        !self.waiting.lock().pieces.is_empty()
    }

    /// Writes what waits; whether the peer, which was slow, has room again.
    pub fn write(&self) -> bool {
        let mut waiting = self.waiting.lock();
        while !waiting.pieces.is_empty() {
            let slices: Vec<IoSlice<'_>> = waiting
                .pieces
                .iter()
                .take(64)
                .map(|piece| IoSlice::new(piece))
                .collect();
            let mut gone = match (&*self.stream).write_vectored(&slices) {
                Ok(gone) => gone,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            waiting.bytes -= gone;
            while let Some(first) = waiting.pieces.front_mut().filter(|_| gone > 0) {
                let step = gone.min(first.len());
                first.advance(step);
                gone -= step;
                if first.is_empty() {
                    waiting.pieces.pop_front();
                }
            }
        }
        let has_room = waiting.told_full && waiting.bytes < FULL / 2;
        waiting.told_full &= !has_room;
        has_room
    }

    /// The peer is lost: nothing more goes out.
    pub fn close(&self) {
        let mut waiting = self.waiting.lock();
        *waiting = Waiting {
            is_closed: true,
            ..Waiting::default()
        };
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// The reading end.
#[derive(Debug, Default)]
pub struct Reader {
    buffer: BytesMut,
}

impl Reader {
    /// Reads what is there, at most a few frames' worth; false if the connection has ended.
    pub fn read(&mut self, mut stream: &TcpStream, frames: &mut Vec<Bytes>) -> bool {
        for _ in 0..4 {
            let have = self.buffer.len();
            let wanted = self.wanted().clamp(READ, READ * 16);
            self.buffer.resize(have + wanted, 0);
            let read = stream.read(&mut self.buffer[have..]);
            self.buffer.truncate(have + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return false,
                Ok(count) => {
                    if !self.cut(frames) {
                        return false;
                    }
                    if count < wanted {
                        return true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
        true
    }

    /// Bytes that the frame at the front still lacks.
    fn wanted(&self) -> usize {
        self.length()
            .map_or(0, |length| (length + 4).saturating_sub(self.buffer.len()))
    }

    fn length(&self) -> Option<usize> {
        let head: [u8; 4] = self.buffer.get(..4)?.try_into().ok()?;
        Some(u32::from_le_bytes(head) as usize)
    }

    /// Cuts whole frames off; false if what is there is no frame.
    fn cut(&mut self, frames: &mut Vec<Bytes>) -> bool {
        while let Some(length) = self.length() {
            if length > FRAME_MAX {
                return false;
            }
            if self.buffer.len() < length + 4 {
                break;
            }
            self.buffer.advance(4);
            frames.push(self.buffer.split_to(length).freeze());
        }
        true
    }
}

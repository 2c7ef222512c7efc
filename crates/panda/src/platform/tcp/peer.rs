//! One peer's connection: what waits to be written.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::net::TcpStream;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use parking_lot::Mutex;
use rustix::net::{SendAncillaryBuffer, SendFlags};

use super::head::{FAREWELL, Head};
use super::progress;
use crate::message::Message;
use crate::platform::{Flow, Transfer};

/// Bytes that wait before senders are asked to.
const FULL: usize = 1 << 20;

/// What a piece takes while it waits, besides its bytes: its place in the list, and what says who else holds them.
const BESIDES: usize = 2 * size_of::<Bytes>();

/// Frames up to this length go out in one piece: a copy costs less than a list of pieces does in the system.
const SHORT: usize = 256;

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
    /// This end has taken leave: nothing is sent after that.
    has_left: bool,
    /// Closed by this end, which has given the peer up.
    is_cut: bool,
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
        Head::before(&frame).push_onto(&mut frame);
        let mut waiting = self.waiting.lock();
        if waiting.is_closed || waiting.has_left {
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
        let mut short = [0; SHORT];
        if let Some(bytes) = frame.copy_into(&mut short) {
            // The C library's call would be one that a thread may be cancelled in, which costs locked instructions.
            return rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL).unwrap_or(0);
        }
        let mut slices = [IoSlice::new(&[]); 16];
        let mut count = 0;
        for slice in frame.slices().take(16) {
            slices[count] = IoSlice::new(slice);
            count += 1;
        }
        self.write_slices(&slices[..count]).unwrap_or(0)
    }

    /// Writes what the system takes of them. A peer that is gone is an error and no signal, which would end a program that is not written in Rust.
    fn write_slices(&self, slices: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        rustix::net::sendmsg(&self.stream, slices, &mut nothing, SendFlags::NOSIGNAL)
    }

    /// Bytes that wait to be written, with what they take besides.
    pub fn untaken(&self) -> usize {
        let waiting = self.waiting.lock();
        waiting.bytes + waiting.pieces.len() * BESIDES
    }

    /// How far bytes to and from the peer are.
    pub fn transfer(&self) -> Transfer {
        let kept = self.waiting.lock().bytes as u64;
        let told = progress::of(&self.stream);
        told.map_or_else(Transfer::default, |told| Transfer {
            waiting: told.waiting + kept,
            ..told
        })
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
            let mut gone = match self.write_slices(&slices) {
                Ok(gone) => gone,
                Err(rustix::io::Errno::INTR) => continue,
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

    /// Writes what waits and takes leave, and hangs up if nothing waits then; how many bytes are left.
    pub fn write_last(&self) -> usize {
        self.take_leave();
        self.write();
        let left = self.waiting.lock().bytes;
        if left == 0 {
            let _ = self.stream.shutdown(std::net::Shutdown::Write);
        }
        left
    }

    fn take_leave(&self) {
        let mut waiting = self.waiting.lock();
        if !waiting.is_closed && !waiting.has_left {
            waiting.has_left = true;
            waiting.bytes += FAREWELL.len();
            waiting.pieces.push_back(Bytes::from_static(&FAREWELL));
        }
    }

    /// The peer is lost: nothing more goes out.
    pub fn close(&self) {
        self.close_by(false);
    }

    /// This end gives the peer up, which is then [cut off](Self::is_cut).
    pub fn cut(&self) {
        self.close_by(true);
    }

    /// Whether this end has given the peer up: then the end of its connection says nothing of it.
    pub fn is_cut(&self) -> bool {
        self.waiting.lock().is_cut
    }

    fn close_by(&self, is_cut: bool) {
        let mut waiting = self.waiting.lock();
        let is_cut = is_cut || waiting.is_cut;
        *waiting = Waiting {
            is_closed: true,
            is_cut,
            ..Waiting::default()
        };
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;
    use std::net::TcpListener;

    use super::*;

    /// Blocks SIGPIPE in this thread, so that it waits to be seen even where it is ignored, as in Rust's programs.
    fn block_sigpipe() {
        // SAFETY: the set is made before it is used, and lives through the call.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        }
    }

    fn has_sigpipe() -> bool {
        // SAFETY: as above; `sigpending` fills the set.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigpending(set.as_mut_ptr());
            libc::sigismember(set.as_ptr(), libc::SIGPIPE) == 1
        }
    }

    #[test]
    fn a_peer_that_is_gone_is_no_signal() {
        block_sigpipe();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        drop(listener.accept().unwrap());
        let outbox = Outbox::new(Arc::new(stream));
        for length in [10, 1000, 100_000].into_iter().cycle().take(30) {
            outbox.send(Message::from(vec![7; length]));
            outbox.write();
        }
        // What a plain write does here is such a signal.
        assert!(!has_sigpipe());
        let slices = [IoSlice::new(&[7])];
        assert!(std::io::Write::write_vectored(&mut &*outbox.stream, &slices).is_err());
        assert!(has_sigpipe());
    }
}

//! One peer's connection: the bytes that wait to be written.

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

/// Number of waiting bytes from which senders are asked to wait.
const FULL: usize = 1 << 20;

/// Overhead of a waiting piece: its place in the list, and its reference count.
const BESIDES: usize = 2 * size_of::<Bytes>();

/// Length up to which a frame goes out in one piece. A copy costs less than a list of pieces does
/// in the system.
const SHORT: usize = 256;

/// The writing end, which all sending threads share.
#[derive(Debug)]
pub struct Outbox {
    pub stream: Arc<TcpStream>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    reported_full: bool,
    is_closed: bool,
    /// Whether this end has taken leave: nothing is sent after that.
    has_left: bool,
    /// Whether this end has closed it, and given the peer up.
    is_cut: bool,
}

impl Outbox {
    pub fn new(stream: Arc<TcpStream>) -> Self {
        Self {
            stream,
            waiting: Mutex::default(),
        }
    }

    /// Sends a frame, or keeps what does not go out. Returns whether it kept anything that the
    /// inbox does not watch yet, and whether the peer is slow.
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
        // A frame that is partly out is kept in part; only its header pieces are copied.
        waiting.bytes += frame.len() - gone;
        waiting.pieces.extend(frame.rest(gone));
        let is_full = waiting.bytes > FULL;
        waiting.reported_full |= is_full;
        (
            was_empty,
            if is_full { Flow::Congested } else { Flow::Free },
        )
    }

    /// Writes what goes out at once of a frame, and returns its length. An error is left to the
    /// reading end, which finds it too.
    fn write_now(&self, frame: &Message) -> usize {
        let mut short = [0; SHORT];
        if let Some(bytes) = frame.copy_into(&mut short) {
            // The C library's call would be a cancellation point, which costs locked instructions.
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

    /// Writes what the system takes of the slices. A peer that is gone is an error and no signal,
    /// which would end a program that is not written in Rust.
    fn write_slices(&self, slices: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
        let mut nothing = SendAncillaryBuffer::default();
        rustix::net::sendmsg(&self.stream, slices, &mut nothing, SendFlags::NOSIGNAL)
    }

    /// Returns the bytes that wait to be written, with their overhead.
    pub fn untaken(&self) -> usize {
        let waiting = self.waiting.lock();
        waiting.bytes + waiting.pieces.len() * BESIDES
    }

    /// Returns how far bytes to and from the peer have come.
    pub fn transfer(&self) -> Transfer {
        let kept = self.waiting.lock().bytes as u64;
        let reported = progress::of(&self.stream);
        reported.map_or_else(Transfer::default, |reported| Transfer {
            waiting: reported.waiting + kept,
            ..reported
        })
    }

    pub fn wants_to_write(&self) -> bool {
        !self.waiting.lock().pieces.is_empty()
    }

    /// Writes what waits. Returns whether the peer, which was slow, has room again.
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
        let has_room = waiting.reported_full && waiting.bytes < FULL / 2;
        waiting.reported_full &= !has_room;
        has_room
    }

    /// Writes what waits, takes leave, and hangs up if nothing waits then. Returns how many bytes
    /// are left.
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

    /// Closes the connection of a lost peer: nothing more goes out.
    pub fn close(&self) {
        self.close_by(false);
    }

    /// Gives the peer up, which is then [cut off](Self::is_cut).
    pub fn cut(&self) {
        self.close_by(true);
    }

    /// Returns whether this end has given the peer up: then the end of its connection says nothing
    /// about it.
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

    /// Blocks SIGPIPE in this thread. So it stays pending and visible even where it is ignored, as
    /// in Rust's programs.
    fn block_sigpipe() {
        // SAFETY: `sigemptyset` initialises the set before it is used, and the set lives through
        // the calls.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        }
    }

    fn has_sigpipe() -> bool {
        // SAFETY: `sigpending` initialises the set before it is read, and the set lives through the
        // calls.
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
        // A plain write here raises that signal.
        assert!(!has_sigpipe());
        let slices = [IoSlice::new(&[7])];
        assert!(std::io::Write::write_vectored(&mut &*outbox.stream, &slices).is_err());
        assert!(has_sigpipe());
    }
}

//! Frames out of a connection's bytes.
//!
//! All connections share a space for reads, so that an idle peer costs none. Bytes are split into
//! frames there. The rest of a long frame is read into its own place.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use rustix::net::RecvFlags;
use smallvec::SmallVec;

use super::head::{FAREWELL, HEAD, Head, LONG};
use crate::message::Message;
use crate::platform::pool::Pool;

/// Bytes of the shared space. A frame that fits there lies nowhere else before it is handed on.
pub const READ: usize = LONG;
/// Bytes reserved before those of a long frame have come; after that as many again as have come.
const BELIEVED: usize = 1 << 20;
/// Reads from one peer before the next has its turn.
const READS: usize = 16;
/// Bytes taken from one peer before they are handed on. They are still in the caches then, and so
/// are the bytes that later reuse their space.
const WARM: usize = 256 << 10;

/// The reading end of a connection.
#[derive(Debug)]
pub struct Reader {
    /// Bytes of the next frame's head that have come.
    head: SmallVec<[u8; HEAD]>,
    /// A frame of which bytes are still to come.
    current: Option<Begun>,
    /// Whether the peer has taken leave: only the end of the connection comes after that.
    has_left: bool,
    pool: Pool,
}

/// A frame whose head has come.
#[derive(Debug)]
struct Begun {
    head: Head,
    /// Its bytes as in the connection: room for the head, the gap and the frame.
    bytes: Vec<u8>,
}

impl Begun {
    /// Returns how many bytes are still to come.
    fn missing(&self) -> usize {
        self.head.before_frame() + self.head.length - self.bytes.len()
    }
}

/// State of a connection after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// There may be more.
    More,
    /// Nothing more is there now.
    Dry,
    /// Nothing will come any more.
    Over,
    /// The bytes are no frame, or there is no memory for it.
    Refused,
}

impl Reader {
    pub fn new(pool: Pool) -> Self {
        Self {
            head: SmallVec::new(),
            current: None,
            has_left: false,
            pool,
        }
    }

    /// Returns whether the peer has taken leave.
    pub fn has_left(&self) -> bool {
        self.has_left
    }

    /// Reads what is there, a bounded number of frames at a time. `space` has [`READ`] bytes, and
    /// holds nothing beyond the call.
    pub fn read(
        &mut self,
        stream: &TcpStream,
        space: &mut [u8],
        mut frame: impl FnMut(Message),
    ) -> Left {
        let taken = Cell::new(0);
        let mut frame = |whole: Message| {
            taken.set(taken.get() + whole.len());
            frame(whole);
        };
        for _ in 0..READS {
            let left = match &mut self.current {
                Some(begun) if begun.missing() >= READ => read_on(stream, begun),
                _ => self.read_and_part(stream, space, &mut frame),
            };
            self.finish(&mut frame);
            if left != Left::More || taken.get() >= WARM {
                return left;
            }
        }
        Left::More
    }

    fn read_and_part(
        &mut self,
        stream: &TcpStream,
        space: &mut [u8],
        frame: &mut impl FnMut(Message),
    ) -> Left {
        // The C library's call would be a cancellation point, as in `peer.rs`.
        match rustix::net::recv(stream, &mut *space, RecvFlags::empty()) {
            Ok((0, _)) => Left::Over,
            Ok((count, _)) if !self.part(&space[..count], frame) => Left::Refused,
            Ok((count, _)) if count == space.len() => Left::More,
            Ok(_) => Left::Dry,
            Err(error) => left_by(error.kind()),
        }
    }

    /// Splits bytes into frames; returns false if they are none.
    fn part(&mut self, mut bytes: &[u8], frame: &mut impl FnMut(Message)) -> bool {
        while !bytes.is_empty() {
            if let Some(begun) = &mut self.current {
                let (mine, rest) = bytes.split_at(begun.missing().min(bytes.len()));
                begun.bytes.extend_from_slice(mine);
                bytes = rest;
                self.finish(frame);
                continue;
            }
            let Some(head) = self.take_head(&mut bytes) else {
                break;
            };
            if self.has_left {
                return false;
            }
            if head == FAREWELL {
                self.has_left = true;
                continue;
            }
            let Some(head) = Head::of(head) else {
                return false;
            };
            let is_short = head.length < READ;
            if let Some((whole, rest)) = bytes.split_at_checked(head.length).filter(|_| is_short) {
                frame(Message::copy_of(whole));
                bytes = rest;
                continue;
            }
            if !self.begin(head) {
                return false;
            }
        }
        true
    }

    /// Makes a place for a frame of which more is to come; returns false if there is no memory.
    fn begin(&mut self, head: Head) -> bool {
        let whole = head.before_frame() + head.length;
        let mut bytes = self.pool.space(whole);
        if bytes.try_reserve(whole.min(BELIEVED)).is_err() {
            return false;
        }
        bytes.resize(HEAD, 0);
        self.current = Some(Begun { head, bytes });
        true
    }

    /// Takes the next frame's head, if it has come.
    fn take_head(&mut self, bytes: &mut &[u8]) -> Option<[u8; HEAD]> {
        match bytes.split_first_chunk() {
            Some((head, rest)) if self.head.is_empty() => {
                *bytes = rest;
                Some(*head)
            }
            _ => {
                let (head, rest) = bytes.split_at((HEAD - self.head.len()).min(bytes.len()));
                self.head.extend_from_slice(head);
                *bytes = rest;
                let head = <[u8; HEAD]>::try_from(self.head.as_slice()).ok()?;
                self.head.clear();
                Some(head)
            }
        }
    }

    /// Hands the frame on if it is complete.
    fn finish(&mut self, frame: &mut impl FnMut(Message)) {
        let is_whole = |begun: &mut Begun| begun.missing() == 0;
        if let Some(begun) = self.current.take_if(is_whole) {
            let mut whole = self.pool.frame(begun.bytes);
            whole.advance(begun.head.before_frame());
            frame(whole);
        }
    }
}

/// Reads more of a frame into its place: as much as there is, in one call.
fn read_on(stream: &TcpStream, begun: &mut Begun) -> Left {
    let missing = begun.missing();
    let bytes = &mut begun.bytes;
    let room = bytes.capacity() - bytes.len();
    let believed = bytes.len().max(BELIEVED);
    if room < missing && bytes.try_reserve_exact(believed.min(missing)).is_err() {
        return Left::Refused;
    }
    let wanted = missing.min(bytes.capacity() - bytes.len());
    match receive_behind(stream, bytes, wanted) {
        Ok(0) => Left::Over,
        Ok(_) => Left::More,
        Err(error) => left_by(error.kind()),
    }
}

/// Reads up to `wanted` bytes behind those that are there, for which there is room.
fn receive_behind(stream: &TcpStream, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    let room = &mut bytes.spare_capacity_mut()[..wanted];
    let ((came, _), _) = rustix::net::recv(stream, room, RecvFlags::empty())?;
    let end = came.len();
    // SAFETY: `recv` has filled these bytes of the spare capacity.
    unsafe { bytes.set_len(bytes.len() + end) };
    Ok(end)
}

fn left_by(error: ErrorKind) -> Left {
    match error {
        ErrorKind::Interrupted => Left::More,
        ErrorKind::WouldBlock => Left::Dry,
        _ => Left::Over,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    /// Returns the bytes that the sender makes of a frame. A long one has a gap, if its memory
    /// begins at a page or a few bytes behind.
    fn sent(frame: &[u8]) -> Vec<u8> {
        let mut frame = Message::from(frame.to_vec());
        Head::before(&frame).push_onto(&mut frame);
        frame.to_bytes().to_vec()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn frames_come_whole_however_their_bytes_do(
            lengths in proptest::collection::vec(prop_oneof![Just(0), 1..300_usize, 16_000..40_000_usize], 1..10),
            parts in proptest::collection::vec(1..30_000_usize, 1..40),
        ) {
            let frames: Vec<Vec<u8>> = (0..).zip(lengths).map(|(i, length)| vec![i; length]).collect();
            let bytes: Vec<u8> = frames.iter().flat_map(|frame| sent(frame)).collect();
            let (mut reader, mut came, mut rest) = (Reader::new(Pool::default()), Vec::new(), &bytes[..]);
            for part in parts.into_iter().chain([usize::MAX]) {
                let (now, later) = rest.split_at(part.min(rest.len()));
                prop_assert!(reader.part(now, &mut |frame| came.push(frame.to_bytes().to_vec())));
                rest = later;
            }
            prop_assert_eq!(came, frames);
        }
    }

    #[test]
    fn a_length_that_is_not_believed_ends_it() {
        let mut reader = Reader::new(Pool::default());
        assert!(!reader.part(&[0xff; HEAD], &mut |_| ()));
    }

    #[test]
    fn nothing_follows_a_farewell() {
        let mut reader = Reader::new(Pool::default());
        let (mut frames, mut bytes) = (0, sent(b"last"));
        bytes.extend(FAREWELL);
        let (first, rest) = bytes.split_at(HEAD + 7);
        assert!(reader.part(first, &mut |_| frames += 1));
        assert!(!reader.has_left());
        assert!(reader.part(rest, &mut |_| frames += 1));
        assert!(reader.has_left());
        assert!(!reader.part(&sent(b"later"), &mut |_| frames += 1));
        assert_eq!(frames, 1);
    }

    #[test]
    fn long_frames_come_whole_and_are_handed_on_before_more_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut from = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let to = listener.accept().unwrap().0;
        to.set_nonblocking(true).unwrap();
        let lengths = [
            READ,
            WARM,
            5,
            3 * BELIEVED,
            3 * BELIEVED + 1,
            WARM,
            READ - 1,
        ];
        let frames = lengths.map(|length| vec![length as u8 ^ (length >> 8) as u8; length]);
        let (mut reader, mut space) = (Reader::new(Pool::default()), vec![0; READ]);
        let mut came: Vec<Vec<u8>> = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for frame in &frames {
                    from.write_all(&sent(frame)).unwrap();
                }
            });
            while came.len() < frames.len() {
                let mut long = 0;
                let left = reader.read(&to, &mut space, |frame| {
                    long += usize::from(frame.len() >= WARM);
                    came.push(frame.to_bytes().to_vec());
                });
                assert!(long <= 1 && [Left::More, Left::Dry].contains(&left));
            }
        });
        assert!(came == frames);
        drop(from);
        assert_eq!(reader.read(&to, &mut space, |_| ()), Left::Over);
    }
}

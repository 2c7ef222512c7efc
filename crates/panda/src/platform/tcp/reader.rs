//! Frames out of a connection's bytes.
//!
//! Bytes are read into a space that all connections share, so that an idle peer costs none, and parted there. What a long frame lacks is read into its own place.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use rustix::net::RecvFlags;
use smallvec::SmallVec;

use crate::message::Message;
use crate::platform::pool::Pool;

/// The longest frame that is believed: as long as an address space. A longer one comes from nobody of ours.
const FRAME_MAX: u64 = 1 << 47;
/// Bytes that say a frame's length.
const HEAD: usize = size_of::<u64>();
/// Bytes of the shared space.
pub const READ: usize = 16 << 10;
/// Reserved before the bytes of a long frame have come; after that as much again as has.
const BELIEVED: usize = 1 << 20;
/// Reads from one peer before the next has its turn.
const READS: usize = 16;
/// Bytes of frames that are taken from one peer before they are handed on: they lie in the caches still, and so will those that come into their space after them.
const WARM: usize = 256 << 10;

/// The reading end of a connection.
#[derive(Debug)]
pub struct Reader {
    /// What has come of the next frame's length.
    head: SmallVec<[u8; HEAD]>,
    /// What has come of a frame, and its length.
    current: Option<(Vec<u8>, usize)>,
    pool: Pool,
}

/// How a connection is after a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// There may be more.
    More,
    /// Nothing more is there now.
    Dry,
    /// Nothing will come any more.
    Over,
    /// What came is no frame, or there is no memory for it.
    Refused,
}

impl Reader {
    pub fn new(pool: Pool) -> Self {
        Self {
            head: SmallVec::new(),
            current: None,
            pool,
        }
    }

    /// Reads what is there, a bounded number of frames at a time. Nothing in `space`, of [`READ`] bytes, outlasts the call.
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
                Some((bytes, length)) if *length - bytes.len() >= READ => {
                    read_on(stream, bytes, *length)
                }
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
        // Not by the C library, as where frames are sent.
        match rustix::net::recv(stream, &mut *space, RecvFlags::empty()) {
            Ok((0, _)) => Left::Over,
            Ok((count, _)) if !self.part(&space[..count], frame) => Left::Refused,
            Ok((count, _)) if count == space.len() => Left::More,
            Ok(_) => Left::Dry,
            Err(error) => left_by(error.kind()),
        }
    }

    /// Takes frames apart; false if this is none.
    fn part(&mut self, mut bytes: &[u8], frame: &mut impl FnMut(Message)) -> bool {
        while !bytes.is_empty() {
            if let Some((begun, length)) = &mut self.current {
                let (mine, rest) = bytes.split_at((*length - begun.len()).min(bytes.len()));
                begun.extend_from_slice(mine);
                bytes = rest;
                self.finish(frame);
                continue;
            }
            let Some(length) = self.take_length(&mut bytes) else {
                break;
            };
            let believed = Some(length).filter(|length| *length <= FRAME_MAX);
            let Some(length) = believed.and_then(|length| usize::try_from(length).ok()) else {
                return false;
            };
            if let Some((whole, rest)) = bytes.split_at_checked(length).filter(|_| length < READ) {
                frame(Message::copy_of(whole));
                bytes = rest;
                continue;
            }
            let mut place = self.pool.space(length);
            if place.try_reserve(length.min(BELIEVED)).is_err() {
                return false;
            }
            self.current = Some((place, length));
        }
        true
    }

    /// The next frame's length, if it has come.
    fn take_length(&mut self, bytes: &mut &[u8]) -> Option<u64> {
        let head = match bytes.split_first_chunk() {
            Some((head, rest)) if self.head.is_empty() => {
                *bytes = rest;
                *head
            }
            _ => {
                let (head, rest) = bytes.split_at((HEAD - self.head.len()).min(bytes.len()));
                self.head.extend_from_slice(head);
                *bytes = rest;
                let head = <[u8; HEAD]>::try_from(self.head.as_slice()).ok()?;
                self.head.clear();
                head
            }
        };
        Some(u64::from_le_bytes(head))
    }

    /// Hands the frame on if it is whole.
    fn finish(&mut self, frame: &mut impl FnMut(Message)) {
        let is_whole = |(bytes, length): &mut (Vec<u8>, usize)| bytes.len() == *length;
        if let Some((bytes, _)) = self.current.take_if(is_whole) {
            frame(self.pool.frame(bytes));
        }
    }
}

/// Reads more of a frame into its place: as much as there is, in one call.
fn read_on(stream: &TcpStream, bytes: &mut Vec<u8>, length: usize) -> Left {
    let believed = bytes.len().max(BELIEVED);
    if bytes.capacity() < length
        && bytes
            .try_reserve_exact(believed.min(length - bytes.len()))
            .is_err()
    {
        return Left::Refused;
    }
    let wanted = (length - bytes.len()).min(bytes.capacity() - bytes.len());
    match receive_behind(stream, bytes, wanted) {
        Ok(0) => Left::Over,
        Ok(_) => Left::More,
        Err(error) => left_by(error.kind()),
    }
}

/// Reads up to so many bytes behind what there is, where there is room for them.
fn receive_behind(stream: &TcpStream, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
    let room = &mut bytes.spare_capacity_mut()[..wanted];
    let ((came, _), _) = rustix::net::recv(stream, room, RecvFlags::empty())?;
    let end = came.len();
    // SAFETY: these bytes of the spare capacity were filled.
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn frames_come_whole_however_their_bytes_do(
            lengths in proptest::collection::vec(prop_oneof![Just(0), 1..300_usize, 16_000..40_000_usize], 1..10),
            parts in proptest::collection::vec(1..30_000_usize, 1..40),
        ) {
            let frames: Vec<Vec<u8>> = (0..).zip(lengths).map(|(i, length)| vec![i; length]).collect();
            let bytes: Vec<u8> = frames
                .iter()
                .flat_map(|frame| [&(frame.len() as u64).to_le_bytes(), frame.as_slice()].concat())
                .collect();
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
                    from.write_all(&(frame.len() as u64).to_le_bytes()).unwrap();
                    from.write_all(frame).unwrap();
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

//! Frames out of a connection's bytes.
//!
//! Bytes are read into a space that all connections share, so that an idle peer costs none, and parted there. What a long frame lacks is read into its own place.

use std::io::{ErrorKind, Read};
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
        for _ in 0..READS {
            let left = match &mut self.current {
                Some((bytes, length)) if *length - bytes.len() >= READ => {
                    read_on(stream, bytes, *length)
                }
                _ => self.read_and_part(stream, space, &mut frame),
            };
            self.finish(&mut frame);
            if left != Left::More {
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
            let mut place = if length < READ {
                Vec::new()
            } else {
                self.pool.space()
            };
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
        if let Some((bytes, _)) = self
            .current
            .take_if(|(bytes, length)| bytes.len() == *length)
        {
            frame(if bytes.len() < READ {
                Message::from(bytes)
            } else {
                Message::from(self.pool.frame(bytes))
            });
        }
    }
}

/// Reads more of a frame into its place.
fn read_on(stream: &TcpStream, bytes: &mut Vec<u8>, length: usize) -> Left {
    let wanted = (length - bytes.len()).min(bytes.len().max(BELIEVED));
    if bytes.try_reserve_exact(wanted).is_err() {
        return Left::Refused;
    }
    match stream.take(wanted as u64).read_to_end(bytes) {
        Ok(count) if count == wanted => Left::More,
        Ok(_) => Left::Over,
        Err(error) => left_by(error.kind()),
    }
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
}

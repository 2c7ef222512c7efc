//! Messages: a stack of headers in front of a payload that is never copied.
//!
//! A message is a list of pieces. Each layer on the way down pushes its header at the front, each
//! on the way up pops it; the payload stays where it is. Headers grow downwards in a small buffer
//! inside the message, so that pushing one allocates nothing:
//!
//! ```text
//!   head   [ .......|H3|H2|H1 ]   pieces [ payload ][ more payload ]
//!                   ^ start
//! ```

use bytes::{Buf, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;

/// Bytes of headers that a message holds without allocating. With its sender, tag and port, a
/// message is then 128 bytes, which a few instructions move. More bytes would be moved by a call.
const HEAD: usize = 56;
/// Bytes for which a [`Header`] has room.
const HEADER: usize = 24;

/// A message, or a frame of one: headers and payload as a list of pieces.
pub struct Message {
    head: [u8; HEAD],
    start: u8,
    pieces: SmallVec<[Bytes; 1]>,
    /// Bytes in `pieces`.
    behind: usize,
}

/// A header that is not yet before a message.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    bytes: [u8; HEADER],
    length: usize,
}

impl Header {
    /// Makes a header of the first `length` bytes of two numbers, least significant byte first.
    ///
    /// # Panics
    ///
    /// The numbers have fewer bytes.
    #[inline]
    #[must_use]
    pub fn new(low: u128, high: u64, length: usize) -> Self {
        assert!(length <= HEADER);
        let mut bytes = [0; HEADER];
        bytes[..16].copy_from_slice(&low.to_le_bytes());
        bytes[16..].copy_from_slice(&high.to_le_bytes());
        Self { bytes, length }
    }

    /// Returns the whole buffer, beyond its length. Its size is constant, so a copy takes a few
    /// instructions.
    #[inline]
    pub fn with_rest(&self) -> &[u8; HEADER] {
        &self.bytes
    }
}

impl std::ops::Deref for Header {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A message that does not hold what its receiver expects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The message is shorter than its headers say.
    #[error("the message ends after {have} bytes where a header of {want} bytes was expected")]
    Short {
        /// Bytes that the header has.
        want: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// The bytes are no value of the wanted type.
    #[error(
        "the message holds no {wanted}: {reason}. Sender and receiver must use one type for one port"
    )]
    Value {
        /// The wanted type.
        wanted: &'static str,
        /// Error of the decoder.
        reason: String,
    },
}

impl Message {
    /// Makes an empty message.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self {
            head: [0; HEAD],
            start: HEAD as u8,
            pieces: SmallVec::new(),
            behind: 0,
        }
    }

    /// Makes a message with a copy of these bytes; a short one without allocating.
    #[inline]
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        if bytes.len() > HEAD {
            return Self::from(bytes.to_vec());
        }
        let mut message = Self::new();
        message.push(bytes);
        message
    }

    /// Makes a message whose payload is a value, in postcard's form.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Value`]: the value's own `Serialize` refuses.
    pub fn of<V: Serialize>(value: &V) -> Result<Self, DecodeError> {
        postcard::to_stdvec(value)
            .map(Self::from)
            .map_err(|e| refused::<V>(&e))
    }

    /// Decodes the payload, which must be exactly one value.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Value`]: the bytes are no such value.
    pub fn value<V: DeserializeOwned>(&self) -> Result<V, DecodeError> {
        match self.front(self.len()) {
            Some(bytes) => value_in(bytes),
            None => value_in(&self.to_bytes()),
        }
    }

    /// Returns the first `count` bytes, if they are in one piece.
    #[inline]
    pub fn front(&self, count: usize) -> Option<&[u8]> {
        let first = self.slices().next().unwrap_or_default();
        first.get(..count)
    }

    /// Returns the beginning of the message. It is the first piece if that is the whole message or
    /// at least as long as `space`; otherwise a copy in `space`.
    #[inline]
    pub fn front_in<'a>(&'a self, space: &'a mut [u8]) -> &'a [u8] {
        let first = self.slices().next().unwrap_or_default();
        match first.len() >= space.len() || first.len() == self.len() {
            true => first,
            false => self.copy_front(space),
        }
    }

    /// Copies as much of the beginning as there is room for, and returns that.
    fn copy_front<'a>(&self, space: &'a mut [u8]) -> &'a [u8] {
        let mut filled = 0;
        for piece in self.slices() {
            let take = piece.len().min(space.len() - filled);
            space[filled..filled + take].copy_from_slice(&piece[..take]);
            filled += take;
            if filled == space.len() {
                break;
            }
        }
        &space[..filled]
    }

    /// Returns the number of bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        HEAD - usize::from(self.start) + self.behind
    }

    /// Returns whether it is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pushes a header to the front.
    #[inline]
    pub fn push(&mut self, header: &[u8]) {
        let end = usize::from(self.start);
        match end.checked_sub(header.len()) {
            Some(start) => {
                self.head[start..end].copy_from_slice(header);
                self.start = start as u8;
            }
            None => self.spill_and_push(header),
        }
    }

    #[cold]
    fn spill_and_push(&mut self, header: &[u8]) {
        self.spill();
        if header.len() > HEAD {
            self.behind += header.len();
            self.pieces.insert(0, Bytes::copy_from_slice(header));
            return;
        }
        self.push(header);
    }

    /// Takes a header of `N` bytes off the front.
    ///
    /// # Errors
    /// [`DecodeError::Short`], and the message is as it was.
    #[inline]
    pub fn pop<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let header = self.look()?;
        self.advance(N);
        Ok(header)
    }

    /// Returns the first `N` bytes, which stay there.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`].
    #[inline]
    pub fn look<const N: usize>(&self) -> Result<[u8; N], DecodeError> {
        match self.head[usize::from(self.start)..].first_chunk() {
            Some(header) => Ok(*header),
            None => self.look_further(),
        }
    }

    /// Pops as many bytes as fit into `header`, for callers that know their number only at run
    /// time.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], and the message is as it was.
    #[inline]
    pub fn pop_into(&mut self, header: &mut [u8]) -> Result<(), DecodeError> {
        self.look_into(header)?;
        self.advance(header.len());
        Ok(())
    }

    /// Copies as many bytes from the front as there is room for in `header`; they stay there.
    ///
    /// # Errors
    /// [`DecodeError::Short`].
    #[inline]
    pub fn look_into(&self, header: &mut [u8]) -> Result<(), DecodeError> {
        let (want, have) = (header.len(), self.len());
        if have < want {
            return Err(DecodeError::Short { want, have });
        }
        self.copy_front(header);
        Ok(())
    }

    /// Does the same as [`look`](Self::look) if the bytes reach beyond the headers.
    fn look_further<const N: usize>(&self) -> Result<[u8; N], DecodeError> {
        if self.len() < N {
            return Err(DecodeError::Short {
                want: N,
                have: self.len(),
            });
        }
        let mut header = [0; N];
        self.copy_front(&mut header);
        Ok(header)
    }

    /// Cuts the first `at` bytes off and returns them. Only headers are copied.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Short`], and the message is as it was.
    pub fn split_to(&mut self, at: usize) -> Result<Self, DecodeError> {
        if self.len() < at {
            return Err(DecodeError::Short {
                want: at,
                have: self.len(),
            });
        }
        self.spill();
        let mut first = Self::new();
        while first.behind < at {
            let want = at - first.behind;
            let whole = self.pieces[0].len() <= want;
            let piece = if whole {
                self.pieces.remove(0)
            } else {
                self.pieces[0].split_to(want)
            };
            self.behind -= piece.len();
            first.append_bytes(piece);
        }
        Ok(first)
    }

    /// Puts another message's bytes behind this one's.
    #[inline]
    pub fn append(&mut self, mut other: Self) {
        other.spill();
        for piece in other.pieces {
            self.append_bytes(piece);
        }
    }

    /// Puts bytes behind all else.
    #[inline]
    pub fn append_bytes(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.behind += piece.len();
            self.pieces.push(piece);
        }
    }

    /// Returns the pieces in order, as a vectored write takes them.
    #[inline]
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let head = &self.head[usize::from(self.start)..];
        std::iter::once(head)
            .chain(self.pieces.iter().map(Bytes::as_ref))
            .filter(|slice| !slice.is_empty())
    }

    /// Copies all bytes to the front of `space` and returns them there; returns `None` if there is
    /// no room.
    #[inline]
    pub fn copy_into<'a>(&self, space: &'a mut [u8]) -> Option<&'a [u8]> {
        let whole = space.get_mut(..self.len())?;
        let mut end = 0;
        for slice in self.slices() {
            whole[end..end + slice.len()].copy_from_slice(slice);
            end += slice.len();
        }
        Some(whole)
    }

    /// Returns the pieces behind the first `count` bytes.
    #[inline]
    pub fn rest(mut self, count: usize) -> impl Iterator<Item = Bytes> {
        self.advance(count.min(self.len()));
        self.spill();
        self.pieces.into_iter()
    }

    /// Returns all bytes in one piece, which is a copy only if they are in several.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        if usize::from(self.start) == HEAD && self.pieces.len() <= 1 {
            return self.pieces.first().cloned().unwrap_or_default();
        }
        let mut whole = BytesMut::with_capacity(self.len());
        self.slices()
            .for_each(|slice| whole.extend_from_slice(slice));
        whole.freeze()
    }

    /// Returns all bytes in one piece as [`to_bytes`](Self::to_bytes). A message of one piece gives
    /// that away and shares nothing.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        let has_more = self.slices().nth(1).is_some();
        match has_more {
            true => self.to_bytes(),
            false => self.rest(0).next().unwrap_or_default(),
        }
    }

    /// Removes the first `count` bytes, which must be there.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let of_head = count.min(HEAD - usize::from(self.start));
        self.start += of_head as u8;
        if count > of_head {
            self.advance_pieces(count - of_head);
        }
    }

    fn advance_pieces(&mut self, mut count: usize) {
        self.behind -= count;
        while count > 0 {
            let first = &mut self.pieces[0];
            if first.len() > count {
                first.advance(count);
                return;
            }
            count -= first.len();
            self.pieces.remove(0);
        }
    }

    /// Makes a separate piece of the headers.
    fn spill(&mut self) {
        let head = &self.head[usize::from(self.start)..];
        if !head.is_empty() {
            self.behind += head.len();
            self.pieces.insert(0, Bytes::copy_from_slice(head));
            self.start = HEAD as u8;
        }
    }
}

/// Decodes bytes, which must hold exactly one value.
pub fn value_in<V: DeserializeOwned>(bytes: &[u8]) -> Result<V, DecodeError> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|e| refused::<V>(&e))?;
    match rest.len() {
        0 => Ok(value),
        n => Err(DecodeError::Value {
            wanted: std::any::type_name::<V>(),
            reason: format!("{n} bytes are left over"),
        }),
    }
}

fn refused<V>(error: &postcard::Error) -> DecodeError {
    DecodeError::Value {
        wanted: std::any::type_name::<V>(),
        reason: error.to_string(),
    }
}

impl Clone for Message {
    #[inline]
    fn clone(&self) -> Self {
        // Mostly there is one piece, or none; a general copy would take longer.
        let pieces = match self.pieces.as_slice() {
            [] => SmallVec::new(),
            [one] => SmallVec::from_buf([one.clone()]),
            many => many.into(),
        };
        Self { pieces, ..*self }
    }
}

impl Default for Message {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl From<Bytes> for Message {
    #[inline]
    fn from(payload: Bytes) -> Self {
        let mut message = Self::new();
        message.append_bytes(payload);
        message
    }
}

impl From<Vec<u8>> for Message {
    #[inline]
    fn from(payload: Vec<u8>) -> Self {
        Self::from(Bytes::from(payload))
    }
}

impl From<&'static [u8]> for Message {
    #[inline]
    fn from(payload: &'static [u8]) -> Self {
        Self::from(Bytes::from_static(payload))
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.slices().flatten().eq(other.slices().flatten())
    }
}

impl Eq for Message {}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Message({} bytes)", self.len())
    }
}

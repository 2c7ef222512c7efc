//! Messages: a stack of headers in front of a payload that is never copied.
//!
//! A message is a list of pieces. Each layer on the way down pushes its header at the front, each on the way up pops it; the payload stays where it is.
//! Headers grow downwards in a small buffer inside the message, so that pushing one allocates nothing:
//!
//! ```text
//!   head   [ .......|H3|H2|H1 ]   pieces [ payload ][ more payload ]
//!                   ^ start
//! ```

use bytes::{Buf, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;

/// Bytes of headers that a message holds without allocating. With all else that is known of a message that came to a port it is 128 bytes, which are moved by a few
/// instructions; more are by a call.
const HEAD: usize = 56;
/// Bytes that a [`Header`] has room for.
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
    /// The first `length` bytes of two numbers, least significant byte first.
    ///
    /// # Panics
    /// They have not as many.
    #[inline]
    #[must_use]
    pub fn new(low: u128, high: u64, length: usize) -> Self {
        assert!(length <= HEADER);
        let mut bytes = [0; HEADER];
        bytes[..16].copy_from_slice(&low.to_le_bytes());
        bytes[16..].copy_from_slice(&high.to_le_bytes());
        Self { bytes, length }
    }

    /// Its bytes, and what follows them where they lie: copied as a whole it takes a few instructions, as its length is known.
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
    /// Shorter than its headers say.
    #[error("the message ends after {have} bytes where a header of {want} bytes was expected")]
    Short {
        /// Bytes that the header has.
        want: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// Not a value of the type that was asked for.
    #[error(
        "the message holds no {wanted}: {reason}. Sender and receiver must use one type for one port"
    )]
    Value {
        /// The type that was asked for.
        wanted: &'static str,
        /// What the decoder found.
        reason: String,
    },
}

impl Message {
    /// An empty message.
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

    /// A message with a copy of these bytes; a short one without allocating.
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

    /// A message whose payload is a value, in postcard's form.
    ///
    /// # Errors
    /// [`DecodeError::Value`] where the value's own `Serialize` refuses.
    pub fn of<V: Serialize>(value: &V) -> Result<Self, DecodeError> {
        postcard::to_stdvec(value)
            .map(Self::from)
            .map_err(|e| refused::<V>(&e))
    }

    /// The payload as a value. The message must hold exactly one.
    ///
    /// # Errors
    /// [`DecodeError::Value`] where the bytes are no such value.
    pub fn value<V: DeserializeOwned>(&self) -> Result<V, DecodeError> {
        match self.front(self.len()) {
            Some(bytes) => value_in(bytes),
            None => value_in(&self.to_bytes()),
        }
    }

    /// The first `count` bytes, if they lie in one piece.
    #[inline]
    pub fn front(&self, count: usize) -> Option<&[u8]> {
        let first = self.slices().next().unwrap_or_default();
        first.get(..count)
    }

    /// What begins it: the first piece as it lies, if that is at least as long as `space` or all there is, and else a copy in it.
    #[inline]
    pub fn front_in<'a>(&'a self, space: &'a mut [u8]) -> &'a [u8] {
        let first = self.slices().next().unwrap_or_default();
        match first.len() >= space.len() || first.len() == self.len() {
            true => first,
            false => self.copy_front(space),
        }
    }

    /// Copies as much of its beginning as there is room for, and returns that.
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

    /// Bytes in all.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        HEAD - usize::from(self.start) + self.behind
    }

    /// Whether there is nothing in it.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a header before all else.
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

    /// The `N` bytes at the front, which stay there.
    ///
    /// # Errors
    /// [`DecodeError::Short`].
    #[inline]
    pub fn look<const N: usize>(&self) -> Result<[u8; N], DecodeError> {
        match self.head[usize::from(self.start)..].first_chunk() {
            Some(header) => Ok(*header),
            None => self.look_further(),
        }
    }

    /// Takes as many bytes off the front as there is room for in `header`: for who knows their number only when the program runs.
    ///
    /// # Errors
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

    /// The same where headers do not hold them all.
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

    /// Cuts the first `at` bytes off and returns them; nothing is copied but headers.
    ///
    /// # Errors
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

    /// The bytes in order, as the pieces that they lie in: what a vectored write takes.
    #[inline]
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let head = &self.head[usize::from(self.start)..];
        std::iter::once(head)
            .chain(self.pieces.iter().map(Bytes::as_ref))
            .filter(|slice| !slice.is_empty())
    }

    /// Copies all bytes to the front of `space` and returns them there; nothing if there is no room.
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

    /// What is left after the first `count` bytes, as pieces.
    #[inline]
    pub fn rest(mut self, count: usize) -> impl Iterator<Item = Bytes> {
        self.advance(count.min(self.len()));
        self.spill();
        self.pieces.into_iter()
    }

    /// All bytes in one piece; copied only if they are not in one already.
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

    /// Takes `count` bytes off the front, which are there.
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

    /// Makes the headers a piece of their own.
    fn spill(&mut self) {
        let head = &self.head[usize::from(self.start)..];
        if !head.is_empty() {
            self.behind += head.len();
            self.pieces.insert(0, Bytes::copy_from_slice(head));
            self.start = HEAD as u8;
        }
    }
}

/// Bytes as a value; they must hold exactly one.
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
        // Mostly there is one, or none: for a list of any length more would be done.
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

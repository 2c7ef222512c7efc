//! A message buffer. Packing appends to its end, and unpacking reads from its beginning.
//!
//! ```text
//!   pieces  [ sent before | sent before ]  tail [ packed since ]
//!           shared with messages on their way   this buffer's alone
//! ```
//!
//! Sending turns the tail into a piece, which the message shares. So nothing is copied, and the
//! program may reuse the buffer at once.

use std::ffi::c_int;
use std::mem::{size_of, take};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use antiphon_panda::Message;
use bytes::Bytes;

use crate::code::Code;
use crate::element::Element;
use crate::tid::Tid;

/// The encoding of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// XDR, which machines of all kinds read.
    Xdr,
    /// The bytes in memory.
    Raw,
    /// The bytes in memory, read when the message is sent.
    InPlace,
}

impl Encoding {
    /// Returns the encoding for a number of `pvm_initsend`.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`].
    pub fn of(number: c_int) -> Result<Self, Code> {
        match number {
            0 => Ok(Self::Xdr),
            1 => Ok(Self::Raw),
            2 => Ok(Self::InPlace),
            _ => Err(Code::BAD_PARAM),
        }
    }

    /// Returns its number in messages and in `pvm_getminfo`.
    #[must_use]
    pub fn signature(self) -> c_int {
        match self {
            Self::Xdr => 0x1000_0000,
            Self::Raw => crate::SIGNATURE,
            Self::InPlace => 0x2000_0000,
        }
    }

    /// Returns the encoding of a received message.
    ///
    /// # Errors
    /// [`Code::BAD_MSG`]: a machine of another kind has packed it raw.
    pub fn of_signature(number: c_int) -> Result<Self, Code> {
        match number {
            0x1000_0000 => Ok(Self::Xdr),
            crate::SIGNATURE => Ok(Self::Raw),
            _ => Err(Code::BAD_MSG),
        }
    }
}

/// A message's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    pub context: c_int,
    pub tag: c_int,
    pub wait_id: c_int,
    pub source: Tid,
    pub destination: Tid,
}

/// An array of the program, which is read when the message is sent.
#[derive(Clone, Copy)]
struct Place {
    at: *const u8,
    length: usize,
}

// SAFETY: it is read while the program calls `pvm_send`, and the program must not change the array
// meanwhile.
unsafe impl Send for Place {}

/// Arrays in place are lent to a message from this many bytes on. Fewer bytes are copied, because
/// that is faster than to wait for the message to be sent.
const LENT_LEAST: usize = 64 << 10;

/// The program's arrays while a message reads them.
///
/// ```text
///   program's array ◀── Lent ── Bytes ── message on its way
///                        │
///   Lease ─── Arc ───────┘    alone again: nothing reads the arrays any more
/// ```
#[derive(Default)]
pub struct Lease(Arc<()>);

impl Lease {
    /// Returns whether all reads of the arrays are over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let is_alone = Arc::strong_count(&self.0) == 1;
        // The last reader is done: its reads happen before the program's next writes.
        fence(Ordering::Acquire);
        is_alone
    }
}

/// A lent array.
struct Lent {
    place: Place,
    _lease: Arc<()>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the caller of `Buffer::lend` keeps the array unchanged until the lease is over.
        // It is not over while this value exists.
        unsafe { std::slice::from_raw_parts(self.place.at, self.place.length) }
    }
}

/// A message buffer.
pub struct Buffer {
    pub info: Info,
    encoding: Encoding,
    pieces: Vec<Bytes>,
    tail: Vec<u8>,
    places: Vec<Place>,
    /// Bytes that have been unpacked.
    read: usize,
    /// Whether it was last chosen to be unpacked.
    is_unpacked: bool,
    /// Whether the next numbers replace what the buffer holds.
    starts_over: bool,
}

/// Returns the bytes of the XDR units that hold `length` bytes.
const fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

impl Buffer {
    /// Makes an empty buffer.
    #[must_use]
    pub fn new(encoding: Encoding, info: Info) -> Self {
        Self {
            info,
            encoding,
            pieces: Vec::new(),
            tail: Vec::new(),
            places: Vec::new(),
            read: 0,
            is_unpacked: false,
            starts_over: false,
        }
    }

    /// Makes the buffer of a received message.
    #[must_use]
    pub fn received(encoding: Encoding, info: Info, content: Message) -> Self {
        let pieces = content.rest(0).collect();
        Self {
            pieces,
            is_unpacked: true,
            ..Self::new(encoding, info)
        }
    }

    /// Returns its encoding.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns its length in bytes. Arrays in place count only when they are sent.
    #[must_use]
    pub fn length(&self) -> usize {
        self.tail.len() + self.pieces.iter().map(Bytes::len).sum::<usize>()
    }

    /// Prepares for packing. After unpacking in XDR, numbers and texts replace the content, as in
    /// PVM: there the position goes back to the beginning, and the length follows it. Bytes are
    /// appended, since PVM packs them at the end. Other encodings always append.
    pub fn begin_packing(&mut self) {
        if take(&mut self.is_unpacked) {
            self.starts_over = self.encoding == Encoding::Xdr;
        }
    }

    /// Prepares for unpacking. After packing, it begins at the first byte.
    pub fn begin_unpacking(&mut self) {
        if !self.is_unpacked {
            self.is_unpacked = true;
            self.read = 0;
        }
    }

    /// Removes what numbers replace, also where there are none of them.
    fn start_over(&mut self) {
        if take(&mut self.starts_over) {
            self.pieces.clear();
            self.tail.clear();
        }
    }

    /// Returns a message that reads the arrays where they lie, and the lease that tells when it is
    /// done. Returns `None` if no long array was left in place.
    ///
    /// # Safety
    /// The program's arrays must stay unchanged until the lease is over.
    #[must_use]
    pub unsafe fn lend(&self) -> Option<(Message, Lease)> {
        let length: usize = self.places.iter().map(|place| place.length).sum();
        if self.encoding != Encoding::InPlace || length < LENT_LEAST {
            return None;
        }
        let lease = Lease::default();
        let mut message = Message::new();
        for place in &self.places {
            message.append_bytes(Bytes::from_owner(Lent {
                place: *place,
                _lease: lease.0.clone(),
            }));
        }
        Some((message, lease))
    }

    /// Returns the content to send, and its encoding.
    pub fn content(&mut self) -> (Encoding, Message) {
        if self.encoding == Encoding::InPlace {
            let length = self.places.iter().map(|place| place.length).sum();
            let mut copy = Vec::with_capacity(length);
            for place in &self.places {
                // SAFETY: the program keeps its array until it has sent the message.
                copy.extend_from_slice(unsafe {
                    std::slice::from_raw_parts(place.at, place.length)
                });
            }
            return (Encoding::Raw, copy.into());
        }
        if !self.tail.is_empty() {
            self.pieces.push(take(&mut self.tail).into());
        }
        let mut message = Message::new();
        for piece in &self.pieces {
            message.append_bytes(piece.clone());
        }
        (self.encoding, message)
    }

    /// Returns its bytes in one piece, as they are sent.
    pub fn bytes(&mut self) -> Bytes {
        self.content().1.to_bytes()
    }

    /// Packs elements of an array: groups of `group` elements, from every `stride`th place.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`], [`Code::OVERFLOW`]; [`Code::NOT_IMPL`]: an array in place cannot have
    /// gaps.
    ///
    /// # Safety
    /// The array holds the elements. If it is left in place, it must live until the message is
    /// sent.
    pub unsafe fn pack<T: Element>(
        &mut self,
        array: *const T,
        (count, stride): (c_int, c_int),
        group: usize,
    ) -> Result<(), Code> {
        let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
        // PVM sets the length with each unit of 8 bytes, and after all units of 4 bytes.
        if count > 0 || T::XDR == 4 {
            self.start_over();
        }
        if count == 0 {
            return Ok(());
        }
        if array.is_null() {
            return Err(Code::BAD_PARAM);
        }
        if self.encoding == Encoding::InPlace {
            if stride != 1 {
                return Err(Code::NOT_IMPL);
            }
            self.places.push(Place {
                at: array.cast(),
                length: count * group * size_of::<T>(),
            });
            return Ok(());
        }
        let size = match self.encoding {
            Encoding::Xdr => T::XDR,
            _ => size_of::<T>(),
        };
        let start = self.tail.len();
        let length = count * group * size;
        let outcome = match (self.encoding, stride) {
            (Encoding::Raw, 1) => {
                // SAFETY: the caller's array holds as many.
                let bytes = unsafe { std::slice::from_raw_parts(array.cast::<u8>(), length) };
                self.tail.extend_from_slice(bytes);
                Ok(())
            }
            _ => {
                self.tail.resize(start + length, 0);
                // SAFETY: by this function's contract.
                unsafe { self.pack_each(start, array, (count, stride as isize), (group, size)) }
            }
        };
        if outcome.is_err() {
            self.tail.truncate(start);
        }
        outcome
    }

    /// Writes elements one by one.
    ///
    /// # Safety
    /// As [`pack`](Self::pack).
    unsafe fn pack_each<T: Element>(
        &mut self,
        start: usize,
        array: *const T,
        (count, stride): (usize, isize),
        (group, size): (usize, usize),
    ) -> Result<(), Code> {
        let is_xdr = self.encoding == Encoding::Xdr;
        let slots = self.tail[start..].chunks_exact_mut(size);
        for (at, slot) in slots.enumerate() {
            debug_assert!(at / group < count);
            let index = (at / group) as isize * stride * group as isize + (at % group) as isize;
            // SAFETY: the caller's array holds it.
            let element = unsafe { array.offset(index).read_unaligned() };
            match is_xdr {
                true => element.write(slot)?,
                // SAFETY: the slot has the size of an element.
                false => unsafe { slot.as_mut_ptr().cast::<T>().write_unaligned(element) },
            }
        }
        Ok(())
    }

    /// Packs bytes. In XDR they take whole units.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    ///
    /// # Safety
    /// As for [`pack`](Self::pack).
    pub unsafe fn pack_bytes(
        &mut self,
        array: *const u8,
        (count, stride): (c_int, c_int),
    ) -> Result<(), Code> {
        let count_of = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
        self.starts_over = false;
        if count_of == 0 {
            return Ok(());
        }
        if array.is_null() {
            return Err(Code::BAD_PARAM);
        }
        match (self.encoding, stride) {
            (Encoding::InPlace, 1) => self.places.push(Place {
                at: array,
                length: count_of,
            }),
            (Encoding::InPlace, _) => return Err(Code::NOT_IMPL),
            (_, 1) => {
                // SAFETY: the caller's array holds as many.
                let bytes = unsafe { std::slice::from_raw_parts(array, count_of) };
                self.tail.extend_from_slice(bytes);
            }
            _ => {
                for at in 0..count_of as isize {
                    // SAFETY: the caller's array holds it.
                    self.tail
                        .push(unsafe { *array.offset(at * stride as isize) });
                }
            }
        }
        self.pad(count_of);
        Ok(())
    }

    /// Fills the last unit of the bytes.
    fn pad(&mut self, length: usize) {
        if self.encoding == Encoding::Xdr {
            self.tail
                .resize(self.tail.len() + padded(length) - length, 0);
        }
    }

    /// Packs a text with its zero byte: the length, then the bytes.
    ///
    /// # Errors
    /// [`Code::NOT_IMPL`]: a text cannot be left in place.
    pub fn pack_text(&mut self, text: &[u8]) -> Result<(), Code> {
        self.start_over();
        let length = u32::try_from(text.len()).map_err(|_| Code::OVERFLOW)?;
        match self.encoding {
            Encoding::Xdr => self.tail.extend_from_slice(&length.to_be_bytes()),
            Encoding::Raw => self.tail.extend_from_slice(&length.to_ne_bytes()),
            Encoding::InPlace => return Err(Code::NOT_IMPL),
        }
        self.tail.extend_from_slice(text);
        self.pad(text.len());
        Ok(())
    }

    /// Appends bytes unchanged.
    pub fn append(&mut self, bytes: &[u8]) {
        self.start_over();
        self.tail.extend_from_slice(bytes);
    }

    /// Returns up to `wanted` unread bytes, and whether there were so many. If there are fewer,
    /// none remain.
    fn take(&mut self, wanted: usize) -> (&[u8], bool) {
        if !self.tail.is_empty() || self.pieces.len() > 1 {
            let whole = match self.encoding {
                Encoding::InPlace => Bytes::new(),
                _ => self.content().1.to_bytes(),
            };
            self.pieces.clear();
            self.pieces.push(whole);
        }
        let whole = self.pieces.first().map_or(&[][..], |piece| piece);
        let rest = whole.get(self.read..).unwrap_or_default();
        let is_there = rest.len() >= wanted;
        let taken = if is_there { &rest[..wanted] } else { rest };
        self.read += taken.len();
        (taken, is_there)
    }

    /// Unpacks elements into an array, in the layout of [`pack`](Self::pack).
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`]; [`Code::NO_DATA`]: the message is too short. The elements that it has
    /// were unpacked.
    ///
    /// # Safety
    /// The array has room for the elements.
    pub unsafe fn unpack<T: Element>(
        &mut self,
        array: *mut T,
        (count, stride): (c_int, c_int),
        group: usize,
    ) -> Result<(), Code> {
        let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
        if count == 0 {
            return Ok(());
        }
        if array.is_null() {
            return Err(Code::BAD_PARAM);
        }
        let is_xdr = self.encoding == Encoding::Xdr;
        let size = if is_xdr { T::XDR } else { size_of::<T>() };
        let wanted = count.checked_mul(group * size).ok_or(Code::BAD_PARAM)?;
        let (taken, is_there) = self.take(wanted);
        if !is_xdr && stride == 1 {
            // SAFETY: the caller's array has room for `wanted` bytes, and this is no more.
            unsafe { ptr::copy_nonoverlapping(taken.as_ptr(), array.cast(), taken.len()) };
        } else {
            for (at, slot) in taken.chunks_exact(size).enumerate() {
                let element = match is_xdr {
                    true => T::read(slot),
                    // SAFETY: the slot has the size of an element, of which all bits may be set.
                    false => unsafe { slot.as_ptr().cast::<T>().read_unaligned() },
                };
                let index = (at / group) as isize * stride as isize * group as isize
                    + (at % group) as isize;
                // SAFETY: the caller's array has room for it.
                unsafe { array.offset(index).write_unaligned(element) };
            }
        }
        if is_there { Ok(()) } else { Err(Code::NO_DATA) }
    }

    /// Unpacks bytes.
    ///
    /// # Errors
    /// As [`unpack`](Self::unpack).
    ///
    /// # Safety
    /// As for [`unpack`](Self::unpack).
    pub unsafe fn unpack_bytes(
        &mut self,
        array: *mut u8,
        (count, stride): (c_int, c_int),
    ) -> Result<(), Code> {
        let count = usize::try_from(count).map_err(|_| Code::BAD_PARAM)?;
        if count == 0 {
            return Ok(());
        }
        if array.is_null() {
            return Err(Code::BAD_PARAM);
        }
        let wanted = match self.encoding {
            Encoding::Xdr => padded(count),
            _ => count,
        };
        let (taken, is_there) = self.take(wanted);
        let taken = &taken[..taken.len().min(count)];
        match stride {
            // SAFETY: the caller's array has room for as many.
            1 => unsafe { ptr::copy_nonoverlapping(taken.as_ptr(), array, taken.len()) },
            _ => {
                for (at, byte) in taken.iter().enumerate() {
                    // SAFETY: the caller's array has room for it.
                    unsafe { *array.offset(at as isize * stride as isize) = *byte };
                }
            }
        }
        if is_there { Ok(()) } else { Err(Code::NO_DATA) }
    }

    /// Unpacks a text.
    ///
    /// # Errors
    /// [`Code::NO_DATA`]: the message is too short.
    pub fn unpack_text(&mut self) -> Result<&[u8], Code> {
        let encoding = self.encoding;
        let (length, is_there) = self.take(4);
        let length: [u8; 4] = match (length.try_into(), is_there) {
            (Ok(length), true) => length,
            _ => return Err(Code::NO_DATA),
        };
        let number = match encoding {
            Encoding::Xdr => i32::from_be_bytes(length),
            _ => i32::from_ne_bytes(length),
        };
        // As in PVM, a text without a length is empty.
        let length = usize::try_from(number).unwrap_or(0);
        let wanted = match encoding {
            Encoding::Xdr => padded(length),
            _ => length,
        };
        match self.take(wanted) {
            (text, true) => Ok(&text[..length]),
            _ => Err(Code::NO_DATA),
        }
    }

    /// Unpacks bytes unchanged.
    ///
    /// # Errors
    /// [`Code::NO_DATA`].
    pub fn unpack_raw(&mut self, length: usize) -> Result<&[u8], Code> {
        match self.take(length) {
            (bytes, true) => Ok(bytes),
            _ => Err(Code::NO_DATA),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(encoding: Encoding) -> Buffer {
        let info = Info {
            context: 0,
            tag: 0,
            wait_id: 0,
            source: Tid(0),
            destination: Tid(0),
        };
        Buffer::new(encoding, info)
    }

    fn pack(buffer: &mut Buffer, numbers: &[i32]) {
        let count = (numbers.len() as c_int, 1);
        // SAFETY: the slice holds them and lives until the test has sent it.
        unsafe { buffer.pack(numbers.as_ptr(), count, 1) }.unwrap();
    }

    fn unpack(buffer: &mut Buffer, count: usize) -> (Vec<i32>, Result<(), Code>) {
        let mut numbers = vec![0; count];
        // SAFETY: the vector has room for as many.
        let outcome = unsafe { buffer.unpack(numbers.as_mut_ptr(), (count as c_int, 1), 1) };
        (numbers, outcome)
    }

    #[test]
    fn what_is_sent_does_not_change_with_what_is_packed_later() {
        let mut sent = buffer(Encoding::Xdr);
        pack(&mut sent, &[1]);
        let (_, first) = sent.content();
        pack(&mut sent, &[2]);
        let (_, second) = sent.content();
        assert_eq!(first.to_bytes(), [0, 0, 0, 1].as_slice());
        assert_eq!(second.to_bytes(), [0, 0, 0, 1, 0, 0, 0, 2].as_slice());
    }

    #[test]
    fn an_array_in_place_is_read_when_it_is_sent() {
        let mut sent = buffer(Encoding::InPlace);
        let mut array = [1, 2];
        let at: *mut i32 = array.as_mut_ptr();
        // SAFETY: the array outlives the message, and only this code changes it.
        unsafe {
            sent.pack(at, (2, 1), 1).unwrap();
            assert_eq!(sent.length(), 0);
            at.write(3);
        }
        let (encoding, message) = sent.content();
        let mut came = Buffer::received(encoding, sent.info, message);
        assert_eq!(unpack(&mut came, 2), (vec![3, 2], Ok(())));
    }

    #[test]
    fn a_long_array_in_place_is_lent_until_its_message_is_gone() {
        let mut sent = buffer(Encoding::InPlace);
        let long = vec![7_i32; LENT_LEAST / 4];
        pack(&mut sent, &long[..1]);
        // SAFETY: nothing is lent here, because there is too little.
        assert!(unsafe { sent.lend() }.is_none());
        pack(&mut sent, &long);
        // SAFETY: the vector is not changed, and outlives the message.
        let (message, lease) = unsafe { sent.lend() }.unwrap();
        assert!(!lease.is_over());
        let mut came = Buffer::received(Encoding::Raw, sent.info, message);
        assert!(!lease.is_over());
        assert_eq!(unpack(&mut came, long.len() + 1).0, vec![7; long.len() + 1]);
        drop(came);
        assert!(lease.is_over());
    }

    #[test]
    fn a_short_message_gives_what_it_has_and_then_nothing() {
        let mut sent = buffer(Encoding::Xdr);
        pack(&mut sent, &[1, 2, 3]);
        assert_eq!(unpack(&mut sent, 4), (vec![1, 2, 3, 0], Err(Code::NO_DATA)));
        assert_eq!(unpack(&mut sent, 1).1, Err(Code::NO_DATA));
    }

    /// Packs bytes into a message that came with two numbers, after them numbers, and returns its
    /// lengths.
    fn lengths_with(bytes: &[u8], numbers: &[i32]) -> (usize, usize) {
        let came = Message::copy_of(&[0; 8]);
        let mut forwarded = Buffer::received(Encoding::Xdr, buffer(Encoding::Xdr).info, came);
        forwarded.begin_packing();
        if !bytes.is_empty() {
            let count = (bytes.len() as c_int, 1);
            // SAFETY: the slice holds them.
            unsafe { forwarded.pack_bytes(bytes.as_ptr(), count) }.unwrap();
        }
        let with_bytes = forwarded.length();
        pack(&mut forwarded, numbers);
        (with_bytes, forwarded.length())
    }

    #[test]
    fn numbers_replace_a_message_that_came_and_bytes_are_appended() {
        assert_eq!(lengths_with(&[], &[7]), (8, 4));
        assert_eq!(lengths_with(&[], &[]), (8, 0));
        assert_eq!(lengths_with(&[1], &[7]), (12, 16));
    }

    #[test]
    fn unpacking_begins_anew_after_packing() {
        let mut sent = buffer(Encoding::Raw);
        pack(&mut sent, &[1, 2]);
        sent.begin_unpacking();
        assert_eq!(unpack(&mut sent, 1), (vec![1], Ok(())));
        sent.begin_unpacking();
        assert_eq!(unpack(&mut sent, 1), (vec![2], Ok(())));
        sent.begin_packing();
        sent.begin_unpacking();
        assert_eq!(unpack(&mut sent, 1), (vec![1], Ok(())));
    }

    #[test]
    fn a_text_longer_than_its_message_is_no_text() {
        let mut sent = buffer(Encoding::Xdr);
        pack(&mut sent, &[100, 0]);
        assert_eq!(sent.unpack_text(), Err(Code::NO_DATA));
        let mut sent = buffer(Encoding::Xdr);
        sent.pack_text(b"hello\0").unwrap();
        assert_eq!(sent.length(), 12);
        assert_eq!(sent.unpack_text(), Ok(b"hello\0".as_slice()));
    }
}

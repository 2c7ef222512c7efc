//! Messages: bytes in pieces that are not copied.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use antiphon_panda::Message;
use bytes::Bytes;
use libc::iovec;

use crate::given::{Context, array, given, panda_release, room};
use crate::handing::{owned, taken};
use crate::status::{Failure, entry, panda_status, value};

/// Bytes in pieces that are not copied on their way, with headers that are pushed and popped at the
/// front. A message is used by one thread at a time.
///
/// A message is owned or lent. The program owns the messages of panda_message_new() and similar
/// functions, and those of receives and calls. It frees such a message, or passes it to a function
/// that takes it.
///
/// An upcall's message is lent until the upcall returns. It may be read, popped from, and passed on
/// as if it were owned. The library frees the rest of it. panda_message_take() makes an owned
/// message of it.
pub struct panda_message {
    pub(crate) message: Message,
    pub(crate) is_lent: bool,
}

/// Memory of the program.
struct Buffer {
    pieces: *const u8,
    length: usize,
    _context: Context,
}

// SAFETY: the header says that the bytes do not change until they are released, which may be on any
// thread.
unsafe impl Send for Buffer {}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: as above; the constructor checks that it is not NULL.
        unsafe { std::slice::from_raw_parts(self.pieces, self.length) }
    }
}

/// Returns an empty message, which the caller owns.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_new() -> *mut panda_message {
    owned(Message::new())
}

/// Returns a message with a copy of these bytes, which the caller owns: panda_port_send(port, to,
/// tag, panda_message_of(&value, sizeof value)) sends a value. It is NULL if the bytes are NULL and
/// the length is not 0. Functions that take a message then return an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_of(
    bytes: *const c_void,
    length: usize,
) -> *mut panda_message {
    value("panda_message_of", std::ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let bytes = unsafe { array(bytes.cast::<u8>(), length, "bytes") }?;
        Ok(owned(Message::copy_of(bytes)))
    })
}

/// Frees an owned message, or empties a lent one. NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_free(message: Option<Box<panda_message>>) {
    // Nothing here can panic: this drops memory, and calls release functions of C. So nothing is
    // caught, because that would add one per cent to a round trip.
    drop(taken(message));
}

/// Returns an owned message with the content of this one, which is empty afterwards. An upcall uses
/// it to keep a lent message. NULL if the message is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_take(message: Option<&mut panda_message>) -> *mut panda_message {
    value("panda_message_take", std::ptr::null_mut(), || {
        let message = given(message, "message")?;
        Ok(owned(std::mem::take(&mut message.message)))
    })
}

/// Returns another message that shares the same bytes without a copy. The caller owns it. NULL if
/// the message is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_clone(message: Option<&panda_message>) -> *mut panda_message {
    value("panda_message_clone", std::ptr::null_mut(), || {
        Ok(owned(given(message, "message")?.message.clone()))
    })
}

/// Returns its length in bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_length(message: Option<&panda_message>) -> usize {
    message.map_or(0, |message| message.message.len())
}

/// Appends a copy of bytes.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_append(
    message: Option<&mut panda_message>,
    bytes: *const c_void,
    length: usize,
) -> panda_status {
    entry("panda_message_append", || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let bytes = unsafe { array(bytes.cast::<u8>(), length, "bytes") }?;
        message.message.append_bytes(Bytes::copy_from_slice(bytes));
        Ok(())
    })
}

/// Appends bytes of the program without copying them. They must not change until release(context)
/// is called: once, on any thread, when they are no longer needed. That may be long after the
/// message was sent. It is called at once if this fails or the length is 0. release may be NULL for
/// bytes that stay for ever.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_append_buffer(
    message: Option<&mut panda_message>,
    bytes: *const c_void,
    length: usize,
    release: panda_release,
    context: *mut c_void,
) -> panda_status {
    let context = Context::new(context, release);
    entry("panda_message_append_buffer", || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let pieces = unsafe { array(bytes.cast::<u8>(), length, "bytes") }?.as_ptr();
        if length > 0 {
            message.message.append_bytes(Bytes::from_owner(Buffer {
                pieces,
                length,
                _context: context,
            }));
        }
        Ok(())
    })
}

/// Appends another message's bytes, and takes that message. Only headers are copied.
///
/// Errors: PANDA_BAD_ARGUMENT, also if both are the same message, which is then unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_append_message(
    message: *mut panda_message,
    other: *mut panda_message,
) -> panda_status {
    entry("panda_message_append_message", || {
        if message == other && !message.is_null() {
            return Err(Failure::argument("other", "is the message itself"));
        }
        // SAFETY: NULL, or a message from the library that the caller owns.
        let other = taken((!other.is_null()).then(|| unsafe { Box::from_raw(other) }));
        // SAFETY: NULL or a message, and not the one that was taken.
        let message = given(unsafe { message.as_mut() }, "message")?;
        message.message.append(given(other, "other")?.message);
        Ok(())
    })
}

/// Prepends a copy of a header. Headers of 64 bytes in all need no memory besides the message's
/// own.
///
/// Errors: PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_push(
    message: Option<&mut panda_message>,
    header: *const c_void,
    length: usize,
) -> panda_status {
    entry("panda_message_push", || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let header = unsafe { array(header.cast::<u8>(), length, "header") }?;
        message.message.push(header);
        Ok(())
    })
}

/// Removes bytes from the front, and copies them to `header`.
///
/// Errors: PANDA_SHORT, and the message is unchanged; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_pop(
    message: Option<&mut panda_message>,
    header: *mut c_void,
    length: usize,
) -> panda_status {
    entry("panda_message_pop", || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let header = unsafe { space(header, length, "header") }?;
        Ok(message.message.pop_into(header)?)
    })
}

/// Copies bytes at the front, which stay there.
///
/// Errors: PANDA_SHORT; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_look(
    message: Option<&panda_message>,
    header: *mut c_void,
    length: usize,
) -> panda_status {
    entry("panda_message_look", || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let header = unsafe { space(header, length, "header") }?;
        Ok(message.message.look_into(header)?)
    })
}

/// Returns memory of the program for bytes.
///
/// # Safety
/// It is NULL or has the given length, and nothing else refers to it during `'a`.
unsafe fn space<'a>(
    pointer: *mut c_void,
    length: usize,
    argument: &'static str,
) -> Result<&'a mut [u8], Failure> {
    // SAFETY: the caller's promise.
    let space = unsafe { room(pointer.cast::<u8>(), length, argument) }?;
    space.fill(MaybeUninit::new(0));
    // SAFETY: it was filled.
    Ok(unsafe { &mut *(std::ptr::from_mut(space) as *mut [u8]) })
}

/// Removes the first bytes, and returns them as a message that the caller owns. Only headers are
/// copied.
///
/// Errors: PANDA_SHORT, and the message is unchanged; PANDA_BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_split(
    message: Option<&mut panda_message>,
    length: usize,
    first: Option<&mut MaybeUninit<*mut panda_message>>,
) -> panda_status {
    entry("panda_message_split", || {
        let message = given(message, "message")?;
        let first = given(first, "first")?;
        first.write(owned(message.message.split_to(length)?));
        Ok(())
    })
}

/// Writes the pieces that hold the bytes, in order and without copying, to `pieces`: at most `room`
/// of them, in the form of writev(). Returns their number. They are read-only, and valid until the
/// message is changed, passed on or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn panda_message_pieces(
    message: Option<&panda_message>,
    pieces: *mut iovec,
    room: usize,
) -> usize {
    value("panda_message_pieces", 0, || {
        let message = given(message, "message")?;
        // SAFETY: the caller's promise.
        let mut places = unsafe { crate::given::room(pieces, room, "pieces") }?.iter_mut();
        let slices = message.message.slices();
        Ok(slices
            .inspect(|slice| {
                if let Some(place) = places.next() {
                    place.write(iovec {
                        iov_base: slice.as_ptr().cast_mut().cast(),
                        iov_len: slice.len(),
                    });
                }
            })
            .count())
    })
}

/// Returns all bytes in one piece, copied only if they are in several. They may lie at any address,
/// so copy out values that must be aligned. They are read-only, and valid until the message is
/// changed, passed on or freed. NULL if the message is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn panda_message_flatten(message: Option<&mut panda_message>) -> *const c_void {
    value("panda_message_flatten", std::ptr::null(), || {
        let message = &mut given(message, "message")?.message;
        if message.slices().nth(1).is_some() {
            *message = Message::from(message.to_bytes());
        }
        let whole = message.slices().next().unwrap_or_default();
        Ok(whole.as_ptr().cast())
    })
}

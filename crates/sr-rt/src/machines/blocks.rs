//! Blocks of invocations and parameters of resources, in messages.
//!
//! A block that the run-time has allocated becomes a part of its message, and is freed with it.
//! Panda may send it again later. So the block of a call, which may be a variable of the caller's,
//! is copied into the message. A receiver copies a block out of the message: it writes into the
//! block, and the message's memory is shared.

use std::ptr;

use antiphon_panda::Message;
use bytes::Bytes;

use super::letters::{Base, BlockSent};
use crate::errors;
use crate::flavour::Flavour;
use crate::invocation;
use crate::layout::{At, Dimension, Field, Invocation, Text, name_of};
use crate::memory;

/// Checks that an operation can be invoked on another machine.
///
/// # Safety
/// A block of the contract.
pub unsafe fn check(at: At, block: *const Invocation) {
    // SAFETY: a block of the contract, whose signature is static.
    unsafe {
        if let Some(signature) = (*block).signature.as_ref() {
            let refused = name_of(signature.refused);
            if !refused.is_empty() {
                errors::abort(
                    at,
                    &format!("{refused}, which means nothing on another virtual machine"),
                );
            }
        }
    }
}

/// A block that a message has taken over.
struct Given {
    block: *mut Invocation,
    size: usize,
}

// SAFETY: nobody writes into the block any more, and any thread may free it.
unsafe impl Send for Given {}
// SAFETY: as for Send.
unsafe impl Sync for Given {}

impl AsRef<[u8]> for Given {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: a block of that size, which is freed with this.
        unsafe { bytes_at(self.block.cast(), self.size) }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        // SAFETY: its last use.
        unsafe { invocation::free(self.block) };
    }
}

/// Turns a block into the body of a message, with a result that lies outside of the block behind
/// it. A block that is not the caller's own variable belongs to the message afterwards.
///
/// # Safety
/// Called by a process. A block of the contract; with a result it is answered.
pub unsafe fn give<S: Flavour>(block: *mut Invocation, with_result: bool) -> (BlockSent, Message) {
    // SAFETY: the block is the caller's, and has as many bytes as it says. With a result, the field
    // has an address and dimensions where its description says.
    unsafe {
        let size = (*block).size;
        let sent = BlockSent {
            base: Base::own(),
            address: block as u64,
            size,
        };
        let mut outer = Message::new();
        if with_result && let Some(result) = result_of(block) {
            let place = block.cast::<u8>().add(result.offset as usize);
            outer = Message::copy_of(outside(place, result.dimensions));
            memory::free::<S>(ptr::null(), place.cast::<*mut std::ffi::c_void>().read());
        }
        let size = size as usize;
        let mut body = match (*block).is_owned {
            true => Message::from(Bytes::from_owner(Given { block, size })),
            false => Message::copy_of(bytes_at(block.cast(), size)),
        };
        body.append(outer);
        (sent, body)
    }
}

unsafe fn result_of<'a>(block: *const Invocation) -> Option<&'a Field> {
    // SAFETY: signatures are static.
    unsafe {
        (*block)
            .signature
            .as_ref()
            .and_then(|it| it.result.as_ref())
    }
}

unsafe fn bytes_at<'a>(place: *const u8, count: usize) -> &'a [u8] {
    match count {
        0 => &[],
        // SAFETY: the callers pass a place with that many bytes.
        _ => unsafe { std::slice::from_raw_parts(place, count) },
    }
}

/// Returns the characters of a text, or the elements of an array that lie side by side.
unsafe fn outside<'a>(place: *const u8, dimensions: i32) -> &'a [u8] {
    // SAFETY: the field holds a text, or an address with that many dimensions, whose elements lie
    // side by side.
    unsafe {
        if dimensions == 0 {
            return place.cast::<Text>().read().bytes();
        }
        let data = place.cast::<*const u8>().read();
        let d = place.add(size_of::<*const u8>()).cast::<Dimension>();
        let bytes = (*d).length().max(0) * (*d).stride;
        match data.is_null() {
            true => &[],
            false => bytes_at(data, usize::try_from(bytes).unwrap_or(0)),
        }
    }
}

/// Copies a received block into its own memory; no process waits for it yet.
///
/// # Safety
/// Called by a process; a machine of this program sent the message.
pub unsafe fn received<S: Flavour>(sent: BlockSent, body: &[u8]) -> *mut Invocation {
    let size = sent.size as usize;
    if size < size_of::<Invocation>() || body.len() < size {
        errors::abort(
            ptr::null(),
            "a message of another virtual machine is damaged",
        );
    }
    // SAFETY: the new block has room for the sender's, which was checked to be at least a head. All
    // machines run one executable: descriptions and `relocate` are where the sender's addresses
    // lead, and `relocate` is null or such a function.
    unsafe {
        let block = invocation::allocate::<S>(ptr::null(), i64::from(sent.size));
        ptr::copy_nonoverlapping(body.as_ptr(), block.cast::<u8>(), size);
        (*block).next = ptr::null_mut();
        (*block).previous = ptr::null_mut();
        (*block).caller = ptr::null_mut();
        (*block).co = ptr::null_mut();
        (*block).answer = ptr::null_mut();
        (*block).is_owned = true;
        (*block).signature = sent.base.here((*block).signature);
        if let Some(relocate) = (*block).relocate {
            let own = sent.base.here(relocate as *const ());
            let own: unsafe extern "C" fn(*mut Invocation, isize) = std::mem::transmute(own);
            (*block).relocate = Some(own);
            own(block, (block as isize).wrapping_sub(sent.address as isize));
        }
        let rest = &body[size..];
        if let Some(result) = result_of(block).filter(|_| !rest.is_empty()) {
            let data = memory::allocate::<S>(ptr::null(), rest.len() as i64);
            ptr::copy_nonoverlapping(rest.as_ptr(), data.cast(), rest.len());
            block
                .byte_add(result.offset as usize)
                .cast::<*mut std::ffi::c_void>()
                .write(data);
        } else if let Some(result) = result_of(block) {
            block
                .byte_add(result.offset as usize)
                .cast::<*mut std::ffi::c_void>()
                .write(ptr::null_mut());
        }
        block
    }
}

/// Alignment of the bytes of texts and elements: enough for any type.
const ROOM: usize = 16;

/// Returns parameters of a resource as they are sent. Texts and arrays follow the struct, which has
/// their offsets in place of their addresses.
///
/// # Safety
/// `place` is a struct of that many bytes with those fields.
pub unsafe fn parameters(place: *const u8, bytes: usize, fields: &[(u32, i32)]) -> Vec<u8> {
    // SAFETY: the struct has that many bytes, and holds a text or a view at each field's offset.
    unsafe {
        let mut body = bytes_at(place, bytes).to_vec();
        for &(offset, dimensions) in fields {
            body.resize(body.len().next_multiple_of(ROOM), 0);
            let at = body.len() as u64;
            let field = place.add(offset as usize);
            match dimensions {
                0 => body.extend_from_slice(outside(field, 0)),
                _ => gather(field, dimensions as usize, &mut body),
            }
            let offset = offset as usize;
            body[offset..offset + 8].copy_from_slice(&at.to_le_bytes());
        }
        body
    }
}

/// Appends the elements of a view, in which the elements of each row lie side by side.
unsafe fn gather(field: *const u8, dimensions: usize, to: &mut Vec<u8>) {
    // SAFETY: the field holds a view with that many dimensions, and each offset is that of one of
    // its elements.
    unsafe {
        let data = field.cast::<*const u8>().read();
        let d = field.add(size_of::<*const u8>()).cast::<Dimension>();
        let d = std::slice::from_raw_parts(d, dimensions);
        let element = d.last().map_or(0, |last| last.stride);
        let count: i64 = d.iter().map(|d| d.length().max(0)).product();
        // A view of a part of an array has gaps between its rows.
        for number in 0..count {
            let (mut rest, mut place) = (number, 0);
            for d in d.iter().rev() {
                place += rest % d.length() * d.stride;
                rest /= d.length();
            }
            to.extend_from_slice(bytes_at(data.offset(place as isize), element as usize));
        }
    }
}

/// Turns the offsets in parameters into addresses, and sets strides for elements that lie side by
/// side.
///
/// # Safety
/// [`parameters`] made the bytes, and their memory lives as long as they are used.
pub unsafe fn place_parameters(place: *mut u8, fields: &[(u32, i32)]) {
    // SAFETY: by the contract each field holds an offset within the bytes, and a view has its
    // dimensions behind it.
    unsafe {
        for &(offset, dimensions) in fields {
            let field = place.add(offset as usize);
            let at = field.cast::<u64>().read();
            field.cast::<*mut u8>().write(place.add(at as usize));
            if dimensions > 0 {
                let d = field.add(size_of::<*const u8>()).cast::<Dimension>();
                let d = std::slice::from_raw_parts_mut(d, dimensions as usize);
                let mut stride = d.last().map_or(0, |last| last.stride);
                for d in d.iter_mut().rev() {
                    d.stride = stride;
                    stride *= d.length().max(0);
                }
            }
        }
    }
}

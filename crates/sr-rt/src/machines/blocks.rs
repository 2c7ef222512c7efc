//! Blocks of invocations and parameters of resources, in messages.

use std::ptr;

use super::letters::{Base, BlockSent};
use crate::errors;
use crate::flavour::Flavour;
use crate::invocation;
use crate::layout::{At, Dimension, Field, Invocation, Text, name_of};
use crate::memory;

// SAFETY of everything in this file: blocks and parameters are as in the contract, and generated
// descriptions say where they hold addresses.

/// Checks that an operation can be invoked on another machine.
///
/// # Safety
/// A block of the contract.
pub unsafe fn check(at: At, block: *const Invocation) {
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

/// Returns a block as it is sent, followed by a result that lies outside of it.
///
/// # Safety
/// A block of the contract.
pub unsafe fn sent(block: *const Invocation, with_result: bool) -> (BlockSent, Vec<u8>) {
    unsafe {
        let size = (*block).size;
        let mut body = bytes_at(block.cast(), size as usize).to_vec();
        if with_result && let Some(result) = result_of(block) {
            let place = block.cast::<u8>().add(result.offset as usize);
            body.extend_from_slice(outside(place, result.dimensions));
        }
        let sent = BlockSent {
            base: Base::own(),
            address: block as u64,
            size,
        };
        (sent, body)
    }
}

/// Frees a result outside of a block, after it was sent.
///
/// # Safety
/// Called by a process; the block is answered.
pub unsafe fn free_result<S: Flavour>(block: *const Invocation) {
    unsafe {
        if let Some(result) = result_of(block) {
            let place: *const *mut std::ffi::c_void = block.byte_add(result.offset as usize).cast();
            memory::free::<S>(ptr::null(), place.read());
        }
    }
}

unsafe fn result_of<'a>(block: *const Invocation) -> Option<&'a Field> {
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
        _ => unsafe { std::slice::from_raw_parts(place, count) },
    }
}

/// Returns the characters of a text, or the elements of an array that lie side by side.
unsafe fn outside<'a>(place: *const u8, dimensions: i32) -> &'a [u8] {
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

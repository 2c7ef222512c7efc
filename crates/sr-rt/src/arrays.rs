//! Arrays of bounds known at run time: their layout, and copies between views whose elements need
//! not be adjacent.

use std::ptr;

use crate::errors::abort;
use crate::exports;
use crate::layout::{At, Dimension, StringPlace, Text};

/// Limit of an array's bytes: the size of an address space.
const MOST_BYTES: i64 = 1 << 47;

/// Checks bounds, sets strides, and returns the bytes of all elements.
///
/// # Safety
/// `d` points to that many dimensions.
pub unsafe fn layout(at: At, d: *mut Dimension, dimensions: i32, element_bytes: i64) -> i64 {
    // SAFETY: by the contract there are that many dimensions, which nothing else uses meanwhile.
    let d = unsafe { std::slice::from_raw_parts_mut(d, dimensions.max(0) as usize) };
    let mut bytes = element_bytes;
    for d in d.iter_mut().rev() {
        if d.length() < 0 {
            let (low, high) = (d.low, d.high);
            abort(
                at,
                &format!("illegal bounds [{low}:{high}] for array creation"),
            );
        }
        d.stride = bytes;
        bytes = match bytes.checked_mul(d.length()) {
            Some(bytes) if bytes < MOST_BYTES => bytes,
            _ => abort(
                at,
                "out of memory: the array has more elements than there are addresses",
            ),
        };
    }
    bytes
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_array_layout(
    at: At,
    d: *mut Dimension,
    dimensions: i32,
    element_bytes: i64,
) -> i64 {
    // SAFETY: generated code passes the dimensions of the array that it declares.
    unsafe { layout(at, d, dimensions, element_bytes) }
}

unsafe fn slice<'a>(d: *const Dimension, dimensions: i32) -> &'a [Dimension] {
    // SAFETY: the callers pass the dimensions of a view of the contract, which has that many.
    unsafe { std::slice::from_raw_parts(d, dimensions.max(0) as usize) }
}

/// Aborts unless all lengths are equal. Returns whether there are elements.
fn check_sizes(at: At, to: &[Dimension], from: &[Dimension]) -> bool {
    for (to, from) in to.iter().zip(from) {
        if to.length() != from.length() {
            abort(
                at,
                &format!(
                    "size mismatch on array assignment:  [{}:{}] := [{}:{}]",
                    to.low, to.high, from.low, from.high
                ),
            );
        }
    }
    to.iter().all(|d| d.length() > 0)
}

/// Whether elements of that size lie side by side.
fn is_dense(d: &[Dimension], element_bytes: i64) -> bool {
    let mut bytes = element_bytes;
    d.iter().rev().all(|d| {
        let is_next = d.stride == bytes || d.length() <= 1;
        bytes *= d.length();
        is_next
    })
}

fn elements(d: &[Dimension]) -> i64 {
    d.iter().map(Dimension::length).product()
}

/// Calls a function with the addresses of each pair of elements.
unsafe fn pairs(
    to: *mut u8,
    to_d: &[Dimension],
    from: *mut u8,
    from_d: &[Dimension],
    each: &mut impl FnMut(*mut u8, *mut u8),
) {
    let ([first, to_rest @ ..], [from_first, from_rest @ ..]) = (to_d, from_d) else {
        return each(to, from);
    };
    for n in 0..first.length() {
        // SAFETY: each offset is that of an element within the bounds, and so inside the view's
        // memory.
        unsafe {
            let to = to.offset((n * first.stride) as isize);
            let from = from.offset((n * from_first.stride) as isize);
            pairs(to, to_rest, from, from_rest, each);
        }
    }
}

/// Returns one past the last byte of a view that has elements.
fn extent(d: &[Dimension], element_bytes: i64) -> i64 {
    d.iter().map(|d| (d.length() - 1) * d.stride).sum::<i64>() + element_bytes
}

/// Copies the elements of a view side by side into new memory.
unsafe fn gather(from: *mut u8, d: &[Dimension], element_bytes: i64) -> Vec<u8> {
    let mut copy = Vec::with_capacity((elements(d) * element_bytes) as usize);
    // SAFETY: `from` has these dimensions, and each element has that many bytes.
    unsafe {
        pairs(from, d, from, d, &mut |_, from| {
            copy.extend_from_slice(std::slice::from_raw_parts(from, element_bytes as usize));
        });
    }
    copy
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_array_copy(
    at: At,
    dimensions: i32,
    element_bytes: i64,
    to: *mut u8,
    to_d: *const Dimension,
    from: *mut u8,
    from_d: *const Dimension,
) {
    // SAFETY: generated code passes two views with that many dimensions; `copy` allows them to
    // overlap. `copy_nonoverlapping` comes only after a check that they do not.
    unsafe {
        let (to_d, from_d) = (slice(to_d, dimensions), slice(from_d, dimensions));
        if !check_sizes(at, to_d, from_d) {
            return;
        }
        let size = element_bytes as usize;
        if is_dense(to_d, element_bytes) && is_dense(from_d, element_bytes) {
            ptr::copy(from, to, elements(to_d) as usize * size);
            return;
        }
        let (to_end, from_end) = (
            to as usize + extent(to_d, element_bytes) as usize,
            from as usize + extent(from_d, element_bytes) as usize,
        );
        if (to as usize) < from_end && (from as usize) < to_end {
            return copy_overlapping(to, to_d, from, from_d, element_bytes);
        }
        pairs(to, to_d, from, from_d, &mut |to, from| {
            ptr::copy_nonoverlapping(from, to, size);
        });
    }
}

unsafe fn copy_overlapping(
    to: *mut u8,
    to_d: &[Dimension],
    from: *mut u8,
    from_d: &[Dimension],
    element_bytes: i64,
) {
    let _busy = crate::flavour::busy();
    // SAFETY: `to` has as many elements as `from`, so `next` stays within the gathered bytes. The
    // copy overlaps neither.
    unsafe {
        let copy = gather(from, from_d, element_bytes);
        let mut next = copy.as_ptr();
        pairs(to, to_d, from, from_d, &mut |to, _| {
            ptr::copy_nonoverlapping(next, to, element_bytes as usize);
            next = next.add(element_bytes as usize);
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_array_copy_strings(
    at: At,
    dimensions: i32,
    to: *mut u8,
    to_d: *const Dimension,
    to_maximum: i32,
    from: *mut u8,
    from_d: *const Dimension,
) {
    // SAFETY: generated code passes two views of strings, each with its length before its
    // characters. The lengths are checked before anything is written, and `texts` holds as many
    // strings as `to`.
    unsafe {
        let _busy = crate::flavour::busy();
        let (to_d, from_d) = (slice(to_d, dimensions), slice(from_d, dimensions));
        if !check_sizes(at, to_d, from_d) {
            return;
        }
        let mut number = i64::from(from_d.first().map_or(1, |d| d.low));
        // Read first, since both may be parts of one array.
        let mut texts = Vec::new();
        pairs(from, from_d, from, from_d, &mut |_, from| {
            let length = *from.cast::<i32>();
            if length > to_maximum {
                abort(
                    at,
                    &format!(
                        "element {number} (length={length}) is too long to assign to string[{to_maximum}]"
                    ),
                );
            }
            number += 1;
            let bytes = size_of::<i32>() + length.max(0) as usize;
            texts.extend_from_slice(std::slice::from_raw_parts(from, bytes));
        });
        let mut next = texts.as_ptr();
        pairs(to, to_d, to, to_d, &mut |to, _| {
            let bytes = size_of::<i32>() + next.cast::<i32>().read_unaligned().max(0) as usize;
            ptr::copy_nonoverlapping(next, to, bytes);
            next = next.add(bytes);
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_array_swap(
    at: At,
    dimensions: i32,
    element_bytes: i64,
    a: *mut u8,
    a_d: *const Dimension,
    b: *mut u8,
    b_d: *const Dimension,
) {
    // SAFETY: generated code passes two views with that many dimensions, which are equal or do not
    // overlap.
    unsafe {
        let (a_d, b_d) = (slice(a_d, dimensions), slice(b_d, dimensions));
        if check_sizes(at, a_d, b_d) {
            pairs(a, a_d, b, b_d, &mut |a, b| {
                swap(a, b, element_bytes as usize)
            });
        }
    }
}

unsafe fn swap(a: *mut u8, b: *mut u8, bytes: usize) {
    if a != b {
        // SAFETY: by the callers' contract both have that many bytes; if they differ they do not
        // overlap.
        unsafe { ptr::swap_nonoverlapping(a, b, bytes) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_swap(a: *mut u8, b: *mut u8, bytes: usize) {
    // SAFETY: generated code swaps two variables of one type.
    unsafe { swap(a, b, bytes) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_array_fill(
    dimensions: i32,
    element_bytes: i64,
    to: *mut u8,
    d: *const Dimension,
    value: *const u8,
) {
    // SAFETY: generated code passes a view with that many dimensions, and a value of its element's
    // type. The value is an element of the view or lies outside.
    unsafe {
        let d = slice(d, dimensions);
        pairs(to, d, to, d, &mut |to, _| {
            if !ptr::eq(to, value) {
                ptr::copy_nonoverlapping(value, to, element_bytes as usize);
            }
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_text_of_chars(at: At, data: *const u8, d: *const Dimension) -> Text {
    // SAFETY: generated code passes an array of characters with its one dimension. The copy has
    // room for all of them.
    unsafe {
        let d = *d;
        let length = d.length().clamp(0, i64::from(i32::MAX));
        let copy = if d.stride == 1 || length <= 1 {
            data
        } else {
            let copy: *mut u8 = exports::allocate(at, length).cast();
            for n in 0..length {
                *copy.offset(n as isize) = *data.offset((n * d.stride) as isize);
            }
            copy
        };
        Text {
            data: copy,
            length: length as i32,
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_string_swap(at: At, a: StringPlace, b: StringPlace) {
    // SAFETY: generated code passes the places of two strings, each with room for its maximum. Each
    // has room for the other one's characters, as was checked.
    unsafe {
        for (from, to) in [(a, b), (b, a)] {
            let length = *from.length;
            if length > to.maximum {
                abort(
                    at,
                    &format!(
                        "string of length {length} is too long to assign to string[{}]",
                        to.maximum
                    ),
                );
            }
        }
        let longest = (*a.length).max(*b.length).max(0) as usize;
        swap(a.data, b.data, longest);
        ptr::swap(a.length, b.length);
    }
}

//! The elements of a part: memory of C, and its form in messages.

use std::ffi::c_char;
use std::sync::Arc;

use antiphon_panda::DecodeError;
use orca::partitioned::{Access, Part, Plan};

use crate::layout::{self, ArrayType, Reader, Writer};
use crate::objects::malformed;

/// The elements of a part, in C.
pub(super) struct Elements {
    pub of: &'static ArrayType,
    pub memory: *mut c_char,
    pub count: usize,
}

// SAFETY: the elements own the memory, and reading C code does not change it.
unsafe impl Send for Elements {}
// SAFETY: as above.
unsafe impl Sync for Elements {}

impl Drop for Elements {
    fn drop(&mut self) {
        // SAFETY: the memory holds this many elements, or is null.
        unsafe { layout::orca_elements_free(self.of.element, self.memory, self.count) }
    }
}

impl Elements {
    pub fn new(of: &'static ArrayType, count: usize) -> Self {
        Self {
            of,
            // SAFETY: the descriptor is a constant of the program.
            memory: unsafe { layout::orca_elements_new(of.element, count) },
            count,
        }
    }

    pub fn zeros(of: &'static ArrayType, count: usize) -> Self {
        // SAFETY: as above.
        let memory =
            unsafe { layout::orca_allocate(std::ptr::null(), count.max(1), (*of.element).size) };
        Self {
            of,
            memory: memory.cast(),
            count,
        }
    }

    pub fn copy(&self) -> Self {
        Self {
            of: self.of,
            // SAFETY: the memory holds this many elements.
            memory: unsafe { layout::orca_elements_copy(self.of.element, self.memory, self.count) },
            count: self.count,
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.append(&(self.count as u64).to_le_bytes());
        // SAFETY: as above.
        unsafe {
            layout::orca_elements_put(self.of.element, self.memory, self.count, &mut writer);
        }
        writer.take()
    }

    pub fn decode(of: &'static ArrayType, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::of(bytes);
        let count = number(&mut reader).unwrap_or(u64::MAX);
        // SAFETY: the descriptor is a constant of the program.
        let fields = unsafe { (*of.element).count };
        // A field has at least one byte in the message.
        let most = match fields {
            0 => u64::from(u32::MAX),
            _ => bytes.len() as u64,
        };
        if count > most {
            return Err(malformed("part of a partitioned object", &reader));
        }
        let elements = Self::zeros(of, count as usize);
        // SAFETY: the memory of zeros holds no values.
        let is_read = unsafe {
            layout::orca_elements_get(of.element, elements.memory, elements.count, &mut reader)
        };
        match is_read {
            true => Ok(elements),
            false => Err(malformed("part of a partitioned object", &reader)),
        }
    }
}

pub(super) fn number(reader: &mut Reader) -> Option<u64> {
    let bytes = take(reader, size_of::<u64>())?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Takes bytes from a reader.
pub(super) fn take<'a>(reader: &mut Reader, count: usize) -> Option<&'a [u8]> {
    let left = reader.end as usize - reader.next as usize;
    if count > left {
        return None;
    }
    // SAFETY: the reader has this many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(reader.next, count) };
    // SAFETY: as above.
    reader.next = unsafe { reader.next.add(count) };
    Some(bytes)
}

pub(super) fn elements_of(part: &Arc<Part>) -> &Elements {
    part.downcast_ref().expect("the parts of this type")
}

/// Returns a part of a new distribution, with the values that elements had before.
pub(super) fn regroup(
    of: &'static ArrayType,
    access: &Access<'_>,
    plan: &Plan,
    part: usize,
) -> Arc<Part> {
    let block = &plan.blocks()[part];
    let new = Elements::zeros(of, block.size());
    // SAFETY: the descriptor is a constant of the program.
    let size = unsafe { (*of.element).size };
    for (place, index) in block.indices().enumerate() {
        let Some((part, at)) = access.plan().find(index) else {
            continue;
        };
        let Some(from) = access.try_part(part).map(elements_of) else {
            continue;
        };
        if at < from.count {
            // SAFETY: both places are within their parts, and the new one holds no value.
            unsafe {
                let (to, from) = (new.memory.add(place * size), from.memory.add(at * size));
                layout::orca_copy(of.element, to.cast(), from.cast());
            }
        }
    }
    Arc::new(new)
}

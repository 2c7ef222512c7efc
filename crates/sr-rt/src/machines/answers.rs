//! Questions that panda's threads answer by themselves, while processes of this machine may run.

use crate::layout::{Cap, Instance, kind};

/// Returns bytes of an instance; none if it no longer exists.
pub fn peek(instance: u64, serial: u32, offset: u64, bytes: u32) -> Option<Vec<u8>> {
    let instance = instance as *const Instance;
    // SAFETY: this machine has given out the address, and instances are never unmapped. The bytes
    // are written before the instance's capability is given out.
    unsafe {
        if (&raw const (*instance).serial).read_volatile() != serial {
            return None;
        }
        let from = instance.byte_add(offset as usize).cast::<u8>();
        Some(std::slice::from_raw_parts(from, bytes as usize).to_vec())
    }
}

/// Returns how many invocations of an operation are pending; none if it no longer exists.
pub fn pending(cap: Cap) -> Option<Vec<u8>> {
    // SAFETY: operations are never unmapped; the count may be slightly out of date.
    unsafe {
        let op = super::operation(cap)?;
        let count = match (*op).kind {
            kind::INPUT => (&raw const (*op).pending).read_volatile(),
            // The value is a semaphore's first field.
            kind::SEMAPHORE => (*op).target.semaphore.cast::<i32>().read_volatile().max(0),
            _ => 0,
        };
        Some(count.to_le_bytes().to_vec())
    }
}

//! Space of long frames, used again: fresh memory costs a fault a page, which is more than the copy.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

/// Spaces that are kept, and the longest of them in bytes: two MiB and headers.
const KEPT: usize = 4;
const LONGEST: usize = (2 << 20) + 256;

/// Spaces of frames that the program is done with.
#[derive(Debug, Clone, Default)]
pub struct Pool(Arc<Mutex<Vec<Vec<u8>>>>);

/// A frame's bytes, whose space goes back.
struct Lent {
    bytes: Vec<u8>,
    pool: Pool,
}

impl Pool {
    /// Empty space, perhaps with room.
    pub fn space(&self) -> Vec<u8> {
        self.0.lock().pop().unwrap_or_default()
    }

    /// A frame in such space.
    pub fn frame(&self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Lent {
            bytes,
            pool: self.clone(),
        })
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut space = std::mem::take(&mut self.bytes);
        let mut kept = self.pool.0.lock();
        if kept.len() < KEPT && space.capacity() <= LONGEST {
            space.clear();
            kept.push(space);
        }
    }
}

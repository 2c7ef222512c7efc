//! The buffers of a program by their ids, and the two that are active.

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::buffer::{Buffer, Encoding, Info};
use crate::code::Code;
use crate::tid::Tid;

/// The buffers of a program.
#[derive(Default)]
pub struct Buffers {
    all: BTreeMap<c_int, Buffer>,
    last: c_int,
    /// The active send buffer; 0 if there is none.
    sends: c_int,
    /// The active receive buffer; 0 if there is none.
    receives: c_int,
}

impl Buffers {
    /// Makes an empty buffer, and returns its id.
    pub fn make(&mut self, encoding: Encoding, source: Tid) -> c_int {
        let info = Info {
            context: 0,
            tag: 0,
            wait_id: 0,
            source,
            destination: Tid(0),
        };
        self.add(Buffer::new(encoding, info))
    }

    /// Adds a buffer, and returns its id.
    pub fn add(&mut self, buffer: Buffer) -> c_int {
        // An id is reused only after all others.
        loop {
            self.last = self.last.checked_add(1).unwrap_or(1);
            if !self.all.contains_key(&self.last) {
                self.all.insert(self.last, buffer);
                return self.last;
            }
        }
    }

    /// Returns a buffer.
    ///
    /// # Errors
    /// [`Code::BAD_PARAM`], [`Code::NO_SUCH_BUF`].
    pub fn get(&mut self, id: c_int) -> Result<&mut Buffer, Code> {
        if id <= 0 {
            return Err(Code::BAD_PARAM);
        }
        self.all.get_mut(&id).ok_or(Code::NO_SUCH_BUF)
    }

    /// Frees a buffer. Freeing buffer 0 is no error.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn free(&mut self, id: c_int) -> Result<(), Code> {
        match id {
            0 => return Ok(()),
            ..0 => return Err(Code::BAD_PARAM),
            _ => {}
        }
        self.all.remove(&id).ok_or(Code::NO_SUCH_BUF)?;
        for chosen in [&mut self.sends, &mut self.receives] {
            if *chosen == id {
                *chosen = 0;
            }
        }
        Ok(())
    }

    /// Returns the ids of the active send and receive buffers.
    #[must_use]
    pub fn chosen(&self) -> (c_int, c_int) {
        (self.sends, self.receives)
    }

    /// Makes a buffer the active send buffer, and returns the one before.
    ///
    /// # Errors
    /// As [`get`](Self::get), but 0 chooses none.
    pub fn choose_to_send(&mut self, id: c_int) -> Result<c_int, Code> {
        if id != 0 {
            self.get(id)?.begin_packing();
            // One buffer cannot be both.
            if self.receives == id {
                self.receives = 0;
            }
        }
        Ok(std::mem::replace(&mut self.sends, id))
    }

    /// Makes a buffer the active receive buffer, and returns the one before.
    ///
    /// # Errors
    /// As [`choose_to_send`](Self::choose_to_send).
    pub fn choose_to_receive(&mut self, id: c_int) -> Result<c_int, Code> {
        if id != 0 {
            self.get(id)?.begin_unpacking();
            if self.sends == id {
                self.sends = 0;
            }
        }
        Ok(std::mem::replace(&mut self.receives, id))
    }

    /// Makes a received message the active receive buffer, and frees the one before.
    pub fn replace_received(&mut self, id: c_int) {
        let before = std::mem::replace(&mut self.receives, id);
        if before != id {
            self.all.remove(&before);
        }
    }

    /// Returns the active send buffer.
    ///
    /// # Errors
    /// [`Code::NO_BUF`].
    pub fn packed(&mut self) -> Result<&mut Buffer, Code> {
        self.all.get_mut(&self.sends).ok_or(Code::NO_BUF)
    }

    /// Returns the active receive buffer.
    ///
    /// # Errors
    /// [`Code::NO_BUF`].
    pub fn unpacked(&mut self) -> Result<&mut Buffer, Code> {
        self.all.get_mut(&self.receives).ok_or(Code::NO_BUF)
    }

    /// Removes a buffer, and returns it.
    pub fn take(&mut self, id: c_int) -> Option<Buffer> {
        self.all.remove(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_buffer_is_not_packed_and_unpacked_at_once() {
        let mut buffers = Buffers::default();
        let id = buffers.make(Encoding::Xdr, Tid(0));
        assert_eq!(buffers.choose_to_send(id), Ok(0));
        assert_eq!(buffers.choose_to_receive(id), Ok(0));
        assert_eq!(buffers.chosen(), (0, id));
        assert_eq!(buffers.choose_to_send(id), Ok(0));
        assert_eq!(buffers.chosen(), (id, 0));
        assert_eq!(buffers.free(id), Ok(()));
        assert_eq!(buffers.chosen(), (0, 0));
        assert_eq!(buffers.free(id), Err(Code::NO_SUCH_BUF));
        assert_eq!(buffers.free(0), Ok(()));
        assert_eq!(buffers.free(-1), Err(Code::BAD_PARAM));
    }
}

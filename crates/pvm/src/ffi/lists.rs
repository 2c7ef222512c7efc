//! Arrays that the library lends to the program until the next call of the same function.

use std::ffi::{CString, c_char, c_int};
use std::ptr;

use parking_lot::Mutex;

/// A host, in the form of `pvm_config`.
#[repr(C)]
pub struct Host {
    pub tid: c_int,
    pub name: *mut c_char,
    pub arch: *mut c_char,
    pub speed: c_int,
    pub signature: c_int,
}

/// A task, in the form of `pvm_tasks`.
#[repr(C)]
pub struct Task {
    pub tid: c_int,
    pub parent: c_int,
    pub host: c_int,
    pub flag: c_int,
    pub name: *mut c_char,
    pub pid: c_int,
}

/// Mailbox entries of one name, in the form of `pvm_getmboxinfo`.
#[repr(C)]
pub struct Class {
    pub name: *mut c_char,
    pub count: c_int,
    pub indices: *mut c_int,
    pub owners: *mut c_int,
    pub flags: *mut c_int,
}

/// The lent list, and the memory to which it points.
pub struct Lent<T> {
    entries: Vec<T>,
    texts: Vec<CString>,
    numbers: Vec<Vec<c_int>>,
}

// SAFETY: the pointers lead into the list itself, which moves with them.
unsafe impl<T> Send for Lent<T> {}

impl<T> Default for Lent<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            texts: Vec::new(),
            numbers: Vec::new(),
        }
    }
}

impl<T> Lent<T> {
    /// Stores a text, and returns its address.
    pub fn text(&mut self, text: &str) -> *mut c_char {
        self.texts.push(super::c_text(text));
        self.texts
            .last()
            .map_or(ptr::null_mut(), |text| text.as_ptr().cast_mut())
    }

    /// Stores numbers, and returns their address.
    pub fn numbers(&mut self, numbers: Vec<c_int>) -> *mut c_int {
        self.numbers.push(numbers);
        self.numbers
            .last_mut()
            .map_or(ptr::null_mut(), |numbers| numbers.as_mut_ptr())
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: T) {
        self.entries.push(entry);
    }

    /// Returns the number of entries.
    pub fn count(&self) -> c_int {
        c_int::try_from(self.entries.len()).unwrap_or(c_int::MAX)
    }

    /// Lends it in place of the last one, and returns its address.
    pub fn lend_in(self, place: &Mutex<Option<Self>>) -> *mut T {
        place.lock().insert(self).entries.as_mut_ptr()
    }
}

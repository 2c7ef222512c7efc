//! Conversions of C arguments to Rust. A missing pointer is an error that names the argument.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::status::{Failure, PANDA_ANY, PANDA_FOREVER};

/// Releases the target of a context. It is called once, on any thread, and must not wait. It may
/// run inside a send, or while the library holds locks. So it must not call library functions on a
/// session, or on its ports, calls, groups and communicators. It must not take a mutex that any
/// thread holds during a send.
pub type panda_release = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// Returns an argument that must not be NULL.
#[inline]
pub(crate) fn given<T>(pointer: Option<T>, argument: &'static str) -> Result<T, Failure> {
    pointer.ok_or_else(|| is_null(argument))
}

#[cold]
fn is_null(argument: &'static str) -> Failure {
    Failure::argument(argument, "is NULL")
}

/// Returns a timeout; `None` means no limit.
#[inline]
pub(crate) fn time(nanoseconds: u64) -> Option<Duration> {
    (nanoseconds != PANDA_FOREVER).then(|| Duration::from_nanos(nanoseconds))
}

/// Returns a rank or tag; `None` means any.
#[inline]
pub(crate) fn any(number: u32) -> Option<u32> {
    (number != PANDA_ANY).then_some(number)
}

/// Returns a string.
///
/// # Safety
/// It is NULL or ends with a zero byte, and does not change during `'a`.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    argument: &'static str,
) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(is_null(argument));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str()
        .map_err(|_| Failure::argument(argument, "is not text in UTF-8"))
}

/// Returns an array, which may be NULL if it is empty.
///
/// # Safety
/// It is NULL or has the given length, and does not change during `'a`.
pub(crate) unsafe fn array<'a, T>(
    pointer: *const T,
    count: usize,
    argument: &'static str,
) -> Result<&'a [T], Failure> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(is_null(argument)),
        // SAFETY: the caller's promise.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// Returns an array that is written to, and may be uninitialized.
///
/// # Safety
/// It is NULL or has the given length, and nothing else refers to it during `'a`.
pub(crate) unsafe fn room<'a, T>(
    pointer: *mut T,
    count: usize,
    argument: &'static str,
) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    match (count, pointer.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(is_null(argument)),
        // SAFETY: the caller's promise; room for a value may hold anything.
        (_, false) => Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), count) }),
    }
}

/// Writes as many values as there is room for, and returns how many there are.
pub(crate) fn fill<T: Copy>(room: &mut [MaybeUninit<T>], values: &[T]) -> usize {
    for (place, value) in room.iter_mut().zip(values) {
        place.write(*value);
    }
    values.len()
}

/// Writes a text as `snprintf` does, with a zero byte after the part that fits, and returns its
/// length.
pub(crate) fn fill_text(room: &mut [MaybeUninit<c_char>], text: &str) -> usize {
    let mut kept = text.len().min(room.len().saturating_sub(1));
    while !text.is_char_boundary(kept) {
        kept -= 1;
    }
    let bytes = text.as_bytes()[..kept].iter().chain([&0]);
    for (place, byte) in room.iter_mut().zip(bytes) {
        place.write(byte.cast_signed() as c_char);
    }
    text.len()
}

/// Ends the process when it is dropped, that is, when the guarded call ends other than by
/// returning.
struct MustReturn;

impl Drop for MustReturn {
    fn drop(&mut self) {
        // (A closed standard error is no reason to continue.)
        let _ = writeln!(
            std::io::stderr(),
            "libpanda: panda_thread_exit or an exception left a callback, which must return"
        );
        std::process::abort();
    }
}

/// Calls a function of the program. All functions but the bodies of threads are called here. An
/// exception or exit out of them would unwind frames that hold locks and owe others an answer. Rust
/// cannot catch exceptions of other languages, so this ends the process on their way out. (If no
/// frame further up would catch an exception, the C++ run-time ends the process, with another
/// message.)
#[inline]
pub(crate) fn called<V>(call: impl FnOnce() -> V) -> V {
    let guard = MustReturn;
    let value = call();
    std::mem::forget(guard);
    value
}

/// A function of the program with its context, which is released in the end.
pub(crate) struct Upcall<F> {
    function: Option<F>,
    context: Context,
}

/// A context, which is released in the end.
pub(crate) struct Context {
    pointer: *mut c_void,
    release: panda_release,
}

// SAFETY: the header says that contexts are used and released on any thread, one at a time.
unsafe impl Send for Context {}
// SAFETY: a shared reference only allows to read the pointer.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(pointer: *mut c_void, release: panda_release) -> Self {
        Self { pointer, release }
    }

    /// Returns the pointer as the program gave it. (A method, so that a closure captures all of
    /// `self`.)
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the program gave both for this, and it happens once.
            called(|| unsafe { release(self.pointer) });
        }
    }
}

impl<F: Copy> Upcall<F> {
    pub(crate) fn new(function: Option<F>, context: *mut c_void, release: panda_release) -> Self {
        let context = Context::new(context, release);
        Self { function, context }
    }

    /// Checks that there is a function.
    pub(crate) fn given(self) -> Result<Self, Failure> {
        match self.function {
            Some(_) => Ok(self),
            None => Err(is_null("upcall")),
        }
    }

    /// Makes `call` call the function.
    pub(crate) fn call(&self, call: impl FnOnce(F, *mut c_void)) {
        if let Some(function) = self.function {
            called(|| call(function, self.context.pointer()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let written = |space: usize| {
            let mut room = vec![MaybeUninit::new(1); space];
            assert_eq!(fill_text(&mut room, "aé"), 3);
            // SAFETY: all bytes were written before.
            let bytes = room.iter().map(|byte| unsafe { byte.assume_init() });
            bytes.map(|byte| byte as u8).collect::<Vec<_>>()
        };
        assert_eq!(written(0), b"");
        assert_eq!(written(1), b"\0");
        assert_eq!(written(3), b"a\0\x01");
        assert_eq!(written(5), "aé\0\x01".as_bytes());
    }
}

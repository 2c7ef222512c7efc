//! What C gives, as Rust has it: absent pointers are errors that name the argument.

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::status::{Failure, PANDA_ANY, PANDA_FOREVER};

/// Lets go of what a context points to. Called once, on any thread; it must not wait. It may run inside a send or while the library holds locks, so it calls no function of the library on a
/// session or on what belongs to one (ports, calls, groups, communicators), and takes no mutex that anybody holds around a send.
pub type panda_release = Option<unsafe extern "C-unwind" fn(context: *mut c_void)>;

/// Something that must not be NULL.
#[inline]
pub(crate) fn given<T>(pointer: Option<T>, argument: &'static str) -> Result<T, Failure> {
    pointer.ok_or_else(|| is_null(argument))
}

#[cold]
fn is_null(argument: &'static str) -> Failure {
    Failure::argument(argument, "is NULL")
}

/// A time of the caller's; none is for ever.
#[inline]
pub(crate) fn time(nanoseconds: u64) -> Option<Duration> {
    (nanoseconds != PANDA_FOREVER).then(|| Duration::from_nanos(nanoseconds))
}

/// A rank or tag that may be any.
#[inline]
pub(crate) fn any(number: u32) -> Option<u32> {
    (number != PANDA_ANY).then_some(number)
}

/// A string.
///
/// # Safety
/// It is absent or ends with a zero byte, and stays as it is for `'a`.
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

/// An array, which may be absent if it is empty.
///
/// # Safety
/// It is absent or as long as is said, and stays as it is for `'a`.
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

/// An array that is written to, whatever it holds.
///
/// # Safety
/// It is absent or as long as is said, and nobody else's for `'a`.
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

/// Writes as much as there is room for; how much there is.
pub(crate) fn fill<T: Copy>(room: &mut [MaybeUninit<T>], values: &[T]) -> usize {
    for (place, value) in room.iter_mut().zip(values) {
        place.write(*value);
    }
    values.len()
}

/// Writes a text as `snprintf` does, with a zero byte behind what there is room for; its length.
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

/// Ends the process when it is dropped, so when what it guards is left otherwise than by returning.
struct MustReturn;

impl Drop for MustReturn {
    fn drop(&mut self) {
        // (A closed standard error is no reason to go on.)
        let _ = writeln!(
            std::io::stderr(),
            "libpanda: panda_thread_exit or an exception left a callback, which must return"
        );
        std::process::abort();
    }
}

/// Calls a function of the program's. All but the bodies of threads are called here, because what would leave them would go on through frames that hold locks and owe others an answer. It is not
/// caught, but ends the process on its way out, since Rust cannot catch exceptions of other languages. (Where nobody further up would catch it either, who throws it ends the process, in other
/// words.)
#[inline]
pub(crate) fn called<V>(call: impl FnOnce() -> V) -> V {
    let guard = MustReturn;
    let value = call();
    std::mem::forget(guard);
    value
}

/// A function of the program's with its context, which is let go of in the end.
pub(crate) struct Upcall<F> {
    function: Option<F>,
    context: Context,
}

/// A context, which is let go of in the end.
pub(crate) struct Context {
    pointer: *mut c_void,
    release: panda_release,
}

// SAFETY: the header says that contexts are used and let go of on any thread, one at a time.
unsafe impl Send for Context {}
// SAFETY: nothing is done by a shared reference but to read the pointer.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn new(pointer: *mut c_void, release: panda_release) -> Self {
        Self { pointer, release }
    }

    /// As the program gave it. (A method, so that a closure that uses it keeps all of this.)
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

    /// That there is a function.
    pub(crate) fn given(self) -> Result<Self, Failure> {
        match self.function {
            Some(_) => Ok(self),
            None => Err(is_null("upcall")),
        }
    }

    /// Has it called.
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
            // SAFETY: all was written before.
            let bytes = room.iter().map(|byte| unsafe { byte.assume_init() });
            bytes.map(|byte| byte as u8).collect::<Vec<_>>()
        };
        assert_eq!(written(0), b"");
        assert_eq!(written(1), b"\0");
        assert_eq!(written(3), b"a\0\x01");
        assert_eq!(written(5), "aé\0\x01".as_bytes());
    }
}

//! The functions that C programs call.

use std::ffi::{CStr, CString, c_char, c_int};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::Code;
use crate::options::AUTO_ERROR;
use crate::state::{alone, own_tid, with};

mod buffers;
mod fortran;
mod groups;
mod lists;
mod mailbox;
mod messages;
mod packing;
mod processes;

/// Runs a function of the library, and reports a failure as the program has chosen.
fn call(name: &str, act: impl FnOnce() -> Result<c_int, Code>) -> c_int {
    alone(|| {
        // A panic is a bug of the library. It must not unwind into the program's frames.
        let outcome = catch_unwind(AssertUnwindSafe(act)).unwrap_or(Err(Code::SYS_ERR));
        outcome.unwrap_or_else(|code| report(name, code))
    })
}

/// The same for functions without a result.
fn call_unit(name: &str, act: impl FnOnce() -> Result<(), Code>) -> c_int {
    call(name, || act().map(|()| 0))
}

/// Runs a function whose failures PVM records without a message.
fn call_quietly(act: impl FnOnce() -> Result<c_int, Code>) -> c_int {
    alone(|| {
        let outcome = catch_unwind(AssertUnwindSafe(act)).unwrap_or(Err(Code::SYS_ERR));
        outcome.unwrap_or_else(|code| {
            with(|state| state.last_code = code.0);
            code.0
        })
    })
}

/// Records a failure, and prints it if the program wants that.
fn report(name: &str, code: Code) -> c_int {
    let how = with(|state| {
        state.last_code = code.0;
        state.options.get(AUTO_ERROR).unwrap_or(0)
    });
    if how != 0 {
        say(&format!("{name}(): {}", code.text().to_string_lossy()));
    }
    match how {
        2 => std::process::exit(code.0),
        3 => std::process::abort(),
        _ => code.0,
    }
}

/// Writes a line in the form of PVM's own.
pub fn say(text: &str) {
    let who = match own_tid() {
        Some(tid) => tid.to_string(),
        None => format!("pid{}", std::process::id()),
    };
    let _ = writeln!(std::io::stderr(), "libpvm [{who}]: {text}");
}

/// Returns a text of the program.
///
/// # Errors
/// [`Code::BAD_PARAM`]: it is NULL.
///
/// # Safety
/// The text ends with a zero, or is NULL.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a CStr, Code> {
    match text.is_null() {
        true => Err(Code::BAD_PARAM),
        // SAFETY: as the caller says.
        false => Ok(unsafe { CStr::from_ptr(text) }),
    }
}

/// Returns a text as a name; empty if it is NULL.
///
/// # Safety
/// As for [`text`].
unsafe fn name(of: *const c_char) -> String {
    // SAFETY: as the caller says.
    let text = unsafe { text(of) };
    text.map_or_else(
        |_| String::new(),
        |text| text.to_string_lossy().into_owned(),
    )
}

/// Writes a result, unless the pointer is NULL.
///
/// # Safety
/// The pointer is NULL, or has room for the value.
unsafe fn put<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: as the caller says.
        unsafe { at.write(value) };
    }
}

/// Returns an array of the program.
///
/// # Errors
/// [`Code::BAD_PARAM`]: it is NULL although its length is not 0, or its length is negative.
///
/// # Safety
/// The array has `count` elements.
unsafe fn slice<'a, T>(at: *const T, count: c_int) -> Result<&'a [T], Code> {
    match usize::try_from(count) {
        Ok(0) => Ok(&[]),
        Ok(count) if !at.is_null() => {
            // SAFETY: as the caller says.
            Ok(unsafe { std::slice::from_raw_parts(at, count) })
        }
        _ => Err(Code::BAD_PARAM),
    }
}

/// Returns a text for C, without zero bytes.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Records and prints a failure that the program, or the C part of the library, has found.
///
/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn lpvmerr(function: *const c_char, code: c_int) -> c_int {
    // SAFETY: as the caller says.
    let function = unsafe { name(function) };
    alone(|| report(&function, Code(code)))
}

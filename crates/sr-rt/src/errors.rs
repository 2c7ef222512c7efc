//! Errors of the running program: a message with the place, the values and the process, exit code
//! 1, no finals.

use std::ffi::c_char;

use crate::layout::{At, name_of};
use crate::{ending, machines, options, process, report};

/// "file f, line n".
pub fn place(at: At) -> String {
    // SAFETY: places are static locations of the generated program.
    match unsafe { at.as_ref() } {
        None => "unknown location".into(),
        Some(location) => format!(
            "file {}, line {}",
            // SAFETY: file names are static.
            unsafe { name_of(location.file) },
            location.line
        ),
    }
}

/// Ends the program with a message.
pub fn abort(at: At, message: &str) -> ! {
    process::die_if_killed();
    let text = if at.is_null() {
        format!("RTS abort: {message}\n")
    } else {
        format!("RTS abort: {}:\n   {message}\n", place(at))
    };
    end(&text)
}

/// The same for errors for which original SR prints no place.
pub fn abort_somewhere(at: At, message: &str) -> ! {
    let at = if options::get().is_plain {
        std::ptr::null()
    } else {
        at
    };
    abort(at, message)
}

fn end(text: &str) -> ! {
    let mut text = format!("{}{text}", machines::prefix());
    if !options::get().is_plain
        && let Some(name) = report::running()
    {
        text.push_str(&format!("   in process {name}\n"));
    }
    say(&text);
    ending::exit(1)
}

/// "RTS warning: ..."
pub fn warn(message: &str) {
    say(&format!("{}RTS warning: {message}\n", machines::prefix()));
}

/// Writes to standard error in one piece, after what the program wrote to standard output.
pub fn say(text: &str) {
    crate::files::flush_standard_output();
    if machines::is_guest() {
        return machines::relay(2, text.as_bytes());
    }
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: writes a slice.
        let written = unsafe { libc::write(2, rest.as_ptr().cast(), rest.len()) };
        if written <= 0 {
            return;
        }
        rest = &rest[written as usize..];
    }
}

/// Defines error functions of the contract, whose parameters are values for their messages.
macro_rules! errors {
    ($($(#[$doc:meta])* fn $name:ident($($value:ident: $type:ty),*) => $message:literal;)*) => {
        $($(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $name(at: At $(, $value: $type)*) -> ! {
            abort(at, &format!($message))
        })*
    };
}

errors! {
    fn sr_bad_subscript(i: i32, low: i32, high: i32) => "illegal subscript [{i}] of array with bounds [{low}:{high}]";
    fn sr_bad_string_subscript(i: i32, maximum: i32, length: i32) => "illegal subscript [{i}] of string[{maximum}] with current length {length}";
    fn sr_bad_slice(from: i32, to: i32, low: i32, high: i32) => "illegal slice [{from}:{to}] of array with bounds [{low}:{high}]";
    fn sr_bad_string_slice(from: i32, to: i32, maximum: i32, length: i32) => "illegal slice [{from}:{to}] of string[{maximum}] with current length {length}";
    fn sr_bad_bounds(low: i32, high: i32) => "illegal bounds [{low}:{high}] for array creation";
    fn sr_bad_sizes(low: i32, high: i32, from_low: i32, from_high: i32) => "size mismatch on array assignment:  [{low}:{high}] := [{from_low}:{from_high}]";
    fn sr_bad_slice_size(from: i32, to: i32, low: i32, high: i32) => "size mismatch on assignment to slice: [{from}:{to}] := [{low}:{high}]";
    fn sr_bad_repetition(count: i32) => "illegal repetition count {count} in array constructor";
    fn sr_bad_char(value: i32) => "illegal conversion: char({value})";
    fn sr_bad_string_length(length: i32, maximum: i32) => "string of length {length} is too long to assign to string[{maximum}]";
    fn sr_bad_string_slice_length(length: i32, from: i32, to: i32) => "string of length {length} is wrong length to assign to slice [{from}:{to}]";
    fn sr_bad_real(value: f64) => "illegal conversion: int({value}) is outside of int";
    fn sr_null_pointer() => "use of a null pointer";
}

/// # Safety
/// The type's name is a static text.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_bad_value(at: At, ty: *const c_char, value: i32, low: i32, high: i32) -> ! {
    // SAFETY: by the contract.
    let ty = unsafe { name_of(ty) };
    abort(
        at,
        &format!("illegal value {value} of {ty}, which has [{low}:{high}]"),
    )
}

/// # Safety
/// The operator is a static text.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_division_by_zero(at: At, operator: *const c_char) -> ! {
    // SAFETY: by the contract.
    let operator = unsafe { name_of(operator) };
    abort(at, &format!("division by zero: i {operator} j with j=0"))
}

/// # Safety
/// The message is a text that ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_abort(at: At, message: *const c_char) -> ! {
    // SAFETY: by the contract.
    abort(at, unsafe { name_of(message) })
}

/// # Safety
/// The message is a text that ends with a zero.
#[unsafe(no_mangle)]
unsafe extern "C" fn sr_warn(message: *const c_char) {
    // SAFETY: by the contract.
    warn(unsafe { name_of(message) });
}

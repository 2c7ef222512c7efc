//! Values as text: `write` and similar functions, and the formats of `printf`.

use std::ffi::{c_char, c_void};

use crate::errors::abort;
use crate::layout::{At, StringPlace, Text, Value};
use crate::{files, flavour};

/// Formats a pointer: eight hexadecimal digits, or `==null==`.
pub fn pointer(value: *const c_void) -> Vec<u8> {
    if value.is_null() {
        b"==null==".to_vec()
    } else {
        format!("{:08X}", value as usize).into_bytes()
    }
}

/// Appends a value as `write` shows it.
unsafe fn show(out: &mut Vec<u8>, value: &Value) {
    // SAFETY: the kind says which of the bits are set.
    unsafe {
        match value.kind {
            b'b' if value.bits.i != 0 => out.extend_from_slice(b"true"),
            b'b' => out.extend_from_slice(b"false"),
            b'c' => out.push(value.bits.i as u8),
            b'r' => print(out, b"%#g", |buffer, size, format| {
                libc::snprintf(buffer, size, format, value.bits.r)
            }),
            b'p' => out.extend_from_slice(&pointer(value.bits.p)),
            b's' | b'a' => out.extend_from_slice(text_of(value).bytes()),
            _ => {
                use std::io::Write;
                let _ = write!(out, "{}", value.bits.i);
            }
        }
    }
}

unsafe fn text_of(value: &Value) -> Text {
    Text {
        // SAFETY: the callers pass a text or an array of characters, whose bits are its address.
        data: unsafe { value.bits.p }.cast(),
        length: value.length,
    }
}

/// Appends what the C library prints by a format of one conversion.
fn print(
    out: &mut Vec<u8>,
    format: &[u8],
    printed: impl Fn(*mut c_char, usize, *const c_char) -> i32,
) {
    let mut format = format.to_vec();
    format.push(0);
    let format = format.as_ptr().cast();
    let length = printed(std::ptr::null_mut(), 0, format).max(0) as usize;
    let start = out.len();
    out.resize(start + length + 1, 0);
    printed(out[start..].as_mut_ptr().cast(), length + 1, format);
    out.pop();
}

/// Appends values by a format. Stops at an error in the format and returns a description of it.
///
/// # Safety
/// The values are as in the contract.
pub unsafe fn format(
    out: &mut Vec<u8>,
    format: &[u8],
    values: &[Value],
) -> Result<(), &'static str> {
    let mut values = values.iter();
    let mut rest = format;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        if c != b'%' {
            out.push(c);
            continue;
        }
        let is_end = |c: &u8| c.is_ascii_alphabetic() || *c == b'%';
        let length = rest
            .iter()
            .position(is_end)
            .ok_or("unterminated conversion spec (%...) in format")?;
        let (flags, conversion) = (&rest[..length], rest[length]);
        rest = &rest[length + 1..];
        if conversion == b'%' {
            out.push(b'%');
            continue;
        }
        let value = values
            .next()
            .ok_or("insufficient argument list for format")?;
        if flags.iter().any(|f| !b"-+ #0123456789.".contains(f)) {
            return Err("illegal specification character in format");
        }
        // SAFETY: the values are as in the contract.
        unsafe { convert(out, flags, conversion, value)? };
    }
    match values.next() {
        Some(_) => Err("too many arguments for format"),
        None => Ok(()),
    }
}

unsafe fn convert(
    out: &mut Vec<u8>,
    flags: &[u8],
    conversion: u8,
    value: &Value,
) -> Result<(), &'static str> {
    let spec = |c: u8| [b"%", flags, &[c]].concat();
    let of = |kinds: &[u8], message| kinds.contains(&value.kind).then_some(()).ok_or(message);
    let mut text = |text: &[u8]| {
        let text = [text, b"\0"].concat();
        // SAFETY: the text ends with a zero, and the format has one `%s`.
        print(out, &spec(b's'), |buffer, size, format| unsafe {
            libc::snprintf(buffer, size, format, text.as_ptr())
        });
    };
    // SAFETY: each conversion checks the kind, which says which of the bits are set, and passes a
    // format of that one conversion.
    unsafe {
        match conversion {
            b'q' | b'i' | b'd' | b'o' | b'x' | b'X' => {
                of(b"ie", "format calls for an int argument")?;
                let conversion = match conversion {
                    b'q' => b'o',
                    b'i' => b'd',
                    other => other,
                };
                print(out, &spec(conversion), |buffer, size, format| {
                    libc::snprintf(buffer, size, format, value.bits.i)
                });
            }
            b'b' | b'B' => {
                of(b"b", "format calls for a bool argument")?;
                text(match (conversion, value.bits.i != 0) {
                    (b'b', true) => b"true",
                    (b'b', false) => b"false",
                    (_, true) => b"TRUE",
                    (_, false) => b"FALSE",
                });
            }
            b'c' => {
                of(b"c", "format calls for a char argument")?;
                if flags.is_empty() {
                    out.push(value.bits.i as u8);
                } else {
                    print(out, &spec(b'c'), |buffer, size, format| {
                        libc::snprintf(buffer, size, format, value.bits.i)
                    });
                }
            }
            b'r' => {
                of(b"sa", "string argument expected")?;
                out.extend_from_slice(text_of(value).bytes());
            }
            b's' => {
                of(b"sa", "format calls for a string argument")?;
                text(text_of(value).bytes());
            }
            b'f' | b'e' | b'E' | b'g' | b'G' => {
                of(b"ri", "format calls for a real argument")?;
                let real = if value.kind == b'r' {
                    value.bits.r
                } else {
                    f64::from(value.bits.i)
                };
                print(out, &spec(conversion), |buffer, size, format| {
                    libc::snprintf(buffer, size, format, real)
                });
            }
            b'p' => {
                of(b"p", "format calls for a pointer argument")?;
                text(&pointer(value.bits.p));
            }
            b'h' | b'l' | b'L' => return Err("illegal size modifier (h/l/L) in format spec"),
            _ => return Err("illegal specification character in format"),
        }
    }
    Ok(())
}

unsafe fn values<'a>(count: i32, values: *const Value) -> &'a [Value] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: generated code passes that many values.
    unsafe { std::slice::from_raw_parts(values, count as usize) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_write(
    at: At,
    file: usize,
    with_line: bool,
    count: i32,
    shown: *const Value,
) {
    let _busy = flavour::busy();
    files::output(at, file, |out| {
        // SAFETY: generated code passes that many values.
        for (number, value) in unsafe { values(count, shown) }.iter().enumerate() {
            if with_line && number > 0 {
                out.push(b' ');
            }
            // SAFETY: the kind of each value says which of its bits are set.
            unsafe { show(out, value) };
        }
        if with_line {
            out.push(b'\n');
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_printf(at: At, file: usize, by: Text, count: i32, shown: *const Value) {
    let _busy = flavour::busy();
    let mut result = Ok(());
    files::output(at, file, |out| {
        // SAFETY: a text of the contract, and that many values.
        result = unsafe { format(out, by.bytes(), values(count, shown)) };
    });
    if let Err(message) = result {
        abort(at, message);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_sprintf(
    at: At,
    to: StringPlace,
    by: Text,
    count: i32,
    shown: *const Value,
) {
    let _busy = flavour::busy();
    let mut out = Vec::new();
    // SAFETY: a text of the contract, and that many values.
    let result = unsafe { format(&mut out, by.bytes(), values(count, shown)) };
    if let Err(message) = result {
        abort(at, message);
    }
    if out.len() > to.maximum.max(0) as usize {
        abort(at, "result string too small");
    }
    // SAFETY: the place has room for its maximum, which the text does not exceed.
    unsafe {
        std::ptr::copy_nonoverlapping(out.as_ptr(), to.data, out.len());
        *to.length = out.len() as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ValueBits;

    fn int(i: i32) -> Value {
        Value {
            kind: b'i',
            length: 0,
            bits: ValueBits { i },
        }
    }

    fn real(r: f64) -> Value {
        Value {
            kind: b'r',
            length: 0,
            bits: ValueBits { r },
        }
    }

    fn string(text: &'static str) -> Value {
        Value {
            kind: b's',
            length: text.len() as i32,
            bits: ValueBits {
                p: text.as_ptr().cast(),
            },
        }
    }

    fn formatted(by: &str, values: &[Value]) -> Result<String, &'static str> {
        let mut out = Vec::new();
        // SAFETY: the values above.
        unsafe { format(&mut out, by.as_bytes(), values)? };
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn reals_have_six_significant_digits() {
        for (value, text) in [
            (1.0, "1.00000"),
            (1e5, "100000."),
            (1234567.0, "1.23457e+06"),
            (1e-5, "1.00000e-05"),
        ] {
            let mut out = Vec::new();
            // SAFETY: a value as above.
            unsafe { show(&mut out, &real(value)) };
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn formats_are_those_of_c_and_two_more() {
        let truth = Value {
            kind: b'b',
            ..int(1)
        };
        assert_eq!(
            formatted("%3d|%-4i|%q|%x", &[int(5), int(6), int(8), int(255)]).unwrap(),
            "  5|6   |10|ff"
        );
        assert_eq!(formatted("%b %B%%", &[truth, truth]).unwrap(), "true TRUE%");
        assert_eq!(
            formatted("%5.2f %s", &[real(1.234), string("x")]).unwrap(),
            " 1.23 x"
        );
        assert_eq!(formatted("%g", &[int(3)]).unwrap(), "3");
    }

    #[test]
    fn wrong_formats_are_told() {
        for (by, values, message) in [
            ("%", vec![], "unterminated"),
            ("%d", vec![], "insufficient"),
            ("%d", vec![real(1.0)], "an int argument"),
            ("%s", vec![int(1)], "a string argument"),
            ("x", vec![int(1)], "too many"),
            ("%ld", vec![int(1)], "size modifier"),
            ("%*d", vec![int(1)], "specification character"),
        ] {
            let error = formatted(by, &values).unwrap_err();
            assert!(error.contains(message), "{by}: {error}");
        }
    }
}

//! `scanf` and `sscanf`: fields by format, as in original SR's `scan.c`, whose head comment states
//! the rules.

use crate::errors::abort;
use crate::fields::{Stop, integer, pointer, real, take, truth};
use crate::flavour;
use crate::layout::{At, Target, Text};
use crate::scan::{EOF, FileInput, Input, TextInput, is_blank, store_text, targets};

/// The widest field, and the limit of a width's digits.
const WIDTH_MOST: usize = 512;
const WIDTH_DIGITS: usize = 50;

use Stop::{End, Mismatch, Wrong};

const CUT: &str = "premature termination of format string";
const UNLIKE: &str = "arguments do not match format string";

/// A conversion of the format.
struct Field {
    is_suppressed: bool,
    width: Option<usize>,
    conversion: u8,
    /// For `[`: the characters that belong.
    set: Option<Box<[bool; 256]>>,
}

impl Field {
    fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH_MOST)
    }
}

/// Reads by a format. Returns how many values it read, or the reason why the format is wrong.
unsafe fn scan(
    input: &mut impl Input,
    format: &[u8],
    targets: &[Target],
) -> Result<i32, &'static str> {
    let mut done = 0;
    let mut targets = targets.iter();
    // SAFETY: the caller's targets.
    match unsafe { fields(input, format, &mut targets, &mut done) } {
        Ok(()) | Err(Mismatch) => Ok(done),
        Err(End) if done == 0 => Ok(EOF),
        Err(End) => Ok(done),
        Err(Wrong(message)) => Err(message),
    }
}

unsafe fn fields(
    input: &mut impl Input,
    format: &[u8],
    targets: &mut std::slice::Iter<'_, Target>,
    done: &mut i32,
) -> Result<(), Stop> {
    let mut rest = format;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        if c != b'%' || rest.first() == Some(&b'%') {
            if c == b'%' {
                rest = &rest[1..];
            }
            literal(input, c)?;
            continue;
        }
        let field = parse(&mut rest)?;
        let target = if field.is_suppressed {
            None
        } else {
            Some(targets.next().ok_or(Wrong(UNLIKE))?)
        };
        // SAFETY: a target's kind says what type of value is at its place.
        unsafe { convert(input, &field, target)? };
        *done += i32::from(target.is_some());
    }
    Ok(())
}

/// Takes a character that the format has literally.
fn literal(input: &mut impl Input, c: u8) -> Result<(), Stop> {
    match input.peek() {
        None => Err(End),
        Some(found) => {
            input.advance();
            if found == c { Ok(()) } else { Err(Mismatch) }
        }
    }
}

/// Parses the conversion behind a `%`.
fn parse(rest: &mut &[u8]) -> Result<Field, Stop> {
    let mut next = || {
        let (&c, after) = rest.split_first().ok_or(Wrong(CUT))?;
        *rest = after;
        Ok::<u8, Stop>(c)
    };
    let mut c = next()?;
    let is_suppressed = c == b'*';
    if is_suppressed {
        c = next()?;
    }
    let mut width = None;
    let mut digits = 0;
    while c.is_ascii_digit() {
        digits += 1;
        if digits >= WIDTH_DIGITS {
            return Err(Wrong("field width specifier too long"));
        }
        let before: usize = width.unwrap_or(0);
        width = Some((before * 10 + usize::from(c - b'0')).min(WIDTH_MOST + 1));
        c = next()?;
    }
    match width {
        Some(0) => return Err(Wrong("field width must be greater than zero")),
        Some(width) if width > WIDTH_MOST => return Err(Wrong("field width too large")),
        _ => {}
    }
    let set = if c == b'[' {
        Some(parse_set(rest)?)
    } else {
        None
    };
    Ok(Field {
        is_suppressed,
        width,
        conversion: c,
        set,
    })
}

/// Parses the characters of `[...]`, whose opening bracket was taken.
fn parse_set(rest: &mut &[u8]) -> Result<Box<[bool; 256]>, Stop> {
    let is_in = rest.first() != Some(&b'^');
    if !is_in {
        *rest = &rest[1..];
    }
    let mut set = Box::new([!is_in; 256]);
    let mut is_first = true;
    loop {
        let (&c, after) = rest.split_first().ok_or(Wrong(CUT))?;
        *rest = after;
        if c == b']' && !is_first {
            return Ok(set);
        }
        is_first = false;
        if rest.first() == Some(&b'-') {
            let &end = rest.get(1).ok_or(Wrong(CUT))?;
            *rest = &rest[2..];
            (c..=end).for_each(|c| set[usize::from(c)] = is_in);
        } else {
            set[usize::from(c)] = is_in;
        }
    }
}

fn of_kind<'a>(target: Option<&'a Target>, kinds: &[u8]) -> Result<Option<&'a Target>, Stop> {
    match target {
        Some(target) if !kinds.contains(&target.kind) => Err(Wrong(UNLIKE)),
        target => Ok(target),
    }
}

unsafe fn convert(
    input: &mut impl Input,
    field: &Field,
    target: Option<&Target>,
) -> Result<(), Stop> {
    match field.conversion {
        b'o' | b'q' | b'd' | b'u' | b'x' | b'i' => {
            let target = of_kind(target, b"ie")?;
            let value = integer(input, field.conversion, field.width())?;
            // SAFETY: the target is an integer, as was checked.
            store(target, |place| unsafe { *place.cast::<i32>() = value });
        }
        b'e' | b'f' | b'g' => {
            let target = of_kind(target, b"r")?;
            let value = real(input, field.width())?;
            // SAFETY: the target is a real, as was checked.
            store(target, |place| unsafe { *place.cast::<f64>() = value });
        }
        b'b' => {
            let target = of_kind(target, b"b")?;
            let value = truth(input, field.width)?;
            // SAFETY: the target is a bool, as was checked.
            store(target, |place| unsafe {
                *place.cast::<u8>() = u8::from(value)
            });
        }
        b'p' => {
            let target = of_kind(target, b"p")?;
            let value = pointer(input, field.width.unwrap_or(8))?;
            // SAFETY: the target is a pointer, as was checked.
            store(target, |place| unsafe { *place.cast::<usize>() = value });
        }
        b'[' | b's' | b'c' => {
            let target = of_kind(target, b"csa")?;
            // SAFETY: the target is of one of these kinds, as was checked.
            unsafe { characters(input, field, target)? };
        }
        _ => return Err(Wrong("invalid field specifier in format string")),
    }
    Ok(())
}

fn store(target: Option<&Target>, write: impl FnOnce(*mut std::ffi::c_void)) {
    if let Some(target) = target {
        write(target.place);
    }
}

/// `%c`, `%s` and `%[`.
unsafe fn characters(
    input: &mut impl Input,
    field: &Field,
    target: Option<&Target>,
) -> Result<(), Stop> {
    let is_char = target.is_some_and(|t| t.kind == b'c');
    let room = match target {
        Some(target) if !is_char => target.maximum.max(0) as usize,
        _ => WIDTH_MOST,
    };
    // As in the original: one character for `%c`, whatever its target, and for every field of a
    // char.
    let width = match field.conversion {
        b'c' => field.width.unwrap_or(1),
        _ if is_char => field.width.unwrap_or(1),
        _ => field.width(),
    };
    if is_char && width != 1 {
        return Err(Wrong(match field.conversion {
            b'c' => "invalid field width for char variable",
            _ => UNLIKE,
        }));
    }
    // A string takes the whole field and keeps as much as it has room for. An array ends the field.
    let is_array = target.is_some_and(|t| t.kind == b'a') || field.conversion == b'c';
    let most = if is_array { width.min(room) } else { width };
    if field.conversion == b's' {
        input.skip_blanks();
    }
    if input.peek().is_none() {
        return Err(End);
    }
    let taken = match (&field.set, field.conversion) {
        (Some(set), _) => take(input, most, |c| set[usize::from(c)]),
        (None, b's') => take(input, most, |c| !is_blank(c)),
        (None, _) => take(input, most, |_| true),
    };
    if taken.is_empty() && most > 0 {
        return Err(Mismatch);
    }
    match target {
        // SAFETY: the target is a char.
        Some(target) if is_char => unsafe { *target.place.cast::<u8>() = taken[0] },
        // SAFETY: the target is a string or an array of characters.
        Some(target) => unsafe { store_text(target, &taken) },
        None => {}
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_scanf(at: At, file: usize, by: Text, count: i32, to: *const Target) -> i32 {
    let _busy = flavour::busy();
    let mut input = FileInput { at, file };
    // SAFETY: a text of the contract, and that many targets.
    unsafe { scan(&mut input, by.bytes(), targets(count, to)) }.unwrap_or_else(|m| abort(at, m))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sr_sscanf(at: At, from: Text, by: Text, count: i32, to: *const Target) -> i32 {
    let _busy = flavour::busy();
    // SAFETY: a text of the contract.
    let mut input = TextInput(unsafe { from.bytes() });
    // SAFETY: a text of the contract, and that many targets.
    unsafe { scan(&mut input, by.bytes(), targets(count, to)) }.unwrap_or_else(|m| abort(at, m))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target<T>(kind: u8, place: &mut T) -> Target {
        Target {
            kind,
            maximum: size_of::<T>() as i32,
            place: std::ptr::from_mut(place).cast(),
            length: std::ptr::null_mut(),
        }
    }

    fn scanned(text: &str, by: &str, to: &[Target]) -> Result<i32, &'static str> {
        // SAFETY: the targets of the tests below.
        unsafe { scan(&mut TextInput(text.as_bytes()), by.as_bytes(), to) }
    }

    #[test]
    fn integers_say_their_notation_or_have_it_from_the_format() {
        for (text, by, value) in [
            ("12", "%d", 12),
            ("-12", "%d", -12),
            ("17q", "%i", 15),
            ("ffx", "%i", 255),
            ("ff", "%x", 255),
            ("777", "%2o", 63),
            (" 9 8", "%d", 9),
        ] {
            let mut place = 0_i32;
            assert_eq!(
                scanned(text, by, &[target(b'i', &mut place)]),
                Ok(1),
                "{text} {by}"
            );
            assert_eq!(place, value, "{text} {by}");
        }
    }

    #[test]
    fn other_fields_are_read() {
        let (mut real, mut truth, mut c, mut chars) = (0.0_f64, 2_u8, 0_u8, [0_u8; 4]);
        let to = [
            target(b'r', &mut real),
            target(b'b', &mut truth),
            target(b'c', &mut c),
            target(b'a', &mut chars),
        ];
        assert_eq!(scanned("1.5e2 false=xab", "%f %b=%c%[a-c]", &to), Ok(4));
        assert_eq!((real, truth, c, &chars), (150.0, 0, b'x', b"ab  "));
    }

    #[test]
    fn a_char_takes_one_character_and_an_array_of_them_one_for_c() {
        let (mut c, mut chars) = (0_u8, [0_u8; 4]);
        let to = [target(b'c', &mut c), target(b'a', &mut chars)];
        assert_eq!(scanned("CALVIN", "%[A-Z]%s", &to), Ok(2));
        assert_eq!((c, &chars), (b'C', b"ALVI"));
        let to = [target(b'c', &mut c), target(b'a', &mut chars)];
        assert_eq!(scanned(" one two", "%s%c", &to), Ok(2));
        assert_eq!((c, &chars), (b'o', b"n   "));
        assert_eq!(scanned("one", "%2s", &[target(b'c', &mut c)]), Err(UNLIKE));
    }

    #[test]
    fn a_scan_ends_where_the_input_does_not_match() {
        let mut place = 0_i32;
        assert_eq!(scanned("x", "%d", &[target(b'i', &mut place)]), Ok(0));
        assert_eq!(scanned("", "%d", &[target(b'i', &mut place)]), Ok(EOF));
        assert_eq!(
            scanned(
                "5,x",
                "%d,%d",
                &[target(b'i', &mut place), target(b'i', &mut place)]
            ),
            Ok(1)
        );
        assert_eq!(
            scanned("abc 7", "%*s %d", &[target(b'i', &mut place)]),
            Ok(1)
        );
        assert_eq!(place, 7);
    }

    #[test]
    fn wrong_formats_are_told() {
        let mut place = 0_i32;
        let to = || [target(b'i', &mut 0_i32)];
        for (by, message) in [
            ("%", "premature"),
            ("%[a", "premature"),
            ("%0d", "greater than zero"),
            ("%999d", "too large"),
            ("%f", "do not match"),
            ("%z", "invalid field"),
        ] {
            let error = scanned("1", by, &to()).unwrap_err();
            assert!(error.contains(message), "{by}: {error}");
        }
        assert_eq!(scanned("1", "%d %d", &[target(b'i', &mut place)]), Ok(1));
    }
}

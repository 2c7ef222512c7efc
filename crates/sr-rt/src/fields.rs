//! Fields of `scanf`: numbers, truth values and pointers. Each takes as many characters as fit it.

use crate::numbers::parse_real;
use crate::scan::{Input, is_blank};

/// Why a scan ends before its format does.
pub enum Stop {
    /// The input does not match.
    Mismatch,
    /// The input is at its end.
    End,
    /// The format is wrong.
    Wrong(&'static str),
}

use Stop::{End, Mismatch};

/// Takes characters while they belong, up to a number of them.
pub fn take(input: &mut impl Input, most: usize, belongs: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut taken = Vec::new();
    while taken.len() < most
        && let Some(c) = input.peek().filter(|&c| belongs(c))
    {
        taken.push(c);
        input.advance();
    }
    taken
}

/// Takes an integer in the field's notation, or in the one that its digits show. A final `x` or `q`
/// is taken as well.
pub fn integer(input: &mut impl Input, conversion: u8, width: usize) -> Result<i32, Stop> {
    if !input.skip_blanks() {
        return Err(End);
    }
    let mut notation = if conversion == b'o' { b'q' } else { conversion };
    let mut most = width;
    let sign = input.peek().filter(|c| matches!(c, b'-' | b'+'));
    if sign == Some(b'-') && notation == b'u' {
        return Err(Mismatch);
    }
    if sign.is_some() {
        input.advance();
        most -= 1;
    }
    let mut digits = Vec::new();
    let mut needs_x = false;
    let mut has_mark = false;
    while digits.len() < most
        && let Some(c) = input.peek()
    {
        match c {
            b'0'..=b'7' => {}
            b'8' | b'9' if notation != b'q' => {}
            b'a'..=b'f' | b'A'..=b'F' if matches!(notation, b'x' | b'i') => {
                needs_x |= notation == b'i';
                notation = b'x';
            }
            b'x' | b'X' if matches!(notation, b'x' | b'i') => {
                (notation, has_mark) = (b'x', true);
                input.advance();
                break;
            }
            b'q' | b'Q' if matches!(notation, b'q' | b'i') => {
                notation = b'q';
                input.advance();
                break;
            }
            _ => break,
        }
        digits.push(c);
        input.advance();
    }
    let radix = match notation {
        b'x' => 16,
        b'q' => 8,
        _ => 10,
    };
    if digits.is_empty() || (needs_x && !has_mark) {
        return Err(Mismatch);
    }
    let mut value = 0_i64;
    for digit in digits {
        let digit = char::from(digit).to_digit(radix).ok_or(Mismatch)?;
        value = value
            .wrapping_mul(i64::from(radix))
            .wrapping_add(i64::from(digit));
    }
    Ok(if sign == Some(b'-') {
        value.wrapping_neg() as i32
    } else {
        value as i32
    })
}

pub fn real(input: &mut impl Input, most: usize) -> Result<f64, Stop> {
    if !input.skip_blanks() {
        return Err(End);
    }
    let mut text = Vec::new();
    let is_digit = |c: u8| c.is_ascii_digit();
    let mut add = |text: &mut Vec<u8>, count: usize, belongs: &dyn Fn(u8) -> bool| {
        let most = count.min(most - text.len());
        let taken = take(input, most, belongs);
        text.extend_from_slice(&taken);
    };
    let all = usize::MAX;
    add(&mut text, 1, &|c| matches!(c, b'-' | b'+'));
    add(&mut text, all, &is_digit);
    add(&mut text, 1, &|c| c == b'.');
    add(&mut text, all, &is_digit);
    let mantissa = text.len();
    add(&mut text, 1, &|c| matches!(c, b'e' | b'E'));
    if text.len() > mantissa {
        add(&mut text, 1, &|c| matches!(c, b'-' | b'+'));
        let exponent = text.len();
        add(&mut text, all, &is_digit);
        if text.len() == exponent {
            // An exponent without digits does not count if there is a point before it.
            if !text[..mantissa].contains(&b'.') {
                return Err(Mismatch);
            }
            text.truncate(mantissa);
        }
    }
    parse_real(&text).ok_or(Mismatch)
}

/// Takes a truth value: without a width exactly the word, with one that many characters of it.
pub fn truth(input: &mut impl Input, width: Option<usize>) -> Result<bool, Stop> {
    if !input.skip_blanks() {
        return Err(End);
    }
    let begins = |text: &[u8], word: &[u8]| !text.is_empty() && word.starts_with(text);
    if let Some(width) = width {
        let text = take(input, width, |c| !is_blank(c));
        if text.len() != width {
            return Err(Mismatch);
        }
        return match () {
            _ if begins(&text, b"true") || begins(&text, b"TRUE") => Ok(true),
            _ if begins(&text, b"false") || begins(&text, b"FALSE") => Ok(false),
            _ => Err(Mismatch),
        };
    }
    let mut text = take(input, 4, |c| !is_blank(c));
    match text.as_slice() {
        b"true" | b"TRUE" => Ok(true),
        b"fals" | b"FALS" => {
            text.push(input.peek().ok_or(End)?);
            input.advance();
            if matches!(text.as_slice(), b"false" | b"FALSE") {
                Ok(false)
            } else {
                Err(Mismatch)
            }
        }
        _ => Err(Mismatch),
    }
}

pub fn pointer(input: &mut impl Input, most: usize) -> Result<usize, Stop> {
    if !input.skip_blanks() {
        return Err(End);
    }
    if input.peek() == Some(b'=') {
        let text = take(input, most, |c| !is_blank(c));
        return if text == b"==null==" {
            Ok(0)
        } else {
            Err(Mismatch)
        };
    }
    let digits = take(input, most, |c| c.is_ascii_hexdigit());
    if input.peek().is_some_and(|c| matches!(c, b'x' | b'X')) {
        input.advance();
    }
    let digits = std::str::from_utf8(&digits).map_err(|_| Mismatch)?;
    usize::from_str_radix(digits, 16).map_err(|_| Mismatch)
}

//! Numbers, strings and characters.

use super::{Lexer, is_inner};
use crate::token::Kind;

impl Lexer<'_> {
    /// Reads a number: decimal, octal (`17q`), hexadecimal (`0ffx`), or real.
    pub(super) fn number(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        let digits = rest.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if rest[0].is_ascii_digit() && matches!(rest.get(digits), Some(b'x' | b'X')) {
            self.at += digits + 1;
            return self.integer(start, digits, 16);
        }
        let decimals = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let octals = rest
            .iter()
            .take_while(|b| (b'0'..=b'7').contains(b))
            .count();
        if octals == decimals && octals > 0 && matches!(rest.get(octals), Some(b'q' | b'Q')) {
            self.at += octals + 1;
            return self.integer(start, octals, 8);
        }
        let length = real_length(rest);
        if length > decimals {
            self.at += length;
            let text = std::str::from_utf8(&rest[..length]).unwrap_or_default();
            // Rust also parses "1." and ".5"; the range of exponents is that of a double.
            return self.push(Kind::Real(text.parse().unwrap_or(f64::INFINITY)), start);
        }
        self.at += decimals;
        self.integer(start, decimals, 10);
    }

    fn integer(&mut self, start: usize, digits: usize, base: u32) {
        let text = std::str::from_utf8(&self.text[start..start + digits]).unwrap_or_default();
        let value = u64::from_str_radix(text, base)
            .ok()
            .and_then(|v| u32::try_from(v).ok());
        // A word of 32 bits in octal or hexadecimal may have its highest bit set.
        let value = value.filter(|&v| base != 10 || i32::try_from(v).is_ok());
        if value.is_none() {
            self.error(
                start,
                "this integer is too large",
                "integers have 32 bits: -2147483648 to 2147483647",
            );
        }
        self.push(Kind::Integer(value.unwrap_or(0) as i32), start);
    }

    pub(super) fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek(0) {
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\n') | None => {
                    self.error(
                        start,
                        "this string does not end on its line",
                        "close it with \", or write \\ before the end of the line, which is then part of it",
                    );
                    break;
                }
                Some(b'\\') => bytes.extend(self.escape()),
                Some(_) => bytes.push(self.byte()),
            }
        }
        self.push(Kind::Text(bytes), start);
    }

    /// Takes the next byte of the file. In a Latin-1 file that is a character of the text.
    fn byte(&mut self) -> u8 {
        let byte = self.peek(0).unwrap_or_default();
        self.at += 1;
        match (byte, self.peek(0)) {
            (0xc2 | 0xc3, Some(inner)) if self.is_latin1 => {
                self.at += 1;
                (byte & 3) << 6 | inner & 0x3f
            }
            _ => byte,
        }
    }

    pub(super) fn character(&mut self) {
        let start = self.at;
        self.at += 1;
        let byte = match self.peek(0) {
            Some(b'\\') => self.escape(),
            Some(byte) if byte != b'\n' => Some(self.byte()),
            _ => None,
        };
        let is_wide = self.peek(0).is_some_and(is_inner);
        // Skip the rest of a character of several bytes.
        self.skip_while(is_inner);
        if is_wide {
            self.error(
                start,
                "a char has 8 bits, and this character needs more",
                "use a string, or an escape such as '\\xe9'",
            );
        }
        if self.peek(0) == Some(b'\'') {
            self.at += 1;
        } else {
            self.error(
                start,
                "this character does not end",
                "write one character between single quotes; a string has double quotes",
            );
        }
        self.push(Kind::Character(byte.unwrap_or(0)), start);
    }

    /// Returns the character for a backslash and what follows; none at the end of the file.
    fn escape(&mut self) -> Option<u8> {
        self.at += 1;
        self.peek(0)?;
        let byte = self.byte();
        if byte == b'\r' && self.peek(0) == Some(b'\n') {
            // A Windows line end counts as one line end.
            return Some(self.byte());
        }
        Some(match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'e' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'x' => self.digits(16, 2),
            b'0'..=b'7' => {
                self.at -= 1;
                self.digits(8, 3)
            }
            other => other,
        })
    }

    fn digits(&mut self, base: u32, most: usize) -> u8 {
        let mut value = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|b| char::from(b).to_digit(base)) else {
                break;
            };
            value = value * base + digit;
            self.at += 1;
        }
        value as u8
    }
}

/// Returns the length of the real number at the start of a text. If there is none, returns 0 or the
/// length of its digits.
fn real_length(text: &[u8]) -> usize {
    let digits = |from: usize| {
        text[from.min(text.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    let mut length = whole;
    if text.get(whole) == Some(&b'.') {
        let fraction = digits(whole + 1);
        if whole + fraction > 0 {
            length = whole + 1 + fraction;
        }
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

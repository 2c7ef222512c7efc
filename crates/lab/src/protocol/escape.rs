//! Field values: characters that would split a line into other words are written `%XX`.

use super::SyntaxError;

/// Writes a field's value: space, `%`, `=` and everything below 0x20 become `%XX`.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' | '%' | '=' | '\0'..='\x1f' => {
                encoded.push_str(&format!("%{:02X}", u32::from(character)));
            }
            _ => encoded.push(character),
        }
    }
    encoded
}

/// Reads a field's value; the reverse of [`encode`], and of any `%XX` besides.
///
/// # Errors
/// A `%` without two hexadecimal digits after it, or bytes that are not UTF-8 once decoded.
pub fn decode(text: &str) -> Result<String, SyntaxError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let digit = |index: usize| {
            tail.get(index)
                .and_then(|byte| char::from(*byte).to_digit(16))
        };
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return Err(SyntaxError::new(format!(
                "`{text}`: `%` must be followed by two hexadecimal digits (write `%25` for `%` itself)"
            )));
        };
        bytes.push((high * 16 + low) as u8);
        rest = &tail[2..];
    }
    String::from_utf8(bytes)
        .map_err(|_| SyntaxError::new(format!("`{text}` is not UTF-8 once decoded")))
}

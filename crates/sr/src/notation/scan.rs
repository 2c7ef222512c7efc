//! Constructs in a text: `_name` or `_name(arguments)`, outside of comments and literals.

use std::collections::HashMap;
use std::ops::Range;

/// A use of a construct. Ranges are of bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// From its underscore to the end of its name or arguments.
    pub range: Range<usize>,
    pub name: Range<usize>,
    /// Without the white space around them.
    pub arguments: Vec<Range<usize>>,
    /// Whether its arguments are closed.
    pub is_closed: bool,
}

/// Returns the first construct of a range, if it has one.
pub(super) fn next(text: &str, range: Range<usize>) -> Option<Use> {
    let bytes = text.as_bytes();
    let mut at = range.start;
    while at < range.end {
        let length = blind(bytes, at, range.end);
        if length > 0 {
            at += length;
        } else if bytes[at] == b'_' {
            return Some(construct(text, at, range.end));
        } else if is_word(bytes[at]) {
            at += word(bytes, at, range.end);
        } else {
            at += 1;
        }
    }
    None
}

/// Returns the first word of a range, outside of comments and literals.
pub(super) fn next_word(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = range.start;
    while at < range.end {
        let blind = blind(bytes, at, range.end);
        let word = word(bytes, at, range.end);
        match (blind, word) {
            (0, 0) => at += 1,
            (0, _) => return Some(at..at + word),
            _ => at += blind,
        }
    }
    None
}

/// Returns the words that `#define WORD text` lines define, with their texts. The original's
/// notations were run through the C preprocessor.
pub(super) fn definitions(text: &str) -> HashMap<&str, &str> {
    let mut found = HashMap::new();
    for line in text.lines() {
        let Some(rest) = line
            .strip_prefix("#define")
            .filter(|rest| rest.starts_with([' ', '\t']))
        else {
            continue;
        };
        let rest = rest.trim_start();
        let length = word(rest.as_bytes(), 0, rest.len());
        let (name, value) = rest.split_at(length);
        let value = value.split("/*").next().unwrap_or_default().trim();
        // Definitions with parameters are not supported.
        if !name.is_empty() && !value.is_empty() && !rest[length..].starts_with('(') {
            found.insert(name, value);
        }
    }
    found
}

/// Returns the offset behind an arrow, if one comes next in the text.
pub(super) fn after_arrow(text: &str, mut at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    loop {
        let length = comment(bytes, at, bytes.len());
        if length > 0 {
            at += length;
        } else if bytes.get(at)?.is_ascii_whitespace() {
            at += 1;
        } else {
            return bytes[at..].starts_with(b"->").then_some(at + 2);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word(bytes: &[u8], at: usize, end: usize) -> usize {
    bytes[at..end].iter().take_while(|b| is_word(**b)).count()
}

/// Returns the length of the comment or literal that begins here; 0 if none does.
fn blind(bytes: &[u8], at: usize, end: usize) -> usize {
    match bytes[at] {
        quote @ (b'"' | b'\'') => literal(bytes, at, end, quote),
        _ => comment(bytes, at, end),
    }
}

fn comment(bytes: &[u8], at: usize, end: usize) -> usize {
    let rest = &bytes[at.min(end)..end];
    if rest.starts_with(b"#") {
        return rest.iter().take_while(|b| **b != b'\n').count();
    }
    if !rest.starts_with(b"/*") {
        return 0;
    }
    let (mut depth, mut length) = (0, 0);
    while length < rest.len() {
        match &rest[length..] {
            [b'/', b'*', ..] => {
                depth += 1;
                length += 2;
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                length += 2;
                if depth == 0 {
                    return length;
                }
            }
            _ => length += 1,
        }
    }
    rest.len()
}

/// Returns the length of a literal, which ends at its line's end at the latest.
fn literal(bytes: &[u8], at: usize, end: usize, quote: u8) -> usize {
    let mut length = 1;
    while at + length < end {
        match bytes[at + length] {
            b'\\' => length += 2,
            b'\n' => return length,
            other => {
                length += 1;
                if other == quote {
                    return length;
                }
            }
        }
    }
    end - at
}

fn construct(text: &str, at: usize, end: usize) -> Use {
    let bytes = text.as_bytes();
    let name = at..at + word(bytes, at, end);
    let blanks = bytes[name.end..end]
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    let open = name.end + blanks;
    let mut found = Use {
        range: name.clone(),
        name,
        arguments: Vec::new(),
        is_closed: true,
    };
    if bytes[..end].get(open) == Some(&b'(') {
        arguments(text, open, end, &mut found);
    }
    found
}

/// Finds arguments, separated by commas outside of brackets.
fn arguments(text: &str, open: usize, end: usize, found: &mut Use) {
    let bytes = text.as_bytes();
    let (mut depth, mut at, mut start) = (0_usize, open, open + 1);
    while at < end {
        let length = blind(bytes, at, end);
        if length > 0 {
            at += length;
            continue;
        }
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth -= 1;
                if depth == 0 {
                    found.arguments.push(trimmed(text, start..at));
                    found.range.end = at + 1;
                    return;
                }
            }
            b',' if depth == 1 => {
                found.arguments.push(trimmed(text, start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.is_closed = false;
    found.range.end = end;
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..(start + inner.trim().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(text: &str) -> Vec<(String, Vec<String>)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(one) = next(text, at..text.len()) {
            let arguments = one.arguments.iter().map(|a| text[a.clone()].to_owned());
            found.push((text[one.name.clone()].to_owned(), arguments.collect()));
            at = one.range.end;
        }
        found
    }

    #[test]
    fn constructs_stand_outside_of_comments_and_literals() {
        let text = "a_b _one # _no\n\"_no\\\" _no\" '_' /* _no /* */ _no */ _two(x, f(y, z), a[1, 2] )_three()";
        let expected: [(&str, &[&str]); 3] = [
            ("_one", &[]),
            ("_two", &["x", "f(y, z)", "a[1, 2]"]),
            ("_three", &[""]),
        ];
        let found = uses(text);
        assert_eq!(found.len(), 3, "{found:?}");
        for ((name, arguments), (expected_name, expected_arguments)) in found.iter().zip(expected) {
            assert_eq!(name, expected_name);
            assert_eq!(arguments, expected_arguments);
        }
    }

    #[test]
    fn whatever_is_cut_off_is_taken_for_what_it_began() {
        for text in ["_f(a, (b", "_f(\"", "'\\", "/* /*", "_", "_f(a]", "#"] {
            let _ = uses(text);
        }
        assert!(!next("_f(a", 0..4).unwrap().is_closed);
    }

    #[test]
    fn an_arrow_may_stand_after_white_space_and_comments() {
        assert_eq!(after_arrow(" /* - */\n -> x", 0), Some(12));
        assert_eq!(after_arrow("x ->", 0), None);
        assert_eq!(after_arrow("", 0), None);
    }
}

//! Untrusted text, made safe to show.

use std::borrow::Cow;

/// Returns whether a character controls a terminal or changes the order in which text is read:
/// control characters, bidirectional marks, line separators, and tags.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns the character, or in place of a harmful one a sign of the same width. A tab stays.
pub fn shown(c: char) -> char {
    match c {
        '\t' => c,
        _ if is_harmful(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// Returns text of several lines without harmful characters. Line ends and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    replaced(text, |c| match c {
        '\n' => c,
        '\r' => ' ',
        _ => shown(c),
    })
}

/// Returns text as one line without harmful characters. Line ends and tabs become blanks.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |c| match c {
        '\n' | '\r' | '\t' => ' ',
        _ => shown(c),
    })
}

/// Returns JSON with its harmful characters escaped. In JSON they occur only in strings, so its
/// meaning stays.
pub fn json(text: &str) -> Cow<'_, str> {
    let escaped = |c: char| is_harmful(c) && c != '\n';
    if !text.contains(escaped) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match escaped(c) {
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out += &format!("\\u{unit:04x}");
                }
            }
            false => out.push(c),
        }
    }
    out.into()
}

fn replaced(text: &str, by: impl Fn(char) -> char) -> Cow<'_, str> {
    match text.chars().all(|c| by(c) == c) {
        true => text.into(),
        false => text.chars().map(by).collect::<String>().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequences that would clear a screen, set a title, ring, overwrite, and reverse.
    const HARMFUL: &str =
        "a\u{1b}[2J\u{9b}1m\u{7}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{e0041}z";

    #[test]
    fn nothing_that_steers_a_terminal_or_reverses_text_is_shown() {
        for cleaned in [text(HARMFUL), line(HARMFUL)] {
            assert!(!cleaned.chars().any(is_harmful), "{cleaned:?}");
            assert_eq!(cleaned.chars().count(), HARMFUL.chars().count());
        }
        assert_eq!(text("a\tb\r\nc"), "a\tb \nc");
        assert_eq!(line("a\tb\r\nc"), "a b  c");
    }

    #[test]
    fn what_is_harmless_stays_as_it_is() {
        let all = "Größe 日本 e\u{301} \u{1f469}\u{200d}\u{1f52c} می\u{200c}خواهم → –\n";
        assert!(matches!(text(all), Cow::Borrowed(same) if same == all));
    }

    #[test]
    fn json_keeps_its_meaning() {
        assert_eq!(json("{\n\"a\": \"é\"\n}"), "{\n\"a\": \"é\"\n}");
        assert_eq!(
            json("\"\u{202e}\u{7f}\u{9b}\""),
            "\"\\u202e\\u007f\\u009b\""
        );
        assert_eq!(json("\"\u{e0041}\""), "\"\\udb40\\udc41\"");
    }
}

//! Request lines, read and taken apart.

use crate::answer::Refusal;
use std::io::{self, BufRead};

/// Longest request, bytes.
const LINE_MOST: usize = 4096;

/// One line of input without its end; `None` at the end of input, where half a line is no request.
pub(crate) fn read_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, Refusal>>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let buffered = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if buffered.is_empty() {
            return Ok(None);
        }
        let end = buffered.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(buffered.len());
        length += taken;
        if length <= LINE_MOST {
            line.extend_from_slice(&buffered[..taken]);
        }
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            break;
        }
    }
    if length > LINE_MOST {
        let text = format!("the request is longer than {LINE_MOST} bytes");
        return Ok(Some(Err(Refusal::bad_argument(text))));
    }
    let text = String::from_utf8(line);
    Ok(Some(text.map_err(|_| {
        Refusal::bad_argument("the request is not UTF-8")
    })))
}

/// A request, taken apart.
#[derive(Debug)]
pub(crate) struct Request<'l> {
    /// The verb and the positional words.
    words: Vec<&'l str>,
    fields: Vec<(&'l str, &'l str)>,
}

impl<'l> Request<'l> {
    pub(crate) fn parse(line: &'l str) -> Result<Self, Refusal> {
        let mut request = Request {
            words: Vec::new(),
            fields: Vec::new(),
        };
        for word in line.split(' ') {
            request.add(word)?;
        }
        if request.words.is_empty() {
            return Err(Refusal {
                code: "unknown-request",
                text: "the line begins with a field; it must begin with a verb".into(),
            });
        }
        Ok(request)
    }

    fn add(&mut self, word: &'l str) -> Result<(), Refusal> {
        if word.is_empty() {
            return Err(Refusal::bad_argument(
                "words are separated by single spaces",
            ));
        }
        match word.split_once('=') {
            Some((key, _)) if self.field(key).is_some() => {
                Err(Refusal::bad_argument(format!("{key} is given twice")))
            }
            Some(field) => {
                self.fields.push(field);
                Ok(())
            }
            None if !self.fields.is_empty() => Err(Refusal::bad_argument(format!(
                "'{word}' stands after a key=value field: positional words come first"
            ))),
            None => {
                self.words.push(word);
                Ok(())
            }
        }
    }

    pub(crate) fn verb(&self) -> &'l str {
        self.words[0]
    }

    /// The words after the verb, which must be so many.
    pub(crate) fn words<const N: usize>(&self, usage: &str) -> Result<[&'l str; N], Refusal> {
        let words = self.words[1..].try_into();
        words.map_err(|_| Refusal::bad_argument(format!("write: {usage}")))
    }

    /// The words after the verb.
    pub(crate) fn positional(&self) -> &[&'l str] {
        &self.words[1..]
    }

    pub(crate) fn field(&self, key: &str) -> Option<&'l str> {
        let mut fields = self.fields.iter();
        fields
            .find(|(known, _)| *known == key)
            .map(|(_, value)| *value)
    }

    pub(crate) fn number(&self, key: &str, least: u64, most: u64) -> Result<u64, Refusal> {
        match self.field(key) {
            Some(text) => number(key, text, least, most),
            None => Err(Refusal::bad_argument(format!("{key}= is missing"))),
        }
    }
}

/// Decimal digits only: `parse` alone would take a sign.
pub(crate) fn number(what: &str, text: &str, least: u64, most: u64) -> Result<u64, Refusal> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = digits.then(|| text.parse().ok()).flatten();
    value
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            Refusal::bad_argument(format!(
                "{what} must be a decimal integer from {least} to {most}, not '{text}'"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        Request::parse(line).unwrap_err().text
    }

    #[test]
    fn faults_are_named() {
        assert!(refused("slice  a").contains("single spaces"));
        assert!(refused("a b=1 b=2").contains("b is given twice"));
        assert!(refused("a b=1 c").contains("'c' stands after"));
        assert!(refused("b=1").contains("begin with a verb"));
        assert!(number("n", "+1", 0, 9).is_err());
        assert!(number("n", "18446744073709551616", 0, u64::MAX).is_err());
        assert_eq!(number("n", "007", 0, 9).ok(), Some(7));
    }

    #[test]
    fn half_a_line_is_no_request() {
        let mut input: &[u8] = b"one\ntwo";
        assert!(matches!(read_line(&mut input), Ok(Some(Ok(line))) if line == "one"));
        assert!(matches!(read_line(&mut input), Ok(None)));
    }

    #[test]
    fn a_long_line_is_refused_and_the_next_one_served() {
        let long = "x".repeat(LINE_MOST + 1) + "\nquit\n";
        let mut input = long.as_bytes();
        assert!(matches!(read_line(&mut input), Ok(Some(Err(_)))));
        assert!(matches!(read_line(&mut input), Ok(Some(Ok(line))) if line == "quit"));
    }
}

//! The words that protocol lines are made of.

use super::decode;
use std::collections::HashMap;
use std::str::FromStr;

/// A line that does not follow the protocol, and its fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SyntaxError {
    /// Description of the fault, with the expected form.
    pub why: String,
}

impl SyntaxError {
    /// Creates an error with this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// `key=value` words, decoded.
pub(super) struct Fields<'a>(HashMap<&'a str, String>);

impl<'a> Fields<'a> {
    pub fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut fields = HashMap::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            let Some((key, value)) = word.split_once('=') else {
                return Err(SyntaxError::new(format!(
                    "`{word}` is not `key=value` (a space inside a value is written `%20`)"
                )));
            };
            if fields.insert(key, decode(value)?).is_some() {
                return Err(SyntaxError::new(format!("the field `{key}` comes twice")));
            }
        }
        Ok(Self(fields))
    }

    pub fn optional(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }

    pub fn text(&self, key: &str) -> Result<String, SyntaxError> {
        self.optional(key)
            .ok_or_else(|| SyntaxError::new(format!("the field `{key}` is missing")))
    }

    pub fn number<N: FromStr>(&self, key: &str) -> Result<N, SyntaxError> {
        number(key, &self.text(key)?)
    }
}

/// Parses a decimal number in the range of its type.
pub(super) fn number<N: FromStr>(what: &str, word: &str) -> Result<N, SyntaxError> {
    // `+5` parses in Rust; in the protocol it is no number.
    (!word.starts_with('+'))
        .then(|| word.parse().ok())
        .flatten()
        .ok_or_else(|| SyntaxError::new(format!("{what} is `{word}`: no number in its range")))
}

/// Parses a number, or `-` for one that the system does not tell.
pub(super) fn known<N: FromStr>(what: &str, word: &str) -> Result<Option<N>, SyntaxError> {
    match word {
        "-" => Ok(None),
        _ => number(what, word).map(Some),
    }
}

/// Splits a line into exactly `COUNT` words.
pub(super) fn words<const COUNT: usize>(rest: &str) -> Result<[&str; COUNT], SyntaxError> {
    let words: Vec<&str> = rest.split(' ').collect();
    let found = words.len();
    words.try_into().map_err(|_| {
        SyntaxError::new(format!(
            "{found} words after the first, where {COUNT} are expected"
        ))
    })
}

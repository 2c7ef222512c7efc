//! Text into tokens. A line's end becomes a separator if the token before it may end a statement
//! and the token after it may begin one. After `end` or `end name` it always does.

mod literals;
mod signs;

use antiphon_lang::{Diagnostic, Sources, Span};

use crate::token::{Kind, Token};
use signs::SIGNS;

/// Returns the tokens of a file, ended by [`Kind::End`], and its lexical errors.
pub fn lex(sources: &Sources, file: u32, ignores_regions: bool) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        text: sources.file(file).text.as_bytes(),
        is_latin1: sources.file(file).is_latin1,
        file,
        at: 0,
        tokens: Vec::new(),
        diagnostics: Vec::new(),
        has_line_end: false,
        is_in_region: false,
        ignores_regions,
    };
    while lexer.step() {}
    lexer.push_end();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a [u8],
    /// Whether a character of the text was one byte of the file.
    is_latin1: bool,
    file: u32,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    /// Whether a line ended since the last token.
    has_line_end: bool,
    /// Whether this is inside a region comment.
    is_in_region: bool,
    ignores_regions: bool,
}

/// The beginning of a region comment; for other compilers it is a comment.
const REGION: &[u8] = b"#@ region";

impl Lexer<'_> {
    /// Reads one token or one piece of white space. Returns whether there was any.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.text.get(self.at) else {
            return false;
        };
        match byte {
            b'\n' => {
                self.region_end();
                self.at += 1;
                self.line_end();
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            b'#' if self.says_region() => self.region(),
            b'#' => self.skip_while(|b| b != b'\n'),
            b'\\' => self.continuation(),
            b';' => {
                self.at += 1;
                self.push(Kind::Separator, self.at - 1);
            }
            b'"' => self.string(),
            b'\'' => self.character(),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' => self.word(),
            b'/' if self.peek(1) == Some(b'*') => self.comment(),
            _ => self.sign(),
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, is_such: impl Fn(u8) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.iter().position(|&b| !is_such(b)).unwrap_or(rest.len());
    }

    fn span(&self, start: usize) -> Span {
        Span {
            file: self.file,
            start: start as u32,
            end: self.at as u32,
        }
    }

    fn error(&mut self, start: usize, message: impl Into<String>, help: &str) {
        self.diagnostics
            .push(Diagnostic::error(self.span(start), message).help(help));
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = self.span(start);
        if std::mem::take(&mut self.has_line_end)
            && self.tokens.last().is_some_and(|t| t.kind.may_end())
            && kind.may_begin()
        {
            let before = Span {
                end: span.start,
                ..span
            };
            self.tokens.push(Token {
                kind: Kind::Separator,
                span: before,
            });
        }
        self.tokens.push(Token { kind, span });
    }

    /// Handles a line's end. After `end` or `end name` it always separates.
    fn line_end(&mut self) {
        let is_after_end = match &self.tokens[..] {
            [.., end] if end.kind == Kind::EndWord => true,
            [.., end, name] => end.kind == Kind::EndWord && matches!(name.kind, Kind::Name(_)),
            _ => false,
        };
        if is_after_end {
            self.push(Kind::Separator, self.at - 1);
        } else {
            self.has_line_end = true;
        }
    }

    /// Whether a region comment begins here.
    fn says_region(&self) -> bool {
        let rest = &self.text[self.at..];
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        !self.is_in_region
            && !self.ignores_regions
            && rest.starts_with(REGION)
            && !rest.get(REGION.len()).is_some_and(is_word)
    }

    /// Reads a region comment: the rest of the line is an expression.
    fn region(&mut self) {
        let start = self.at;
        self.at += REGION.len();
        // The statement before the comment continues after it, so the comment may have a line of
        // its own.
        self.has_line_end = false;
        self.push(Kind::Region, start);
        self.is_in_region = true;
    }

    fn region_end(&mut self) {
        if std::mem::take(&mut self.is_in_region) {
            self.push(Kind::RegionEnd, self.at);
        }
    }

    fn push_end(&mut self) {
        self.region_end();
        if self
            .tokens
            .last()
            .is_some_and(|t| t.kind != Kind::Separator)
        {
            self.has_line_end = false;
            self.push(Kind::Separator, self.at);
        }
        self.push(Kind::End, self.at);
    }

    fn continuation(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
        if self.peek(0) == Some(b'\n') {
            self.at += 1;
        } else {
            self.error(
                start,
                "a \"\\\" stands before something else than the end of a line",
                "remove it, or end the line here",
            );
        }
    }

    /// Skips a comment; comments nest.
    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                }
                (Some(_), _) => self.at += 1,
                (None, _) => {
                    let end = std::mem::replace(&mut self.at, start + 2);
                    self.error(
                        start,
                        "this comment does not end",
                        "close it with */; comments nest",
                    );
                    self.at = end;
                    return;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        let kind = Kind::word(text).unwrap_or_else(|| Kind::Name(text.to_string()));
        self.push(kind, start);
    }

    fn sign(&mut self) {
        let start = self.at;
        let rest = &self.text[start..];
        match SIGNS
            .iter()
            .find(|(text, _)| rest.starts_with(text.as_bytes()))
        {
            Some((text, kind)) => {
                self.at += text.len();
                self.push(kind.clone(), start);
            }
            None => {
                // Skip the rest of a character of several bytes.
                self.at += 1;
                self.skip_while(is_inner);
                let shown = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
                self.error(
                    start,
                    format!("the character {shown:?} means nothing in SR"),
                    "remove it",
                );
            }
        }
    }
}

/// Whether a byte of UTF-8 continues a character.
fn is_inner(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let mut sources = Sources::default();
        let file = sources.add("test.sr", text.as_bytes().to_vec());
        let (tokens, diagnostics) = lex(&sources, file, false);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        tokens.into_iter().map(|t| t.kind).collect()
    }

    fn name(text: &str) -> Kind {
        Kind::Name(text.into())
    }

    #[test]
    fn numbers_in_every_base() {
        assert_eq!(
            kinds("17q 0ffx 0FFFFFFFFx 12 1.5 1. .5 1e3 2.5e-1"),
            [
                Kind::Integer(15),
                Kind::Integer(255),
                Kind::Integer(-1),
                Kind::Integer(12),
                Kind::Real(1.5),
                Kind::Real(1.0),
                Kind::Real(0.5),
                Kind::Real(1000.0),
                Kind::Real(0.25),
                Kind::Separator,
                Kind::End
            ]
        );
    }

    #[test]
    fn a_line_ends_a_statement_only_where_one_may_end_and_the_next_may_begin() {
        use Kind::{Assign, Comma, End, EndWord, Minus, Plus, Resource, Separator};
        assert_eq!(
            kinds("a := b +\n c"),
            [
                name("a"),
                Assign,
                name("b"),
                Plus,
                name("c"),
                Separator,
                End
            ]
        );
        // A line that begins with a sign begins a new statement.
        assert_eq!(
            kinds("a\n- b"),
            [name("a"), Separator, Minus, name("b"), Separator, End]
        );
        assert_eq!(
            kinds("a\n, b"),
            [name("a"), Comma, name("b"), Separator, End]
        );
        assert_eq!(
            kinds("a \\\n - b"),
            [name("a"), Minus, name("b"), Separator, End]
        );
        assert_eq!(
            kinds("end x\nresource"),
            [EndWord, name("x"), Separator, Resource, Separator, End]
        );
    }

    #[test]
    fn escapes_and_nested_comments() {
        assert_eq!(
            kinds(r#""a\n\x41\101\"" '\'' /* one /* two */ still */ 'b' # rest"#)[..3],
            [
                Kind::Text(b"a\nAA\"".to_vec()),
                Kind::Character(b'\''),
                Kind::Character(b'b')
            ]
        );
    }

    #[test]
    fn a_region_is_the_rest_of_its_line() {
        use Kind::{End, Process, Region, RegionEnd, Separator, Skip};
        assert_eq!(
            kinds("process p\n#@ region i # why\nskip #@ regional"),
            [
                Process,
                name("p"),
                Region,
                name("i"),
                RegionEnd,
                Separator,
                Skip,
                Separator,
                End
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let mut sources = Sources::default();
        let file = sources.add("t.sr", b"x := \"abc\ny := 99999999999\n\x24".to_vec());
        let (_, diagnostics) = lex(&sources, file, false);
        let texts: Vec<String> = diagnostics.iter().map(|d| d.text(&sources)).collect();
        assert_eq!(diagnostics.len(), 3, "{texts:?}");
        assert!(texts[0].starts_with("t.sr:1:6: error: this string does not end on its line\n 1 | x := \"abc\n   |      ^^^^\n"), "{}", texts[0]);
    }
}

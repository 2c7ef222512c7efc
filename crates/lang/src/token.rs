//! Tokens of a file, and a parser's place among them.

use crate::Span;

/// A token of a language whose kinds of tokens are `Kind`.
#[derive(Debug, Clone, PartialEq)]
pub struct Token<Kind> {
    /// Its kind.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
}

/// A place in the tokens of a file. It stays at the last token, which is the end of the file.
#[derive(Debug, Clone)]
pub struct Cursor<Kind> {
    tokens: Vec<Token<Kind>>,
    at: usize,
}

impl<Kind: PartialEq> Cursor<Kind> {
    /// Begins at the first token.
    ///
    /// # Panics
    ///
    /// If there are no tokens, not even the end of the file.
    pub fn new(tokens: Vec<Token<Kind>>) -> Self {
        assert!(!tokens.is_empty(), "a file has an end");
        Cursor { tokens, at: 0 }
    }

    /// Returns the kind of the token here.
    pub fn kind(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    /// Returns the kind of a token further on.
    pub fn ahead(&self, by: usize) -> &Kind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + by).min(last)].kind
    }

    /// Returns the previous token; `None` at the first one.
    pub fn previous(&self) -> Option<&Token<Kind>> {
        Some(&self.tokens[self.at.checked_sub(1)?])
    }

    /// Returns the number of tokens before this place.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the span of the token here.
    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Returns the span of the previous token, or of the first one at the beginning.
    pub fn last_span(&self) -> Span {
        self.previous().map_or(self.span(), |token| token.span)
    }

    /// Returns the span from a place to the previous token.
    pub fn since(&self, start: Span) -> Span {
        let last = self.last_span();
        match last.end >= start.start {
            true => start.to(last),
            false => start,
        }
    }

    /// Moves to the next token.
    pub fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    /// Returns whether a token of this kind is here.
    pub fn is(&self, kind: &Kind) -> bool {
        self.kind() == kind
    }

    /// Moves over a token of this kind. Returns whether it was here.
    pub fn take(&mut self, kind: &Kind) -> bool {
        let is_there = self.is(kind);
        if is_there {
            self.advance();
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(kinds: &[char]) -> Cursor<char> {
        let token = |(at, &kind): (usize, &char)| Token {
            kind,
            span: Span {
                file: 0,
                start: 2 * at as u32,
                end: 2 * at as u32 + 1,
            },
        };
        Cursor::new(kinds.iter().enumerate().map(token).collect())
    }

    #[test]
    fn a_cursor_stays_at_the_end() {
        let mut cursor = cursor(&['a', '.']);
        assert_eq!((cursor.ahead(1), cursor.ahead(9)), (&'.', &'.'));
        assert!(!cursor.take(&'.') && cursor.take(&'a'));
        cursor.advance();
        assert_eq!((cursor.position(), cursor.kind()), (1, &'.'));
    }

    #[test]
    fn a_span_reaches_from_a_place_to_the_previous_token() {
        let mut cursor = cursor(&['a', 'b', '.']);
        let start = cursor.span();
        assert_eq!(cursor.since(start), start);
        assert!(cursor.previous().is_none());
        cursor.advance();
        cursor.advance();
        let whole = cursor.since(start);
        assert_eq!((whole.start, whole.end), (0, 3));
        // Nothing lies between a place and what comes before it.
        let here = cursor.span();
        assert_eq!(cursor.since(here), here);
    }
}

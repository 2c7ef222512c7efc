//! Tokens into a syntax tree, by recursive descent. After an error the parser goes on at the next
//! statement or declaration, so that a unit's errors come together.

mod expression;
mod statement;
mod types;
mod unit;

use antiphon_lang::{Cursor, Diagnostic, Sources, Span};

use crate::lexer::{Dialect, lex};
use crate::syntax::{Name, Qualified, Unit};
use crate::token::Kind;

/// The deepest nesting. A deeper one would overflow our stack.
const DEEPEST: usize = 200;

/// The most operators in one expression, for the same reason: `a + b + …` nests to the left.
const TALLEST: usize = 1000;

/// Errors of one file after which the rest is skipped.
const MOST_ERRORS: usize = 30;

/// Parses a file, which holds one unit.
pub fn parse(sources: &Sources, file: u32, dialect: &Dialect) -> (Option<Unit>, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(sources, file, dialect);
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        diagnostics,
        depth: 0,
        height: 0,
        in_dependencies: false,
    };
    let unit = parser.unit().ok();
    (unit, parser.diagnostics)
}

struct Parser {
    cursor: Cursor<Kind>,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// Operators of the current expression.
    height: usize,
    /// Whether ACCESS is a statement here.
    in_dependencies: bool,
}

/// An error was reported; the caller looks for a place to go on.
#[derive(Debug)]
struct Reported;

type Parse<T> = Result<T, Reported>;

impl Parser {
    /// Returns whether a word that is reserved only in its place stands here.
    fn is_word(&self, word: &str) -> bool {
        matches!(self.cursor.kind(), Kind::Name(name) if name == word)
    }

    fn expect(&mut self, kind: &Kind, after: &str) -> Parse<Span> {
        let span = self.cursor.span();
        if self.cursor.take(kind) {
            return Ok(span);
        }
        Err(self.unexpected(&format!("{} {after}", kind.shown())))
    }

    /// Expects the end of a statement or declaration. If it is missing and the next token can be
    /// understood, the parser continues without it.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.cursor.take(&Kind::Semicolon) {
            return Ok(());
        }
        let found = self.cursor.kind().shown();
        let message = format!("expected \";\" after {after}, found {found}");
        let error = Diagnostic::error(self.cursor.span(), message);
        let is_relation = matches!(
            self.cursor.kind(),
            Kind::Less
                | Kind::Greater
                | Kind::LessEqual
                | Kind::GreaterEqual
                | Kind::Equal
                | Kind::NotEqual
                | Kind::In
        );
        let help = if is_relation {
            "relations do not chain: write (a < b) AND (b < c)"
        } else {
            "each statement and declaration ends with \";\", the last one too"
        };
        self.report(error.help(help));
        let goes_on = matches!(
            self.cursor.kind(),
            Kind::Name(_)
                | Kind::EndWord
                | Kind::Fi
                | Kind::Od
                | Kind::Esac
                | Kind::Until
                | Kind::Else
                | Kind::Elsif
                | Kind::If
                | Kind::For
                | Kind::While
                | Kind::Do
                | Kind::Repeat
                | Kind::Case
                | Kind::Return
                | Kind::Exit
                | Kind::Fork
                | Kind::Function
                | Kind::Operation
                | Kind::Process
                | Kind::Begin
                | Kind::Type
                | Kind::Const
        );
        if goes_on { Ok(()) } else { Err(Reported) }
    }

    /// Reports an unexpected token.
    fn unexpected(&mut self, expected: &str) -> Reported {
        let found = self.cursor.kind().shown();
        let error = Diagnostic::error(
            self.cursor.span(),
            format!("expected {expected}, found {found}"),
        );
        let help = self.habit(expected);
        self.report(match help {
            Some(help) => error.help(help),
            None => error,
        })
    }

    /// Returns the right form for a habit from other languages.
    fn habit(&self, expected: &str) -> Option<String> {
        let shown = self.cursor.kind().shown();
        let word = shown.trim_matches('"');
        let is_sign = matches!(self.cursor.kind(), Kind::Minus | Kind::Plus);
        if is_sign && expected.starts_with("an operand") {
            let help =
                "a sign stands only before the first term: write parentheses, as in 2 * (-3)";
            return Some(help.into());
        }
        if expected.contains("name") && Kind::word(word).is_some() {
            return Some(format!("{word} is a reserved word: take another name"));
        }
        let before = self.cursor.previous().map(|token| &token.kind);
        if let Some(Kind::Name(name)) = before
            && let upper = name.to_ascii_uppercase()
            && *name != upper
            && Kind::word(&upper).is_some()
        {
            return Some(format!("reserved words are written in capitals: {upper}"));
        }
        match self.cursor.kind() {
            Kind::Equal if expected.contains("\":=\"") => Some("= compares, := assigns".into()),
            _ => None,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        // A mistake is reported once, even if it breaks several rules.
        let is_new = self
            .diagnostics
            .last()
            .is_none_or(|last| last.span != diagnostic.span);
        if is_new && self.diagnostics.len() < MOST_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    fn error(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Reported {
        self.report(Diagnostic::error(span, message).help(help))
    }

    fn is_exhausted(&self) -> bool {
        self.diagnostics.len() >= MOST_ERRORS
    }

    /// Parses a nested part, unless it is nested too deeply.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            let span = self.cursor.span();
            let message = format!("this is nested more than {DEEPEST} deep");
            return Err(self.error(span, message, "give parts of it names"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        let span = self.cursor.span();
        match self.cursor.kind() {
            Kind::Name(text) => {
                let text = text.clone();
                self.cursor.advance();
                Ok(Name { text, span })
            }
            _ => Err(self.unexpected(&format!("the name of {what}"))),
        }
    }

    fn names(&mut self, what: &str) -> Parse<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.cursor.take(&Kind::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn qualified(&mut self, what: &str) -> Parse<Qualified> {
        let mut parts = vec![self.name(what)?];
        while self.cursor.take(&Kind::Period) {
            parts.push(self.name(what)?);
        }
        Ok(parts)
    }
}

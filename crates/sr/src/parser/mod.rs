//! Tokens into a syntax tree, by recursive descent. After an error the parser goes on at the next separator, so that a program's errors come together.

mod component;
mod declaration;
mod expression;
mod statement;
mod types;

use antiphon_lang::{Diagnostic, Sources, Span};

use crate::lexer::lex;
use crate::syntax::{Component, Name, Path};
use crate::token::{Kind, Token};

/// Nesting that no program written by a person comes near: a deeper one is refused before it overflows our stack.
const DEEPEST: usize = 200;

/// Operators on the longest way through one expression that no program written by a person comes near, for the same reason: `a + b + …` is nested to the left.
const TALLEST: usize = 500;

/// Errors of one file after which the rest is not looked at.
const MOST_ERRORS: usize = 30;

/// Parses a file.
pub fn parse(sources: &Sources, file: u32) -> (Vec<Component>, Vec<Diagnostic>) {
    parse_with(sources, file, false)
}

/// Parses a file. With `ignores_regions`, comments that say a region are no more than comments.
pub(crate) fn parse_with(
    sources: &Sources,
    file: u32,
    ignores_regions: bool,
) -> (Vec<Component>, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(sources, file, ignores_regions);
    let mut parser = Parser {
        tokens,
        at: 0,
        diagnostics,
        depth: 0,
        height: 0,
    };
    let components = parser.components();
    (components, parser.diagnostics)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// The most operators on a way through the operands so far of the expression that is being parsed.
    height: usize,
}

/// An error was reported; the caller looks for a place to go on.
struct Reported;

type Parse<T> = Result<T, Reported>;

impl Parser {
    fn kind(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    /// The kind of a token further on.
    fn ahead(&self, by: usize) -> &Kind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + by).min(last)].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// The place of the token before.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From a place to the token before.
    fn since(&self, start: Span) -> Span {
        let last = self.last_span();
        if last.end >= start.start {
            start.to(last)
        } else {
            start
        }
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is(&self, kind: &Kind) -> bool {
        self.kind() == kind
    }

    fn take(&mut self, kind: &Kind) -> bool {
        let is_there = self.is(kind);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn expect(&mut self, kind: &Kind, after: &str) -> Parse<Span> {
        let span = self.span();
        if self.take(kind) {
            return Ok(span);
        }
        Err(self.unexpected(&format!("{} {after}", kind.shown())))
    }

    /// Reports that something else was expected here.
    fn unexpected(&mut self, expected: &str) -> Reported {
        let found = match self.kind() {
            Kind::Separator => "the end of the statement".to_string(),
            Kind::RegionEnd => "the end of the line".to_string(),
            other => other.shown(),
        };
        let span = self.span();
        self.report(Diagnostic::error(
            span,
            format!("expected {expected}, found {found}"),
        ))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        // One mistake is told once, however many rules it breaks.
        let is_new = self
            .diagnostics
            .last()
            .is_none_or(|last| last.span != diagnostic.span);
        if is_new && self.diagnostics.len() < MOST_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    fn warn(&mut self, span: Span, message: &str, mend: &str) {
        self.diagnostics
            .push(Diagnostic::warning(span, message).mend(mend));
    }

    /// Parses something nested, unless it is nested too deeply.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            let span = self.span();
            let error = Diagnostic::error(span, format!("this is nested more than {DEEPEST} deep"));
            return Err(self.report(error.mend("give parts of it names")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator that has been put on top of its operands.
    fn rise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height <= TALLEST {
            return Ok(());
        }
        self.height = 0;
        let message = format!("more than {TALLEST} operators in one expression");
        let error = Diagnostic::error(self.last_span(), message);
        Err(self.report(error.mend("assign parts of it to variables")))
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        let span = self.span();
        if let Kind::Name(text) = self.kind() {
            let text = text.clone();
            self.advance();
            return Ok(Name { text, span });
        }
        Err(self.unexpected(what))
    }

    fn path(&mut self, what: &str) -> Parse<Path> {
        let first = self.name(what)?;
        if !self.take(&Kind::Period) {
            return Ok(Path {
                component: None,
                name: first,
            });
        }
        let name = self.name("a name after \".\"")?;
        Ok(Path {
            component: Some(first),
            name,
        })
    }

    /// Elements between commas, at least one.
    fn comma_list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.take(&Kind::Comma) {
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    fn skip_separators(&mut self) {
        while self.take(&Kind::Separator) {}
    }

    /// Goes on after an error: to the next separator, or to a word that ends what we are in. Brackets are passed over whole.
    fn recover(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.kind() {
                Kind::End => return,
                Kind::LeftParen | Kind::LeftBracket | Kind::LeftBrace => depth += 1,
                Kind::RightParen | Kind::RightBracket | Kind::RightBrace => {
                    depth = depth.saturating_sub(1)
                }
                Kind::Separator if depth == 0 => return,
                kind if ends_items(kind) => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// Checks the name after `end`.
    fn end_name(&mut self, name: &Name) {
        let Kind::Name(text) = self.kind() else {
            return;
        };
        if *text != name.text {
            let error =
                Diagnostic::error(self.span(), format!("this ends {}, not {text}", name.text));
            self.report(error.mend(format!(
                "write \"end {}\", or look for an end that is missing",
                name.text
            )));
        }
        self.advance();
    }
}

/// Whether a token ends the items of a block.
fn ends_items(kind: &Kind) -> bool {
    use Kind::{Af, Box, End, EndWord, Fi, Ni, Oc, Od, Parallel, Separate};
    matches!(
        kind,
        Af | Box | End | EndWord | Fi | Ni | Oc | Od | Parallel | Separate
    )
}

//! Tokens into a syntax tree, by recursive descent. After an error the parser continues at the next
//! separator, so that it reports all errors of a program together.

mod component;
mod declaration;
mod expression;
mod statement;
mod types;

use antiphon_lang::{Cursor, Diagnostic, Sources, Span};

use crate::lexer::lex;
use crate::syntax::{Component, Name, Path};
use crate::token::Kind;

/// Limit of nesting, far above that of programs written by people. Deeper nesting is refused before
/// it overflows our stack.
const DEEPEST: usize = 200;

/// Limit of operators on the longest path through one expression, for the same reason: `a + b + …`
/// is nested to the left.
const TALLEST: usize = 500;

/// Number of errors in one file after which parsing stops.
const MOST_ERRORS: usize = 30;

/// Parses a file.
pub fn parse(sources: &Sources, file: u32) -> (Vec<Component>, Vec<Diagnostic>) {
    parse_with(sources, file, false)
}

/// Parses a file. With `ignores_regions`, region comments are plain comments.
pub(crate) fn parse_with(
    sources: &Sources,
    file: u32,
    ignores_regions: bool,
) -> (Vec<Component>, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(sources, file, ignores_regions);
    let mut parser = Parser {
        cursor: Cursor::new(tokens),
        diagnostics,
        depth: 0,
        height: 0,
    };
    let components = parser.components();
    (components, parser.diagnostics)
}

struct Parser {
    cursor: Cursor<Kind>,
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// The most operators on a path through the operands so far of the current expression.
    height: usize,
}

/// An error was reported, and the caller must find a place to continue.
struct Reported;

type Parse<T> = Result<T, Reported>;

impl Parser {
    fn expect(&mut self, kind: &Kind, after: &str) -> Parse<Span> {
        let span = self.cursor.span();
        if self.cursor.take(kind) {
            return Ok(span);
        }
        Err(self.unexpected(&format!("{} {after}", kind.shown())))
    }

    /// Reports that another token was expected here.
    fn unexpected(&mut self, expected: &str) -> Reported {
        let found = match self.cursor.kind() {
            Kind::Separator => "the end of the statement".to_string(),
            Kind::RegionEnd => "the end of the line".to_string(),
            other => other.shown(),
        };
        let error = Diagnostic::error(
            self.cursor.span(),
            format!("expected {expected}, found {found}"),
        );
        let help = self.habit().or_else(|| {
            let is_name = expected.contains("name") && !matches!(self.cursor.kind(), Kind::Name(_));
            is_name.then(|| self.reserved()).flatten()
        });
        self.report(match help {
            Some(help) => error.help(help),
            None => error,
        })
    }

    /// Returns a replacement for a habit from another language, if there is one here.
    fn habit(&self) -> Option<String> {
        let before = self.cursor.previous();
        let is_close = before.is_some_and(|token| token.span.end == self.cursor.span().start);
        let is_after = |kind: &Kind| is_close && before.is_some_and(|token| token.kind == *kind);
        let help = match self.cursor.kind() {
            Kind::Else => "write [] before else: it separates the parts of if, do, in and co",
            Kind::Equal if is_after(&Kind::Equal) => "= compares, and := assigns",
            Kind::Parallel => "a comment begins with # ; // separates the parts of co",
            Kind::Name(_)
                if matches!(
                    before.map(|token| &token.kind),
                    Some(Kind::Int | Kind::Bool | Kind::Char | Kind::RealWord)
                ) =>
            {
                "a variable is declared by var name: type"
            }
            Kind::LeftBrace | Kind::RightBrace => {
                "braces only stand in restrictions: if, do, fa, in and co end with fi, od, af, ni and oc, others with end"
            }
            _ => return None,
        };
        Some(help.to_string())
    }

    /// Returns advice for a reserved word in the place of a name.
    fn reserved(&self) -> Option<String> {
        let shown = self.cursor.kind().shown();
        let word = shown.trim_matches('"');
        let is_word = Kind::word(word).is_some();
        is_word.then(|| format!("{word} is a reserved word: take another name, such as {word}1"))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        // One mistake is reported once, even if it breaks several rules.
        let is_new = self
            .diagnostics
            .last()
            .is_none_or(|last| last.span != diagnostic.span);
        if is_new && self.diagnostics.len() < MOST_ERRORS {
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    fn warn(&mut self, span: Span, message: &str, help: &str) {
        self.diagnostics
            .push(Diagnostic::warning(span, message).help(help));
    }

    /// Parses something nested, unless it is nested too deeply.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            let span = self.cursor.span();
            let error = Diagnostic::error(span, format!("this is nested more than {DEEPEST} deep"));
            return Err(self.report(error.help("give parts of it names")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Counts an operator above its operands.
    fn rise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height <= TALLEST {
            return Ok(());
        }
        self.height = 0;
        let message = format!("more than {TALLEST} operators in one expression");
        let error = Diagnostic::error(self.cursor.last_span(), message);
        Err(self.report(error.help("assign parts of it to variables")))
    }

    fn name(&mut self, what: &str) -> Parse<Name> {
        let span = self.cursor.span();
        if let Kind::Name(text) = self.cursor.kind() {
            let text = text.clone();
            self.cursor.advance();
            return Ok(Name { text, span });
        }
        Err(self.unexpected(what))
    }

    fn path(&mut self, what: &str) -> Parse<Path> {
        let first = self.name(what)?;
        if !self.cursor.take(&Kind::Period) {
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

    /// Parses elements between commas, at least one.
    fn comma_list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.cursor.take(&Kind::Comma) {
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    fn skip_separators(&mut self) {
        while self.cursor.take(&Kind::Separator) {}
    }

    /// Continues after an error: at the next separator, or at a word that ends the current
    /// construct. Brackets are skipped as a whole.
    fn recover(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.cursor.kind() {
                Kind::End => return,
                Kind::LeftParen | Kind::LeftBracket | Kind::LeftBrace => depth += 1,
                Kind::RightParen | Kind::RightBracket | Kind::RightBrace => {
                    depth = depth.saturating_sub(1)
                }
                Kind::Separator if depth == 0 => return,
                kind if ends_items(kind) => return,
                _ => {}
            }
            self.cursor.advance();
        }
    }

    /// Checks the name after `end`.
    fn end_name(&mut self, name: &Name) {
        let Kind::Name(text) = self.cursor.kind() else {
            return;
        };
        if *text != name.text {
            let error = Diagnostic::error(
                self.cursor.span(),
                format!("this ends {}, not {text}", name.text),
            );
            self.report(error.help(format!(
                "write \"end {}\", or look for an end that is missing",
                name.text
            )));
        }
        self.cursor.advance();
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

//! Text into tokens, with the conditionals at the beginnings of lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use antiphon_lang::{Diagnostic, Sources, Span};

use crate::token::{Kind, Token, signs};

/// The case of reserved words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keywords {
    /// Capitals, as the language defines it.
    #[default]
    Capital,
    /// Small letters.
    Small,
    /// Either.
    Both,
}

/// The settings for reading a program.
#[derive(Debug, Clone, Default)]
pub struct Dialect {
    /// The case of reserved words.
    pub keywords: Keywords,
    /// Names that are defined for the conditionals.
    pub defined: BTreeSet<String>,
    /// Whether local objects are passed IN by reference.
    pub objects_by_reference: bool,
}

/// The greatest depth of includes. Files that only hold conditionals may include others.
const DEEPEST_INCLUDE: usize = 20;

/// Splits a file into tokens.
pub fn lex(sources: &Sources, file: u32, dialect: &Dialect) -> (Vec<Token>, Vec<Diagnostic>) {
    let source = sources.file(file);
    let mut lexer = Lexer {
        text: &source.text,
        is_latin1: source.is_latin1,
        file,
        at: 0,
        tokens: Vec::new(),
        diagnostics: Vec::new(),
        keywords: dialect.keywords,
        conditions: Conditions {
            defined: dialect.defined.clone(),
            open: Vec::new(),
        },
        folder: source
            .path
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default(),
    };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    text: &'a str,
    is_latin1: bool,
    file: u32,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    keywords: Keywords,
    conditions: Conditions,
    folder: PathBuf,
}

/// The defined names, and the open conditionals.
struct Conditions {
    defined: BTreeSet<String>,
    /// For each: where it began, whether its lines count, whether its ELSE has come.
    open: Vec<Open>,
}

struct Open {
    span: Span,
    holds: bool,
    has_else: bool,
}

impl Conditions {
    fn is_on(&self) -> bool {
        self.open.iter().all(|one| one.holds)
    }

    /// Executes a directive. Returns the file that it includes, or its error.
    fn obey(&mut self, line: &str, span: Span) -> Result<Option<String>, Diagnostic> {
        let mut words = line.split_whitespace();
        let directive = words.next().unwrap_or_default();
        let argument = words.next();
        let named = || {
            argument
                .map(str::to_owned)
                .ok_or_else(|| Diagnostic::error(span, format!("{directive} needs a name")))
        };
        match directive {
            ".define" => {
                let name = named()?;
                if self.is_on() {
                    self.defined.insert(name);
                }
            }
            ".undef" => {
                let name = named()?;
                if self.is_on() {
                    self.defined.remove(&name);
                }
            }
            ".ifdef" | ".ifndef" => {
                let is_defined = self.defined.contains(&named()?);
                self.open.push(Open {
                    span,
                    holds: is_defined == (directive == ".ifdef"),
                    has_else: false,
                });
            }
            ".else" => match self.open.last_mut() {
                Some(last) if !last.has_else => {
                    last.holds = !last.holds;
                    last.has_else = true;
                }
                _ => return Err(Diagnostic::error(span, "there is no .ifdef for this .else")),
            },
            ".endif" => {
                if self.open.pop().is_none() {
                    return Err(Diagnostic::error(
                        span,
                        "there is no .ifdef for this .endif",
                    ));
                }
            }
            ".include" => {
                let name = named()?;
                return Ok(self.is_on().then(|| name.trim_matches('"').to_owned()));
            }
            _ => {
                let error = Diagnostic::error(span, format!("there is no directive {directive}"));
                let known = ".define, .undef, .ifdef, .ifndef, .else, .endif and .include";
                return Err(error.help(format!("the directives are {known}")));
            }
        }
        Ok(None)
    }
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn span_from(&self, start: usize) -> Span {
        Span {
            file: self.file,
            start: start as u32,
            end: self.at as u32,
        }
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = self.span_from(start);
        self.tokens.push(Token { kind, span });
    }

    fn error(&mut self, start: usize, message: impl Into<String>, help: &str) {
        let error = Diagnostic::error(self.span_from(start), message);
        self.diagnostics.push(error.help(help));
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    fn run(&mut self) {
        let mut is_line_start = true;
        while let Some(c) = self.peek() {
            if is_line_start && c == '.' {
                self.directive();
                continue;
            }
            if !self.conditions.is_on() {
                self.skip_line();
                self.at += usize::from(self.peek().is_some());
                is_line_start = true;
                continue;
            }
            is_line_start = c == '\n';
            let start = self.at;
            match c {
                '#' => self.skip_line(),
                c if c.is_whitespace() => self.at += c.len_utf8(),
                'A'..='Z' | 'a'..='z' | '_' => self.word(),
                '0'..='9' => self.number(),
                '\'' => self.character(),
                '"' => self.string(),
                _ => self.sign(c, start),
            }
        }
        for open in std::mem::take(&mut self.conditions.open) {
            let error = Diagnostic::error(open.span, "this conditional does not end");
            self.diagnostics.push(error.help("close it with .endif"));
        }
        self.push(Kind::End, self.at);
    }

    fn directive(&mut self) {
        let start = self.at;
        self.skip_line();
        let line = self.text[start..self.at]
            .split('#')
            .next()
            .unwrap_or_default();
        let line = line.trim_end();
        let span = Span {
            end: (start + line.len()) as u32,
            ..self.span_from(start)
        };
        match self.conditions.obey(line, span) {
            Ok(None) => {}
            Ok(Some(included)) => {
                let path = self.folder.join(included);
                self.include(&path, span, 0);
            }
            Err(error) => self.diagnostics.push(error),
        }
        self.at += usize::from(self.peek().is_some());
    }

    fn include(&mut self, path: &Path, span: Span, depth: usize) {
        let refuse = |why: String| Diagnostic::error(span, format!("{}: {why}", path.display()));
        if depth > DEEPEST_INCLUDE {
            self.diagnostics
                .push(refuse("files include each other".into()));
            return;
        }
        let text = match antiphon_lang::read(path) {
            Ok(bytes) => antiphon_lang::decode(bytes).0,
            Err(error) => {
                let error = Diagnostic::error(span, error.to_string());
                self.diagnostics.push(error);
                return;
            }
        };
        for line in text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default())
        {
            if line.trim().is_empty() {
                continue;
            }
            if !line.starts_with('.') {
                let why = "an included file holds directives and nothing else".to_owned();
                self.diagnostics.push(refuse(why));
                return;
            }
            match self.conditions.obey(line, span) {
                Ok(None) => {}
                Ok(Some(included)) => {
                    let inner = path.parent().unwrap_or(Path::new("")).join(included);
                    self.include(&inner, span, depth + 1);
                }
                Err(error) => self.diagnostics.push(refuse(error.message)),
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.at += self
            .rest()
            .find(|c| !is_part(c))
            .unwrap_or(self.rest().len());
        let text = &self.text[start..self.at];
        let is_small = !text.contains(|c: char| c.is_ascii_uppercase());
        let kind = match self.keywords {
            Keywords::Capital => Kind::word(text),
            Keywords::Small if is_small => Kind::word(&text.to_ascii_uppercase()),
            Keywords::Small => None,
            Keywords::Both if is_small => Kind::word(&text.to_ascii_uppercase()),
            Keywords::Both => Kind::word(text),
        };
        let kind = kind.unwrap_or_else(|| Kind::Name(text.to_owned()));
        if text.starts_with('_') || text.ends_with('_') || text.contains("__") {
            let message = format!("\"{text}\" is no identifier");
            let help = "an underscore stands between two letters or digits";
            self.error(start, message, help);
        }
        self.push(kind, start);
    }

    fn number(&mut self) {
        let start = self.at;
        let is_digit = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
        let run = self.rest();
        let run = &run[..run.find(|c| !is_digit(c)).unwrap_or(run.len())];
        let run_length = run.len();
        if self.rest()[run_length..].starts_with('H') {
            let value = wrapped(run, 16);
            self.at += run_length + 1;
            return self.integer(value, start);
        }
        if let Some(octal) = run.strip_suffix('B')
            && octal.bytes().all(|b| b.is_ascii_digit())
        {
            let value = wrapped(octal, 8);
            let is_octal = octal.bytes().all(|b| b < b'8');
            self.at += run_length;
            if !is_octal {
                self.error(
                    start,
                    "8 and 9 are no octal digits",
                    "leave out the B, or write 0..7",
                );
            }
            return self.integer(value, start);
        }
        self.digits();
        let after = &self.rest().as_bytes()[..self.rest().len().min(2)];
        let is_real = after.first() == Some(&b'.') && after.get(1) != Some(&b'.');
        if !is_real {
            let value = wrapped(&self.text[start..self.at], 10);
            return self.integer(value, start);
        }
        self.at += 1;
        self.digits();
        let mut text = self.text[start..self.at].to_owned();
        if matches!(self.peek(), Some('E' | 'D' | 'e' | 'd')) {
            let sign = usize::from(matches!(self.rest().as_bytes().get(1), Some(b'+' | b'-')));
            if self
                .rest()
                .as_bytes()
                .get(1 + sign)
                .is_some_and(u8::is_ascii_digit)
            {
                let from = self.at + 1;
                self.at = from + sign;
                self.digits();
                text = format!("{text}e{}", &self.text[from..self.at]);
            } else if self.peek() == Some('D') {
                // A `D` without an exponent only marks a long real.
                self.at += 1;
            }
        }
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            self.error(
                start,
                "this real number is too large",
                "reals reach about 1.79E308",
            );
        }
        self.push(Kind::Real(value), start);
    }

    fn digits(&mut self) {
        let rest = self.rest();
        self.at += rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
    }

    /// Reads an integer. Literals have 32 bits, and wrap as in the original.
    fn integer(&mut self, (value, fits): (i32, bool), start: usize) {
        if !fits {
            let span = self.span_from(start);
            let message = format!("this integer has more than 32 bits and becomes {value}");
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
        self.push(Kind::Integer(value), start);
    }

    fn character(&mut self) {
        let start = self.at;
        let mut chars = self.rest().chars().skip(1);
        let (inner, close) = (chars.next(), chars.next());
        match (inner, close) {
            (Some(c), Some('\'')) if c != '\n' => {
                self.at += 2 + c.len_utf8();
                let byte = u8::try_from(u32::from(c))
                    .ok()
                    .filter(|b| self.is_latin1 || *b < 128);
                if byte.is_none() {
                    self.error(start, "a character is one byte", "write CHR(n)");
                }
                self.push(Kind::Character(byte.unwrap_or_default()), start);
            }
            _ => {
                self.at += 1;
                self.error(
                    start,
                    "a character stands between two quotes",
                    "there are no escapes: write CHR(10) for a new line, \"..\" for a string",
                );
                self.skip_line();
            }
        }
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    let help = "close it with \"; there is none for new lines: write CHR(10)";
                    self.error(start, "this string does not end on its line", help);
                    // The end of the statement is hardly a part of the string.
                    let text = self.text[start..self.at].trim_end();
                    if text.ends_with(';') {
                        self.at = start + text.len() - 1;
                    }
                    break;
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    self.at += 1;
                    // A backslash stands for the next character, whatever that is.
                    if let Some(c) = self.peek().filter(|c| *c != '\n') {
                        self.text_character(c, &mut bytes);
                    }
                }
                Some(c) => self.text_character(c, &mut bytes),
            }
        }
        self.push(Kind::Text(bytes), start);
    }

    fn text_character(&mut self, c: char, bytes: &mut Vec<u8>) {
        self.at += c.len_utf8();
        match u8::try_from(u32::from(c)) {
            Ok(byte) if self.is_latin1 => bytes.push(byte),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }

    fn sign(&mut self, c: char, start: usize) {
        let found = signs()
            .iter()
            .find(|(text, _)| self.rest().starts_with(text));
        match found {
            Some((text, kind)) => {
                self.at += text.len();
                self.push(kind.clone(), start);
            }
            None => {
                self.at += c.len_utf8();
                self.error(
                    start,
                    format!("the character {c:?} means nothing in Orca"),
                    "remove it",
                );
            }
        }
    }
}

/// Returns the value of digits in 32 bits, and whether it fits into them, as signed or as bits.
fn wrapped(digits: &str, base: u32) -> (i32, bool) {
    let mut value: u32 = 0;
    let mut fits = true;
    for c in digits.chars() {
        let digit = c.to_digit(16).unwrap_or_default();
        fits &= value
            .checked_mul(base)
            .and_then(|v| v.checked_add(digit))
            .is_some();
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    let fits = fits && (base != 10 || i32::try_from(value).is_ok());
    (value as i32, fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexed(text: &str) -> (Vec<Kind>, Vec<Diagnostic>) {
        let mut sources = Sources::default();
        let file = sources.add("t.imp", text.as_bytes().to_vec());
        let (tokens, wrong) = lex(&sources, file, &Dialect::default());
        (tokens.into_iter().map(|token| token.kind).collect(), wrong)
    }

    fn kinds(text: &str) -> Vec<Kind> {
        let (kinds, wrong) = lexed(text);
        assert_eq!(wrong, []);
        kinds
    }

    #[test]
    fn numbers_have_a_base_and_32_bits() {
        use Kind::{End, Integer, Range, Real};
        let expected = [
            Integer(15),
            Integer(255),
            Integer(8),
            Integer(1),
            Range,
            Integer(2),
        ];
        assert_eq!(kinds("17B 0FFH 08 1..2")[..6], expected);
        assert_eq!(
            kinds("1. 1.5D-3 2.0E2"),
            [Real(1.0), Real(0.0015), Real(200.0), End]
        );
        let (wrapping, warned) = lexed("4000000000 0FFFFFFFFH");
        assert_eq!(wrapping, [Integer(-294_967_296), Integer(-1), End]);
        assert_eq!(warned.len(), 1);
    }

    #[test]
    fn a_backslash_stands_for_what_follows_it() {
        let text = Kind::Text(b"tn\"\\".to_vec());
        assert_eq!(
            kinds(r#""\t\n\"\\" ''' '\'"#)[..3],
            [text, Kind::Character(b'\''), Kind::Character(b'\\')]
        );
    }

    #[test]
    fn conditionals_stand_at_the_beginnings_of_lines() {
        let text = ".define A\n.ifdef A\nx\n.else\n'\n.endif\n.ifndef A\n.define B\n.endif\n.ifdef B\ny\n.endif\nz";
        let name = |name: &str| Kind::Name(name.into());
        assert_eq!(kinds(text), [name("x"), name("z"), Kind::End]);
        assert_eq!(lexed(".ifdef A\n").1.len(), 1);
        assert_eq!(lexed(".else\n.endiv\n").1.len(), 2);
    }

    #[test]
    fn underscores_stand_inside_identifiers() {
        assert_eq!(kinds("a_b"), [Kind::Name("a_b".into()), Kind::End]);
        assert_eq!(lexed("a_ _b a__b").1.len(), 3);
    }
}

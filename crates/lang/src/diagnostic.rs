//! Mistakes in a program: the message, its place, and help.
//!
//! A message is shown as `file:line:column: error: text`, which editors and shells recognize. Below
//! come the line with the place marked, and the help. The renderers of `annotate-snippets` and
//! `codespan-reporting` cannot put the place first, so this one is our own.

use std::fmt::Write;

use antiphon_outside::{line as line_of, shown};
use unicode_width::UnicodeWidthChar;

use crate::source::{Sources, Span};

/// The severity of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program can be run.
    Warning,
    /// The program cannot be run.
    Error,
}

impl Severity {
    /// Returns its word in messages and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A message about a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The place.
    pub span: Span,
    /// The message.
    pub message: String,
    /// How to fix it, if that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes an error.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            help: None,
        }
    }

    /// Makes a warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(span, message)
        }
    }

    /// Adds help.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns it as text: place and message, the line with the part marked, and the help.
    pub fn text(&self, sources: &Sources) -> String {
        let source = sources.file(self.span.file);
        let (line, column) = source.position(self.span.start);
        let mut out = format!(
            "{}:{line}:{column}: {}: {}\n",
            line_of(&source.path.display().to_string()),
            self.severity.name(),
            line_of(&self.message)
        );
        let marked = source.excerpt(self.span.start, self.span.end);
        let marked = marked.lines().next().unwrap_or_default();
        let window = Window::of(source.line(line), column - 1, marked.chars().count());
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let _ = writeln!(out, " {number} | {}", window.excerpt);
        let _ = writeln!(out, " {margin} | {}{}", window.before, window.marks);
        if let Some(help) = &self.help {
            let _ = writeln!(out, " {margin} = {}", line_of(help));
        }
        out
    }
}

/// Returns whether one of the diagnostics is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Returns all diagnostics as text, in their order.
pub fn report(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic.text(sources))
        .collect()
}

/// Returns the candidate most similar to `name`, for "did you mean". Returns `None` if none is
/// similar.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (name.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| *candidate != name)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate.to_string())
}

/// The most characters of a line that are shown.
const LONGEST: usize = 160;

/// The part of a line that is shown, and the marks under it.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    excerpt: String,
    /// Blanks up to the first mark, as wide as the text above them.
    before: String,
    marks: String,
}

impl Window {
    /// Shows the surroundings of `width` characters of a line, from the character `at` on.
    fn of(line: &str, at: usize, width: usize) -> Window {
        let skipped = if at + width > LONGEST {
            at.saturating_sub(LONGEST / 2)
        } else {
            0
        };
        let mut excerpt: String = line
            .chars()
            .skip(skipped)
            .take(LONGEST)
            .map(shown)
            .collect();
        if line.chars().nth(skipped + LONGEST).is_some() {
            excerpt.push('…');
        }
        let mut before: String = line
            .chars()
            .take(at)
            .skip(skipped)
            .map(|c| match c {
                '\t' => "\t".to_owned(),
                _ => " ".repeat(columns(c)),
            })
            .collect();
        if skipped > 0 {
            excerpt.insert(0, '…');
            before.push(' ');
        }
        let marked = line.chars().skip(at).take(width.min(LONGEST / 2));
        let marks: usize = marked.map(columns).sum();
        Window {
            excerpt,
            before,
            marks: "^".repeat(marks.max(1)),
        }
    }
}

/// Returns the columns of a terminal that a character takes.
fn columns(c: char) -> usize {
    shown(c).width().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_with_the_mark_is_shown() {
        let line = format!("{}wrong{}", "x".repeat(1000), "y".repeat(1000));
        let window = Window::of(&line, 1000, 5);
        assert_eq!(window.excerpt.chars().count(), LONGEST + 2);
        assert_eq!(window.marks, "^^^^^");
        let marked: String = window
            .excerpt
            .chars()
            .skip(window.before.chars().count())
            .take(5)
            .collect();
        assert_eq!(marked, "wrong");
        let short = Window::of("short", 2, 0);
        assert_eq!((&*short.before, &*short.marks), ("  ", "^"));
    }

    #[test]
    fn marks_stand_under_wide_and_combining_characters() {
        let wide = Window::of("日本 x", 3, 1);
        assert_eq!((&*wide.before, &*wide.marks), ("     ", "^"));
        let marked = Window::of("日本 x", 0, 2);
        assert_eq!((&*marked.before, &*marked.marks), ("", "^^^^"));
        let combining = Window::of("e\u{301} x", 3, 1);
        assert_eq!((&*combining.before, &*combining.marks), ("  ", "^"));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let window = Window::of("\u{1b}[2J\tx", 5, 1);
        assert_eq!(window.excerpt, "\u{fffd}[2J\tx");
        assert_eq!(window.before, "    \t");
        let reversed = Window::of("\u{202e}gnp.exe", 1, 1);
        assert_eq!(reversed.excerpt, "\u{fffd}gnp.exe");
    }

    #[test]
    fn a_name_is_compared_with_those_that_are_like_it() {
        let names = ["count", "mount", "sum"];
        assert_eq!(nearest("cuont", names.into_iter()), Some("count".into()));
        assert_eq!(nearest("product", names.into_iter()), None);
        assert_eq!(nearest("sum", ["sum"].into_iter()), None);
    }
}

//! What is wrong in a program, where, and what would mend it.

use std::fmt::Write;

use crate::source::{Sources, Span};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program can be run.
    Warning,
    /// It cannot.
    Error,
}

/// A message about a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The place.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What would mend it, if that is known.
    pub mend: Option<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            span,
            message: message.into(),
            mend: None,
        }
    }

    /// A warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(span, message)
        }
    }

    /// The same, with a mend.
    pub fn mend(mut self, mend: impl Into<String>) -> Diagnostic {
        self.mend = Some(mend.into());
        self
    }

    /// As text: place and message, the line with the part marked, and the mend.
    pub fn text(&self, sources: &Sources) -> String {
        let source = sources.file(self.span.file);
        let (line, column) = source.position(self.span.start);
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut out = format!(
            "{}:{line}:{column}: {severity}: {}\n",
            source.path.display(),
            self.message
        );
        let marked = source.excerpt(self.span.start, self.span.end);
        let marked = marked.lines().next().unwrap_or_default();
        let (excerpt, before, width) =
            window(source.line(line), column - 1, marked.chars().count());
        let number = line.to_string();
        let _ = writeln!(out, " {number} | {excerpt}");
        let _ = writeln!(
            out,
            " {} | {before}{}",
            " ".repeat(number.len()),
            "^".repeat(width)
        );
        if let Some(mend) = &self.mend {
            let _ = writeln!(out, " {} = {mend}", " ".repeat(number.len()));
        }
        out
    }
}

/// The part of a line that is shown, what stands before the marks under it, and how many marks there are.
fn window(line: &str, at: usize, width: usize) -> (String, String, usize) {
    let skipped = if at + width > LONGEST {
        at.saturating_sub(LONGEST / 2)
    } else {
        0
    };
    let mut excerpt: String = line.chars().skip(skipped).take(LONGEST).collect();
    if line.chars().nth(skipped + LONGEST).is_some() {
        excerpt.push('…');
    }
    let mut before: String = line
        .chars()
        .take(at)
        .skip(skipped)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    if skipped > 0 {
        excerpt.insert(0, '…');
        before.push(' ');
    }
    (excerpt, before, width.clamp(1, LONGEST / 2))
}

/// Characters of a line that are shown.
const LONGEST: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_part_with_the_mark_is_shown() {
        let line = format!("{}wrong{}", "x".repeat(1000), "y".repeat(1000));
        let (excerpt, before, width) = window(&line, 1000, 5);
        assert_eq!(excerpt.chars().count(), LONGEST + 2);
        assert_eq!(width, 5);
        let marked: String = excerpt
            .chars()
            .skip(before.chars().count())
            .take(width)
            .collect();
        assert_eq!(marked, "wrong");
        assert_eq!(window("short", 2, 0), ("short".into(), "  ".into(), 1));
    }
}

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
        let excerpt = source.line(line);
        let before: String = excerpt
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let marked = source.excerpt(self.span.start, self.span.end);
        let marked = marked.lines().next().unwrap_or_default();
        let width = marked.chars().count().max(1);
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

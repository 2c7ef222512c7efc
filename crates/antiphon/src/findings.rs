//! Diagnostics of the language compilers, as text and in JSON.

use crate::output::{print_document, say};
use antiphon_lang::{Diagnostic, Severity, Sources, report};
use anyhow::Result;
use serde::Serialize;
use serde_json::json;

/// Prints text to standard error, unless it is empty.
pub fn say_all(text: &str) {
    if !text.is_empty() {
        say(text.trim_end());
    }
}

/// Returns how many errors and warnings there are, in words.
pub fn count(diagnostics: &[Diagnostic]) -> String {
    let number = |severity, name: &str| {
        let of_severity = |one: &&Diagnostic| one.severity == severity;
        match diagnostics.iter().filter(of_severity).count() {
            0 => None,
            1 => Some(format!("1 {name}")),
            n => Some(format!("{n} {name}s")),
        }
    };
    let numbers = [
        number(Severity::Error, "error"),
        number(Severity::Warning, "warning"),
    ];
    let numbers: Vec<String> = numbers.into_iter().flatten().collect();
    numbers.join(", ")
}

/// Prints the findings of a check, as text or as a document of `schema`.
pub fn print_check(
    schema: Option<&str>,
    is_sound: bool,
    diagnostics: &[Diagnostic],
    sources: &Sources,
) -> Result<()> {
    let Some(schema) = schema else {
        say_all(&report(diagnostics, sources));
        say_all(&count(diagnostics));
        return Ok(());
    };
    let findings = diagnostics.iter().map(|one| Finding::of(one, sources));
    let findings: Vec<Finding> = findings.collect();
    let found = json!({ "is_sound": is_sound, "findings": findings });
    print_document(schema, 1, found)
}

/// A diagnostic, as JSON shows it.
#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    file: String,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    message: String,
    #[serde(rename = "mend")]
    help: Option<String>,
}

impl Finding {
    fn of(diagnostic: &Diagnostic, sources: &Sources) -> Finding {
        let source = sources.file(diagnostic.span.file);
        let (line, column) = source.position(diagnostic.span.start);
        Finding {
            severity: diagnostic.severity.name(),
            file: source.path.display().to_string(),
            line,
            column,
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
        }
    }
}

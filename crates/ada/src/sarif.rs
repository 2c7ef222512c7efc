//! Verdicts as SARIF 2.1.0, for editors and code review.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::analysis::{Analysis, TaskReport};
use crate::edit::Edit;
use crate::effects::Oracle;
use crate::explain;
use crate::source::Place;
use crate::translate;
use crate::verdict::{Reason, Rule};

/// Returns a SARIF log: a `note` with its fix for each server that can be translated, and a
/// `warning` for each reason against one that cannot.
///
/// Tasks that accept no call are not servers and give no results.
pub fn log(analysis: &Analysis) -> Value {
    let mut rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|r| json!({ "id": r.code(), "shortDescription": { "text": r.title() } }))
        .collect();
    rules.push(json!({ "id": SERVER, "shortDescription": { "text": "a task that can become a protected object" } }));
    let oracle = analysis.oracle();
    let mut results = Vec::new();
    for report in &analysis.tasks {
        if report.verdict.class.is_translated() {
            results.push(server(analysis, report, &oracle));
        }
        let against = report
            .verdict
            .reasons
            .iter()
            .filter(|r| r.rule != Rule::NoAccept);
        results.extend(against.map(|r| reason(analysis, report, r)));
    }
    let driver = json!({ "name": "antiphon translate", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results }],
    })
}

/// The rule of tasks that can be translated.
const SERVER: &str = "T00";

fn server(analysis: &Analysis, report: &TaskReport, oracle: &Oracle) -> Value {
    let at = analysis.names.place(analysis.program, report.task.id);
    let text = format!(
        "task {}: {}",
        report.task.name,
        report.verdict.class.meaning()
    );
    let mut result = json!({
        "ruleId": SERVER,
        "ruleIndex": Rule::ALL.len(),
        "level": "note",
        "message": { "text": text },
        "locations": [location(&at)],
    });
    if let Some(edits) = translate::edits_of(analysis, report, oracle) {
        let text = format!("Make a protected object of task {}", report.task.name);
        let changes = changes(analysis, &edits);
        result["fixes"] = json!([{ "description": { "text": text }, "artifactChanges": changes }]);
    }
    result
}

/// Returns the edits by file, in SARIF's form.
fn changes(analysis: &Analysis, edits: &[Edit]) -> Vec<Value> {
    let mut by_file: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for edit in edits {
        let source = &analysis.program.sources[edit.file];
        let (start, end) = (source.place(edit.range.start), source.place(edit.range.end));
        let text = if source.has_crlf {
            edit.text.replace('\n', "\r\n")
        } else {
            edit.text.clone()
        };
        by_file.entry(edit.file).or_default().push(json!({
            "deletedRegion": {
                "startLine": start.line, "startColumn": start.column,
                "endLine": end.line, "endColumn": end.column,
            },
            "insertedContent": { "text": text },
        }));
    }
    let changes = by_file.into_iter().map(|(file, replacements)| {
        let path = &analysis.program.sources[file].path;
        json!({ "artifactLocation": { "uri": uri(path) }, "replacements": replacements })
    });
    changes.collect()
}

fn reason(analysis: &Analysis, report: &TaskReport, reason: &Reason) -> Value {
    let at = explain::place(analysis, reason);
    let text = format!(
        "task {} stays a task: {} To change it: {}.",
        report.task.name,
        sentence(&reason.text),
        reason.help
    );
    json!({
        "ruleId": reason.rule.code(),
        "ruleIndex": Rule::ALL.iter().position(|r| *r == reason.rule),
        "level": "warning",
        "message": { "text": text },
        "locations": [location(&at)],
    })
}

fn sentence(text: &str) -> String {
    if text.ends_with('.') {
        text.to_string()
    } else {
        format!("{text}.")
    }
}

fn uri(path: &Path) -> String {
    path.to_string_lossy()
        .replace('\\', "/")
        .replace('%', "%25")
        .replace(' ', "%20")
}

fn location(at: &Place) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&at.file) },
        "region": { "startLine": at.line, "startColumn": at.column },
    } })
}

//! Verdicts as SARIF 2.1.0, for editors and code review.

use serde_json::{Value, json};

use crate::analysis::{Analysis, TaskReport};
use crate::explain;
use crate::verdict::{Reason, Rule};

/// A SARIF log: a `note` for each server that can be translated, a `warning` for each reason against one that cannot.
///
/// Tasks that accept no call are not servers at all and give no results.
pub fn log(analysis: &Analysis) -> Value {
    let rules: Vec<Value> = Rule::ALL
        .iter()
        .map(|r| json!({ "id": r.code(), "shortDescription": { "text": r.title() } }))
        .collect();
    let mut results = Vec::new();
    for report in &analysis.tasks {
        if report.verdict.class.is_translated() {
            results.push(server(analysis, report));
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

fn server(analysis: &Analysis, report: &TaskReport) -> Value {
    let at = analysis.names.place(analysis.program, report.task.id);
    let text = format!(
        "task {} only serves calls and can become a protected object",
        report.task.name
    );
    json!({ "kind": "informational", "level": "none", "message": { "text": text }, "locations": [location(&at)] })
}

fn reason(analysis: &Analysis, report: &TaskReport, reason: &Reason) -> Value {
    let at = explain::place(analysis, reason);
    let text = format!(
        "task {} stays a task: {} To change it: {}.",
        report.task.name,
        sentence(&reason.text),
        reason.mend
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

fn location(at: &crate::source::Place) -> Value {
    let uri = at
        .file
        .to_string_lossy()
        .replace('\\', "/")
        .replace(' ', "%20");
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri },
        "region": { "startLine": at.line, "startColumn": at.column },
    } })
}

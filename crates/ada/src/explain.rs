//! Verdicts as text and as JSON.

use serde_json::{Value, json};

use crate::analysis::{Analysis, TaskReport};
use crate::source::Place;
use crate::verdict::Reason;

/// Returns the place of a reason.
pub fn place(analysis: &Analysis, reason: &Reason) -> Place {
    analysis.program.sources[reason.at.file].place_of(reason.at.node)
}

/// Returns one line per task: name, place, class, and number of reasons.
pub fn summary(analysis: &Analysis) -> String {
    analysis
        .tasks
        .iter()
        .map(|t| headline(analysis, t) + "\n")
        .collect()
}

fn headline(analysis: &Analysis, report: &TaskReport) -> String {
    let at = analysis.names.place(analysis.program, report.task.id);
    let class = report.verdict.class;
    format!(
        "{at}: task {}: {}: {}",
        report.task.name,
        class.word(),
        class.meaning()
    )
}

/// Returns every verdict with its numbered reasons, each with its place and a possible change.
pub fn text(analysis: &Analysis) -> String {
    let mut out = String::new();
    for report in &analysis.tasks {
        out.push_str(&headline(analysis, report));
        out.push('\n');
        for (number, reason) in report.verdict.reasons.iter().enumerate() {
            out.push_str(&format!(
                "  {}. {}: {} [{}]\n",
                number + 1,
                place(analysis, reason),
                reason.text,
                reason.rule.code()
            ));
            out.push_str(&format!("     to change it: {}\n", reason.help));
        }
        // Notes about a translation are useless without one.
        if report.verdict.class.is_translated() {
            for note in &report.verdict.notes {
                out.push_str(&format!(
                    "  note: {}: {} [{}]\n",
                    place(analysis, note),
                    note.text,
                    note.rule.code()
                ));
            }
        }
    }
    for at in &analysis.orphans {
        let source = &analysis.program.sources[at.file];
        let name = source.tree.child(at.node, "identifier");
        out.push_str(&format!(
            "{}: task body {}: nothing can be said, since its declaration was not given; give that file too\n",
            source.place_of(at.node),
            name.map_or("", |n| source.text(n))
        ));
    }
    out
}

/// Returns every verdict as a JSON array, one object per task.
pub fn json(analysis: &Analysis) -> Value {
    let reason = |r: &Reason| {
        let place = place(analysis, r);
        json!({ "rule": r.rule.code(), "title": r.rule.title(), "file": place.file.to_string_lossy(), "line": place.line, "column": place.column,
                "text": r.text, "mend": r.help })
    };
    let task = |report: &TaskReport| {
        let at = analysis.names.place(analysis.program, report.task.id);
        json!({
            "task": report.task.name,
            "is_type": report.task.is_type,
            "file": at.file.to_string_lossy(), "line": at.line, "column": at.column,
            "verdict": report.verdict.class.word(),
            "reasons": report.verdict.reasons.iter().map(reason).collect::<Vec<_>>(),
            "notes": report.verdict.notes.iter().map(reason).collect::<Vec<_>>(),
        })
    };
    Value::Array(analysis.tasks.iter().map(task).collect())
}

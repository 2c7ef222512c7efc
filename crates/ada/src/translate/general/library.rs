//! Terminate alternatives of tasks of library packages.
//!
//! No statement follows the last client of such a task: the environment task waits for it, after
//! the main subprogram (RM 10.2 (25)). GNAT has *independent* tasks, for which the program does not
//! wait, so the task becomes one. A second task beside it is only at a terminate alternative. It
//! ends when all other tasks have ended or could end. Then its declarations are finalized (RM
//! 7.6.1), which waits until the first task is at rest.

use super::clients::context_start;
use super::gate::nest;
use super::plan::Plan;
use crate::edit::Edit;
use crate::names::Names;
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// Whether a task is declared in a library package, which ends with the program.
pub(super) fn is_of_library(cx: &Context) -> bool {
    let at = cx.task.declaration;
    let tree = &source_of(cx.program, at).tree;
    let mut around = tree.ancestors(at.node).filter(|&n| {
        !matches!(
            tree.kind(n),
            "object_declaration"
                | "compilation"
                | "compilation_unit"
                | "non_empty_declarative_part"
        )
    });
    !cx.task.is_type
        && around.all(|n| matches!(tree.kind(n), "package_declaration" | "package_body"))
}

/// Returns notes for a reader of such a translation.
pub(super) fn notes(cx: &Context) -> Vec<Reason> {
    let wait = cx.flow.waits.iter().find(|w| w.has_terminate);
    let Some(wait) = wait.filter(|_| is_of_library(cx)) else {
        return vec![];
    };
    let text = "the terminate alternative of a task that ends with the program is replaced by means of GNAT's own (System.Tasking.Utilities.Make_Independent)";
    let help =
        "give the task an entry that ends it, if the program is meant for other compilers too";
    vec![cx.reason(Rule::Terminate, wait.node, text, help)]
}

impl Plan<'_> {
    fn ends_with_program(&self) -> bool {
        self.has_terminate && is_of_library(&self.cx)
    }

    /// Returns the declaration that makes the task independent.
    pub(super) fn independence(&self) -> Vec<String> {
        if !self.ends_with_program() {
            return vec![];
        }
        let name = self
            .cx
            .free_name(&["Is_Independent".into()], false, &Default::default());
        vec![
            format!("{name} : constant Boolean :="),
            format!("{}System.Tasking.Utilities.Make_Independent;", self.step),
            format!("pragma Unreferenced ({name});"),
        ]
    }

    /// Returns the second task, for which the program waits instead.
    pub(super) fn watch(&self) -> Vec<String> {
        if !self.ends_with_program() {
            return vec![];
        }
        let (step, name) = (&self.step, &self.cx.task.name);
        let (rest, end) = (format!("{name}_Rest"), format!("{name}_End"));
        let mut lines = vec![
            format!("--  Takes the place of the terminate alternative: {end} ends when all other"),
            format!(
                "--  tasks have, as soon as {} is at rest, which nobody waits for",
                self.server
            ),
            format!("type {rest} is new Ada.Finalization.Limited_Controlled with null record;"),
            format!("procedure Finalize (Object : in out {rest});"),
            String::new(),
            format!("procedure Finalize (Object : in out {rest}) is"),
            format!("{step}pragma Unreferenced (Object);"),
            "begin".into(),
            format!("{step}{}.{};", self.gate, self.words.at_rest),
            "end Finalize;".into(),
            String::new(),
            format!("task {end} is"),
            format!("{step}entry Never;"),
            format!("{step}pragma Unreferenced (Never);"),
            format!("end {end};"),
            String::new(),
            format!("task body {end} is"),
            format!("{step}Rest : {rest};"),
            format!("{step}pragma Unreferenced (Rest);"),
            "begin".into(),
        ];
        let wait = [
            "select",
            "   accept Never;",
            "or",
            "   terminate;",
            "end select;",
        ];
        let wait: Vec<String> = wait.iter().map(|l| l.replace("   ", step)).collect();
        lines.extend(nest(&wait, step));
        lines.extend([format!("end {end};"), String::new()]);
        lines
    }

    /// Returns the names that the second task and its parts declare outside the task.
    pub(super) fn watch_names(name: &str) -> [String; 2] {
        [format!("{name}_Rest"), format!("{name}_End")]
    }
}

/// Returns the clauses that the units of these tasks' bodies need.
pub(super) fn with_clauses(plans: &[Plan]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for plan in plans.iter().filter(|p| p.ends_with_program()) {
        let body = plan.cx.task.body;
        if edits.iter().any(|e| e.file == body.file) {
            continue;
        }
        let source = plan.cx.source();
        let has = |unit: &str| {
            let tree = &source.tree;
            tree.walk(tree.root())
                .filter(|&n| tree.kind(n) == "with_clause")
                .any(|n| {
                    Names::key(source.text(n))
                        .split([' ', ',', ';'])
                        .any(|w| w == unit)
                })
        };
        let mut text = String::new();
        if !has("ada.finalization") {
            text += "with Ada.Finalization;\n";
        }
        if !has("system.tasking.utilities") {
            text += "pragma Warnings (Off, \"*internal GNAT unit*\");\nwith System.Tasking.Utilities;\n";
        }
        let start = context_start(source, body.node);
        edits.push(Edit {
            file: body.file,
            range: start..start,
            text,
        });
    }
    edits
}

//! Obstacles in the task's declaration and its place.

use std::collections::HashSet;

use super::Found;
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::ceiling::{self, Ceiling};
use crate::translate::context::Context;
use crate::verdict::{Reason, Rule};

impl Found {
    /// Checks interfaces, representation clauses, pragmas and aspects of the declaration.
    pub(super) fn declaration(&mut self, cx: &Context) {
        let declaration = cx.task.declaration;
        let source = &cx.program.sources[declaration.file];
        let tree = &source.tree;
        let at = |node| At {
            node,
            ..declaration
        };
        self.interfaces(cx);
        let mut priority = None;
        for node in tree.walk(declaration.node) {
            match tree.kind(node) {
                "attribute_definition_clause" | "at_clause" => {
                    let word = tree
                        .child(node, "attribute_designator")
                        .map_or(String::new(), |n| Names::key(source.text(n)));
                    if word != "storage_size" {
                        let text =
                            "a representation clause: an interrupt entry or the like".to_string();
                        self.reasons.push(Reason {
                            rule: Rule::Representation,
                            at: at(node),
                            text,
                            help:
                                "attach a protected procedure to the interrupt by hand (RM C.3.1)"
                                    .into(),
                        });
                    }
                }
                "pragma_g" => {
                    let name = tree
                        .child(node, "identifier")
                        .map_or("", |n| source.text(n));
                    if Names::key(name) == "priority" {
                        priority = Some(node);
                    }
                    self.dropped(Names::key(name), name, at(node));
                }
                "aspect_association" => {
                    let name = tree
                        .child(node, "identifier")
                        .map_or("", |n| source.text(n));
                    if Names::key(name) == "priority" {
                        priority = Some(node);
                    }
                    let is_contract = matches!(Names::key(name).as_str(), "pre" | "post")
                        && tree.ancestor(node, &["entry_declaration"]).is_some();
                    if is_contract {
                        self.contract(cx, at(node));
                    } else {
                        self.dropped(Names::key(name), name, at(node));
                    }
                }
                _ => {}
            }
        }
        if priority.is_some() || ceiling::has_ceiling_locking(cx.program, cx.names) {
            self.ceiling(cx, at(priority.unwrap_or(declaration.node)));
        }
    }

    /// Checks a precondition or postcondition of an entry, which is removed with it (RM 6.1.1 (1)).
    fn contract(&mut self, cx: &Context, aspect: At) {
        let source = &cx.program.sources[aspect.file];
        let tree = &source.tree;
        let effects = cx.oracle.of(aspect);
        for effect in &effects.blocks {
            self.blocks(effect, "in a contract");
        }
        self.report_common(cx, &effects);
        let own = cx.names.region(cx.task.body);
        let names: HashSet<String> = own
            .iter()
            .flat_map(|&s| &cx.names.scope(s).entities)
            .map(|&e| Names::key(&cx.names.entity(e).name))
            .collect();
        let hidden = tree.walk(aspect.node).find(|&n| {
            tree.kind(n) == "identifier"
                && tree.field(n) != "selector_name"
                && names.contains(&Names::key(source.text(n)))
                && cx
                    .names
                    .meaning(cx.program, At { node: n, ..aspect })
                    .is_some_and(|e| cx.names.entity(e).kind != Kind::Parameter)
        });
        if let Some(node) = hidden {
            self.reasons.push(Reason {
                rule: Rule::Declaration,
                at: At { node, ..aspect },
                text: format!(
                    "`{}` in a contract would be hidden by a component of that name",
                    source.text(node)
                ),
                help: "rename one of them".into(),
            });
        }
    }

    /// Notes that the task's priority is removed, and the object's ceiling.
    fn ceiling(&mut self, cx: &Context, at: At) {
        let (text, help) = match ceiling::of(cx) {
            Ceiling::NotLooked => (
                "the priority is dropped: a ceiling must not be below any caller's, and the default, Priority'Last, is above all (RM D.3)".to_string(),
                "set the ceiling to the highest priority of the callers if the program uses Ceiling_Locking",
            ),
            Ceiling::Unknown => (
                "the ceiling is the default, Priority'Last: not all callers have a static priority (RM D.3)".to_string(),
                "give all callers a static priority, or set the ceiling by hand",
            ),
            Ceiling::Interrupt => (
                "the ceiling is the highest there is, as a handler of timing events needs (RM D.15 (6))".to_string(),
                "nothing",
            ),
            Ceiling::Of(value) => (
                format!("the ceiling is {value}, the highest priority of the callers (RM D.3)"),
                "nothing",
            ),
        };
        self.notes.push(Reason {
            rule: Rule::Ceiling,
            at,
            text,
            help: help.into(),
        });
    }

    /// Notes a pragma or aspect of the task that has no use for a protected object.
    pub(super) fn dropped(&mut self, key: String, name: &str, at: At) {
        match key.as_str() {
            "priority" | "storage_size" | "task_name" | "relative_deadline" | "cpu"
            | "dispatching_domain" | "unreferenced" | "warnings" => {}
            _ => {
                let text = format!(
                    "`{name}` is for tasks, or its effect on a protected object is not known"
                );
                self.reasons.push(Reason {
                    rule: Rule::Representation,
                    at,
                    text,
                    help: "remove it, or translate by hand".into(),
                });
            }
        }
    }

    /// Checks the elaboration order. A task can be called before it is activated; the call waits. A
    /// protected object must not be called before its body is elaborated (RM 3.11 (10)). So no task
    /// that might call it may be activated between the two.
    pub(super) fn elaboration(&mut self, cx: &Context) {
        let (declaration, body) = (cx.task.declaration, cx.task.body);
        let tree = cx.tree();
        let is_called_by_task = cx
            .task
            .entries
            .iter()
            .flat_map(|e| cx.names.uses_of(e.id))
            .any(|at| {
                let other = &cx.program.sources[at.file].tree;
                let inside = other.ancestor(at.node, &["task_body"]);
                inside.is_some_and(|node| At { node, ..*at } != body)
            });
        if declaration.file != body.file || !(is_called_by_task || cx.task.is_type) {
            return;
        }
        // If no task calls the server, only its own activation matters: that would raise
        // Program_Error, but an object would not.
        let only = (!is_called_by_task).then_some(cx.task.id);
        let span = tree.end(declaration.node)..tree.end(body.node);
        let in_span = |n: NodeId| {
            tree.start(n) >= span.start && tree.start(n) < span.end && !tree.is_within(n, body.node)
        };
        for node in tree.starting_in(span.clone()).filter(|&n| in_span(n)) {
            if tree
                .ancestor(node, &["subprogram_body", "task_body", "entry_body"])
                .is_some_and(in_span)
            {
                continue;
            }
            let activates = match tree.kind(node) {
                "allocator" => {
                    !cx.oracle.of(cx.at(node)).blocks.is_empty()
                        && (only.is_none() || self.has_tasks(cx, node, only))
                }
                "single_task_declaration" | "object_declaration" => {
                    let in_package = tree
                        .ancestor(node, &["package_body", "package_declaration"])
                        .is_some_and(in_span);
                    in_package && self.has_tasks(cx, node, only)
                }
                // Tasks of a package declaration are activated after all declarations of its body,
                // including the server's body.
                "package_body" if tree.is_within(body.node, node) => false,
                "package_body" => self.declares_tasks(cx, cx.at(node), only),
                _ => false,
            };
            if activates {
                let text =
                    "a task is activated here, before the server's body, and may call it too early";
                self.refuse(
                    cx,
                    Rule::Prologue,
                    node,
                    text,
                    "declare the server's body before this",
                );
                return;
            }
        }
    }

    /// Whether the declaration that a package body completes has tasks. These are activated after
    /// the body's declarations (RM 9.2 (4)).
    fn declares_tasks(&self, cx: &Context, body: At, only: Option<EntityId>) -> bool {
        let Some(package) = cx.names.completed_by(body) else {
            return false;
        };
        let declaration = cx.names.entity(package).at;
        let tree = &cx.program.sources[declaration.file].tree;
        declaration.file == body.file
            && tree
                .walk(declaration.node)
                .filter(|&n| {
                    matches!(
                        tree.kind(n),
                        "single_task_declaration" | "object_declaration"
                    )
                })
                .any(|n| self.has_tasks(cx, n, only))
    }

    /// Whether a declaration or allocator creates a task (of the type `only`), perhaps as a
    /// component of a record or array.
    fn has_tasks(&self, cx: &Context, declaration: NodeId, only: Option<EntityId>) -> bool {
        let mut open = vec![cx.at(declaration)];
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            let tree = &cx.program.sources[at.file].tree;
            let is_single = tree.kind(at.node) == "single_task_declaration"
                || tree.child(at.node, "single_task_declaration").is_some();
            if is_single && only.is_none() {
                return true;
            }
            for node in tree
                .walk(at.node)
                .filter(|&n| tree.field(n) == "subtype_mark")
            {
                let Some(id) = cx.names.meaning(cx.program, At { node, ..at }) else {
                    continue;
                };
                match cx.names.entity(id).kind {
                    Kind::TaskType if only.is_none_or(|own| own == id) => return true,
                    Kind::Type | Kind::Subtype if seen.insert(id) => {
                        open.push(cx.names.entity(id).at)
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

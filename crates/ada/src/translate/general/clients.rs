//! The rest of the program: its names for the object and the task, and uses that are not possible
//! any more.

use std::collections::BTreeMap;

use super::plan::Plan;
use super::polling;
use crate::edit::Edit;
use crate::names::{At, Names, Ty};
use crate::source::Source;
use crate::syntax::{NodeId, Tree};
use crate::translate::context::{Context, source_of};
use crate::translate::layout::Substitutions;
use crate::verdict::{Reason, Rule};

/// Returns uses of a task type that are impossible with a record of the object and the task.
pub(super) fn obstacles(plan: &Plan) -> Vec<Reason> {
    let cx = &plan.cx;
    if !cx.task.is_type {
        return vec![];
    }
    let mut reasons = Vec::new();
    for &at in cx.names.uses_of(cx.task.id) {
        let tree = &source_of(cx.program, at).tree;
        let Some((node, text, help)) = unfit_use(&source_of(cx.program, at).tree, at.node) else {
            continue;
        };
        let _ = tree;
        reasons.push(Reason {
            rule: Rule::UsedAsTask,
            at: At { node, ..at },
            text: text.into(),
            help: help.into(),
        });
    }
    reasons
}

fn unfit_use(tree: &Tree, node: NodeId) -> Option<(NodeId, &'static str, &'static str)> {
    let around = tree.ancestor(
        node,
        &[
            "parameter_specification",
            "generic_instantiation",
            "derived_type_definition",
            "result_profile",
            "access_definition",
            "access_to_object_definition",
            "task_body",
            "subprogram_body",
            "package_declaration",
        ],
    )?;
    let has_mode = |word| {
        tree.child(around, "non_empty_mode")
            .is_some_and(|m| tree.child(m, word).is_some())
    };
    match tree.kind(around) {
        "parameter_specification" if tree.field(node) == "subtype_mark" && !has_mode("out") => {
            Some((
                around,
                "a parameter of mode in: the task becomes a record with a protected object, which can only be called through a variable",
                "make the parameter in out",
            ))
        }
        "generic_instantiation" => Some((
            around,
            "the task type is an actual parameter of a generic unit",
            "pass an access type to it",
        )),
        "derived_type_definition" => Some((
            around,
            "a type is derived from the task type",
            "use the task type itself",
        )),
        _ => None,
    }
}

/// Records the changes of names for the object and the task.
pub(super) fn rewrite(plan: &Plan, changes: &mut BTreeMap<usize, Substitutions>) {
    attributes(plan, changes);
    if plan.is_polling() {
        calls_of_objects(plan, changes);
        return;
    }
    own_calls(plan, changes);
    if plan.cx.task.is_type {
        calls(plan, changes);
    }
}

/// Applies `'Terminated`, `'Callable` and `'Identity` to the task.
fn attributes(plan: &Plan, changes: &mut BTreeMap<usize, Substitutions>) {
    let cx = &plan.cx;
    for suspect in cx
        .suspects
        .iter()
        .filter(|s| s.is_task_only && s.what != "abort")
    {
        for &prefix in &suspect.prefixes {
            let source = source_of(cx.program, prefix);
            let tree = &source.tree;
            if is_name(tree, prefix.node)
                && cx.names.meaning(cx.program, prefix) == Some(cx.task.id)
            {
                let ident = last_identifier(tree, prefix.node);
                let change = changes.entry(prefix.file).or_default();
                change.add(tree.range(ident), plan.server.clone());
                continue;
            }
            let ty = prefix_type(cx, prefix);
            let designated = cx.names.designated(cx.program, ty);
            let is_one = [ty, designated]
                .into_iter()
                .any(|t| cx.names.concurrent(cx.program, t) == Some(cx.task.id));
            if is_one && let Some(tick) = tree.next(prefix.node) {
                let text = format!(".{}'", plan.words.server_part);
                changes
                    .entry(prefix.file)
                    .or_default()
                    .add(tree.range(tick), text);
            }
        }
    }
}

/// Returns the type of the prefix of an attribute, as far as it is known.
pub(super) fn prefix_type(cx: &Context, prefix: At) -> Ty {
    let source = source_of(cx.program, prefix);
    let tree = &source.tree;
    let selector = tree.role(prefix.node, "selector_name");
    if selector.is_some_and(|s| source.text(s).eq_ignore_ascii_case("all")) {
        let access = tree.role(prefix.node, "prefix").unwrap_or(prefix.node);
        let access = At {
            node: access,
            ..prefix
        };
        return cx.names.designated(cx.program, prefix_type(cx, access));
    }
    match cx
        .names
        .meaning(cx.program, prefix)
        .filter(|_| is_name(tree, prefix.node))
    {
        Some(id) => cx.names.type_of(cx.program, id),
        None => cx.names.expression_type(cx.program, prefix),
    }
}

fn is_name(tree: &Tree, node: NodeId) -> bool {
    matches!(tree.kind(node), "identifier" | "selected_component")
}

/// Changes entry names without prefix inside the task's body, including calls from tasks that are
/// declared in it.
fn own_calls(plan: &Plan, changes: &mut BTreeMap<usize, Substitutions>) {
    let (cx, tree) = (&plan.cx, plan.cx.tree());
    let body = cx.task.body;
    for entry in &plan.entries {
        for at in cx.names.uses_of(entry.id) {
            if at.file != body.file || !tree.is_within(at.node, body.node) {
                continue;
            }
            let is_call = tree.parent(at.node).is_some_and(|p| {
                !matches!(tree.kind(p), "selected_component" | "accept_statement")
            });
            if is_call {
                let text = format!("{}.{}", plan.gate_in_server(), cx.text(at.node));
                let change = changes.entry(at.file).or_default();
                change.add(tree.range(at.node), text);
            }
        }
    }
}

/// Without a selector a call goes to the object of the entry's rendezvous: `T.E` becomes
/// `T_E.Call`.
fn calls_of_objects(plan: &Plan, changes: &mut BTreeMap<usize, Substitutions>) {
    let cx = &plan.cx;
    for entry in &plan.entries {
        for &at in cx.names.uses_of(entry.id) {
            let source = source_of(cx.program, at);
            let tree = &source.tree;
            let change = changes.entry(at.file).or_default();
            let Some(parent) = tree.parent(at.node) else {
                continue;
            };
            if tree.kind(parent) == "selected_component" && tree.field(at.node) == "selector_name" {
                if let Some(prefix) = tree.role(parent, "prefix") {
                    let task = last_identifier(tree, prefix);
                    change.add(tree.range(task), entry.rendezvous.clone());
                    change.add(tree.range(at.node), "Call");
                }
            } else if !matches!(tree.kind(parent), "selected_component" | "accept_statement") {
                change.add(tree.range(at.node), format!("{}.Call", entry.rendezvous));
            }
        }
    }
    for (word, _) in polling::conditional_calls(plan) {
        let source = source_of(cx.program, word);
        let indent = source.indent(source.tree.start(word.node));
        let text = polling::patience(&plan.step, indent);
        let change = changes.entry(word.file).or_default();
        change.add(source.tree.range(word.node), text);
    }
}

/// Redirects calls of a task type's objects to the object beside the task.
fn calls(plan: &Plan, changes: &mut BTreeMap<usize, Substitutions>) {
    let cx = &plan.cx;
    for entry in &plan.entries {
        for &at in cx.names.uses_of(entry.id) {
            let tree = &source_of(cx.program, at).tree;
            let Some(whole) = tree.parent(at.node).filter(|&p| {
                tree.kind(p) == "selected_component" && tree.field(at.node) == "selector_name"
            }) else {
                continue;
            };
            let prefix = tree.role(whole, "prefix").map(|node| At { node, ..at });
            let is_instance =
                prefix.is_some_and(|p| cx.names.meaning(cx.program, p) == Some(cx.task.id));
            if is_instance && plan.is_own(at) {
                // A call of the task by itself.
                let range = prefix.map(|p| tree.range(p.node)).unwrap_or_default();
                changes
                    .entry(at.file)
                    .or_default()
                    .add(range, plan.gate_in_server());
                continue;
            }
            let text = format!(
                "{}.{}",
                plan.words.gate_part,
                source_of(cx.program, at).text(at.node)
            );
            changes
                .entry(at.file)
                .or_default()
                .add(tree.range(at.node), text);
        }
    }
}

fn last_identifier(tree: &Tree, node: NodeId) -> NodeId {
    let mut node = node;
    while let Some(selector) = tree.role(node, "selector_name") {
        node = selector;
    }
    node
}

/// `with Ada.Exceptions;` for units whose objects keep an exception, `with Ada.Real_Time;` where
/// tasks poll until a time.
pub(super) fn with_clauses(plans: &[Plan]) -> Vec<Edit> {
    let failing = plans.iter().filter(|p| p.fails);
    let failing = failing.map(|p| (p, p.declaration(), "Ada.Exceptions"));
    let timing = plans.iter().filter(|p| p.is_polling() && p.has_limits());
    let timing = timing.map(|p| (p, p.cx.task.body, "Ada.Real_Time"));
    let mut edits: Vec<Edit> = Vec::new();
    for (plan, at, unit) in failing.chain(timing) {
        let text = format!("with {unit};\n");
        let key = Names::key(unit);
        let source = source_of(plan.cx.program, at);
        let tree = &source.tree;
        let has_one = tree
            .walk(tree.root())
            .filter(|&n| tree.kind(n) == "with_clause")
            .any(|n| {
                Names::key(source.text(n))
                    .split([' ', ',', ';'])
                    .any(|w| w == key)
            });
        if has_one || edits.iter().any(|e| e.file == at.file && e.text == text) {
            continue;
        }
        let start = context_start(source, at.node);
        edits.push(Edit {
            file: at.file,
            range: start..start,
            text,
        });
    }
    edits
}

/// Returns the start of the context clause of the unit around a node, after configuration pragmas.
pub(super) fn context_start(source: &Source, node: NodeId) -> usize {
    let tree = &source.tree;
    let outermost = tree
        .ancestors(node)
        .find(|&n| tree.kind(n) == "compilation_unit");
    let mut first = outermost.unwrap_or(node);
    while let Some(previous) = tree.previous(first) {
        let is_clause = tree
            .children(previous)
            .next()
            .is_some_and(|n| matches!(tree.kind(n), "with_clause" | "use_clause"));
        if !is_clause {
            break;
        }
        first = previous;
    }
    tree.start(first)
}

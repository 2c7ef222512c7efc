//! Interfaces of the task, and whether a protected type can also implement them (RM 3.9.4 (14), 9.4
//! (11.9)).

use super::Found;
use crate::edit::Edit;
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::verdict::{Reason, Rule};

impl Found {
    /// Checks each interface that the declaration names.
    pub(super) fn interfaces(&mut self, cx: &Context) {
        for at in named(cx) {
            let text = cx.program.sources[at.file].text(at.node);
            let reason = |text: String, help: &str| Reason {
                rule: Rule::Interface,
                at,
                text,
                help: help.into(),
            };
            let mut all = Vec::new();
            if !ancestors(cx, at, &mut all) {
                let text = format!(
                    "interface {text} was not given: it may be one that only tasks can implement"
                );
                self.reasons.push(reason(text, "give its source too"));
                continue;
            }
            for id in all {
                let name = &cx.names.entity(id).name;
                if let Some(operation) = unchanging(cx, id) {
                    let text = format!(
                        "{operation} does not change its {name}, and an entry of a protected type can only implement what may"
                    );
                    self.reasons
                        .push(reason(text, "give its first parameter the mode in out"));
                } else if task_word(cx, id).is_none() {
                } else if let Some(what) = needs_tasks(cx, id) {
                    let text = format!("{name} is an interface for tasks, and {what} may need one");
                    let help = "make it a synchronized interface, if no task is needed";
                    self.reasons.push(reason(text, help));
                } else {
                    let text = format!(
                        "{name} becomes a synchronized interface, which tasks and protected types can implement (RM 3.9.4 (5))"
                    );
                    self.notes.push(reason(text, "nothing"));
                }
            }
        }
    }
}

/// Returns the edits that turn the task interfaces of the task into synchronized interfaces.
pub fn loosened(cx: &Context) -> Vec<Edit> {
    let mut all = Vec::new();
    for at in named(cx) {
        ancestors(cx, at, &mut all);
    }
    let words = all.into_iter().filter_map(|id| task_word(cx, id));
    words
        .map(|at| Edit {
            file: at.file,
            range: cx.program.sources[at.file].tree.range(at.node),
            text: "synchronized".into(),
        })
        .collect()
}

/// Returns the interfaces in the task's declaration.
fn named(cx: &Context) -> Vec<At> {
    let declaration = cx.task.declaration;
    let tree = &cx.program.sources[declaration.file].tree;
    let Some(new) = tree.child(declaration.node, "new") else {
        return vec![];
    };
    tree.children(declaration.node)
        .skip_while(|&n| n != new)
        .take_while(|&n| tree.kind(n) != "with")
        .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"))
        .map(|node| At {
            node,
            ..declaration
        })
        .collect()
}

/// Adds an interface and its ancestors. Returns whether all are known.
fn ancestors(cx: &Context, name: At, found: &mut Vec<EntityId>) -> bool {
    let mut open = vec![name];
    let mut are_given = true;
    while let Some(at) = open.pop() {
        let Some(id) = cx.names.meaning(cx.program, at) else {
            are_given = false;
            continue;
        };
        if found.contains(&id) {
            continue;
        }
        found.push(id);
        let Some((at, definition)) = definition(cx, id) else {
            continue;
        };
        let tree = &cx.program.sources[at.file].tree;
        let parents = tree
            .children(definition)
            .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"));
        open.extend(parents.map(|node| At { node, ..at }));
    }
    are_given
}

fn definition(cx: &Context, interface: EntityId) -> Option<(At, NodeId)> {
    let at = cx.names.entity(interface).at;
    let tree = &cx.program.sources[at.file].tree;
    Some((at, tree.child(at.node, "interface_type_definition")?))
}

/// Returns the word `task` of a task interface.
fn task_word(cx: &Context, interface: EntityId) -> Option<At> {
    let (at, definition) = definition(cx, interface)?;
    let node = cx.program.sources[at.file].tree.child(definition, "task")?;
    Some(At { node, ..at })
}

/// Finds an abort or an attribute of tasks whose prefix may be of the interface's class.
fn needs_tasks<'a>(cx: &Context<'a>, interface: EntityId) -> Option<&'a str> {
    let may_be = |&at: &At| {
        let ty = cx.names.expression_type(cx.program, at);
        let is_it = |ty| ty == Ty::Named(interface);
        ty == Ty::Unknown || is_it(ty) || is_it(cx.names.designated(cx.program, ty))
    };
    let mut only = cx.suspects.iter().filter(|s| s.is_task_only);
    only.find(|s| s.prefixes.iter().any(may_be))
        .map(|s| s.what.as_str())
}

/// Finds a procedure of an interface that an entry of the task implements, and whose first
/// parameter has mode `in`.
fn unchanging<'a>(cx: &Context<'a>, interface: EntityId) -> Option<&'a str> {
    let is_entry = |name: &str| {
        let mut entries = cx.task.entries.iter();
        entries.any(|e| Names::key(&e.name) == Names::key(name))
    };
    let mut procedures = cx
        .names
        .all()
        .filter(|(_, e)| e.kind == Kind::Subprogram && is_entry(&e.name));
    procedures.find_map(|(_, procedure)| {
        let tree = &cx.program.sources[procedure.at.file].tree;
        let first = tree
            .walk(procedure.at.node)
            .find(|&n| tree.kind(n) == "parameter_specification")?;
        let mark = tree.role(first, "subtype_mark")?;
        let node = mark;
        let meant = cx.names.meaning(
            cx.program,
            At {
                node,
                ..procedure.at
            },
        );
        let may_change = tree
            .child(first, "non_empty_mode")
            .is_some_and(|m| tree.child(m, "out").is_some());
        (meant == Some(interface) && !may_change).then_some(procedure.name.as_str())
    })
}

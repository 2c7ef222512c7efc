//! The units that wait for tasks (masters, RM 9.3), and the other tasks that they wait for.

use crate::names::{At, EntityId, Kind, Ty};
use crate::syntax::{NodeId, Tree};
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// Returns the unit that waits for a single task: a subprogram, block or task body with the
/// declaration in its declarative part.
pub(super) fn master(cx: &Context) -> Option<At> {
    let at = cx.task.declaration;
    let tree = &source_of(cx.program, at).tree;
    let part = tree.ancestors(at.node).find(|&n| {
        !matches!(
            tree.kind(n),
            "object_declaration" | "single_task_declaration"
        )
    })?;
    let unit = tree.parent(part)?;
    (tree.kind(part) == "non_empty_declarative_part"
        && matches!(
            tree.kind(unit),
            "subprogram_body" | "block_statement" | "task_body"
        ))
    .then_some(At { node: unit, ..at })
}

/// Returns the obstacles to replacing a terminate alternative.
pub(super) fn obstacles(cx: &Context) -> Vec<Reason> {
    let Some(wait) = cx.flow.waits.iter().find(|w| w.has_terminate) else {
        return vec![];
    };
    let refuse = |text: &str| {
        let help = "give the task an entry that ends it, and call that when its clients are done";
        vec![cx.reason(Rule::Terminate, wait.node, text, help)]
    };
    if cx.task.is_type {
        return refuse(
            "objects of a task type with a terminate alternative may end at different places",
        );
    }
    if super::library::is_of_library(cx) {
        return vec![];
    }
    let Some(master) = master(cx) else {
        return refuse(
            "the task is declared in a package inside another unit, or in a generic one, and what waits for it is elsewhere",
        );
    };
    let tree = &source_of(cx.program, master).tree;
    let is_of_master = |n: NodeId| {
        let task = tree.ancestor(n, &["task_body"]);
        task.is_some_and(|t| t == master.node || !tree.is_within(t, master.node))
    };
    let mut nodes = tree.walk(master.node);
    if nodes.any(|n| tree.kind(n) == "terminate_alternative" && is_of_master(n)) {
        return refuse(
            "the task in which it is declared has a terminate alternative too, and each would wait for the other to end",
        );
    }
    if leaves_early(cx, master) {
        return refuse(
            "the unit that waits for the task is left by a jump or a return with a value",
        );
    }
    match dependents(cx, master) {
        Ok(_) => vec![],
        Err(text) => refuse(text),
    }
}

/// Whether a jump leaves a master, or a return statement whose value must be computed first.
fn leaves_early(cx: &Context, master: At) -> bool {
    let tree = &source_of(cx.program, master).tree;
    let Some(handled) = tree.child(master.node, "handled_sequence_of_statements") else {
        return true;
    };
    own_nodes(tree, handled)
        .into_iter()
        .any(|n| match tree.kind(n) {
            "goto_statement" | "extended_return_statement" => true,
            "simple_return_statement" => {
                tree.child(n, "expression").is_some() || tree.kind(master.node) == "block_statement"
            }
            "exit_statement" => {
                let is_inside = |l: NodeId| tree.kind(l) == "loop_statement";
                let is_named = tree.role(n, "loop_name").is_some();
                let holds = tree
                    .ancestors(n)
                    .take_while(|&a| a != handled)
                    .any(is_inside);
                tree.kind(master.node) == "block_statement" && (is_named || !holds)
            }
            _ => false,
        })
}

/// Returns the nodes of a master's statements, except those of accepts and of nested bodies.
pub(super) fn own_nodes(tree: &Tree, handled: NodeId) -> Vec<NodeId> {
    let stops = [
        "accept_statement",
        "subprogram_body",
        "task_body",
        "entry_body",
    ];
    tree.walk(handled)
        .filter(|&n| {
            tree.ancestors(n)
                .take_while(|&a| a != handled)
                .all(|a| !stops.contains(&tree.kind(a)))
        })
        .collect()
}

/// Another task that a master waits for.
pub(super) struct Dependent {
    pub id: EntityId,
    /// The task, an object of a task type, or an array of these.
    pub name: String,
    pub is_array: bool,
    pub has_terminate: bool,
}

/// Returns the other tasks that depend on a master.
///
/// # Errors
/// The reason why they cannot be determined.
pub(super) fn dependents(cx: &Context, master: At) -> Result<Vec<Dependent>, &'static str> {
    let tree = &source_of(cx.program, master).tree;
    let mut found = Vec::new();
    for (id, entity) in cx.names.all().filter(|(_, e)| e.at.file == master.file) {
        let (node, kind) = (entity.at.node, entity.kind);
        if id == cx.task.id
            || !tree.is_within(node, master.node)
            || !is_of_master(tree, node, master.node)
        {
            continue;
        }
        let ty = match kind {
            Kind::SingleTask | Kind::Variable | Kind::Type => cx.names.type_of(cx.program, id),
            _ => continue,
        };
        if kind == Kind::Type {
            let designated = cx.names.designated(cx.program, ty);
            if holds_tasks(cx, designated, 0) {
                return Err("an access type of the same unit may have allocated tasks");
            }
            continue;
        }
        let element = cx.names.element(cx.program, ty);
        let one = |t: Ty| {
            cx.names
                .concurrent(cx.program, t)
                .filter(|&e| is_task(cx, e))
        };
        if one(ty).is_none() && one(element).is_none() {
            if holds_tasks(cx, ty, 0) {
                return Err("an object of the same unit has a task in it");
            }
            continue;
        }
        let in_declarative_part = tree
            .ancestors(node)
            .take_while(|&n| n != master.node)
            .all(|n| !matches!(tree.kind(n), "package_declaration" | "package_body"));
        if !in_declarative_part {
            return Err("a package inside the same unit has a task in it");
        }
        let task = one(ty).or(one(element));
        found.push(Dependent {
            id: task.unwrap_or(id),
            name: entity.name.clone(),
            is_array: one(ty).is_none(),
            has_terminate: task.is_some_and(|t| can_terminate(cx, t)),
        });
    }
    Ok(found)
}

/// Whether a declaration lives as long as the master's declarative part.
fn is_of_master(tree: &Tree, node: NodeId, master: NodeId) -> bool {
    let inner = tree.ancestors(node).find(|&n| {
        matches!(
            tree.kind(n),
            "subprogram_body"
                | "block_statement"
                | "task_body"
                | "entry_body"
                | "protected_body"
                | "task_definition"
                | "record_definition"
                | "formal_part"
                | "subprogram_declaration"
        )
    });
    inner == Some(master)
}

fn is_task(cx: &Context, id: EntityId) -> bool {
    matches!(cx.names.entity(id).kind, Kind::TaskType | Kind::SingleTask)
}

fn can_terminate(cx: &Context, task: EntityId) -> bool {
    cx.names.entity(task).body.is_none_or(|body| {
        let tree = &source_of(cx.program, body).tree;
        tree.walk(body.node)
            .any(|n| tree.kind(n) == "terminate_alternative")
    })
}

/// Whether objects of a type contain tasks.
fn holds_tasks(cx: &Context, ty: Ty, depth: usize) -> bool {
    if depth > 8 {
        return true;
    }
    if cx
        .names
        .concurrent(cx.program, ty)
        .is_some_and(|e| is_task(cx, e))
    {
        return true;
    }
    if holds_tasks_in_element(cx, ty, depth) {
        return true;
    }
    let record = ["record_type_definition", "derived_type_definition"]
        .iter()
        .find_map(|kind| cx.names.definition(cx.program, ty, kind));
    let Some(at) = record else { return false };
    let tree = &source_of(cx.program, at).tree;
    tree.walk(at.node)
        .filter(|&n| tree.field(n) == "subtype_mark")
        .any(|node| {
            let meaning = cx.names.meaning(cx.program, At { node, ..at });
            meaning.is_some_and(|e| holds_tasks(cx, Ty::Named(e), depth + 1))
        })
}

fn holds_tasks_in_element(cx: &Context, ty: Ty, depth: usize) -> bool {
    match cx.names.element(cx.program, ty) {
        Ty::Unknown => false,
        element => holds_tasks(cx, element, depth + 1),
    }
}

/// Returns the other tasks of the same master with terminate alternatives: all are replaced, or
/// none.
pub(super) fn companions(cx: &Context) -> Vec<EntityId> {
    let has_one = cx.flow.waits.iter().any(|w| w.has_terminate);
    let Some(master) = master(cx).filter(|_| has_one) else {
        return vec![];
    };
    let all = dependents(cx, master).unwrap_or_default();
    all.into_iter()
        .filter(|d| d.has_terminate)
        .map(|d| d.id)
        .collect()
}

//! Terminate alternatives.
//!
//! A task that waits for a protected object cannot be at a terminate alternative. What ends it instead stands at the end of the unit
//! that waits for it (its master, RM 9.3): when all other tasks of that unit are terminated and the task is at rest, with no call to
//! accept, nobody is left who could call it (RM 9.3 (6)), and it is aborted where a terminate alternative would have ended it. An
//! abort runs no handlers and finalizes what the task declared, as the alternative does.

use std::collections::BTreeMap;

use super::gate::nest;
use super::plan::Plan;
use crate::edit::Edit;
use crate::names::{At, EntityId, Kind, Ty};
use crate::syntax::{NodeId, Tree};
use crate::translate::context::{Context, source_of};
use crate::translate::layout;
use crate::verdict::{Reason, Rule};

/// The unit that waits for a single task: a subprogram, block or task body with the declaration in its declarative part.
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

/// What keeps a terminate alternative from being replaced.
pub(super) fn obstacles(cx: &Context) -> Vec<Reason> {
    let Some(wait) = cx.flow.waits.iter().find(|w| w.has_terminate) else {
        return vec![];
    };
    let refuse = |text: &str| {
        let mend = "give the task an entry that ends it, and call that when its clients are done";
        vec![cx.reason(Rule::Terminate, wait.node, text, mend)]
    };
    if cx.task.is_type {
        return refuse(
            "objects of a task type with a terminate alternative may end at different places",
        );
    }
    let Some(master) = master(cx) else {
        return refuse(
            "the task ends with the program, or with a package, where no statement can follow the last of its clients",
        );
    };
    let tree = &source_of(cx.program, master).tree;
    let is_task = tree.kind(master.node) == "task_body";
    if is_task
        && tree.walk(master.node).any(|n| {
            tree.kind(n) == "terminate_alternative"
                && tree.ancestor(n, &["task_body"]) == Some(master.node)
        })
    {
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

/// Whether a jump leaves a master, or a return whose value is to be computed first.
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

/// The nodes of a master's statements, without those of accepts and of bodies declared inside them.
fn own_nodes(tree: &Tree, handled: NodeId) -> Vec<NodeId> {
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
struct Dependent {
    id: EntityId,
    /// The task or object of a task type, or an array of such.
    name: String,
    is_array: bool,
    has_terminate: bool,
}

/// The other tasks that depend on a master.
///
/// # Errors
/// Why they cannot be told.
fn dependents(cx: &Context, master: At) -> Result<Vec<Dependent>, &'static str> {
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

/// Whether what is declared lives as long as the master's declarative part.
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

/// Whether objects of a type have tasks in them.
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

/// The other tasks of the same master with terminate alternatives: all are replaced, or none.
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

/// The edits of all masters whose tasks had terminate alternatives.
pub(super) fn edits(plans: &[Plan]) -> Vec<Edit> {
    let mut groups: BTreeMap<At, Vec<&Plan>> = BTreeMap::new();
    for plan in plans.iter().filter(|p| p.has_terminate) {
        if let Some(master) = master(&plan.cx) {
            groups.entry(master).or_default().push(plan);
        }
    }
    groups
        .into_iter()
        .flat_map(|(master, group)| group_edits(master, in_order(group), plans))
        .collect()
}

/// Those that call others come first: when they are at rest they stay so.
fn in_order<'a, 'p>(group: Vec<&'a Plan<'p>>) -> Vec<&'a Plan<'p>> {
    let mut rest = group;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let free = rest
            .iter()
            .position(|callee| !rest.iter().any(|caller| calls(caller, callee)));
        found.push(rest.remove(free.unwrap_or(0)));
    }
    found
}

/// Whether a task's body names an entry of another.
pub(super) fn calls(caller: &Plan, callee: &Plan) -> bool {
    let body = caller.cx.task.body;
    let tree = &source_of(caller.cx.program, body).tree;
    caller.cx.task.id != callee.cx.task.id
        && callee.entries.iter().any(|e| {
            let uses = callee.cx.names.uses_of(e.id).iter();
            uses.into_iter()
                .any(|at| at.file == body.file && tree.is_within(at.node, body.node))
        })
}

fn group_edits(master: At, group: Vec<&Plan>, plans: &[Plan]) -> Vec<Edit> {
    let Some(first) = group.first() else {
        return vec![];
    };
    let source = source_of(first.cx.program, master);
    let tree = &source.tree;
    let step = &first.step;
    let wanted = ["End_Servers".to_string(), "End_Server_Tasks".to_string()];
    let name = first.cx.free_name(&wanted, true, &Default::default());
    let statements = ending_statements(master, &group, plans);
    let mut lines = vec![
        String::new(),
        "--  Takes the place of terminate alternatives: ends what nobody is left to call"
            .to_string(),
        format!("procedure {name} is"),
        "begin".into(),
    ];
    lines.extend(nest(&statements, step));
    lines.extend([format!("end {name};"), String::new()]);
    let outer = source.indent(tree.start(master.node)).to_string();
    let mut edits = Vec::new();
    let edit = |range: std::ops::Range<usize>, text: String| Edit {
        file: master.file,
        range,
        text,
    };
    let Some(handled) = tree.child(master.node, "handled_sequence_of_statements") else {
        return vec![];
    };
    let begin = tree
        .child(master.node, "begin")
        .map_or(tree.start(handled), |n| tree.start(n));
    let line = source.line_start(begin);
    edits.push(edit(
        line..line,
        layout::indented(&lines, &format!("{outer}{step}")),
    ));
    let call = format!("{name};");
    for node in own_nodes(tree, handled) {
        let leaves = match tree.kind(node) {
            "simple_return_statement" => true,
            "raise_statement" => tree
                .ancestor(
                    node,
                    &["exception_handler", "handled_sequence_of_statements"],
                )
                .is_some_and(|h| {
                    tree.kind(h) == "exception_handler" && tree.parent(h) == Some(handled)
                }),
            _ => false,
        };
        if leaves {
            let start = tree.start(node);
            edits.push(edit(
                start..start,
                format!("{call}\n{}", source.indent(start)),
            ));
        }
    }
    let handlers: Vec<NodeId> = tree.all(handled, "exception_handler").collect();
    let ends = std::iter::once(handled).chain(handlers.iter().copied());
    for sequence in ends.filter_map(|n| tree.child(n, "sequence_of_statements")) {
        let last = tree.children(sequence).last();
        let Some(last) = last.filter(|&n| is_passed(tree, n)) else {
            continue;
        };
        let comment = layout::comment_behind(source, tree.end(last)).is_some();
        let end = if comment {
            source.line_end(tree.end(last)) - 1
        } else {
            tree.end(last)
        };
        edits.push(edit(
            end..end,
            format!("\n{}{call}", source.indent(tree.start(last))),
        ));
    }
    let has_others = handlers.iter().any(|&h| {
        tree.child(h, "exception_choice_list")
            .is_some_and(|n| source.text(n).trim().eq_ignore_ascii_case("others"))
    });
    if !has_others && let Some(end) = tree.all(master.node, "end").last() {
        let mut lines = vec![];
        if handlers.is_empty() {
            lines.push("exception".to_string());
        }
        lines.extend([
            format!("{step}when others =>"),
            format!("{step}{step}{call}"),
            format!("{step}{step}raise;"),
        ]);
        let start = source.line_start(tree.start(end));
        edits.push(edit(start..start, layout::indented(&lines, &outer)));
    }
    edits
}

/// Whether a statement can be followed by another: no jump, and no loop without an end.
fn is_passed(tree: &Tree, node: NodeId) -> bool {
    match tree.kind(node) {
        "raise_statement" | "simple_return_statement" => false,
        "loop_statement" => {
            tree.child(node, "iteration_scheme").is_some()
                || tree.walk(node).any(|n| tree.kind(n) == "exit_statement")
        }
        _ => true,
    }
}

/// Waits for the clients, then ends each task when it is at rest.
fn ending_statements(master: At, group: &[&Plan], plans: &[Plan]) -> Vec<String> {
    let Some(first) = group.first() else {
        return vec![];
    };
    let step = &first.step;
    let mut statements = Vec::new();
    let mut clients = Vec::new();
    for client in dependents(&first.cx, master).unwrap_or_default() {
        let plan = plans.iter().find(|p| p.cx.task.id == client.id);
        if plan.is_some_and(|p| p.has_terminate) {
            continue;
        }
        let part = plan
            .filter(|p| p.cx.task.is_type)
            .map_or(String::new(), |p| format!(".{}", p.words.server_part));
        let name = match plan {
            Some(p) if !p.cx.task.is_type => p.server.clone(),
            _ => client.name.clone(),
        };
        if client.is_array {
            statements.extend([
                format!("for Client in {name}'Range loop"),
                format!("{step}while not {name} (Client){part}'Terminated loop"),
                format!("{step}{step}delay 0.001;"),
                format!("{step}end loop;"),
                "end loop;".into(),
            ]);
        } else {
            clients.push(format!("{name}{part}'Terminated"));
        }
    }
    for client in clients {
        statements.extend([
            format!("while not {client} loop"),
            format!("{step}delay 0.001;"),
            "end loop;".into(),
        ]);
    }
    for plan in group {
        statements.push(format!("{}.{};", plan.gate, plan.words.at_rest));
    }
    let servers: Vec<&str> = group.iter().map(|p| p.server.as_str()).collect();
    statements.push(format!("abort {};", servers.join(", ")));
    statements
}

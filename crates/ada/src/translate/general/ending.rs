//! Terminate alternatives.
//!
//! A task that waits for a protected object cannot be at a terminate alternative. Instead, code at
//! the end of the unit that waits for the task (its master, RM 9.3) ends it. It waits until all
//! other tasks of that unit are terminated and the task is at rest, with no call to accept. Then no
//! task is left that could call it (RM 9.3 (6)), and the code aborts it where a terminate
//! alternative would have ended it. An abort runs no handlers and finalizes the task's
//! declarations, like the alternative.

use std::collections::BTreeMap;

use super::gate::nest;
use super::masters::{dependents, master, own_nodes};
use super::plan::Plan;
use crate::edit::Edit;
use crate::names::At;
use crate::source::Source;
use crate::syntax::{NodeId, Tree};
use crate::translate::context::source_of;
use crate::translate::layout;

/// Returns the edits of all masters whose tasks had terminate alternatives.
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

/// Orders tasks such that callers come first: once they are at rest, they stay so.
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
    let Some(handled) = source
        .tree
        .child(master.node, "handled_sequence_of_statements")
    else {
        return vec![];
    };
    let wanted = ["End_Servers".to_string(), "End_Server_Tasks".to_string()];
    let name = first.cx.free_name(&wanted, true, &Default::default());
    let unit = Unit {
        source,
        master,
        handled,
        call: format!("{name};"),
        step: &first.step,
    };
    let mut edits = vec![unit.declaration(&name, ending_statements(master, &group, plans))];
    edits.extend(unit.before_leaving());
    edits.extend(unit.at_ends());
    edits.extend(unit.other_exceptions());
    edits
}

/// A master, and the call that ends its servers.
struct Unit<'p> {
    source: &'p Source,
    master: At,
    handled: NodeId,
    call: String,
    step: &'p str,
}

impl Unit<'_> {
    fn edit(&self, range: std::ops::Range<usize>, text: String) -> Edit {
        Edit {
            file: self.master.file,
            range,
            text,
        }
    }

    fn outer_indent(&self) -> &str {
        self.source.indent(self.source.tree.start(self.master.node))
    }

    fn declaration(&self, name: &str, statements: Vec<String>) -> Edit {
        let (source, tree) = (self.source, &self.source.tree);
        let mut lines = vec![
            String::new(),
            "--  Takes the place of terminate alternatives: ends what nobody is left to call"
                .into(),
            format!("procedure {name} is"),
            "begin".into(),
        ];
        lines.extend(nest(&statements, self.step));
        lines.extend([format!("end {name};"), String::new()]);
        let begin = tree
            .child(self.master.node, "begin")
            .unwrap_or(self.handled);
        let line = source.line_start(tree.start(begin));
        let indent = format!("{}{}", self.outer_indent(), self.step);
        self.edit(line..line, layout::indented(&lines, &indent))
    }

    /// Returns edits before returns, and before raise statements in handlers.
    fn before_leaving(&self) -> Vec<Edit> {
        let (source, tree) = (self.source, &self.source.tree);
        let around = ["exception_handler", "handled_sequence_of_statements"];
        let nodes = own_nodes(tree, self.handled).into_iter();
        let leaving = nodes.filter(|&n| match tree.kind(n) {
            "simple_return_statement" => true,
            "raise_statement" => tree.ancestor(n, &around).is_some_and(|h| {
                tree.kind(h) == "exception_handler" && tree.parent(h) == Some(self.handled)
            }),
            _ => false,
        });
        leaving
            .map(|node| {
                let start = tree.start(node);
                let text = format!("{}\n{}", self.call, source.indent(start));
                self.edit(start..start, text)
            })
            .collect()
    }

    fn handlers(&self) -> Vec<NodeId> {
        let tree = &self.source.tree;
        tree.all(self.handled, "exception_handler").collect()
    }

    /// Returns edits at the end of the statements and of each handler.
    fn at_ends(&self) -> Vec<Edit> {
        let (source, tree) = (self.source, &self.source.tree);
        let holders = std::iter::once(self.handled).chain(self.handlers());
        holders
            .filter_map(|n| tree.child(n, "sequence_of_statements"))
            .filter_map(|s| tree.children(s).last())
            .filter(|&last| is_passed(tree, last))
            .map(|last| {
                let mut end = tree.end(last);
                if layout::comment_behind(source, end).is_some() {
                    end = source.line_end(end) - 1;
                }
                let indent = source.indent(tree.start(last));
                self.edit(end..end, format!("\n{indent}{}", self.call))
            })
            .collect()
    }

    /// Returns an edit for exceptions without a handler.
    fn other_exceptions(&self) -> Option<Edit> {
        let (source, tree, step) = (self.source, &self.source.tree, self.step);
        let handlers = self.handlers();
        let has_others = handlers.iter().any(|&h| {
            tree.child(h, "exception_choice_list")
                .is_some_and(|n| source.text(n).trim().eq_ignore_ascii_case("others"))
        });
        let end = tree
            .all(self.master.node, "end")
            .last()
            .filter(|_| !has_others)?;
        let mut lines = vec![];
        if handlers.is_empty() {
            lines.push("exception".to_string());
        }
        lines.extend([
            format!("{step}when others =>"),
            format!("{step}{step}{}", self.call),
            format!("{step}{step}raise;"),
        ]);
        let start = source.line_start(tree.start(end));
        Some(self.edit(start..start, layout::indented(&lines, self.outer_indent())))
    }
}

/// Whether execution can continue after a statement: it is no jump, and no endless loop.
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

/// Returns code that waits for the clients, then ends each task when it is at rest.
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

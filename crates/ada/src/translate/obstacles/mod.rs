//! Obstacles to the replacement of a task by a protected object.

mod checks;
mod code;
mod declaration;
pub(super) mod interfaces;
mod waits;

pub use code::code_at;
pub use waits::{polling, variables_read};

use std::collections::HashSet;

use crate::flow::Point;
use crate::syntax::NodeId;
use crate::translate::ceiling;
use crate::translate::context::Context;
use crate::translate::nested;
use crate::verdict::{Reason, Rule};
use code::is_nested_wait;

/// Obstacles, and notes for a reader of the translation.
#[derive(Debug, Default)]
pub struct Found {
    /// The obstacles.
    pub reasons: Vec<Reason>,
    /// Notes for a reader.
    pub notes: Vec<Reason>,
    /// Unknown units that already have a reason.
    absent: HashSet<String>,
}

/// Finds all obstacles to the translation of section 6.1 of the paper.
pub fn find(cx: &Context) -> Found {
    let mut found = Found::default();
    if cx.flow.sites.is_empty() {
        let text = format!("task {} accepts no call", cx.task.name);
        found.reasons.push(cx.reason(
            Rule::NoAccept,
            cx.task.body.node,
            text,
            "nothing: a task that works on its own is what tasks are for",
        ));
        return found;
    }
    found.declaration(cx);
    found.uses(cx);
    found.conditional_calls(cx);
    found.statements(cx);
    found.between(cx);
    found.accepts(cx);
    found.guards(cx);
    for wait in cx.flow.reachable_waits() {
        found.alternatives(cx, &cx.flow.waits[wait]);
    }
    found.handlers(cx);
    found.checks(cx);
    found.handshake(cx);
    found.elaboration(cx);
    found.unique();
    found.notes.extend(ceiling::note(cx));
    found
}

/// Finds obstacles to a calling server's object, in the code between its calls.
pub fn between_calls(cx: &Context) -> Found {
    let mut found = Found::default();
    found.declaration(cx);
    found.statements(cx);
    found.between(cx);
    for site in &cx.flow.sites {
        if let Some(actuals) = cx.tree().child(site.accept, "actual_parameter_part") {
            let effects = cx.oracle.of(cx.at(actuals));
            found.report_between(cx, &effects, false);
        }
    }
    let handled = cx
        .tree()
        .child(cx.task.body.node, "handled_sequence_of_statements");
    let own = handled.filter(|&h| cx.tree().child(h, "exception_handler").is_some());
    for node in own.into_iter().chain(handled_around_waits(cx)) {
        found.refuse(
            cx,
            Rule::Handler,
            node,
            "the task has exception handlers",
            "handle exceptions in the clients",
        );
    }
    found.elaboration(cx);
    found.unique();
    found
}

/// Finds a task that is activated too early to call an object in the server's place (RM 3.11 (10)).
pub fn early_callers(cx: &Context) -> Vec<Reason> {
    let mut found = Found::default();
    found.elaboration(cx);
    found.reasons
}

impl Found {
    fn refuse(
        &mut self,
        cx: &Context,
        rule: Rule,
        node: NodeId,
        text: impl Into<String>,
        help: &str,
    ) {
        self.reasons.push(cx.reason(rule, node, text, help));
    }

    fn note(
        &mut self,
        cx: &Context,
        rule: Rule,
        node: NodeId,
        text: impl Into<String>,
        help: &str,
    ) {
        self.notes.push(cx.reason(rule, node, text, help));
    }

    fn unique(&mut self) {
        let mut seen = HashSet::new();
        self.reasons.retain(|r| seen.insert((r.rule, r.at)));
        self.reasons.sort_by_key(|r| r.at);
        let mut seen = HashSet::new();
        self.notes.retain(|r| seen.insert((r.rule, r.at)));
        self.notes.sort_by_key(|r| r.at);
    }

    fn uses(&mut self, cx: &Context) {
        for found in cx.task.uses_as_task(cx.program, cx.names, cx.suspects) {
            let text = format!("{} needs a task", found.what);
            let help = "give the server an entry that asks or ends it, and use that";
            self.reasons.push(Reason {
                rule: Rule::UsedAsTask,
                at: found.at,
                text,
                help: help.into(),
            });
        }
    }

    /// Handles conditional calls. They fail while a task is busy or not yet at its accept, but an
    /// object is never busy for long.
    fn conditional_calls(&mut self, cx: &Context) {
        for entry in &cx.task.entries {
            let call = cx.names.uses_of(entry.id).iter().find(|at| {
                let tree = &cx.program.sources[at.file].tree;
                let call = tree.ancestor(at.node, &["procedure_call_statement"]);
                let around = call.and_then(|c| tree.parent(c)).filter(|&n| {
                    tree.kind(n) == "entry_call_alternative" && tree.children(n).next() == call
                });
                around
                    .and_then(|n| tree.parent(n))
                    .is_some_and(|n| tree.kind(n) == "conditional_entry_call")
            });
            if let Some(&at) = call {
                let text = format!(
                    "a conditional call of {}: the task refuses it while it is busy with another, the object does not, so it may succeed more often",
                    entry.name
                );
                self.notes.push(Reason {
                    rule: Rule::ConditionalCall,
                    at,
                    text,
                    help: "let the server itself say no where that matters".into(),
                });
            }
        }
    }

    /// Finds statements that the graph cannot follow.
    fn statements(&mut self, cx: &Context) {
        let tree = cx.tree();
        for node in tree.walk(cx.task.body.node) {
            match tree.kind(node) {
                "goto_statement" if !cx.flow.is_plain(node) => self.refuse(
                    cx,
                    Rule::Goto,
                    node,
                    "a goto between synchronization points",
                    "use a loop or an exit",
                ),
                "label" if tree.parent(node).is_some_and(|p| !cx.flow.is_plain(p)) => {
                    self.refuse(
                        cx,
                        Rule::Goto,
                        node,
                        "a label between synchronization points",
                        "use a loop or an exit",
                    );
                }
                "accept_statement"
                    if tree.ancestor(node, &["task_body"]) == Some(cx.task.body.node)
                        && !cx.flow.sites.iter().any(|s| s.accept == node) =>
                {
                    self.refuse(
                        cx,
                        Rule::Unresolved,
                        node,
                        "the entry that is accepted here could not be resolved",
                        "check that the file compiles",
                    );
                }
                "gnatprep_if_statement" | "gnatprep_declarative_if_statement" => {
                    self.refuse(
                        cx,
                        Rule::Unresolved,
                        node,
                        "preprocessor lines in the task body",
                        "preprocess the file first (gnatprep)",
                    );
                }
                _ => {}
            }
        }
        self.reasons.extend(nested::obstacles(cx));
        if tree
            .walk(cx.task.body.node)
            .any(|n| tree.kind(n) == "asynchronous_select")
        {
            self.refuse(
                cx,
                Rule::BlocksBetween,
                cx.task.body.node,
                "an asynchronous select in the task body",
                "move it into the clients",
            );
        }
    }

    /// Checks handlers around waits.
    fn handlers(&mut self, cx: &Context) {
        let tree = cx.tree();
        for handled in handled_around_waits(cx) {
            for handler in tree.all(handled, "exception_handler") {
                let leaves = tree.walk(handler).find(|&n| {
                    matches!(
                        tree.kind(n),
                        "raise_statement" | "accept_statement" | "selective_accept"
                    ) || !cx.flow.is_plain(n)
                });
                if let Some(node) = leaves {
                    self.refuse(
                        cx,
                        Rule::Handler,
                        node,
                        "the handler raises, accepts or jumps",
                        "handle the exception inside the accept",
                    );
                }
                let mut effects = cx.oracle.of(cx.at(handler));
                effects.blocks.retain(|e| !is_nested_wait(cx, e));
                self.report_between(cx, &effects, false);
            }
            let owner = tree.parent(handled).unwrap_or(handled);
            if tree.kind(owner) == "block_statement" {
                let goes_on = cx.flow.reach(cx.flow.after(owner)).into_iter().any(|p| matches!(p, Point::Before(n) if cx.flow.is_plain(n) && tree.kind(n) != "null_statement"));
                if goes_on {
                    self.refuse(
                        cx,
                        Rule::Handler,
                        owner,
                        "statements follow the block whose handler is around the accept",
                        "move them into the block",
                    );
                }
            }
        }
    }
}

/// Returns the handled sequences with handlers that have a wait inside, innermost last.
pub fn handled_around_waits(cx: &Context) -> Vec<NodeId> {
    let tree = cx.tree();
    let mut found: Vec<NodeId> = Vec::new();
    for wait in &cx.flow.waits {
        let around = tree
            .ancestors(wait.node)
            .take_while(|&n| n != cx.task.body.node);
        found.extend(around.filter(|&n| {
            tree.kind(n) == "handled_sequence_of_statements"
                && tree.child(n, "exception_handler").is_some()
        }));
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|&n| {
        tree.parent(n)
            .is_some_and(|p| tree.kind(p) != "accept_statement")
    });
    found
}

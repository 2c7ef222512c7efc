//! Uses of a task's own entries in its body outside of accepts: `'Count`, parameters by their full
//! names, requeues, and returns.

use super::accepts::{Accepts, block_name};
use super::entry::counts;
use super::plan::Form;
use super::rendezvous::passed;
use crate::flow::{Site, Wait};
use crate::names::{EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::machine;

/// Returns the entry of the same task that a requeue statement names.
pub(super) fn own_target(cx: &Context, node: NodeId) -> Option<usize> {
    let tree = cx.tree();
    let name = tree.role(node, "name")?;
    let name = if tree.kind(name) == "function_call" {
        tree.role(name, "name")?
    } else {
        name
    };
    let id = cx.names.meaning(cx.program, cx.at(name))?;
    cx.task.entries.iter().position(|e| e.id == id)
}

/// Returns the names `E.X` inside a task's body, where `E` is an entry of it.
pub(super) fn expanded<'c>(cx: &'c Context, entry: EntityId) -> impl Iterator<Item = NodeId> + 'c {
    let tree = cx.tree();
    let uses = cx.names.uses_of(entry).iter();
    uses.filter(|at| at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node))
        .filter_map(move |at| {
            let mut prefix = at.node;
            if tree.field(prefix) == "selector_name" {
                prefix = tree.parent(prefix)?;
            }
            let whole = tree.parent(prefix)?;
            (tree.kind(whole) == "selected_component" && tree.field(prefix) == "prefix")
                .then_some(whole)
        })
}

impl Accepts<'_> {
    pub(super) fn counts(&mut self) {
        let cx = &self.plan.cx;
        let tree = cx.tree();
        let mut found = Vec::new();
        for entry in self.plan.entries.iter().filter(|e| e.is_counted) {
            for prefix in counts(cx, entry.id) {
                let index = tree
                    .child(prefix, "actual_parameter_part")
                    .map_or(String::new(), |n| format!(" {}", cx.text(n)));
                let end = tree.next(prefix).and_then(|t| tree.next(t));
                let range = tree.start(prefix)..end.map_or(tree.end(prefix), |d| tree.end(d));
                let text = if self.plan.is_polling() {
                    format!("{}.Call_Count", entry.rendezvous)
                } else {
                    format!("{}.{}_Count{index}", self.plan.gate_in_server(), entry.name)
                };
                found.push((range, text));
            }
        }
        for (range, text) in found {
            self.changes.add(range, text);
        }
    }

    /// Expands parameters: `E.X` inside an accept of `E` is its parameter, even if an inner `X`
    /// hides it.
    pub(super) fn expanded_parameters(&mut self) {
        let plan = self.plan;
        let (cx, tree) = (&plan.cx, plan.cx.tree());
        for entry in &plan.entries {
            for whole in expanded(cx, entry.id) {
                let selector = tree.role(whole, "selector_name").map_or("", |n| cx.text(n));
                let parameter = entry
                    .parameters
                    .iter()
                    .find(|p| Names::key(&p.name) == Names::key(selector));
                let Some(parameter) = parameter else { continue };
                let text = match plan.form {
                    Form::Merged => format!("{}.{}", plan.words.data, entry.field(parameter)),
                    Form::Apart | Form::Polling => {
                        format!("{}.{}", block_name(&entry.name), parameter.name)
                    }
                };
                self.changes.add(tree.range(whole), text);
            }
        }
    }

    /// `T.X` inside the body of `T`, where `X` is declared in it.
    pub(super) fn expanded_locals(&mut self) {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        for at in cx.names.uses_of(cx.task.id) {
            let is_here =
                at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node);
            if !is_here {
                continue;
            }
            let whole = tree.parent(at.node).filter(|&p| {
                tree.kind(p) == "selected_component" && tree.field(at.node) == "prefix"
            });
            let meaning = whole.and_then(|w| cx.names.meaning(cx.program, cx.at(w)));
            let is_local =
                meaning.is_some_and(|e| cx.is_local(e) && cx.names.entity(e).kind != Kind::Entry);
            if is_local {
                self.changes
                    .add(tree.range(at.node), self.plan.server.clone());
            }
        }
    }

    /// Rewrites requeue statements, and removes returns at the end.
    pub(super) fn leaving(&mut self, wait: &Wait, site: &Site) {
        let source = self.plan.cx.source();
        let needs_procedure = self.needs_procedure(site.accept);
        for node in machine::leaving(source, site.accept, "requeue_statement") {
            let mut text = self.requeue(wait, site, node);
            if needs_procedure {
                text = format!("{text}\n{}return;", source.indent(source.tree.start(node)));
            }
            self.changes.add(source.tree.range(node), text);
        }
        if !needs_procedure {
            for node in machine::leaving(source, site.accept, "simple_return_statement") {
                self.changes.add(source.tree.range(node), "null;");
            }
        }
    }

    fn requeue(&self, wait: &Wait, site: &Site, node: NodeId) -> String {
        let (plan, w) = (self.plan, &self.plan.words);
        let entry = plan.entry_of(site.accept);
        let way = &plan.ways[&node];
        let member = self.way_member(node);
        if plan.form == Form::Merged {
            let data = if plan.has_data() {
                format!(", {}", w.data)
            } else {
                String::new()
            };
            let chosen = self.chosen(wait);
            let gate = plan.gate_in_server();
            return format!(
                "{member}{gate}.{} ({chosen}, {way}{data});",
                w.accept_requeue
            );
        }
        let mut actuals = vec![way.clone()];
        actuals.extend(passed(entry, "in").into_iter().map(|p| p.0));
        format!(
            "{member}{}.Accept_Requeue ({});",
            plan.rendezvous(entry),
            actuals.join(", ")
        )
    }

    /// Returns the statement, with its line end, that records the member of the task's own family
    /// to which a requeue leads.
    fn way_member(&self, node: NodeId) -> String {
        let (plan, source) = (self.plan, self.plan.cx.source());
        let tree = &source.tree;
        let index = tree
            .role(node, "name")
            .and_then(|n| tree.child(n, "actual_parameter_part"));
        let (Some(entry), Some(index)) = (own_target(&plan.cx, node), index) else {
            return String::new();
        };
        let value = self.changes.apply(source, tree.range(index));
        let way = plan.entries[entry].way();
        let indent = source.indent(tree.start(node));
        format!("{}.Set_{way} {value};\n{indent}", plan.gate_in_server())
    }
}

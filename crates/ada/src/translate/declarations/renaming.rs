//! Names that change when declarations move, and names that would have another meaning at the
//! code's new place.

use std::collections::HashSet;

use super::Moved;
use crate::names::{EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::verdict::Rule;

impl Moved {
    /// Reserves a name for a private declaration.
    pub fn private_name(&mut self, cx: &Context, wanted: &[String]) -> String {
        let name = cx.free_name(wanted, false, &self.taken);
        self.taken.insert(Names::key(&name));
        name
    }

    /// Reserves a name for a declaration outside the protected object.
    pub fn declare_outside(&mut self, name: &str) {
        self.taken.insert(Names::key(name));
        self.outside_names.insert(Names::key(name));
    }

    pub(super) fn rename_end(&mut self, cx: &Context, body: NodeId, old: &str, new: &str) {
        let tree = cx.tree();
        if let Some(end) = tree.role(body, "endname")
            && old != new
        {
            self.changes.add(tree.range(end), new);
        }
    }

    /// Replaces a local name, and `Task.Name` with it, by a new name.
    pub(super) fn rename(&mut self, cx: &Context, id: EntityId, new: &str) {
        let entity = cx.names.entity(id);
        let tree = cx.tree();
        if entity.name != new {
            self.changes.add(tree.range(entity.ident.node), new);
        }
        for at in cx
            .names
            .uses_of(id)
            .iter()
            .filter(|a| a.file == cx.task.body.file)
        {
            let parent = tree.parent(at.node).filter(|&p| {
                tree.kind(p) == "selected_component" && tree.field(at.node) == "selector_name"
            });
            match parent {
                Some(expanded) => self.changes.add(tree.range(expanded), new),
                None if entity.name != new => self.changes.add(tree.range(at.node), new),
                None => {}
            }
        }
    }

    /// Expands names that formal parameters would hide (RM 4.1.3): statements after an accept move
    /// into the entry body.
    pub(super) fn uncover(&mut self, cx: &Context) {
        let tree = cx.tree();
        let Some(statements) = tree.child(cx.task.body.node, "handled_sequence_of_statements")
        else {
            return;
        };
        for node in tree
            .walk(statements)
            .filter(|&n| tree.kind(n) == "identifier")
        {
            let is_selector = tree.field(node) == "selector_name"
                || tree
                    .parent(node)
                    .is_some_and(|p| tree.kind(p) == "component_choice_list");
            let accept = tree
                .ancestor(node, &["accept_statement"])
                .filter(|&a| tree.is_within(a, statements));
            if is_selector || !self.formals.contains(&Names::key(cx.text(node))) || accept.is_some()
            {
                continue;
            }
            let Some(id) = cx.names.meaning(cx.program, cx.at(node)) else {
                continue;
            };
            let entity = cx.names.entity(id);
            let is_own = self.components_of.contains(&id);
            if self.changes.has(tree.start(node)) || (cx.is_local(id) && !is_own) {
                continue;
            }
            let owner = if is_own {
                Some(cx.task.id)
            } else {
                cx.names.scope(entity.scope).owner
            };
            match owner
                .map(|o| cx.names.entity(o))
                .filter(|o| o.kind != Kind::Entry && o.kind != Kind::Type)
            {
                Some(owner) => self.changes.add(
                    tree.range(node),
                    format!("{}.{}", owner.name, cx.text(node)),
                ),
                None => {
                    let text = format!(
                        "`{}` would be hidden by a parameter of that name",
                        cx.text(node)
                    );
                    self.refuse(cx, node, text, "rename one of them");
                }
            }
        }
    }

    /// Handles `X'Access` of a variable that becomes a component.
    pub(super) fn access(&mut self, cx: &Context) {
        let tree = cx.tree();
        for node in tree
            .walk(cx.task.body.node)
            .filter(|&n| tree.kind(n) == "attribute_designator")
        {
            let word = Names::key(cx.text(node));
            if !matches!(
                word.as_str(),
                "access" | "unchecked_access" | "unrestricted_access" | "address"
            ) {
                continue;
            }
            let prefix = tree.previous(node).and_then(|t| tree.previous(t));
            let named = prefix.map_or(vec![], |p| cx.meanings(cx.at(p)));
            if named.iter().any(|(_, e)| {
                self.components_of.contains(e)
                    || (cx.is_local(*e) && cx.names.entity(*e).kind == Kind::Subprogram)
            }) {
                let reason = cx.reason(
                    Rule::Access,
                    node,
                    "a component of a protected object must not be reached by address",
                    "pass the value instead of its address",
                );
                self.reasons.push(reason);
            }
        }
    }
}

pub(super) fn formals(cx: &Context) -> HashSet<String> {
    let regions = cx
        .task
        .entries
        .iter()
        .filter_map(|e| cx.names.entity(e.id).inner);
    regions
        .flat_map(|r| {
            cx.names
                .scope(r)
                .entities
                .iter()
                .map(|&e| Names::key(&cx.names.entity(e).name))
                .collect::<Vec<_>>()
        })
        .collect()
}

//! Declarations inside loops and blocks that wait. They become components, too, and subprograms
//! that use the variables become private operations.

use super::{Moved, entities, first_word};
use crate::names::{EntityId, Names};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::{counter, layout};

impl Moved {
    pub(super) fn operation(&mut self, cx: &Context, item: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        let spec = tree
            .child(item, "procedure_specification")
            .or_else(|| tree.child(item, "function_specification"));
        let Some(spec) = spec else { return };
        let is_function = tree.kind(spec) == "function_specification";
        if is_function
            && cx.meanings(cx.at(item)).iter().any(|&(ident, e)| {
                self.components_of.contains(&e) && cx.is_written_at(cx.at(ident))
            })
        {
            let text = format!(
                "function {} changes a variable of the task, which a protected function may not",
                first_word(cx, spec)
            );
            return self.refuse(cx, item, text, "make it a procedure with an out parameter");
        }
        for id in entities(cx, item) {
            self.taken.insert(Names::key(&cx.names.entity(id).name));
        }
        let profile = self.changes.apply(source, tree.range(spec));
        let mut declaration = layout::dedent(&profile, source.indent(tree.start(spec)));
        if let Some(last) = declaration.last_mut() {
            last.push(';');
        }
        if !self.operations.contains(&declaration) {
            self.operations.push(declaration);
        }
        if tree.kind(item) != "subprogram_declaration" {
            self.operation_bodies
                .push(layout::lines_of(source, item, &self.changes));
        }
    }

    pub(super) fn loops_and_blocks(&mut self, cx: &Context) {
        let tree = cx.tree();
        let nodes: Vec<NodeId> = tree.walk(cx.task.body.node).collect();
        for node in nodes {
            if cx.flow.is_plain(node) {
                continue;
            }
            match tree.kind(node) {
                "loop_statement" if cx.flow.is_for(node) => self.counter(cx, node),
                "block_statement" => self.block(cx, node),
                _ => {}
            }
        }
    }

    pub(super) fn counter(&mut self, cx: &Context, node: NodeId) {
        match counter::of(cx, node) {
            Ok((id, mut counter)) => {
                let shared = self.counters.iter().any(|(&other, c)| {
                    c.name == counter.name
                        && c.subtype == counter.subtype
                        && !cx.tree().is_within(node, other)
                        && !cx.tree().is_within(other, node)
                });
                if !shared {
                    counter.name = self.hoisted_name(cx, id);
                    self.components
                        .push(vec![format!("{} : {};", counter.name, counter.subtype)]);
                }
                if let Some((name, subtype, _)) = &mut counter.bound {
                    *name = cx.free_name(std::slice::from_ref(name), false, &self.taken);
                    self.taken.insert(Names::key(name));
                    self.components.push(vec![format!("{name} : {subtype};")]);
                    counter.last = name.clone();
                }
                self.rename(cx, id, &counter.name.clone());
                self.counters.insert(node, counter);
            }
            Err(reason) => self.reasons.push(reason),
        }
    }

    /// Returns a name for a component that was declared inside: its own, unless that would hide
    /// another entity or be hidden.
    pub(super) fn hoisted_name(&mut self, cx: &Context, id: EntityId) -> String {
        let name = cx.names.entity(id).name.clone();
        let key = Names::key(&name);
        let tree = cx.tree();
        let captures = tree
            .walk(cx.task.body.node)
            .filter(|&n| tree.kind(n) == "identifier" && Names::key(cx.text(n)) == key)
            .any(|n| {
                let meaning = cx.names.meaning(cx.program, cx.at(n));
                meaning.is_some_and(|e| e != id && !cx.is_local(e))
            });
        let new = if captures || self.taken.contains(&key) || self.formals.contains(&key) {
            cx.free_name(
                &[format!("Current_{name}"), format!("{name}_2")],
                false,
                &self.taken,
            )
        } else {
            name
        };
        self.taken.insert(Names::key(&new));
        new
    }

    /// Gives a counter its first value in its declaration.
    pub fn set_initial(&mut self, name: &str, value: &str) {
        for component in &mut self.components {
            if let [line] = component.as_mut_slice()
                && line.starts_with(&format!("{name} : "))
                && !line.contains(":=")
            {
                *line = format!("{} := {value};", line.trim_end_matches(';'));
            }
        }
    }

    pub(super) fn block(&mut self, cx: &Context, node: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        let Some(part) = tree.child(node, "non_empty_declarative_part") else {
            return;
        };
        let mut starts = Vec::new();
        for item in tree.children(part) {
            let is_object = tree.kind(item) == "object_declaration"
                && tree.child(item, "array_type_definition").is_none()
                && tree.child(item, "identifier").is_some();
            if !is_object || !self.is_definite(cx, item) {
                self.refuse(
                    cx,
                    item,
                    "a block with an accept inside declares more than simple objects",
                    "declare it in the task's declarative part",
                );
                continue;
            }
            let own = cx.names.region(cx.at(node));
            let ids: Vec<EntityId> = own
                .map_or(vec![], |s| cx.names.scope(s).entities.clone())
                .into_iter()
                .filter(|&e| tree.is_within(cx.names.entity(e).ident.node, item))
                .collect();
            let value = tree
                .child(item, "expression")
                .map(|e| self.changes.apply(source, tree.range(e)));
            for id in ids {
                let new = self.hoisted_name(cx, id);
                self.rename(cx, id, &new);
                self.components
                    .push(vec![format!("{new} : {};", self.subtype_text(cx, item))]);
                starts.extend(value.as_ref().map(|v| format!("{new} := {v};")));
            }
        }
        self.block_starts.insert(node, starts);
    }
}

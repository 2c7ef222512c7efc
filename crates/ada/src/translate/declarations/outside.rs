//! Declarations that move out of the task body: constants, types, and subprograms that use none of
//! its variables.

use std::collections::HashSet;

use super::{
    CANNOT_MOVE, Moved, becomes_component, entities, first_word, is_own_discriminant, loop_of,
    uses_component, uses_state,
};
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::{NodeId, Tree};
use crate::translate::context::Context;
use crate::translate::{layout, visibility};

impl Moved {
    /// Chooses names for the declarations that move out, and renames their uses.
    pub(super) fn rename_outside(&mut self, cx: &Context, outside: &[NodeId]) {
        for &item in outside {
            for id in entities(cx, item) {
                let entity = cx.names.entity(id);
                if cx.tree().kind(item) == "use_clause"
                    || cx.tree().kind(entity.ident.node) != "identifier"
                {
                    continue;
                }
                let name = entity.name.clone();
                let key = Names::key(&name);
                let new = if cx.occurs_outside(&key)
                    || self.taken.contains(&key)
                    || self.formals.contains(&key)
                {
                    cx.free_name(&[format!("{}_{name}", cx.task.name)], true, &self.taken)
                } else {
                    name.clone()
                };
                self.declare_outside(&new);
                self.rename(cx, id, &new);
                // The body of a declaration has its name again.
                if let Some(body) = entity.body.filter(|b| b.file == cx.task.body.file) {
                    self.rename_end(cx, body.node, &name, &new);
                }
            }
        }
    }

    /// Places the declarations that move out: those that components need go before the declaration,
    /// the rest before the body.
    pub(super) fn outside(&mut self, cx: &Context, outside: &[NodeId], items: &[NodeId]) {
        let tree = cx.tree();
        let mut needed: HashSet<EntityId> = HashSet::new();
        let mut open: Vec<NodeId> = items
            .iter()
            .copied()
            .filter(|&i| tree.kind(i) == "object_declaration" && becomes_component(cx, i))
            .collect();
        open.extend(tree.walk(cx.task.body.node).filter(|&n| {
            tree.kind(n) == "loop_parameter_specification" && !cx.flow.is_plain(loop_of(cx, n))
        }));
        open.extend(
            tree.walk(cx.task.body.node)
                .filter(|&n| tree.kind(n) == "block_statement" && !cx.flow.is_plain(n))
                .filter_map(|n| tree.child(n, "non_empty_declarative_part")),
        );
        // Profiles of private operations also appear in the declaration.
        let profiles = items
            .iter()
            .copied()
            .filter(|&i| uses_state(cx, i, &self.components_of))
            .filter_map(|i| {
                tree.child(i, "procedure_specification")
                    .or_else(|| tree.child(i, "function_specification"))
            });
        open.extend(profiles);
        let early: Vec<NodeId> = open.clone();
        // A barrier that becomes a component has its initial value in the declaration.
        if cx.options.profile.is_some() {
            open.extend(cx.flow.sites.iter().filter_map(|s| s.guard));
        }
        // A use clause goes where the components are, since they may need names from it. The units
        // that it names go there, too.
        if !early.is_empty() {
            open.extend(
                outside
                    .iter()
                    .copied()
                    .filter(|&o| tree.kind(o) == "use_clause"),
            );
        }
        while let Some(node) = open.pop() {
            for (_, e) in cx.meanings(cx.at(node)) {
                if cx.is_local(e) && needed.insert(e) {
                    let at = cx.names.entity(e).at;
                    if outside.iter().any(|&o| tree.is_within(at.node, o)) {
                        open.push(at.node);
                    }
                }
            }
        }
        for &node in &early {
            // A value that cannot be in the declaration is assigned when the server starts.
            let later = tree.child(node, "expression").filter(|&v| {
                tree.kind(node) == "object_declaration"
                    && !visibility::is_all_shown(cx, v)
                    && !self.can_be_shown(cx, node)
            });
            // Bounds are needed in the body, where the loop is entered. The type is needed where
            // the counter is declared.
            if tree.kind(node) == "loop_parameter_specification" {
                if let Some(mark) = tree.role(node, "subtype_mark") {
                    self.check_visible(cx, mark, true);
                }
                continue;
            }
            match later {
                None => self.check_visible(cx, node, true),
                Some(value) => tree
                    .children(node)
                    .filter(|&n| n != value)
                    .for_each(|n| self.check_visible(cx, n, true)),
            }
        }
        for &item in outside {
            let declares = entities(cx, item);
            let is_clause = tree.kind(item).ends_with("_clause") && tree.kind(item) != "use_clause";
            let concerns = is_clause
                && tree
                    .role(item, "local_name")
                    .and_then(|n| cx.names.meaning(cx.program, cx.at(n)))
                    .is_some_and(|e| needed.contains(&e));
            if let Some(object) = tree
                .role(item, "local_name")
                .and_then(|n| cx.names.meaning(cx.program, cx.at(n)))
                && self.components_of.contains(&object)
            {
                self.refuse(
                    cx,
                    item,
                    "a component of a protected object cannot have this representation clause",
                    "remove the clause, or put it on the type",
                );
            }
            let is_needed = declares.iter().any(|e| needed.contains(e))
                || concerns
                || (tree.kind(item) == "use_clause" && !early.is_empty());
            if uses_component(cx, item) {
                self.refuse(
                    cx,
                    item,
                    "the declaration depends on a variable of the task",
                    CANNOT_MOVE,
                );
            }
            // Names that are not visible at the declaration are expanded before the text is taken.
            if is_needed {
                self.check_visible(cx, item, false);
            } else {
                self.check_discriminants(cx, item);
            }
            let lines = layout::lines_of(cx.source(), item, &self.changes);
            if is_needed {
                self.before_declaration.push(lines);
            } else {
                self.before_body.push(lines);
            }
        }
    }

    pub(super) fn check_discriminants(&mut self, cx: &Context, node: NodeId) {
        if cx.meanings(cx.at(node)).iter().any(|&(_, e)| {
            cx.names.entity(e).kind == Kind::Discriminant && is_own_discriminant(cx, e)
        }) {
            self.refuse(
                cx,
                node,
                "the declaration depends on a discriminant of the task type",
                "compute the value where it is used",
            );
        }
    }

    /// Checks that code at the task's declaration only uses names that are declared before it.
    pub(super) fn check_visible(
        &mut self,
        cx: &Context,
        node: NodeId,
        may_use_discriminants: bool,
    ) {
        let declaration = cx.task.declaration;
        for (ident, e) in cx.meanings(cx.at(node)) {
            let at = cx.names.entity(e).ident;
            if is_own_discriminant(cx, e) {
                if !may_use_discriminants {
                    self.refuse(
                        cx,
                        node,
                        "the declaration depends on a discriminant of the task type",
                        "compute the value where it is used",
                    );
                }
                continue;
            }
            if cx.is_local(e) {
                continue;
            }
            let is_here = [declaration.file, cx.task.body.file].contains(&at.file);
            if visibility::is_shown(cx, e)
                || is_here && self.bring(cx, e)
                || !is_here && self.name_unit(cx, cx.at(node), ident, e)
            {
                continue;
            }
            if is_here {
                let place = cx.names.place(cx.program, e);
                let text = format!(
                    "`{}` needs `{}`, which is declared at {}:{}, after the task's declaration",
                    first_word(cx, node),
                    cx.names.entity(e).name,
                    place.file.display(),
                    place.line
                );
                self.refuse(cx, node, text, "declare it before the task");
            } else {
                let text = format!(
                    "`{}` needs `{}`, which the unit with the task's declaration does not see",
                    first_word(cx, node),
                    cx.names.entity(e).name,
                );
                let help = "name its unit in a with clause there";
                self.refuse(cx, node, text, help);
            }
            return;
        }
        if declaration.file != cx.task.body.file {
            self.check_external(cx, node);
        }
    }

    /// Whether all names of a declaration can be used before the task, after the declarations that
    /// it needs were moved there. Otherwise nothing moves.
    fn can_be_shown(&mut self, cx: &Context, node: NodeId) -> bool {
        let before = self.reasons.len();
        let (edits, brought) = (self.edits.len(), self.brought.clone());
        let (units, changes) = (self.units.clone(), self.changes.clone());
        self.check_visible(cx, node, true);
        if self.reasons.len() == before {
            self.shown.insert(node);
            return true;
        }
        self.reasons.truncate(before);
        self.edits.truncate(edits);
        (self.brought, self.units, self.changes) = (brought, units, changes);
        false
    }

    /// Adds a with clause for the library unit of an entity to the unit with the task's
    /// declaration, and expands the entity's name. Returns false if that library unit depends on
    /// the first, or if an operator might need more.
    pub(super) fn name_unit(
        &mut self,
        cx: &Context,
        around: At,
        ident: NodeId,
        id: EntityId,
    ) -> bool {
        let Some(unit) = visibility::program_unit(cx, id) else {
            return false;
        };
        let tree = &cx.program.sources[around.file].tree;
        let is_selector = tree.field(ident) == "selector_name";
        let is_unit = visibility::names_package(cx, id);
        if !is_selector && !is_unit {
            let has_operator = tree.walk(around.node).any(|n| {
                tree.kind(n).ends_with("_operator")
                    && tree.parent(n).is_none_or(|p| tree.kind(p) != "term")
            });
            if around.file != cx.task.body.file || has_operator {
                return false;
            }
            let name = format!("{}.{}", unit, cx.names.entity(id).name);
            self.changes.add(tree.range(ident), name);
        }
        self.units.insert(unit);
        true
    }

    /// Checks that external names are also visible in the declaration's file.
    pub(super) fn check_external(&mut self, cx: &Context, node: NodeId) {
        let tree = cx.tree();
        for ident in tree.walk(node) {
            let is_name = tree.kind(ident) == "identifier"
                && matches!(
                    tree.field(ident),
                    "subtype_mark" | "name" | "prefix" | "generic_name"
                )
                && cx.names.meaning(cx.program, cx.at(ident)).is_none()
                && tree
                    .parent(ident)
                    .is_none_or(|p| tree.kind(p) != "attribute_designator");
            if !is_name || is_defining(cx, ident) {
                continue;
            }
            let key = Names::key(cx.text(ident));
            let is_standard = [
                "integer",
                "natural",
                "positive",
                "boolean",
                "character",
                "string",
                "float",
                "duration",
                "true",
                "false",
                "long_float",
                "long_integer",
            ]
            .contains(&key.as_str());
            let name = expanded(tree, ident);
            if !is_standard && !visibility::is_seen(cx, name) {
                if let Some(unit) = visibility::unit_to_name(cx, name) {
                    self.units.insert(unit);
                    continue;
                }
                if let Some(unit) = visibility::unit_of_used(cx, name) {
                    let full = format!("{unit}.{}", cx.text(name));
                    self.changes.add(tree.range(name), full);
                    self.units.insert(unit);
                    continue;
                }
                let text = format!(
                    "`{}` needs `{}`, which the unit with the task's declaration does not see",
                    first_word(cx, node),
                    cx.text(name)
                );
                let help = "give that unit the with and use clauses of the body that show it";
                self.refuse(cx, node, text, help);
                return;
            }
        }
    }
}

/// Whether the external names of a declaration in the body's file are, or can be made, visible at
/// the task's declaration.
pub(super) fn is_external_clear(moved: &mut Moved, cx: &Context, node: NodeId) -> bool {
    let before = moved.reasons.len();
    moved.check_external(cx, node);
    let is_clear = moved.reasons.len() == before;
    moved.reasons.truncate(before);
    is_clear
}

pub(super) fn is_defining(cx: &Context, ident: NodeId) -> bool {
    cx.names.declared_by(cx.at(ident)).is_some()
}

/// Returns the whole of the expanded name that begins with an identifier.
fn expanded(tree: &Tree, ident: NodeId) -> NodeId {
    let mut name = ident;
    while let Some(parent) = tree.parent(name) {
        if tree.kind(parent) != "selected_component" || tree.field(name) != "prefix" {
            break;
        }
        name = parent;
    }
    name
}

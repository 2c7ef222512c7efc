//! Implicit calls, which are not in the text: activation of tasks (RM 9.2), defaults of components
//! (RM 3.3.1), and `Initialize`, `Adjust` and `Finalize` (RM 7.6). They also include redefined
//! attributes of streams (RM 13.13.2) and images (RM 4.10).

use super::external::{External, classify};
use super::summaries::Doer;
use super::{Effect, Effects, Oracle};
use crate::names::{At, EntityId, Kind, Names, Ty};
use std::collections::HashSet;
use std::rc::Rc;

/// The operations in the values of a type, through components, elements and ancestors.
#[derive(Debug, Default)]
pub(super) struct Parts {
    tasks: Vec<EntityId>,
    /// Defaults of components, and conditions that a value must meet.
    defaults: Vec<At>,
    initialize: Vec<EntityId>,
    /// `Adjust` and `Finalize`.
    copying: Vec<EntityId>,
    streams: Vec<EntityId>,
    images: Vec<EntityId>,
    /// Unknown types: where they are named, and their units.
    external: Vec<(At, String)>,
}

const STREAMS: [&str; 4] = ["read", "write", "input", "output"];

const CONDITIONS: [&str; 7] = [
    "pre",
    "post",
    "type_invariant",
    "invariant",
    "predicate",
    "dynamic_predicate",
    "precondition",
];

impl<'p> Oracle<'p> {
    /// `new T` and `new T'(…)`.
    pub(super) fn allocation(&self, at: At, effects: &mut Effects) {
        let tree = &self.program.sources[at.file].tree;
        let qualified = tree.child(at.node, "qualified_expression");
        let mark = tree
            .role(at.node, "subtype_mark")
            .or_else(|| qualified.and_then(|q| tree.role(q, "subtype_name")));
        let Some(node) = mark else { return };
        let Some(ty) = self.names.meaning(self.program, At { node, ..at }) else {
            return;
        };
        let task = self.names.concurrent(self.program, Ty::Named(ty));
        if task.is_some_and(|t| self.names.entity(t).kind == Kind::TaskType) {
            let what = "the activation of a task by an allocator";
            return effects.blocks.push(Effect::new(at, what));
        }
        self.through(Doer::Create(ty), at, effects);
        if qualified.is_some() {
            self.through(Doer::Copy(ty), at, effects);
        }
    }

    pub(super) fn declaration(&self, at: At, effects: &mut Effects) {
        let tree = &self.program.sources[at.file].tree;
        let object = tree
            .child(at.node, "identifier")
            .and_then(|node| self.names.declared_by(At { node, ..at }));
        let Some(object) = object else { return };
        let ty = self.plain(self.names.type_of(self.program, object));
        if ty == Ty::Unknown
            && let Some(node) = tree.role(at.node, "subtype_mark")
            && let Some(unit) = self.stranger(At { node, ..at })
        {
            effects.types.push(of_stranger(at, unit));
        }
        let Ty::Named(ty) = ty else { return };
        if self.names.entity(ty).kind == Kind::TaskType {
            let what = "the activation of a task";
            return effects.blocks.push(Effect::new(at, what));
        }
        if tree.child(at.node, "expression").is_none() {
            self.through(Doer::Create(ty), at, effects);
        }
        self.through(Doer::Copy(ty), at, effects);
    }

    pub(super) fn assignment(&self, at: At, effects: &mut Effects) {
        let tree = &self.program.sources[at.file].tree;
        let Some(node) = tree.role(at.node, "variable_name") else {
            return;
        };
        let ty = self.names.expression_type(self.program, At { node, ..at });
        if let Ty::Named(ty) = self.plain(ty) {
            self.through(Doer::Copy(ty), at, effects);
        }
    }

    /// Handles the actual parameters of an instance of `Ada.Unchecked_Deallocation`: the
    /// deallocated object ends.
    pub(super) fn deallocation(&self, generic: At, at: At, effects: &mut Effects) {
        let source = &self.program.sources[generic.file];
        let tree = &source.tree;
        let Some(name) = tree.role(generic.node, "name") else {
            return;
        };
        if !Names::key(source.text(name)).ends_with("unchecked_deallocation") {
            return;
        }
        let Some(actuals) = tree.child(generic.node, "actual_parameter_part") else {
            return;
        };
        for node in tree.walk(actuals).filter(|&n| tree.is_leaf(n)) {
            let meant = self.names.meaning(self.program, At { node, ..generic });
            let Some(ty) = meant.filter(|&e| is_type(self.names.entity(e).kind)) else {
                continue;
            };
            self.through(Doer::Copy(ty), at, effects);
        }
    }

    /// Handles an attribute that a type may redefine.
    pub(super) fn attribute(&self, at: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        let is_clause = tree
            .parent(at.node)
            .is_some_and(|p| tree.kind(p) == "attribute_definition_clause");
        let word = Names::key(source.text(at.node));
        let is_stream = STREAMS.contains(&word.as_str());
        if is_clause || !(is_stream || word.ends_with("image")) {
            return;
        }
        let prefix = tree.previous(at.node).and_then(|tick| tree.previous(tick));
        let Some(node) = prefix else { return };
        if is_stream {
            effects
                .io
                .push(Effect::new(at, format!("'{}", source.text(at.node))));
        }
        let meant = self.names.meaning(self.program, At { node, ..at });
        let ty = match meant {
            Some(e) => self.names.type_of(self.program, e),
            None => self.names.expression_type(self.program, At { node, ..at }),
        };
        let Ty::Named(ty) = self.plain(ty) else {
            return;
        };
        let doer = if is_stream {
            Doer::Stream(ty)
        } else {
            Doer::Image(ty)
        };
        self.through(doer, at, effects);
    }

    /// Returns the conditions in a declaration's aspects.
    pub(super) fn contract(&self, declaration: At) -> Vec<At> {
        let source = &self.program.sources[declaration.file];
        let tree = &source.tree;
        let Some(aspects) = tree.child(declaration.node, "aspect_specification") else {
            return vec![];
        };
        tree.walk(aspects)
            .filter(|&n| tree.kind(n) == "aspect_association")
            .filter(|&n| {
                let name = tree.child(n, "identifier");
                name.is_some_and(|i| CONDITIONS.contains(&Names::key(source.text(i)).as_str()))
            })
            .filter_map(|n| tree.child(n, "expression"))
            .map(|node| At {
                node,
                ..declaration
            })
            .collect()
    }

    /// Adds the effects of implicit calls for a type's values.
    pub(super) fn implicit(&self, doer: Doer, effects: &mut Effects) {
        let (operations, id): (fn(&Parts) -> &[EntityId], EntityId) = match doer {
            Doer::Call(_) => return,
            Doer::Create(id) => (|p| &p.initialize, id),
            Doer::Copy(id) => (|p| &p.copying, id),
            Doer::Stream(id) => (|p| &p.streams, id),
            Doer::Image(id) => (|p| &p.images, id),
        };
        let parts = self.parts(id);
        let at = self.names.entity(id).at;
        if let Doer::Create(_) = doer {
            for &task in &parts.tasks {
                let what = "the activation of a task";
                effects
                    .blocks
                    .push(Effect::new(self.names.entity(task).ident, what));
            }
            for &default in &parts.defaults {
                self.collect(default, effects);
            }
        }
        for &operation in operations(&parts) {
            self.known_call(operation, at, at, effects);
        }
        for (at, unit) in &parts.external {
            effects.types.push(of_stranger(*at, unit.clone()));
        }
    }

    /// Returns the element type of an array without a name, or the type itself.
    fn plain(&self, ty: Ty) -> Ty {
        let mut ty = ty;
        for _ in 0..20 {
            match ty {
                Ty::Anonymous(_) => ty = self.names.element(self.program, ty),
                _ => return ty,
            }
        }
        ty
    }

    /// Returns the unknown unit to which a type mark may belong.
    fn stranger(&self, mark: At) -> Option<String> {
        let names = self.names.external_names(self.program, mark);
        match classify(&names, self.assumed) {
            External::Unknown(unit) => unit,
            _ => None,
        }
    }

    fn parts(&self, id: EntityId) -> Rc<Parts> {
        if let Some(known) = self.types.borrow().get(&id) {
            return known.clone();
        }
        let mut parts = Parts::default();
        let mut seen = HashSet::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                self.look_into(id, &mut parts, &mut open);
            }
        }
        let parts = Rc::new(parts);
        self.types.borrow_mut().insert(id, parts.clone());
        parts
    }

    /// Adds the declarations of one type; the types of its components, elements and parents are
    /// left for later.
    fn look_into(&self, id: EntityId, parts: &mut Parts, open: &mut Vec<EntityId>) {
        let entity = self.names.entity(id);
        match entity.kind {
            Kind::TaskType | Kind::SingleTask => return parts.tasks.push(id),
            kind if is_type(kind) => {}
            _ => return,
        }
        let at = entity.at;
        let tree = &self.program.sources[at.file].tree;
        if let Some(Ty::Named(above)) = self.names.above(self.program, id) {
            open.push(above);
        }
        if tree.kind(at.node).starts_with("formal_") {
            open.extend(self.actuals(id));
        }
        let mut is_controlled = false;
        for node in tree.walk(at.node) {
            let here = At { node, ..at };
            match tree.kind(node) {
                "access_definition" | "access_to_object_definition" => {}
                "component_definition"
                | "derived_type_definition"
                | "private_extension_declaration" => {
                    let Some(mark) = tree.role(node, "subtype_mark") else {
                        continue;
                    };
                    let mark = At { node: mark, ..at };
                    match self.names.meaning(self.program, mark) {
                        Some(ty) => open.push(ty),
                        None if self.is_controlled(mark) => is_controlled = true,
                        None => {
                            let unit = self.stranger(mark);
                            parts.external.extend(unit.map(|u| (mark, u)));
                        }
                    }
                    let array = tree.child(node, "array_type_definition");
                    let element = array.map(|node| self.plain(Ty::Anonymous(At { node, ..at })));
                    if let Some(Ty::Named(ty)) = element {
                        open.push(ty);
                    }
                }
                "component_declaration" => {
                    let value = tree.child(node, "expression");
                    parts.defaults.extend(value.map(|node| At { node, ..at }));
                }
                "aspect_association" => self.aspect(here, parts),
                _ => {}
            }
        }
        parts.defaults.extend(self.contract(at));
        for &used in self.names.uses_of(id) {
            self.clause(used, parts);
        }
        if is_controlled || self.is_of_controlled(id) {
            parts.initialize.extend(self.operation(id, "initialize"));
            parts.copying.extend(self.operation(id, "adjust"));
            parts.copying.extend(self.operation(id, "finalize"));
        }
    }

    /// Whether a mark names a type of `Ada.Finalization`.
    fn is_controlled(&self, mark: At) -> bool {
        let names = self.names.external_names(self.program, mark);
        names.iter().any(|n| {
            matches!(
                n.as_str(),
                "ada.finalization.controlled" | "ada.finalization.limited_controlled"
            )
        })
    }

    /// Whether a type is derived from a controlled one.
    fn is_of_controlled(&self, id: EntityId) -> bool {
        self.ancestry(id).into_iter().any(|ancestor| {
            let mut types = vec![ancestor];
            if let Some(Ty::Named(full)) = self.names.above(self.program, ancestor) {
                types.push(full);
            }
            types.into_iter().any(|ty| {
                let at = self.names.entity(ty).at;
                let tree = &self.program.sources[at.file].tree;
                let node = tree
                    .child(at.node, "derived_type_definition")
                    .unwrap_or(at.node);
                let mark = tree.role(node, "subtype_mark");
                mark.is_some_and(|node| self.is_controlled(At { node, ..at }))
            })
        })
    }

    /// Returns the operation of a type with this name, declared where the type is.
    fn operation(&self, ty: EntityId, key: &str) -> Vec<EntityId> {
        let first = self.first(ty);
        let named = self.declared.named(key).iter().copied();
        named
            .filter(|&id| self.parameter_types(id).next() == Some(first))
            .collect()
    }

    /// Adds the operation that an aspect names.
    fn aspect(&self, association: At, parts: &mut Parts) {
        self.definition(association, "identifier", parts);
    }

    /// Adds the operation in `for T'Write use …`, if the use of the type is in such a clause.
    fn clause(&self, used: At, parts: &mut Parts) {
        let tree = &self.program.sources[used.file].tree;
        let clause = tree
            .parent(used.node)
            .filter(|&p| tree.kind(p) == "attribute_definition_clause");
        if let Some(node) = clause {
            self.definition(At { node, ..used }, "attribute_designator", parts);
        }
    }

    /// Adds the operation that an aspect or a clause gives for an attribute, whose name has this
    /// kind of node.
    fn definition(&self, at: At, name: &str, parts: &mut Parts) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        if let (Some(name), Some(node)) =
            (tree.child(at.node, name), tree.child(at.node, "expression"))
        {
            let attribute = Names::key(source.text(name));
            self.redefined(&attribute, At { node, ..at }, parts);
        }
    }

    fn redefined(&self, attribute: &str, value: At, parts: &mut Parts) {
        let target = if STREAMS.contains(&attribute) {
            &mut parts.streams
        } else if attribute == "put_image" {
            &mut parts.images
        } else {
            return;
        };
        let tree = &self.program.sources[value.file].tree;
        let names = tree
            .walk(value.node)
            .filter(|&n| tree.kind(n) == "identifier");
        target.extend(
            names.filter_map(|node| self.names.meaning(self.program, At { node, ..value })),
        );
    }

    /// Returns the types that instances of a generic pass for a formal type; the actuals for its
    /// other formals are included.
    fn actuals(&self, formal: EntityId) -> Vec<EntityId> {
        let scope = self.names.entity(formal).scope;
        let Some(generic) = self.names.scope(scope).owner else {
            return vec![];
        };
        let mut found = Vec::new();
        for &used in self.names.uses_of(generic) {
            let tree = &self.program.sources[used.file].tree;
            let instance = tree.ancestor(used.node, &["generic_instantiation"]);
            let Some(instance) = instance else { continue };
            let named = tree
                .walk(instance)
                .filter(|&n| tree.kind(n) == "identifier")
                .filter_map(|node| self.names.meaning(self.program, At { node, ..used }));
            found.extend(named.filter(|&e| is_type(self.names.entity(e).kind)));
        }
        found
    }
}

fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Type | Kind::Subtype | Kind::TaskType | Kind::ProtectedType
    )
}

fn of_stranger(at: At, unit: String) -> Effect {
    Effect {
        unit: Some(unit),
        ..Effect::new(at, "a value of a type whose source was not given")
    }
}

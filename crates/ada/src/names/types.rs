//! Types of names and expressions, as far as names and overloading need them.

use super::{At, EntityId, Kind, Names};
use crate::source::Program;

/// A type, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// A declared type or subtype, or a single task or protected object (whose type has no name).
    Named(EntityId),
    /// An anonymous array or access type: its definition.
    Anonymous(At),
    /// An integer literal or the like.
    Integer,
    /// A real literal or the like.
    Real,
    /// A string literal.
    String,
    /// `null`.
    Null,
    /// Unknown: external, or not supported by this resolution.
    Unknown,
}

impl Names {
    /// Returns the type of an object, the result type of a function, or the type itself.
    pub fn type_of(&self, program: &Program, id: EntityId) -> Ty {
        let entity = self.entity(id);
        match entity.kind {
            Kind::Type
            | Kind::Subtype
            | Kind::TaskType
            | Kind::ProtectedType
            | Kind::SingleTask
            | Kind::SingleProtected => Ty::Named(id),
            Kind::Literal => self.enumeration_of(id),
            _ => self.type_in(program, entity.at),
        }
    }

    fn enumeration_of(&self, literal: EntityId) -> Ty {
        let node = self.entity(literal).at;
        self.region(node)
            .and_then(|s| self.scope(s).owner)
            .map_or(Ty::Unknown, Ty::Named)
    }

    /// Returns the type that a declaration names: its subtype mark, anonymous array or access
    /// definition, or result.
    fn type_in(&self, program: &Program, at: At) -> Ty {
        let tree = &program.sources[at.file].tree;
        let mut node = at.node;
        for inner in ["function_specification", "component_definition"] {
            node = tree.child(node, inner).unwrap_or(node);
        }
        node = tree.child(node, "result_profile").unwrap_or(node);
        for child in tree.children(node) {
            let here = At {
                file: at.file,
                node: child,
            };
            match tree.kind(child) {
                _ if tree.field(child) == "subtype_mark" => {
                    return self.meaning(program, here).map_or(Ty::Unknown, Ty::Named);
                }
                "array_type_definition" | "access_definition" => return Ty::Anonymous(here),
                "range_g" => return self.range_type(program, here),
                "expression" => return self.expression_type(program, here),
                _ => {}
            }
        }
        if let Some(name) = tree.role(node, "iterator_name") {
            let container = self.expression_type(
                program,
                At {
                    file: at.file,
                    node: name,
                },
            );
            return if tree.child(node, "of").is_some() {
                self.element(program, container)
            } else {
                Ty::Unknown
            };
        }
        tree.role(node, "object_name").map_or(Ty::Unknown, |n| {
            self.expression_type(
                program,
                At {
                    file: at.file,
                    node: n,
                },
            )
        })
    }

    fn range_type(&self, program: &Program, range: At) -> Ty {
        let tree = &program.sources[range.file].tree;
        if let Some(prefix) = tree
            .role(range.node, "prefix")
            .or_else(|| tree.role(range.node, "range_attribute_reference"))
        {
            let at = At {
                node: prefix,
                ..range
            };
            return match self.meaning(program, at) {
                Some(e)
                    if matches!(self.entity(e).kind, Kind::Type | Kind::Subtype)
                        && self
                            .definition(program, Ty::Named(e), "array_type_definition")
                            .is_none() =>
                {
                    Ty::Named(e)
                }
                _ => self.index(program, self.expression_type(program, at), 0),
            };
        }
        let mut found = Ty::Integer;
        for child in tree.children(range.node).filter(|&n| !tree.is_leaf(n)) {
            match self.expression_type(
                program,
                At {
                    node: child,
                    ..range
                },
            ) {
                Ty::Integer => {}
                other => found = other,
            }
        }
        found
    }

    /// Returns the definition of a kind for a type, through subtypes, derivations and private
    /// views.
    pub fn definition(&self, program: &Program, ty: Ty, kind: &str) -> Option<At> {
        let mut ty = ty;
        for _ in 0..20 {
            match ty {
                Ty::Anonymous(at) => {
                    return (program.sources[at.file].tree.kind(at.node) == kind).then_some(at);
                }
                Ty::Named(id) => {
                    let at = self.entity(id).at;
                    let tree = &program.sources[at.file].tree;
                    if let Some(node) = tree.child(at.node, kind) {
                        return Some(At { node, ..at });
                    }
                    ty = self.above(program, id)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// Returns the type that a subtype constrains, the parent of a derived type, or the completion
    /// of a private one.
    pub(crate) fn above(&self, program: &Program, id: EntityId) -> Option<Ty> {
        let entity = self.entity(id);
        let tree = &program.sources[entity.at.file].tree;
        let node = match tree.kind(entity.at.node) {
            "subtype_declaration" => entity.at.node,
            "private_type_declaration"
            | "incomplete_type_declaration"
            | "private_extension_declaration" => {
                let full = self
                    .direct(entity.scope, &Names::key(&entity.name))
                    .into_iter()
                    .find(|&e| {
                        let at = self.entity(e).at;
                        matches!(
                            program.sources[at.file].tree.kind(at.node),
                            "full_type_declaration"
                                | "task_type_declaration"
                                | "protected_type_declaration"
                        )
                    })?;
                return (full != id).then_some(Ty::Named(full));
            }
            _ => tree.child(entity.at.node, "derived_type_definition")?,
        };
        let mark = tree.role(node, "subtype_mark")?;
        self.meaning(
            program,
            At {
                node: mark,
                ..entity.at
            },
        )
        .map(Ty::Named)
    }

    /// Returns the task or protected type or object behind a type, through subtypes and derivation.
    pub fn concurrent(&self, program: &Program, ty: Ty) -> Option<EntityId> {
        let mut ty = ty;
        for _ in 0..20 {
            let Ty::Named(id) = ty else { return None };
            if matches!(
                self.entity(id).kind,
                Kind::TaskType | Kind::SingleTask | Kind::ProtectedType | Kind::SingleProtected
            ) {
                return Some(id);
            }
            ty = self.above(program, id)?;
        }
        None
    }

    /// Returns the first subtype of a subtype.
    pub fn first_subtype(&self, program: &Program, id: EntityId) -> EntityId {
        let mut id = id;
        for _ in 0..20 {
            match self.above(program, id) {
                Some(Ty::Named(next)) if self.entity(id).kind == Kind::Subtype => id = next,
                _ => return id,
            }
        }
        id
    }

    /// Returns the type that an access type designates.
    pub fn designated(&self, program: &Program, ty: Ty) -> Ty {
        let (at, inner) = match self.definition(program, ty, "access_to_object_definition") {
            Some(at) => (at, at.node),
            None => match self.definition(program, ty, "access_definition") {
                Some(at) => (at, at.node),
                None => return Ty::Unknown,
            },
        };
        let tree = &program.sources[at.file].tree;
        tree.role(inner, "subtype_mark")
            .and_then(|n| self.meaning(program, At { node: n, ..at }))
            .map_or(Ty::Unknown, Ty::Named)
    }

    /// Returns the type of an array's elements.
    pub fn element(&self, program: &Program, ty: Ty) -> Ty {
        self.definition(program, ty, "array_type_definition")
            .map_or(Ty::Unknown, |at| self.type_in(program, at))
    }

    /// Returns the type of an array's index.
    pub fn index(&self, program: &Program, ty: Ty, dimension: usize) -> Ty {
        let Some(at) = self.definition(program, ty, "array_type_definition") else {
            return Ty::Unknown;
        };
        let tree = &program.sources[at.file].tree;
        let index = tree
            .children(at.node)
            .filter(|&n| {
                matches!(tree.kind(n), "index_subtype_definition" | "range_g")
                    || tree.field(n) == "subtype_mark"
            })
            .nth(dimension);
        let Some(node) = index else {
            return Ty::Unknown;
        };
        let here = At { node, ..at };
        match tree.kind(node) {
            "range_g" => self.range_type(program, here),
            "index_subtype_definition" => tree
                .role(node, "subtype_mark")
                .and_then(|n| self.meaning(program, At { node: n, ..at }))
                .map_or(Ty::Unknown, Ty::Named),
            _ => self.meaning(program, here).map_or(Ty::Unknown, Ty::Named),
        }
    }

    /// Returns the type of an expression or name whose identifiers have been resolved.
    pub fn expression_type(&self, program: &Program, at: At) -> Ty {
        let tree = &program.sources[at.file].tree;
        let within = |node| At { node, ..at };
        match tree.kind(at.node) {
            "identifier" | "selected_component" => {
                if tree.next(at.node).is_some_and(|n| tree.kind(n) == "tick")
                    && tree.kind(tree.parent(at.node).unwrap_or(at.node)) != "qualified_expression"
                {
                    return Ty::Unknown;
                }
                if tree
                    .role(at.node, "selector_name")
                    .is_some_and(|n| program.sources[at.file].text(n).eq_ignore_ascii_case("all"))
                {
                    let prefix = tree.role(at.node, "prefix").unwrap_or(at.node);
                    return self.designated(program, self.expression_type(program, within(prefix)));
                }
                self.meaning(program, at)
                    .map_or(Ty::Unknown, |e| self.type_of(program, e))
            }
            "numeric_literal" => {
                if program.sources[at.file].text(at.node).contains('.') {
                    Ty::Real
                } else {
                    Ty::Integer
                }
            }
            "string_literal" => Ty::String,
            "primary_null" => Ty::Null,
            "expression" | "term" | "factor_abs" | "_parenthesized_expression" | "factor_power" => {
                if tree.children(at.node).any(|n| {
                    matches!(
                        tree.kind(n),
                        "relational_operator" | "and" | "or" | "xor" | "tick"
                    )
                }) {
                    return Ty::Unknown;
                }
                let mut found = Ty::Unknown;
                for child in tree.children(at.node).filter(|&n| {
                    !tree.is_leaf(n)
                        || matches!(
                            tree.kind(n),
                            "identifier" | "numeric_literal" | "string_literal"
                        )
                }) {
                    if matches!(
                        tree.kind(child),
                        "binary_adding_operator" | "unary_adding_operator" | "multiplying_operator"
                    ) {
                        continue;
                    }
                    match (found, self.expression_type(program, within(child))) {
                        (Ty::Unknown | Ty::Integer | Ty::Real, next) if next != Ty::Unknown => {
                            found = next
                        }
                        _ => {}
                    }
                }
                found
            }
            "qualified_expression" => tree
                .role(at.node, "subtype_name")
                .and_then(|n| self.meaning(program, within(n)))
                .map_or(Ty::Unknown, Ty::Named),
            "function_call" => {
                if tree.child(at.node, "tick").is_some() {
                    return Ty::Unknown;
                }
                let Some(name) = tree.role(at.node, "name") else {
                    return Ty::Unknown;
                };
                self.call_type(program, within(name))
            }
            "slice" => tree
                .role(at.node, "prefix")
                .map_or(Ty::Unknown, |n| self.expression_type(program, within(n))),
            _ => Ty::Unknown,
        }
    }

    /// Returns the type of `name (…)`: a function's result, an element, or a conversion.
    fn call_type(&self, program: &Program, name: At) -> Ty {
        match self
            .meaning(program, name)
            .map(|e| (e, self.entity(e).kind))
        {
            Some((e, Kind::Type | Kind::Subtype)) => return Ty::Named(e),
            Some((e, Kind::Subprogram | Kind::SubprogramRenaming)) => {
                return self.type_of(program, e);
            }
            _ => {}
        }
        let prefix = self.expression_type(program, name);
        match self.element(program, prefix) {
            Ty::Unknown => self.element(program, self.designated(program, prefix)),
            known => known,
        }
    }
}

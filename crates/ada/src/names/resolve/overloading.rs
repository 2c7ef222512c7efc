//! Overload resolution: which of several subprograms a call means (RM 8.6).

use super::Pass;
use crate::names::{At, EntityId, Kind, Names, ScopeId, Ty};
use crate::source::Program;
use crate::syntax::NodeId;

impl Pass<'_> {
    /// Whether an entity is a family of entries, which has an index before its parameters (RM 9.5.2
    /// (2)).
    fn is_family(&self, id: EntityId) -> bool {
        let entity = self.names.entity(id);
        let tree = &self.program.sources[entity.at.file].tree;
        let name = tree.role(entity.at.node, "entry_name");
        entity.kind == Kind::Entry
            && tree.children(entity.at.node).any(|n| {
                Some(n) != name && (tree.field(n) == "subtype_mark" || tree.kind(n) == "range_g")
            })
    }

    /// Resolves a call, an indexed component, a conversion or a slice: `name (…)`, perhaps `name
    /// (index) (…)`.
    pub(super) fn call(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let arguments = tree.child(node, "actual_parameter_part");
        let name = tree
            .role(node, "name")
            .or_else(|| tree.role(node, "prefix"));
        let is_attribute = tree.child(node, "tick").is_some();
        let rest: Vec<NodeId> = tree
            .children(node)
            .filter(|&n| Some(n) != name && Some(n) != arguments && !tree.is_leaf(n))
            .collect();
        if let Some(arguments) = arguments {
            self.visit(arguments, scope);
        }
        if let Some(name) = name {
            match self.tree().kind(name) {
                "identifier" | "selected_component" => {
                    self.name(name, scope, if is_attribute { None } else { arguments });
                }
                "function_call" | "slice" => self.call(name, scope),
                _ if self.tree().is_leaf(name) => {}
                _ => self.visit(name, scope),
            }
        }
        for other in rest {
            self.visit(other, scope);
        }
    }

    /// Chooses one of the entities that a name may mean, by the actual parameters if it is a call.
    ///
    /// Returns none if none fits and a use clause makes an unknown package visible: the name is
    /// that package's.
    pub(super) fn choose(
        &self,
        name: NodeId,
        candidates: &[EntityId],
        call: Option<NodeId>,
    ) -> Option<EntityId> {
        let may_be_external = || {
            self.tree().kind(name) == "identifier"
                && !self
                    .names
                    .used_packages(self.program, self.at(name))
                    .is_empty()
        };
        if candidates.len() < 2 {
            let only = candidates.first().copied()?;
            // In `E (I)'Count` the actual parameter is the index of a family, not of the call.
            let fits = self.is_family(only) || call.is_none_or(|call| self.may_fit(only, call));
            return (fits || !may_be_external()).then_some(only);
        }
        let Some(call) = call else {
            // Without actual parameters: an object, a literal, or a parameterless subprogram.
            let bare = |&&e: &&EntityId| {
                !self.names.is_callable(e)
                    || self
                        .names
                        .parameters(self.program, e)
                        .iter()
                        .all(|p| p.has_default)
            };
            return candidates.iter().find(bare).or(candidates.first()).copied();
        };
        // Among equals the nearest is chosen: `max_by_key` keeps the last.
        let best = candidates
            .iter()
            .rev()
            .copied()
            .map(|e| (self.fit(e, call), e))
            .filter(|&(fit, _)| fit > 0);
        best.max_by_key(|&(fit, _)| fit)
            .map(|(_, e)| e)
            .or_else(|| {
                let mut near = candidates.iter().copied();
                near.find(|&e| self.may_fit(e, call) || !may_be_external())
            })
    }

    /// Returns how well actual parameters fit: 0 not at all, otherwise 1 plus the number of
    /// parameters whose types are known to agree.
    pub(super) fn fit(&self, candidate: EntityId, call: NodeId) -> usize {
        if !self.names.is_callable(candidate) {
            return 1;
        }
        let formals = self.names.parameters(self.program, candidate);
        let Some(pairs) = self.paired(&formals, call) else {
            return 0;
        };
        let mut score = 1;
        for (formal, value) in pairs {
            let actual = self.names.expression_type(self.program, self.at(value));
            match self.names.agree(self.program, formals[formal].ty, actual) {
                Some(true) => score += 1,
                Some(false) => return 0,
                None => {}
            }
        }
        score
    }

    /// Whether actual parameters have the number and names that a candidate requires, and no
    /// literal of another type.
    fn may_fit(&self, candidate: EntityId, call: NodeId) -> bool {
        if !self.names.is_callable(candidate) {
            return true;
        }
        let formals = self.names.parameters(self.program, candidate);
        self.paired(&formals, call).is_some()
    }

    /// Returns the formals (by index) to which actual parameters belong, with the actual values.
    fn paired(&self, formals: &[Formal], call: NodeId) -> Option<Vec<(usize, NodeId)>> {
        let tree = self.tree();
        let mut found = Vec::new();
        let mut given = vec![false; formals.len()];
        for (position, actual) in tree.all(call, "parameter_association").enumerate() {
            let named = tree
                .child(actual, "component_choice_list")
                .and_then(|n| tree.child(n, "identifier"));
            let index = match named {
                Some(ident) => {
                    let key = Names::key(self.program.sources[self.file].text(ident));
                    formals.iter().position(|f| Names::key(&f.name) == key)
                }
                None => Some(position).filter(|&p| p < formals.len()),
            }?;
            given[index] = true;
            let Some(value) = tree.child(actual, "expression") else {
                continue;
            };
            let ty = self.names.expression_type(self.program, self.at(value));
            if is_other_standard(&formals[index].mark, ty) {
                return None;
            }
            found.push((index, value));
        }
        let all_given = formals
            .iter()
            .zip(given)
            .all(|(f, given)| given || f.has_default);
        all_given.then_some(found)
    }
}

/// A formal parameter, as far as overloading needs it.
#[derive(Debug, Clone)]
pub struct Formal {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    /// The subtype mark in lower case; empty for an access definition.
    pub(crate) mark: String,
    pub(crate) has_default: bool,
}

/// Whether a literal cannot be of a standard type, by the type's name.
fn is_other_standard(mark: &str, actual: Ty) -> bool {
    const SCALAR: [&str; 5] = ["boolean", "character", "integer", "natural", "positive"];
    const REAL: [&str; 3] = ["duration", "float", "long_float"];
    match actual {
        Ty::String => SCALAR.contains(&mark) || REAL.contains(&mark),
        Ty::Real => SCALAR.contains(&mark) || mark == "string",
        Ty::Integer => mark == "string" || REAL.contains(&mark),
        _ => false,
    }
}

impl Names {
    /// Returns the formal parameters of a subprogram or entry.
    pub fn parameters(&self, program: &Program, id: EntityId) -> Vec<Formal> {
        let Some(inner) = self.entity(id).inner else {
            return vec![];
        };
        let parameters = self
            .scope(inner)
            .entities
            .iter()
            .filter(|&&e| self.entity(e).kind == Kind::Parameter);
        parameters
            .map(|&e| {
                let entity = self.entity(e);
                let source = &program.sources[entity.at.file];
                let tree = &source.tree;
                let has_default = tree.child(entity.at.node, "expression").is_some();
                let mark = tree.role(entity.at.node, "subtype_mark");
                Formal {
                    name: entity.name.clone(),
                    mark: mark.map_or(String::new(), |n| Names::key(source.text(n))),
                    ty: self.type_of(program, e),
                    has_default,
                }
            })
            .collect()
    }

    /// Returns the types of a subprogram's parameters, or the designated types, as first declared.
    pub(crate) fn parameter_types(&self, program: &Program, id: EntityId) -> Vec<EntityId> {
        let formals = self.parameters(program, id).into_iter();
        let types = formals.filter_map(|f| match (f.ty, self.designated(program, f.ty)) {
            (Ty::Anonymous(_), Ty::Named(ty)) | (Ty::Named(ty), _) => Some(ty),
            _ => None,
        });
        types.map(|ty| self.first_type(program, ty)).collect()
    }

    /// Returns the type that a subtype is of, as first declared.
    pub(crate) fn first_type(&self, program: &Program, id: EntityId) -> EntityId {
        self.first_declaration(self.first_subtype(program, id))
    }

    pub(super) fn is_callable(&self, id: EntityId) -> bool {
        matches!(
            self.entity(id).kind,
            Kind::Subprogram | Kind::Entry | Kind::SubprogramRenaming
        )
    }

    /// Whether two types agree, if both are known.
    pub(super) fn agree(&self, program: &Program, formal: Ty, actual: Ty) -> Option<bool> {
        match (formal, actual) {
            (Ty::Unknown, _) | (_, Ty::Unknown) => None,
            (Ty::Named(a), Ty::Named(b)) => {
                let first = |e| self.first_declaration(self.first_subtype(program, e));
                Some(first(a) == first(b))
            }
            (Ty::Named(a), Ty::Integer) => {
                let is_other = [
                    "enumeration_type_definition",
                    "record_type_definition",
                    "array_type_definition",
                    "access_to_object_definition",
                    "floating_point_definition",
                ];
                is_other
                    .iter()
                    .any(|k| self.definition(program, Ty::Named(a), k).is_some())
                    .then_some(false)
            }
            _ => None,
        }
    }
}

/// Returns the subtype marks of an accept statement's parameters, in lower case.
pub(super) fn marks(program: &Program, accept: At) -> Vec<String> {
    let source = &program.sources[accept.file];
    let tree = &source.tree;
    let Some(formals) = tree.child(accept.node, "formal_part") else {
        return vec![];
    };
    let mut found = Vec::new();
    for parameter in tree.all(formals, "parameter_specification") {
        let mark = tree
            .role(parameter, "subtype_mark")
            .map_or(String::new(), |n| Names::key(source.text(n)));
        let last = mark.rsplit('.').next().unwrap_or("").trim().to_string();
        let count = tree
            .children(parameter)
            .take_while(|&n| tree.kind(n) != ":")
            .filter(|&n| tree.kind(n) == "identifier")
            .count();
        found.extend(std::iter::repeat_n(last, count));
    }
    found
}

//! The second pass: what each identifier means.

use super::{At, EntityId, Kind, Names, ScopeId, Ty};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

pub(super) fn resolve(program: &Program, names: &mut Names) {
    // Types named in declarations first, so that the types of objects are known wherever they are used.
    for only_types in [true, false] {
        for file in 0..program.sources.len() {
            let mut pass = Pass {
                program,
                names,
                file,
                only_types,
            };
            let root = program.sources[file].tree.root();
            pass.visit(root, ScopeId(0));
        }
    }
    let mut uses: Vec<(usize, usize, EntityId)> = names
        .meanings
        .iter()
        .map(|(&(file, start), &e)| (file, start, e))
        .collect();
    uses.sort_unstable_by_key(|&(file, start, _)| (file, start));
    let mut leaves = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        leaves.push(
            tree.walk(tree.root())
                .filter(|&n| tree.is_leaf(n) && tree.end(n) > tree.start(n))
                .map(|n| (tree.start(n), n))
                .collect::<Vec<_>>(),
        );
        leaves[file].sort_unstable();
    }
    for (file, start, entity) in uses {
        if let Ok(found) = leaves[file].binary_search_by_key(&start, |&(s, _)| s) {
            names.uses.entry(entity).or_default().push(At {
                file,
                node: leaves[file][found].1,
            });
        }
    }
}

struct Pass<'p> {
    program: &'p Program,
    names: &'p mut Names,
    file: usize,
    only_types: bool,
}

impl Pass<'_> {
    fn tree(&self) -> &Tree {
        &self.program.sources[self.file].tree
    }

    fn at(&self, node: NodeId) -> At {
        At {
            file: self.file,
            node,
        }
    }

    fn visit(&mut self, node: NodeId, scope: ScopeId) {
        let scope = self.names.region(self.at(node)).unwrap_or(scope);
        let children: Vec<NodeId> = self.tree().children(node).collect();
        for child in children {
            self.visit_child(node, child, scope);
        }
    }

    fn visit_child(&mut self, parent: NodeId, child: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let kind = tree.kind(child);
        match kind {
            "identifier" if self.is_name(parent, child) => {
                if !self.only_types || tree.field(child) == "subtype_mark" {
                    self.name(child, scope, None);
                }
            }
            "identifier" => {}
            "selected_component"
                if matches!(tree.field(child), "name" | "endname")
                    && is_declaration(tree.kind(parent)) =>
            {
                self.end_name(parent, child);
            }
            "selected_component" => {
                if !self.only_types || tree.field(child) == "subtype_mark" {
                    self.name(child, scope, None);
                }
            }
            "function_call" | "procedure_call_statement" | "slice" => {
                if !self.only_types {
                    self.call(child, scope);
                }
            }
            "attribute_designator" | "reduction_attribute_designator" => {}
            "requeue_statement" | "abort_statement" => self.visit(child, scope),
            "accept_statement" => self.accept(child, scope),
            "aspect_association" => {
                let values: Vec<NodeId> = self.tree().all(child, "expression").collect();
                for value in values {
                    self.visit(value, scope);
                }
            }
            _ if self.tree().is_leaf(child) => {}
            _ => self.visit(child, scope),
        }
    }

    /// Whether an identifier directly inside `parent` is a name to resolve rather than a definition or a word.
    fn is_name(&self, parent: NodeId, child: NodeId) -> bool {
        let tree = self.tree();
        let field = tree.field(child);
        match tree.kind(parent) {
            "selected_component" => field == "prefix",
            "object_declaration"
            | "component_declaration"
            | "parameter_specification"
            | "discriminant_specification"
            | "formal_object_declaration" => field == "subtype_mark",
            "object_renaming_declaration" => matches!(field, "subtype_mark" | "object_name"),
            "exception_renaming_declaration" => field == "exception_name",
            "package_renaming_declaration" => field == "package_name",
            "subprogram_renaming_declaration" => field == "callable_entity_name",
            "generic_instantiation" => field == "generic_name",
            "formal_package_declaration" => field == "generic_package_name",
            "subtype_declaration" | "index_subtype_definition" => field == "subtype_mark",
            "number_declaration"
            | "exception_declaration"
            | "full_type_declaration"
            | "incomplete_type_declaration"
            | "private_type_declaration"
            | "private_extension_declaration"
            | "enumeration_type_definition"
            | "loop_label"
            | "label"
            | "pragma_g"
            | "package_declaration"
            | "package_body"
            | "package_body_stub"
            | "task_body"
            | "task_body_stub"
            | "protected_body"
            | "protected_body_stub"
            | "single_task_declaration"
            | "task_type_declaration"
            | "single_protected_declaration"
            | "protected_type_declaration"
            | "task_definition"
            | "protected_definition"
            | "procedure_specification"
            | "function_specification"
            | "subprogram_body"
            | "entry_body"
            | "component_choice_list"
            | "choice_parameter_specification"
            | "attribute_designator"
            | "formal_complete_type_declaration"
            | "formal_incomplete_type_declaration"
            | "loop_statement"
            | "block_statement"
            | "generic_renaming_declaration"
            | "pragma_argument_association_name" => field == "subtype_mark",
            "entry_declaration" => field == "subtype_mark",
            "entry_index_specification" | "loop_parameter_specification" => field == "subtype_mark",
            "iterator_specification" => field == "iterator_name" || field == "subtype_mark",
            "extended_return_object_declaration" => field == "subtype_mark",
            _ => true,
        }
    }

    /// `end A.B;` and the like: nothing to resolve, but the name belongs to the unit.
    fn end_name(&mut self, parent: NodeId, child: NodeId) {
        if self.tree().field(child) == "name" {
            return;
        }
        let owner = self
            .names
            .region(self.at(parent))
            .and_then(|s| self.names.scope(s).owner);
        if let (Some(owner), Some(last)) = (owner, self.tree().role(child, "selector_name")) {
            let start = self.tree().start(last);
            self.names.meanings.insert((self.file, start), owner);
        }
    }

    fn accept(&mut self, node: NodeId, scope: ScopeId) {
        if let Some(name) = self.tree().role(node, "entry_direct_name") {
            let candidates = self.lookup(name, scope);
            let marks = marks(self.program, self.at(node));
            let fits = |p: &Pass, e: EntityId| {
                let at = p.names.entity(e).at;
                self::marks(p.program, at) == marks
            };
            let entries: Vec<EntityId> = candidates
                .into_iter()
                .filter(|&e| self.names.entity(e).kind == Kind::Entry)
                .collect();
            if let Some(chosen) = entries
                .iter()
                .copied()
                .find(|&e| fits(self, e))
                .or(entries.first().copied())
            {
                self.mean(name, chosen);
                if let Some(inner) = self.names.region(self.at(node)) {
                    self.names.scopes[inner.0 as usize].owner = Some(chosen);
                }
            }
        }
        let children: Vec<NodeId> = self.tree().children(node).collect();
        let inner = self.names.region(self.at(node)).unwrap_or(scope);
        for child in children {
            if !matches!(
                self.tree().field(child),
                "entry_direct_name" | "entry_identifier"
            ) {
                self.visit_child(node, child, inner);
            }
        }
    }

    fn mean(&mut self, node: NodeId, entity: EntityId) {
        let start = self.tree().start(node);
        self.names.meanings.insert((self.file, start), entity);
    }

    /// The entities an identifier may mean where it stands, nearest first.
    fn lookup(&self, node: NodeId, scope: ScopeId) -> Vec<EntityId> {
        let source = &self.program.sources[self.file];
        let text = source.text(node);
        self.names.visible(
            self.program,
            &Names::key(text),
            scope,
            self.file,
            source.tree.start(node),
        )
    }

    /// Resolves an identifier or expanded name; `call` holds the actual parameter parts that follow it.
    fn name(&mut self, node: NodeId, scope: ScopeId, call: Option<NodeId>) -> Option<EntityId> {
        let candidates = match self.tree().kind(node) {
            "identifier" => self.lookup(node, scope),
            "selected_component" => self.selected(node, scope),
            _ => return None,
        };
        let last = if self.tree().kind(node) == "selected_component" {
            self.tree().role(node, "selector_name")?
        } else {
            node
        };
        let chosen = self.choose(&candidates, call)?;
        self.mean(last, chosen);
        Some(chosen)
    }

    fn selected(&mut self, node: NodeId, scope: ScopeId) -> Vec<EntityId> {
        let tree = self.tree();
        let (Some(prefix), Some(selector)) =
            (tree.role(node, "prefix"), tree.role(node, "selector_name"))
        else {
            return vec![];
        };
        let key = Names::key(self.program.sources[self.file].text(selector));
        match tree.kind(prefix) {
            "identifier" | "selected_component" => {
                self.name(prefix, scope, None);
            }
            "function_call" | "slice" => self.call(prefix, scope),
            _ => self.visit(prefix, scope),
        }
        if key == "all" {
            return vec![];
        }
        let mut found = Vec::new();
        if let Some(entity) = self.names.meaning(self.program, self.at(prefix)) {
            if let Some(region) = self.names.package_region(self.program, entity) {
                found = self.names.direct(region, &key);
            }
            // An expanded name may also name what stands in the body of an enclosing unit (RM 4.1.3).
            if found.is_empty() {
                let own = self
                    .names
                    .around(scope)
                    .into_iter()
                    .find(|&s| self.names.scope(s).owner == Some(entity));
                found = own.map_or(vec![], |s| self.names.direct(s, &key));
            }
        }
        if found.is_empty() {
            let ty = self.names.expression_type(self.program, self.at(prefix));
            found = self.names.members(self.program, ty, &key);
        }
        found
    }

    /// A call, an indexed component, a conversion or a slice: `name (…)`, perhaps `name (index) (…)`.
    fn call(&mut self, node: NodeId, scope: ScopeId) {
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

    fn choose(&self, candidates: &[EntityId], call: Option<NodeId>) -> Option<EntityId> {
        if candidates.len() < 2 {
            return candidates.first().copied();
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
        // The nearest of equals: `max_by_key` keeps the last.
        let best = candidates
            .iter()
            .rev()
            .copied()
            .map(|e| (self.fit(e, call), e))
            .filter(|&(fit, _)| fit > 0);
        best.max_by_key(|&(fit, _)| fit)
            .map(|(_, e)| e)
            .or(candidates.first().copied())
    }

    /// How well actual parameters fit: 0 not at all, otherwise 1 and more for each parameter whose type is known to agree.
    fn fit(&self, candidate: EntityId, call: NodeId) -> usize {
        if !self.names.is_callable(candidate) {
            return 1;
        }
        let formals = self.names.parameters(self.program, candidate);
        let tree = self.tree();
        let mut score = 1;
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
            };
            let Some(index) = index else { return 0 };
            given[index] = true;
            let Some(value) = tree.child(actual, "expression") else {
                continue;
            };
            let actual = self.names.expression_type(self.program, self.at(value));
            match self.names.agree(self.program, formals[index].ty, actual) {
                Some(true) => score += 1,
                Some(false) => return 0,
                None => {}
            }
        }
        let all_given = formals
            .iter()
            .zip(given)
            .all(|(f, given)| given || f.has_default);
        if all_given { score } else { 0 }
    }
}

fn is_declaration(kind: &str) -> bool {
    matches!(
        kind,
        "package_declaration"
            | "package_body"
            | "subprogram_body"
            | "procedure_specification"
            | "function_specification"
            | "generic_instantiation"
            | "package_renaming_declaration"
    )
}

/// A formal parameter, as far as overloading needs it.
#[derive(Debug, Clone)]
pub struct Formal {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) has_default: bool,
}

impl Names {
    /// The formal parameters of a subprogram or entry.
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
                let has_default = program.sources[entity.at.file]
                    .tree
                    .child(entity.at.node, "expression")
                    .is_some();
                Formal {
                    name: entity.name.clone(),
                    ty: self.type_of(program, e),
                    has_default,
                }
            })
            .collect()
    }

    pub(super) fn is_callable(&self, id: EntityId) -> bool {
        matches!(
            self.entity(id).kind,
            Kind::Subprogram | Kind::Entry | Kind::SubprogramRenaming
        )
    }

    /// Whether types agree, where both are known.
    fn agree(&self, program: &Program, formal: Ty, actual: Ty) -> Option<bool> {
        match (formal, actual) {
            (Ty::Unknown, _) | (_, Ty::Unknown) => None,
            (Ty::Named(a), Ty::Named(b)) => {
                Some(self.first_subtype(program, a) == self.first_subtype(program, b))
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

    /// The entities a name may mean at a place, nearest first: directly visible ones, then those that use clauses show.
    pub(crate) fn visible(
        &self,
        program: &Program,
        key: &str,
        scope: ScopeId,
        file: usize,
        byte: usize,
    ) -> Vec<EntityId> {
        let around = self.around(scope);
        let mut found = Vec::new();
        for &region in &around {
            for &id in self
                .scope(region)
                .by_name
                .get(key)
                .map_or(&[][..], Vec::as_slice)
                .iter()
                .rev()
            {
                let ident = self.entity(id).ident;
                let is_seen = ident.file != file
                    || program.sources[file].tree.start(ident.node) < byte
                    || region.0 == 0;
                if !is_seen {
                    continue;
                }
                let is_overloadable = matches!(
                    self.entity(id).kind,
                    Kind::Subprogram
                        | Kind::Entry
                        | Kind::Literal
                        | Kind::SubprogramRenaming
                        | Kind::SubprogramInstance
                );
                if is_overloadable {
                    found.push(id);
                } else if found.is_empty() {
                    return vec![id];
                } else {
                    return found;
                }
            }
        }
        for &region in &around {
            for clause in &self.scope(region).uses {
                if clause.file == file && clause.from > byte {
                    continue;
                }
                let Some(package) = self.meaning_or_visible(program, clause.package, region) else {
                    continue;
                };
                let Some(inner) = self.package_region(program, package) else {
                    continue;
                };
                found.extend(
                    self.scope(inner)
                        .by_name
                        .get(key)
                        .map_or(&[][..], Vec::as_slice),
                );
            }
        }
        found
    }

    /// A use clause may come to be looked through before its own name was visited.
    fn meaning_or_visible(&self, program: &Program, name: At, scope: ScopeId) -> Option<EntityId> {
        if let Some(known) = self.meaning(program, name) {
            return Some(known);
        }
        let text = program.sources[name.file].text(name.node);
        let mut parts = text.split('.').map(|p| Names::key(p.trim()));
        let first = parts.next()?;
        let is_package = |&id: &EntityId| {
            self.entity(id).inner.is_some()
                || matches!(
                    self.entity(id).kind,
                    Kind::PackageInstance | Kind::PackageRenaming
                )
        };
        let mut found = self
            .around(scope)
            .into_iter()
            .find_map(|s| self.direct(s, &first).into_iter().find(is_package))?;
        for part in parts {
            found = self
                .direct(self.package_region(program, found)?, &part)
                .into_iter()
                .find(is_package)?;
        }
        Some(found)
    }

    /// The region whose names `Entity.Name` may mean: of a package, its instance or renaming, a subprogram or a single task.
    pub(crate) fn package_region(&self, program: &Program, id: EntityId) -> Option<ScopeId> {
        let mut id = id;
        for _ in 0..20 {
            let entity = self.entity(id);
            let role = match entity.kind {
                Kind::PackageRenaming => "package_name",
                Kind::PackageInstance => "generic_name",
                Kind::Variable
                | Kind::Parameter
                | Kind::Component
                | Kind::Constant
                | Kind::ObjectRenaming
                | Kind::Entry => return None,
                _ => return entity.inner,
            };
            let tree = &program.sources[entity.at.file].tree;
            let mut name = tree
                .role(entity.at.node, role)
                .or_else(|| tree.role(entity.at.node, "generic_package_name"))?;
            if tree.kind(name) == "function_call" {
                name = tree.role(name, "name")?;
            }
            let at = At {
                file: entity.at.file,
                node: name,
            };
            id = match self.meaning(program, at) {
                Some(known) => known,
                None => self.meaning_or_visible(program, at, entity.scope)?,
            };
        }
        None
    }

    /// The members of a value: entries and operations of a task or protected object, components of a record, also through access.
    fn members(&self, program: &Program, ty: Ty, key: &str) -> Vec<EntityId> {
        for ty in [ty, self.designated(program, ty)] {
            if let Some(inner) = self
                .concurrent(program, ty)
                .and_then(|e| self.entity(e).inner)
            {
                return self.direct(inner, key);
            }
            for kind in ["record_type_definition", "derived_type_definition"] {
                let Some(at) = self.definition(program, ty, kind) else {
                    continue;
                };
                let tree = &program.sources[at.file].tree;
                let owner = tree
                    .parent(at.node)
                    .and_then(|node| self.region(At { node, ..at }));
                let found = owner.map_or(vec![], |s| self.direct(s, key));
                if !found.is_empty() {
                    return found;
                }
            }
        }
        vec![]
    }
}

/// The subtype marks of an accept statement's parameters, in lower case.
fn marks(program: &Program, accept: At) -> Vec<String> {
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

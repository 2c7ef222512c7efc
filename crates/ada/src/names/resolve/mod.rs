//! The second pass: resolves each identifier.

mod overloading;
mod visibility;

use overloading::marks;

use crate::names::{At, EntityId, Kind, Names, ScopeId};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

pub(super) fn resolve(program: &Program, names: &mut Names) {
    // Types named in declarations come first, so that the types of objects are known at every use.
    for only_types in [true, false] {
        for file in 0..program.sources.len() {
            let mut pass = Pass {
                program,
                names,
                file,
                only_types,
                is_aspect: false,
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
    /// Whether the names of an aspect are being resolved; they may be declared later (RM 13.1.1
    /// (11)).
    is_aspect: bool,
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
                let around = std::mem::replace(&mut self.is_aspect, true);
                for value in values {
                    self.visit(value, scope);
                }
                self.is_aspect = around;
            }
            _ if self.tree().is_leaf(child) => {}
            _ => self.visit(child, scope),
        }
    }

    /// Whether an identifier directly inside `parent` is a name to resolve rather than a definition
    /// or a word.
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
            // The interfaces in `task type T is new A and B with`.
            "single_task_declaration"
            | "task_type_declaration"
            | "single_protected_declaration"
            | "protected_type_declaration" => tree
                .previous(child)
                .is_some_and(|n| matches!(tree.kind(n), "new" | "and")),
            "entry_declaration" => field == "subtype_mark",
            "entry_index_specification" | "loop_parameter_specification" => field == "subtype_mark",
            "iterator_specification" => field == "iterator_name" || field == "subtype_mark",
            "extended_return_object_declaration" => field == "subtype_mark",
            _ => true,
        }
    }

    /// Handles `end A.B;` and the like: nothing is resolved, but the name belongs to the unit.
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
                overloading::marks(p.program, at) == marks
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

    /// Returns the entities that an identifier may mean at its place, nearest first.
    fn lookup(&self, node: NodeId, scope: ScopeId) -> Vec<EntityId> {
        let source = &self.program.sources[self.file];
        let text = source.text(node);
        let byte = if self.is_aspect {
            source.text.len()
        } else {
            source.tree.start(node)
        };
        self.names
            .visible(self.program, &Names::key(text), scope, self.file, byte)
    }

    /// Resolves an identifier or expanded name; `call` holds the actual parameter parts that follow
    /// it.
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
        let chosen = self.choose(last, &candidates, call)?;
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
            // An expanded name may also denote a declaration in the body of an enclosing unit (RM
            // 4.1.3).
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

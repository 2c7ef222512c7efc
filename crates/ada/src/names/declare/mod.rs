//! The first pass: collects every declaration and its region.

mod callable;
mod objects;
mod units;

pub(super) use units::unit_name;
use units::{body_of_unit, rank};

use crate::names::{At, Entity, EntityId, Kind, Names, Scope, ScopeId, Use};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

pub(super) fn declare(program: &Program, names: &mut Names) {
    let root = names.open(None, None);
    let mut units = Vec::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        let mut context = Vec::new();
        for unit in tree.all(tree.root(), "compilation_unit") {
            let Some(item) = tree
                .children(unit)
                .find(|&n| !tree.is_leaf(n) || tree.kind(n) == "null_statement")
            else {
                continue;
            };
            match tree.kind(item) {
                "with_clause" | "pragma_g" => {}
                "use_clause" => context.push(item),
                _ => {
                    let name = unit_name(program, file, item);
                    let rank = rank(tree, item);
                    units.push((
                        rank,
                        name.matches('.').count(),
                        file,
                        item,
                        name,
                        std::mem::take(&mut context),
                    ));
                }
            }
        }
    }
    // Specifications before bodies before subunits, parents before children.
    units.sort_by_key(|unit| (unit.0, unit.1));
    for (_, _, file, item, name, context) in units {
        let mut pass = Pass {
            program,
            names,
            file,
        };
        let parent = pass.parent_unit(root, &name).unwrap_or(root);
        let before = pass.names.scopes.len();
        pass.item(item, parent);
        let scope = pass.names.region(At {
            file,
            node: body_of_unit(&program.sources[file].tree, item),
        });
        let opened =
            scope.or_else(|| (pass.names.scopes.len() > before).then_some(ScopeId(before as u32)));
        for clause in context {
            pass.use_clause(clause, opened.unwrap_or(root), 0);
        }
    }
}

struct Pass<'p> {
    program: &'p Program,
    names: &'p mut Names,
    file: usize,
}

impl Names {
    fn open(&mut self, parent: Option<ScopeId>, owner: Option<EntityId>) -> ScopeId {
        self.scopes.push(Scope {
            parent,
            owner,
            ..Scope::default()
        });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    fn add(&mut self, entity: Entity) -> EntityId {
        let id = EntityId(self.entities.len() as u32);
        let scope = &mut self.scopes[entity.scope.0 as usize];
        scope.entities.push(id);
        scope
            .by_name
            .entry(Names::key(&entity.name))
            .or_default()
            .push(id);
        self.entities.push(entity);
        id
    }

    /// Returns the direct declarations of a name in a region, including the specification that the
    /// region completes.
    pub(super) fn direct(&self, scope: ScopeId, key: &str) -> Vec<EntityId> {
        let mut found = self
            .scope(scope)
            .by_name
            .get(key)
            .cloned()
            .unwrap_or_default();
        if let Some(spec) = self.scope(scope).completes {
            found.extend(self.direct(spec, key));
        }
        found
    }
}

impl Pass<'_> {
    fn tree(&self) -> &Tree {
        &self.program.sources[self.file].tree
    }

    fn text(&self, node: NodeId) -> &str {
        self.program.sources[self.file].text(node)
    }

    fn at(&self, node: NodeId) -> At {
        At {
            file: self.file,
            node,
        }
    }

    fn define(&mut self, ident: NodeId, at: NodeId, kind: Kind, scope: ScopeId) -> EntityId {
        let name = self.text(ident).trim_matches('"').to_string();
        let (ident, at) = (self.at(ident), self.at(at));
        self.names.add(Entity {
            name,
            kind,
            at,
            ident,
            scope,
            inner: None,
            body: None,
        })
    }

    /// Opens the region of an entity.
    fn region_of(&mut self, id: EntityId, node: NodeId, parent: ScopeId) -> ScopeId {
        let scope = self.names.open(Some(parent), Some(id));
        self.names.regions.insert(self.at(node), scope);
        self.names.entities[id.0 as usize].inner = Some(scope);
        scope
    }

    fn anonymous(&mut self, node: NodeId, parent: ScopeId) -> ScopeId {
        let scope = self.names.open(Some(parent), None);
        self.names.regions.insert(self.at(node), scope);
        scope
    }

    fn children(&mut self, node: NodeId, scope: ScopeId) {
        let children: Vec<NodeId> = self
            .tree()
            .children(node)
            .filter(|&n| !self.tree().is_leaf(n))
            .collect();
        for child in children {
            self.item(child, scope);
        }
    }

    fn defining(&self, node: NodeId) -> Vec<NodeId> {
        let tree = self.tree();
        tree.children(node)
            .take_while(|&n| tree.kind(n) != ":")
            .filter(|&n| tree.kind(n) == "identifier")
            .collect()
    }

    /// Returns the last identifier of a defining name (`C` of `A.B.C`).
    fn last_identifier(&self, name: NodeId) -> NodeId {
        let tree = self.tree();
        if tree.kind(name) == "selected_component" {
            tree.role(name, "selector_name").unwrap_or(name)
        } else {
            name
        }
    }

    fn item(&mut self, node: NodeId, scope: ScopeId) {
        match self.tree().kind(node) {
            "package_declaration" => self.package(node, scope, Kind::Package),
            "generic_package_declaration" | "generic_subprogram_declaration" => {
                self.generic(node, scope)
            }
            "package_body" | "task_body" | "protected_body" => self.body(node, scope),
            "subprogram_body"
            | "subprogram_declaration"
            | "null_procedure_declaration"
            | "expression_function_declaration"
            | "subprogram_body_stub"
            | "formal_concrete_subprogram_declaration"
            | "formal_abstract_subprogram_declaration" => {
                self.subprogram(node, scope);
            }
            "single_task_declaration" => self.concurrent(node, scope, Kind::SingleTask),
            "task_type_declaration" => self.concurrent(node, scope, Kind::TaskType),
            "single_protected_declaration" => self.concurrent(node, scope, Kind::SingleProtected),
            "protected_type_declaration" => self.concurrent(node, scope, Kind::ProtectedType),
            "entry_declaration" => self.entry(node, scope),
            "entry_body" => self.entry_body(node, scope),
            "accept_statement"
            | "loop_statement"
            | "block_statement"
            | "exception_handler"
            | "quantified_expression"
            | "iterated_element_association"
            | "extended_return_statement"
            | "declare_expression"
            | "access_to_subprogram_definition"
            | "access_definition" => self.statement_region(node, scope),
            "full_type_declaration"
            | "incomplete_type_declaration"
            | "private_type_declaration"
            | "private_extension_declaration"
            | "formal_complete_type_declaration"
            | "formal_incomplete_type_declaration" => self.type_declaration(node, scope),
            "subtype_declaration" => self.simple(node, scope, Kind::Subtype),
            "object_declaration"
            | "number_declaration"
            | "exception_declaration"
            | "component_declaration"
            | "formal_object_declaration"
            | "discriminant_specification"
            | "parameter_specification" => self.objects(node, scope),
            "object_renaming_declaration" => self.simple(node, scope, Kind::ObjectRenaming),
            "exception_renaming_declaration" => self.simple(node, scope, Kind::ExceptionRenaming),
            "package_renaming_declaration" | "generic_renaming_declaration" => {
                self.renaming(node, scope, Kind::PackageRenaming)
            }
            "subprogram_renaming_declaration" => {
                self.renaming(node, scope, Kind::SubprogramRenaming)
            }
            "generic_instantiation" | "formal_package_declaration" => self.instance(node, scope),
            "use_clause" => {
                let from = self.tree().end(node);
                self.use_clause(node, scope, from);
            }
            "label" => {
                if let Some(ident) = self.tree().role(node, "statement_identifier") {
                    self.define(ident, node, Kind::Label, scope);
                }
            }
            "loop_parameter_specification" | "iterator_specification" => {
                if let Some(ident) = self.tree().child(node, "identifier") {
                    self.define(ident, node, Kind::LoopParameter, scope);
                }
                self.children(node, scope);
            }
            _ => self.children(node, scope),
        }
    }

    fn use_clause(&mut self, node: NodeId, scope: ScopeId, from: usize) {
        let tree = self.tree();
        let is_type = tree.role(node, "is_type").is_some();
        if is_type && tree.role(node, "is_all").is_none() {
            return;
        }
        let named = tree
            .children(node)
            .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"));
        // `use all type P.T` makes the operations of T visible, which are declared in P (RM 8.4
        // (8)).
        let packages: Vec<NodeId> = if is_type {
            named.filter_map(|n| tree.role(n, "prefix")).collect()
        } else {
            named.collect()
        };
        for package in packages {
            let package = self.at(package);
            let clause = Use {
                file: self.file,
                from,
                package,
            };
            self.names.scopes[scope.0 as usize].uses.push(clause);
        }
    }

    fn package(&mut self, node: NodeId, scope: ScopeId, kind: Kind) {
        let Some(name) = self.tree().role(node, "name") else {
            return;
        };
        let ident = self.last_identifier(name);
        let id = self.define(ident, node, kind, scope);
        let inner = self.region_of(id, node, scope);
        self.children(node, inner);
    }

    fn generic(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let package = tree.child(node, "package_declaration");
        let spec = package
            .or_else(|| tree.child(node, "procedure_specification"))
            .or_else(|| tree.child(node, "function_specification"));
        let formals = tree.child(node, "generic_formal_part");
        let Some(spec) = spec else { return };
        let Some(name) = tree.role(spec, "name") else {
            return;
        };
        let ident = self.last_identifier(name);
        let kind = if package.is_some() {
            Kind::GenericPackage
        } else {
            Kind::GenericSubprogram
        };
        let id = self.define(ident, node, kind, scope);
        let inner = self.region_of(id, spec, scope);
        self.names.regions.insert(self.at(node), inner);
        if let Some(formals) = formals {
            self.children(formals, inner);
        }
        self.children(spec, inner);
    }

    /// Declares a package, task or protected body (a stub has no region of its own).
    fn body(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let Some(name) = tree
            .role(node, "name")
            .or_else(|| tree.child(node, "identifier"))
        else {
            return;
        };
        let ident = self.last_identifier(name);
        let key = Names::key(self.text(ident));
        let spec = self.names.direct(scope, &key).into_iter().rev().find(|&e| {
            matches!(
                self.names.entity(e).kind,
                Kind::Package
                    | Kind::GenericPackage
                    | Kind::TaskType
                    | Kind::SingleTask
                    | Kind::ProtectedType
                    | Kind::SingleProtected
            )
        });
        let inner = self.names.open(Some(scope), spec);
        self.names.regions.insert(self.at(node), inner);
        if let Some(spec) = spec {
            self.names.scopes[inner.0 as usize].completes = self.names.entity(spec).inner;
            self.complete(spec, node, ident);
        }
        self.children(node, inner);
    }

    fn complete(&mut self, spec: EntityId, body: NodeId, ident: NodeId) {
        let start = self.tree().start(ident);
        let at = self.at(body);
        self.names.entities[spec.0 as usize].body = Some(at);
        self.names.meanings.insert((self.file, start), spec);
    }
}

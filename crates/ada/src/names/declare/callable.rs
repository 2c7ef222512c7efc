//! Subprograms, entries and their profiles.

use super::Pass;
use super::units::compact;
use crate::names::{At, EntityId, Kind, Names, ScopeId};
use crate::source::Program;
use crate::syntax::NodeId;

impl Pass<'_> {
    pub(super) fn subprogram(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let Some(spec) = tree
            .child(node, "procedure_specification")
            .or_else(|| tree.child(node, "function_specification"))
        else {
            return;
        };
        let Some(name) = tree.role(spec, "name") else {
            return;
        };
        let is_body = matches!(
            tree.kind(node),
            "subprogram_body" | "expression_function_declaration" | "null_procedure_declaration"
        );
        let ident = self.last_identifier(name);
        let earlier = if is_body {
            self.earlier_profile(node, spec, ident, scope)
        } else {
            None
        };
        let id = match earlier {
            Some(id) => {
                let inner = self.names.open(Some(scope), Some(id));
                self.names.regions.insert(self.at(node), inner);
                // The formals of a generic are visible in its body.
                if self.names.entity(id).kind == Kind::GenericSubprogram {
                    self.names.scopes[inner.0 as usize].completes = self.names.entity(id).inner;
                }
                self.complete(id, node, ident);
                return self.children(node, inner);
            }
            None => self.define(ident, node, Kind::Subprogram, scope),
        };
        if is_body {
            self.names.entities[id.0 as usize].body = Some(self.at(node));
        }
        let inner = self.region_of(id, node, scope);
        self.children(node, inner);
    }

    /// Returns the declaration that a subprogram body completes: it has the same name, parameter
    /// names and subtype marks (RM 6.3, by text).
    pub(super) fn earlier_profile(
        &self,
        node: NodeId,
        spec: NodeId,
        ident: NodeId,
        scope: ScopeId,
    ) -> Option<EntityId> {
        let key = Names::key(self.text(ident));
        let own = profile(self.program, self.at(spec));
        self.names.direct(scope, &key).into_iter().find(|&e| {
            let entity = self.names.entity(e);
            if !matches!(entity.kind, Kind::Subprogram | Kind::GenericSubprogram)
                || entity.body.is_some()
                || entity.at == self.at(node)
            {
                return false;
            }
            let tree = &self.program.sources[entity.at.file].tree;
            let other = tree
                .child(entity.at.node, "procedure_specification")
                .or_else(|| tree.child(entity.at.node, "function_specification"));
            other.is_some_and(|n| {
                profile(
                    self.program,
                    At {
                        file: entity.at.file,
                        node: n,
                    },
                ) == own
            })
        })
    }

    pub(super) fn concurrent(&mut self, node: NodeId, scope: ScopeId, kind: Kind) {
        let Some(ident) = self.tree().child(node, "identifier") else {
            return;
        };
        let id = self.define(ident, node, kind, scope);
        let inner = self.region_of(id, node, scope);
        self.children(node, inner);
    }

    pub(super) fn entry(&mut self, node: NodeId, scope: ScopeId) {
        let Some(ident) = self.tree().role(node, "entry_name") else {
            return;
        };
        let id = self.define(ident, node, Kind::Entry, scope);
        let inner = self.region_of(id, node, scope);
        self.children(node, inner);
    }

    pub(super) fn entry_body(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let Some(ident) = tree.child(node, "identifier") else {
            return;
        };
        let index = tree
            .child(node, "entry_index_specification")
            .and_then(|n| Some((n, tree.child(n, "identifier")?)));
        let key = Names::key(self.text(ident));
        let entry = self
            .names
            .direct(scope, &key)
            .into_iter()
            .find(|&e| self.names.entity(e).kind == Kind::Entry);
        let inner = self.names.open(Some(scope), entry);
        self.names.regions.insert(self.at(node), inner);
        if let Some(entry) = entry {
            self.complete(entry, node, ident);
        }
        if let Some((spec, ident)) = index {
            self.define(ident, spec, Kind::LoopParameter, inner);
        }
        self.children(node, inner);
    }
}

/// Parameter names and subtype marks of a specification, in lower case.
pub(super) fn profile(program: &Program, spec: At) -> Vec<String> {
    let source = &program.sources[spec.file];
    let tree = &source.tree;
    let mut parts = Vec::new();
    if let Some(formals) = tree.child(spec.node, "formal_part") {
        for parameter in tree.all(formals, "parameter_specification") {
            let subtype = tree
                .role(parameter, "subtype_mark")
                .or_else(|| tree.child(parameter, "access_definition"));
            let mark = subtype.map_or(String::new(), |n| last_part(source.text(n)));
            for ident in tree
                .children(parameter)
                .take_while(|&n| tree.kind(n) != ":")
                .filter(|&n| tree.kind(n) == "identifier")
            {
                parts.push(format!("{}:{mark}", Names::key(source.text(ident))));
            }
        }
    }
    parts
}

/// Returns the last part of a name: a subtype mark may be expanded in one place and not in another.
pub(super) fn last_part(name: &str) -> String {
    let lower = compact(name);
    lower.rsplit('.').next().unwrap_or(&lower).to_string()
}

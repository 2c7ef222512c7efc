//! Types, objects, renamings and instances.

use super::Pass;
use crate::names::{Kind, ScopeId};
use crate::syntax::NodeId;

impl Pass<'_> {
    pub(super) fn statement_region(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let label = tree
            .child(node, "loop_label")
            .and_then(|n| tree.role(n, "statement_identifier"));
        let occurrence = tree.child(node, "choice_parameter_specification");
        let returned = tree.child(node, "extended_return_object_declaration");
        if let Some(label) = label {
            self.define(label, node, Kind::Label, scope);
        }
        let inner = self.anonymous(node, scope);
        if let Some(occurrence) = occurrence {
            self.define(occurrence, node, Kind::Occurrence, inner);
        }
        if let Some((object, ident)) =
            returned.and_then(|n| Some((n, self.tree().child(n, "identifier")?)))
        {
            self.define(ident, object, Kind::Variable, inner);
        }
        self.children(node, inner);
    }

    pub(super) fn type_declaration(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let Some(ident) = tree.child(node, "identifier") else {
            return self.children(node, scope);
        };
        let definition = tree.child(node, "enumeration_type_definition");
        let literals: Vec<NodeId> = definition
            .map(|d| {
                tree.children(d)
                    .filter(|&n| matches!(tree.kind(n), "identifier" | "character_literal"))
                    .collect()
            })
            .unwrap_or_default();
        let id = self.define(ident, node, Kind::Type, scope);
        let inner = self.region_of(id, node, scope);
        for literal in literals {
            self.define(literal, node, Kind::Literal, scope);
        }
        self.children(node, inner);
    }

    pub(super) fn simple(&mut self, node: NodeId, scope: ScopeId, kind: Kind) {
        if let Some(ident) = self.tree().child(node, "identifier") {
            self.define(ident, node, kind, scope);
        }
        self.children(node, scope);
    }

    pub(super) fn objects(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let kind = match tree.kind(node) {
            "number_declaration" => Kind::Constant,
            "exception_declaration" => Kind::Exception,
            "component_declaration" => Kind::Component,
            "discriminant_specification" => Kind::Discriminant,
            "parameter_specification" => Kind::Parameter,
            _ if tree.child(node, "constant").is_some() => Kind::Constant,
            _ => Kind::Variable,
        };
        for ident in self.defining(node) {
            self.define(ident, node, kind, scope);
        }
        self.children(node, scope);
    }

    pub(super) fn renaming(&mut self, node: NodeId, scope: ScopeId, kind: Kind) {
        let tree = self.tree();
        let spec = tree
            .child(node, "procedure_specification")
            .or_else(|| tree.child(node, "function_specification"));
        let Some(name) = tree
            .role(spec.unwrap_or(node), "name")
            .or_else(|| tree.role(node, "defining_program_unit_name"))
        else {
            return;
        };
        let ident = self.last_identifier(name);
        let id = self.define(ident, node, kind, scope);
        if let Some(spec) = spec {
            let inner = self.region_of(id, node, scope);
            self.children(spec, inner);
        }
    }

    pub(super) fn instance(&mut self, node: NodeId, scope: ScopeId) {
        let tree = self.tree();
        let Some(name) = tree
            .role(node, "name")
            .or_else(|| tree.child(node, "identifier"))
        else {
            return;
        };
        let is_package = tree.child(node, "package").is_some();
        let ident = self.last_identifier(name);
        self.define(
            ident,
            node,
            if is_package {
                Kind::PackageInstance
            } else {
                Kind::SubprogramInstance
            },
            scope,
        );
    }
}

//! Compilation units: their order and their full names.

use super::Pass;
use crate::names::{Names, ScopeId};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

/// Rank of a unit: 0 specification, 1 body, 2 subunit.
pub(super) fn rank(tree: &Tree, item: NodeId) -> u8 {
    match tree.kind(item) {
        "subunit" => 2,
        "package_body" | "subprogram_body" | "task_body" | "protected_body" => 1,
        _ => 0,
    }
}

pub(super) fn body_of_unit(tree: &Tree, item: NodeId) -> NodeId {
    match tree.kind(item) {
        "subunit" | "generic_package_declaration" => tree
            .children(item)
            .find(|&n| tree.kind(n).ends_with("_body") || tree.kind(n) == "package_declaration")
            .unwrap_or(item),
        _ => item,
    }
}

/// Returns the full lower-case name of a library unit; for a subunit that of its parent and its
/// own.
pub(in crate::names) fn unit_name(program: &Program, file: usize, item: NodeId) -> String {
    let source = &program.sources[file];
    let tree = &source.tree;
    let own = |n: NodeId| {
        let spec = [
            "procedure_specification",
            "function_specification",
            "package_declaration",
        ]
        .iter()
        .find_map(|k| tree.child(n, k));
        tree.role(spec.unwrap_or(n), "name")
            .or_else(|| tree.child(n, "identifier"))
            .map_or(String::new(), |x| compact(source.text(x)))
    };
    if tree.kind(item) == "subunit" {
        let parent = tree
            .role(item, "parent_unit_name")
            .map_or(String::new(), |x| compact(source.text(x)));
        return format!("{parent}.{}", own(body_of_unit(tree, item)));
    }
    own(item)
}

pub(super) fn compact(name: &str) -> String {
    Names::key(&name.split_whitespace().collect::<String>())
}

impl Pass<'_> {
    /// Returns the region of the unit that a child unit or subunit belongs to.
    pub(super) fn parent_unit(&self, root: ScopeId, name: &str) -> Option<ScopeId> {
        let (above, _) = name.rsplit_once('.')?;
        let mut scope = root;
        for part in above.split('.') {
            let found = self.names.direct(scope, part);
            let owner = *found
                .iter()
                .find(|&&e| self.names.entity(e).inner.is_some())?;
            let entity = self.names.entity(owner);
            // A subunit belongs into its parent's body.
            scope = entity
                .body
                .and_then(|b| self.names.region(b))
                .or(entity.inner)?;
        }
        Some(scope)
    }
}

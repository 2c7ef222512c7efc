//! Variables outside the task that a guard reads. GNAT warns of them in a barrier ("potentially
//! unsynchronized barrier").
//!
//! Variables that never change become constants; others must belong to the server.

use crate::edit::Edit;
use crate::names::{EntityId, Kind};
use crate::syntax::NodeId;
use crate::translate::context::Context;

/// Returns the variables outside the task that a guard itself names, except those directly in a
/// package body, which GNAT accepts.
pub fn variables(cx: &Context, guard: NodeId) -> Vec<EntityId> {
    let mut found: Vec<EntityId> = cx
        .meanings(cx.at(guard))
        .into_iter()
        .map(|(_, e)| e)
        .filter(|&e| cx.names.entity(e).kind == Kind::Variable && !cx.is_local(e))
        .filter(|&e| {
            let at = cx.names.entity(e).at;
            let tree = &cx.program.sources[at.file].tree;
            let around = tree.ancestor(
                at.node,
                &[
                    "package_body",
                    "package_declaration",
                    "subprogram_body",
                    "block_statement",
                    "task_body",
                ],
            );
            // A generic's formal object is a constant (RM 12.4 (10)).
            tree.kind(at.node) == "object_declaration"
                && around.is_none_or(|n| tree.kind(n) != "package_body")
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the edit that turns a variable that is never written into a constant; none if its
/// declaration has no value, or other variables.
pub fn constant(cx: &Context, variable: EntityId) -> Option<Edit> {
    let at = cx.names.entity(variable).at;
    let tree = &cx.program.sources[at.file].tree;
    let colon = tree.child(at.node, ":")?;
    let is_alone = tree
        .children(at.node)
        .take_while(|&n| n != colon)
        .all(|n| tree.kind(n) != ",");
    let is_plain = tree.kind(at.node) == "object_declaration"
        && is_alone
        && tree.child(at.node, "expression").is_some()
        && tree.child(at.node, "aliased").is_none()
        && cx.is_never_written(variable);
    is_plain.then(|| Edit {
        file: at.file,
        range: tree.range(colon),
        text: ": constant".into(),
    })
}

/// Returns the edits for all guards of the task.
pub fn constants(cx: &Context) -> Vec<Edit> {
    let guards = cx.flow.sites.iter().filter_map(|s| s.guard);
    let mut found: Vec<Edit> = Vec::new();
    for variable in guards.flat_map(|g| variables(cx, g)) {
        found.extend(constant(cx, variable).filter(|e| !found.contains(e)));
    }
    found
}

//! Variables beside the task that only the task uses. They become components, like its own.

use super::forward::whole_lines;
use crate::edit::Edit;
use crate::names::{EntityId, Kind};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::{unsynchronized, visibility};

/// Returns the declarations of such variables that guards read, in the order of the text.
pub(super) fn items(cx: &Context) -> Vec<NodeId> {
    let guards = cx.flow.sites.iter().filter_map(|s| s.guard);
    let mut found: Vec<NodeId> = guards
        .flat_map(|g| unsynchronized::variables(cx, g))
        .filter(|&v| unsynchronized::constant(cx, v).is_none() && is_adopted(cx, v))
        .map(|v| cx.names.entity(v).at.node)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a variable is declared beside a single task that is its only user, in its statements.
pub(crate) fn is_adopted(cx: &Context, variable: EntityId) -> bool {
    let entity = cx.names.entity(variable);
    let body = cx.task.body;
    let tree = cx.tree();
    let item = entity.at.node;
    let statements = tree.child(body.node, "handled_sequence_of_statements");
    let is_beside = entity.scope == cx.names.entity(cx.task.id).scope;
    let is_hidden = tree
        .parent(item)
        .is_some_and(|p| tree.kind(p) == "non_empty_declarative_part");
    if cx.task.is_type
        || entity.kind != Kind::Variable
        || entity.at.file != body.file
        || tree.kind(item) != "object_declaration"
        || !is_beside
        || !is_hidden
    {
        return false;
    }
    let is_alone = tree
        .children(item)
        .take_while(|&n| tree.kind(n) != ":")
        .all(|n| tree.kind(n) != ",");
    let is_own =
        cx.names.uses_of(variable).iter().all(|at| {
            at.file == body.file && statements.is_some_and(|s| tree.is_within(at.node, s))
        });
    let value = tree.child(item, "expression");
    is_alone
        && is_own
        && tree.child(item, "aliased").is_none()
        && value.is_none_or(|v| cx.is_constant(v) && visibility::is_all_shown(cx, v))
        && whole_lines(cx.source(), item).is_some()
}

/// Returns the edit that removes such a variable's declaration.
pub(super) fn removal(cx: &Context, item: NodeId) -> Option<Edit> {
    Some(Edit {
        file: cx.task.body.file,
        range: whole_lines(cx.source(), item)?,
        text: String::new(),
    })
}

//! Variables that are really constants: they get a value once, are never written, and the bounds of
//! later declarations need them.
//!
//! A component of a protected object must not depend on another, so they move out and become
//! constants.

use super::{Moved, entities, is_own_discriminant};
use crate::names::{EntityId, Kind};
use crate::syntax::NodeId;
use crate::translate::context::Context;

/// Whether an object declaration of the body declares such variables.
pub(super) fn is_settled(cx: &Context, item: NodeId) -> bool {
    let tree = cx.tree();
    let value = tree.child(item, "expression");
    let is_plain = tree.kind(item) == "object_declaration"
        && tree.child(item, "constant").is_none()
        && value.is_some_and(|v| cx.is_constant(v) && !uses_own(cx, v));
    if !is_plain {
        return false;
    }
    let ids = entities(cx, item);
    let is_written = |&id: &EntityId| {
        let uses = cx.names.uses_of(id);
        uses.iter().any(|&at| cx.is_written_at(at))
    };
    !ids.is_empty() && !ids.iter().any(is_written) && ids.iter().any(|&id| bounds_others(cx, id))
}

/// Whether an expression needs something that only exists in the object.
fn uses_own(cx: &Context, value: NodeId) -> bool {
    cx.meanings(cx.at(value)).iter().any(|&(_, e)| {
        is_own_discriminant(cx, e) || cx.is_local(e) && cx.names.entity(e).kind == Kind::Variable
    })
}

/// Whether a declaration of the body uses a variable outside of initial values and subprograms.
fn bounds_others(cx: &Context, id: EntityId) -> bool {
    let tree = cx.tree();
    let own = cx.names.entity(id).at.node;
    cx.names.uses_of(id).iter().any(|at| {
        let item = tree.ancestors(at.node).find(|&n| {
            tree.parent(n)
                .is_some_and(|p| tree.kind(p) == "non_empty_declarative_part")
        });
        at.file == cx.task.body.file
            && item.is_some_and(|item| {
                let value = tree.child(item, "expression");
                item != own
                    && cx.declarations().contains(&item)
                    && matches!(
                        tree.kind(item),
                        "object_declaration" | "full_type_declaration" | "subtype_declaration"
                    )
                    && value.is_none_or(|v| !tree.is_within(at.node, v))
            })
    })
}

impl Moved {
    /// Turns the copied declarations of such variables into those of constants.
    pub(super) fn settle(&mut self, cx: &Context, outside: &[NodeId]) {
        let tree = cx.tree();
        for &item in outside {
            let colon = tree.child(item, ":").filter(|_| is_settled(cx, item));
            if let Some(colon) = colon {
                self.changes.add(tree.range(colon), ": constant");
            }
        }
    }
}

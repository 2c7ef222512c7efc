//! Which accept bodies may raise exceptions.

use crate::names::Names;
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};

/// Whether the accept statement has a body that may raise an exception.
pub(super) fn can_fail(cx: &Context, accept: NodeId) -> bool {
    let tree = cx.tree();
    let Some(handled) = tree.child(accept, "handled_sequence_of_statements") else {
        return false;
    };
    tree.walk(handled).any(|n| match tree.kind(n) {
        "assignment_statement" => !is_plain_copy(cx, n),
        "null_statement" | "pragma_g" => false,
        kind => {
            kind.ends_with("_statement") || kind == "timed_entry_call" || kind == "selective_accept"
        }
    })
}

/// Whether an assignment copies between names that were declared with the same subtype.
fn is_plain_copy(cx: &Context, node: NodeId) -> bool {
    let tree = cx.tree();
    let name = |n: NodeId| {
        let text = cx.text(n).trim();
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| tree.walk(n).find(|&i| tree.kind(i) == "identifier"))?
    };
    let mark = |n: NodeId| {
        let id = cx.names.meaning(cx.program, cx.at(n))?;
        let at = cx.names.entity(id).at;
        let source = source_of(cx.program, at);
        let mark = source.tree.role(at.node, "subtype_mark")?;
        Some(Names::key(source.text(mark)))
    };
    let target = tree
        .role(node, "variable_name")
        .and_then(name)
        .and_then(mark);
    let value = tree.child(node, "expression").and_then(name).and_then(mark);
    target.is_some() && target == value
}

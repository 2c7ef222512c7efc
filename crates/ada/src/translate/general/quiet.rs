//! Conditions for leaving the end of a rendezvous to the task's next accept.
//!
//! The caller then also waits for the code between the two. That is only allowed if the caller
//! cannot distinguish it from later scheduling. So the code may contain assignments and jumps, but
//! no calls, and no handler that could delay the caller.

use std::collections::BTreeSet;

use crate::flow::{Point, Site};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::obstacles;

/// Whether all ways from the end of an accept to the next one, or to the end of the task, are that
/// short.
pub(super) fn leads_on(cx: &Context, site: &Site) -> bool {
    let tree = cx.tree();
    if tree.ancestor(site.accept, &["exception_handler"]).is_some() {
        return false;
    }
    let is_handled = obstacles::handled_around_waits(cx)
        .into_iter()
        .any(|h| tree.is_within(site.accept, h));
    let mut points = between(cx, cx.flow.after(site.accept)).into_iter();
    points.all(|point| match point {
        Point::Before(node) if let Some(wait) = cx.flow.wait_at(node) => {
            let sites = cx.flow.waits[wait].sites.iter().map(|&s| &cx.flow.sites[s]);
            sites.into_iter().all(|s| is_pure(cx, s.guard))
        }
        Point::Before(node) => is_quiet(cx, node, is_handled),
        Point::LoopTop(node) => {
            !cx.flow.goes_round(node) && is_pure(cx, tree.child(node, "iteration_scheme"))
        }
        Point::LoopNext(_) | Point::End => true,
        Point::AcceptEnd(_) => false,
    })
}

/// Returns the points from one point up to and including the next waits.
fn between(cx: &Context, from: Point) -> BTreeSet<Point> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(point) = open.pop() {
        let is_wait = matches!(point, Point::Before(node) if cx.flow.wait_at(node).is_some());
        if found.insert(point) && !is_wait {
            open.extend(cx.flow.next(point));
        }
    }
    found
}

fn is_quiet(cx: &Context, node: NodeId, is_handled: bool) -> bool {
    let tree = cx.tree();
    match tree.kind(node) {
        "null_statement" | "pragma_g" => true,
        "assignment_statement" => !is_handled && is_pure(cx, Some(node)),
        "exit_statement" => is_pure(cx, Some(node)),
        "if_statement" | "case_statement" if !cx.flow.is_plain(node) => {
            let conditions = tree.walk(node).filter(|&n| tree.field(n) == "condition");
            let selectors = tree.child(node, "expression");
            conditions.chain(selectors).all(|n| is_pure(cx, Some(n)))
        }
        "if_statement" => !is_handled && is_short(cx, node),
        "loop_statement" => !cx.flow.is_plain(node),
        "block_statement" => {
            !cx.flow.is_plain(node) && tree.child(node, "non_empty_declarative_part").is_none()
        }
        _ => false,
    }
}

/// Whether a node is an if statement that only contains assignments.
fn is_short(cx: &Context, node: NodeId) -> bool {
    let tree = cx.tree();
    let is_plain = tree.walk(node).all(|n| {
        !tree.kind(n).ends_with("_statement")
            || matches!(
                tree.kind(n),
                "if_statement" | "assignment_statement" | "null_statement"
            )
    });
    is_plain && is_pure(cx, Some(node))
}

/// Whether nothing in a node calls, blocks, raises, or depends on the time of execution.
fn is_pure(cx: &Context, node: Option<NodeId>) -> bool {
    let Some(node) = node else { return true };
    let effects = cx.oracle.of(cx.at(node));
    effects.blocks.is_empty()
        && effects.unknown.is_empty()
        && effects.io.is_empty()
        && effects.raises.is_empty()
        && effects.long.is_empty()
        && effects.identity.is_empty()
        && effects.impure.is_empty()
}

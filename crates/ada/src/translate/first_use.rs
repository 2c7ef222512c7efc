//! The code before a task's first accept, run when the object is first used.
//!
//! A protected object is never activated. If the time of these statements is not visible, the first
//! call runs them and is then requeued to the entry that it called (RM 9.5.4).

use std::collections::HashSet;

use super::context::Context;
use super::obstacles;
use crate::flow::Point;
use crate::names::{At, EntityId, Kind};
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

const HELP: &str = "let clients do it, or give the server an entry that begins it";

/// Checks that the code from a point on, and the initial values, may run later than at activation.
///
/// # Errors
/// A visible effect.
pub fn check(cx: &Context, from: Point) -> Result<(), Reason> {
    let tree = cx.tree();
    let objects = cx.declarations().into_iter();
    let values = objects
        .filter(|&i| tree.kind(i) == "object_declaration")
        .filter_map(|i| tree.child(i, "expression"));
    let points = cx.flow.reach(from).into_iter();
    let code = points.flat_map(|p| obstacles::code_at(cx, p));
    for node in values.chain(code) {
        if let Some((at, what)) = visible(cx, cx.at(node), &mut HashSet::new()) {
            let text = format!(
                "{what} when the task is activated: a protected object has no such moment, and when it is first used is later"
            );
            return Err(Reason {
                rule: Rule::Prologue,
                at,
                text,
                help: HELP.into(),
            });
        }
    }
    timed(cx, from)
}

/// Checks delay alternatives, whose time would begin with the first call.
fn timed(cx: &Context, from: Point) -> Result<(), Reason> {
    for point in cx.flow.reach(from) {
        if let Point::Before(node) = point
            && let Some(wait) = cx.flow.wait_at(node)
            && cx.flow.elapsed(wait).is_some()
        {
            let text = "the time of this delay begins when the task is activated: a protected object has no such moment";
            let help = "give the time-out to the clients (timed entry calls)";
            return Err(cx.reason(Rule::Prologue, node, text, help));
        }
    }
    Ok(())
}

/// Returns code that makes the time of execution visible, and its place.
fn visible(cx: &Context, at: At, seen: &mut HashSet<EntityId>) -> Option<(At, String)> {
    let effects = cx.oracle.of(at);
    let plain = [
        &effects.io,
        &effects.blocks,
        &effects.unknown,
        &effects.identity,
        &effects.raises,
    ];
    if let Some(effect) = plain.into_iter().flatten().next() {
        return Some((effect.at, effect.what.clone()));
    }
    for effect in &effects.impure {
        match called(cx, effect.at) {
            Some(id) if seen.insert(id) => {
                let body = cx.names.entity(id).body?;
                if let Some((_, what)) = visible(cx, body, seen) {
                    return Some((effect.at, format!("{}, which does {what}", effect.what)));
                }
            }
            Some(_) => {}
            None => return Some((effect.at, effect.what.clone())),
        }
    }
    let changes = |&e: &EntityId| {
        let mut uses = cx.names.uses_of(e).iter();
        uses.any(|&u| cx.is_written_at(u))
    };
    let variable = obstacles::variables_read(cx, at)
        .into_iter()
        .find(changes)?;
    let name = &cx.names.entity(variable).name;
    Some((at, format!("{name}, a variable of others, is used")))
}

/// Returns the subprogram, with a known body, that is called at a place.
fn called(cx: &Context, at: At) -> Option<EntityId> {
    let tree = &cx.program.sources[at.file].tree;
    let node: NodeId = tree.role(at.node, "name").unwrap_or(at.node);
    let id = cx.names.meaning(cx.program, At { node, ..at })?;
    let entity = cx.names.entity(id);
    (entity.kind == Kind::Subprogram && entity.body.is_some()).then_some(id)
}

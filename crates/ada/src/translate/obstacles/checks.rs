//! Language-defined checks that callers can make fail. In a task without handlers such a failure
//! completes the task (RM 9.5.2 (24), 11.4), but the object continues to serve.

use super::Found;
use crate::flow::Point;
use crate::names::{At, EntityId, Kind, Names, Ty, values};
use crate::syntax::NodeId;
use crate::translate::context::{Context, is_predefined_type};
use crate::translate::exceptions;
use crate::verdict::Rule;

impl Found {
    /// Notes the first check whose outcome depends on a caller's parameter.
    pub(super) fn checks(&mut self, cx: &Context) {
        let tree = cx.tree();
        for site in &cx.flow.sites {
            let body = tree.child(site.accept, "handled_sequence_of_statements");
            let Some(body) = body.filter(|_| !exceptions::must_watch_accept(cx, site)) else {
                continue;
            };
            let check = tree.walk(body).find(|&n| {
                may_fail(cx, n) && tree.ancestor(n, &["accept_statement"]) == Some(site.accept)
            });
            let is_handled = check.is_some_and(|n| {
                tree.ancestors(n)
                    .take_while(|&a| a != site.accept)
                    .any(|a| tree.child(a, "exception_handler").is_some())
            });
            let Some(node) = check.filter(|_| !is_handled) else {
                continue;
            };
            if !goes_on(cx, cx.flow.resume(site)) {
                continue;
            }
            let text = "a caller can make a check fail here: the task would complete, and later callers get Tasking_Error; the object serves on";
            let help = "handle the exception in the task, which is followed, or in the accept";
            return self.note(cx, Rule::Checks, node, text, help);
        }
    }
}

/// Whether the server accepts more calls from a point on.
fn goes_on(cx: &Context, point: Point) -> bool {
    cx.flow
        .reach(point)
        .into_iter()
        .any(|p| matches!(p, Point::Before(n) if cx.flow.wait_at(n).is_some()))
}

/// Whether a check at a node depends on a parameter of the accept.
fn may_fail(cx: &Context, node: NodeId) -> bool {
    let tree = cx.tree();
    match tree.kind(node) {
        "function_call" => {
            let actuals = tree.child(node, "actual_parameter_part");
            let passed = actuals.filter(|&a| depends_on_caller(cx, a));
            let name = tree.role(node, "name");
            match (passed, name) {
                (Some(passed), Some(name)) if tree.child(node, "tick").is_none() => {
                    conversion_may_fail(cx, name, passed) || index_may_fail(cx, name, passed)
                }
                _ => false,
            }
        }
        "assignment_statement" => {
            let target = tree.role(node, "variable_name");
            let value = tree.child(node, "expression");
            match (target, value) {
                (Some(target), Some(value)) if depends_on_caller(cx, value) => {
                    let room = cx.names.value_bounds(cx.program, cx.at(target));
                    let given = cx.names.value_bounds(cx.program, cx.at(value));
                    matches!((room, given), (Some(room), Some(given)) if !is_inside(given, room))
                }
                _ => false,
            }
        }
        // Division by zero.
        "multiplying_operator" if tree.child(node, "*").is_none() => {
            let divisor = tree.next(node);
            divisor.is_some_and(|d| {
                let bounds = cx.names.value_bounds(cx.program, cx.at(d));
                depends_on_caller(cx, d) && bounds.is_none_or(|b| is_inside((0, 0), b))
            })
        }
        _ => false,
    }
}

fn is_inside(inner: values::Bounds, outer: values::Bounds) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// Whether a value comes from a formal parameter of an entry.
fn depends_on_caller(cx: &Context, node: NodeId) -> bool {
    let is_passed = |e: EntityId| {
        let entity = cx.names.entity(e);
        let owner = cx.names.scope(entity.scope).owner;
        entity.kind == Kind::Parameter
            && owner.is_some_and(|o| cx.names.entity(o).kind == Kind::Entry)
    };
    let meanings = cx.meanings(cx.at(node));
    meanings.iter().any(|&(ident, e)| {
        is_passed(e)
            && cx
                .tree()
                .next(ident)
                .is_none_or(|n| cx.tree().kind(n) != "tick")
    })
}

/// Whether the value may be outside of the scalar subtype to which it is converted.
fn conversion_may_fail(cx: &Context, name: NodeId, passed: NodeId) -> bool {
    let key = Names::key(cx.text(name));
    let meaning = cx.names.meaning(cx.program, cx.at(name));
    let is_type = match meaning {
        Some(e) => matches!(cx.names.entity(e).kind, Kind::Type | Kind::Subtype),
        None => is_predefined_type(&key) && key != "string" && !key.contains("float"),
    };
    let room = cx.names.value_bounds(cx.program, cx.at(name));
    let room = room.or_else(|| cx.names.mark_bounds(cx.program, cx.at(name)));
    let given = value_of(cx, passed);
    is_type && room.is_some_and(|room| given.is_none_or(|given| !is_inside(given, room)))
}

/// Whether an index may be outside of the array.
fn index_may_fail(cx: &Context, name: NodeId, passed: NodeId) -> bool {
    let Some(array) = cx.names.meaning(cx.program, cx.at(name)) else {
        return false;
    };
    let is_object = matches!(
        cx.names.entity(array).kind,
        Kind::Variable | Kind::Constant | Kind::Component
    );
    let ty = cx.names.type_of(cx.program, array);
    let definition = cx.names.definition(cx.program, ty, "array_type_definition");
    let Some(at) = definition.filter(|_| is_object) else {
        return false;
    };
    let room = array_bounds(cx, at);
    let given = value_of(cx, passed);
    room.is_none_or(|room| given.is_none_or(|given| !is_inside(given, room)))
}

/// Returns the bounds of the first index of an array type.
fn array_bounds(cx: &Context, definition: At) -> Option<values::Bounds> {
    let tree = &cx.program.sources[definition.file].tree;
    let at = |node| At { node, ..definition };
    let index = tree
        .children(definition.node)
        .skip_while(|&n| tree.kind(n) != "(")
        .nth(1)?;
    match tree.kind(index) {
        "range_g" => cx.names.range_bounds(cx.program, at(index)),
        "identifier" | "selected_component" => cx.names.mark_bounds(cx.program, at(index)),
        _ => match cx.names.index(cx.program, Ty::Anonymous(definition), 0) {
            Ty::Named(id) => cx.names.mark_bounds(cx.program, cx.names.entity(id).ident),
            _ => None,
        },
    }
}

/// Returns the bounds of the first actual parameter.
fn value_of(cx: &Context, actuals: NodeId) -> Option<values::Bounds> {
    let tree = cx.tree();
    let first = tree.child(actuals, "parameter_association")?;
    let value = tree.child(first, "expression")?;
    cx.names.value_bounds(cx.program, cx.at(value))
}

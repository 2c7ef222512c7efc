//! Parameters whose discriminants may change.
//!
//! Inside an accept such a parameter has the constraint of the caller's variable (RM 3.7 (6), 6.4.1
//! (13)), but the object's copy is unconstrained. This makes no difference if all callers pass
//! unconstrained variables and the program does not test it.

use super::entry::EntryPlan;
use crate::names::{At, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// Whether `designator` is part of `X'Constrained`, where `X` is a parameter (RM 3.7.2 (3)).
pub(super) fn is_asked(cx: &Context, designator: NodeId) -> bool {
    let tree = cx.tree();
    let prefix = tree.previous(designator).and_then(|t| tree.previous(t));
    let is_parameter = |p| {
        let meanings = cx.meanings(cx.at(p)).into_iter();
        let mut kinds = meanings.map(|(_, e)| cx.names.entity(e).kind);
        kinds.any(|k| k == Kind::Parameter)
    };
    cx.text(designator).eq_ignore_ascii_case("constrained") && prefix.is_some_and(is_parameter)
}

/// Returns a call that may pass a constrained variable for a parameter whose discriminants the
/// accept can change.
pub(super) fn obstacle(cx: &Context, entry: &EntryPlan) -> Option<Reason> {
    let parameters = entry.parameters.iter().enumerate();
    let varying = parameters.filter(|(_, p)| p.varies && p.comes_out);
    varying.into_iter().find_map(|(position, parameter)| {
        let calls = cx.names.uses_of(entry.id).iter();
        let mut actuals = calls.filter_map(|&at| actual(cx, at, position, &parameter.name));
        let at = actuals.find(|&at| !is_unconstrained(cx, at))?;
        Some(Reason {
            rule: Rule::Parameter,
            at,
            text: format!(
                "what is passed for {} may be constrained, and the object keeps an unconstrained copy: an accept that gives it other discriminants would not fail",
                parameter.name
            ),
            help: "pass a variable that is declared without a constraint".into(),
        })
    })
}

/// Returns the actual parameter in a call of an entry; the whole statement if it is a requeue.
fn actual(cx: &Context, at: At, position: usize, formal: &str) -> Option<At> {
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let statement = tree.ancestor(
        at.node,
        &[
            "procedure_call_statement",
            "requeue_statement",
            "accept_statement",
        ],
    )?;
    if tree.kind(statement) == "requeue_statement" {
        return Some(At {
            node: statement,
            ..at
        });
    }
    let name = tree.role(statement, "name")?;
    if tree.kind(statement) != "procedure_call_statement" || !tree.is_within(at.node, name) {
        return None;
    }
    let part = tree.child(statement, "actual_parameter_part")?;
    let mut associations = tree.all(part, "parameter_association").enumerate();
    let (_, found) = associations.find(|&(index, association)| {
        let choice = tree.child(association, "component_choice_list");
        choice.map_or(index == position, |c| {
            Names::key(source.text(c)) == Names::key(formal)
        })
    })?;
    tree.child(found, "expression")
        .map(|node| At { node, ..at })
}

/// Whether an expression is a variable that was declared without a constraint.
fn is_unconstrained(cx: &Context, at: At) -> bool {
    let source = source_of(cx.program, at);
    let text = source.text(at.node).trim();
    let is_name = text
        .chars()
        .all(|c| c.is_alphanumeric() || "_.".contains(c));
    let meanings = cx.meanings(at);
    let Some(&(_, variable)) = meanings.last().filter(|_| is_name) else {
        return false;
    };
    let declared = cx.names.entity(variable).at;
    let tree = &source_of(cx.program, declared).tree;
    let head = tree
        .children(declared.node)
        .take_while(|&n| tree.kind(n) != ":=");
    let is_plain = head.into_iter().all(|n| {
        matches!(
            tree.kind(n),
            "identifier" | "selected_component" | "," | ":" | ";"
        ) || tree.kind(n).ends_with("comment")
    });
    let mark = tree.role(declared.node, "subtype_mark");
    tree.kind(declared.node) == "object_declaration"
        && is_plain
        && mark.is_some_and(|node| super::parameters::varies(cx, At { node, ..declared }))
}

//! Accepts inside accepts: formal parameters of the outer one that inner ones need, and unsupported
//! forms.
//!
//! The outer caller waits in a private entry with the same profile. A requeue passes the parameters
//! on (RM 9.5.4 (12)), so the outer body has them before and after the inner accept. The inner body
//! runs in the inner caller's entry and needs copies.

use super::context::Context;
use super::declarations::Moved;
use super::let_go;
use super::machine::Nested;
use super::obstacles;
use crate::names::{At, EntityId, Kind};
use crate::syntax::{NodeId, Tree};
use crate::verdict::{Reason, Rule};

/// Returns the accepts with waits inside that the task can reach.
pub fn accepts(cx: &Context) -> Vec<NodeId> {
    let waits = cx.flow.reachable_waits();
    let sites = cx.flow.sites.iter().filter(|s| waits.contains(&s.wait));
    sites
        .map(|s| s.accept)
        .filter(|&a| cx.flow.waits_inside(a))
        .collect()
}

/// Returns obstacles to following the accepts inside accepts.
pub fn obstacles(cx: &Context) -> Vec<Reason> {
    let tree = cx.tree();
    let mut found = Vec::new();
    let has_handlers = !obstacles::handled_around_waits(cx).is_empty();
    for accept in accepts(cx) {
        let raises = cx.oracle.of(cx.at(accept)).raises.into_iter().next();
        let handler = tree
            .walk(accept)
            .find(|&n| tree.kind(n) == "exception_handler");
        if let Some(raise) = raises {
            let text = format!(
                "{} here reaches the callers of both accepts and the task",
                raise.what
            );
            found.push(Reason {
                rule: Rule::NestedAccept,
                at: raise.at,
                text,
                help: "raise before the outer accept's caller has to wait, or pass a status".into(),
            });
        }
        let caller = tree.walk(accept).find(|&n| {
            tree.kind(n) == "attribute_designator" && cx.text(n).eq_ignore_ascii_case("caller")
        });
        if let Some(node) = caller {
            let text =
                "'Caller inside an accept that waits inside: it would be asked in another entry";
            let help = "pass the identity as a parameter";
            found.push(cx.reason(Rule::NestedAccept, node, text, help));
        }
        if let Some(node) = handler.or(Some(accept).filter(|_| has_handlers)) {
            let text = "an exception handler in or around an accept that waits inside";
            found.push(cx.reason(
                Rule::NestedAccept,
                node,
                text,
                "handle the exception in a procedure that the accept calls",
            ));
        }
    }
    found
}

/// Plans private entries and copies of parameters.
pub fn plan(cx: &Context, moved: &mut Moved) -> Nested {
    let mut nested = Nested::default();
    let mut names: Vec<(usize, String)> = Vec::new();
    for accept in accepts(cx) {
        let Some(site) = cx.flow.sites.iter().find(|s| s.accept == accept) else {
            continue;
        };
        for formal in formals(cx, accept) {
            let entry = cx.task.entries[site.entry].name.clone();
            keep(cx, moved, &mut nested, accept, &entry, formal);
        }
        if let_go::is_let_go(cx, accept) {
            continue;
        }
        let known = names.iter().find(|(e, _)| *e == site.entry);
        let name = known.map(|(_, n)| n.clone()).unwrap_or_else(|| {
            let entry = &cx.task.entries[site.entry].name;
            let wanted = [format!("Finish_{entry}"), format!("{entry}_Goes_On")];
            let name = moved.private_name(cx, &wanted);
            names.push((site.entry, name.clone()));
            name
        });
        nested.finishing.insert(accept, name);
    }
    nested
}

fn formals(cx: &Context, accept: NodeId) -> Vec<EntityId> {
    let Some(region) = cx.names.region(cx.at(accept)) else {
        return vec![];
    };
    let own = cx.names.scope(region).entities.iter().copied();
    own.filter(|&e| cx.names.entity(e).kind == Kind::Parameter)
        .collect()
}

/// Copies a formal parameter into a component, if an inner accept needs it.
fn keep(
    cx: &Context,
    moved: &mut Moved,
    nested: &mut Nested,
    accept: NodeId,
    entry: &str,
    formal: EntityId,
) {
    let tree = cx.tree();
    let uses: Vec<At> = cx.names.uses_of(formal).to_vec();
    // The private entry has another name.
    for at in uses.iter().filter(|a| a.file == cx.task.body.file) {
        if let Some(expanded) = expanded(tree, at.node) {
            let name = &cx.names.entity(formal).name;
            moved.changes.add(tree.range(expanded), name);
        }
    }
    // If the outer caller may go at the first inner accept, the code after that one runs in its
    // entry.
    let first = let_go::first_wait(cx, accept).filter(|_| let_go::is_let_go(cx, accept));
    let is_later = |node| {
        first.is_some_and(|w| tree.is_within(node, accept) && tree.start(node) > tree.start(w))
    };
    let is_elsewhere = |at: &At| is_inside_another(cx, accept, at.node) || is_later(at.node);
    let inner: Vec<At> = uses
        .iter()
        .copied()
        .filter(|at| at.file == cx.task.body.file && is_elsewhere(at))
        .collect();
    let Some(first) = inner.first() else { return };
    let entity = cx.names.entity(formal);
    let specification = entity.at.node;
    let mark = tree.role(specification, "subtype_mark");
    let is_copied =
        mark.is_some_and(|m| !is_limited(cx, m)) && moved.is_definite(cx, specification);
    let Some(mark) = mark.filter(|_| is_copied) else {
        let text = format!(
            "the inner accept uses `{}` of the outer one, which cannot be copied into a component",
            entity.name
        );
        let reason = cx.reason(
            Rule::NestedAccept,
            first.node,
            text,
            "copy what is needed into a variable of the task before the inner accept",
        );
        moved.reasons.push(reason);
        return;
    };
    let component = moved.private_name(cx, &[format!("{entry}_{}", entity.name)]);
    moved
        .components
        .push(vec![format!("{component} : {};", cx.text(mark))]);
    let mode = tree.child(specification, "non_empty_mode");
    let has = |word| mode.is_some_and(|m| tree.child(m, word).is_some());
    let is_given = has("out");
    if !is_given || has("in") {
        let copy = format!("{component} := {};", entity.name);
        nested.kept.entry(accept).or_default().push(copy);
    }
    if is_given {
        let copy = format!("{} := {component};", entity.name);
        nested.given.entry(accept).or_default().push(copy);
    }
    let replaced = if is_given { uses } else { inner };
    for at in replaced.iter().filter(|a| a.file == cx.task.body.file) {
        let named = expanded(tree, at.node).unwrap_or(at.node);
        moved.changes.add(tree.range(named), &component);
    }
}

/// `Entry.Parameter` around the name of a parameter.
fn expanded(tree: &Tree, ident: NodeId) -> Option<NodeId> {
    tree.parent(ident)
        .filter(|&p| tree.kind(p) == "selected_component" && tree.field(ident) == "selector_name")
}

/// Whether a node is evaluated in another caller's entry, a barrier or the timer: in an inner
/// accept, or in the conditions of a wait.
fn is_inside_another(cx: &Context, accept: NodeId, node: NodeId) -> bool {
    let tree = cx.tree();
    if !tree.is_within(node, accept) {
        return false;
    }
    let between: Vec<NodeId> = tree.ancestors(node).take_while(|&n| n != accept).collect();
    between.iter().any(|&n| {
        let is_own_delay = tree.kind(n).starts_with("delay_")
            && tree
                .parent(n)
                .is_some_and(|p| tree.kind(p) == "delay_alternative");
        matches!(tree.kind(n), "accept_statement" | "guard") || is_own_delay
    })
}

fn is_limited(cx: &Context, mark: NodeId) -> bool {
    let Some(id) = cx.names.meaning(cx.program, cx.at(mark)) else {
        return false;
    };
    let at = cx.names.entity(id).at;
    let tree = &cx.program.sources[at.file].tree;
    cx.names
        .concurrent(cx.program, crate::names::Ty::Named(id))
        .is_some()
        || tree.walk(at.node).any(|n| tree.kind(n) == "limited")
}

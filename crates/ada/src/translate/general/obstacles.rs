//! Obstacles to the general scheme.

use super::constraints;
use super::plan::{Form, can_only_elapse, may_all_be_shut};
use crate::names::{At, Names, Ty};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::obstacles;
use crate::verdict::{Reason, Rule};

/// Returns the obstacles in the task itself.
pub(super) fn find(cx: &Context, form: Form) -> Vec<Reason> {
    if cx.flow.sites.is_empty() {
        let text = format!("task {} accepts no call", cx.task.name);
        let help = "nothing: it has no rendezvous to translate";
        return vec![cx.reason(Rule::NoAccept, cx.task.body.node, text, help)];
    }
    let mut reasons = Vec::new();
    if cx.task.is_type && form == Form::Apart {
        let text = "a selector can only requeue to objects that are no deeper than itself (RM 9.5.4 (6)), so each object of a task type would need a declaration of its own";
        let help = "use --scheme optimised, which has one object a task";
        reasons.push(cx.reason(Rule::Requeue, cx.task.body.node, text, help));
    }
    if form == Form::Polling {
        super::polling::obstacles(cx, &mut reasons);
    }
    reasons.extend(obstacles::early_callers(cx));
    overloaded(cx, &mut reasons);
    hidden(cx, &mut reasons);
    triggers(cx, &mut reasons);
    uses(cx, &mut reasons);
    declaration(cx, &mut reasons);
    statements(cx, &mut reasons);
    selects(cx, &mut reasons);
    reasons.extend(super::masters::obstacles(cx));
    reasons.sort_by_key(|r| r.at);
    reasons
}

/// Finds entries with the same name: their replacements would have the same names.
fn overloaded(cx: &Context, reasons: &mut Vec<Reason>) {
    for (position, entry) in cx.task.entries.iter().enumerate() {
        let key = Names::key(&entry.name);
        if cx.task.entries[..position]
            .iter()
            .any(|e| Names::key(&e.name) == key)
        {
            reasons.push(Reason {
                rule: Rule::LoopShape,
                at: cx.names.entity(entry.id).at,
                text: format!("the task has two entries of the name {}", entry.name),
                help: "give them different names".into(),
            });
        }
    }
}

/// Finds a declaration in the body that hides the name of the object.
fn hidden(cx: &Context, reasons: &mut Vec<Reason>) {
    let key = Names::key(&cx.task.name);
    let scope = cx.names.region(cx.task.body).map(|s| cx.names.scope(s));
    let entities = scope.iter().flat_map(|s| &s.entities);
    for &id in entities.filter(|&&e| Names::key(&cx.names.entity(e).name) == key) {
        reasons.push(Reason {
            rule: Rule::Declaration,
            at: cx.names.entity(id).ident,
            text: "it hides the task's own name, by which the object is to be called".into(),
            help: "rename it".into(),
        });
    }
}

/// Finds calls that trigger asynchronous selects. GNAT starts the abortable part when such a call
/// is requeued, even if it was accepted at once. It does not if a task accepts it (RM 9.7.4 (6)).
fn triggers(cx: &Context, reasons: &mut Vec<Reason>) {
    let uses = cx.task.entries.iter().flat_map(|e| cx.names.uses_of(e.id));
    for &at in uses {
        let tree = &cx.program.sources[at.file].tree;
        let Some(alternative) = tree.ancestor(at.node, &["triggering_alternative"]) else {
            continue;
        };
        let first = tree.children(alternative).next();
        if first.is_some_and(|trigger| tree.is_within(at.node, trigger)) {
            reasons.push(Reason {
                rule: Rule::UsedAsTask,
                at,
                text: "a call that triggers an asynchronous select would let the abortable part run while it is served".into(),
                help: "use a timed or conditional call".into(),
            });
        }
    }
}

/// Finds uses of the task that are not possible with its object. `'Terminated` and `'Callable`
/// still apply to the task.
fn uses(cx: &Context, reasons: &mut Vec<Reason>) {
    let asked = cx
        .suspects
        .iter()
        .filter(|s| s.is_task_only && s.what != "abort");
    for suspect in asked.filter(|_| cx.task.is_type) {
        let is_unknown = |&p: &At| super::clients::prefix_type(cx, p) == Ty::Unknown;
        if suspect.prefixes.iter().any(is_unknown) {
            reasons.push(Reason {
                rule: Rule::Unresolved,
                at: suspect.at,
                text: format!(
                    "{} of something that may be one of these tasks, or not",
                    suspect.what
                ),
                help: "name the task by a variable of its type".into(),
            });
        }
    }
    for found in cx.task.uses_as_task(cx.program, cx.names, cx.suspects) {
        if matches!(
            Names::key(&found.what).as_str(),
            "'terminated" | "'callable" | "'identity"
        ) {
            continue;
        }
        let help = if found.what == "abort" {
            "give the task an entry that ends it: an aborted task could not tell its callers that it is gone"
        } else {
            "pass what is needed instead of the task"
        };
        reasons.push(Reason {
            rule: Rule::UsedAsTask,
            at: found.at,
            text: format!("{} needs the task itself, with its entries", found.what),
            help: help.into(),
        });
    }
}

fn declaration(cx: &Context, reasons: &mut Vec<Reason>) {
    let declaration = cx.task.declaration;
    let tree = &cx.program.sources[declaration.file].tree;
    let mut refuse = |node, rule, text: &str, help: &str| {
        reasons.push(Reason {
            rule,
            at: At {
                node,
                ..declaration
            },
            text: text.into(),
            help: help.into(),
        });
    };
    if let Some(word) = tree.child(declaration.node, "new") {
        let text = "the task implements an interface, whose entries must be its own";
        refuse(
            word,
            Rule::Interface,
            text,
            "call the task by its own name, without the interface",
        );
    }
    for node in tree.walk(declaration.node) {
        match tree.kind(node) {
            "attribute_definition_clause" | "at_clause" => {
                let text = "a representation clause: an interrupt entry or the like";
                refuse(
                    node,
                    Rule::Representation,
                    text,
                    "use a pragma, or attach a protected procedure by hand (RM C.3.1)",
                );
            }
            "aspect_specification" if tree.ancestor(node, &["entry_declaration"]).is_some() => {
                refuse(
                    node,
                    Rule::Representation,
                    "an aspect of an entry",
                    "remove it, or translate by hand",
                );
            }
            _ => {}
        }
    }
    let body = cx.tree();
    let is_subunit = body
        .parent(cx.task.body.node)
        .is_some_and(|p| body.kind(p) == "subunit");
    if is_subunit {
        let text =
            "the body is a subunit, and the file's name would have to follow the task's new one";
        reasons.push(cx.reason(
            Rule::Declaration,
            cx.task.body.node,
            text,
            "put the body into its parent unit",
        ));
    }
}

fn statements(cx: &Context, reasons: &mut Vec<Reason>) {
    let tree = cx.tree();
    for node in tree.walk(cx.task.body.node) {
        match tree.kind(node) {
            "accept_statement" if !cx.flow.sites.iter().any(|s| s.accept == node) => {
                let text = "the entry that is accepted here could not be resolved";
                reasons.push(cx.reason(
                    Rule::Unresolved,
                    node,
                    text,
                    "check that the file compiles",
                ));
            }
            "gnatprep_if_statement" | "gnatprep_declarative_if_statement" => {
                let text = "preprocessor lines in the task body";
                reasons.push(cx.reason(
                    Rule::Unresolved,
                    node,
                    text,
                    "preprocess the file first (gnatprep)",
                ));
            }
            "attribute_designator" if cx.text(node).eq_ignore_ascii_case("caller") => {
                let text = "'Caller is only known inside an accept (RM C.7.1)";
                reasons.push(cx.reason(
                    Rule::Identity,
                    node,
                    text,
                    "pass the caller's identity as a parameter",
                ));
            }
            "attribute_designator" if constraints::is_asked(cx, node) => {
                let text = "'Constrained is asked of a parameter, and the object keeps an unconstrained copy of it";
                reasons.push(cx.reason(
                    Rule::Parameter,
                    node,
                    text,
                    "pass the answer as a parameter of its own",
                ));
            }
            "requeue_statement" => requeue(cx, node, reasons),
            _ => {}
        }
    }
}

/// Checks a requeue. The object executes it, and sees neither the task's variables nor the
/// parameters.
fn requeue(cx: &Context, node: NodeId, reasons: &mut Vec<Reason>) {
    let own = super::names_inside::own_target(cx, node);
    let sees_locals = cx
        .meanings(cx.at(node))
        .into_iter()
        .any(|(_, e)| cx.is_local(e));
    if own.is_none() && sees_locals {
        let text = "the target of the requeue depends on variables of the task";
        reasons.push(cx.reason(
            Rule::Requeue,
            node,
            text,
            "name the target directly, in a case statement if need be",
        ));
    }
}

fn selects(cx: &Context, reasons: &mut Vec<Reason>) {
    let tree = cx.tree();
    let waits = &cx.flow.waits;
    let is_ambiguous = waits.iter().any(|w| may_all_be_shut(w, cx.flow))
        && waits.iter().any(|w| can_only_elapse(w, cx.flow));
    for wait in &cx.flow.waits {
        let mut seen = Vec::new();
        for &site in &wait.sites {
            let site = &cx.flow.sites[site];
            if seen.contains(&site.entry) {
                let text = "the select accepts the same entry, or members of the same family, in two alternatives";
                reasons.push(cx.reason(
                    Rule::LoopShape,
                    site.accept,
                    text,
                    "use an entry for each",
                ));
            }
            seen.push(site.entry);
        }
        let delays: Vec<_> = tree
            .all(wait.node, "select_alternative")
            .filter_map(|a| tree.child(a, "delay_alternative"))
            .collect();
        if let [_, second, ..] = delays[..] {
            let text = "a select with several delay alternatives";
            reasons.push(cx.reason(
                Rule::DelayAlternative,
                second,
                text,
                "compute the shorter delay first",
            ));
        }
        let guarded = delays.first().and_then(|&d| {
            let outer = tree.parent(d)?;
            tree.previous(outer).filter(|&g| tree.kind(g) == "guard")
        });
        if let Some(guard) = guarded {
            let text = "a delay alternative with a guard";
            reasons.push(cx.reason(
                Rule::DelayAlternative,
                guard,
                text,
                "put the guard into an if statement around two selects",
            ));
        }
        let terminating = tree
            .all(wait.node, "select_alternative")
            .find(|&a| tree.child(a, "terminate_alternative").is_some());
        let guard = terminating.and_then(|a| tree.previous(a));
        if let Some(guard) = guard.filter(|&g| tree.kind(g) == "guard") {
            let text = "a terminate alternative with a guard";
            let help = "give the task an entry that ends it";
            reasons.push(cx.reason(Rule::Terminate, guard, text, help));
        }
        if wait.has_terminate && is_ambiguous {
            let text = "a terminate alternative in a task that also has selects of which all alternatives may be closed, and others of which only a delay may be open";
            reasons.push(cx.reason(
                Rule::Terminate,
                wait.node,
                text,
                "give the task an entry that ends it",
            ));
        }
    }
    let nested = cx
        .flow
        .waits
        .iter()
        .filter(|w| cx.flow.owner(w.node).is_some())
        .flat_map(|w| &w.sites);
    for &site in nested {
        let site = &cx.flow.sites[site];
        let is_inside_own = tree
            .ancestors(site.accept)
            .filter_map(|n| cx.flow.sites.iter().find(|s| s.accept == n))
            .any(|outer| outer.entry == site.entry);
        if is_inside_own {
            let text = "a member of a family is accepted inside an accept of another";
            reasons.push(cx.reason(Rule::NestedAccept, site.accept, text, "use two families"));
        }
    }
}

//! The data of a calling server's calls: values for the client, and results from it.

use super::refuse;
use crate::model;
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::{Context, is_predefined_type, source_of};
use crate::translate::obstacles;
use crate::verdict::{Reason, Rule};

/// A formal parameter of a client's entry.
#[derive(Debug, Clone)]
pub struct Datum {
    /// Its name.
    pub name: String,
    /// Its subtype mark.
    pub subtype: String,
    /// Whether the server gives it a value.
    pub is_given: bool,
    /// Whether the client gives it a value.
    pub is_taken: bool,
    /// Its default expression.
    default: Option<At>,
}

/// Returns the formal parameters of an entry.
pub fn of(cx: &Context, call: NodeId, entry: EntityId) -> Result<Vec<Datum>, Vec<Reason>> {
    let at = cx.names.entity(entry).at;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let mut found = Vec::new();
    if model::entry(cx.program, cx.names, entry).index.is_some() {
        let text = "the client's entry is a family";
        return Err(refuse(
            cx,
            Rule::LoopShape,
            call,
            text,
            "use entries with names of their own",
        ));
    }
    let formals = tree.child(at.node, "formal_part");
    for parameter in formals
        .into_iter()
        .flat_map(|f| tree.all(f, "parameter_specification"))
    {
        let mode = tree.child(parameter, "non_empty_mode");
        let has = |word| mode.is_some_and(|m| tree.child(m, word).is_some());
        let mark = tree.role(parameter, "subtype_mark");
        let subtype = mark.map(|n| source.text(n).to_string());
        let is_string = subtype
            .as_ref()
            .is_some_and(|s| Names::key(s).ends_with("string"));
        let Some(subtype) = subtype.filter(|_| !is_string) else {
            let text = "the data has no fixed size";
            let help = "pass definite data";
            return Err(refuse(cx, Rule::LoopShape, call, text, help));
        };
        let names = tree
            .children(parameter)
            .take_while(|&n| tree.kind(n) != ":");
        for ident in names.filter(|&n| tree.kind(n) == "identifier") {
            found.push(Datum {
                name: source.text(ident).to_string(),
                subtype: subtype.clone(),
                is_given: !has("out") || has("in"),
                is_taken: has("out"),
                default: tree
                    .child(parameter, "expression")
                    .map(|node| At { node, ..at }),
            });
        }
    }
    Ok(found)
}

/// Returns the actual parameters of a call, by formal. A default that is used must be an expression
/// of the server's file.
pub fn actuals(cx: &Context, data: &[Datum], call: NodeId) -> Vec<(String, NodeId)> {
    let tree = cx.tree();
    let mut found: Vec<(String, NodeId)> = Vec::new();
    let actuals = tree.child(call, "actual_parameter_part");
    for (position, actual) in actuals
        .into_iter()
        .flat_map(|a| tree.all(a, "parameter_association"))
        .enumerate()
    {
        let named = tree
            .child(actual, "component_choice_list")
            .map(|n| Names::key(cx.text(n)));
        let formal = data.iter().enumerate().find(|(i, d)| {
            named
                .as_ref()
                .map_or(*i == position, |n| Names::key(&d.name) == *n)
        });
        if let (Some((_, formal)), Some(value)) = (formal, tree.child(actual, "expression")) {
            found.push((formal.name.clone(), value));
        }
    }
    for datum in data {
        let is_there = found.iter().any(|(n, _)| *n == datum.name);
        let default = datum.default.filter(|d| d.file == cx.task.body.file);
        if let Some(default) = default.filter(|_| !is_there) {
            found.push((datum.name.clone(), default.node));
        }
    }
    found
}

/// Whether every formal parameter has an actual one that can be written where the server is.
pub fn is_complete(cx: &Context, data: &[Datum], call: NodeId) -> bool {
    actuals(cx, data, call).len() == data.len()
}

/// Whether all results go to variables: a conversion cannot be assigned to.
pub fn can_be_taken(cx: &Context, data: &[Datum], call: NodeId) -> bool {
    let is_type = |e: &EntityId| matches!(cx.names.entity(*e).kind, Kind::Type | Kind::Subtype);
    actuals(cx, data, call).into_iter().all(|(formal, value)| {
        let is_taken = data.iter().any(|d| d.name == formal && d.is_taken);
        let first = cx.meanings(cx.at(value)).first().map(|&(_, e)| e);
        let word = cx.text(value).split(['(', ' ']).next().unwrap_or("");
        let is_converted = first.as_ref().is_some_and(is_type)
            || (cx.text(value).contains('(') && is_predefined_type(&Names::key(word)));
        !(is_taken && is_converted)
    })
}

/// Whether the server must wait while the client runs its accept: data goes both ways, or others
/// can see the accept's effects.
pub fn is_held(cx: &Context, data: &[Datum], accepts: &[At]) -> bool {
    let (given, taken) = (
        data.iter().any(|d| d.is_given),
        data.iter().any(|d| d.is_taken),
    );
    (given && taken) || accepts.iter().any(|&a| is_seen(cx, a))
}

/// Whether the body of an accept has an effect that others can see.
fn is_seen(cx: &Context, accept: At) -> bool {
    let tree = &source_of(cx.program, accept).tree;
    let Some(node) = tree.child(accept.node, "handled_sequence_of_statements") else {
        return false;
    };
    let body = At { node, ..accept };
    let effects = cx.oracle.of(body);
    let around = tree
        .ancestor(accept.node, &["task_body"])
        .map(|node| At { node, ..accept });
    let is_own = |e: EntityId| around.is_some_and(|a| cx.names.is_declared_in(cx.program, e, a));
    let shared = obstacles::variables_read(cx, body)
        .into_iter()
        .chain(direct(cx, body))
        .any(|e| !is_own(e));
    shared
        || ![
            &effects.blocks,
            &effects.unknown,
            &effects.io,
            &effects.raises,
            &effects.impure,
        ]
        .into_iter()
        .all(Vec::is_empty)
}

/// Returns the variables that a node names.
fn direct(cx: &Context, at: At) -> Vec<EntityId> {
    let named = cx.meanings(at).into_iter().map(|(_, e)| e);
    named
        .filter(|&e| cx.names.entity(e).kind == Kind::Variable)
        .collect()
}

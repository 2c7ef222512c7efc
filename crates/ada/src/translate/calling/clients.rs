//! The clients of a calling server: which they are, and that nothing but the server calls them.

use super::refuse;
use crate::names::{At, EntityId, Kind, Ty};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::machine;
use crate::verdict::{Reason, Rule};

/// The array of clients, their task type, and the entry that is called.
pub(super) fn clients(
    cx: &Context,
    node: NodeId,
    call: NodeId,
) -> Result<(EntityId, EntityId, EntityId), Vec<Reason>> {
    let tree = cx.tree();
    let wrong = || {
        refuse(
            cx,
            Rule::LoopShape,
            call,
            "the clients are not the elements of one array, in the loop's order",
            "put the clients into an array",
        )
    };
    let name = tree.role(call, "name").ok_or_else(wrong)?;
    let entry = cx
        .names
        .meaning(cx.program, cx.at(name))
        .ok_or_else(wrong)?;
    let prefix = tree
        .role(name, "prefix")
        .filter(|&n| tree.kind(n) == "function_call")
        .ok_or_else(wrong)?;
    let array = tree
        .role(prefix, "name")
        .and_then(|n| cx.names.meaning(cx.program, cx.at(n)))
        .ok_or_else(wrong)?;
    let element = cx
        .names
        .element(cx.program, cx.names.type_of(cx.program, array));
    let client = cx
        .names
        .concurrent(cx.program, element)
        .filter(|&c| cx.names.entity(c).kind == Kind::TaskType)
        .ok_or_else(wrong)?;
    let parameter = cx
        .names
        .region(cx.at(node))
        .and_then(|s| cx.names.scope(s).entities.first().copied());
    let index = tree
        .child(prefix, "actual_parameter_part")
        .map(|a| cx.meanings(cx.at(a)));
    let is_direct = tree
        .child(prefix, "actual_parameter_part")
        .is_some_and(|a| {
            tree.walk(a)
                .filter(|&n| tree.kind(n) == "identifier")
                .count()
                == 1
        });
    let is_own =
        index.is_some_and(|found| found.iter().all(|&(_, e)| Some(e) == parameter)) && is_direct;
    if is_own {
        Ok((array, client, entry))
    } else {
        Err(wrong())
    }
}

/// Nothing else calls the entry, names the clients by index, or has the clients' type.
pub(super) fn only_served_so(
    cx: &Context,
    call: NodeId,
    array: EntityId,
    client: EntityId,
    entry: EntityId,
) -> Result<(), Vec<Reason>> {
    let in_call = |at: At| at.file == cx.task.body.file && cx.tree().is_within(at.node, call);
    let at_fault = |at: At, text: String| {
        let mend = "give each client what it needs in the call, so that it does not matter which client gets it";
        Err(vec![Reason {
            rule: Rule::LoopShape,
            at,
            text,
            mend: mend.into(),
        }])
    };
    for &at in cx.names.uses_of(array) {
        let tree = &cx.program.sources[at.file].tree;
        let is_bound = tree.next(at.node).is_some_and(|n| tree.kind(n) == "tick");
        let is_range = tree
            .ancestors(at.node)
            .next()
            .is_some_and(|p| tree.kind(p) == "range_g");
        if !in_call(at) && !is_bound && !is_range {
            return at_fault(
                at,
                "the clients are named by their index here too, and would get the data of another"
                    .into(),
            );
        }
    }
    let client_body = cx.names.entity(client).body;
    for &at in cx.names.uses_of(entry) {
        let is_in_client = client_body.is_some_and(|b| {
            b.file == at.file && cx.program.sources[at.file].tree.is_within(at.node, b.node)
        });
        if !in_call(at) && !is_in_client {
            return at_fault(at, "the entry is called here too".into());
        }
    }
    let declaration = cx.names.entity(array).at;
    for &at in cx.names.uses_of(client) {
        let source = source_of(cx.program, at);
        let is_own = source
            .tree
            .ancestor(at.node, &["task_body", "task_type_declaration"])
            .is_some_and(|n| Some(At { node: n, ..at }) == client_body)
            || source
                .tree
                .parent(at.node)
                .is_some_and(|p| matches!(source.tree.kind(p), "task_body" | "task_definition"));
        let is_array =
            at.file == declaration.file && source.tree.is_within(at.node, declaration.node);
        if !(is_own || is_array || is_array_type(cx, at, array)) {
            return at_fault(at, "there are other tasks of the clients' type".into());
        }
    }
    Ok(())
}

/// The named array type of the clients, if nothing else has it.
pub(super) fn is_array_type(cx: &Context, at: At, array: EntityId) -> bool {
    let source = source_of(cx.program, at);
    let holder = source.tree.ancestor(at.node, &["full_type_declaration"]);
    let named = match cx.names.type_of(cx.program, array) {
        Ty::Named(id) => id,
        _ => return false,
    };
    let only_use = cx.names.uses_of(named).len() == 1;
    only_use && holder.is_some_and(|node| cx.names.entity(named).at == At { node, ..at })
}

/// The accept statement of the entry: one, on its own, once in the life of a client.
pub(super) fn accept(
    cx: &Context,
    call: NodeId,
    client: EntityId,
    entry: EntityId,
) -> Result<At, Vec<Reason>> {
    let wrong = |text: &str| {
        Err(refuse(
            cx,
            Rule::LoopShape,
            call,
            text,
            "accept the call once, outside of loops and select statements",
        ))
    };
    let Some(body) = cx.names.entity(client).body else {
        return wrong("the body of the clients was not given");
    };
    let source = source_of(cx.program, body);
    let tree = &source.tree;
    let accepts: Vec<NodeId> = tree
        .walk(body.node)
        .filter(|&n| tree.kind(n) == "accept_statement")
        .filter(|&n| {
            tree.role(n, "entry_direct_name")
                .and_then(|e| cx.names.meaning(cx.program, At { node: e, ..body }))
                == Some(entry)
        })
        .collect();
    let [node] = accepts[..] else {
        return wrong("the clients accept the call in several places, or not at all");
    };
    let around: Vec<&str> = tree
        .ancestors(node)
        .take_while(|&n| n != body.node)
        .map(|n| tree.kind(n))
        .collect();
    if around.iter().any(|k| {
        matches!(
            *k,
            "loop_statement" | "selective_accept" | "accept_statement"
        )
    }) {
        return wrong("the clients accept the call in a loop, a select or another accept");
    }
    // The object must be seen from the client's body.
    let declaration = cx.task.declaration;
    let sees = declaration.file == body.file
        && tree.start(declaration.node) < tree.start(body.node)
        && cx
            .names
            .around(cx.names.scope_around(cx.program, body))
            .contains(&cx.names.entity(cx.task.id).scope);
    if !sees {
        return wrong("the clients' body does not see the server");
    }
    let leaves = machine::leaving(source, node, "requeue_statement").len()
        + machine::leaving(source, node, "simple_return_statement").len();
    if leaves > 0 {
        return wrong("the accept is left in its middle");
    }
    Ok(At { node, ..body })
}

//! The clients of a calling server: which they are, and the check that only the server calls them.

use super::{Target, data, refuse};
use crate::names::{At, EntityId, Kind, Ty};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::machine;
use crate::verdict::{Reason, Rule};

/// Whether an entry is accepted in a selective accept or in another accept, so that its task is a
/// server and the caller a client.
pub(super) fn is_server(cx: &Context, entry: EntityId) -> bool {
    cx.names.uses_of(entry).iter().any(|at| {
        let tree = &cx.program.sources[at.file].tree;
        let accept = tree
            .parent(at.node)
            .filter(|&p| tree.kind(p) == "accept_statement");
        accept.is_some_and(|a| {
            tree.ancestor(a, &["accept_alternative", "accept_statement"])
                .is_some()
        })
    })
}

/// Returns the accept statements of an entry that become calls of the server.
pub(super) fn accepts(
    cx: &Context,
    call: NodeId,
    client: EntityId,
    entry: EntityId,
) -> Result<Vec<At>, Vec<Reason>> {
    let wrong = |text: &str| {
        let help = "accept the call on its own, outside of select statements and other accepts";
        Err(refuse(cx, Rule::LoopShape, call, text, help))
    };
    let Some(body) = cx.names.entity(client).body else {
        return wrong("the body of the clients was not given");
    };
    let source = source_of(cx.program, body);
    let tree = &source.tree;
    let found: Vec<NodeId> = tree
        .walk(body.node)
        .filter(|&n| tree.kind(n) == "accept_statement")
        .filter(|&n| {
            let name = tree.role(n, "entry_direct_name");
            name.and_then(|node| cx.names.meaning(cx.program, At { node, ..body })) == Some(entry)
        })
        .collect();
    if found.is_empty() {
        return wrong("the clients do not accept the call");
    }
    let is_named_else = cx.names.uses_of(entry).iter().any(|at| {
        let other = &cx.program.sources[at.file].tree;
        let parent = other.parent(at.node).map_or("", |p| other.kind(p));
        at.file == body.file && other.is_within(at.node, body.node) && parent != "accept_statement"
    });
    if is_named_else {
        return wrong("the clients name the entry for something else than to accept it");
    }
    for &node in &found {
        let mut around = tree.ancestors(node).take_while(|&n| n != body.node);
        if around.any(|n| matches!(tree.kind(n), "selective_accept" | "accept_statement"))
            || tree
                .walk(node)
                .any(|n| n != node && tree.kind(n) == "accept_statement")
        {
            return wrong("the clients accept the call in a select or with another accept");
        }
        let raises = cx.oracle.of(At { node, ..body }).raises;
        if let Some(raise) = raises.into_iter().next() {
            let text = format!(
                "{} in the client's accept reaches the server too",
                raise.what
            );
            let help = "pass a status instead".to_string();
            return Err(vec![Reason {
                rule: Rule::Handler,
                at: raise.at,
                text,
                help,
            }]);
        }
        let leaves = ["requeue_statement", "simple_return_statement"]
            .iter()
            .any(|kind| !machine::leaving(source, node, kind).is_empty());
        let handled = tree.child(node, "handled_sequence_of_statements");
        let has_handler = handled.is_some_and(|h| tree.child(h, "exception_handler").is_some());
        if leaves || has_handler {
            return wrong("the accept is left in its middle, or handles exceptions");
        }
    }
    // The object must be visible in the client's body.
    let declaration = cx.task.declaration;
    let sees = declaration.file == body.file
        && tree.start(declaration.node) < tree.start(body.node)
        && cx
            .names
            .around(cx.names.scope_around(cx.program, body))
            .contains(&cx.names.entity(cx.task.id).scope);
    let is_hidden = cx.names.region(body).is_some_and(|s| {
        let own = cx.names.scope(s).entities.iter();
        own.map(|&e| &cx.names.entity(e).name)
            .any(|n| n.eq_ignore_ascii_case(&cx.task.name))
    });
    if !sees || is_hidden {
        return Err(refuse(
            cx,
            Rule::Declaration,
            call,
            "the clients' body does not see the server",
            "declare the server before the clients' body, in the same unit",
        ));
    }
    let found = found.into_iter().map(|node| At { node, ..body });
    Ok(found.collect())
}

/// Checks that each client can be identified, or need not be.
pub(super) fn check(cx: &Context, targets: &mut [Target]) -> Result<(), Vec<Reason>> {
    for target in targets.iter() {
        for &call in &target.calls {
            if !data::is_complete(cx, &target.data, call) {
                let text =
                    "a default of the client's parameter is used, which the server does not see";
                return Err(refuse(cx, Rule::LoopShape, call, text, "pass the value"));
            }
            if !data::can_be_taken(cx, &target.data, call) {
                let text = "what comes back is converted on the way";
                let help = "take it in a variable of the parameter's type";
                return Err(refuse(cx, Rule::LoopShape, call, text, help));
            }
        }
    }
    for t in 0..targets.len() {
        let (client, own) = (targets[t].client, &targets[..t]);
        let is_seen = own.iter().any(|o| o.client == client);
        if cx.names.entity(client).kind == Kind::TaskType && !is_seen {
            interchangeable(cx, client, targets)?;
        }
    }
    Ok(())
}

/// Checks tasks of one type. They must be interchangeable, or the server's calls must give them
/// their places.
fn interchangeable(
    cx: &Context,
    client: EntityId,
    targets: &mut [Target],
) -> Result<(), Vec<Reason>> {
    let at = cx.names.entity(client).at;
    let declared = source_of(cx.program, at);
    let calls: Vec<NodeId> = targets
        .iter()
        .filter(|t| t.client == client)
        .flat_map(|t| t.calls.clone())
        .collect();
    if declared
        .tree
        .child(at.node, "known_discriminant_part")
        .is_some()
    {
        let text = "the clients have discriminants, which tell them apart";
        let help = "pass the data in the call";
        return Err(refuse(cx, Rule::LoopShape, calls[0], text, help));
    }
    let entries = targets.iter().filter(|t| t.client == client).count();
    let objects = if entries > 1 {
        super::places::choose(cx, client, targets)?;
        let elements = calls
            .iter()
            .filter_map(|&c| super::places::called_element(cx, c));
        elements.map(|(array, _)| array).collect()
    } else {
        let target = targets.iter().find(|t| t.client == client);
        target.map_or(Ok(vec![]), |t| called_once(cx, t))?
    };
    nothing_else(cx, client, &calls, &objects)
}

/// Returns the clients that a server calls, each once, if each accepts once.
fn called_once(cx: &Context, target: &Target) -> Result<Vec<EntityId>, Vec<Reason>> {
    let call = target.calls.first().copied().unwrap_or(cx.task.body.node);
    let wrong = |text: &str, help: &str| Err(refuse(cx, Rule::LoopShape, call, text, help));
    let [accept] = target.accepts[..] else {
        return wrong(
            "the clients accept the call in several places",
            "accept the call once",
        );
    };
    let source = source_of(cx.program, accept);
    let mut around = source.tree.ancestors(accept.node);
    if around
        .by_ref()
        .take_while(|&n| source.tree.kind(n) != "task_body")
        .any(|n| source.tree.kind(n) == "loop_statement")
    {
        return wrong(
            "the clients accept the call in a loop",
            "accept the call once, outside of loops",
        );
    }
    let mut objects: Vec<EntityId> = Vec::new();
    for &call in &target.calls {
        let Some(object) = distinct(cx, target, call) else {
            return wrong(
                "it cannot be told that each client is called once",
                "call the elements of an array of clients, by the parameter of a loop or a counter",
            );
        };
        if objects.contains(&object) {
            return wrong(
                "a client is called in several places",
                "call each client once",
            );
        }
        objects.push(object);
    }
    Ok(objects)
}

/// Returns the object that a call names, if each execution of the call names another task. It is a
/// variable outside of loops, or an element of an array indexed by a loop parameter or a counter.
fn distinct(cx: &Context, target: &Target, call: NodeId) -> Option<EntityId> {
    let tree = cx.tree();
    let name = tree.role(call, "name")?;
    let prefix = tree.role(name, "prefix")?;
    let mut loops = tree
        .ancestors(call)
        .take_while(|&n| n != cx.task.body.node)
        .filter(|&n| tree.kind(n) == "loop_statement");
    if tree.kind(prefix) != "function_call" {
        let object = cx.names.meaning(cx.program, cx.at(prefix))?;
        return loops.next().is_none().then_some(object);
    }
    let array = cx
        .names
        .meaning(cx.program, cx.at(tree.role(prefix, "name")?))?;
    let part = tree.child(prefix, "actual_parameter_part")?;
    let idents: Vec<NodeId> = tree
        .walk(part)
        .filter(|&n| tree.kind(n) == "identifier")
        .collect();
    let around = loops.next()?;
    let is_only_loop = loops.next().is_none();
    let [index] = idents[..] else { return None };
    let id = cx.names.meaning(cx.program, cx.at(index))?;
    let is_bare = cx.text(part).trim_matches(['(', ')', ' ']) == cx.text(index);
    let is_parameter = cx.names.entity(id).kind == Kind::LoopParameter
        && cx.names.is_declared_in(cx.program, id, cx.at(around));
    // A value that is only passed cannot change during the call.
    let gives = target.data.iter().all(|d| !d.is_taken);
    let counts = is_parameter || is_counter(cx, id, around, gives.then_some(call));
    (is_only_loop && is_bare && counts).then_some(array)
}

/// Whether the loop only steps a variable of the task, once per iteration and in one direction.
fn is_counter(cx: &Context, id: EntityId, around: NodeId, call: Option<NodeId>) -> bool {
    let tree = cx.tree();
    let name = &cx.names.entity(id).name;
    let written: Vec<At> = cx
        .names
        .uses_of(id)
        .iter()
        .copied()
        .filter(|&at| !call.is_some_and(|c| tree.is_within(at.node, c)))
        .filter(|&at| cx.is_written_at(at))
        .collect();
    let is_after = |at: &At| tree.start(at.node) >= tree.start(around);
    let [step] = written.iter().copied().filter(is_after).collect::<Vec<_>>()[..] else {
        return false;
    };
    let Some(statement) = tree.parent(step.node) else {
        return false;
    };
    let is_top = tree
        .parent(statement)
        .and_then(|s| tree.parent(s))
        .is_some_and(|p| p == around);
    let text: String = cx.text(statement).split_whitespace().collect();
    let steps = [format!("{name}:={name}+1;"), format!("{name}:={name}-1;")];
    cx.is_local(id) && is_top && steps.iter().any(|s| s.eq_ignore_ascii_case(&text))
}

/// Checks that nothing else names the clients, or has their type.
fn nothing_else(
    cx: &Context,
    client: EntityId,
    calls: &[NodeId],
    objects: &[EntityId],
) -> Result<(), Vec<Reason>> {
    let at_fault = |at: At, text: &str| {
        let help = "give each client what it needs in the call, so that it does not matter which client gets it";
        Err(vec![Reason {
            rule: Rule::LoopShape,
            at,
            text: text.into(),
            help: help.into(),
        }])
    };
    let in_call = |at: At| {
        let mut calls = calls.iter();
        at.file == cx.task.body.file && calls.any(|&c| cx.tree().is_within(at.node, c))
    };
    for &at in objects.iter().flat_map(|&o| cx.names.uses_of(o)) {
        let tree = &cx.program.sources[at.file].tree;
        let is_bound = tree.next(at.node).is_some_and(|n| tree.kind(n) == "tick");
        let parent = tree.parent(at.node).map_or("", |p| tree.kind(p));
        if !in_call(at) && !is_bound && parent != "range_g" {
            return at_fault(
                at,
                "the clients are told apart here too, and would get the data of another",
            );
        }
    }
    let body = cx.names.entity(client).body;
    for &at in cx.names.uses_of(client) {
        let tree = &source_of(cx.program, at).tree;
        let is_own = tree
            .ancestor(at.node, &["task_body", "task_type_declaration"])
            .is_some_and(|n| Some(At { node: n, ..at }) == body)
            || tree
                .parent(at.node)
                .is_some_and(|p| matches!(tree.kind(p), "task_body" | "task_definition"));
        let declares = objects.iter().any(|&o| {
            let declaration = cx.names.entity(o).at;
            at.file == declaration.file && tree.is_within(at.node, declaration.node)
        });
        let is_array = objects.iter().any(|&o| is_array_type(cx, at, o));
        if !(is_own || declares || is_array) {
            return at_fault(at, "there are other tasks of the clients' type");
        }
    }
    Ok(())
}

/// Returns the named array type of the clients, if only called objects have it.
fn is_array_type(cx: &Context, at: At, array: EntityId) -> bool {
    let source = source_of(cx.program, at);
    let holder = source.tree.ancestor(at.node, &["full_type_declaration"]);
    let Ty::Named(named) = cx.names.type_of(cx.program, array) else {
        return false;
    };
    let only_use = cx.names.uses_of(named).len() == 1;
    only_use && holder.is_some_and(|node| cx.names.entity(named).at == At { node, ..at })
}

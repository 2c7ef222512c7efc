//! Calling servers become protected objects that their clients call (section 6.2 of the paper, figure 6).
//!
//! The data goes the other way: what the server passed in a call of the client's entry, the object's entry gives out, and the client's
//! accept becomes a call of it. The loop around the call becomes a counter. Each client gets the next item, not the item of its own
//! index, so nothing else may name the clients by index.

mod clients;
mod write;

use clients::{accept, only_served_so};
use write::{above, body, client_call, client_declaration, object};

use std::collections::HashSet;

use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::accepting::Replacement;
use crate::translate::context::{Context, source_of};
use crate::translate::machine::Counter;
use crate::translate::{counter, declarations};
use crate::verdict::{Reason, Rule};

/// The one loop of a calling server, and the clients that it calls.
struct Plan {
    /// The loop's counter, and its statements around the call.
    counter: Counter,
    before: Vec<NodeId>,
    after: Vec<NodeId>,
    /// The client's task type, its entry, and the accept statement that serves it.
    client: EntityId,
    entry: EntityId,
    accept: At,
    /// The formal parameters of the entry: name, subtype, and the value that the server passes.
    data: Vec<(String, String, String)>,
}

/// Whether a task looks like a calling server: it has no entries, and calls an entry in a `for` loop.
pub fn looks_like_one(cx: &Context) -> bool {
    cx.task.entries.is_empty() && !cx.task.is_type && entry_call(cx).is_some()
}

/// The loop, and the call of an entry of an array's element in it.
fn entry_call(cx: &Context) -> Option<(NodeId, NodeId)> {
    let tree = cx.tree();
    let statements = cx.flow.statements(cx.flow.sequence(cx.task.body.node)?);
    let node = *statements
        .iter()
        .find(|&&n| tree.kind(n) == "loop_statement" && cx.flow.is_for(n))?;
    let inner = tree.role(node, "statements")?;
    let call = tree.children(inner).find(|&n| {
        let name = tree.role(n, "name").map(|name| cx.at(name));
        let target = name.and_then(|name| cx.names.meaning(cx.program, name));
        tree.kind(n) == "procedure_call_statement"
            && target.is_some_and(|e| cx.names.entity(e).kind == Kind::Entry)
    })?;
    Some((node, call))
}

/// The edits that replace a calling server and change its clients.
///
/// # Errors
/// The reasons that stand in the way.
pub fn replace(cx: Context, taken: &HashSet<String>) -> Result<Replacement, Vec<Reason>> {
    let plan = plan(&cx)?;
    let mut moved = declarations::plan(&cx, std::collections::HashMap::new(), taken);
    if !moved.reasons.is_empty() || !moved.start.is_empty() {
        let late = cx.reason(
            Rule::Prologue,
            cx.task.body.node,
            "a variable of the server has an initial value that must be computed",
            "use a constant",
        );
        moved.reasons.push(late);
        return Err(moved.reasons);
    }
    let edits = vec![
        object(&cx, &plan, &moved),
        body(&cx, &plan, &moved),
        client_declaration(&cx, &plan),
        client_call(&cx, &plan),
        above(&cx, cx.task.declaration, &moved.before_declaration),
        above(&cx, cx.task.body, &moved.before_body),
    ];
    let edits = edits
        .into_iter()
        .filter(|e| !(e.range.is_empty() && e.text.is_empty()))
        .collect();
    Ok(Replacement {
        edits,
        declared: moved.outside_names,
    })
}

fn refuse(cx: &Context, rule: Rule, node: NodeId, text: &str, mend: &str) -> Vec<Reason> {
    vec![cx.reason(rule, node, text, mend)]
}

fn plan(cx: &Context) -> Result<Plan, Vec<Reason>> {
    let tree = cx.tree();
    let Some((node, call)) = entry_call(cx) else {
        return Err(refuse(
            cx,
            Rule::NoAccept,
            cx.task.body.node,
            "the task neither accepts nor distributes calls",
            "nothing",
        ));
    };
    let body = cx
        .flow
        .sequence(cx.task.body.node)
        .map_or(vec![], |s| cx.flow.statements(s));
    if let Some(&other) = body
        .iter()
        .find(|&&n| n != node && tree.kind(n) != "null_statement")
    {
        return Err(refuse(
            cx,
            Rule::LoopShape,
            other,
            "the task does more than call its clients in one loop",
            "move it into the clients, or into the unit that declares the task",
        ));
    }
    if tree
        .child(cx.task.body.node, "handled_sequence_of_statements")
        .is_some_and(|h| tree.child(h, "exception_handler").is_some())
    {
        return Err(refuse(
            cx,
            Rule::Handler,
            cx.task.body.node,
            "the task has exception handlers",
            "handle exceptions in the clients",
        ));
    }
    let (_, counter) = counter::of(cx, node).map_err(|r| vec![r])?;
    if counter.bound.is_some() || !counter.has_static_first {
        return Err(refuse(
            cx,
            Rule::LoopShape,
            node,
            "the bounds of the loop must be computed",
            "keep them in constants",
        ));
    }
    let declaration = cx.task.declaration;
    let scheme = tree
        .child(node, "iteration_scheme")
        .map_or(vec![], |s| cx.meanings(cx.at(s)));
    let is_late = scheme.iter().any(|&(_, e)| {
        let ident = cx.names.entity(e).ident;
        let is_after = cx.program.sources[ident.file].tree.start(ident.node)
            > cx.program.sources[declaration.file]
                .tree
                .start(declaration.node);
        ident.file == declaration.file && is_after && !cx.is_local(e)
    });
    if is_late {
        return Err(refuse(
            cx,
            Rule::Declaration,
            node,
            "the range of the loop is declared after the server",
            "declare the server after its clients",
        ));
    }
    let inner = tree
        .role(node, "statements")
        .map_or(vec![], |s| cx.flow.statements(s));
    let at = inner.iter().position(|&n| n == call).unwrap_or(0);
    let (before, after) = (inner[..at].to_vec(), inner[at + 1..].to_vec());
    quiet(cx, &before, &after)?;
    let (array, client, entry) = clients::clients(cx, node, call)?;
    only_served_so(cx, call, array, client, entry)?;
    let accept = accept(cx, call, client, entry)?;
    let data = data(cx, call, entry)?;
    captured(cx, &data, &before, &after)?;
    Ok(Plan {
        counter,
        before,
        after,
        client,
        entry,
        accept,
        data,
    })
}

/// The statements beside the call neither block nor do anything that is not known.
fn quiet(cx: &Context, before: &[NodeId], after: &[NodeId]) -> Result<(), Vec<Reason>> {
    let all: Vec<NodeId> = before.iter().chain(after).copied().collect();
    let effects = cx.oracle.of_all(cx.task.body.file, &all);
    let found = effects
        .blocks
        .iter()
        .chain(&effects.unknown)
        .chain(&effects.long)
        .chain(&effects.raises)
        .next();
    if let Some(effect) = found {
        let text = format!(
            "{} beside the call would be done in a protected action",
            effect.what
        );
        return Err(vec![Reason {
            rule: Rule::BlocksBetween,
            at: effect.at,
            text,
            mend: "do it in the clients".into(),
        }]);
    }
    match all.iter().find(|&&n| !cx.flow.is_plain(n)) {
        Some(&n) => Err(refuse(
            cx,
            Rule::LoopShape,
            n,
            "the loop is left in its middle",
            "call every client",
        )),
        None => Ok(()),
    }
}

/// What the server passes, by formal parameter.
fn data(
    cx: &Context,
    call: NodeId,
    entry: EntityId,
) -> Result<Vec<(String, String, String)>, Vec<Reason>> {
    let at = cx.names.entity(entry).at;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let mut found: Vec<(String, String, String)> = Vec::new();
    let formals = tree.child(at.node, "formal_part");
    for parameter in formals
        .into_iter()
        .flat_map(|f| tree.all(f, "parameter_specification"))
    {
        let is_in = tree
            .child(parameter, "non_empty_mode")
            .is_none_or(|m| tree.child(m, "out").is_none());
        let subtype = tree
            .role(parameter, "subtype_mark")
            .map(|n| source.text(n).to_string());
        let is_string = subtype
            .as_ref()
            .is_some_and(|s| Names::key(s).ends_with("string"));
        let Some(subtype) = subtype.filter(|_| is_in && !is_string) else {
            let mend = "pass definite data, in parameters of mode in";
            return Err(refuse(
                cx,
                Rule::LoopShape,
                call,
                "the data does not go from the server to the client only, or has no fixed size",
                mend,
            ));
        };
        let default = tree
            .child(parameter, "expression")
            .map_or(String::new(), |e| source.text(e).to_string());
        for ident in tree
            .children(parameter)
            .take_while(|&n| tree.kind(n) != ":")
            .filter(|&n| tree.kind(n) == "identifier")
        {
            found.push((
                source.text(ident).to_string(),
                subtype.clone(),
                default.clone(),
            ));
        }
    }
    let own = cx.tree();
    let actuals = own.child(call, "actual_parameter_part");
    for (position, actual) in actuals
        .into_iter()
        .flat_map(|a| own.all(a, "parameter_association"))
        .enumerate()
    {
        let named = own
            .child(actual, "component_choice_list")
            .map(|n| Names::key(cx.text(n)));
        let slot = found.iter_mut().enumerate().find(|(i, f)| {
            named
                .as_ref()
                .map_or(*i == position, |n| Names::key(&f.0) == *n)
        });
        if let (Some((_, slot)), Some(value)) = (slot, own.child(actual, "expression")) {
            slot.2 = cx.text(value).to_string();
        }
    }
    Ok(found)
}

/// The formals of the object's entry must not hide what its statements mean.
fn captured(
    cx: &Context,
    data: &[(String, String, String)],
    before: &[NodeId],
    after: &[NodeId],
) -> Result<(), Vec<Reason>> {
    let (_, call) = entry_call(cx).unwrap_or((cx.task.body.node, cx.task.body.node));
    let tree = cx.tree();
    let nodes = before
        .iter()
        .chain(after)
        .copied()
        .chain(tree.walk(call).filter(|&n| tree.kind(n) == "expression"));
    for node in nodes {
        let hidden = tree.walk(node).find(|&n| {
            tree.kind(n) == "identifier"
                && tree.field(n) != "selector_name"
                && data
                    .iter()
                    .any(|d| Names::key(&d.0) == Names::key(cx.text(n)))
        });
        if let Some(hidden) = hidden {
            return Err(refuse(
                cx,
                Rule::Declaration,
                hidden,
                "a parameter of that name would hide it",
                "rename one of them",
            ));
        }
    }
    Ok(())
}

//! Calling servers become protected objects that their clients call (section 6.2 of the paper, figure 6).
//!
//! The data goes the other way: what the server passed in a call of the client's entry, the object's entry gives out, and the client's
//! accept becomes a call of it. The loop around the call becomes a counter. Each client gets the next item, not the item of its own
//! index, so nothing else may name the clients by index.

use std::collections::HashSet;

use super::accepting::Replacement;
use super::context::{Context, source_of};
use super::machine::{self, Counter};
use super::{counter, declarations, layout};
use crate::edit::Edit;
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::syntax::NodeId;
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
    let (array, client, entry) = clients(cx, node, call)?;
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

/// The array of clients, their task type, and the entry that is called.
fn clients(
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
fn only_served_so(
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
fn is_array_type(cx: &Context, at: At, array: EntityId) -> bool {
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
fn accept(
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

fn profile(plan: &Plan) -> String {
    if plan.data.is_empty() {
        return String::new();
    }
    let mut parts: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, subtype, _) in &plan.data {
        match parts.last_mut() {
            Some((names, known)) if *known == subtype.as_str() => names.push(name),
            _ => parts.push((vec![name], subtype)),
        }
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(names, subtype)| format!("{} : out {subtype}", names.join(", ")))
        .collect();
    format!(" ({})", parts.join("; "))
}

const OVER: &str = "All_Given";

fn object(cx: &Context, plan: &Plan, moved: &declarations::Moved) -> Edit {
    let at = cx.task.declaration;
    let source = source_of(cx.program, at);
    let step = layout::indent_step(source);
    let (name, entry) = (&cx.task.name, &cx.names.entity(plan.entry).name);
    let counter = &plan.counter;
    let over = if counter.is_entered {
        "False".to_string()
    } else {
        format!(
            "{} {} {}",
            counter.first,
            if counter.is_reverse { "<" } else { ">" },
            counter.last
        )
    };
    let mut lines = vec![
        format!(
            "--  Was task {name}, which did nothing but call {entry} of its clients (antiphon translate)"
        ),
        format!("protected {name} is"),
        format!("{step}entry {entry}{};", profile(plan)),
        "private".to_string(),
        format!(
            "{step}{} : {} := {};",
            counter.name, counter.subtype, counter.first
        ),
        format!("{step}{OVER} : Boolean := {over};"),
    ];
    lines.extend(
        moved
            .components
            .iter()
            .flatten()
            .map(|l| format!("{step}{l}")),
    );
    lines.push(format!("end {name};"));
    let text = layout::indented(&lines, source.indent(source.tree.start(at.node)));
    Edit {
        file: at.file,
        range: source.tree.range(at.node),
        text: text.trim().to_string(),
    }
}

fn body(cx: &Context, plan: &Plan, moved: &declarations::Moved) -> Edit {
    let source = cx.source();
    let step = layout::indent_step(source);
    let (name, entry) = (&cx.task.name, &cx.names.entity(plan.entry).name);
    let copied = |nodes: &[NodeId]| -> Vec<String> {
        nodes
            .iter()
            .filter(|&&n| cx.tree().kind(n) != "null_statement")
            .flat_map(|&n| layout::lines_of(source, n, &moved.changes))
            .collect()
    };
    let mut inner = copied(&plan.before);
    inner.extend(
        plan.data
            .iter()
            .map(|(formal, _, value)| format!("{formal} := {value};")),
    );
    inner.extend(copied(&plan.after));
    let counter = &plan.counter;
    let order = if counter.is_reverse { ">" } else { "<" };
    inner.push(format!("if {} {order} {} then", counter.name, counter.last));
    inner.push(format!("{step}{}", machine::step(counter)));
    inner.push("else".into());
    inner.push(format!("{step}{OVER} := True;"));
    inner.push("end if;".into());
    let mut lines = vec![format!("protected body {name} is"), String::new()];
    lines.push(format!(
        "{step}entry {entry}{} when not {OVER} is",
        profile(plan)
    ));
    lines.push(format!("{step}begin"));
    lines.extend(inner.into_iter().map(|l| format!("{step}{step}{l}")));
    lines.extend([
        format!("{step}end {entry};"),
        String::new(),
        format!("end {name};"),
    ]);
    let text = layout::indented(&lines, source.indent(cx.tree().start(cx.task.body.node)));
    Edit {
        file: cx.task.body.file,
        range: cx.tree().range(cx.task.body.node),
        text: text.trim().to_string(),
    }
}

/// The client's declaration without the entry.
fn client_declaration(cx: &Context, plan: &Plan) -> Edit {
    let at = cx.names.entity(plan.client).at;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let definition = tree.child(at.node, "task_definition");
    let items = definition.map_or(0, |d| {
        tree.children(d).filter(|&n| !tree.is_leaf(n)).count()
    });
    if items == 1 {
        let head = tree
            .child(at.node, "is")
            .map_or(tree.end(at.node), |n| tree.start(n));
        let text = format!("{};", source.text[tree.start(at.node)..head].trim_end());
        return Edit {
            file: at.file,
            range: tree.range(at.node),
            text,
        };
    }
    let entry = cx.names.entity(plan.entry).at;
    let range = source.line_start(tree.start(entry.node))..source.line_end(tree.end(entry.node));
    Edit {
        file: entry.file,
        range,
        text: String::new(),
    }
}

/// The call in place of the accept statement.
fn client_call(cx: &Context, plan: &Plan) -> Edit {
    let at = plan.accept;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let entry = &cx.names.entity(plan.entry).name;
    let call = |actuals: Vec<String>| {
        let actuals = if actuals.is_empty() {
            String::new()
        } else {
            format!(" ({})", actuals.join(", "))
        };
        format!("{}.{entry}{actuals};", cx.task.name)
    };
    let formals: Vec<String> = plan.data.iter().map(|d| d.0.clone()).collect();
    let handled = tree.child(at.node, "handled_sequence_of_statements");
    let text = match (handled, direct_targets(cx, plan)) {
        (_, Some(targets)) => call(targets),
        (None, None) if formals.is_empty() => call(vec![]),
        (handled, None) => {
            let step = layout::indent_step(source);
            let mut lines = vec!["declare".to_string()];
            lines.extend(
                plan.data
                    .iter()
                    .map(|(name, subtype, _)| format!("{step}{name} : {subtype};")),
            );
            lines.extend(["begin".to_string(), format!("{step}{}", call(formals))]);
            if let Some(handled) = handled {
                let text = layout::dedent(source.text(handled), source.indent(tree.start(handled)));
                lines.extend(text.into_iter().map(|l| format!("{step}{l}")));
            }
            lines.push("end;".into());
            layout::indented(&lines, source.indent(tree.start(at.node)))
                .trim()
                .to_string()
        }
    };
    Edit {
        file: at.file,
        range: tree.range(at.node),
        text,
    }
}

/// The variables that the accept copies its parameters to, if it does nothing else and the types are the same.
fn direct_targets(cx: &Context, plan: &Plan) -> Option<Vec<String>> {
    let at = plan.accept;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let handled = tree.child(at.node, "handled_sequence_of_statements")?;
    if tree.child(handled, "exception_handler").is_some() || plan.data.is_empty() {
        return None;
    }
    let mut targets = vec![None; plan.data.len()];
    for statement in tree.children(tree.child(handled, "sequence_of_statements")?) {
        if tree.kind(statement) != "assignment_statement" {
            return None;
        }
        let target = tree
            .role(statement, "variable_name")
            .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"))?;
        let value = tree.child(statement, "expression")?;
        let slot = plan
            .data
            .iter()
            .position(|d| Names::key(&d.0) == Names::key(source.text(value)))?;
        let variable = cx.names.meaning(cx.program, At { node: target, ..at })?;
        let declared = cx.names.entity(variable).at;
        let mark = source_of(cx.program, declared)
            .tree
            .role(declared.node, "subtype_mark")
            .map(|n| Names::key(source_of(cx.program, declared).text(n)));
        let is_same = mark.is_some_and(|m| m == Names::key(&plan.data[slot].1));
        if !is_same || targets[slot].is_some() {
            return None;
        }
        targets[slot] = Some(source.text(target).to_string());
    }
    targets.into_iter().collect()
}

fn above(cx: &Context, at: At, items: &[Vec<String>]) -> Edit {
    let source = source_of(cx.program, at);
    let line = source.line_start(source.tree.start(at.node));
    let lines: Vec<String> = items.iter().flatten().cloned().collect();
    let text = if lines.is_empty() {
        String::new()
    } else {
        layout::indented(&lines, source.indent(source.tree.start(at.node))) + "\n"
    };
    Edit {
        file: at.file,
        range: line..line,
        text,
    }
}

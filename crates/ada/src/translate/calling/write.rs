//! The text of the clients: entries are removed from their declarations, and accept statements
//! become calls.

use super::Target;
use super::data::Datum;
use super::places::{self, Place};
use crate::edit::Edit;
use crate::names::{At, EntityId, Names};
use crate::syntax::NodeId;
use crate::translate::code;
use crate::translate::context::{Context, source_of};
use crate::translate::layout;

/// Returns the clients' declarations without the entries.
pub(super) fn declarations(cx: &Context, targets: &[Target]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut seen: Vec<EntityId> = Vec::new();
    for target in targets {
        if seen.contains(&target.client) {
            continue;
        }
        seen.push(target.client);
        let own = targets.iter().filter(|t| t.client == target.client);
        let entries: Vec<At> = own.map(|t| cx.names.entity(t.entry).at).collect();
        edits.extend(declaration(cx, target.client, &entries));
    }
    edits
}

fn declaration(cx: &Context, client: EntityId, entries: &[At]) -> Vec<Edit> {
    let at = cx.names.entity(client).at;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let definition = tree.child(at.node, "task_definition");
    let items = definition.map_or(0, |d| {
        tree.children(d).filter(|&n| !tree.is_leaf(n)).count()
    });
    if items == entries.len() {
        let head = tree
            .child(at.node, "is")
            .map_or(tree.end(at.node), |n| tree.start(n));
        let text = format!("{};", source.text[tree.start(at.node)..head].trim_end());
        return vec![Edit {
            file: at.file,
            range: tree.range(at.node),
            text,
        }];
    }
    let gone = entries.iter().map(|entry| {
        let start = source.line_start(tree.start(entry.node));
        Edit {
            file: entry.file,
            range: start..source.line_end(tree.end(entry.node)),
            text: String::new(),
        }
    });
    gone.collect()
}

/// Returns the call, or two of them, in place of an accept statement.
pub(super) fn call(cx: &Context, target: &Target, accept: At) -> Edit {
    let source = source_of(cx.program, accept);
    let tree = &source.tree;
    let direct = if target.is_held {
        None
    } else {
        targets_of(cx, target, accept).or_else(|| values_of(cx, target, accept))
    };
    let lines = match direct {
        Some(mut actuals) => {
            // Values from the server precede those to it, and the place is one from the server.
            let at = if target.data.iter().any(|d| d.is_taken) {
                0
            } else {
                actuals.len()
            };
            actuals.splice(at..at, reported(cx, target));
            vec![call_text(cx, &called(cx, target, ""), &actuals)]
        }
        None => in_order(cx, target, accept),
    };
    let text = layout::indented(&lines, source.indent(tree.start(accept.node)));
    Edit {
        file: accept.file,
        range: tree.range(accept.node),
        text: text.trim().to_string(),
    }
}

/// Returns the client's variable for its place, if the call gives it.
fn reported(cx: &Context, target: &Target) -> Option<String> {
    matches!(target.place, Place::Reported { .. }).then(|| places::variable(cx, target.client))
}

/// Returns the entry that a client calls, with its place if it is of a family.
fn called(cx: &Context, target: &Target, prefix: &str) -> String {
    let member = match target.place {
        Place::Asked { .. } => format!(" ({})", places::variable(cx, target.client)),
        _ => String::new(),
    };
    format!("{prefix}{}{member}", target.name)
}

/// Returns the declarations of the variables in which clients keep their places.
pub(super) fn variables(cx: &Context, targets: &[Target]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for target in targets {
        let (Place::Reported { subtype, .. }, Some(body)) =
            (&target.place, cx.names.entity(target.client).body)
        else {
            continue;
        };
        let source = source_of(cx.program, body);
        let Some(begin) = source.tree.child(body.node, "begin") else {
            continue;
        };
        let line = source.line_start(source.tree.start(begin));
        let indent = source.indent(source.tree.start(begin));
        let step = layout::indent_step(source);
        let name = places::variable(cx, target.client);
        edits.push(Edit {
            file: body.file,
            range: line..line,
            text: format!("{indent}{step}{name} : {subtype};\n"),
        });
    }
    edits
}

fn call_text(cx: &Context, name: &str, actuals: &[String]) -> String {
    let actuals = if actuals.is_empty() {
        String::new()
    } else {
        format!(" ({})", actuals.join(", "))
    };
    format!("{}.{name}{actuals};", cx.task.name)
}

/// Returns the accept's statements between its inputs and its results, with variables for the
/// parameters.
fn in_order(cx: &Context, target: &Target, accept: At) -> Vec<String> {
    let source = source_of(cx.program, accept);
    let tree = &source.tree;
    let step = layout::indent_step(source);
    let handled = tree.child(accept.node, "handled_sequence_of_statements");
    let body = handled.map_or(vec![], |h| {
        layout::dedent(source.text(h), source.indent(tree.start(h)))
    });
    let names = |is_wanted: fn(&Datum) -> bool| -> Vec<String> {
        let data = target.data.iter().filter(|d| is_wanted(d));
        data.map(|d| d.name.clone()).collect()
    };
    let (mut given, taken) = (names(|d| d.is_given), names(|d| d.is_taken));
    given.extend(reported(cx, target));
    let mut inner = Vec::new();
    if target.is_held {
        inner.push(call_text(cx, &called(cx, target, "Begin_"), &given));
        inner.extend(body.iter().cloned());
        inner.push(call_text(cx, &format!("End_{}", target.name), &taken));
    } else if taken.is_empty() {
        inner.push(call_text(cx, &called(cx, target, ""), &given));
        inner.extend(body.iter().cloned());
    } else {
        let actuals: Vec<String> = reported(cx, target).into_iter().chain(taken).collect();
        inner.extend(body.iter().cloned());
        inner.push(call_text(cx, &called(cx, target, ""), &actuals));
    }
    if target.data.is_empty() {
        return inner;
    }
    let mut lines = vec!["declare".to_string()];
    let objects = target.data.iter();
    lines.extend(objects.map(|d| format!("{step}{} : {};", d.name, d.subtype)));
    let used = code::names_in(&body);
    let own = reported(cx, target);
    let unused: Vec<String> = given
        .into_iter()
        .filter(|n| Some(n) != own.as_ref() && !used.contains(&Names::key(n)))
        .collect();
    if !unused.is_empty() {
        lines.push(format!(
            "{step}pragma Unreferenced ({});",
            unused.join(", ")
        ));
    }
    lines.push("begin".into());
    lines.extend(inner.into_iter().map(|l| format!("{step}{l}")));
    lines.push("end;".into());
    lines
}

/// Returns the assignments of an accept's body, as variable and value; none if there are other
/// statements.
fn assignments(cx: &Context, accept: At) -> Option<Vec<(NodeId, NodeId)>> {
    let tree = &source_of(cx.program, accept).tree;
    let Some(handled) = tree.child(accept.node, "handled_sequence_of_statements") else {
        return Some(vec![]);
    };
    let statements = tree.children(tree.child(handled, "sequence_of_statements")?);
    let mut found = Vec::new();
    for statement in statements.filter(|&n| tree.kind(n) != "null_statement") {
        if tree.kind(statement) != "assignment_statement" {
            return None;
        }
        let target = tree.role(statement, "variable_name")?;
        found.push((target, tree.child(statement, "expression")?));
    }
    Some(found)
}

/// Returns the variables to which the accept copies its parameters, if it does nothing else and the
/// types are the same.
fn targets_of(cx: &Context, target: &Target, accept: At) -> Option<Vec<String>> {
    let source = source_of(cx.program, accept);
    let tree = &source.tree;
    let copies = assignments(cx, accept)?;
    if target.data.iter().any(|d| d.is_taken) {
        return None;
    }
    let mut found = vec![None; target.data.len()];
    for (variable, value) in copies {
        if !matches!(tree.kind(variable), "identifier" | "selected_component") {
            return None;
        }
        let key = Names::key(source.text(value));
        let slot = target
            .data
            .iter()
            .position(|d| Names::key(&d.name) == key)?;
        let at = At {
            node: variable,
            ..accept
        };
        let declared = cx.names.entity(cx.names.meaning(cx.program, at)?).at;
        let other = source_of(cx.program, declared);
        let mark = other.tree.role(declared.node, "subtype_mark")?;
        let is_same = Names::key(other.text(mark)) == Names::key(&target.data[slot].subtype);
        if !is_same || found[slot].is_some() {
            return None;
        }
        found[slot] = Some(source.text(variable).to_string());
    }
    found.into_iter().collect()
}

/// Returns the values that the accept gives its out parameters, if it does nothing else.
fn values_of(cx: &Context, target: &Target, accept: At) -> Option<Vec<String>> {
    let source = source_of(cx.program, accept);
    let copies = assignments(cx, accept)?;
    if target.data.iter().any(|d| d.is_given) {
        return None;
    }
    let mut found = vec![None; target.data.len()];
    for (formal, value) in copies {
        let key = Names::key(source.text(formal));
        let slot = target
            .data
            .iter()
            .position(|d| Names::key(&d.name) == key)?;
        let names = code::names_in(&[source.text(value).to_string()]);
        let reads_formal = target
            .data
            .iter()
            .any(|d| names.contains(&Names::key(&d.name)));
        if reads_formal || found[slot].is_some() {
            return None;
        }
        let text = source.text(value).split_whitespace();
        found[slot] = Some(text.collect::<Vec<_>>().join(" "));
    }
    found.into_iter().collect()
}

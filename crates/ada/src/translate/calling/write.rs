//! The text of the object, and of its clients.

use super::Plan;
use crate::edit::Edit;
use crate::names::{At, Names};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::{declarations, layout, machine};

pub(super) fn profile(plan: &Plan) -> String {
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

pub(super) const OVER: &str = "All_Given";

pub(super) fn object(cx: &Context, plan: &Plan, moved: &declarations::Moved) -> Edit {
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

pub(super) fn body(cx: &Context, plan: &Plan, moved: &declarations::Moved) -> Edit {
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
pub(super) fn client_declaration(cx: &Context, plan: &Plan) -> Edit {
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
pub(super) fn client_call(cx: &Context, plan: &Plan) -> Edit {
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
pub(super) fn direct_targets(cx: &Context, plan: &Plan) -> Option<Vec<String>> {
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

pub(super) fn above(cx: &Context, at: At, items: &[Vec<String>]) -> Edit {
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

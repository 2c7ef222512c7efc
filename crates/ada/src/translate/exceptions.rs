//! Exceptions in a server. In an accept they reach both the caller and the task (RM 9.5.2 (24));
//! elsewhere only the task.
//!
//! An exception that is not handled in the task completes it, so the object closes. Explicit raise
//! statements are followed, and all exceptions that a handler around an accept would receive. A
//! failing language-defined check in a task without handlers is not followed; the verdict says so.

use super::code::{self, Code};
use super::context::Context;
use super::layout;
use super::machine::Machine;
use super::obstacles;
use super::statement_names;
use crate::flow::{Point, Site};
use crate::names::Names;
use crate::syntax::NodeId;

/// Whether an exception may complete the server.
pub fn can_close(cx: &Context) -> bool {
    cx.flow
        .sites
        .iter()
        .any(|s| must_watch_accept(cx, s) || must_watch_rest(cx, cx.flow.resume(s)))
        || (0..cx.flow.waits.len())
            .filter_map(|w| cx.flow.elapsed(w))
            .any(|p| must_watch_rest(cx, p))
        || must_watch_rest(cx, cx.flow.start())
}

/// Returns the handled sequences around a wait, innermost first.
fn around(cx: &Context, accept: NodeId) -> Vec<NodeId> {
    let mut found: Vec<NodeId> = obstacles::handled_around_waits(cx)
        .into_iter()
        .filter(|&h| cx.tree().is_within(accept, h))
        .collect();
    found.reverse();
    found
}

/// Whether exceptions of the accept's body must be watched.
pub fn must_watch_accept(cx: &Context, site: &Site) -> bool {
    let Some(body) = cx
        .tree()
        .child(site.accept, "handled_sequence_of_statements")
    else {
        return false;
    };
    let does_something = cx.tree().walk(body).any(|n| {
        matches!(
            cx.tree().kind(n),
            "procedure_call_statement"
                | "assignment_statement"
                | "function_call"
                | "raise_statement"
        )
    });
    (does_something && !around(cx, site.accept).is_empty())
        || !cx.oracle.of(cx.at(body)).raises.is_empty()
}

/// Whether exceptions of the statements after a point must be watched.
pub fn must_watch_rest(cx: &Context, from: Point) -> bool {
    let tree = cx.tree();
    let has_handlers = !obstacles::handled_around_waits(cx).is_empty();
    cx.flow.reach(from).into_iter().any(|p| match p {
        Point::Before(node) if cx.flow.is_plain(node) => {
            (has_handlers && !matches!(tree.kind(node), "null_statement" | "pragma_g"))
                || !cx.oracle.of(cx.at(node)).raises.is_empty()
        }
        _ => false,
    })
}

/// `begin BODY exception when … end;`: with the handlers around `accept`, and the code after them.
/// `again` says whether the caller also receives the exception.
pub fn watched<'a>(
    cx: &Context<'a>,
    machine: &mut Machine<'a>,
    body: Vec<Code>,
    accept: Option<NodeId>,
    again: bool,
) -> Code {
    let step = layout::indent_step(cx.source());
    let mut lines = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let handled = accept.map_or_else(
        || {
            obstacles::handled_around_waits(cx)
                .into_iter()
                .filter(|&h| cx.tree().parent(h) == Some(cx.task.body.node))
                .collect()
        },
        |a| around(cx, a),
    );
    for handled in handled {
        let owner = cx.tree().parent(handled).unwrap_or(handled);
        let next = if owner == cx.task.body.node {
            Point::End
        } else {
            cx.flow.after(owner)
        };
        let handlers: Vec<NodeId> = cx.tree().all(handled, "exception_handler").collect();
        for handler in handlers {
            let Some(header) = header(cx, machine, handler, &mut seen) else {
                continue;
            };
            let mut code: Vec<Code> = statements(cx, machine, handler);
            code.extend(machine.code_from(next, None));
            push_arm(&mut lines, header, code, again, &step);
        }
    }
    if !seen.iter().any(|s| s == "others") {
        push_arm(
            &mut lines,
            "when others =>".into(),
            machine.code_from(Point::End, None),
            again,
            &step,
        );
    }
    let arms = vec![
        ("begin".to_string(), body),
        ("exception".to_string(), vec![Code::Lines(lines)]),
    ];
    Code::Compound {
        open: None,
        arms,
        close: "end;".into(),
        is_tail: false,
    }
}

fn push_arm(lines: &mut Vec<String>, header: String, mut code: Vec<Code>, again: bool, step: &str) {
    if again {
        code.push(Code::line("raise;"));
    }
    let arm = format!("{step}when ");
    let number = 1 + lines.iter().filter(|l| l.starts_with(&arm)).count();
    lines.push(format!("{step}{header}"));
    // The statements before the handlers may contain the same code.
    let ending = format!("Handled_{number}");
    let mut inner = statement_names::for_copy(code::print(&code, step), &ending);
    if inner.is_empty() {
        inner.push("null;".into());
    }
    lines.extend(inner.into_iter().map(|l| {
        if l.is_empty() {
            l
        } else {
            format!("{step}{step}{l}")
        }
    }));
}

/// `when A | B =>` with the choices that inner handlers do not handle.
fn header(
    cx: &Context,
    machine: &Machine,
    handler: NodeId,
    seen: &mut Vec<String>,
) -> Option<String> {
    let tree = cx.tree();
    if seen.iter().any(|s| s == "others") {
        return None;
    }
    let list = tree.child(handler, "exception_choice_list")?;
    let mut choices = Vec::new();
    for choice in tree.all(list, "exception_choice") {
        let text = machine.changes.apply(cx.source(), tree.range(choice));
        let key = Names::key(&text);
        if !seen.contains(&key) {
            seen.push(key);
            choices.push(text);
        }
    }
    let occurrence = tree
        .child(handler, "choice_parameter_specification")
        .map_or(String::new(), |n| format!("{} : ", cx.text(n)));
    (!choices.is_empty()).then(|| format!("when {occurrence}{} =>", choices.join(" | ")))
}

fn statements(cx: &Context, machine: &Machine, handler: NodeId) -> Vec<Code> {
    let tree = cx.tree();
    let sequence = tree.child(handler, "sequence_of_statements");
    let own = sequence
        .into_iter()
        .flat_map(|s| tree.children(s))
        .filter(|&n| tree.kind(n) != "null_statement");
    own.map(|n| Code::Lines(layout::lines_of(cx.source(), n, machine.changes)))
        .collect()
}

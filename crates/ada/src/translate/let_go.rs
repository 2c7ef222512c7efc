//! Outer callers that need not wait for inner accepts.
//!
//! The caller of an accept with an inner accept is requeued until the inner call was served, which
//! costs a queue and an evaluation of all barriers. If the inner call is known to be queued (`if
//! E'Count > 0 then accept E; …`), it is served within the same protected action (RM 9.5.3 (18 –
//! 20)). Then the outer caller may go earlier, without noticing it. This holds if it receives no
//! results, and if the rest of the server's work only concerns the server's own variables. The
//! inner caller's entry then does the rest.

use super::context::Context;
use crate::effects::Effect;
use crate::names::{At, Kind};
use crate::syntax::NodeId;

/// Whether the caller of an accept with waits inside may go at the first of them.
pub fn is_let_go(cx: &Context, accept: NodeId) -> bool {
    let tree = cx.tree();
    let Some(first) = first_wait(cx, accept) else {
        return false;
    };
    let is_simple = tree.walk(accept).all(|n| {
        !matches!(
            tree.kind(n),
            "out" | "requeue_statement" | "simple_return_statement" | "block_statement"
        )
    });
    let rest = tree
        .walk(accept)
        .filter(|&n| tree.kind(n).ends_with("_statement") && tree.start(n) > tree.start(first));
    cx.flow.owner(accept).is_none()
        && is_simple
        && waits(cx, accept).all(|w| is_awaited(cx, accept, w))
        && rest.into_iter().all(|n| is_own_business(cx, n))
}

/// Returns the first accept inside another.
pub fn first_wait(cx: &Context, accept: NodeId) -> Option<NodeId> {
    waits(cx, accept).min_by_key(|&n| cx.tree().start(n))
}

fn waits<'c>(cx: &'c Context, accept: NodeId) -> impl Iterator<Item = NodeId> + 'c {
    let tree = cx.tree();
    let all = cx.flow.waits.iter().map(|w| w.node);
    all.filter(move |&n| n != accept && tree.is_within(n, accept))
}

/// Whether a wait is an accept statement without a body, first in the branch of an `if` that found
/// a call in its entry's queue.
fn is_awaited(cx: &Context, outer: NodeId, wait: NodeId) -> bool {
    let tree = cx.tree();
    let is_bare = tree.kind(wait) == "accept_statement"
        && tree.child(wait, "handled_sequence_of_statements").is_none();
    let mut around = tree.ancestors(wait).take_while(|&n| n != outer);
    let is_looped = around.any(|n| tree.kind(n) == "loop_statement");
    let Some(sequence) = tree.parent(wait).filter(|_| is_bare && !is_looped) else {
        return false;
    };
    let is_first = tree.children(sequence).next() == Some(wait);
    // The branch directly after `then`, and not that of an `else`.
    let condition = tree
        .previous(sequence)
        .filter(|&n| is_first && tree.kind(n) == "then")
        .and_then(|then| tree.previous(then));
    let index = tree
        .role(wait, "entry_index")
        .map_or(String::new(), |n| format!("({})", cx.text(n)));
    let name = tree
        .role(wait, "entry_direct_name")
        .map_or("", |n| cx.text(n));
    let called = |test: &str| key(&format!("{name}{index}'Count{test}"));
    let called = [called(">0"), called(">=1"), called("/=0")];
    condition.is_some_and(|c| {
        conjuncts(cx.text(c))
            .iter()
            .any(|part| called.contains(part))
    })
}

/// Returns a text in lower case without white space.
fn key(text: &str) -> String {
    text.split_whitespace().collect::<String>().to_lowercase()
}

/// Returns the parts of a condition that must all hold; empty if a part may be an alternative.
fn conjuncts(condition: &str) -> Vec<String> {
    let words: Vec<String> = condition
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    if words
        .iter()
        .any(|w| matches!(w.as_str(), "or" | "xor" | "--"))
    {
        return vec![];
    }
    let parts = words.split(|w| w == "and");
    parts
        .map(|p| {
            let p = p.strip_prefix(&["then".to_string()]).unwrap_or(p);
            p.concat()
        })
        .collect()
}

/// Whether only the server can notice a statement's effects.
fn is_own_business(cx: &Context, statement: NodeId) -> bool {
    let tree = cx.tree();
    match tree.kind(statement) {
        "null_statement" | "accept_statement" => true,
        "if_statement" => tree
            .walk(statement)
            .filter(|&n| tree.kind(n) == "expression")
            .all(|n| is_silent(cx, cx.at(n), 0)),
        "assignment_statement" => {
            let target = tree.role(statement, "variable_name");
            let variable = target.and_then(|t| cx.meanings(cx.at(t)).first().map(|&(_, e)| e));
            variable.is_some_and(|e| cx.is_local(e)) && is_silent(cx, cx.at(statement), 0)
        }
        _ => false,
    }
}

/// Whether code only reads and computes; this must also hold for expression functions that it
/// calls.
fn is_silent(cx: &Context, at: At, depth: usize) -> bool {
    let effects = cx.oracle.of(at);
    let is_pure = |call: &Effect| {
        let meanings = cx.meanings(call.at).into_iter();
        let mut called = meanings
            .map(|(_, e)| cx.names.entity(e))
            .filter(|e| e.kind == Kind::Subprogram);
        called.next().is_some_and(|function| {
            let body = function.body.unwrap_or(function.at);
            let tree = &cx.program.sources[body.file].tree;
            let is_expression = tree.kind(body.node) == "expression_function_declaration";
            is_expression && depth < DEPTH_MAX && is_silent(cx, body, depth + 1)
        })
    };
    effects.unknown.is_empty()
        && effects.io.is_empty()
        && effects.blocks.is_empty()
        && effects.impure.iter().all(is_pure)
}

/// Limit of followed calls. Deeper ones, and recursion, count as calls with effects.
const DEPTH_MAX: usize = 8;

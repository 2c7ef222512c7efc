//! Uses of an entry: whether they need an entry, or just a callable procedure.
//!
//! An entry that is always open can be a protected procedure, unless one of its uses is only
//! allowed for entries.

use std::collections::HashSet;

use super::context::Context;
use crate::names::{At, EntityId, Names};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

/// Whether a protected procedure suffices for all uses of an entry.
pub fn allow_procedure(cx: &Context, entry: EntityId) -> bool {
    let key = Names::key(&cx.names.entity(entry).name);
    !implements(cx, &key)
        && !cx.oracle.needs_entry(&key)
        && !is_private(cx, entry)
        && cx
            .names
            .uses_of(entry)
            .iter()
            .all(|&at| is_plain(cx, at, 0))
}

/// Whether only the task itself sees the entry, to requeue calls to it.
fn is_private(cx: &Context, entry: EntityId) -> bool {
    let at = cx.names.entity(entry).at;
    let tree = &cx.program.sources[at.file].tree;
    tree.parent(at.node).is_some_and(|definition| {
        let mut before = tree.children(definition).take_while(|&n| n != at.node);
        before.any(|n| tree.kind(n) == "private")
    })
}

/// Whether an entry of this name may implement a procedure of an interface. A call through the
/// interface may be timed, conditional or a requeue (RM 9.7.2 (3), 9.5.4 (3)).
fn implements(cx: &Context, key: &str) -> bool {
    let at = cx.task.declaration;
    let tree = &cx.program.sources[at.file].tree;
    tree.child(at.node, "new").is_some() && cx.oracle.declares(key)
}

/// Limit of a chain of renamings.
const RENAMINGS_MAX: usize = 10;

/// Whether a use is an accept, a call that is a statement of its own, or one that passes the entry
/// as a procedure.
fn is_plain(cx: &Context, at: At, depth: usize) -> bool {
    let tree = &cx.program.sources[at.file].tree;
    let name = whole_name(tree, at.node);
    // `E'Count` (RM 9.9 (4)), `E'Caller` (RM C.7.1 (14)).
    if tree.next(name).is_some_and(|n| tree.kind(n) == "tick") {
        return false;
    }
    // `Entry.Parameter` inside the accept statement.
    let parent = tree.parent(name);
    if parent.is_some_and(|p| tree.kind(p) == "selected_component") && tree.field(name) == "prefix"
    {
        return true;
    }
    let around = tree.ancestor(
        name,
        &[
            "accept_statement",
            "procedure_call_statement",
            "requeue_statement",
            "subprogram_renaming_declaration",
            "generic_instantiation",
        ],
    );
    let Some(around) = around else {
        return false;
    };
    match tree.kind(around) {
        "accept_statement" => true,
        // RM 9.7.2 (3), 9.7.3 (2), 9.7.4 (4).
        "procedure_call_statement" => !is_chosen(tree, around),
        // A formal procedure's actual is any callable entity (RM 12.6 (10)).
        "generic_instantiation" => true,
        "subprogram_renaming_declaration" => {
            depth < RENAMINGS_MAX && renaming(cx, At { node: around, ..at }, depth)
        }
        // RM 9.5.4 (3).
        _ => false,
    }
}

/// Handles the renaming of an entry as a procedure (RM 8.5.4 (1)), which may still be called as an
/// entry.
fn renaming(cx: &Context, declaration: At, depth: usize) -> bool {
    let tree = &cx.program.sources[declaration.file].tree;
    let name = tree
        .child(declaration.node, "procedure_specification")
        .and_then(|s| tree.role(s, "name"));
    let renamed = name.and_then(|node| {
        cx.names.declared_by(At {
            node,
            ..declaration
        })
    });
    renamed.is_some_and(|id| {
        let mut uses = cx.names.uses_of(id).iter();
        uses.all(|&at| is_plain(cx, at, depth + 1))
    })
}

/// Whether a select statement waits for a call, rather than containing it in a statement after it.
pub(crate) fn is_chosen(tree: &Tree, call: NodeId) -> bool {
    tree.parent(call).is_some_and(|p| {
        matches!(
            tree.kind(p),
            "entry_call_alternative" | "triggering_alternative"
        ) && tree.children(p).next() == Some(call)
    })
}

/// Returns the expanded name that ends with an identifier.
fn whole_name(tree: &Tree, ident: NodeId) -> NodeId {
    let mut name = ident;
    while let Some(parent) = tree.parent(name) {
        if tree.kind(parent) != "selected_component" || tree.field(name) != "selector_name" {
            break;
        }
        name = parent;
    }
    name
}

/// Returns the unresolved names, in lower case, that are called in select statements or are targets
/// of requeues. Each may be an entry of any task.
pub(crate) fn unresolved(program: &Program, names: &Names) -> HashSet<String> {
    let mut found = HashSet::new();
    for (file, source) in program.sources.iter().enumerate() {
        let tree = &source.tree;
        for node in tree.walk(tree.root()) {
            let needs = match tree.kind(node) {
                "procedure_call_statement" => is_chosen(tree, node),
                "requeue_statement" => true,
                _ => false,
            };
            if !needs {
                continue;
            }
            let idents = tree
                .walk(node)
                .filter(|&n| tree.kind(n) == "identifier")
                .filter(|&node| names.meaning(program, At { file, node }).is_none());
            found.extend(idents.map(|n| Names::key(source.text(n))));
        }
    }
    found
}

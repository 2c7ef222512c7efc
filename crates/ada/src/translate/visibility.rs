//! Whether a name of something whose source was not given means the same at the task's declaration as in its body.
//!
//! A task declared in a package specification has its body in another unit, whose own context clauses show more. What moves to the
//! declaration must not depend on those.

use std::collections::HashSet;

use super::context::{Context, source_of};
use crate::names::{At, Names};
use crate::syntax::NodeId;

/// Types that input and output packages declare; all else in them is operations and exceptions.
const IO_TYPES: [&str; 10] = [
    "file_type",
    "file_mode",
    "file_access",
    "count",
    "positive_count",
    "field",
    "number_base",
    "type_set",
    "page_terminator",
    "line_length",
];

/// Whether `name`, the outermost selected component or identifier that could not be resolved, is visible at the declaration.
pub fn is_seen(cx: &Context, name: NodeId) -> bool {
    let declaration = cx.task.declaration;
    let text = Names::key(&cx.text(name).split_whitespace().collect::<String>());
    let first = text.split('.').next().unwrap_or(&text);
    let there = with_names(cx, declaration);
    if there.contains(first) {
        // `Ada.Calendar.Time` needs the with clause that names `Ada.Calendar`, not any that begins with `Ada`.
        let here = with_names(cx, cx.task.body);
        let unit = prefixes(&text).find(|p| here.contains(*p) || there.contains(*p));
        return unit.is_none_or(|p| there.contains(p));
    }
    let shown = cx.names.used_packages(cx.program, declaration);
    let only_in_body: Vec<String> = cx
        .names
        .used_packages(cx.program, cx.at(name))
        .into_iter()
        .filter(|p| !shown.contains(p))
        .collect();
    !shown.is_empty() && only_in_body.iter().all(|p| cannot_declare(p, first))
}

/// Whether a package is known not to declare a type or function of this name.
fn cannot_declare(package: &str, word: &str) -> bool {
    package.ends_with("text_io") && !IO_TYPES.contains(&word)
}

/// The prefixes of an expanded name, itself first.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |n| n.rsplit_once('.').map(|(prefix, _)| prefix))
}

/// The units that the with clauses of a file name, and the parents that are visible with them.
fn with_names(cx: &Context, at: At) -> HashSet<String> {
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    tree.all(tree.root(), "compilation_unit")
        .flat_map(|unit| tree.all(unit, "with_clause"))
        .flat_map(|clause| tree.children(clause))
        .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"))
        .flat_map(|n| {
            let name = Names::key(&source.text(n).split_whitespace().collect::<String>());
            prefixes(&name).map(String::from).collect::<Vec<_>>()
        })
        .collect()
}

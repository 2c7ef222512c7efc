//! Whether a name of something whose source was not given means the same at the task's declaration as in its body.
//!
//! A task declared in a package specification has its body in another unit, whose own context clauses show more. What moves to the
//! declaration must not depend on those.

use std::collections::HashSet;

use super::context::{Context, source_of};
use crate::names::{At, EntityId, Names};
use crate::source::Source;
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
    if shown.iter().any(|p| declares(p, first)) {
        return true;
    }
    let only_in_body: Vec<String> = cx
        .names
        .used_packages(cx.program, cx.at(name))
        .into_iter()
        .filter(|p| !shown.contains(p))
        .collect();
    !shown.is_empty() && only_in_body.iter().all(|p| cannot_declare(p, first))
}

/// The language-defined or GNAT unit that a full name begins with, where only the body names it in a with clause: such a clause can be
/// added to the declaration's unit, since none of these depends on the program.
pub fn unit_to_name(cx: &Context, name: NodeId) -> Option<String> {
    const LIBRARIES: [&str; 4] = ["ada", "gnat", "interfaces", "system"];
    let text = cx.text(name).split_whitespace().collect::<String>();
    let here = with_names(cx, cx.task.body);
    let unit = prefixes(&text).find(|p| here.contains(&Names::key(p)))?;
    let first = unit.split('.').next().unwrap_or(unit);
    LIBRARIES
        .contains(&Names::key(first).as_str())
        .then(|| unit.to_string())
}

/// What servers commonly keep, by the package that declares it.
const DECLARED: [(&str, &[&str]); 9] = [
    ("ada.calendar", &["time", "time_of", "clock", "year_number"]),
    ("ada.containers", &["count_type", "hash_type"]),
    ("ada.exceptions", &["exception_id", "exception_occurrence"]),
    (
        "ada.real_time",
        &[
            "time",
            "time_span",
            "time_span_zero",
            "clock",
            "milliseconds",
            "seconds",
        ],
    ),
    ("ada.strings.maps", &["character_set", "null_set"]),
    (
        "ada.strings.unbounded",
        &[
            "unbounded_string",
            "null_unbounded_string",
            "to_unbounded_string",
        ],
    ),
    ("ada.task_identification", &["task_id", "null_task_id"]),
    ("ada.text_io", &["file_type", "count"]),
    ("system", &["address", "any_priority", "null_address"]),
];

/// Whether something declared outside the task can be named where the task is declared: it stands before it, or in another unit that the
/// declaration's own names in a with clause or is a child of.
pub fn is_shown(cx: &Context, id: EntityId) -> bool {
    let at = cx.names.entity(id).ident;
    let declaration = cx.task.declaration;
    if at.file == declaration.file {
        let tree = &cx.program.sources[at.file].tree;
        return tree.start(at.node) < tree.start(declaration.node);
    }
    if at.file == cx.task.body.file {
        return false;
    }
    let own = unit_name(cx, declaration).unwrap_or_default();
    unit_name(cx, at).is_none_or(|unit| {
        with_names(cx, declaration).contains(&unit) || prefixes(&own).any(|p| p == unit)
    })
}

/// Whether all that an expression of the body names can be named where the task is declared.
pub fn is_all_shown(cx: &Context, expression: NodeId) -> bool {
    let meanings = cx.meanings(cx.at(expression));
    meanings.iter().all(|&(_, e)| {
        let is_own = cx.names.is_declared_in(cx.program, e, cx.task.declaration);
        cx.is_local(e) || is_own || is_shown(cx, e)
    })
}

/// The full lower-case name of the library package that a place is in.
fn unit_name(cx: &Context, at: At) -> Option<String> {
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let unit = tree
        .ancestors(at.node)
        .filter(|&n| matches!(tree.kind(n), "package_declaration" | "package_body"))
        .last()?;
    let name = tree.role(unit, "name")?;
    Some(Names::key(
        &source.text(name).split_whitespace().collect::<String>(),
    ))
}

/// Whether a package is known to declare this name.
fn declares(package: &str, word: &str) -> bool {
    DECLARED
        .iter()
        .any(|(p, words)| *p == package && words.contains(&word))
}

/// Whether a package is known not to declare a type or function of this name.
fn cannot_declare(package: &str, word: &str) -> bool {
    package.ends_with("text_io") && !IO_TYPES.contains(&word)
}

/// The prefixes of an expanded name, itself first.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |n| n.rsplit_once('.').map(|(prefix, _)| prefix))
}

/// The units that the with clauses at a place name, and the parents that are visible with them. Those of a package's specification hold in
/// its body too (RM 10.1.2 (8)).
fn with_names(cx: &Context, at: At) -> HashSet<String> {
    let own = unit_name(cx, at);
    let sources = cx.program.sources.iter().enumerate();
    let seen = sources.filter(|&(file, source)| {
        file == at.file || own.as_ref().is_some_and(|own| specifies(source, own))
    });
    seen.flat_map(|(_, source)| named_in(source)).collect()
}

/// Whether a file holds the specification of this library package.
fn specifies(source: &Source, package: &str) -> bool {
    let tree = &source.tree;
    let units = tree.all(tree.root(), "compilation_unit");
    let mut packages = units.flat_map(|unit| tree.all(unit, "package_declaration"));
    packages.any(|found| {
        let name = tree.role(found, "name").map(|name| source.text(name));
        name.is_some_and(|name| Names::key(&name.split_whitespace().collect::<String>()) == package)
    })
}

fn named_in(source: &Source) -> HashSet<String> {
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

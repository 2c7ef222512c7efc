//! Whether a name from a unit without source means the same at the task's declaration as in its
//! body.
//!
//! The body of a task in a package specification is in another unit, which has more context
//! clauses. Code that moves to the declaration must not depend on those.

use std::collections::HashSet;

use super::context::{Context, source_of};
use crate::effects::is_standard;
use crate::names::{At, EntityId, Names};
use crate::source::Source;
use crate::syntax::NodeId;

/// Types that input and output packages declare; their other declarations are operations and
/// exceptions.
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

/// Whether an unresolved `name`, an outermost selected component or identifier, is visible at the
/// declaration.
pub fn is_seen(cx: &Context, name: NodeId) -> bool {
    let declaration = cx.task.declaration;
    let text = Names::key(&cx.text(name).split_whitespace().collect::<String>());
    let first = text.split('.').next().unwrap_or(&text);
    let there = with_names(cx, declaration);
    if there.contains(first) {
        // `Ada.Calendar.Time` needs the with clause that names `Ada.Calendar`, not just one that
        // begins with `Ada`.
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

/// Returns the language-defined or GNAT unit with which a full name begins, if only the body names
/// it in a with clause. Such a clause can be added to the declaration's unit, because none of these
/// units depends on the program.
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

/// Returns the language-defined unit of a simple name that is visible by a use clause of the body
/// alone. Then its expanded name means the same at the declaration.
pub fn unit_of_used(cx: &Context, name: NodeId) -> Option<String> {
    let word = Names::key(cx.text(name));
    let found = cx.names.external_names(cx.program, cx.at(name));
    let packages: Vec<&str> = found
        .iter()
        .filter_map(|full| full.strip_suffix(&word)?.strip_suffix('.'))
        .collect();
    let known = packages.iter().find(|p| declares(p, &word));
    let only = match packages[..] {
        [only] if !cannot_declare(only, &word) && !is_standard(std::slice::from_ref(&word)) => {
            Some(only)
        }
        _ => None,
    };
    let package = known.copied().or(only)?;
    let is_language =
        ["ada", "interfaces", "system"].contains(&package.split('.').next().unwrap_or(package));
    if word.contains('.') || !is_language {
        return None;
    }
    spelt_in(cx.source(), package)
}

/// Returns the library unit of the program that declares an entity, in the program's spelling.
/// Returns none if it depends on the unit with the task's declaration, because a with clause would
/// close a cycle.
pub fn program_unit(cx: &Context, id: EntityId) -> Option<String> {
    let at = cx.names.entity(id).ident;
    let own = unit_name(cx, cx.task.declaration)?;
    let unit = unit_name(cx, at)?;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let declaration = tree
        .ancestors(at.node)
        .filter(|&n| matches!(tree.kind(n), "package_declaration" | "package_body"))
        .last()?;
    // A deeper nested declaration would need more than the unit's name as its prefix.
    let is_direct = tree
        .ancestors(at.node)
        .filter(|&n| {
            matches!(
                tree.kind(n),
                "package_declaration" | "generic_package_declaration"
            )
        })
        .count()
        == 1;
    let is_generic = tree
        .ancestor(declaration, &["generic_package_declaration"])
        .is_some();
    if tree.kind(declaration) != "package_declaration" || !is_direct || is_generic {
        return None;
    }
    let mut open = vec![unit.clone()];
    let mut seen: HashSet<String> = HashSet::new();
    while let Some(next) = open.pop() {
        if next == own {
            return None;
        }
        if seen.insert(next.clone()) {
            let files = cx.names.specifications(&next).iter();
            open.extend(files.flat_map(|&f| named_in(&cx.program.sources[f])));
            open.extend(prefixes(&next).skip(1).map(String::from));
        }
    }
    let name = tree.role(declaration, "name")?;
    Some(source.text(name).split_whitespace().collect())
}

/// Whether a name means a library package itself.
pub fn names_package(cx: &Context, id: EntityId) -> bool {
    let entity = cx.names.entity(id);
    source_of(cx.program, entity.at).tree.kind(entity.at.node) == "package_declaration"
}

/// Returns a unit's name in the spelling of a file's with clause.
fn spelt_in(source: &Source, unit: &str) -> Option<String> {
    let tree = &source.tree;
    tree.all(tree.root(), "compilation_unit")
        .flat_map(|u| tree.all(u, "with_clause"))
        .flat_map(|clause| tree.children(clause))
        .filter(|&n| matches!(tree.kind(n), "identifier" | "selected_component"))
        .map(|n| source.text(n).split_whitespace().collect::<String>())
        .find(|name| Names::key(name) == unit)
}

/// Types that servers commonly keep, by the package that declares them.
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

/// Whether an entity outside the task can be named at the task's declaration. It must be declared
/// before it, or in another unit that the declaration's unit names in a with clause or is a child
/// of.
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

/// Whether all names of an expression in the body can be used at the task's declaration.
pub fn is_all_shown(cx: &Context, expression: NodeId) -> bool {
    let meanings = cx.meanings(cx.at(expression));
    meanings.iter().all(|&(_, e)| {
        let is_own = cx.names.is_declared_in(cx.program, e, cx.task.declaration);
        cx.is_local(e) || is_own || is_shown(cx, e)
    })
}

/// Whether all names of a range are visible to a declaration in another file. They are if that is
/// the body's file, or if no name belongs to an unknown unit.
pub fn is_resolved_or_near(cx: &Context, range: NodeId) -> bool {
    let tree = cx.tree();
    cx.task.declaration.file == cx.task.body.file
        || tree
            .walk(range)
            .filter(|&n| tree.kind(n) == "identifier")
            .all(|n| {
                tree.ancestor(n, &["attribute_designator"]).is_some()
                    || cx.names.meaning(cx.program, cx.at(n)).is_some()
            })
}

/// Returns the full lower-case name of the library package that a place is in.
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

/// Returns the prefixes of an expanded name, beginning with itself.
fn prefixes(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |n| n.rsplit_once('.').map(|(prefix, _)| prefix))
}

/// Returns the units that the with clauses at a place name, and the parents that are visible with
/// them. The clauses of a package's specification also hold in its body (RM 10.1.2 (8)).
fn with_names(cx: &Context, at: At) -> HashSet<String> {
    let own = unit_name(cx, at);
    let specifications = own.iter().flat_map(|own| cx.names.specifications(own));
    specifications
        .copied()
        .chain([at.file])
        .flat_map(|file| named_in(&cx.program.sources[file]))
        .collect()
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

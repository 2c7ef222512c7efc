//! The parameters of an entry, and whether a protected object can keep them while the call is
//! served.

use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::source::Program;
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// A formal parameter of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Its name as declared.
    pub name: String,
    /// The subtype, as it is written in the declaration.
    pub subtype: String,
    /// Whether the acceptor receives the caller's value. This includes `out` parameters that may be
    /// passed by reference, whose unchanged components keep their values.
    pub goes_in: bool,
    /// Whether the caller receives the acceptor's value.
    pub comes_out: bool,
    /// Whether the mode is `in`.
    pub is_in: bool,
    /// Whether its discriminants may change: the kept copy can take any value, but the caller's
    /// variable perhaps cannot (RM 3.7 (6)).
    pub varies: bool,
}

/// Returns the parameters of an entry, in order.
///
/// # Errors
/// A parameter whose value cannot be kept in a component: limited, of an anonymous access type, or
/// of unknown size.
pub(super) fn of_entry(cx: &Context, entry: EntityId) -> Result<Vec<Parameter>, Reason> {
    let at = cx.names.entity(entry).at;
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    let mut found = Vec::new();
    let Some(formals) = tree.child(at.node, "formal_part") else {
        return Ok(found);
    };
    for specification in tree.all(formals, "parameter_specification") {
        let refuse = |text: &str, help: &str| Reason {
            rule: Rule::Parameter,
            at: At {
                node: specification,
                ..at
            },
            text: text.into(),
            help: help.into(),
        };
        let Some(mark) = tree.role(specification, "subtype_mark") else {
            return Err(refuse(
                "a parameter of an anonymous access type cannot be kept while the call is served",
                "give the access type a name",
            ));
        };
        if tree.child(specification, "attribute_designator").is_some() {
            return Err(refuse(
                "a value of a class-wide type has no known size",
                "pass an access value to it",
            ));
        }
        let mode = tree.child(specification, "non_empty_mode");
        let says = |word| mode.is_some_and(|m| tree.child(m, word).is_some());
        let (is_out, is_in) = (says("out"), !says("out") || says("in"));
        if is_completed_later(cx, At { node: mark, ..at }) {
            return Err(refuse(
                "a private type is complete only after the task's declaration, so no object there can keep its values",
                "declare the task in the private part or in the body",
            ));
        }
        let kept = keeping(cx, At { node: mark, ..at }).map_err(|why| match why {
            Unfit::Limited => refuse(
                "a value of a limited type cannot be kept while the call is served",
                "pass an access value to it",
            ),
            Unfit::ConstrainedAccess => refuse(
                "a subtype of an access type with a constraint, which GNAT does not compile in a record or a renaming",
                "pass a value of the access type itself",
            ),
            Unfit::Indefinite => refuse(
                "a value of unknown size cannot be kept while the call is served",
                "pass a value of a constrained subtype, an Unbounded_String or an access value",
            ),
        })?;
        let exclusion = if tree.child(specification, "null_exclusion").is_some() {
            "not null "
        } else {
            ""
        };
        for ident in tree
            .children(specification)
            .take_while(|&n| tree.kind(n) != ":")
            .filter(|&n| tree.kind(n) == "identifier")
        {
            found.push(Parameter {
                name: source.text(ident).into(),
                subtype: format!("{exclusion}{}", source.text(mark)),
                goes_in: is_in || kept != Kept::Scalar,
                comes_out: is_out,
                is_in: !is_out,
                varies: kept == Kept::Varying,
            });
        }
    }
    Ok(found)
}

/// Whether the full declaration of a private or incomplete type comes after the task with a
/// parameter of the type.
fn is_completed_later(cx: &Context, mark: At) -> bool {
    let Some(id) = cx.names.meaning(cx.program, mark) else {
        return false;
    };
    let (at, task) = (cx.names.entity(id).at, cx.task.declaration);
    let tree = &source_of(cx.program, at).tree;
    let is_private = matches!(
        tree.kind(at.node),
        "private_type_declaration" | "incomplete_type_declaration"
    );
    let package = |node| tree.ancestor(node, &["package_declaration"]);
    let key = Names::key(&cx.names.entity(id).name);
    let full = cx
        .names
        .scope(cx.names.entity(id).scope)
        .entities
        .iter()
        .find(|&&e| {
            let other = cx.names.entity(e);
            e != id && other.at.file == at.file && Names::key(&other.name) == key
        });
    is_private
        && at.file == task.file
        && package(at.node) == package(task.node)
        && full.is_none_or(|&e| tree.start(cx.names.entity(e).at.node) > tree.start(task.node))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Scalar,
    Composite,
    /// Composite, with discriminants that have default values.
    Varying,
}

enum Unfit {
    ConstrainedAccess,
    Limited,
    Indefinite,
}

/// Whether a subtype's discriminants have default values and no constraint.
pub(super) fn varies(cx: &Context, mark: At) -> bool {
    matches!(keeping(cx, mark), Ok(Kept::Varying))
}

/// Returns how a value of a subtype can be kept in a component.
fn keeping(cx: &Context, mark: At) -> Result<Kept, Unfit> {
    let Some(mut id) = cx.names.meaning(cx.program, mark) else {
        return external(&Names::key(source_of(cx.program, mark).text(mark.node)));
    };
    for _ in 0..20 {
        if matches!(
            cx.names.entity(id).kind,
            Kind::TaskType | Kind::ProtectedType
        ) {
            return Err(Unfit::Limited);
        }
        let at = cx.names.entity(id).at;
        let tree = &source_of(cx.program, at).tree;
        if tree.kind(at.node) == "subtype_declaration"
            && tree.walk(at.node).any(|n| {
                matches!(
                    tree.kind(n),
                    "index_constraint" | "discriminant_constraint" | "actual_parameter_part"
                )
            })
        {
            return if is_limited(cx.program, cx.names, id) {
                Err(Unfit::Limited)
            } else if cx.names.designated(cx.program, Ty::Named(id)) != Ty::Unknown {
                Err(Unfit::ConstrainedAccess)
            } else {
                Ok(Kept::Composite)
            };
        }
        if let Some(answer) = of_definition(cx, at) {
            return answer;
        }
        match above(cx, at) {
            Some(Above::Known(next)) if next != id => id = next,
            Some(Above::External(key)) => return external(&key),
            _ => return Ok(Kept::Composite),
        }
    }
    Ok(Kept::Composite)
}

/// Returns the answer, if the definition in a type declaration is enough for one.
fn of_definition(cx: &Context, at: At) -> Option<Result<Kept, Unfit>> {
    let tree = &source_of(cx.program, at).tree;
    let has = |kind: &str| tree.walk(at.node).any(|n| tree.kind(n) == kind);
    if tree.kind(at.node) == "subtype_declaration" || has("derived_type_definition") {
        return None;
    }
    if tree.kind(at.node) == "private_type_declaration" {
        // If the full type was given, it decides.
        let is_limited = tree.child(at.node, "limited").is_some();
        return is_limited.then_some(Err(Unfit::Limited));
    }
    if tree.kind(at.node) == "incomplete_type_declaration" {
        return None;
    }
    if has("limited") {
        return Some(Err(Unfit::Limited));
    }
    if tree.child(at.node, "array_type_definition").is_some() {
        let is_open = has("index_subtype_definition");
        return Some(if is_open {
            Err(Unfit::Indefinite)
        } else {
            Ok(Kept::Composite)
        });
    }
    let discriminants: Vec<NodeId> = tree
        .walk(at.node)
        .filter(|&n| tree.kind(n) == "discriminant_specification")
        .collect();
    let has_defaults = discriminants
        .iter()
        .all(|&d| tree.walk(d).any(|n| tree.kind(n) == "expression"));
    if !discriminants.is_empty() && !has_defaults {
        return Some(Err(Unfit::Indefinite));
    }
    let is_record = ["record_type_definition", "record_definition"]
        .iter()
        .any(|k| has(k));
    Some(Ok(if is_record && !discriminants.is_empty() {
        Kept::Varying
    } else if is_record {
        Kept::Composite
    } else {
        Kept::Scalar
    }))
}

enum Above {
    Known(EntityId),
    External(String),
}

/// Returns the parent type of a subtype or derived type, or the full type of a private one.
fn above(cx: &Context, at: At) -> Option<Above> {
    let source = source_of(cx.program, at);
    let tree = &source.tree;
    if matches!(
        tree.kind(at.node),
        "private_type_declaration" | "incomplete_type_declaration"
    ) {
        let ident = tree.child(at.node, "identifier")?;
        let id = cx.names.declared_by(At { node: ident, ..at })?;
        let full = [
            "record_type_definition",
            "array_type_definition",
            "derived_type_definition",
            "access_to_object_definition",
            "enumeration_type_definition",
        ]
        .iter()
        .find_map(|kind| cx.names.definition(cx.program, Ty::Named(id), kind))?;
        let holder = source_of(cx.program, full)
            .tree
            .ancestor(full.node, &["full_type_declaration"])?;
        let ident = source_of(cx.program, full)
            .tree
            .child(holder, "identifier")?;
        return cx
            .names
            .declared_by(At {
                node: ident,
                ..full
            })
            .map(Above::Known);
    }
    let mark = tree
        .walk(at.node)
        .find(|&n| tree.field(n) == "subtype_mark")?;
    let here = At { node: mark, ..at };
    Some(match cx.names.meaning(cx.program, here) {
        Some(id) => Above::Known(id),
        None => Above::External(Names::key(source.text(mark))),
    })
}

fn is_limited(program: &Program, names: &Names, id: EntityId) -> bool {
    let at = names.entity(names.first_subtype(program, id)).at;
    let tree = &source_of(program, at).tree;
    tree.kind(at.node) != "subtype_declaration"
        && tree.walk(at.node).any(|n| tree.kind(n) == "limited")
}

/// Returns the answer for types of unknown units, by their last name.
fn external(key: &str) -> Result<Kept, Unfit> {
    let last = key.rsplit('.').next().unwrap_or(key).trim();
    match last {
        "string" | "wide_string" | "wide_wide_string" | "stream_element_array" => {
            Err(Unfit::Indefinite)
        }
        "file_type"
        | "generator"
        | "suspension_object"
        | "timing_event"
        | "exception_occurrence"
        | "root_stream_type" => Err(Unfit::Limited),
        "integer" | "natural" | "positive" | "boolean" | "character" | "wide_character"
        | "float" | "long_float" | "short_float" | "duration" | "long_integer"
        | "short_integer" | "long_long_integer" | "long_long_float" | "count" | "time"
        | "time_span" => Ok(Kept::Scalar),
        _ => Ok(Kept::Composite),
    }
}

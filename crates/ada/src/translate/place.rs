//! Where tasks are activated: the start of the statements of the unit that declares them (RM 9.2 (3, 4)).

use super::context::Context;
use super::layout;
use crate::edit::Edit;
use crate::names::At;
use crate::syntax::NodeId;

/// What stands above the statements of a body that had none.
const BEGIN: &str = "begin\n";

/// A place for a statement that does what a task did when it was activated.
#[derive(Debug, Clone)]
pub struct Place {
    file: usize,
    /// The byte to insert at.
    byte: usize,
    /// The indentation of statements there.
    indent: String,
    /// The indentation of the unit itself.
    outer: String,
    /// Whether `begin` must be written too (a package body without statements).
    needs_begin: bool,
}

/// The places where a task, or every object of a task type, is activated, each with the calls of a procedure of it. None, if there
/// are objects that cannot be seen in the text: allocated ones, components, or none at all.
pub fn starts(cx: &Context, procedure: &str) -> Option<Vec<(Place, Vec<String>)>> {
    if !cx.task.is_type {
        let place = activation(cx, cx.task.declaration)?;
        return Some(vec![(
            place,
            vec![format!("{}.{procedure};", cx.task.name)],
        )]);
    }
    let mut found = Vec::new();
    for &at in cx.names.uses_of(cx.task.id) {
        let source = &cx.program.sources[at.file];
        let tree = &source.tree;
        let own = [cx.task.declaration, cx.task.body];
        if own
            .iter()
            .any(|o| o.file == at.file && tree.is_within(at.node, o.node))
        {
            continue;
        }
        let mut mark = at.node;
        while let Some(parent) = tree.parent(mark).filter(|&p| {
            matches!(
                tree.kind(p),
                "function_call" | "slice" | "selected_component"
            )
        }) {
            mark = parent;
        }
        let holder = tree.parent(mark)?;
        match tree.kind(holder) {
            "parameter_specification" | "access_to_object_definition" => {}
            "object_declaration" => {
                found.extend(objects(cx, At { node: holder, ..at }, procedure, false)?)
            }
            "component_definition" => {
                let array = tree
                    .parent(holder)
                    .filter(|&n| tree.kind(n) == "array_type_definition")?;
                let object = tree
                    .parent(array)
                    .filter(|&n| tree.kind(n) == "object_declaration")?;
                let bounds = &source.text[tree.start(array)..tree.start(holder)];
                if bounds.contains(',') {
                    return None;
                }
                found.extend(objects(cx, At { node: object, ..at }, procedure, true)?);
            }
            _ => return None,
        }
    }
    (!found.is_empty()).then_some(found)
}

/// The calls for the objects of one declaration.
fn objects(
    cx: &Context,
    declaration: At,
    procedure: &str,
    is_array: bool,
) -> Option<Vec<(Place, Vec<String>)>> {
    let source = &cx.program.sources[declaration.file];
    let tree = &source.tree;
    let step = layout::indent_step(source);
    let names = tree
        .children(declaration.node)
        .take_while(|&n| tree.kind(n) != ":")
        .filter(|&n| tree.kind(n) == "identifier");
    let mut found = Vec::new();
    for name in names.map(|n| source.text(n)) {
        let place = activation(cx, declaration)?;
        let lines = if is_array {
            vec![
                format!("for Index in {name}'Range loop"),
                format!("{step}{name} (Index).{procedure};"),
                "end loop;".into(),
            ]
        } else {
            vec![format!("{name}.{procedure};")]
        };
        found.push((place, lines));
    }
    Some(found)
}

/// The place where the activation of what a declaration declares comes to an end, before the unit's own statements begin.
fn activation(cx: &Context, at: At) -> Option<Place> {
    let mut unit = cx.program.sources[at.file]
        .tree
        .ancestor(
            at.node,
            &[
                "subprogram_body",
                "package_body",
                "package_declaration",
                "block_statement",
                "task_body",
                "entry_body",
            ],
        )
        .map(|node| At { node, ..at })?;
    if cx.program.sources[unit.file].tree.kind(unit.node) == "package_declaration" {
        let scope = cx.names.region(unit)?;
        unit = cx.names.entity(cx.names.scope(scope).owner?).body?;
    }
    let source = &cx.program.sources[unit.file];
    let tree = &source.tree;
    let step = layout::indent_step(source);
    let statements = tree
        .child(unit.node, "handled_sequence_of_statements")
        .and_then(|h| tree.child(h, "sequence_of_statements"));
    if let Some(first) = statements.and_then(|s| tree.children(s).next()) {
        let indent = source.indent(tree.start(first)).to_string();
        return Some(Place {
            file: unit.file,
            byte: tree.start(first),
            indent,
            outer: String::new(),
            needs_begin: false,
        });
    }
    let end: NodeId = tree
        .children(unit.node)
        .filter(|&n| tree.kind(n) == "end")
        .last()?;
    let indent = source.indent(tree.start(end)).to_string();
    Some(Place {
        file: unit.file,
        byte: tree.start(end),
        indent: format!("{indent}{step}"),
        outer: indent,
        needs_begin: true,
    })
}

impl Place {
    /// The edit that puts statements there.
    pub fn call(&self, lines: &[String]) -> Edit {
        let call = lines.join(&format!("\n{}", self.indent));
        let text = if self.needs_begin {
            format!("{BEGIN}{}{call}\n{}", self.indent, self.outer)
        } else {
            format!("{call}\n{}", self.indent)
        };
        Edit {
            file: self.file,
            range: self.byte..self.byte,
            text,
        }
    }
}

/// Edits with one `begin` where several statements were put into a body that had none.
pub fn merged(edits: Vec<Edit>) -> Vec<Edit> {
    let mut found: Vec<Edit> = Vec::new();
    for edit in edits {
        let begins = |e: &Edit| e.range.is_empty() && e.text.starts_with(BEGIN);
        let known = found
            .iter_mut()
            .find(|e| begins(e) && begins(&edit) && e.file == edit.file && e.range == edit.range);
        match known {
            Some(known) => {
                let blanks = known.text.trim_end_matches([' ', '\t']).len();
                known.text.truncate(blanks);
                known.text.push_str(&edit.text[BEGIN.len()..]);
            }
            None => found.push(edit),
        }
    }
    found
}

//! Places where tasks are activated: the start of the statements of the unit that declares them (RM
//! 9.2 (3, 4)).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::context::Context;
use super::layout;
use crate::edit::Edit;
use crate::names::At;
use crate::source::Program;
use crate::syntax::NodeId;

/// The line before the statements of a body that had none.
const BEGIN: &str = "begin\n";

/// A place for a statement that replaces a task's actions at activation.
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

/// Returns the places where a task, or every object of a task type, is activated, each with its
/// calls of a procedure. Returns none if there are objects that the text does not show: allocated
/// ones, components, or no object at all.
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

/// Returns the calls for the objects of one declaration.
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

/// Returns the place where the activation of a declaration's tasks ends, before the unit's own
/// statements begin.
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
    /// Returns the edit that inserts statements there.
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

/// Merges edits: one `begin` for several statements in a body that had none, no blank lines between
/// with clauses, and one blank line where declarations were removed.
pub fn merged(program: &Program, edits: Vec<Edit>) -> Vec<Edit> {
    let edits = with_one_begin(edits);
    let edits = without_gaps(program, edits);
    together(edits)
}

/// Combines with clauses at one place.
fn together(mut edits: Vec<Edit>) -> Vec<Edit> {
    const GAP: &str = ";\n\n";
    let is_clause =
        |e: &Edit| e.range.is_empty() && e.text.starts_with("with ") && e.text.ends_with(GAP);
    let mut last: HashMap<(usize, usize), usize> = HashMap::new();
    for index in 0..edits.len() {
        if !is_clause(&edits[index]) {
            continue;
        }
        let place = (edits[index].file, edits[index].range.start);
        if let Some(before) = last.insert(place, index) {
            edits[before].text.pop();
        }
    }
    edits
}

/// Removes a second blank line where declarations were removed.
fn without_gaps(program: &Program, mut edits: Vec<Edit>) -> Vec<Edit> {
    let is_removal = |e: &Edit| e.text.is_empty() && !e.range.is_empty();
    let mut removals: Vec<Edit> = edits.iter().filter(|e| is_removal(e)).cloned().collect();
    removals.sort_by_key(|e| (e.file, e.range.start));
    edits.retain(|e| !is_removal(e));
    let mut found: Vec<Edit> = Vec::new();
    for removal in removals {
        let text = &program.sources[removal.file].text;
        match found.last_mut() {
            Some(last)
                if last.file == removal.file
                    && text[last.range.end..removal.range.start].trim().is_empty() =>
            {
                last.range.end = removal.range.end;
            }
            _ => found.push(removal),
        }
    }
    for removal in &mut found {
        let source = &program.sources[removal.file];
        let (start, end) = (removal.range.start, removal.range.end);
        let above = start == 0
            || source.text[source.line_start(start - 1)..start]
                .trim()
                .is_empty();
        let behind = source.line_end(end);
        if above && behind > end && source.text[end..behind].trim().is_empty() {
            removal.range.end = behind;
        }
    }
    edits.extend(found);
    edits
}

fn with_one_begin(edits: Vec<Edit>) -> Vec<Edit> {
    let mut found: Vec<Edit> = Vec::new();
    let mut begun: HashMap<(usize, usize), usize> = HashMap::new();
    for edit in edits {
        if !edit.range.is_empty() || !edit.text.starts_with(BEGIN) {
            found.push(edit);
            continue;
        }
        match begun.entry((edit.file, edit.range.start)) {
            Entry::Occupied(known) => {
                let known = &mut found[*known.get()];
                let blanks = known.text.trim_end_matches([' ', '\t']).len();
                known.text.truncate(blanks);
                known.text.push_str(&edit.text[BEGIN.len()..]);
            }
            Entry::Vacant(place) => {
                place.insert(found.len());
                found.push(edit);
            }
        }
    }
    found
}

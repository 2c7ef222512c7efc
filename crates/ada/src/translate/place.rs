//! Where a single task is activated: the start of the statements of the unit that declares it (RM 9.2 (3, 4)).

use super::context::Context;
use super::layout;
use crate::edit::Edit;
use crate::names::At;
use crate::syntax::NodeId;

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

/// The place where a single task's activation comes to an end before the unit's own statements begin.
pub fn activation(cx: &Context) -> Option<Place> {
    let at = cx.task.declaration;
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
    /// The edit that puts a call there.
    pub fn call(&self, call: &str) -> Edit {
        let text = if self.needs_begin {
            format!("begin\n{}{call}\n{}", self.indent, self.outer)
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

//! The declaration of the protected object, and the declarations before it.

use super::{WIDTH, Writer, insertion_above, nested, stub_of};
use crate::edit::Edit;
use crate::names::At;
use crate::source::Source;
use crate::syntax::NodeId;
use crate::translate::ceiling::{self, Ceiling};
use crate::translate::layout;

impl<'s> Writer<'s> {
    pub(super) fn declaration(&self) -> Edit {
        let cx = self.cx();
        let at = cx.task.declaration;
        let source = &cx.program.sources[at.file];
        let tree = &source.tree;
        let step = layout::indent_step(source);
        let indent = source.indent(tree.start(at.node)).to_string();
        let mut lines = vec![self.origin()];
        let discriminants = tree
            .child(at.node, "known_discriminant_part")
            .map_or(String::new(), |n| format!(" {}", source.text(n)));
        let word = if cx.task.is_type {
            "protected type"
        } else {
            "protected"
        };
        lines.extend(layout::dedent(
            &format!(
                "{word} {}{discriminants} is{}",
                cx.task.name,
                interfaces(source, at.node)
            ),
            &indent,
        ));
        lines.extend(self.given_declarations().iter().map(|l| nested(l, &step)));
        let (public, private) = self.items(at);
        lines.extend(public.iter().map(|l| nested(l, &step)));
        if let Some(start) = self.server.start.as_ref().filter(|s| !s.places.is_empty()) {
            lines.push(format!("{step}procedure {};", start.name));
        }
        lines.extend(self.ceiling().map(|p| format!("{step}{p}")));
        let private = self.private_part(private);
        if !private.is_empty() {
            lines.push("private".into());
            lines.extend(private.iter().map(|l| nested(l, &step)));
        }
        lines.push(format!("end {};", cx.task.name));
        let text = layout::indented(&lines, &indent);
        Edit {
            file: at.file,
            range: tree.range(at.node),
            text: text.trim_end().trim_start().to_string(),
        }
    }

    /// Returns the pragma for the ceiling, if that is not the default.
    fn ceiling(&self) -> Option<String> {
        match ceiling::of(self.cx()) {
            Ceiling::Interrupt => Some("pragma Interrupt_Priority;".into()),
            Ceiling::Of(value) => Some(format!("pragma Priority ({value});")),
            Ceiling::NotLooked | Ceiling::Unknown => None,
        }
    }

    pub(super) fn origin(&self) -> String {
        let cx = self.cx();
        let kind = if cx.task.is_type { "task type" } else { "task" };
        let did = if self.server.inverted.is_some() {
            "call its clients"
        } else {
            "serve these calls"
        };
        format!(
            "--  Was {kind} {}, which did nothing but {did} (antiphon translate)",
            cx.task.name
        )
    }

    /// Returns the items of the task definition before and after `private`, except those that only
    /// tasks have.
    pub(super) fn items(&self, at: At) -> (Vec<String>, Vec<String>) {
        let source = &self.cx().program.sources[at.file];
        let tree = &source.tree;
        let (mut public, mut private) = (Vec::new(), Vec::new());
        let mut is_private = false;
        let Some(definition) = tree.child(at.node, "task_definition") else {
            return (public, private);
        };
        let mut last_line = usize::MAX;
        for item in tree.children_and_comments(definition) {
            let lines = match tree.kind(item) {
                "private" => {
                    is_private = true;
                    continue;
                }
                "comment" => {
                    let is_behind = !source.text
                        [source.line_start(tree.start(item))..tree.start(item)]
                        .trim()
                        .is_empty();
                    if is_behind
                        || last_line == usize::MAX
                            && source.line_start(tree.start(item))
                                == source.line_start(tree.start(definition))
                    {
                        continue;
                    }
                    vec![source.text(item).to_string()]
                }
                "entry_declaration" => {
                    let mut text = self
                        .procedure_text(At { node: item, ..at })
                        .unwrap_or_else(|| source.text(item).to_string());
                    if let Some(comment) = layout::comment_behind(source, tree.end(item)) {
                        text.push_str("  ");
                        text.push_str(comment);
                    }
                    layout::dedent(&text, source.indent(tree.start(item)))
                }
                _ => continue,
            };
            last_line = source.line_start(tree.end(item));
            let target = if is_private {
                &mut private
            } else {
                &mut public
            };
            if !target.is_empty()
                && source.text[..source.line_start(tree.start(item))].ends_with("\n\n")
            {
                target.push(String::new());
            }
            target.extend(lines);
        }
        (public, private)
    }

    pub(super) fn private_part(&self, entries: Vec<String>) -> Vec<String> {
        let server = self.server;
        let mut lines = entries;
        lines.extend(self.finishing_declarations());
        let started = server.start.iter().filter(|s| s.places.is_empty());
        lines.extend(started.map(|s| format!("procedure {};", s.name)));
        lines.extend(server.moved.operations.iter().flatten().cloned());
        let (updates, flags) = self.flag_declarations();
        lines.extend(updates);
        lines.extend(self.timer_declarations());
        lines.extend(
            self.machine
                .procedures
                .values()
                .map(|name| format!("procedure {name};")),
        );
        lines.extend(
            self.accepts
                .iter()
                .flat_map(|(profile, _)| profile.split('\n'))
                .map(String::from),
        );
        if !server.stages.component.is_empty() {
            let subtype = server.stage_type.as_deref().unwrap_or("Boolean");
            lines.push(format!(
                "{} : {subtype} := {};",
                server.stages.component,
                server.initial_stage()
            ));
        }
        lines.extend(server.moved.components.iter().flatten().cloned());
        lines.extend(flags);
        lines
    }

    pub(super) fn before_declaration(&self) -> Option<Edit> {
        let cx = self.cx();
        let at = cx.task.declaration;
        let source = &cx.program.sources[at.file];
        let mut lines: Vec<String> = self
            .server
            .moved
            .before_declaration
            .iter()
            .flatten()
            .cloned()
            .collect();
        if let Some(name) = &self.server.stage_type {
            let stages = &self.server.stages;
            let literals: Vec<&str> = stages
                .starting
                .iter()
                .chain(stages.waits.values())
                .chain(stages.resumed.values())
                .chain(stages.held.values())
                .chain(&stages.closed)
                .map(String::as_str)
                .collect();
            lines.push(format!("--  Where task {} would be waiting", cx.task.name));
            let line = format!("type {name} is ({});", literals.join(", "));
            if line.len() + source.indent(source.tree.start(at.node)).len() <= WIDTH {
                lines.push(line);
            } else {
                lines.push(format!("type {name} is"));
                lines.push(format!(
                    "{}({});",
                    "  ",
                    literals.join(&format!(
                        ",\n{}   ",
                        source.indent(source.tree.start(at.node))
                    ))
                ));
            }
        }
        insertion_above(cx, at, lines)
    }

    pub(super) fn before_body(&self) -> Option<Edit> {
        let cx = self.cx();
        let lines: Vec<String> = self
            .server
            .moved
            .before_body
            .iter()
            .flatten()
            .cloned()
            .collect();
        let place = stub_of(cx).unwrap_or(cx.task.body);
        insertion_above(cx, place, lines)
    }
}

/// ` new Interface and Interface with`, if the task implements any.
fn interfaces(source: &Source, declaration: NodeId) -> String {
    let tree = &source.tree;
    let (new, with) = (
        tree.child(declaration, "new"),
        tree.child(declaration, "with"),
    );
    let (Some(new), Some(with)) = (new, with) else {
        return String::new();
    };
    let text = &source.text[tree.start(new)..tree.end(with)];
    format!(" {}", text.split_whitespace().collect::<Vec<_>>().join(" "))
}

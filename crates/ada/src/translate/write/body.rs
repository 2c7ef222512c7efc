//! The protected body: private operations, then the entries.

use super::Writer;
use crate::edit::Edit;
use crate::flow::Point;
use crate::translate::code::{self, Code};
use crate::translate::{exceptions, layout, statement_names};
use crate::verdict::Reason;

impl<'s> Writer<'s> {
    pub(super) fn body(&mut self) -> Result<Edit, Vec<Reason>> {
        let cx = self.cx();
        let source = cx.source();
        let indent = source
            .indent(source.tree.start(cx.task.body.node))
            .to_string();
        let mut lines = vec![format!("protected body {} is", cx.task.name)];
        let mut operations: Vec<Vec<String>> = self.server.moved.operation_bodies.clone();
        operations.extend(self.update_body());
        operations.extend(self.start_body()?);
        operations.extend(self.timer_bodies());
        operations.extend(self.procedure_bodies());
        for entry in 0..cx.task.entries.len() {
            if self.server.inverted.is_some() {
                operations.extend(self.given_bodies(entry));
                continue;
            }
            operations.push(self.entry_body(entry));
            operations.extend(self.finishing_body(entry));
        }
        operations.splice(0..0, self.accepts.iter().map(|(_, whole)| whole.clone()));
        let written = operations
            .iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        let lost = self.lost_comments(&written);
        if !lost.is_empty() {
            lines.push(String::new());
            lines.extend(self.nest(lost));
        }
        for operation in operations {
            lines.push(String::new());
            lines.extend(self.nest(operation));
        }
        lines.push(String::new());
        lines.push(format!("end {};", cx.task.name));
        let text = layout::indented(&lines, &indent);
        Ok(Edit {
            file: cx.task.body.file,
            range: source.tree.range(cx.task.body.node),
            text: text.trim().to_string(),
        })
    }

    /// Returns comments of the task's body beside code that the object does not need.
    pub(super) fn lost_comments(&self, written: &str) -> Vec<String> {
        let source = self.cx().source();
        let moved = [
            &self.server.moved.before_body,
            &self.server.moved.before_declaration,
            &self.server.moved.components,
        ];
        let elsewhere: String = moved
            .iter()
            .flat_map(|m| m.iter().flatten())
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        let tree = &source.tree;
        let comments = tree
            .walk(self.cx().task.body.node)
            .filter(|&n| tree.kind(n) == "comment")
            .map(|n| source.text(n).trim_end().to_string());
        let is_rule = |c: &str| c.trim_start_matches('-').trim().is_empty();
        comments
            .filter(|c| {
                !is_rule(c) && !written.contains(c.as_str()) && !elsewhere.contains(c.as_str())
            })
            .collect()
    }

    pub(super) fn start_body(&mut self) -> Result<Option<Vec<String>>, Vec<Reason>> {
        let Some(start) = &self.server.start else {
            return Ok(None);
        };
        let cx = self.cx();
        let mut body = vec![Code::Lines(self.server.moved.start.clone())];
        let rest = self.machine.code_from(start.point, None);
        if exceptions::must_watch_rest(cx, start.point) {
            body.extend(rest);
            body = vec![exceptions::watched(
                cx,
                &mut self.machine,
                body,
                None,
                false,
            )];
        } else {
            body.extend(rest);
        }
        Ok(Some(self.kept_up(
            &format!("procedure {} is", start.name),
            &start.name,
            &[],
            &body,
        )))
    }

    pub(super) fn procedure_bodies(&mut self) -> Vec<Vec<String>> {
        let procedures: Vec<(Point, String)> = self
            .machine
            .procedures
            .iter()
            .map(|(p, n)| (*p, n.clone()))
            .collect();
        let mut found = Vec::new();
        for (point, name) in procedures {
            let body = self.machine.procedure_body(point);
            found.push(self.subprogram(&format!("procedure {name} is"), &name, &[], &body));
        }
        found
    }

    pub(super) fn subprogram(
        &self,
        header: &str,
        name: &str,
        declarations: &[String],
        body: &[Code],
    ) -> Vec<String> {
        let mut lines: Vec<String> = header.split('\n').map(String::from).collect();
        lines.extend(self.nest(declarations.to_vec()));
        lines.push("begin".into());
        let mut inner = code::print(&statement_names::keep_apart(body), &self.step);
        if inner.is_empty() {
            inner.push("null;".into());
        }
        lines.extend(self.nest(inner));
        lines.push(format!("end {name};"));
        lines
    }
}

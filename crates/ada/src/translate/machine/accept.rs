//! The bodies of accept statements.

use super::Machine;
use crate::flow::Site;
use crate::source::Source;
use crate::syntax::NodeId;
use crate::translate::code::{self, Code};
use crate::translate::layout::{self, Substitutions};
use crate::translate::statement_names;

impl<'a> Machine<'a> {
    /// Returns the code of a site: the accept's body, then the way to the next wait.
    pub fn site_code(&mut self, site: &Site) -> (Vec<Code>, Vec<Code>) {
        let after = self.way_on(self.flow.resume(site), Some(site.wait));
        if self.flow.waits_inside(site.accept) {
            let kept = self.nested.kept.get(&site.accept).cloned();
            let code = kept.map(Code::Lines).into_iter().chain(after).collect();
            return (vec![], code);
        }
        let tree = &self.source.tree;
        let Some(handled) = tree.child(site.accept, "handled_sequence_of_statements") else {
            return (vec![], after);
        };
        let leaving: Vec<NodeId> = leaving(self.source, site.accept, "requeue_statement");
        let mut changes = self.changes.clone();
        if !code::is_empty(&after) {
            for (number, node) in leaving.into_iter().enumerate() {
                let indent = self.source.indent(tree.start(node));
                let step = layout::indent_step(self.source);
                let ending = format!("Early_{}", number + 1);
                let lines = statement_names::for_copy(code::print(&after, &step), &ending);
                let text: String = lines.iter().map(|l| format!("{l}\n{indent}")).collect();
                changes.add(tree.start(node)..tree.start(node), text);
            }
        }
        let body = self.handled_code(handled, &changes);
        (body, after)
    }

    /// Returns the statements of an accept's body, in a block if it has handlers.
    pub fn handled_code(&self, handled: NodeId, changes: &Substitutions) -> Vec<Code> {
        let tree = &self.source.tree;
        let mut body = Vec::new();
        let sequence = tree.child(handled, "sequence_of_statements");
        for statement in sequence.into_iter().flat_map(|s| tree.children(s)) {
            // Before Ada 2012 a label needs a statement.
            let is_labelled = tree
                .previous(statement)
                .is_some_and(|p| tree.kind(p) == "label");
            if tree.kind(statement) == "null_statement"
                && !is_labelled
                && layout::comments_above(self.source, tree.start(statement)).is_empty()
            {
                continue;
            }
            let mut lines = layout::lines_of(self.source, statement, changes);
            if !body.is_empty() && layout::has_blank_above(self.source, tree.start(statement)) {
                lines.insert(0, String::new());
            }
            body.push(Code::Lines(lines));
        }
        let handlers: Vec<NodeId> = tree.all(handled, "exception_handler").collect();
        if handlers.is_empty() {
            return body;
        }
        let handler_lines = handlers
            .iter()
            .flat_map(|&h| layout::lines_of(self.source, h, changes))
            .collect();
        let step = layout::indent_step(self.source);
        let handler_lines = layout_indent(handler_lines, &step);
        let arms = vec![
            ("begin".to_string(), body),
            ("exception".to_string(), vec![Code::Lines(handler_lines)]),
        ];
        vec![Code::Compound {
            open: None,
            arms,
            close: "end;".into(),
            is_tail: false,
        }]
    }
}

pub(super) fn layout_indent(lines: Vec<String>, step: &str) -> Vec<String> {
    lines
        .into_iter()
        .map(|l| {
            if l.is_empty() {
                l
            } else {
                format!("{step}{l}")
            }
        })
        .collect()
}

/// Returns the statements of a kind (`simple_return_statement` or `requeue_statement`) that leave
/// an accept's body.
pub fn leaving(source: &Source, accept: NodeId, kind: &str) -> Vec<NodeId> {
    let tree = &source.tree;
    tree.walk(accept)
        .filter(|&n| tree.kind(n) == kind)
        .filter(|&n| tree.ancestor(n, &["accept_statement", "subprogram_body"]) == Some(accept))
        .collect()
}

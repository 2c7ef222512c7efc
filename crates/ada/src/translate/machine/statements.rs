//! Statements between waits that have waits or jumps inside.

use super::Machine;
use crate::flow::Point;
use crate::syntax::NodeId;
use crate::translate::code::Code;
use crate::translate::layout;

impl<'a> Machine<'a> {
    pub(super) fn text(&self, node: NodeId) -> String {
        let text = self
            .changes
            .apply(self.source, self.source.tree.range(node));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn copy(&self, node: NodeId, out: &mut Vec<Code>) {
        let mut lines = layout::lines_of(self.source, node, self.changes);
        if matches!(out.last(), Some(Code::Lines(_)))
            && layout::has_blank_above(self.source, self.source.tree.start(node))
        {
            lines.insert(0, String::new());
        }
        out.push(Code::Lines(lines));
    }

    pub(super) fn statement(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        if let Some(wait) = self.flow.wait_at(node) {
            return self.wait(wait, known, out);
        }
        let tree = &self.source.tree;
        if self.flow.is_plain(node) {
            if tree.kind(node) != "null_statement" {
                self.copy(node, out);
            }
            return (tree.kind(node) != "raise_statement").then(|| self.flow.after(node));
        }
        self.comments(node, out);
        match tree.kind(node) {
            "if_statement" | "case_statement" => self.branch(node, known, out),
            "loop_statement" => Some(self.enter_loop(node, known, out)),
            "block_statement" => {
                if let Some(starts) = self.block_starts.get(&node) {
                    out.push(Code::Lines(starts.clone()));
                }
                Some(self.flow.first(node, self.flow.sequence(node)))
            }
            "exit_statement" => self.exit(node, known, out),
            "simple_return_statement" | "requeue_statement" => self.leave_accept(node, known, out),
            _ => {
                self.close(out);
                None
            }
        }
    }

    pub(super) fn comments(&self, node: NodeId, out: &mut Vec<Code>) {
        let lines = layout::comments_above(self.source, self.source.tree.start(node));
        // Comments above a loop around accepts of one entry move to that entry.
        let is_elsewhere =
            self.source.tree.kind(node) == "loop_statement" && self.flow.explains(node).is_some();
        if !lines.is_empty() && !is_elsewhere {
            out.push(Code::Lines(lines));
        }
    }

    pub(super) fn branch(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        let join = self.flow.after(node);
        let mut falls = !self.flow.is_exhaustive(node);
        let mut arms = Vec::new();
        for (header, sequence) in self.headers(node) {
            let mut body = Vec::new();
            falls |= self.emit(
                self.flow.first(node, Some(sequence)),
                Some(join),
                known,
                &mut body,
            );
            arms.push((header, body));
        }
        let is_if = self.source.tree.kind(node) == "if_statement";
        let open = (!is_if).then(|| {
            let selector = self
                .source
                .tree
                .child(node, "expression")
                .map_or(String::new(), |n| self.text(n));
            format!("case {selector} is")
        });
        let close = if is_if { "end if;" } else { "end case;" };
        out.push(Code::Compound {
            open,
            arms,
            close: close.into(),
            is_tail: true,
        });
        falls.then_some(join)
    }

    /// Returns the header line and the statements of each branch.
    pub(super) fn headers(&self, node: NodeId) -> Vec<(String, NodeId)> {
        let tree = &self.source.tree;
        let mut found = Vec::new();
        let mut header = String::new();
        for child in tree.children(node) {
            match tree.kind(child) {
                "if" => header = "if".into(),
                "else" => header = "else".into(),
                "expression" => header = format!("if {} then", self.text(child)),
                "sequence_of_statements" => found.push((header.clone(), child)),
                "elsif_statement_item" => {
                    let condition = tree
                        .role(child, "condition")
                        .map_or(String::new(), |n| self.text(n));
                    found.extend(
                        tree.child(child, "sequence_of_statements")
                            .map(|s| (format!("elsif {condition} then"), s)),
                    );
                }
                "case_statement_alternative" => {
                    let choices = tree
                        .child(child, "discrete_choice_list")
                        .map_or(String::new(), |n| self.text(n));
                    found.extend(
                        tree.child(child, "sequence_of_statements")
                            .map(|s| (format!("when {choices} =>"), s)),
                    );
                }
                _ => {}
            }
        }
        found
    }

    pub(super) fn exit(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        let tree = &self.source.tree;
        let target = self.flow.exit_target(node)?;
        let condition = tree.role(node, "condition").map(|n| self.text(n));
        if self.real_loops.contains(&target) {
            // A loop that was removed inside a real one needs no name. The real one keeps its own.
            let name = if self.real_loops.last() == Some(&target) {
                None
            } else {
                self.flow.label(target)
            };
            let name = name.map_or(String::new(), |n| format!(" {n}"));
            let when = condition
                .as_ref()
                .map_or(String::new(), |c| format!(" when {c}"));
            out.push(Code::line(format!("exit{name}{when};")));
            return condition.map(|_| self.flow.after(node));
        }
        let Some(condition) = condition else {
            return Some(self.flow.after(target));
        };
        let mut body = Vec::new();
        self.emit(self.flow.after(target), None, known, &mut body);
        let arms = vec![(format!("if {condition} then"), body)];
        let after = self.flow.after(node);
        out.push(Code::Compound {
            open: None,
            arms,
            close: "end if;".into(),
            is_tail: true,
        });
        Some(after)
    }
}

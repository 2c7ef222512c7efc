//! Loops with waits inside.

use super::{Counter, Machine};
use crate::flow::{Flow, Point};
use crate::syntax::NodeId;
use crate::translate::code::Code;

impl<'a> Machine<'a> {
    pub(super) fn enter_loop(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Point {
        let Some(counter) = self.counters.get(&node) else {
            return Point::LoopTop(node);
        };
        let start = Code::line(format!("{} := {};", counter.name, counter.first));
        if let Some((name, _, value)) = &counter.bound {
            out.push(Code::line(format!("{name} := {value};")));
        }
        if counter.is_entered {
            out.push(start);
            return Point::LoopTop(node);
        }
        let order = if counter.is_reverse { ">=" } else { "<=" };
        let header = format!("if {} {order} {} then", counter.first, counter.last);
        let after = self.flow.after(node);
        let mut body = vec![start];
        self.emit(Point::LoopTop(node), Some(after), known, &mut body);
        out.push(Code::Compound {
            open: None,
            arms: vec![(header, body)],
            close: "end if;".into(),
            is_tail: true,
        });
        after
    }

    pub(super) fn loop_top(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        let tree = &self.source.tree;
        let first = self.flow.first(node, tree.role(node, "statements"));
        let after = self.flow.after(node);
        let condition = tree
            .child(node, "iteration_scheme")
            .and_then(|n| tree.role(n, "condition"))
            .map(|n| self.text(n));
        let condition = condition.filter(|_| self.flow.is_while(node));
        if self.flow.goes_round(node) {
            return self.real_loop(node, condition, first, after, known, out);
        }
        let Some(condition) = condition else {
            return Some(first);
        };
        let mut body = Vec::new();
        self.emit(first, Some(after), known, &mut body);
        out.push(Code::Compound {
            open: None,
            arms: vec![(format!("if {condition} then"), body)],
            close: "end if;".into(),
            is_tail: true,
        });
        Some(after)
    }

    /// Writes a loop that can iterate without waiting.
    pub(super) fn real_loop(
        &mut self,
        node: NodeId,
        condition: Option<String>,
        first: Point,
        after: Point,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        self.real_loops.push(node);
        let mut body = Vec::new();
        let falls = self.emit(first, Some(Point::LoopNext(node)), known, &mut body);
        if falls && let Some(counter) = self.counters.get(&node) {
            body.push(Code::line(format!(
                "exit when {} = {};",
                counter.name, counter.last
            )));
            body.push(Code::line(step(counter)));
        }
        self.real_loops.pop();
        let label = self
            .flow
            .label(node)
            .filter(|_| is_left_from_inside(self.flow, node));
        let mut header = condition
            .as_ref()
            .map_or("loop".to_string(), |c| format!("while {c} loop"));
        let mut close = "end loop".to_string();
        if let Some(label) = label {
            header = format!("{label} : {header}");
            close = format!("{close} {label}");
        }
        let leaves =
            condition.is_some() || self.counters.contains_key(&node) || self.has_exit(node);
        out.push(Code::Compound {
            open: None,
            arms: vec![(header, body)],
            close: format!("{close};"),
            is_tail: false,
        });
        leaves.then_some(after)
    }

    pub(super) fn has_exit(&self, node: NodeId) -> bool {
        let tree = &self.source.tree;
        tree.walk(node)
            .any(|n| tree.kind(n) == "exit_statement" && self.flow.exit_target(n) == Some(node))
    }

    pub(super) fn loop_next(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Point {
        let Some(counter) = self.counters.get(&node) else {
            return Point::LoopTop(node);
        };
        let order = if counter.is_reverse { ">" } else { "<" };
        let header = format!("if {} {order} {} then", counter.name, counter.last);
        let after = self.flow.after(node);
        let mut body = vec![Code::line(step(counter))];
        self.emit(Point::LoopTop(node), Some(after), known, &mut body);
        out.push(Code::Compound {
            open: None,
            arms: vec![(header, body)],
            close: "end if;".into(),
            is_tail: true,
        });
        after
    }
}

/// Whether an exit in an inner loop that can iterate leaves this outer one. Then the outer loop
/// needs its name, and its code must not be repeated.
pub fn is_left_from_inside(flow: &Flow, node: NodeId) -> bool {
    let tree = &flow.program.sources[flow.file].tree;
    tree.walk(node)
        .filter(|&n| tree.kind(n) == "exit_statement" && flow.exit_target(n) == Some(node))
        .any(|exit| {
            let between = tree.ancestors(exit).take_while(|&n| n != node);
            between
                .filter(|&n| tree.kind(n) == "loop_statement")
                .any(|inner| flow.goes_round(inner))
        })
}

/// Returns the statement that steps a counter.
pub fn step(counter: &Counter) -> String {
    let name = &counter.name;
    match (&counter.discrete, counter.is_reverse) {
        (None, false) => format!("{name} := {name} + 1;"),
        (None, true) => format!("{name} := {name} - 1;"),
        (Some(prefix), false) => format!("{name} := {prefix}'Succ ({name});"),
        (Some(prefix), true) => format!("{name} := {prefix}'Pred ({name});"),
    }
}

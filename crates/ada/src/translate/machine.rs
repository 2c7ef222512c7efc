//! The state machine of a server: the code between two waits, for an entry body or a private procedure.
//!
//! The paper's stage counter (section 6.1, figure 5) is here the wait the task would stand at. Code is made by following the points of
//! [`Flow`]: plain statements are copied, branches keep their shape, a loop that can go round without waiting stays a loop, and
//! a wait becomes an assignment to the stage. Loops that wait in each round need no loop any more (figure 6).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::code::{self, Code};
use super::layout::{self, Substitutions};
use crate::flow::{Flow, Point, Site};
use crate::source::Source;
use crate::syntax::NodeId;

/// How the place of the task is kept.
#[derive(Debug, Clone, Default)]
pub struct Stages {
    /// The component's name; empty if one wait is all there is.
    pub component: String,
    /// A literal for each wait (by index in the flow), if the stage is an enumeration.
    pub waits: BTreeMap<usize, String>,
    /// The literal, or for a Boolean component the assignment's value, of a completed server.
    pub closed: Option<String>,
    /// The literal of a server whose `Start` was not called yet.
    pub starting: Option<String>,
    /// Whether the component is a Boolean that says one thing.
    pub is_boolean: bool,
}

/// The variable that a `for` loop with waits inside becomes.
#[derive(Debug, Clone)]
pub struct Counter {
    /// The component.
    pub name: String,
    /// Its subtype.
    pub subtype: String,
    /// The first and last value in the loop's own order.
    pub first: String,
    /// The last value.
    pub last: String,
    /// The attribute's prefix for `Succ` and `Pred`, or `None` for integers.
    pub discrete: Option<String>,
    /// Whether it counts down.
    pub is_reverse: bool,
    /// Whether the range cannot be empty.
    pub is_entered: bool,
    /// Whether the first value may stand in the component's declaration.
    pub has_static_first: bool,
    /// A component that keeps a last value that must be computed when the loop is entered, its subtype and the value.
    pub bound: Option<(String, String, String)>,
}

/// Generates the code between waits.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The graph.
    pub flow: &'a Flow<'a>,
    /// The file of the body.
    pub source: &'a Source,
    /// Changes of names in copied code.
    pub changes: &'a Substitutions,
    /// How the place is kept.
    pub stages: &'a Stages,
    /// The counters of `for` loops.
    pub counters: &'a HashMap<NodeId, Counter>,
    /// Assignments that stand for the declarations of blocks.
    pub block_starts: &'a HashMap<NodeId, Vec<String>>,
    /// Private procedures, by the point they go on from.
    pub procedures: BTreeMap<Point, String>,
    /// How often each procedure was called by what was generated.
    pub calls: BTreeMap<Point, usize>,
    defining: Option<Point>,
    real_loops: Vec<NodeId>,
}

impl<'a> Machine<'a> {
    /// A machine without procedures yet.
    pub fn new(
        flow: &'a Flow<'a>,
        source: &'a Source,
        changes: &'a Substitutions,
        stages: &'a Stages,
        counters: &'a HashMap<NodeId, Counter>,
        block_starts: &'a HashMap<NodeId, Vec<String>>,
    ) -> Self {
        let (procedures, calls) = (BTreeMap::new(), BTreeMap::new());
        Machine {
            flow,
            source,
            changes,
            stages,
            counters,
            block_starts,
            procedures,
            calls,
            defining: None,
            real_loops: vec![],
        }
    }

    /// The code from a point to the next waits.
    pub fn code_from(&mut self, point: Point, known: Option<usize>) -> Vec<Code> {
        let mut out = Vec::new();
        self.emit(point, None, known, &mut out);
        code::trim_returns(&mut out);
        out
    }

    /// The body of the procedure of a point.
    pub fn procedure_body(&mut self, point: Point) -> Vec<Code> {
        self.defining = Some(point);
        self.code_from(point, None)
    }

    /// Makes private procedures of code that several entries would repeat; code of one or two lines is repeated.
    pub fn share(
        &mut self,
        roots: &[Point],
        forced: &BTreeSet<Point>,
        mut name: impl FnMut(Point) -> String,
    ) {
        let mut candidates = self.joins(roots);
        candidates.extend(forced);
        // Names are given at the end, to those that stay.
        self.procedures = candidates
            .iter()
            .map(|&p| (p, "Advance".to_string()))
            .collect();
        loop {
            let before = self.procedures.len();
            for &point in &candidates {
                if self.procedures.contains_key(&point)
                    && !forced.contains(&point)
                    && code::size(&self.procedure_body(point)) <= 2
                {
                    self.procedures.remove(&point);
                }
            }
            self.count_calls(roots);
            let calls = self.calls.clone();
            self.procedures
                .retain(|p, _| forced.contains(p) || calls.get(p).copied().unwrap_or(0) > 1);
            if self.procedures.len() == before {
                self.procedures
                    .iter_mut()
                    .for_each(|(&point, own)| *own = name(point));
                return;
            }
        }
    }

    fn count_calls(&mut self, roots: &[Point]) {
        self.calls.clear();
        for &root in roots {
            self.code_from(root, None);
        }
        let points: Vec<Point> = self.procedures.keys().copied().collect();
        for point in points {
            self.procedure_body(point);
        }
    }

    /// Points at which the code of several roots comes together.
    fn joins(&self, roots: &[Point]) -> BTreeSet<Point> {
        let mut users: BTreeMap<Point, BTreeSet<usize>> = BTreeMap::new();
        for (index, &root) in roots.iter().enumerate() {
            for point in self.flow.reach(root) {
                users.entry(point).or_default().insert(index);
            }
        }
        let mut found: BTreeSet<Point> = roots
            .iter()
            .copied()
            .filter(|p| users[p].len() > 1)
            .collect();
        for (point, own) in &users {
            found.extend(
                self.flow
                    .next(*point)
                    .into_iter()
                    .filter(|p| users[p].len() > 1 && users[p] != *own),
            );
        }
        found.extend(self.exits(users.keys().copied()));
        found.retain(|&p| match p {
            Point::Before(node) => self.flow.wait_at(node).is_none(),
            Point::End | Point::AcceptEnd(_) => false,
            _ => true,
        });
        found
    }

    /// Points behind loops that are left in several places: each exit would repeat what follows.
    fn exits(&self, points: impl Iterator<Item = Point>) -> Vec<Point> {
        let tree = &self.source.tree;
        let mut ways: BTreeMap<Point, usize> = BTreeMap::new();
        let mut loops = BTreeSet::new();
        for point in points {
            self.flow
                .next(point)
                .into_iter()
                .for_each(|next| *ways.entry(next).or_default() += 1);
            if let Point::LoopTop(node) = point {
                loops.insert(node);
            }
        }
        let left = loops.into_iter().filter(|&n| {
            tree.walk(n)
                .any(|e| tree.kind(e) == "exit_statement" && self.flow.exit_target(e) == Some(n))
        });
        left.map(|n| self.flow.after(n))
            .filter(|p| ways.get(p).is_some_and(|&w| w > 1))
            .collect()
    }

    /// Follows points from `from`; true if `until` was reached, false if all paths came to a wait or the end.
    fn emit(
        &mut self,
        from: Point,
        until: Option<Point>,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> bool {
        let mut point = from;
        loop {
            if Some(point) == until {
                return true;
            }
            if self.defining.take() != Some(point)
                && let Some(name) = self.procedures.get(&point)
            {
                out.extend([Code::line(format!("{name};")), Code::Return]);
                *self.calls.entry(point).or_default() += 1;
                return false;
            }
            let next = match point {
                Point::End | Point::AcceptEnd(_) => {
                    self.close(out);
                    None
                }
                Point::LoopTop(node) => self.loop_top(node, known, out),
                Point::LoopNext(node) => Some(self.loop_next(node, known, out)),
                Point::Before(node) => self.statement(node, known, out),
            };
            match next {
                Some(next) => point = next,
                None => return false,
            }
        }
    }

    fn close(&self, out: &mut Vec<Code>) {
        if let Some(closed) = &self.stages.closed {
            out.push(Code::line(format!(
                "{} := {closed};",
                self.stages.component
            )));
        }
        out.push(Code::Return);
    }

    fn wait(&self, wait: usize, known: Option<usize>, out: &mut Vec<Code>) {
        if known != Some(wait)
            && let Some(literal) = self.stages.waits.get(&wait)
        {
            out.push(Code::line(format!(
                "{} := {literal};",
                self.stages.component
            )));
        }
        out.push(Code::Return);
    }

    fn text(&self, node: NodeId) -> String {
        let text = self
            .changes
            .apply(self.source, self.source.tree.range(node));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn copy(&self, node: NodeId, out: &mut Vec<Code>) {
        let mut lines = layout::lines_of(self.source, node, self.changes);
        if matches!(out.last(), Some(Code::Lines(_)))
            && layout::has_blank_above(self.source, self.source.tree.start(node))
        {
            lines.insert(0, String::new());
        }
        out.push(Code::Lines(lines));
    }

    fn statement(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        if let Some(wait) = self.flow.wait_at(node) {
            self.wait(wait, known, out);
            return None;
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
            _ => {
                self.close(out);
                None
            }
        }
    }

    fn comments(&self, node: NodeId, out: &mut Vec<Code>) {
        let lines = layout::comments_above(self.source, self.source.tree.start(node));
        if !lines.is_empty() && self.source.tree.kind(node) != "loop_statement" {
            out.push(Code::Lines(lines));
        }
    }

    fn branch(&mut self, node: NodeId, known: Option<usize>, out: &mut Vec<Code>) -> Option<Point> {
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

    /// The header line and the statements of each branch.
    fn headers(&self, node: NodeId) -> Vec<(String, NodeId)> {
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

    fn exit(&mut self, node: NodeId, known: Option<usize>, out: &mut Vec<Code>) -> Option<Point> {
        let tree = &self.source.tree;
        let target = self.flow.exit_target(node)?;
        let condition = tree.role(node, "condition").map(|n| self.text(n));
        if self.real_loops.contains(&target) {
            // A loop that was dropped inside a real one needs no name; the real one keeps its own.
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
        // A short way on reads better as the other branch than behind a return.
        let mut rest = Vec::new();
        let calls = self.calls.clone();
        self.emit(after, None, known, &mut rest);
        code::trim_returns(&mut rest);
        if self.real_loops.is_empty() && code::size(&rest) <= 4 {
            let mut arms = arms;
            arms.push(("else".into(), rest));
            out.push(Code::Compound {
                open: None,
                arms,
                close: "end if;".into(),
                is_tail: true,
            });
            out.push(Code::Return);
            return None;
        }
        self.calls = calls;
        out.push(Code::Compound {
            open: None,
            arms,
            close: "end if;".into(),
            is_tail: true,
        });
        Some(after)
    }

    fn enter_loop(&mut self, node: NodeId, known: Option<usize>, out: &mut Vec<Code>) -> Point {
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

    fn loop_top(
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

    /// A loop that can go round without waiting.
    fn real_loop(
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

    fn has_exit(&self, node: NodeId) -> bool {
        let tree = &self.source.tree;
        tree.walk(node)
            .any(|n| tree.kind(n) == "exit_statement" && self.flow.exit_target(n) == Some(node))
    }

    fn loop_next(&mut self, node: NodeId, known: Option<usize>, out: &mut Vec<Code>) -> Point {
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

    /// The code of a site: the accept's body, then the way to the next wait.
    pub fn site_code(&mut self, site: &Site) -> (Vec<Code>, Vec<Code>) {
        let after = self.code_from(self.flow.resume(site), Some(site.wait));
        let tree = &self.source.tree;
        let Some(handled) = tree.child(site.accept, "handled_sequence_of_statements") else {
            return (vec![], after);
        };
        let leaving: Vec<NodeId> = leaving(self.source, site.accept, "requeue_statement");
        let mut changes = self.changes.clone();
        if !code::is_empty(&after) {
            for node in leaving {
                let indent = self.source.indent(tree.start(node));
                let lines = code::print(&after, &layout::indent_step(self.source));
                let text: String = lines.iter().map(|l| format!("{l}\n{indent}")).collect();
                changes.add(tree.start(node)..tree.start(node), text);
            }
        }
        let body = self.handled_code(handled, &changes);
        (body, after)
    }

    /// The statements of an accept's body, in a block if it has handlers.
    pub fn handled_code(&self, handled: NodeId, changes: &Substitutions) -> Vec<Code> {
        let tree = &self.source.tree;
        let mut body = Vec::new();
        let sequence = tree.child(handled, "sequence_of_statements");
        for statement in sequence.into_iter().flat_map(|s| tree.children(s)) {
            if tree.kind(statement) == "null_statement"
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

fn layout_indent(lines: Vec<String>, step: &str) -> Vec<String> {
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

/// The statements of a kind (`simple_return_statement` or `requeue_statement`) that leave an accept's body.
pub fn leaving(source: &Source, accept: NodeId, kind: &str) -> Vec<NodeId> {
    let tree = &source.tree;
    tree.walk(accept)
        .filter(|&n| tree.kind(n) == kind)
        .filter(|&n| tree.ancestor(n, &["accept_statement", "subprogram_body"]) == Some(accept))
        .collect()
}

/// Whether an exit from a loop that can go round, inside another such loop, leaves the outer one: then the outer loop needs its name, and
/// its code must not be repeated.
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

/// The statement that steps a counter.
pub fn step(counter: &Counter) -> String {
    let name = &counter.name;
    match (&counter.discrete, counter.is_reverse) {
        (None, false) => format!("{name} := {name} + 1;"),
        (None, true) => format!("{name} := {name} - 1;"),
        (Some(prefix), false) => format!("{name} := {prefix}'Succ ({name});"),
        (Some(prefix), true) => format!("{name} := {prefix}'Pred ({name});"),
    }
}

//! The first pass over a task body: its waits, and the statements that must be followed.

use std::collections::{HashMap, HashSet};

use super::{Flow, Site, Wait};
use crate::model::Task;
use crate::names::values::Bounds;
use crate::names::{At, Names};
use crate::source::Program;
use crate::syntax::NodeId;

impl<'p> Flow<'p> {
    /// Returns the graph of the body of a task that only calls. Each call is a wait, given with the
    /// index of the entry.
    pub fn of_calls(
        program: &'p Program,
        names: &Names,
        task: &Task,
        calls: &[(NodeId, usize)],
    ) -> Flow<'p> {
        let mut flow = Flow::empty(program, task);
        for &(node, entry) in calls {
            let wait = flow.add_wait(node);
            flow.sites.push(Site {
                accept: node,
                entry,
                guard: None,
                wait,
            });
            flow.waits[wait].sites.push(flow.sites.len() - 1);
        }
        flow.mark_jumps();
        flow.mark_entered(names);
        flow
    }

    fn empty(program: &'p Program, task: &Task) -> Flow<'p> {
        let (file, body) = (task.body.file, task.body.node);
        Flow {
            program,
            file,
            body,
            waits: vec![],
            sites: vec![],
            by_node: HashMap::new(),
            site_of: HashMap::new(),
            structured: HashSet::new(),
            nesting: HashSet::new(),
            entered: HashSet::new(),
        }
    }

    fn mark_entered(&mut self, names: &Names) {
        let tree = self.tree();
        let loops = tree
            .walk(self.body)
            .filter(|&n| tree.kind(n) == "loop_parameter_specification");
        for specification in loops {
            if is_entered(self.program, names, self.at(specification)) {
                let around = tree.ancestor(specification, &["loop_statement"]);
                self.entered.extend(around);
            }
        }
    }

    /// Returns the graph of a task's body.
    pub fn of(program: &'p Program, names: &Names, task: &Task) -> Flow<'p> {
        let body = task.body.node;
        let mut flow = Flow::empty(program, task);
        let tree = flow.tree();
        // A task inside the task has waits of its own.
        let is_own = |&n: &NodeId| n == body || tree.ancestor(n, &["task_body"]) == Some(body);
        let nodes: Vec<NodeId> = tree.walk(body).filter(is_own).collect();
        for node in nodes {
            match tree.kind(node) {
                "selective_accept" => flow.add_select(names, task, node),
                "accept_statement" if !flow.site_of.contains_key(&node) => {
                    let wait = flow.add_wait(node);
                    flow.add_site(names, task, node, None, wait);
                }
                // The grammar may take an entry call for a select's only alternative. Then nothing
                // is accepted.
                _ => {}
            }
        }
        flow.mark_jumps();
        flow.mark_entered(names);
        flow
    }

    pub(super) fn add_wait(&mut self, node: NodeId) -> usize {
        let tree = self.tree();
        self.waits.push(Wait {
            node,
            sites: vec![],
            delay: None,
            delay_guard: None,
            otherwise: None,
            has_terminate: false,
            has_several_delays: false,
            is_polling: false,
        });
        let wait = self.waits.len() - 1;
        self.by_node.insert(node, wait);
        for above in tree.ancestors(node).take_while(|&n| n != self.body) {
            self.structured.insert(above);
            if tree.kind(above) == "accept_statement" {
                self.nesting.insert(above);
            }
        }
        self.structured.insert(node);
        wait
    }

    pub(super) fn add_site(
        &mut self,
        names: &Names,
        task: &Task,
        accept: NodeId,
        guard: Option<NodeId>,
        wait: usize,
    ) {
        let Some(entry) = task.accepted(self.program, names, accept) else {
            return;
        };
        self.sites.push(Site {
            accept,
            entry,
            guard,
            wait,
        });
        self.waits[wait].sites.push(self.sites.len() - 1);
        self.site_of.insert(accept, self.sites.len() - 1);
    }

    pub(super) fn add_select(&mut self, names: &Names, task: &Task, node: NodeId) {
        let tree = self.tree();
        let wait = self.add_wait(node);
        let mut guard = None;
        let children: Vec<NodeId> = tree.children(node).collect();
        for child in children {
            match tree.kind(child) {
                "guard" => guard = tree.role(child, "condition"),
                "select_alternative" => {
                    let Some(alternative) = tree.children(child).next() else {
                        continue;
                    };
                    match tree.kind(alternative) {
                        "accept_alternative" => {
                            if let Some(accept) = tree.child(alternative, "accept_statement") {
                                self.add_site(names, task, accept, guard, wait);
                            }
                        }
                        "delay_alternative" => {
                            let before = self.waits[wait].delay.replace(alternative);
                            self.waits[wait].delay_guard = guard;
                            self.waits[wait].has_several_delays |= before.is_some();
                        }
                        _ => self.waits[wait].has_terminate = true,
                    }
                    guard = None;
                }
                "sequence_of_statements" => self.waits[wait].otherwise = Some(child),
                _ => {}
            }
        }
    }

    fn mark_jumps(&mut self) {
        let jumps = [
            "exit_statement",
            "simple_return_statement",
            "requeue_statement",
            "goto_statement",
        ];
        let tree = self.tree();
        tree.walk(self.body)
            .filter(|&n| jumps.contains(&tree.kind(n)))
            .for_each(|n| self.mark_jump(n));
    }

    /// Marks the statements that a jump leaves, so that they are followed rather than copied.
    pub(super) fn mark_jump(&mut self, jump: NodeId) {
        let tree = self.tree();
        // A jump inside a subprogram or an accept's body stays inside. Such a body is copied unless
        // the task waits in it.
        let inside = tree.ancestor(jump, &["accept_statement", "subprogram_body", "task_body"]);
        let Some(inside) = inside.filter(|n| *n == self.body || self.nesting.contains(n)) else {
            return;
        };
        let target = match tree.kind(jump) {
            "exit_statement" => self.exit_target(jump),
            _ => None,
        };
        self.structured.insert(jump);
        for above in tree
            .ancestors(jump)
            .take_while(|&n| Some(n) != target && n != inside)
        {
            self.structured.insert(above);
        }
    }
}

/// Whether the range of a `for` loop is known not to be empty.
fn is_entered(program: &Program, names: &Names, specification: At) -> bool {
    let tree = &program.sources[specification.file].tree;
    let range = tree.child(specification.node, "range_g").or_else(|| {
        tree.child(specification.node, "range_constraint")
            .and_then(|c| tree.child(c, "range_g"))
    });
    // A subtype is not empty.
    let Some(node) = range else { return true };
    let range = At {
        node,
        ..specification
    };
    if let Some((low, high)) = names.range_bounds(program, range) {
        return low <= high;
    }
    if tree.child(node, "..").is_none() {
        // Loops over an array's range are assumed to be for arrays with elements.
        return true;
    }
    let ends: Vec<Option<Bounds>> = tree
        .children(node)
        .filter(|&n| tree.kind(n) != "..")
        .map(|node| names.value_bounds(program, At { node, ..range }))
        .collect();
    // From the greatest possible value of the first bound to the least possible value of the last.
    matches!(ends[..], [Some((_, low)), Some((high, _))] if low <= high)
}

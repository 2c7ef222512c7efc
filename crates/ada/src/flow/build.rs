//! The first look at a task body: its waits, and the statements that must be followed.

use std::collections::{HashMap, HashSet};

use super::{Flow, Site, Wait};
use crate::model::Task;
use crate::names::Names;
use crate::source::Program;
use crate::syntax::NodeId;

impl<'p> Flow<'p> {
    /// The graph of the body of a task that only calls: each call, with the index of the entry it is of, is a wait.
    pub fn of_calls(program: &'p Program, task: &Task, calls: &[(NodeId, usize)]) -> Flow<'p> {
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
        }
    }

    /// The graph of a task's body.
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
                // In a select with one alternative that the grammar cannot tell from an entry call nothing is accepted.
                _ => {}
            }
        }
        flow.mark_jumps();
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
        // A jump inside a subprogram or an accept's body stays there; the body is copied unless the task waits in it.
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

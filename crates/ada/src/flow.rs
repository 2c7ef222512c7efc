//! The control-flow graph of a task body over its synchronization points.
//!
//! A *point* is a place between statements; a *wait* is a point where the task can only go on when an entry is called: an accept
//! statement or a selective accept. The graph is kept as structure: the point after each statement is found from the tree, so a
//! translation can follow it and keep the shape of the source.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::model::Task;
use crate::names::{At, Names};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};

/// A place in a task body's flow of control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// Before a statement.
    Before(NodeId),
    /// At the top of a loop's body; the condition of a `while` is evaluated here.
    LoopTop(NodeId),
    /// After a loop's body; a `for` loop steps here.
    LoopNext(NodeId),
    /// At the end of the body of an accept statement.
    AcceptEnd(NodeId),
    /// The task completes.
    End,
}

/// An accept statement at which a task may wait.
#[derive(Debug, Clone)]
pub struct Site {
    /// The accept statement.
    pub accept: NodeId,
    /// The index of its entry in the task's entries.
    pub entry: usize,
    /// The condition of its guard.
    pub guard: Option<NodeId>,
    /// The index of the wait it belongs to.
    pub wait: usize,
}

/// A place where a task can only wait for calls.
#[derive(Debug, Clone)]
pub struct Wait {
    /// The accept statement or selective accept.
    pub node: NodeId,
    /// The indexes of its sites.
    pub sites: Vec<usize>,
    /// Whether an accept statement's body is around it.
    pub is_nested: bool,
    /// A delay alternative, if it has one.
    pub delay: Option<NodeId>,
    /// The statements of an `else` part, if it has one.
    pub otherwise: Option<NodeId>,
    /// Whether it has a terminate alternative.
    pub has_terminate: bool,
}

/// The graph of a task body.
#[derive(Debug)]
pub struct Flow<'p> {
    /// The program.
    pub program: &'p Program,
    /// The file of the body.
    pub file: usize,
    /// The task body.
    pub body: NodeId,
    /// Where the task can wait, in order of the text.
    pub waits: Vec<Wait>,
    /// The accept statements, in order of the text.
    pub sites: Vec<Site>,
    by_node: HashMap<NodeId, usize>,
    site_of: HashMap<NodeId, usize>,
    /// Statements with a wait inside, or with a jump out of them.
    structured: HashSet<NodeId>,
}

impl<'p> Flow<'p> {
    /// The graph of a task's body.
    pub fn of(program: &'p Program, names: &Names, task: &Task) -> Flow<'p> {
        let (file, body) = (task.body.file, task.body.node);
        let mut flow = Flow {
            program,
            file,
            body,
            waits: vec![],
            sites: vec![],
            by_node: HashMap::new(),
            site_of: HashMap::new(),
            structured: HashSet::new(),
        };
        let tree = flow.tree();
        let nodes: Vec<NodeId> = tree.walk(body).collect();
        for node in nodes {
            match tree.kind(node) {
                "selective_accept" => flow.add_select(names, task, node),
                "accept_statement" if !flow.site_of.contains_key(&node) => {
                    let wait = flow.add_wait(node);
                    flow.add_site(names, task, node, None, wait);
                }
                // In a select with one alternative that the grammar cannot tell from an entry call nothing is accepted.
                "exit_statement" | "simple_return_statement" | "goto_statement" => {
                    flow.mark_jump(node)
                }
                _ => {}
            }
        }
        flow
    }

    fn tree(&self) -> &'p Tree {
        &self.program.sources[self.file].tree
    }

    /// The file's text of a node.
    pub fn text(&self, node: NodeId) -> &'p str {
        self.program.sources[self.file].text(node)
    }

    /// A node of the body's file.
    pub fn at(&self, node: NodeId) -> At {
        At {
            file: self.file,
            node,
        }
    }

    fn add_wait(&mut self, node: NodeId) -> usize {
        let tree = self.tree();
        let is_nested = tree
            .ancestor(node, &["accept_statement", "task_body"])
            .is_some_and(|n| tree.kind(n) == "accept_statement");
        self.waits.push(Wait {
            node,
            sites: vec![],
            is_nested,
            delay: None,
            otherwise: None,
            has_terminate: false,
        });
        let wait = self.waits.len() - 1;
        self.by_node.insert(node, wait);
        for above in tree.ancestors(node).take_while(|&n| n != self.body) {
            self.structured.insert(above);
        }
        self.structured.insert(node);
        wait
    }

    fn add_site(
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

    fn add_select(&mut self, names: &Names, task: &Task, node: NodeId) {
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
                        "delay_alternative" => self.waits[wait].delay = Some(alternative),
                        _ => self.waits[wait].has_terminate = true,
                    }
                    guard = None;
                }
                "sequence_of_statements" => self.waits[wait].otherwise = Some(child),
                _ => {}
            }
        }
    }

    /// Marks the statements that a jump leaves, so that they are followed rather than copied.
    fn mark_jump(&mut self, jump: NodeId) {
        let tree = self.tree();
        // A jump inside a subprogram or an accept's body stays there.
        let inside = tree.ancestor(jump, &["accept_statement", "subprogram_body", "task_body"]);
        if inside != Some(self.body) {
            return;
        }
        let target = match tree.kind(jump) {
            "exit_statement" => self.exit_target(jump),
            _ => None,
        };
        self.structured.insert(jump);
        for above in tree
            .ancestors(jump)
            .take_while(|&n| Some(n) != target && n != self.body)
        {
            self.structured.insert(above);
        }
    }

    /// The loop that an exit statement leaves.
    pub fn exit_target(&self, exit: NodeId) -> Option<NodeId> {
        let tree = self.tree();
        let name = tree
            .role(exit, "loop_name")
            .map(|n| Names::key(self.text(n)));
        tree.ancestors(exit)
            .take_while(|&n| n != self.body)
            .find(|&n| {
                tree.kind(n) == "loop_statement"
                    && name
                        .as_ref()
                        .is_none_or(|name| self.label(n).is_some_and(|l| Names::key(l) == *name))
            })
    }

    /// The name of a loop or block.
    pub fn label(&self, statement: NodeId) -> Option<&'p str> {
        let tree = self.tree();
        let label = tree.child(statement, "loop_label")?;
        tree.role(label, "statement_identifier")
            .map(|n| self.text(n))
    }

    /// Whether a statement is copied as it stands: no wait inside and no jump out.
    pub fn is_plain(&self, statement: NodeId) -> bool {
        !self.structured.contains(&statement)
    }

    /// The wait that a statement is.
    pub fn wait_at(&self, statement: NodeId) -> Option<usize> {
        self.by_node.get(&statement).copied()
    }

    /// The statements of a sequence.
    pub fn statements(&self, sequence: NodeId) -> Vec<NodeId> {
        self.tree().children(sequence).collect()
    }

    /// The first point of a body, block, loop, alternative, or any other node with a sequence of statements.
    pub fn first(&self, container: NodeId, sequence: Option<NodeId>) -> Point {
        let first = sequence.and_then(|s| self.tree().children(s).next());
        first.map_or_else(|| self.after(container), Point::Before)
    }

    /// The sequence of statements of a node, through its handled sequence.
    pub fn sequence(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.tree();
        let inner = tree
            .child(node, "handled_sequence_of_statements")
            .unwrap_or(node);
        tree.child(inner, "sequence_of_statements")
    }

    /// Where the task body begins.
    pub fn start(&self) -> Point {
        self.first(self.body, self.sequence(self.body))
    }

    /// The point after a statement, or after the end of what is around it.
    pub fn after(&self, node: NodeId) -> Point {
        let tree = self.tree();
        if let Some(next) = tree.next(node)
            && tree
                .parent(node)
                .is_some_and(|p| tree.kind(p) == "sequence_of_statements")
        {
            return Point::Before(next);
        }
        let mut above = node;
        loop {
            let Some(parent) = tree.parent(above) else {
                return Point::End;
            };
            match tree.kind(parent) {
                "task_body" => return Point::End,
                "loop_statement" => return Point::LoopNext(parent),
                "accept_statement" => return Point::AcceptEnd(parent),
                "if_statement" | "case_statement" | "block_statement" | "selective_accept" => {
                    return self.after(parent);
                }
                // A selective accept's alternative: its statements, if any, follow the accept statement.
                "accept_alternative" if tree.kind(above) == "accept_statement" => {
                    if let Some(sequence) = tree.child(parent, "sequence_of_statements") {
                        return self.first(parent, Some(sequence));
                    }
                    above = parent;
                }
                _ => above = parent,
            }
        }
    }

    /// The point at which the task goes on after an accept statement.
    pub fn resume(&self, site: &Site) -> Point {
        self.after(site.accept)
    }

    /// The points that follow a point; empty for waits and the end.
    pub fn next(&self, point: Point) -> Vec<Point> {
        match point {
            Point::End | Point::AcceptEnd(_) => vec![],
            Point::LoopTop(node) => {
                let body = self.first(node, self.tree().role(node, "statements"));
                if self.is_while(node) {
                    vec![body, self.after(node)]
                } else {
                    vec![body]
                }
            }
            Point::LoopNext(node) => {
                if self.is_for(node) {
                    vec![Point::LoopTop(node), self.after(node)]
                } else {
                    vec![Point::LoopTop(node)]
                }
            }
            Point::Before(node) => self.next_of_statement(node),
        }
    }

    fn next_of_statement(&self, node: NodeId) -> Vec<Point> {
        let tree = self.tree();
        if self.wait_at(node).is_some() {
            return vec![];
        }
        if self.is_plain(node) {
            return match tree.kind(node) {
                "raise_statement" => vec![Point::End],
                _ => vec![self.after(node)],
            };
        }
        match tree.kind(node) {
            "if_statement" | "case_statement" => {
                let mut found: Vec<Point> = self
                    .branches(node)
                    .into_iter()
                    .map(|s| self.first(node, Some(s)))
                    .collect();
                if !self.is_exhaustive(node) {
                    found.push(self.after(node));
                }
                found
            }
            "loop_statement" => {
                if self.is_for(node) {
                    vec![Point::LoopTop(node), self.after(node)]
                } else {
                    vec![Point::LoopTop(node)]
                }
            }
            "block_statement" => vec![self.first(node, self.sequence(node))],
            "exit_statement" => {
                let target = self.exit_target(node).map_or(Point::End, |l| self.after(l));
                if tree.role(node, "condition").is_some() {
                    vec![target, self.after(node)]
                } else {
                    vec![target]
                }
            }
            _ => vec![Point::End],
        }
    }

    /// The sequences of the branches of an if or case statement.
    pub fn branches(&self, node: NodeId) -> Vec<NodeId> {
        let tree = self.tree();
        let mut found = Vec::new();
        for child in tree.children(node) {
            match tree.kind(child) {
                "sequence_of_statements" => found.push(child),
                "elsif_statement_item" | "case_statement_alternative" => {
                    found.extend(tree.child(child, "sequence_of_statements"))
                }
                _ => {}
            }
        }
        found
    }

    /// Whether one of the branches is always taken.
    pub fn is_exhaustive(&self, node: NodeId) -> bool {
        let tree = self.tree();
        tree.kind(node) == "case_statement" || tree.child(node, "else").is_some()
    }

    /// Whether a loop is a `while` loop.
    pub fn is_while(&self, node: NodeId) -> bool {
        let tree = self.tree();
        let scheme = tree
            .child(node, "iteration_scheme")
            .filter(|&n| tree.child(n, "while").is_some());
        // `while True` is a plain loop.
        scheme.is_some_and(|n| {
            tree.role(n, "condition")
                .is_none_or(|c| !self.text(c).eq_ignore_ascii_case("true"))
        })
    }

    /// Whether a loop is a `for` loop.
    pub fn is_for(&self, node: NodeId) -> bool {
        let tree = self.tree();
        tree.child(node, "iteration_scheme")
            .is_some_and(|n| tree.child(n, "for").is_some())
    }

    /// The points from which code runs: the start, and after each accept statement.
    pub fn roots(&self) -> Vec<Point> {
        std::iter::once(self.start())
            .chain(self.sites.iter().map(|s| self.resume(s)))
            .collect()
    }

    /// The points reached from a point without waiting, itself among them.
    pub fn reach(&self, from: Point) -> BTreeSet<Point> {
        let mut found = BTreeSet::new();
        let mut open = vec![from];
        while let Some(point) = open.pop() {
            if found.insert(point) {
                open.extend(self.next(point));
            }
        }
        found
    }

    /// Whether a loop can go round without waiting.
    pub fn goes_round(&self, node: NodeId) -> bool {
        self.next(Point::LoopTop(node))
            .into_iter()
            .any(|p| self.reach(p).contains(&Point::LoopTop(node)))
    }

    /// The waits that the task can come to.
    pub fn reachable_waits(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.start()];
        while let Some(point) = open.pop() {
            for reached in self.reach(point) {
                let Point::Before(node) = reached else {
                    continue;
                };
                if let Some(wait) = self.wait_at(node)
                    && found.insert(wait)
                {
                    open.extend(
                        self.waits[wait]
                            .sites
                            .iter()
                            .map(|&s| self.resume(&self.sites[s])),
                    );
                }
            }
        }
        found
    }

    /// Whether the task can complete.
    pub fn can_end(&self) -> bool {
        let waits = self.reachable_waits();
        let sites = waits
            .iter()
            .flat_map(|&w| &self.waits[w].sites)
            .map(|&s| self.resume(&self.sites[s]));
        std::iter::once(self.start())
            .chain(sites)
            .any(|p| self.reach(p).contains(&Point::End))
    }
}

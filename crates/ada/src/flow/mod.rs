//! The control-flow graph of a task body over its synchronization points.
//!
//! A *point* is a place between statements. A *wait* is a point where the task continues only when
//! an entry is called: an accept statement or a selective accept. The graph keeps the structure of
//! the source: the point after each statement is found from the tree. So a translation can follow
//! the graph and keep the shape of the source.

mod paths;

use crate::names::{At, Names};
use crate::source::Program;
use crate::syntax::{NodeId, Tree};
use std::collections::{BTreeSet, HashMap, HashSet};

mod build;

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
    /// The completion of the task.
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

/// A place where a task must wait for calls.
#[derive(Debug, Clone)]
pub struct Wait {
    /// The accept statement or selective accept.
    pub node: NodeId,
    /// The indexes of its sites.
    pub sites: Vec<usize>,
    /// A delay alternative, if it has one.
    pub delay: Option<NodeId>,
    /// The condition of the delay alternative's guard.
    pub delay_guard: Option<NodeId>,
    /// The statements of an `else` part, if it has one.
    pub otherwise: Option<NodeId>,
    /// Whether it has a terminate alternative.
    pub has_terminate: bool,
    /// Whether it has several delay alternatives.
    pub has_several_delays: bool,
    /// Whether its delay or else part only polls, so that the graph omits it.
    pub is_polling: bool,
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
    /// Accept statements with a wait inside.
    nesting: HashSet<NodeId>,
    /// `for` loops whose range is not empty.
    entered: HashSet<NodeId>,
}

impl<'p> Flow<'p> {
    fn tree(&self) -> &'p Tree {
        &self.program.sources[self.file].tree
    }

    /// Returns the file's text of a node.
    pub fn text(&self, node: NodeId) -> &'p str {
        self.program.sources[self.file].text(node)
    }

    /// Returns a node of the body's file.
    pub fn at(&self, node: NodeId) -> At {
        At {
            file: self.file,
            node,
        }
    }

    /// Returns the first accept inside a select or loop that concerns one entry only.
    pub fn explains(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.tree();
        let mut inside = self.sites.iter().filter(|s| tree.is_within(s.accept, node));
        let first = inside.next()?;
        inside
            .all(|s| s.entry == first.entry)
            .then_some(first.accept)
    }

    /// Returns the loop that an exit statement leaves.
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

    /// Returns the name of a loop or block.
    pub fn label(&self, statement: NodeId) -> Option<&'p str> {
        let tree = self.tree();
        let label = tree.child(statement, "loop_label")?;
        tree.role(label, "statement_identifier")
            .map(|n| self.text(n))
    }

    /// Whether the task waits inside the body of an accept statement.
    pub fn waits_inside(&self, accept: NodeId) -> bool {
        self.nesting.contains(&accept)
    }

    /// Returns the innermost accept statement around a node that has a wait inside. Its caller
    /// waits while the task is at the node.
    pub fn owner(&self, node: NodeId) -> Option<NodeId> {
        self.tree()
            .ancestors(node)
            .take_while(|&n| n != self.body)
            .find(|n| self.nesting.contains(n))
    }

    /// Returns the accept statement whose caller waits while the task is at a point.
    pub fn owner_at(&self, point: Point) -> Option<NodeId> {
        match point {
            Point::Before(node) | Point::LoopTop(node) | Point::LoopNext(node) => self.owner(node),
            Point::AcceptEnd(accept) => Some(accept),
            Point::End => None,
        }
    }

    /// Leaves the delay and else parts of some waits out of the graph.
    pub fn set_polling(&mut self, waits: &BTreeSet<usize>) {
        for (index, wait) in self.waits.iter_mut().enumerate() {
            wait.is_polling = waits.contains(&index);
        }
    }

    /// Whether a statement is copied unchanged, because it contains no wait and no jump out.
    pub fn is_plain(&self, statement: NodeId) -> bool {
        !self.structured.contains(&statement)
    }

    /// Returns the wait of a statement, if it is one.
    pub fn wait_at(&self, statement: NodeId) -> Option<usize> {
        self.by_node.get(&statement).copied()
    }

    /// Returns the statements of a sequence.
    pub fn statements(&self, sequence: NodeId) -> Vec<NodeId> {
        self.tree().children(sequence).collect()
    }

    /// Returns the first point of a body, block, loop, alternative, or any other node with a
    /// sequence of statements.
    pub fn first(&self, container: NodeId, sequence: Option<NodeId>) -> Point {
        let first = sequence.and_then(|s| self.tree().children(s).next());
        first.map_or_else(|| self.after(container), Point::Before)
    }

    /// Returns the start of an accept statement's body.
    pub fn first_inside(&self, accept: NodeId) -> Point {
        let first = self
            .sequence(accept)
            .and_then(|s| self.tree().children(s).next());
        first.map_or(Point::AcceptEnd(accept), Point::Before)
    }

    /// Returns the sequence of statements of a node, through its handled sequence.
    pub fn sequence(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.tree();
        let inner = tree
            .child(node, "handled_sequence_of_statements")
            .unwrap_or(node);
        tree.child(inner, "sequence_of_statements")
    }

    /// Returns the start of the task body.
    pub fn start(&self) -> Point {
        self.first(self.body, self.sequence(self.body))
    }

    /// Returns the point after a statement, or after the end of the construct around it.
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
                // In a selective accept's alternative, its statements follow the accept statement.
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

    /// Whether a loop is a `for` loop with a range that is known not to be empty.
    pub fn is_entered(&self, node: NodeId) -> bool {
        self.entered.contains(&node)
    }

    /// Whether a loop is a `for` loop.
    pub fn is_for(&self, node: NodeId) -> bool {
        let tree = self.tree();
        tree.child(node, "iteration_scheme")
            .is_some_and(|n| tree.child(n, "for").is_some())
    }
}

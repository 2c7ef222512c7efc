//! What the code between synchronization points does: what it may block on (RM 9.5.1), input and output, exceptions, and work that
//! was perhaps meant to run beside the caller. Calls are followed into all subprograms that were given.

mod calls;
mod external;

use crate::names::values;
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::source::Program;
use crate::syntax::NodeId;
use std::cell::RefCell;
use std::collections::HashMap;

/// A thing that code does, and where.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The statement or call in the code asked about.
    pub at: At,
    /// In words: "delay statement", "call of Log, which writes at …".
    pub what: String,
}

/// What a piece of code may do.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// Potentially blocking operations (RM 9.5.1), input and output apart.
    pub blocks: Vec<Effect>,
    /// Calls of subprograms whose bodies were not given.
    pub unknown: Vec<Effect>,
    /// Input and output.
    pub io: Vec<Effect>,
    /// Explicit raise statements that nothing inside handles.
    pub raises: Vec<Effect>,
    /// Loops without a static bound on their work: loops that are not `for`, and loops that call or do input and output.
    pub long: Vec<Effect>,
    /// Reads of the current task's identity.
    pub identity: Vec<Effect>,
    /// Calls with an outcome that depends on when they run (clocks, random numbers, input) or that may have side effects.
    pub impure: Vec<Effect>,
}

/// Answers questions about effects; remembers what it found about subprograms.
#[derive(Debug)]
pub struct Oracle<'p> {
    program: &'p Program,
    names: &'p Names,
    known: RefCell<HashMap<EntityId, Effects>>,
}

/// A loop of at most so many rounds that call is like so many calls.
const ROUNDS_MAX: i128 = 100;

impl<'p> Oracle<'p> {
    /// An oracle for a program.
    pub fn new(program: &'p Program, names: &'p Names) -> Self {
        Oracle {
            program,
            names,
            known: RefCell::default(),
        }
    }

    /// The effects of a node and all inside it.
    pub fn of(&self, at: At) -> Effects {
        let mut effects = Effects::default();
        self.collect(at, &mut effects);
        effects
    }

    /// The effects of several statements of one file.
    pub fn of_all(&self, file: usize, nodes: &[NodeId]) -> Effects {
        let mut effects = Effects::default();
        for &node in nodes {
            self.collect(At { file, node }, &mut effects);
        }
        effects
    }

    fn collect(&self, at: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        for node in tree.walk(at.node) {
            let here = At { node, ..at };
            let effect = |what: &str| Effect {
                at: here,
                what: what.into(),
            };
            match tree.kind(node) {
                "delay_until_statement" | "delay_relative_statement" => {
                    effects.blocks.push(effect("a delay statement"))
                }
                "accept_statement" => effects.blocks.push(effect("an accept statement")),
                "selective_accept"
                | "timed_entry_call"
                | "conditional_entry_call"
                | "asynchronous_select" => {
                    effects.blocks.push(effect("a select statement"));
                }
                "abort_statement" => effects.blocks.push(effect("an abort statement")),
                "raise_statement" if !self.is_handled(here, at) => {
                    effects.raises.push(effect("a raise statement"))
                }
                "allocator" if self.allocates_task(here) => effects
                    .blocks
                    .push(effect("the activation of a task by an allocator")),
                "single_task_declaration" => {
                    effects.blocks.push(effect("the activation of a task"))
                }
                "loop_statement" if self.is_long(here) => effects.long.push(effect("a loop")),
                "procedure_call_statement" | "function_call" => self.call(here, at, effects),
                "identifier" | "selected_component" => self.bare_call(here, at, effects),
                _ => {}
            }
        }
    }

    /// Whether a handler between the statement and the outermost node handles everything.
    fn is_handled(&self, inner: At, outer: At) -> bool {
        let tree = &self.program.sources[inner.file].tree;
        tree.ancestors(inner.node)
            .take_while(|&n| tree.is_within(n, outer.node))
            .any(|n| {
                tree.kind(n) == "handled_sequence_of_statements"
                    && tree
                        .ancestor(inner.node, &["exception_handler"])
                        .is_none_or(|h| !tree.is_within(h, n))
                    && tree.all(n, "exception_handler").any(|h| {
                        tree.walk(h).any(|x| tree.kind(x) == "others")
                            && !tree.walk(h).any(|x| tree.kind(x) == "raise_statement")
                    })
            })
    }

    fn allocates_task(&self, at: At) -> bool {
        let tree = &self.program.sources[at.file].tree;
        let mark = tree.role(at.node, "subtype_mark").or_else(|| {
            tree.child(at.node, "qualified_expression")
                .and_then(|q| tree.role(q, "subtype_name"))
        });
        let Some(id) = mark.and_then(|node| self.names.meaning(self.program, At { node, ..at }))
        else {
            return false;
        };
        let task = self.names.concurrent(self.program, Ty::Named(id));
        task.is_some_and(|t| self.names.entity(t).kind == Kind::TaskType)
    }

    /// Whether a loop has no bound on its work: it is not a `for` loop, or it calls and goes round many times, or who knows how often.
    fn is_long(&self, at: At) -> bool {
        let tree = &self.program.sources[at.file].tree;
        let scheme = tree
            .child(at.node, "iteration_scheme")
            .filter(|&n| tree.child(n, "for").is_some());
        let Some(scheme) = scheme else {
            return true;
        };
        let calls = tree
            .walk(at.node)
            .any(|n| tree.kind(n) == "procedure_call_statement");
        calls && {
            let parameter = tree.child(scheme, "loop_parameter_specification");
            let bounds = parameter
                .and_then(|node| self.names.subtype_bounds(self.program, At { node, ..at }));
            bounds.is_none_or(|b| values::count(b) > ROUNDS_MAX)
        }
    }
}

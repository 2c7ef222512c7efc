//! The context of the translation of one task, and questions about its names and expressions.

use std::collections::HashSet;

use super::Options;
use crate::effects::Oracle;
use crate::flow::Flow;
use crate::model::{Suspect, Task};
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::source::{Program, Source};
use crate::syntax::{NodeId, Tree};
use crate::verdict::{Reason, Rule};

/// One task in its program.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// All sources.
    pub program: &'a Program,
    /// Their names.
    pub names: &'a Names,
    /// Answers about effects.
    pub oracle: &'a Oracle<'a>,
    /// The task.
    pub task: &'a Task,
    /// The graph of its body.
    pub flow: &'a Flow<'a>,
    /// Places where tasks may be used in a way that only tasks allow.
    pub suspects: &'a [Suspect],
    /// The user's options.
    pub options: &'a Options,
}

impl<'a> Context<'a> {
    /// Returns the file of the body.
    pub fn source(&self) -> &'a Source {
        &self.program.sources[self.task.body.file]
    }

    /// Returns the tree of the body's file.
    pub fn tree(&self) -> &'a Tree {
        &self.source().tree
    }

    /// Returns a node of the body's file.
    pub fn at(&self, node: NodeId) -> At {
        At {
            file: self.task.body.file,
            node,
        }
    }

    /// Returns the text of a node of the body's file.
    pub fn text(&self, node: NodeId) -> &'a str {
        self.source().text(node)
    }

    /// Returns a reason at a node of the body's file.
    pub fn reason(
        &self,
        rule: Rule,
        node: NodeId,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> Reason {
        Reason {
            rule,
            at: self.at(node),
            text: text.into(),
            help: help.into(),
        }
    }

    /// Whether an entity is declared in the task's body.
    pub fn is_local(&self, id: EntityId) -> bool {
        self.names.is_declared_in(self.program, id, self.task.body)
    }

    /// Returns the declarative part of the body.
    pub fn declarations(&self) -> Vec<NodeId> {
        let tree = self.tree();
        tree.child(self.task.body.node, "non_empty_declarative_part")
            .map_or(vec![], |n| tree.children(n).collect())
    }

    /// Returns the entities that a node's identifiers mean, with the identifiers.
    pub fn meanings(&self, at: At) -> Vec<(NodeId, EntityId)> {
        let tree = &self.program.sources[at.file].tree;
        tree.walk(at.node)
            .filter(|&n| tree.kind(n) == "identifier")
            .filter_map(|n| Some((n, self.names.meaning(self.program, At { node: n, ..at })?)))
            .collect()
    }

    /// Whether an expression has the same value wherever it is evaluated: no calls, no variables,
    /// no clocks.
    pub fn is_constant(&self, node: NodeId) -> bool {
        let tree = self.tree();
        let at = self.at(node);
        for inner in tree.walk(node) {
            match tree.kind(inner) {
                "function_call" if tree.child(inner, "tick").is_none() => {
                    let name = tree.role(inner, "name").map(|n| self.at(n));
                    let known = name
                        .and_then(|n| self.names.meaning(self.program, n))
                        .map(|e| self.names.entity(e).kind);
                    let is_value =
                        matches!(known, Some(Kind::Type | Kind::Subtype | Kind::Constant));
                    let is_conversion =
                        name.is_some_and(|n| is_predefined_type(&Names::key(self.text(n.node))));
                    let is_pure = name.is_some_and(|n| self.oracle.is_pure_function(n));
                    if !is_value && !is_conversion && !is_pure {
                        return false;
                    }
                }
                "allocator" | "target_name" => return false,
                _ => {}
            }
        }
        if !self.oracle.of(at).impure.is_empty() {
            return false;
        }
        self.meanings(at)
            .iter()
            .all(|&(ident, e)| match self.names.entity(e).kind {
                Kind::Variable | Kind::ObjectRenaming | Kind::LoopParameter | Kind::Component => {
                    self.is_bound(ident) || self.is_never_written(e)
                }
                Kind::Parameter => !self.is_out_parameter(e),
                Kind::Subprogram
                | Kind::Entry
                | Kind::SubprogramRenaming
                | Kind::SubprogramInstance => false,
                _ => true,
            })
    }

    /// Whether an identifier is the prefix of `'First`, `'Last`, `'Length` or `'Range`, and denotes
    /// an entity outside the task.
    fn is_bound(&self, ident: NodeId) -> bool {
        let tree = self.tree();
        let designator = tree
            .next(ident)
            .filter(|&n| tree.kind(n) == "tick")
            .and_then(|n| tree.next(n));
        let is_bound = designator.is_some_and(|n| {
            ["first", "last", "length", "range"].contains(&Names::key(self.text(n)).as_str())
        });
        is_bound
            && self
                .names
                .meaning(self.program, self.at(ident))
                .is_some_and(|e| !self.is_local(e))
    }

    fn is_out_parameter(&self, id: EntityId) -> bool {
        let at = self.names.entity(id).at;
        let tree = &self.program.sources[at.file].tree;
        tree.child(at.node, "non_empty_mode")
            .is_some_and(|m| tree.child(m, "out").is_some())
    }

    /// Whether a variable outside the task keeps the value of its declaration.
    pub fn is_never_written(&self, id: EntityId) -> bool {
        self.names.entity(id).kind == Kind::Variable
            && !self.is_local(id)
            && self
                .names
                .uses_of(id)
                .iter()
                .all(|&at| !self.is_written_at(at))
    }

    /// Whether the variable that an identifier means may be written at its place: assigned, or
    /// passed as a parameter that may change.
    pub fn is_written_at(&self, at: At) -> bool {
        let tree = &self.program.sources[at.file].tree;
        let mut node = at.node;
        while let Some(parent) = tree.parent(node) {
            match tree.kind(parent) {
                "selected_component" | "function_call" | "slice"
                    if matches!(tree.field(node), "prefix" | "name") =>
                {
                    node = parent
                }
                "selected_component" if tree.field(node) == "selector_name" => node = parent,
                "assignment_statement" => return tree.field(node) == "variable_name",
                "object_renaming_declaration" => return true,
                "term" | "expression" | "parameter_association" => {
                    // Only a bare name can be an out parameter. A name with an operator is a value.
                    if tree.children(parent).count() > 1
                        && tree.kind(parent) != "parameter_association"
                    {
                        let designator = tree.child(parent, "attribute_designator");
                        return designator.is_some_and(|d| {
                            let word = Names::key(self.program.sources[at.file].text(d));
                            matches!(
                                word.as_str(),
                                "access" | "unchecked_access" | "address" | "unrestricted_access"
                            )
                        });
                    }
                    node = parent;
                }
                "actual_parameter_part" => {
                    let call = tree.parent(parent);
                    return call.is_some_and(|c| {
                        tree.kind(c) == "procedure_call_statement"
                            || tree.kind(c) == "generic_instantiation"
                    });
                }
                _ => return false,
            }
        }
        false
    }

    /// Whether an identifier occurs anywhere in the files of the task's declaration and body,
    /// outside the body.
    pub fn occurs_outside(&self, key: &str) -> bool {
        let files: HashSet<usize> = [self.task.body.file, self.task.declaration.file].into();
        files.into_iter().any(|file| {
            let tree = &self.program.sources[file].tree;
            self.names.occurrences(file, key).iter().any(|&n| {
                !(file == self.task.body.file && tree.is_within(n, self.task.body.node))
                    && tree.field(n) != "selector_name"
            })
        })
    }

    /// Whether an identifier occurs in the task's body or declaration.
    pub fn occurs_inside(&self, key: &str) -> bool {
        [self.task.body, self.task.declaration].iter().any(|at| {
            let tree = &self.program.sources[at.file].tree;
            self.names
                .occurrences(at.file, key)
                .iter()
                .any(|&n| tree.is_within(n, at.node))
        })
    }

    /// Returns the first of some names that is unused inside the task and, if required, outside it.
    pub fn free_name(
        &self,
        wanted: &[String],
        counts_outside: bool,
        taken: &HashSet<String>,
    ) -> String {
        let is_free = |name: &String| {
            let key = Names::key(name);
            let is_used = self.occurs_inside(&key) || (counts_outside && self.occurs_outside(&key));
            !is_used && !taken.contains(&key) && !is_reserved(&key)
        };
        let last = wanted.last().cloned().unwrap_or_default();
        wanted
            .iter()
            .find(|n| is_free(n))
            .cloned()
            .unwrap_or_else(|| {
                (2..)
                    .map(|i| format!("{last}_{i}"))
                    .find(is_free)
                    .unwrap_or(last)
            })
    }

    /// Returns the name of a type as it can be written in the body's file.
    pub fn type_name(&self, ty: Ty) -> Option<String> {
        match ty {
            Ty::Named(id) => Some(self.names.entity(id).name.clone()),
            Ty::Integer => Some("Integer".into()),
            _ => None,
        }
    }
}

pub(crate) fn source_of(program: &Program, at: At) -> &Source {
    &program.sources[at.file]
}

/// Whether a lower-case name is that of a type of package Standard to which a value can be
/// converted.
pub fn is_predefined_type(key: &str) -> bool {
    [
        "integer",
        "natural",
        "positive",
        "float",
        "long_float",
        "duration",
        "character",
        "string",
    ]
    .contains(&key)
}

/// Whether a name is a reserved word (RM 2.9).
pub fn is_reserved(key: &str) -> bool {
    const WORDS: &str = " abort abs abstract accept access aliased all and array at begin body case constant declare delay delta digits do else elsif end entry exception exit for function generic goto if in interface is limited loop mod new not null of or others out overriding package parallel pragma private procedure protected raise range record rem renames requeue return reverse select separate some subtype synchronized tagged task terminate then type until use when while with xor ";
    WORDS.contains(&format!(" {key} "))
}

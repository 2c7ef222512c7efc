//! What the code between synchronization points does: what it may block on (RM 9.5.1), input and output, exceptions, and work that
//! was perhaps meant to run beside the caller. Calls are followed into all subprograms that were given.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::source::Program;
use crate::syntax::NodeId;

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

    fn is_long(&self, at: At) -> bool {
        let tree = &self.program.sources[at.file].tree;
        let is_for = tree
            .child(at.node, "iteration_scheme")
            .is_some_and(|n| tree.child(n, "for").is_some());
        !is_for
            || tree
                .walk(at.node)
                .any(|n| tree.kind(n) == "procedure_call_statement")
    }

    /// A name that is a call without actual parameters.
    fn bare_call(&self, at: At, outer: At, effects: &mut Effects) {
        let tree = &self.program.sources[at.file].tree;
        let Some(parent) = tree.parent(at.node) else {
            return;
        };
        let role = tree.field(at.node);
        if matches!(
            tree.kind(parent),
            "procedure_call_statement" | "function_call"
        ) && role == "name"
        {
            return;
        }
        if is_not_called(tree, at.node) {
            return;
        }
        if let Some(id) = self.names.meaning(self.program, at) {
            if role != "selector_name" || tree.kind(at.node) == "selected_component" {
                self.known_call(id, at, outer, effects);
            }
            return;
        }
        let word = Names::key(self.program.sources[at.file].text(at.node));
        if word == "current_task" || word.ends_with(".current_task") {
            effects.identity.push(Effect {
                at,
                what: "Current_Task".into(),
            });
        }
        if matches!(word.rsplit('.').next(), Some("clock" | "random")) && role != "prefix" {
            effects.impure.push(Effect {
                at,
                what: format!("a call of {word}"),
            });
        }
    }

    fn call(&self, at: At, outer: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        if tree.child(at.node, "tick").is_some() || is_not_called(tree, at.node) {
            return;
        }
        let Some(mut name) = tree.role(at.node, "name") else {
            return;
        };
        // `Family (Index) (…)`
        if tree.kind(name) == "function_call" && tree.kind(at.node) == "procedure_call_statement" {
            name = tree.role(name, "name").unwrap_or(name);
        }
        let name_at = At { node: name, ..at };
        match self.names.meaning(self.program, name_at) {
            Some(id) => {
                let is_procedure = tree.kind(at.node) == "procedure_call_statement";
                let kind = self.names.entity(id).kind;
                if is_procedure
                    && matches!(
                        kind,
                        Kind::Variable | Kind::Parameter | Kind::Component | Kind::Constant
                    )
                {
                    effects.unknown.push(Effect {
                        at,
                        what: format!("a call through {}", source.text(name)),
                    });
                } else {
                    self.known_call(id, at, outer, effects);
                }
            }
            None => self.external_call(name_at, at, effects),
        }
    }

    fn known_call(&self, id: EntityId, at: At, outer: At, effects: &mut Effects) {
        let mut id = id;
        for _ in 0..20 {
            let entity = self.names.entity(id);
            let role = match entity.kind {
                Kind::SubprogramRenaming => "callable_entity_name",
                Kind::SubprogramInstance => "generic_name",
                _ => break,
            };
            let tree = &self.program.sources[entity.at.file].tree;
            let Some(mut node) = tree.role(entity.at.node, role) else {
                return;
            };
            if tree.kind(node) == "function_call" {
                node = tree.role(node, "name").unwrap_or(node);
            }
            let target = At { node, ..entity.at };
            match self.names.meaning(self.program, target) {
                Some(next) => id = next,
                None => return self.external_call(target, at, effects),
            }
        }
        let entity = self.names.entity(id);
        match entity.kind {
            Kind::Entry => effects.blocks.push(Effect {
                at,
                what: format!("a call of entry {}", entity.name),
            }),
            Kind::Subprogram | Kind::GenericSubprogram => {
                // A reference to the subprogram inside its own declaration is no call.
                if let Some(body) = entity.body {
                    self.through(id, body, at, outer, effects);
                } else {
                    effects.unknown.push(Effect {
                        at,
                        what: format!("a call of {}, whose body was not given", entity.name),
                    });
                }
            }
            _ => {}
        }
    }

    /// Adds what a subprogram's body does, once for each call.
    fn through(&self, id: EntityId, body: At, at: At, outer: At, effects: &mut Effects) {
        if body == outer {
            return;
        }
        let remembered = self.known.borrow().get(&id).cloned();
        let inner = remembered.unwrap_or_else(|| {
            // Recursion finds nothing new below: the empty entry stands until the body is read.
            self.known.borrow_mut().insert(id, Effects::default());
            let found = self.of(body);
            self.known.borrow_mut().insert(id, found.clone());
            found
        });
        let name = &self.names.entity(id).name;
        let relate = |e: &Effect| {
            let place = self.program.sources[e.at.file].place_of(e.at.node);
            let what = if e.what.starts_with("a call of ") && e.what.contains(" which ") {
                e.what.clone()
            } else {
                format!("{} at {}:{}", e.what, place.file.display(), place.line)
            };
            Effect {
                at,
                what: format!("a call of {name}, which does {what}"),
            }
        };
        effects.blocks.extend(inner.blocks.first().map(relate));
        effects.unknown.extend(inner.unknown.first().map(relate));
        effects.io.extend(inner.io.first().map(relate));
        effects.raises.extend(inner.raises.first().map(relate));
        effects.long.extend(inner.long.first().map(relate));
        effects.identity.extend(inner.identity.first().map(relate));
        effects.impure.push(Effect {
            at,
            what: format!("a call of {name}"),
        });
    }

    /// `Object.Operation`: the operation's full names, by the external type of the object.
    fn through_object(&self, name: At) -> Vec<String> {
        let tree = &self.program.sources[name.file].tree;
        let (Some(prefix), Some(selector)) = (
            tree.role(name.node, "prefix"),
            tree.role(name.node, "selector_name"),
        ) else {
            return vec![];
        };
        let Some(object) = self.names.meaning(
            self.program,
            At {
                node: prefix,
                ..name
            },
        ) else {
            return vec![];
        };
        let at = self.names.entity(object).at;
        let other = &self.program.sources[at.file].tree;
        let holder = other
            .child(at.node, "component_definition")
            .unwrap_or(at.node);
        let Some(mark) = other.role(holder, "subtype_mark") else {
            return vec![];
        };
        let operation = Names::key(self.program.sources[name.file].text(selector));
        let types = self
            .names
            .external_names(self.program, At { node: mark, ..at });
        types
            .iter()
            .filter_map(|t| t.rsplit_once('.'))
            .map(|(package, _)| format!("{package}.{operation}"))
            .collect()
    }

    fn external_call(&self, name: At, at: At, effects: &mut Effects) {
        let source = &self.program.sources[name.file];
        let mut candidates = self.names.external_names(self.program, name);
        candidates.splice(0..0, self.through_object(name));
        let text = source.text(name.node).to_string();
        let is_function = source.tree.kind(at.node) == "function_call";
        match classify(&candidates) {
            External::Harmless => {
                if !is_standard(&candidates) {
                    effects.impure.push(Effect {
                        at,
                        what: format!("a call of {text}"),
                    });
                }
            }
            External::Io => {
                effects.io.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
                effects.impure.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
            }
            External::Blocks => effects.blocks.push(Effect {
                at,
                what: format!("a call of {text}"),
            }),
            External::Identity => effects.identity.push(Effect {
                at,
                what: format!("a call of {text}"),
            }),
            // What looks like a function may be an array or a type of a unit that was not given; what is called for its effect is not.
            External::Unknown
                if is_function && candidates.len() == 1 && !candidates[0].contains('.') =>
            {
                effects.impure.push(Effect {
                    at,
                    what: format!("a call of {text}"),
                });
            }
            External::Unknown => effects.unknown.push(Effect {
                at,
                what: format!("a call of {text}, whose source was not given"),
            }),
        }
    }
}

/// Names of entries that are no calls: `E'Count`, and the target of a requeue.
fn is_not_called(tree: &crate::syntax::Tree, node: NodeId) -> bool {
    tree.next(node).is_some_and(|n| tree.kind(n) == "tick")
        || tree
            .parent(node)
            .is_some_and(|p| tree.kind(p) == "requeue_statement")
}

enum External {
    Harmless,
    Io,
    Blocks,
    Identity,
    Unknown,
}

const STANDARD: [&str; 12] = [
    "integer",
    "natural",
    "positive",
    "float",
    "long_float",
    "long_integer",
    "short_integer",
    "character",
    "string",
    "duration",
    "boolean",
    "wide_string",
];

const IO_PACKAGES: [&str; 12] = [
    "ada.text_io",
    "text_io",
    "ada.integer_text_io",
    "ada.float_text_io",
    "ada.wide_text_io",
    "ada.streams.stream_io",
    "ada.direct_io",
    "ada.sequential_io",
    "gnat.io",
    "ada.directories",
    "ada.long_integer_text_io",
    "ada.long_float_text_io",
];

const IO_NAMES: [&str; 28] = [
    "put",
    "put_line",
    "new_line",
    "get",
    "get_line",
    "get_immediate",
    "look_ahead",
    "skip_line",
    "set_col",
    "set_line",
    "new_page",
    "flush",
    "open",
    "close",
    "create",
    "delete",
    "reset",
    "end_of_file",
    "end_of_line",
    "set_output",
    "set_input",
    "set_error",
    "col",
    "line",
    "read",
    "write",
    "current_output",
    "standard_error",
];

/// Language-defined packages whose subprograms neither block nor do input and output (RM 9.5.1 (18), A).
const HARMLESS_PACKAGES: [&str; 22] = [
    "ada.strings",
    "ada.numerics",
    "ada.calendar",
    "ada.real_time",
    "ada.characters",
    "ada.containers",
    "ada.command_line",
    "ada.exceptions",
    "ada.tags",
    "ada.unchecked_conversion",
    "ada.unchecked_deallocation",
    "unchecked_deallocation",
    "unchecked_conversion",
    "calendar",
    "ada.execution_time",
    "system",
    "interfaces",
    "ada.environment_variables",
    "ada.finalization",
    "gnat.strings",
    "gnat.os_lib",
    "standard",
];

fn is_standard(candidates: &[String]) -> bool {
    candidates
        .last()
        .is_some_and(|n| STANDARD.contains(&n.as_str()))
}

fn is_in(name: &str, packages: &[&str]) -> bool {
    packages.iter().any(|p| {
        name == *p
            || name
                .strip_prefix(p)
                .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// What a call of an external name may do, from all the names it may stand for.
fn classify(candidates: &[String]) -> External {
    if is_standard(candidates) {
        return External::Harmless;
    }
    let last = candidates
        .first()
        .and_then(|n| n.rsplit('.').next())
        .unwrap_or("");
    if last == "suspend_until_true" || candidates.iter().any(|n| n == "ada.dispatching.yield") {
        return External::Blocks;
    }
    if last == "current_task"
        || candidates
            .iter()
            .any(|n| is_in(n, &["ada.task_identification", "ada.task_attributes"]))
            && candidates.len() == 1
    {
        return External::Identity;
    }
    let is_io = |n: &String| is_in(n, &IO_PACKAGES);
    if IO_NAMES.contains(&last) && candidates.iter().any(is_io) {
        return External::Io;
    }
    if candidates
        .first()
        .is_some_and(|n| is_in(n, &HARMLESS_PACKAGES))
    {
        return External::Harmless;
    }
    let qualified: Vec<&String> = candidates.iter().filter(|n| n.contains('.')).collect();
    if qualified.iter().any(|n| is_in(n, &HARMLESS_PACKAGES))
        && qualified
            .iter()
            .all(|n| is_in(n, &HARMLESS_PACKAGES) || is_io(n))
    {
        return External::Harmless;
    }
    if matches!(last, "set_true" | "set_false" | "current_state") {
        return External::Harmless;
    }
    if qualified.len() == 1 && is_io(qualified[0]) && candidates.len() == 1 {
        return External::Io;
    }
    External::Unknown
}

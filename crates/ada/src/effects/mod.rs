//! Effects of the code between synchronization points: potentially blocking operations (RM 9.5.1),
//! input and output, exceptions, and work that was perhaps meant to run beside the caller. Calls
//! are followed into all known subprograms.

mod calls;
mod external;
mod implicit;
mod summaries;

pub(crate) use external::is_standard;

use crate::names::values;
use crate::names::{At, EntityId, Kind, Names};
use crate::source::Program;
use crate::syntax::NodeId;
use crate::translate::callers;
use crate::translate::ceiling::Ceiling;
use implicit::Parts;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use summaries::Doer;

/// An effect of code, and its place.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The statement or call in the code that was asked about.
    pub at: At,
    /// In words: "delay statement", "call of Log, which writes at …".
    pub what: String,
    /// The unit, in lower case, if its source was not given and its declarations are unknown.
    pub unit: Option<String>,
}

impl Effect {
    fn new(at: At, what: impl Into<String>) -> Self {
        Effect {
            at,
            what: what.into(),
            unit: None,
        }
    }
}

/// The possible effects of a piece of code.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    /// Potentially blocking operations (RM 9.5.1), input and output apart.
    pub blocks: Vec<Effect>,
    /// Calls of subprograms whose bodies were not given.
    pub unknown: Vec<Effect>,
    /// Input and output.
    pub io: Vec<Effect>,
    /// Explicit raise statements that are not handled inside.
    pub raises: Vec<Effect>,
    /// Loops without a static bound on their work: loops that are not `for`, and loops that call or
    /// do input and output.
    pub long: Vec<Effect>,
    /// Reads of the current task's identity.
    pub identity: Vec<Effect>,
    /// Calls whose outcome depends on the time of the call (clocks, random numbers, input) or that
    /// may have side effects.
    pub impure: Vec<Effect>,
    /// Values of types from unknown units, which are assumed to have no implicit operations.
    pub types: Vec<Effect>,
}

/// A procedure that replaces an entry when a server becomes a protected object.
#[derive(Debug, Clone, Copy)]
pub struct Opened {
    /// Whether a call may raise an exception that the server's text names.
    pub raises: bool,
    /// Whether the server does input and output.
    pub does_io: bool,
    /// The ceiling of the object.
    pub ceiling: Ceiling,
}

/// Answers questions about effects, and caches results for subprograms and types.
#[derive(Debug)]
pub struct Oracle<'p> {
    program: &'p Program,
    names: &'p Names,
    /// Units and subprograms that do not block, according to the user.
    assumed: &'p [String],
    known: RefCell<HashMap<Doer, Effects>>,
    types: RefCell<HashMap<EntityId, Rc<Parts>>>,
    /// Subprograms and types that were met before they were summarised.
    pending: RefCell<Vec<Doer>>,
    declared: Declared,
    /// Entries that become procedures, which a protected action may call.
    opened: RefCell<HashMap<EntityId, Opened>>,
    /// Names that are used in a way that only entries allow.
    needs_entry: OnceCell<HashSet<String>>,
}

/// The subprograms of a program that may be called although their name is not resolved.
#[derive(Debug, Default)]
struct Declared {
    by_name: HashMap<String, Vec<EntityId>>,
    /// Subprograms with a parameter of a type from which another is derived, which inherits them
    /// (RM 3.4 (17)).
    inherited: HashMap<String, Vec<EntityId>>,
}

/// Loops with calls are not long up to this number of iterations.
const ROUNDS_MAX: i128 = 100;

impl<'p> Oracle<'p> {
    /// Returns an oracle for a program. Names in `assumed` are taken not to block.
    pub fn new(program: &'p Program, names: &'p Names, assumed: &'p [String]) -> Self {
        Oracle {
            program,
            names,
            assumed,
            known: RefCell::default(),
            types: RefCell::default(),
            pending: RefCell::default(),
            declared: Declared::of(program, names),
            opened: RefCell::default(),
            needs_entry: OnceCell::new(),
        }
    }

    /// Treats entries as procedures from now on. A call of a protected procedure is not potentially
    /// blocking (RM 9.5.1 (8)).
    pub fn open(&self, procedures: impl IntoIterator<Item = (EntityId, Opened)>) {
        self.opened.borrow_mut().extend(procedures);
        self.known.borrow_mut().clear();
    }

    /// Whether the program declares a subprogram of a name (in lower case).
    pub fn declares(&self, key: &str) -> bool {
        !self.declared.named(key).is_empty()
    }

    /// Whether a name (in lower case) that could not be resolved is used in a way that only entries
    /// allow.
    pub fn needs_entry(&self, key: &str) -> bool {
        let found = self
            .needs_entry
            .get_or_init(|| callers::unresolved(self.program, self.names));
        found.contains(key)
    }

    /// Returns the effects of a node and all inside it.
    pub fn of(&self, at: At) -> Effects {
        self.settled(|effects| self.collect(at, effects))
    }

    /// Returns the effects of several statements of one file.
    pub fn of_all(&self, file: usize, nodes: &[NodeId]) -> Effects {
        self.settled(|effects| {
            for &node in nodes {
                self.collect(At { file, node }, effects);
            }
        })
    }

    fn collect(&self, at: At, effects: &mut Effects) {
        let source = &self.program.sources[at.file];
        let tree = &source.tree;
        for node in tree.walk(at.node) {
            let here = At { node, ..at };
            let effect = |what: &str| Effect::new(here, what);
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
                "allocator" => self.allocation(here, effects),
                "object_declaration" => self.declaration(here, effects),
                "assignment_statement" => self.assignment(here, effects),
                "single_task_declaration" => {
                    effects.blocks.push(effect("the activation of a task"))
                }
                "loop_statement" if self.is_long(here) => effects.long.push(effect("a loop")),
                "procedure_call_statement" | "function_call" => self.call(here, at, effects),
                "identifier" | "selected_component" => self.bare_call(here, at, effects),
                "attribute_designator" => self.attribute(here, effects),
                "binary_adding_operator"
                | "unary_adding_operator"
                | "multiplying_operator"
                | "relational_operator"
                | "and"
                | "or"
                | "xor"
                | "not"
                | "abs"
                | "**" => self.operator(here, effects),
                _ => {}
            }
        }
    }

    /// Whether a handler between the statement and the outermost node handles all exceptions.
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

    /// Whether a loop has no bound on its work: it is not a `for` loop, or it contains calls and
    /// has many iterations, or an unknown number of them.
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

impl Declared {
    fn of(program: &Program, names: &Names) -> Declared {
        let mut declared = Declared::default();
        for (id, entity) in names.all() {
            if entity.kind == Kind::Subprogram {
                let key = Names::key(&entity.name);
                declared.by_name.entry(key).or_default().push(id);
            }
        }
        let mut parents: HashSet<EntityId> = HashSet::new();
        for (file, source) in program.sources.iter().enumerate() {
            let tree = &source.tree;
            for node in tree.walk(tree.root()) {
                let derives = matches!(
                    tree.kind(node),
                    "derived_type_definition" | "private_extension_declaration"
                );
                let mark = tree.role(node, "subtype_mark").filter(|_| derives);
                let parent = mark.and_then(|node| names.meaning(program, At { file, node }));
                parents.extend(parent.map(|p| names.first_type(program, p)));
            }
        }
        if parents.is_empty() {
            return declared;
        }
        for (key, all) in &declared.by_name {
            let takes_parent = |&&id: &&EntityId| {
                let mut types = names.parameter_types(program, id).into_iter();
                types.any(|ty| parents.contains(&ty))
            };
            let inherited: Vec<EntityId> = all.iter().filter(takes_parent).copied().collect();
            if !inherited.is_empty() {
                declared.inherited.insert(key.clone(), inherited);
            }
        }
        declared
    }

    fn named(&self, key: &str) -> &[EntityId] {
        self.by_name.get(key).map_or(&[], Vec::as_slice)
    }
}

//! Units to a checked program: names, types, and the rules of the language.

mod aggregate;
mod alias;
mod call;
mod component;
mod constant;
mod expression;
mod instance;
mod operator;
mod place;
mod predefined;
mod routine;
mod scope;
mod statement;
mod types;
mod unit;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_lang::{Diagnostic, Severity, Span, has_errors};

use crate::effects;
use crate::program::{Program, RoutineId, TypeId, UnitId};
use crate::syntax::{Name, Restriction};
use crate::units::{Halves, Loaded};
pub(crate) use alias::{is_apart, may_overlap};
use scope::{Scope, Symbol};

/// Stack of the thread that checks. Only touched pages take memory.
const STACK_BYTES: usize = 256 << 20;

/// The result of the check.
#[derive(Debug)]
pub struct Checked {
    /// The program, unless it has errors.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the units of a program. With `needs_main`, one of the requested units must define
/// OrcaMain.
pub fn check(loaded: &Loaded, needs_main: bool) -> Checked {
    let mut diagnostics = loaded.diagnostics.clone();
    let mut program = None;
    // Names in unparsed text would seem to be missing.
    if !has_errors(&diagnostics) {
        // Types and statements may nest as deeply as the parser allows.
        let (checked, found) = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, || check_here(loaded, needs_main)) {
                Ok(done) => done
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(_) => check_here(loaded, needs_main),
            }
        });
        diagnostics.extend(found);
        program = Some(checked).filter(|_| !has_errors(&diagnostics));
    }
    sort(&mut diagnostics);
    Checked {
        program,
        diagnostics,
    }
}

/// Sorts by place. Diagnostics that several instances of a generic unit share are reported once.
fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|one| (one.span.file, one.span.start, one.span.end));
    let mut seen = BTreeSet::new();
    diagnostics.retain(|one| {
        let place = (one.span.file, one.span.start, one.span.end);
        seen.insert((place, one.message.clone()))
    });
}

fn check_here(loaded: &Loaded, needs_main: bool) -> (Program, Vec<Diagnostic>) {
    let mut checker = Checker::new(loaded);
    for root in &loaded.roots {
        checker.root(root);
    }
    checker.generic_units();
    checker.implementations();
    if needs_main && checker.program.main.is_none() {
        checker.miss_main();
    }
    effects::analyse(&mut checker.program, &mut checker.diagnostics);
    (checker.program, checker.diagnostics)
}

/// Numbers of types that every program has.
struct Known {
    error: TypeId,
    nil: TypeId,
    integer: TypeId,
    shortint: TypeId,
    longint: TypeId,
    real: TypeId,
    shortreal: TypeId,
    boolean: TypeId,
    char: TypeId,
    string: TypeId,
}

/// The position of the checker.
#[derive(Clone, Default)]
struct Here {
    unit: Option<UnitId>,
    routine: Option<RoutineId>,
    /// Statements RETURN of the routine.
    returns: u32,
    /// Loops around the statement.
    loops: u32,
}

/// Facts of a unit that the checked program does not contain.
struct UnitFacts<'a> {
    halves: &'a Halves,
    /// The arguments of a generic unit's parameters.
    bindings: BTreeMap<String, Symbol>,
    /// The names of its specification.
    exports: BTreeMap<String, Symbol>,
    /// Its operations, and whether the specification has them.
    operations: BTreeMap<String, (RoutineId, bool)>,
    /// Routines that have only headings so far, with their places.
    announced: BTreeMap<RoutineId, Span>,
}

/// The state of a unit's name.
#[derive(Clone, Copy)]
enum Progress {
    Begun,
    Done(UnitId),
}

struct Checker<'a> {
    loaded: &'a Loaded,
    program: Program,
    diagnostics: Vec<Diagnostic>,
    known: Known,
    by_name: BTreeMap<String, Progress>,
    facts: Vec<UnitFacts<'a>>,
    /// Units whose implementations have yet to be checked.
    pending: Vec<UnitId>,
    scopes: Vec<Scope>,
    here: Here,
    /// Names of graph types that are declared later in their block.
    forward: Vec<(TypeId, Name)>,
    /// Instances within instances.
    instances: u32,
    /// The function types of routines that are used as values.
    function_types: BTreeMap<RoutineId, TypeId>,
}

impl<'a> Checker<'a> {
    fn new(loaded: &'a Loaded) -> Checker<'a> {
        let mut program = Program {
            objects_by_reference: loaded.objects_by_reference,
            ..Program::default()
        };
        let known = types::known(&mut program);
        let mut checker = Checker {
            loaded,
            program,
            diagnostics: Vec::new(),
            known,
            by_name: BTreeMap::new(),
            facts: Vec::new(),
            pending: Vec::new(),
            scopes: Vec::new(),
            here: Here::default(),
            forward: Vec::new(),
            instances: 0,
            function_types: BTreeMap::new(),
        };
        checker.scopes.push(checker.predefined_scope());
        checker
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn error_help(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, message).help(help));
    }

    fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        // A generic unit is checked on its own as well as in each instance.
        self.diagnostics
            .push(Diagnostic::warning(span, message).help(help));
    }

    fn error_count(&self) -> usize {
        let errors = self
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error);
        errors.count()
    }

    fn name_of(&self, ty: TypeId) -> &str {
        &self.program.ty(ty).name
    }

    fn restriction_words(restriction: Restriction) -> &'static str {
        match restriction {
            Restriction::None => "TYPE",
            Restriction::Scalar => "SCALAR TYPE",
            Restriction::Numeric => "NUMERIC TYPE",
        }
    }
}

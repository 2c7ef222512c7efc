//! From the syntax tree to the checked program.
//!
//! Specifications are declared first, imported ones before those that import them. Then bodies are
//! checked in order, each from top to bottom: a name is known from its declaration on. Finally the
//! checker determines how each operation is serviced. An expression in which an error was found has
//! the type [`Type::Wrong`], which fits everywhere.

mod assignment;
mod bounds;
mod component;
mod concurrent;
mod constructors;
mod convert;
mod creation;
mod declaration;
mod expression;
mod fields;
mod fold;
mod implementation;
mod import;
mod input;
mod invoke;
mod names;
mod operation;
mod operators;
mod pair;
mod places;
mod predefined;
mod resource;
mod scope;
mod service;
mod signature;
mod statement;
mod subscripts;
mod target;
mod types;

use std::collections::{HashMap, HashSet};

use antiphon_lang::{Diagnostic, Severity, Sources, Span};

use crate::program::*;
use crate::syntax;

use pair::Unit;
use scope::{Meaning, Scopes};

/// The result of checking a program.
#[derive(Debug)]
pub struct Checked {
    /// The program; none if there is an error.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the components of all files of a program, in the order in which the files were given.
pub fn check(sources: &Sources, files: Vec<Vec<syntax::Component>>) -> Checked {
    check_with(sources, files, false)
}

/// Checks components. With `is_part`, they may be a part of a program, without a main resource.
pub(crate) fn check_with(
    sources: &Sources,
    files: Vec<Vec<syntax::Component>>,
    is_part: bool,
) -> Checked {
    let (units, diagnostics) = pair::pair(&files);
    let mut checker = Checker::new(sources, &units, diagnostics);
    checker.is_part = is_part;
    checker.all();
    checker
        .diagnostics
        .sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    let is_good = !checker.has_errors();
    once(&mut checker.diagnostics);
    Checked {
        program: is_good.then_some(checker.program),
        diagnostics: checker.diagnostics,
    }
}

/// Keeps one message for each mistake: an expression may have been checked twice, and a name that
/// is not declared may be used often.
fn once(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| {
        let is_of_name = diagnostic.message.ends_with(names::NOT_DECLARED);
        let at = (!is_of_name).then_some((diagnostic.span.start, diagnostic.span.end));
        seen.insert((diagnostic.span.file, at, diagnostic.message.clone()))
    });
}

/// The state while a program is checked.
pub(crate) struct Checker<'a> {
    /// For the texts of messages.
    sources: &'a Sources,
    /// The components as they were written, by their numbers.
    units: &'a [Unit<'a>],
    /// The progress of each component.
    states: Vec<State>,
    /// The part that has been checked.
    program: Program,
    /// Errors and warnings.
    diagnostics: Vec<Diagnostic>,
    /// Operations of resource capabilities that are replaced.
    replaced: Vec<OperationId>,
    /// The meanings of names here.
    scopes: Scopes,
    /// The components by their names.
    named: HashMap<String, ComponentId>,
    /// The components that export each name.
    exporting: HashMap<String, Vec<ComponentId>>,
    /// Whether the files may be a part of a program, which has no main resource.
    is_part: bool,
    /// The component that is being checked.
    component: ComponentId,
    /// The code that is being checked: outside of procs, that of the component's body. An abstract
    /// resource has none: [`NO_CODE`].
    code: CodeId,
    /// The current place in the code.
    place: Place,
}

/// The code of a component without body. No row has this number.
const NO_CODE: CodeId = CodeId(u32::MAX);

/// The progress of a component.
#[derive(Default)]
struct State {
    progress: Progress,
    /// The names that others see, in order.
    exports: Vec<(String, Meaning)>,
    /// The place of each name in `exports`.
    export_places: HashMap<String, usize>,
    /// The scope of the specification, in which the body continues.
    scopes: Scopes,
    /// The declarations of the specification.
    statements: Vec<Statement>,
    /// The code of the body.
    code: Option<CodeId>,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Progress {
    #[default]
    Untouched,
    Busy,
    Declared,
}

/// A place in the code.
#[derive(Default)]
struct Place {
    /// The statements of the innermost block so far.
    statements: Vec<Statement>,
    /// Whether this is a specification.
    is_specification: bool,
    /// Whether this is inside a block or proc, so that declarations are local.
    is_block: bool,
    /// Number of enclosing loops and co statements.
    loops: usize,
    /// Signatures of the invocations that are being serviced; none for a wrong one.
    serviced: Vec<Option<SignatureId>>,
}

impl<'a> Checker<'a> {
    fn new(
        sources: &'a Sources,
        units: &'a [Unit<'a>],
        diagnostics: Vec<Diagnostic>,
    ) -> Checker<'a> {
        Checker {
            sources,
            units,
            states: units.iter().map(|_| State::default()).collect(),
            program: Program::default(),
            diagnostics,
            replaced: Vec::new(),
            scopes: Scopes::default(),
            named: HashMap::new(),
            exporting: HashMap::new(),
            is_part: false,
            component: ComponentId(0),
            code: NO_CODE,
            place: Place::default(),
        }
    }

    fn all(&mut self) {
        self.components();
        let all = 0..self.units.len() as u32;
        for component in all.clone().map(ComponentId) {
            self.specification(component);
        }
        for component in all.map(ComponentId) {
            self.body(component);
        }
        self.main();
        if !self.has_errors() {
            self.services();
        }
    }
}

impl Checker<'_> {
    fn has_errors(&self) -> bool {
        let mut all = self.diagnostics.iter();
        all.any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Adds an error.
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// Adds an error with a help text.
    fn error_with(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, message).help(help));
    }

    /// Adds a warning with a help text.
    fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::warning(span, message).help(help));
    }

    /// Adds a variable.
    fn variable(&mut self, variable: Variable) -> VariableId {
        self.program.variables.push(variable);
        VariableId(self.program.variables.len() as u32 - 1)
    }

    /// Returns a type.
    fn kind(&self, of: TypeId) -> &Type {
        self.program.types.get(of)
    }

    /// Returns the number of a type.
    fn number(&mut self, of: Type) -> TypeId {
        self.program.types.number(of)
    }

    /// Adds a statement to the innermost block.
    fn push(&mut self, kind: StatementKind, span: Span) {
        self.place.statements.push(Statement { kind, span });
    }
}

//! From the syntax tree to the checked program.
//!
//! Specifications are declared first, imported ones before those that import them; then bodies are checked in order, each from top to bottom: a name is known from its
//! declaration on. At last it is found who services each operation. An expression in which an error was found has the type [`Type::Wrong`], which fits everywhere.

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

use std::collections::HashSet;

use antiphon_lang::{Diagnostic, Severity, Sources, Span};

use crate::program::*;
use crate::syntax;

use pair::Unit;
use scope::{Meaning, Scopes};

/// A program that was checked.
#[derive(Debug)]
pub struct Checked {
    /// The program; none if there is an error.
    pub program: Option<Program>,
    /// What was found wrong, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks the components of all files of a program, in the order in which the files were given.
pub fn check(sources: &Sources, files: Vec<Vec<syntax::Component>>) -> Checked {
    let (units, diagnostics) = pair::pair(&files);
    let mut checker = Checker::new(sources, &units, diagnostics);
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

/// Leaves one message about each mistake: an expression may have been looked at twice, and a name that is not declared may be used often.
fn once(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| {
        let is_of_name = diagnostic.message.ends_with(names::NOT_DECLARED);
        let at = (!is_of_name).then_some((diagnostic.span.start, diagnostic.span.end));
        seen.insert((diagnostic.span.file, at, diagnostic.message.clone()))
    });
}

/// What is known while a program is checked.
pub(crate) struct Checker<'a> {
    /// For the texts of messages.
    sources: &'a Sources,
    /// The components as they were written, by their numbers.
    units: &'a [Unit<'a>],
    /// How far each component is.
    states: Vec<State>,
    /// What has been checked so far.
    program: Program,
    /// What was found wrong.
    diagnostics: Vec<Diagnostic>,
    /// What names mean here.
    scopes: Scopes,
    /// The component that is being checked.
    component: ComponentId,
    /// The code that is being checked; that of the component's body outside of procs. An abstract resource has none: [`NO_CODE`].
    code: CodeId,
    /// Where in the code we are.
    place: Place,
}

/// The code of what has no body. No row has this number.
const NO_CODE: CodeId = CodeId(u32::MAX);

/// How far a component is.
#[derive(Default)]
struct State {
    progress: Progress,
    /// The names that others see, in order.
    exports: Vec<(String, Meaning)>,
    /// The scope of the specification, in which the body goes on.
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

/// Where in the code the checker is.
#[derive(Default)]
struct Place {
    /// The statements of the innermost block so far.
    statements: Vec<Statement>,
    /// Whether this is a specification.
    is_specification: bool,
    /// Whether this is inside a block or proc, so that what is declared is local.
    is_block: bool,
    /// How many loops and co statements there are around.
    loops: usize,
    /// The signatures of the invocations that are being serviced; none for one that is wrong.
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
            scopes: Scopes::default(),
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

    /// Adds an error with what would mend it.
    fn error_with(&mut self, span: Span, message: impl Into<String>, mend: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, message).mend(mend));
    }

    /// Adds a warning with what would mend it.
    fn warn(&mut self, span: Span, message: impl Into<String>, mend: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::warning(span, message).mend(mend));
    }

    /// A new variable.
    fn variable(&mut self, variable: Variable) -> VariableId {
        self.program.variables.push(variable);
        VariableId(self.program.variables.len() as u32 - 1)
    }

    /// A type.
    fn kind(&self, of: TypeId) -> &Type {
        self.program.types.get(of)
    }

    /// The number of a type.
    fn number(&mut self, of: Type) -> TypeId {
        self.program.types.number(of)
    }

    /// Adds a statement to the innermost block.
    fn push(&mut self, kind: StatementKind, span: Span) {
        self.place.statements.push(Statement { kind, span });
    }
}

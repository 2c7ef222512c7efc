//! From the syntax tree to the checked program.
//!
//! Components are declared first, then checked in order, each from top to bottom: a name is known from its declaration on. An expression in which an error was found
//! has the type [`Type::Wrong`], which fits everywhere.

mod scope;

use crate::diagnostic::Diagnostic;
use crate::program::*;
use crate::source::{Sources, Span};

use scope::Scopes;

/// What is known while a program is checked.
pub(crate) struct Checker<'a> {
    /// For the texts of messages.
    sources: &'a Sources,
    /// What has been checked so far.
    program: Program,
    /// What was found wrong.
    diagnostics: Vec<Diagnostic>,
    /// What names mean here.
    scopes: Scopes,
    /// The component that is being checked.
    component: ComponentId,
    /// The code that is being checked; that of the component's body outside of procs.
    code: CodeId,
}

impl Checker<'_> {
    /// Adds an error.
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    /// Adds an error with what would mend it.
    fn error_with(&mut self, span: Span, message: impl Into<String>, mend: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(span, message).mend(mend));
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
}

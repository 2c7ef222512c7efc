//! The checked program: every name resolved, every type known, every conversion written out.
//!
//! Tables hold the declarations, and numbers ([`ComponentId`], [`VariableId`], …) stand for their
//! rows. Nothing here refers to the syntax tree. Spans remain for messages and for the lines of
//! run-time errors.

use std::collections::HashMap;

use antiphon_lang::Span;

mod expression;
mod operation;
mod statement;
mod types;
mod walk;

pub use expression::*;
pub use operation::*;
pub use statement::*;
pub use types::*;
pub(crate) use walk::{Visitor, walk_block, walk_expression};

/// Numbers of rows in the tables of a [`Program`].
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns its position in the table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

ids! {
    /// A resource or global.
    ComponentId,
    /// A variable, constant, parameter or quantifier variable.
    VariableId,
    /// An operation.
    OperationId,
    /// A class of operations that are serviced together.
    ClassId,
    /// A type.
    TypeId,
    /// Parameters and result.
    SignatureId,
    /// A body of code: a component's, a final part, or a proc's.
    CodeId,
}

/// A whole program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Resources and globals, in the order of the source.
    pub components: Vec<Component>,
    /// The resource that is created at the start; none while the program is under construction.
    pub main: Option<ComponentId>,
    /// All types.
    pub types: Types,
    /// All variables.
    pub variables: Vec<Variable>,
    /// All operations.
    pub operations: Vec<Operation>,
    /// All classes.
    pub classes: Vec<Class>,
    /// Replacements of operations where a resource's capability is converted to that of another.
    /// For each such pair of resources, it has all exports of the latter.
    pub counterparts: Vec<Counterpart>,
    /// Operations that some resource capability has replaced by another, and those that stand for
    /// them. Capabilities of resources have a slot for each, and those that stand for each other
    /// have the same number.
    pub slots: HashMap<OperationId, usize>,
    /// All signatures.
    pub signatures: Vec<Signature>,
    /// All bodies of code.
    pub codes: Vec<Code>,
}

/// A resource or global.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Where it is named.
    pub span: Span,
    /// Whether it has one instance, made when the first importing component is about to run its
    /// body.
    pub is_global: bool,
    /// Whether it has no body and so no instances, and is only extended.
    pub is_abstract: bool,
    /// Components that its specification and body import, each once, in order.
    /// [`StatementKind::Import`] makes the globals among them.
    pub imports: Vec<ComponentId>,
    /// A resource's parameters; they are passed by value.
    pub parameters: Vec<VariableId>,
    /// Variables and constants in the instance, except parameters.
    pub variables: Vec<VariableId>,
    /// Operations in the instance, in the order of their declaration, those of the specification
    /// first. Inherited ones have rows of their own.
    pub operations: Vec<OperationId>,
    /// Classes that live in the instance.
    pub classes: Vec<ClassId>,
    /// The class of the operations that `new` makes here, if an input statement takes from several
    /// capabilities at once. Otherwise each has a class of its own.
    pub dynamic: Option<ClassId>,
    /// Procs, in order.
    pub procs: Vec<CodeId>,
    /// The code of the body, beginning with the specification's declarations; none if it is
    /// abstract.
    pub body: Option<CodeId>,
    /// The code of the final part.
    pub last: Option<CodeId>,
}

/// A body of code: one C function.
#[derive(Debug, Clone)]
pub struct Code {
    /// The component that it belongs to.
    pub component: ComponentId,
    /// Its kind.
    pub kind: CodeKind,
    /// The part of a process's name after the component's: the proc's name, `body` or `final`.
    pub name: String,
    /// Where it begins.
    pub span: Span,
    /// A proc's parameters, with the names in the proc.
    pub parameters: Vec<VariableId>,
    /// A proc's result.
    pub result: Option<VariableId>,
    /// Its statements.
    pub block: Block,
}

/// The kind of a body of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// A component's body.
    Body,
    /// A component's final part.
    Final,
    /// An operation's proc, or a process.
    Proc(OperationId),
}

/// A named value.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its type.
    pub of: TypeId,
    /// Where it lives.
    pub storage: Storage,
    /// Whether it must not be assigned.
    pub is_constant: bool,
    /// Whether its address is taken, by `@` or by passing it by reference.
    pub has_address: bool,
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In the component's instance.
    Component(ComponentId),
    /// On the stack of the process that runs the code.
    Local(CodeId),
    /// A parameter or result of a proc, or of a component (by value).
    Parameter(CodeId, Passing),
    /// A parameter or result of the invocation that an arm of an input statement has taken.
    Arm(CodeId, Passing),
}

/// How a value is passed. A result with a name after `returns` is passed as [`Passing::Result`].
pub use crate::syntax::Passing;

//! The checked program: every name resolved, every type known, every conversion written out.
//!
//! Tables hold what is declared, and numbers ([`ComponentId`], [`VariableId`], …) stand for their rows. Nothing here refers to the syntax tree; spans remain for
//! messages and for the lines of run-time errors.

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
            /// Its place in the table.
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
    /// The resource that is created at the start; none only while the program is being made.
    pub main: Option<ComponentId>,
    /// All types.
    pub types: Types,
    /// All variables.
    pub variables: Vec<Variable>,
    /// All operations.
    pub operations: Vec<Operation>,
    /// All classes.
    pub classes: Vec<Class>,
    /// What stands for what where a resource's capability is converted to that of another: for each such pair of resources all that the latter exports.
    pub counterparts: Vec<Counterpart>,
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
    /// Whether there is one instance, made when the first that imports it is about to run its body.
    pub is_global: bool,
    /// Whether it has no body and so no instances: it is there to be extended.
    pub is_abstract: bool,
    /// What its specification and body import, each once, in order; the globals among them are made by [`StatementKind::Import`].
    pub imports: Vec<ComponentId>,
    /// A resource's parameters; they are passed by value.
    pub parameters: Vec<VariableId>,
    /// Variables and constants that live in the instance, parameters not among them.
    pub variables: Vec<VariableId>,
    /// Operations that live in the instance, those of the specification first, in the order of their declaration; inherited ones are rows of their own.
    pub operations: Vec<OperationId>,
    /// Classes that live in the instance.
    pub classes: Vec<ClassId>,
    /// The class of the operations that `new` makes here, if an input statement takes from several capabilities at once; else each has a class of its own.
    pub dynamic: Option<ClassId>,
    /// Procs, in order.
    pub procs: Vec<CodeId>,
    /// The code of the body (of the specification's declarations first); none if it is abstract.
    pub body: Option<CodeId>,
    /// The code of the final part.
    pub last: Option<CodeId>,
}

/// A body of code: one C function.
#[derive(Debug, Clone)]
pub struct Code {
    /// The component that it belongs to.
    pub component: ComponentId,
    /// What it is for.
    pub kind: CodeKind,
    /// The part of a process's name after the component's: the proc's name, `body` or `final`.
    pub name: String,
    /// Where it begins.
    pub span: Span,
    /// A proc's parameters, as it names them.
    pub parameters: Vec<VariableId>,
    /// A proc's result.
    pub result: Option<VariableId>,
    /// What it does.
    pub block: Block,
}

/// What code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// A component's body.
    Body,
    /// A component's final part.
    Final,
    /// An operation's proc; a process's too.
    Proc(OperationId),
}

/// Something with a value.
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
    /// Whether it may not be assigned.
    pub is_constant: bool,
    /// Whether its address is taken, by `@` or by passing it by reference.
    pub has_address: bool,
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In the component's instance.
    Component(ComponentId),
    /// In the stack of the process that runs the code.
    Local(CodeId),
    /// A parameter or result of a proc, or of a component (by value).
    Parameter(CodeId, Passing),
    /// A parameter or result of the invocation that an arm of an input statement has taken.
    Arm(CodeId, Passing),
}

/// How a value is passed. A result that `returns` names is passed as [`Passing::Result`].
pub use crate::syntax::Passing;

use antiphon_lang::Span;

use super::{
    ClassId, CodeId, ComponentId, Expression, OperationId, Passing, Shape, SignatureId, TypeId,
};

/// The allowed ways of invoking an operation.
pub use crate::syntax::Restriction;

/// Parameters, result and restriction.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub result: Option<Parameter>,
    /// The ways of invoking that are allowed.
    pub restriction: Restriction,
}

/// A parameter or result.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// How it is passed.
    pub passing: Passing,
    /// Its type.
    pub of: TypeId,
    /// Its bounds, if any are not `*`. They are evaluated where the operation is declared or, if
    /// they use earlier parameters, where it is serviced. An argument must have the same number of
    /// elements, and has these bounds there.
    pub shape: Option<Shape>,
}

/// An operation, or an array of them.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The component that declares (or inherits) it.
    pub component: ComponentId,
    /// Parameters and result.
    pub signature: SignatureId,
    /// For an array of operations, the bounds of its dimensions, evaluated at the declaration.
    pub dimensions: Vec<(Expression, Expression)>,
    /// Where it lives.
    pub home: Home,
    /// Whether the specification declares it.
    pub is_exported: bool,
    /// The operation of the extended resource that it stands for.
    pub inherits: Option<OperationId>,
    /// How it is serviced.
    pub service: Service,
    /// Whether it was declared by `process`.
    pub is_process: bool,
    /// Whether it is used in another way than by a plain invocation: it has a capability, or is
    /// exported.
    pub has_capability: bool,
}

/// An operation that is invoked in place of another, through a converted capability. Resources that
/// extend nothing are alike if they export operations of the same kinds in the same order, whatever
/// their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counterpart {
    /// The operation of the capability's resource that is named.
    pub wanted: OperationId,
    /// The operation of the instance's own resource.
    pub stands_for_it: OperationId,
}

/// Where an operation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In the component's instance.
    Component,
    /// In a block of this code, while that runs.
    Block(CodeId),
    /// Nowhere: it is a C function.
    External,
}

/// How an operation is serviced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// A proc.
    Proc(CodeId),
    /// Input statements, receive or P.
    Input(ClassId),
    /// By P and parameterless receive only, in its own component, and without capabilities: it is a
    /// semaphore.
    Semaphore,
    /// A C function of the operation's name.
    External,
    /// Not at all: an operation of an abstract resource.
    Nobody,
}

/// Operations that occur together in input statements, directly or through others.
#[derive(Debug, Clone)]
pub struct Class {
    /// Its operations.
    pub operations: Vec<OperationId>,
    /// Where it lives: in the place of its outermost operation.
    pub home: Home,
    /// The component.
    pub component: ComponentId,
}

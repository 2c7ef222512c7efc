use antiphon_lang::Span;

use super::{
    ClassId, CodeId, ComponentId, Expression, OperationId, Passing, Shape, SignatureId, TypeId,
};

/// Who may invoke an operation how.
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
    /// Its bounds, if it has any that are not `*`: evaluated where the operation is declared or, if they speak of earlier parameters, where it is serviced.
    /// An argument must have as many elements, and is known by these bounds there.
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
    /// Who services it.
    pub service: Service,
    /// Whether it was declared by `process`.
    pub is_process: bool,
    /// Whether something other than a plain invocation uses it: a capability of it is made, or it is exported.
    pub has_capability: bool,
}

/// An operation that is invoked in the place of another, by way of a capability that was converted. Where nothing is extended, resources are alike that export
/// operations of the same kinds in the same order, whatever their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counterpart {
    /// The operation that is named, of the capability's resource.
    pub wanted: OperationId,
    /// The operation of the instance's own resource.
    pub stands_for_it: OperationId,
}

/// Where an operation lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// In the component's instance.
    Component,
    /// In a block of this code, as long as that runs.
    Block(CodeId),
    /// Nowhere: it is a C function.
    External,
}

/// Who services an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// A proc.
    Proc(CodeId),
    /// Input statements, receive or P.
    Input(ClassId),
    /// Only P and parameterless receive, in its own component, and no capability of it is made: it is a semaphore.
    Semaphore,
    /// A C function of the operation's name.
    External,
    /// Nobody: an operation of an abstract resource.
    Nobody,
}

/// Operations that occur together in input statements, directly or by way of others.
#[derive(Debug, Clone)]
pub struct Class {
    /// Its operations.
    pub operations: Vec<OperationId>,
    /// Where it lives: as its outermost operation.
    pub home: Home,
    /// The component.
    pub component: ComponentId,
}

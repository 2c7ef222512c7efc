//! Declarations in items: objects, operations and procs.

use super::{Block, Bounds, Expression, Name, Path, TypeExpression};

/// A name with subscripts after it, as in `var a[1:n]: int`.
#[derive(Debug, Clone, PartialEq)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// The bounds of each dimension.
    pub dimensions: Vec<Bounds>,
}

/// Objects of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectGroup {
    /// Names with bounds.
    pub declarators: Vec<Declarator>,
    /// The type; that of the value if none is given.
    pub of: Option<TypeExpression>,
    /// The initial value.
    pub value: Option<Expression>,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationGroup {
    /// Names with bounds.
    pub declarators: Vec<Declarator>,
    /// Their parameters, or an optype's name.
    pub of: OperationKind,
}

/// The signature of operations.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationKind {
    /// Parameters and result.
    Prototype(Prototype),
    /// That of an optype, or of another operation.
    Named(Path),
}

/// Parameters, result, and allowed ways of invoking.
#[derive(Debug, Clone, PartialEq)]
pub struct Prototype {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub result: Option<Parameter>,
    /// The ways of invoking that are allowed.
    pub restriction: Restriction,
}

/// Ways of invoking an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restriction {
    /// Both.
    None,
    /// `{call}`.
    Call,
    /// `{send}`.
    Send,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// How it is passed.
    pub passing: Passing,
    /// Its name and bounds; prototypes may leave the name out.
    pub declarator: Option<Declarator>,
    /// Its type.
    pub of: TypeExpression,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// Copied in.
    Value,
    /// Copied in and out.
    Var,
    /// Copied out.
    Result,
    /// By reference.
    Reference,
}

/// An operation's implementation.
#[derive(Debug, Clone, PartialEq)]
pub struct Proc {
    /// The operation.
    pub name: Name,
    /// The parameters' names here.
    pub parameters: Vec<Name>,
    /// The result's name here.
    pub result: Option<Name>,
    /// The code.
    pub block: Block,
}

//! Types, and the bounds of arrays and strings.

use antiphon_lang::Span;

use super::{Expression, Name, ObjectGroup, Path, Prototype};

/// A dimension's bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The lower bound, if one is given.
    pub lower: Option<Bound>,
    /// The upper bound, or the only expression.
    pub upper: Bound,
}

/// A bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A value.
    Value(Expression),
    /// `*`: the bound of the argument or the value.
    Any(Span),
}

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpression {
    /// Its kind.
    pub kind: TypeKind,
    /// Where it is.
    pub span: Span,
}

/// The kind of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `int`.
    Int,
    /// `real`.
    Real,
    /// `file`.
    File,
    /// `string[n]`.
    Text(Box<Bound>),
    /// `enum(a, b)`.
    Enum(Vec<Name>),
    /// `ptr type`; none for `ptr any`.
    Pointer(Option<Box<TypeExpression>>),
    /// `rec(fields)` or `union(fields)`.
    Record(Vec<ObjectGroup>),
    /// `cap resource`, `cap operation` or `cap optype`.
    CapabilityFor(Path),
    /// `cap (parameters)`.
    CapabilityLike(Box<Prototype>),
    /// `cap sem`.
    CapabilitySemaphore,
    /// `cap vm`.
    CapabilityMachine,
    /// `[bounds] type`.
    Array(Vec<Bounds>, Box<TypeExpression>),
    /// A type's name.
    Named(Path),
}

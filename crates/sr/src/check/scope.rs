//! What names mean.

use std::collections::HashMap;

use crate::program::{ComponentId, Expression, OperationId, Shape, SignatureId, TypeId, VariableId};

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// A variable, constant, parameter or quantifier variable.
    Variable(VariableId),
    /// A constant whose value stands for it: an enumeration's literal, or a constant of a specification.
    Value(Box<Expression>),
    /// An operation.
    Operation(OperationId),
    /// A type, with the bounds that it was declared with.
    Type(TypeId, Shape),
    /// An optype.
    Optype(SignatureId),
    /// A component.
    Component(ComponentId),
    /// Something that was declared wrongly: no more is said of it.
    Wrong,
}

/// Scopes, from that of the predefined names inwards.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The scopes; the last is the innermost.
    open: Vec<HashMap<String, Meaning>>,
}

impl Scopes {
    /// What a name means here, if it is declared; imported names that are ambiguous are left to the caller.
    pub(crate) fn find(&self, name: &str) -> Option<&Meaning> {
        self.open.iter().rev().find_map(|scope| scope.get(name))
    }
}

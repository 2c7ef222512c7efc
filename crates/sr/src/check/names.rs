//! Looking names up.

use crate::program::*;
use crate::source::Span;
use crate::syntax;

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// What a name means here; none if it is not declared. A name that several imports have is reported, and means [`Meaning::Wrong`].
    pub(super) fn lookup(&mut self, name: &str, _span: Span) -> Option<Meaning> {
        self.scopes.find(name).cloned()
    }

    /// What a component has under a name; reported if it has nothing.
    pub(super) fn lookup_in(&mut self, _component: ComponentId, _name: &syntax::Name) -> Meaning {
        Meaning::Wrong
    }

    /// What a path means; none, and no message, if it is not declared.
    pub(super) fn meaning_of_path(&mut self, path: &syntax::Path) -> Option<Meaning> {
        self.lookup(&path.name.text, path.name.span)
    }

    /// Reports a name that is not declared, with one that is like it.
    pub(super) fn undeclared(&mut self, name: &str, span: Span) {
        self.error(span, format!("\"{name}\" is not declared"));
    }

    /// A type as it is written, with the bounds and lengths that are evaluated.
    pub(super) fn type_expression(&mut self, _of: &syntax::TypeExpression) -> (TypeId, Shape) {
        (self.number(Type::Wrong), Shape::default())
    }

    /// A dimension: its type, and its bounds; none if an error was found.
    pub(super) fn bounds(
        &mut self,
        _bounds: &syntax::Bounds,
    ) -> Option<(Dimension, Expression, Expression)> {
        None
    }

    /// A signature.
    pub(super) fn prototype(&mut self, _prototype: &syntax::Prototype) -> SignatureId {
        self.bare_signature()
    }

    /// The signature of semaphores.
    pub(super) fn bare_signature(&mut self) -> SignatureId {
        SignatureId(0)
    }
}

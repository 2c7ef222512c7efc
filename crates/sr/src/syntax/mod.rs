//! The syntax tree of the source: names are not resolved, and types are not known.

use antiphon_lang::Span;

mod component;
mod declaration;
mod expression;
mod statement;
mod types;

pub use component::*;
pub use declaration::*;
pub use expression::*;
pub use statement::*;
pub use types::*;

/// A use of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The text.
    pub text: String,
    /// The place.
    pub span: Span,
}

/// A name, or a component's name and one of its own: `Stack.push`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The component, if one is named.
    pub component: Option<Name>,
    /// The name.
    pub name: Name,
}

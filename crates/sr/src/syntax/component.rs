//! Components, and the items in them and in blocks.

use antiphon_lang::Span;

use super::{
    Block, Declarator, Expression, Name, ObjectGroup, OperationGroup, Parameter, Proc, Prototype,
    Quantifier, Statement, TypeExpression,
};

/// A resource or a global.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Whether it is a resource or a global.
    pub kind: ComponentKind,
    /// Its name.
    pub name: Name,
    /// A resource's parameters.
    pub parameters: Vec<Parameter>,
    /// Declarations that other components see; empty if specification and body are one and nothing
    /// is exported.
    pub specification: Vec<Item>,
    /// The body.
    pub body: Body,
}

/// Resource or global.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentKind {
    /// Instances are created.
    Resource,
    /// There is one instance on a machine.
    Global,
    /// A separate body; the specification says whether it is a resource's or a global's.
    SeparateBody,
}

/// A component's body.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// There is none: a global gets an empty one, a resource is abstract.
    None,
    /// It is elsewhere: `separate`.
    Separate,
    /// Its items, in order.
    Items(Vec<Item>),
}

/// Something in a component or block.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its kind.
    pub kind: ItemKind,
    /// Where it is.
    pub span: Span,
}

/// The kind of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// `import a, b`.
    Import(Vec<Name>),
    /// `extend a, b`.
    Extend(Vec<Name>),
    /// `type name = type`.
    Type(Name, TypeExpression),
    /// `optype name = prototype`.
    Optype(Name, Prototype),
    /// `var` or `const` with its objects.
    Objects {
        /// Whether they must not be assigned.
        is_constant: bool,
        /// The groups between commas that share a type and value.
        groups: Vec<ObjectGroup>,
    },
    /// `op` or `external` with its declarations.
    Operations {
        /// Whether they are C functions.
        is_external: bool,
        /// The groups that share a prototype.
        groups: Vec<OperationGroup>,
    },
    /// `sem` with names, bounds and initial values.
    Semaphores(Vec<(Declarator, Option<Expression>)>),
    /// `proc name (parameters) returns name … end`.
    Proc(Proc),
    /// `procedure prototype … end`: an operation and its proc.
    Procedure(Name, Prototype, Block),
    /// `process name (quantifiers) … end`, with its region, which may depend on the quantifiers.
    Process(Name, Vec<Quantifier>, Block, Option<Expression>),
    /// `final … end`.
    Final(Block),
    /// A statement.
    Statement(Statement),
}

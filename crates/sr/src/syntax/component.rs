//! Components, and what stands in them and in blocks.

use antiphon_lang::Span;

use super::{
    Block, Declarator, Expression, Name, ObjectGroup, OperationGroup, Parameter, Proc, Prototype,
    Quantifier, Statement, TypeExpression,
};

/// A resource or a global.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Which of the two.
    pub kind: ComponentKind,
    /// Its name.
    pub name: Name,
    /// A resource's parameters.
    pub parameters: Vec<Parameter>,
    /// What others see; empty if specification and body are one and nothing is exported.
    pub specification: Vec<Item>,
    /// What it does.
    pub body: Body,
}

/// Resource or global.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComponentKind {
    /// Instances are created.
    Resource,
    /// There is one instance on a machine.
    Global,
    /// A body that stands apart from its specification; which of the two it is, that says.
    SeparateBody,
}

/// A component's body.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// There is none: a global gets an empty one, a resource is abstract.
    None,
    /// It stands elsewhere: `separate`.
    Separate,
    /// Its items, in order.
    Items(Vec<Item>),
}

/// Something in a component or block.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it is.
    pub span: Span,
}

/// What an item is.
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
    /// `var` or `const` with what is declared.
    Objects {
        /// Whether they may be assigned.
        is_constant: bool,
        /// The groups between commas that share a type and value.
        groups: Vec<ObjectGroup>,
    },
    /// `op` or `external` with what is declared.
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
    /// `process name (quantifiers) … end`, with the region that each is in, which may be a different one for each tuple of the quantifiers.
    Process(Name, Vec<Quantifier>, Block, Option<Expression>),
    /// `final … end`.
    Final(Block),
    /// A statement.
    Statement(Statement),
}

//! Expressions, their literals and operators.

use antiphon_lang::Span;

use super::{Bounds, Name, Prototype, TypeExpression};

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Where it is.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// A name.
    Name(String),
    /// A literal.
    Literal(Literal),
    /// A name with arguments: an operation, a predefined function, a conversion, or a record's
    /// constructor.
    Invoke(Box<Invocation>),
    /// `(a, b, [n] c)`.
    Array(Vec<Element>),
    /// Two operands.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a := b`.
    Assign(Box<Expression>, Box<Expression>),
    /// `a +:= b`.
    Augment(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a :=: b`.
    Swap(Box<Expression>, Box<Expression>),
    /// One operand.
    Unary(UnaryOperator, Box<Expression>),
    /// `int(x)` and the like, and `string(x)`.
    Convert(BasicType, Box<Expression>),
    /// `low(type)`.
    Low(TypeExpression),
    /// `high(type)`.
    High(TypeExpression),
    /// `new(type)`.
    New(TypeExpression),
    /// `new(op prototype)` or `new(sem)`, perhaps with subscripts.
    NewOperation(Vec<Bounds>, Option<Box<Prototype>>),
    /// `record.field` or `component.name`.
    Field(Box<Expression>, Name),
    /// `array[subscripts]`, which may be slices.
    Index(Box<Expression>, Vec<Bounds>),
    /// `create resource(arguments) on machine`; no name for `vm`.
    Create(Box<Creation>),
}

/// An operation, or a capability for one, with arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The operation.
    pub operation: Expression,
    /// The arguments.
    pub arguments: Vec<Expression>,
}

/// A creation of an instance or a virtual machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Creation {
    /// The resource; none for `vm`.
    pub resource: Option<Name>,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// The machine.
    pub machine: Option<Expression>,
    /// The region of its processes: `#@ region expression`.
    pub region: Option<Expression>,
}

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An integer.
    Integer(i32),
    /// A real number.
    Real(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A character.
    Character(u8),
    /// A string.
    Text(Vec<u8>),
    /// `null`.
    Null,
    /// `noop`.
    Noop,
    /// `stdin`.
    Stdin,
    /// `stdout`.
    Stdout,
    /// `stderr`.
    Stderr,
}

/// An element of an array's constructor.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// How often it is repeated.
    pub times: Option<Expression>,
    /// Its value.
    pub value: Expression,
}

/// A type that converts by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasicType {
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
    /// `string`.
    Text,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `or`, `|`.
    Or,
    /// `xor`.
    Xor,
    /// `and`, `&`.
    And,
    /// `=`.
    Equal,
    /// `!=`, `~=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `||`.
    Concatenate,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `mod`.
    Mod,
    /// `%`.
    Remainder,
    /// `**`.
    Power,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `not`, `~`.
    Not,
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `@`.
    Address,
    /// `?`.
    Pending,
    /// `++x`.
    IncrementBefore,
    /// `--x`.
    DecrementBefore,
    /// `x++`.
    IncrementAfter,
    /// `x--`.
    DecrementAfter,
    /// `x^`.
    Dereference,
}

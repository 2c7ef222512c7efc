//! Statements, and the blocks and arms in them.

use antiphon_lang::Span;

use super::{Expression, Invocation, Item, Name};

/// Items that have a scope of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// In order.
    pub items: Vec<Item>,
    /// From the first to the last.
    pub span: Span,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `skip`.
    Skip,
    /// `stop` or `stop (code)`.
    Stop(Option<Expression>),
    /// `exit`.
    Exit,
    /// `next`.
    Next,
    /// `return`.
    Return,
    /// `reply`.
    Reply,
    /// `forward op (arguments)`.
    Forward(Invocation),
    /// `send op (arguments)`.
    Send(Invocation),
    /// `call op (arguments)`.
    Call(Invocation),
    /// `destroy capability`.
    Destroy(Expression),
    /// `V (semaphore)`.
    V(Expression),
    /// `P (semaphore)`.
    P(Expression),
    /// `receive op (variables)`.
    Receive(Expression, Vec<Expression>),
    /// `begin … end`.
    Block(Block),
    /// `if` with guards and an else part.
    If(Vec<(Expression, Block)>, Option<Block>),
    /// `do` with guards and an else part.
    Do(Vec<(Expression, Block)>, Option<Block>),
    /// `fa quantifiers -> … af`.
    ForAll(Vec<Quantifier>, Block),
    /// `in` with arms and an else part.
    Input(Vec<Arm>, Option<Block>),
    /// `co … oc`.
    Concurrent(Vec<ConcurrentArm>),
    /// An expression for its effect.
    Expression(Expression),
}

/// `name := first to last by step st test`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantifier {
    /// The variable.
    pub name: Name,
    /// Its first value.
    pub first: Expression,
    /// Whether the values descend.
    pub is_down: bool,
    /// Its limit.
    pub last: Expression,
    /// The step; 1 or -1 if none is given.
    pub step: Option<Expression>,
    /// A condition that selects values.
    pub test: Option<Expression>,
}

/// An arm of an input statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Quantifiers: the arm exists for each of their values.
    pub quantifiers: Vec<Quantifier>,
    /// The operation.
    pub operation: Expression,
    /// The parameters' names here.
    pub parameters: Vec<Name>,
    /// The result's name here.
    pub result: Option<Name>,
    /// The condition for taking an invocation.
    pub synchronization: Option<Expression>,
    /// The expression whose least value selects the invocation.
    pub scheduling: Option<Expression>,
    /// The statements of the arm.
    pub block: Block,
}

/// An arm of a co statement.
#[derive(Debug, Clone, PartialEq)]
pub struct ConcurrentArm {
    /// Quantifiers: the invocation exists for each of their values.
    pub quantifiers: Vec<Quantifier>,
    /// The invocation: a call, a send, or an assignment of a result.
    pub invocation: Box<Statement>,
    /// The place of the invocation.
    pub span: Span,
    /// Statements for its completion.
    pub block: Option<Block>,
}

use antiphon_lang::Span;

use super::{ComponentId, Expression, Invocation, OperationId, Shape, Target, VariableId};

/// Statements with a scope of their own: what they declare ends with them.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement, or a declaration where it takes effect.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it is.
    pub span: Span,
}

/// What a statement is.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// A variable or constant begins to live.
    Declare {
        /// The variable.
        variable: VariableId,
        /// Its bounds and length, if its type has any; none if it takes them from the value.
        shape: Option<Shape>,
        /// Its first value.
        value: Option<Expression>,
    },
    /// Operations begin to live. Those of a component's body do so where they are declared, too.
    DeclareOperation {
        /// The operation.
        operation: OperationId,
        /// For semaphores: how often V is done at once; for an array of them an array of numbers, or one for all.
        value: Option<Expression>,
    },
    /// A global is imported here: it is made now, and its body run, unless that has been done.
    Import(ComponentId),
    /// A process is sent for, once for every tuple of its quantifiers, whose values are its arguments.
    Start {
        /// The process's operation.
        process: OperationId,
        /// The quantifiers.
        quantifiers: Vec<Quantifier>,
        /// The region that it runs in; it may speak of the quantifiers' variables.
        region: Option<Expression>,
    },
    /// An expression for its effect.
    Expression(Expression),
    /// `stop`, with an exit code.
    Stop(Option<Expression>),
    /// Leaves the innermost do, fa or co.
    Exit,
    /// Goes on with the innermost do, fa or co.
    Next,
    /// Ends the proc, or the arm of an input statement.
    Return,
    /// Lets the caller go on.
    Reply,
    /// Hands the obligation to reply on.
    Forward(Invocation),
    /// Invokes without waiting.
    Send(Invocation),
    /// Invokes and waits; a result is not used.
    Call(Invocation),
    /// Destroys a resource's instance or an operation.
    Destroy(Expression),
    /// Takes an invocation and copies its parameters to places; none where a value is not wanted. For semaphores: P.
    Receive(Target, Vec<Expression>),
    /// V on a semaphore: the same as a send, and an operation that is none may be meant, too.
    V(Target),
    /// Statements with a scope.
    Block(Block),
    /// The first arm whose guard is true.
    If(Vec<(Expression, Block)>, Option<Block>),
    /// The same, again and again, until no guard is true.
    Do(Vec<(Expression, Block)>, Option<Block>),
    /// For all values.
    ForAll(Vec<Quantifier>, Block),
    /// An input statement.
    Input(Vec<Arm>, Option<Block>),
    /// Invocations at the same time.
    Concurrent(Vec<ConcurrentArm>),
}

/// Values of a variable. Limit and step are evaluated anew each time, and the variable may be assigned.
#[derive(Debug, Clone)]
pub struct Quantifier {
    /// The variable, local to the statement.
    pub variable: VariableId,
    /// Its first value.
    pub first: Expression,
    /// Whether it goes down.
    pub is_down: bool,
    /// Its limit.
    pub last: Expression,
    /// The step, if it is not 1 or -1.
    pub step: Option<Expression>,
    /// What must hold for a value to be taken.
    pub test: Option<Expression>,
}

/// An arm of an input statement.
#[derive(Debug, Clone)]
pub struct Arm {
    /// There is such an arm for every tuple of values.
    pub quantifiers: Vec<Quantifier>,
    /// What is serviced.
    pub target: Target,
    /// The parameters, as they are named here ([`Storage::Arm`](super::Storage::Arm)).
    pub parameters: Vec<VariableId>,
    /// The result.
    pub result: Option<VariableId>,
    /// What must hold for an invocation to be taken.
    pub synchronization: Option<Expression>,
    /// What is least for the invocation that is taken.
    pub scheduling: Option<Expression>,
    /// What is done.
    pub block: Block,
    /// Where it is.
    pub span: Span,
}

/// An arm of a co statement.
#[derive(Debug, Clone)]
pub struct ConcurrentArm {
    /// There is such an invocation for every tuple of values. Their variables have, in `block`, the values of the invocation that is complete.
    pub quantifiers: Vec<Quantifier>,
    /// What is invoked.
    pub invocation: Invocation,
    /// Whether it is sent and so complete at once.
    pub is_send: bool,
    /// Where the result goes. An int result may go to a real place.
    pub result_to: Option<Expression>,
    /// What is done when it is complete.
    pub block: Option<Block>,
    /// Where it is.
    pub span: Span,
}

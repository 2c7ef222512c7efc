use antiphon_lang::Span;

use super::{ComponentId, Expression, Invocation, OperationId, Shape, Target, VariableId};

/// Statements with a scope of their own, in which their declarations end.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
}

/// A statement, or a declaration in the place where it takes effect.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Where it is.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// Declares a variable or constant.
    Declare {
        /// The variable.
        variable: VariableId,
        /// Its bounds and length, if its type has any; none if they come from the value.
        shape: Option<Shape>,
        /// Its first value.
        value: Option<Expression>,
    },
    /// Declares operations. Those of a component's body also begin where they are declared.
    DeclareOperation {
        /// The operation.
        operation: OperationId,
        /// For semaphores: the number of initial Vs; for an array of them an array of numbers, or
        /// one for all.
        value: Option<Expression>,
    },
    /// Imports a global: makes it and runs its body, unless that has been done.
    Import(ComponentId),
    /// Starts a process for every tuple of its quantifiers, whose values are its arguments.
    Start {
        /// The process's operation.
        process: OperationId,
        /// The quantifiers.
        quantifiers: Vec<Quantifier>,
        /// The region in which it runs; it may depend on the quantifiers' variables.
        region: Option<Expression>,
    },
    /// An expression for its effect.
    Expression(Expression),
    /// `stop`, with an exit code.
    Stop(Option<Expression>),
    /// Leaves the innermost do, fa or co.
    Exit,
    /// Continues with the next iteration of the innermost do, fa or co.
    Next,
    /// Ends the proc, or the arm of an input statement.
    Return,
    /// Lets the caller continue.
    Reply,
    /// Passes on the duty to reply.
    Forward(Invocation),
    /// Invokes without waiting.
    Send(Invocation),
    /// Invokes and waits; the result is not used.
    Call(Invocation),
    /// Destroys a resource's instance or an operation.
    Destroy(Expression),
    /// Takes an invocation and copies its parameters to places; none for an unused value. For
    /// semaphores: P.
    Receive(Target, Vec<Expression>),
    /// V on a semaphore: the same as a send. The target may also be an operation that is no
    /// semaphore.
    V(Target),
    /// Statements with a scope.
    Block(Block),
    /// Runs the first arm whose guard is true.
    If(Vec<(Expression, Block)>, Option<Block>),
    /// The same, repeatedly, until no guard is true.
    Do(Vec<(Expression, Block)>, Option<Block>),
    /// Runs a block for all values.
    ForAll(Vec<Quantifier>, Block),
    /// An input statement.
    Input(Vec<Arm>, Option<Block>),
    /// Invocations that run concurrently.
    Concurrent(Vec<ConcurrentArm>),
}

/// Values of a variable. Limit and step are evaluated each time, and the variable may be assigned.
#[derive(Debug, Clone)]
pub struct Quantifier {
    /// The variable, local to the statement.
    pub variable: VariableId,
    /// Its first value.
    pub first: Expression,
    /// Whether the values descend.
    pub is_down: bool,
    /// Its limit.
    pub last: Expression,
    /// The step, if it is not 1 or -1.
    pub step: Option<Expression>,
    /// A condition that selects values.
    pub test: Option<Expression>,
}

/// An arm of an input statement.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Variables; the arm exists for every tuple of their values.
    pub quantifiers: Vec<Quantifier>,
    /// The operation that is serviced.
    pub target: Target,
    /// The parameters, with their names here ([`Storage::Arm`](super::Storage::Arm)).
    pub parameters: Vec<VariableId>,
    /// The result.
    pub result: Option<VariableId>,
    /// The condition for taking an invocation.
    pub synchronization: Option<Expression>,
    /// The expression whose least value selects the invocation.
    pub scheduling: Option<Expression>,
    /// The statements of the arm.
    pub block: Block,
    /// Where it is.
    pub span: Span,
}

impl Arm {
    /// Whether it takes the oldest invocation of one operation, whatever its parameters are.
    pub(crate) fn is_plain(&self) -> bool {
        self.quantifiers.is_empty() && self.synchronization.is_none() && self.scheduling.is_none()
    }
}

/// An arm of a co statement.
#[derive(Debug, Clone)]
pub struct ConcurrentArm {
    /// Variables; the invocation exists for every tuple of their values. In `block` they have the
    /// values of the completed invocation.
    pub quantifiers: Vec<Quantifier>,
    /// The invocation.
    pub invocation: Invocation,
    /// Whether it is a send, which completes at once.
    pub is_send: bool,
    /// The place for the result. An int result may go to a real place.
    pub result_to: Option<Expression>,
    /// Statements for its completion.
    pub block: Option<Block>,
    /// Where it is.
    pub span: Span,
}

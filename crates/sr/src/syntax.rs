//! The syntax tree, as it was written: names are not resolved and types not known.

use crate::source::Span;

/// A name where it stands.
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

/// A name with subscripts after it, as in `var a[1:n]: int`.
#[derive(Debug, Clone, PartialEq)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// The bounds of each dimension.
    pub dimensions: Vec<Bounds>,
}

/// Objects of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectGroup {
    /// Names with bounds.
    pub declarators: Vec<Declarator>,
    /// The type; that of the value if none is given.
    pub of: Option<TypeExpression>,
    /// The initial value.
    pub value: Option<Expression>,
}

/// Operations of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationGroup {
    /// Names with bounds.
    pub declarators: Vec<Declarator>,
    /// Their parameters, or an optype's name.
    pub of: OperationKind,
}

/// What operations are like.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationKind {
    /// Parameters and result.
    Prototype(Prototype),
    /// As an optype, or another operation, has it.
    Named(Path),
}

/// Parameters, result, and who may invoke.
#[derive(Debug, Clone, PartialEq)]
pub struct Prototype {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub result: Option<Parameter>,
    /// The ways of invoking that are allowed.
    pub restriction: Restriction,
}

/// Ways of invoking an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restriction {
    /// Both.
    None,
    /// `{call}`.
    Call,
    /// `{send}`.
    Send,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// How it is passed.
    pub passing: Passing,
    /// Its name and bounds; prototypes may leave the name out.
    pub declarator: Option<Declarator>,
    /// Its type.
    pub of: TypeExpression,
}

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// Copied in.
    Value,
    /// Copied in and out.
    Var,
    /// Copied out.
    Result,
    /// By reference.
    Reference,
}

/// An operation's implementation.
#[derive(Debug, Clone, PartialEq)]
pub struct Proc {
    /// The operation.
    pub name: Name,
    /// The parameters' names here.
    pub parameters: Vec<Name>,
    /// The result's name here.
    pub result: Option<Name>,
    /// What it does.
    pub block: Block,
}

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
    /// `*`: whatever the argument or the value has.
    Any(Span),
}

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpression {
    /// What it is.
    pub kind: TypeKind,
    /// Where it is.
    pub span: Span,
}

/// What a type is.
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
    /// `ptr type`, or `ptr any` for none.
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

/// An operation, or a capability for one, with arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// What is invoked.
    pub operation: Expression,
    /// With what.
    pub arguments: Vec<Expression>,
}

/// `name := first to last by step st test`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantifier {
    /// The variable.
    pub name: Name,
    /// Its first value.
    pub first: Expression,
    /// Whether it goes down.
    pub is_down: bool,
    /// Its limit.
    pub last: Expression,
    /// The step; 1 or -1 if none is given.
    pub step: Option<Expression>,
    /// What must hold for a value to be taken.
    pub test: Option<Expression>,
}

/// An arm of an input statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// Values for which there is such an arm each.
    pub quantifiers: Vec<Quantifier>,
    /// The operation.
    pub operation: Expression,
    /// The parameters' names here.
    pub parameters: Vec<Name>,
    /// The result's name here.
    pub result: Option<Name>,
    /// What must hold for an invocation to be taken.
    pub synchronization: Option<Expression>,
    /// What is least for the invocation that is taken.
    pub scheduling: Option<Expression>,
    /// What is done.
    pub block: Block,
}

/// An arm of a co statement.
#[derive(Debug, Clone, PartialEq)]
pub struct ConcurrentArm {
    /// Values for which there is such an invocation each.
    pub quantifiers: Vec<Quantifier>,
    /// The invocation: a call, a send, or an assignment of a result.
    pub invocation: Box<Statement>,
    /// The place of the invocation.
    pub span: Span,
    /// What is done when it is complete.
    pub block: Option<Block>,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where it is.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpressionKind {
    /// A name.
    Name(String),
    /// A literal.
    Literal(Literal),
    /// Something invoked with arguments: an operation, a predefined function, a conversion, or a record's constructor.
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
    /// `int(x)` and its like, and `string(x)`.
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

/// What is created.
#[derive(Debug, Clone, PartialEq)]
pub struct Creation {
    /// The resource; none for `vm`.
    pub resource: Option<Name>,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// Where.
    pub machine: Option<Expression>,
    /// The region that its processes are in: `#@ region expression`.
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

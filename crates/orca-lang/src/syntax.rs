//! The syntax tree of a unit, as the parser makes it.

use antiphon_lang::Span;

/// An identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A name after the units that contain it: `unit.name`.
pub type Qualified = Vec<Name>;

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// Types, functions, processes.
    Module,
    /// Global variables that only their initial code writes.
    Data,
    /// An abstract data type.
    Object,
}

impl UnitKind {
    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            UnitKind::Module => "module",
            UnitKind::Data => "data module",
            UnitKind::Object => "object",
        }
    }
}

/// A specification or an implementation.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Its kind.
    pub kind: UnitKind,
    /// Whether it is the specification.
    pub is_specification: bool,
    /// Its name.
    pub name: Name,
    /// Whether it is generic.
    pub is_generic: bool,
    /// The parameters of a generic unit, in its specification.
    pub parameters: Vec<GenericParameter>,
    /// The dimensions of a partitioned object.
    pub shape: Option<Vec<Dimension>>,
    /// Its declarations.
    pub declarations: Vec<Declaration>,
    /// Its initial code.
    pub initial: Option<Vec<Statement>>,
}

/// A dimension of a partitioned object.
#[derive(Debug, Clone)]
pub struct Dimension {
    /// The type of the index.
    pub index: Qualified,
    /// In the implementation: the names of its bounds.
    pub bounds: Option<(Name, Name)>,
}

/// The operations on the type of a generic parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Restriction {
    /// Assignment and passing.
    None,
    /// Relations.
    Scalar,
    /// Arithmetic.
    Numeric,
}

/// A parameter of a generic unit.
#[derive(Debug, Clone)]
pub enum GenericParameter {
    /// A type.
    Type(Name, Restriction),
    /// A function.
    Function(Name, Vec<Formal>, Option<Qualified>),
    /// A constant.
    Const(Name, Qualified),
}

/// A declaration of a unit or a block.
#[derive(Debug, Clone)]
pub enum Declaration {
    /// `[FROM unit] IMPORT names`
    Import {
        /// The unit whose names become visible without a prefix.
        from: Option<Name>,
        /// Units, or names of the unit.
        names: Vec<Name>,
    },
    /// `MODULE|OBJECT name = NEW generic(arguments)`
    Instance {
        /// The kind of the generic unit.
        kind: UnitKind,
        /// The new unit.
        name: Name,
        /// The generic unit.
        generic: Name,
        /// Types, functions and constants.
        arguments: Vec<Expression>,
    },
    /// `CONST name = value`
    Const(Name, Expression),
    /// `TYPE name = type`; opaque without a type.
    Type(Name, Option<Type>),
    /// `names: type`
    Variables(Variables),
    /// A function, process or operation.
    Routine(Routine),
}

/// Variables or fields of one type.
#[derive(Debug, Clone)]
pub struct Variables {
    /// Their names.
    pub names: Vec<Name>,
    /// Their type, with initial bounds.
    pub of: SizedType,
}

/// A type with initial bounds of arrays, or an initial tag.
#[derive(Debug, Clone)]
pub struct SizedType {
    /// The type.
    pub ty: Type,
    /// Bounds: of the array, of its elements, and so on.
    pub bounds: Vec<Vec<Bounds>>,
    /// The initial tag of a union.
    pub tag: Option<Box<Expression>>,
}

/// `low .. high`
pub type Bounds = (Expression, Expression);

/// A type.
#[derive(Debug, Clone)]
pub struct Type {
    /// Its kind.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The kind of a type.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// A type with a name.
    Named(Qualified),
    /// `(a, b)`
    Enumeration(Vec<Name>),
    /// `RECORD fields END`
    Record(Vec<Variables>),
    /// `UNION(tag: type) value => name: type; END`
    Union {
        /// The name of the tag.
        tag: Name,
        /// Its type.
        of: Qualified,
        /// Its initial value.
        initial: Option<Box<Expression>>,
        /// The alternatives.
        alternatives: Vec<(Expression, Name, SizedType)>,
    },
    /// `ARRAY[index, index] OF element`
    Array(Vec<(Qualified, Option<Box<Bounds>>)>, Box<Type>),
    /// `SET OF element`
    Set(Box<Type>),
    /// `BAG OF element`
    Bag(Box<Type>),
    /// `GRAPH fields NODES fields END`
    Graph(Vec<Variables>, Vec<Variables>),
    /// `NODENAME OF graph`
    NodeName(Name),
    /// `FUNCTION(types): type`
    Function(Vec<(Mode, Qualified)>, Option<Qualified>),
}

/// The mode of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A copy.
    In,
    /// Copied back at the return.
    Out,
    /// A reference.
    Shared,
}

impl Mode {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::In => "IN",
            Mode::Out => "OUT",
            Mode::Shared => "SHARED",
        }
    }
}

/// Parameters of one type.
#[derive(Debug, Clone)]
pub struct Formal {
    /// Their names.
    pub names: Vec<Name>,
    /// Their mode.
    pub mode: Mode,
    /// Their type, with bounds for OUT.
    pub of: SizedType,
    /// The way to combine the values of the parts of a parallel operation.
    pub combine: Option<Combine>,
}

/// The way to combine the values of the parts of a parallel operation.
#[derive(Debug, Clone)]
pub enum Combine {
    /// `GATHER array`
    Gather,
    /// `REDUCE type WITH function`
    Reduce(Name),
}

/// The kind of a routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoutineKind {
    /// A function.
    Function,
    /// A process.
    Process,
    /// An operation of an object.
    Operation,
}

impl RoutineKind {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            RoutineKind::Function => "function",
            RoutineKind::Process => "process",
            RoutineKind::Operation => "operation",
        }
    }
}

/// A function, process or operation.
#[derive(Debug, Clone)]
pub struct Routine {
    /// Its kind.
    pub kind: RoutineKind,
    /// Its name.
    pub name: Name,
    /// The indices of a parallel operation.
    pub indices: Option<Vec<Name>>,
    /// Its parameters.
    pub formals: Vec<Formal>,
    /// The type of its result, and the way to combine parts of it.
    pub result: Option<(Qualified, Option<Combine>)>,
    /// Its block, unless this is only its heading.
    pub block: Option<Block>,
}

/// The declarations and statements of a routine.
#[derive(Debug, Clone)]
pub struct Block {
    /// Local constants, types and variables.
    pub declarations: Vec<Declaration>,
    /// Statements that declare the elements that a parallel operation reads.
    pub dependencies: Option<Vec<Statement>>,
    /// Its statements.
    pub body: Body,
    /// The word END.
    pub end: Span,
}

/// Statements, or guarded alternatives of them.
#[derive(Debug, Clone)]
pub enum Body {
    /// Statements.
    Plain(Vec<Statement>),
    /// `GUARD condition DO statements OD`
    Guarded(Vec<(Expression, Vec<Statement>)>),
}

/// A statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// Its place.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// A call of a function or an operation.
    Call(Expression),
    /// `target := value`, or with an operator before `:=`.
    Assign(Expression, Option<Binary>, Expression),
    /// `FORK process(arguments) ON machine`
    Fork(Qualified, Vec<Expression>, Option<Expression>),
    /// `EXIT`
    Exit,
    /// `RETURN value`
    Return(Option<Expression>),
    /// Conditions with their statements, and the ELSE part.
    If(Vec<(Expression, Vec<Statement>)>, Option<Vec<Statement>>),
    /// `CASE value OF .. ESAC`
    Case(Expression, Vec<Arm>, Option<Vec<Statement>>),
    /// `REPEAT statements UNTIL condition`
    Repeat(Vec<Statement>, Expression),
    /// `WHILE condition DO statements OD`; without a condition the loop is endless.
    While(Option<Expression>, Vec<Statement>),
    /// `FOR name IN low .. high DO statements OD`, or over a set.
    For(Name, Expression, Option<Expression>, Vec<Statement>),
    /// `ACCESS [indices]`
    Access(Vec<Expression>),
}

/// An alternative of CASE.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Values, or ranges of them.
    pub labels: Vec<(Expression, Option<Expression>)>,
    /// The statements for them.
    pub statements: Vec<Statement>,
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its place.
    pub span: Span,
}

/// The kind of an expression.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// An integer.
    Integer(i32),
    /// A real number.
    Real(f64),
    /// A character.
    Character(u8),
    /// A string.
    Text(Vec<u8>),
    /// A name.
    Name(String),
    /// `value.field`, or a name in a unit.
    Select(Box<Expression>, Name),
    /// `value[indices]`
    Index(Box<Expression>, Vec<Expression>),
    /// `graph!field`
    Follow(Box<Expression>, Name),
    /// `function(arguments)`
    Call(Box<Expression>, Vec<Expression>),
    /// `object$operation(arguments)`
    Invoke(Box<Expression>, Name, Vec<Expression>),
    /// `object$$directive(arguments)`
    Direct(Box<Expression>, Name, Vec<Expression>),
    /// `FROM(set)`
    From(Vec<Expression>),
    /// `type:{members}`
    Members(Box<Expression>, Vec<Expression>),
    /// `type:[rows]`
    Rows(Box<Expression>, Vec<Row>),
    /// An operator before its operand.
    Unary(Unary, Box<Expression>),
    /// An operator between its operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
}

/// A part of an aggregate of an array.
#[derive(Debug, Clone)]
pub enum Row {
    /// An element.
    Element(Expression),
    /// A row in brackets.
    Row(Vec<Row>, Span),
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `NOT`
    Not,
    /// `~`
    Complement,
}

macro_rules! binary {
    ($($name:ident $text:literal)*) => {
        /// An operator between its operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Binary {
            $(#[doc = $text] $name,)*
        }

        impl Binary {
            /// Returns the operator's spelling.
            pub fn text(self) -> &'static str {
                match self { $(Binary::$name => $text,)* }
            }
        }
    };
}

binary! {
    Add "+" Subtract "-" Multiply "*" Divide "/" Modulo "%" BitOr "|" BitAnd "&" BitXor "^"
    ShiftLeft "<<" ShiftRight ">>" Or "OR" And "AND" Equal "=" NotEqual "/=" Less "<"
    LessEqual "<=" Greater ">" GreaterEqual ">=" In "IN"
}

impl Binary {
    /// Returns whether it is a relation.
    pub fn is_relation(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, In, Less, LessEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | In
        )
    }
}

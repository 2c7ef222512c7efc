use antiphon_lang::Span;

use super::{ComponentId, OperationId, Signature, SignatureId, TypeId, VariableId};

/// An expression.
#[derive(Debug, Clone)]
pub struct Expression {
    /// Its kind.
    pub kind: ExpressionKind,
    /// Its type.
    pub of: TypeId,
    /// Where it is.
    pub span: Span,
}

/// Bounds and length that a declaration evaluates.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Low and high of all dimensions, those of elements that are arrays after those of the array;
    /// known ones are constants here.
    pub bounds: Vec<(Expression, Expression)>,
    /// If the innermost element is a string, its maximum length.
    pub most: Option<Box<Expression>>,
}

/// A value that the compiler knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// Of type int, char (its byte), bool (0 or 1) or an enumeration (its ordinal).
    Ordinal(i32),
    /// Of type real.
    Real(f64),
    /// A string.
    Text(Vec<u8>),
    /// `null`, of the expression's type.
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

/// The kind of an expression. Operands have been converted: those of an arithmetic or comparing
/// operator have one type.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Constant),
    /// A variable, of the running code, of its instance, or of a global.
    Variable(VariableId),
    /// A field of a record, by its number.
    Field(Box<Expression>, usize),
    /// An element of an array or, with fewer subscripts than dimensions, the array of the remaining
    /// dimensions. Subscripts are ordinals.
    Index(Box<Expression>, Vec<Expression>),
    /// A part of an array. It has a dimension for each range, and the dimensions without
    /// subscripts.
    Slice(Box<Expression>, Vec<Subscript>),
    /// A character of a string; from 1.
    TextIndex(Box<Expression>, Box<Expression>),
    /// A part of a string: from and to.
    TextSlice(
        Box<Expression>,
        Option<Box<Expression>>,
        Option<Box<Expression>>,
    ),
    /// The object that a pointer points to.
    Dereference(Box<Expression>),
    /// A pointer to a place.
    Address(Box<Expression>),
    /// Two operands. Both have one type, which decides, with three exceptions: a real to the power
    /// of an int, a pointer and an int, and two pointers. With an int, a pointer moves that many
    /// objects; two pointers give the objects between them. The result of a comparison is a bool.
    /// `And` and `Or` of bools do not evaluate the second operand if the first decides.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// Minus a number.
    Negate(Box<Expression>),
    /// Negation of a bool, or the complement of an integer.
    Not(Box<Expression>),
    /// Changes a place (an integer, character, enumeration, real or pointer) by 1 or -1. Its value
    /// is the place's before or after the change.
    Step {
        /// The place.
        place: Box<Expression>,
        /// 1 or -1.
        by: i32,
        /// Whether the value is the one before the change.
        is_value_before: bool,
    },
    /// `place := value`; its value is the place's afterwards.
    Assign(Box<Expression>, Box<Expression>),
    /// `place op:= value`. The place is evaluated once.
    Augment(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a :=: b`.
    Swap(Box<Expression>, Box<Expression>),
    /// A conversion to the expression's type: int to real, null and noop to a type that has them, a
    /// resource's capability to that of a resource it extends. Also char, bool, enum or array of
    /// char to string and back, and explicit conversions by a type's name.
    Convert(Box<Expression>),
    /// An array's elements, each perhaps repeated.
    Array(Vec<(Option<Expression>, Expression)>),
    /// A record's fields.
    Record(Vec<Expression>),
    /// `new(type)`: a pointer to new memory.
    New(TypeId, Shape),
    /// `new(op …)`: a capability for a new operation that input statements service; with bounds, an
    /// array of them.
    NewOperation(SignatureId, Vec<(Expression, Expression)>),
    /// A call whose result is used.
    Call(Box<Invocation>),
    /// An operation as a capability; with missing subscripts an array of them.
    Capability(Target),
    /// `?op`: the number of pending invocations.
    Pending(Target),
    /// A predefined function.
    Predefined(Predefined, Vec<Expression>),
    /// `create`: a capability for a new instance.
    Create {
        /// The resource.
        component: ComponentId,
        /// Its parameters.
        arguments: Vec<Expression>,
        /// The region that its processes run in.
        region: Option<Box<Expression>>,
        /// The virtual machine that it is created on.
        machine: Option<Box<Expression>>,
    },
}

/// The operation that is invoked, serviced or queried.
#[derive(Debug, Clone)]
pub enum Target {
    /// An operation of the running code, of its instance, or of a global; with subscripts for an
    /// element of an array.
    Declared(OperationId, Vec<Expression>),
    /// An operation of the instance that a resource capability is for. The operation's row is that
    /// of the capability's own resource.
    Of(Box<Expression>, OperationId, Vec<Expression>),
    /// The operation that a capability is for.
    Value(Box<Expression>),
}

/// An invocation.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The operation.
    pub target: Target,
    /// Its signature.
    pub signature: SignatureId,
    /// The arguments, converted, one for each parameter. If the parameter is not passed by value,
    /// the argument is a place.
    pub arguments: Vec<Expression>,
    /// Where it is.
    pub span: Span,
}

/// A subscript.
#[derive(Debug, Clone)]
pub enum Subscript {
    /// One place.
    At(Expression),
    /// From and to; none stands for the array's own bound (`*` or left out).
    Range(Option<Expression>, Option<Expression>),
}

/// An operator between two operands.
pub use crate::syntax::BinaryOperator;

/// A predefined function. Arguments have been counted and converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is named as in the language")]
pub enum Predefined {
    /// Lower bound of an array in a dimension: array, dimension (a constant from 1).
    Lb,
    /// Upper bound.
    Ub,
    Pred,
    Succ,
    /// Of a string, or of an array of characters.
    Length,
    Maxlength,
    /// A string as an array of characters.
    Chars,
    /// The least of two or more values of one type.
    Min,
    Max,
    /// Of an int or a real.
    Abs,
    Sqrt,
    /// One argument, or number and base.
    Log,
    /// One argument, or base and exponent.
    Exp,
    Ceil,
    Floor,
    Round,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    /// One argument or two.
    Atan,
    /// None, an upper bound, or both bounds; all real.
    Random,
    Seed,
    Numargs,
    /// Number and place.
    Getarg,
    Nap,
    Age,
    Myresource,
    Mymachine,
    Myvm,
    /// Number, host and the program's path there, which may be empty.
    Locate,
    /// `create vm()`: no argument, or a place: a number or a host.
    CreateMachine,
    Mypriority,
    Setpriority,
    Free,
    /// Name and mode.
    Open,
    Flush,
    Close,
    Remove,
    /// File (stdin by default), place.
    Get,
    /// File (stdout by default), text.
    Put,
    /// File, mode (an ordinal constant: 0 absolute, 1 relative, 2 extend), offset.
    Seek,
    Where,
    /// File (always explicit), then places.
    Read,
    /// File (always explicit), format, places.
    Scanf,
    /// Text, format, places.
    Sscanf,
    /// File (always explicit), then values of any writable type.
    Write,
    Writes,
    /// File (always explicit), format, values.
    Printf,
    /// Place, format, values.
    Sprintf,
}

impl Expression {
    /// Whether it denotes a place, which can be assigned or pointed at.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExpressionKind::Variable(_) | ExpressionKind::Dereference(_) => true,
            ExpressionKind::Field(of, _)
            | ExpressionKind::Index(of, _)
            | ExpressionKind::Slice(of, _)
            | ExpressionKind::TextIndex(of, _)
            | ExpressionKind::TextSlice(of, ..) => of.is_place(),
            _ => false,
        }
    }
}

impl Signature {
    /// Whether it has neither parameters nor result.
    pub fn is_bare(&self) -> bool {
        self.parameters.is_empty() && self.result.is_none()
    }
}

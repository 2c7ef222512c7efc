use antiphon_lang::Span;

use super::{ComponentId, OperationId, Signature, SignatureId, TypeId, VariableId};

/// An expression.
#[derive(Debug, Clone)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Its type.
    pub of: TypeId,
    /// Where it is.
    pub span: Span,
}

/// Bounds and length that a declaration evaluates.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Low and high of all dimensions, those of elements that are arrays after those of the array; known ones are constants here.
    pub bounds: Vec<(Expression, Expression)>,
    /// If the innermost element is a string, the most characters of it.
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
    /// `null`; the expression's type says of what.
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

/// What an expression is. Operands have been converted: those of an arithmetic or comparing operator are of one type.
#[derive(Debug, Clone)]
pub enum ExpressionKind {
    /// A constant.
    Constant(Constant),
    /// A variable, of the running code, of its instance, or of a global.
    Variable(VariableId),
    /// A field of a record, by its number.
    Field(Box<Expression>, usize),
    /// An element of an array, or, with fewer subscripts than dimensions, the array of the rest of the dimensions. Subscripts are ordinals.
    Index(Box<Expression>, Vec<Expression>),
    /// A part of an array. It has a dimension for each range, and those that were not written.
    Slice(Box<Expression>, Vec<Subscript>),
    /// A character of a string; from 1.
    TextIndex(Box<Expression>, Box<Expression>),
    /// A part of a string: from and to.
    TextSlice(
        Box<Expression>,
        Option<Box<Expression>>,
        Option<Box<Expression>>,
    ),
    /// What a pointer points at.
    Dereference(Box<Expression>),
    /// A pointer at a place.
    Address(Box<Expression>),
    /// Two operands. Both are of one type, which decides, but for a real to the power of an int, a pointer and an int (so many objects further or back), and two pointers
    /// (the objects between); the result of a comparison is a bool. `And` and `Or` of bools do not evaluate the second if the first decides.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// Minus a number.
    Negate(Box<Expression>),
    /// Not a bool, or the complement of an integer.
    Not(Box<Expression>),
    /// A place (an integer, character, enumeration, real or pointer) is changed by 1 or -1; the value is the one before or after.
    Step {
        /// The place.
        place: Box<Expression>,
        /// 1 or -1.
        by: i32,
        /// Whether the value is the one before.
        is_value_before: bool,
    },
    /// `place := value`; the value is the place's afterwards.
    Assign(Box<Expression>, Box<Expression>),
    /// `place op:= value`. The place is evaluated once.
    Augment(BinaryOperator, Box<Expression>, Box<Expression>),
    /// `a :=: b`.
    Swap(Box<Expression>, Box<Expression>),
    /// A value as one of another type, which the expression's type says: int to real; char, bool, enum or array of char to string and back; the explicit conversions
    /// by a type's name; null and noop to any type that has them; a resource's capability to that of one it extends.
    Convert(Box<Expression>),
    /// An array's elements; each perhaps repeated.
    Array(Vec<(Option<Expression>, Expression)>),
    /// A record's fields.
    Record(Vec<Expression>),
    /// `new(type)`: a pointer at new memory.
    New(TypeId, Shape),
    /// `new(op …)`: a capability for a new operation that input statements service; with bounds, an array of them.
    NewOperation(SignatureId, Vec<(Expression, Expression)>),
    /// A call for its result.
    Call(Box<Invocation>),
    /// An operation as a capability; an array of operations if subscripts are missing.
    Capability(Target),
    /// `?op`: pending invocations.
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
    },
}

/// What is invoked, serviced or asked about.
#[derive(Debug, Clone)]
pub enum Target {
    /// An operation of the running code, of its instance, or of a global; subscripts if it is one of an array.
    Declared(OperationId, Vec<Expression>),
    /// An operation of the instance that a resource capability is for. The operation is the row of the capability's own resource.
    Of(Box<Expression>, OperationId, Vec<Expression>),
    /// The operation that a capability is for.
    Value(Box<Expression>),
}

/// An invocation.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// What is invoked.
    pub target: Target,
    /// Its signature.
    pub signature: SignatureId,
    /// The arguments, one for each parameter, converted; a place where the parameter is not passed by value.
    pub arguments: Vec<Expression>,
    /// Where it is.
    pub span: Span,
}

/// A subscript.
#[derive(Debug, Clone)]
pub enum Subscript {
    /// One place.
    At(Expression),
    /// From and to; the array's own bound where it is `*` or left out.
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
    /// The least of two or more of one type.
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
    Locate,
    Mypriority,
    Setpriority,
    Free,
    /// Name and mode.
    Open,
    Flush,
    Close,
    Remove,
    /// File (stdin if none was written), place.
    Get,
    /// File (stdout if none was written), text.
    Put,
    /// File, mode (an ordinal constant: 0 absolute, 1 relative, 2 extend), offset.
    Seek,
    Where,
    /// File (always written out), then places.
    Read,
    /// File (always written out), format, places.
    Scanf,
    /// Text, format, places.
    Sscanf,
    /// File (always written out), then values of any writable type.
    Write,
    Writes,
    /// File (always written out), format, values.
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

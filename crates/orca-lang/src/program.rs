//! A checked program: meanings of names, types of expressions, and effects of routines on objects.

use std::collections::BTreeSet;

use antiphon_lang::Span;

pub use crate::syntax::{Binary, Mode, Restriction, RoutineKind, Unary, UnitKind};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);)*
    };
}

numbers! {
    /// The number of a type.
    TypeId
    /// The number of a variable.
    VariableId
    /// The number of a routine.
    RoutineId
    /// The number of a unit.
    UnitId
}

/// The width of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 16 bits; 32 of a real.
    Short,
    /// 32 bits; 64 of a real.
    Normal,
    /// 64 bits.
    Long,
}

/// A type.
#[derive(Debug, Clone)]
pub struct Type {
    /// Its name, or its description in messages.
    pub name: String,
    /// Its kind.
    pub kind: TypeKind,
}

/// The kind of a type.
#[derive(Debug, Clone)]
pub enum TypeKind {
    /// The type of an expression with an error. It fits everywhere, so that a mistake is reported
    /// once.
    Error,
    /// The type of NIL.
    Nil,
    /// Integers.
    Integer(Width),
    /// Real numbers.
    Real(Width),
    /// `false` and `true`.
    Boolean,
    /// 256 characters.
    Char,
    /// Names of values.
    Enumeration(Vec<String>),
    /// Elements by index. The bounds are part of each value, and `bounds` are the initial ones.
    Array {
        /// The types of the indices.
        indices: Vec<TypeId>,
        /// Initial bounds.
        bounds: Vec<(Expr, Expr)>,
        /// The type of the elements.
        element: TypeId,
    },
    /// A set.
    Set(TypeId),
    /// A set with counts.
    Bag(TypeId),
    /// Fields.
    Record(Vec<Field>),
    /// A tag and one of several alternatives.
    Union {
        /// The tag.
        tag: Field,
        /// Alternatives with the values of the tag.
        alternatives: Vec<(i64, Field)>,
    },
    /// Fields of the whole, and of each node.
    Graph {
        /// Fields of the whole.
        fields: Vec<Field>,
        /// Fields of each node.
        nodes: Vec<Field>,
    },
    /// Names of nodes of a graph type. The graph is unknown where the type is opaque.
    NodeName {
        /// The graph type.
        graph: Option<TypeId>,
        /// The unit outside of which the type is opaque.
        opaque: Option<UnitId>,
    },
    /// Functions with these parameters.
    Function {
        /// Modes and types of the parameters.
        parameters: Vec<(Mode, TypeId)>,
        /// The type of the result.
        result: Option<TypeId>,
    },
    /// Objects of a unit.
    Object(UnitId),
    /// A type parameter of a generic unit that is checked on its own.
    Parameter(Restriction),
}

/// A field of a record, union or graph.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: SizedType,
}

/// A type with the initial bounds and tag of a variable.
#[derive(Debug, Clone)]
pub struct SizedType {
    /// The type.
    pub ty: TypeId,
    /// Bounds: of the array, of its elements, and so on; or of a partitioned object.
    pub bounds: Vec<Vec<(Expr, Expr)>>,
    /// The tag of a union.
    pub tag: Option<i64>,
}

/// The kind of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableKind {
    /// A variable of a routine.
    Local,
    /// A parameter.
    Parameter(Mode),
    /// A part of an object's state.
    State,
    /// A variable of a data module.
    Data,
    /// A variable of FOR.
    Loop,
    /// An index of a parallel operation, or a bound of its object.
    Index,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub span: Span,
    /// Its kind.
    pub kind: VariableKind,
    /// Its type, with its initial bounds and tag.
    pub of: SizedType,
}

/// A constant's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer, a character, or the number of an enumeration's value.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A string.
    Text(Vec<u8>),
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TypeId,
    /// Its place.
    pub span: Span,
}

impl Expr {
    /// Returns the variable that a place is a part of.
    pub(crate) fn root(&self) -> Option<VariableId> {
        match &self.kind {
            ExprKind::Variable(id) => Some(*id),
            ExprKind::Field(base, _)
            | ExprKind::Tag(base)
            | ExprKind::State(base, _)
            | ExprKind::Element(base, _)
            | ExprKind::Node(base, ..) => base.root(),
            _ => None,
        }
    }
}

/// The kind of an expression.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A mistake that was reported.
    Wrong,
    /// A value that is known at compile time.
    Constant(Value),
    /// `NIL`
    Nil,
    /// A variable.
    Variable(VariableId),
    /// A field of a record, of a union, or of the whole of a graph.
    Field(Box<Expr>, usize),
    /// The tag of a union.
    Tag(Box<Expr>),
    /// A variable of the state of an object that a parameter or local variable holds.
    State(Box<Expr>, VariableId),
    /// An element of an array, or of a partitioned object's state.
    Element(Box<Expr>, Vec<Expr>),
    /// A field of a node: graph, name of the node, field.
    Node(Box<Expr>, Box<Expr>, usize),
    /// A function as a value.
    Function(RoutineId),
    /// `SELF`
    Itself,
    /// An operator before its operand.
    Unary(Unary, Box<Expr>),
    /// An operator between its operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A call of a function.
    Call(RoutineId, Vec<Expr>),
    /// A call of a function that a variable holds.
    CallValue(Box<Expr>, Vec<Expr>),
    /// An operation on an object.
    Invoke(Box<Expr>, RoutineId, Vec<Expr>),
    /// A directive on a partitioned object: its name, the operation that it names, the other
    /// arguments.
    Direct(Box<Expr>, String, Option<RoutineId>, Vec<Expr>),
    /// A predefined function or procedure.
    Predefined(Predefined, Vec<Expr>),
    /// The members of a record, union, set or bag.
    Members(Vec<Expr>),
    /// The elements of an array in their order, with the size of each dimension.
    Elements(Vec<usize>, Vec<Expr>),
}

macro_rules! predefined {
    ($($name:ident $text:literal $least:literal $most:literal)*) => {
        /// A predefined function or procedure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Predefined {
            $(#[doc = $text] $name,)*
        }

        impl Predefined {
            /// All of them.
            pub const ALL: &[Predefined] = &[$(Predefined::$name,)*];

            /// Returns its name.
            pub fn name(self) -> &'static str {
                match self { $(Predefined::$name => $text,)* }
            }

            /// Returns how many arguments it has, at least and at most.
            pub fn arity(self) -> (usize, usize) {
                match self { $(Predefined::$name => ($least, $most),)* }
            }
        }
    };
}

predefined! {
    Abs "ABS" 1 1 Cap "CAP" 1 1 Chr "CHR" 1 1 Float "FLOAT" 1 1 Max "MAX" 1 1 Min "MIN" 1 1
    Odd "ODD" 1 1 Ord "ORD" 1 1 Trunc "TRUNC" 1 1 Val "VAL" 2 2 Lb "LB" 1 2 Ub "UB" 1 2
    Size "SIZE" 1 1 AddNode "ADDNODE" 1 1 DeleteNode "DELETENODE" 2 2 Insert "INSERT" 2 2
    Delete "DELETE" 2 2 From "FROM" 1 1 Assert "ASSERT" 1 1 Ncpus "NCPUS" 0 0 Mycpu "MYCPU" 0 0
    Read "Read" 0 1000 Write "Write" 0 1000 WriteLine "WriteLine" 0 1000
    Strategy "Strategy" 3 3
}

/// A statement.
#[derive(Debug, Clone)]
pub struct Stat {
    /// Its kind.
    pub kind: StatKind,
    /// Its place.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Debug, Clone)]
pub enum StatKind {
    /// A call.
    Call(Expr),
    /// An assignment, with an operator if there is one before `:=`.
    Assign(Expr, Option<Binary>, Expr),
    /// A process is started, on a machine.
    Fork(RoutineId, Vec<Expr>, Option<Expr>),
    /// The innermost loop ends.
    Exit,
    /// The routine ends.
    Return(Option<Expr>),
    /// Conditions with their statements, and the ELSE part.
    If(Vec<(Expr, Vec<Stat>)>, Vec<Stat>),
    /// A choice by value.
    Case(Expr, Vec<CaseArm>, Option<Vec<Stat>>),
    /// A loop that tests its end after its statements.
    Repeat(Vec<Stat>, Expr),
    /// A loop that tests its end before its statements.
    While(Option<Expr>, Vec<Stat>),
    /// A loop over a range.
    ForRange(VariableId, Expr, Expr, Vec<Stat>),
    /// A loop over a set or bag.
    ForEach(VariableId, Expr, Vec<Stat>),
    /// An element that a parallel operation reads.
    Access(Vec<Expr>),
}

/// An alternative of a choice by value.
#[derive(Debug, Clone)]
pub struct CaseArm {
    /// Ranges of values.
    pub labels: Vec<(i64, i64)>,
    /// The statements for them.
    pub statements: Vec<Stat>,
}

/// The way to combine the results of the parts of a parallel operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Into an array with the bounds of the object.
    Gather,
    /// By a function.
    Reduce(RoutineId),
}

/// A function, process, operation, or the initial code of a unit.
#[derive(Debug, Clone)]
pub struct Routine {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub span: Span,
    /// Its kind.
    pub kind: RoutineKind,
    /// The unit that it is in.
    pub unit: UnitId,
    /// Its parameters.
    pub parameters: Vec<VariableId>,
    /// For each parameter, the way to combine OUT values of a parallel operation.
    pub combinations: Vec<Option<Combination>>,
    /// The type of its result, and the way to combine results of a parallel operation.
    pub result: Option<(TypeId, Option<Combination>)>,
    /// The indices of a parallel operation.
    pub indices: Option<Vec<VariableId>>,
    /// Its local variables, including those of loops.
    pub locals: Vec<VariableId>,
    /// Its code. `None` if it is written in C.
    pub body: Option<Vec<Alternative>>,
    /// The elements that a parallel operation declares to read.
    pub dependencies: Option<Vec<Stat>>,
    /// Its effects.
    pub effects: Effects,
    /// The word END, where a missing RETURN is an error.
    pub end: Span,
}

/// A guard with its statements. A body without guards is one alternative.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// The guard.
    pub guard: Option<Expr>,
    /// The statements.
    pub statements: Vec<Stat>,
    /// Whether it changes the state of its object.
    pub writes: bool,
    /// Whether it may block on another object.
    pub may_block: bool,
}

/// The effects of a routine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// Whether it may block.
    pub blocks: bool,
    /// Whether it writes the state of its object.
    pub writes_state: bool,
    /// Whether it writes variables of data modules.
    pub writes_data: bool,
    /// For each parameter, whether it changes it.
    pub writes_parameter: Vec<bool>,
    /// Whether it invokes operations or calls functions that variables hold.
    pub invokes: bool,
    /// Whether it does input or output, asks for the machine, or calls C.
    pub does_io: bool,
}

/// A unit.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Its name. An instance has the name in its declaration.
    pub name: String,
    /// Its declaration.
    pub span: Span,
    /// Its kind.
    pub kind: UnitKind,
    /// The type of an object unit.
    pub object_type: Option<TypeId>,
    /// The types of the indices of a partitioned object.
    pub shape: Option<Vec<TypeId>>,
    /// The names of a partitioned object's bounds, low and high in turn.
    pub bounds: Vec<VariableId>,
    /// The variables of an object's state, or of a data module.
    pub variables: Vec<VariableId>,
    /// Its operations.
    pub operations: Vec<RoutineId>,
    /// Its functions and processes.
    pub routines: Vec<RoutineId>,
    /// Its initial code.
    pub initial: Option<RoutineId>,
    /// Units that it imports. Their initial code runs before its own.
    pub imports: Vec<UnitId>,
    /// Whether it is a generic unit that is checked on its own, and not a part of the program.
    pub is_abstract: bool,
    /// Whether it has an implementation in Orca.
    pub is_implemented: bool,
}

/// A checked program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// All types.
    pub types: Vec<Type>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// All routines.
    pub routines: Vec<Routine>,
    /// All units.
    pub units: Vec<Unit>,
    /// The first process of the program.
    pub main: Option<RoutineId>,
    /// Variables that a process passes SHARED to another one, or names a strategy for.
    pub shared: BTreeSet<VariableId>,
    /// Whether local objects are passed IN by reference.
    pub objects_by_reference: bool,
}

impl Program {
    /// Returns a type.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Returns the kind of a type.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self.ty(id).kind
    }

    /// Returns a variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// Returns a routine.
    pub fn routine(&self, id: RoutineId) -> &Routine {
        &self.routines[id.0 as usize]
    }

    /// Returns a unit.
    pub fn unit(&self, id: UnitId) -> &Unit {
        &self.units[id.0 as usize]
    }

    /// Returns the names of the units that have no implementation in Orca, except standard ones.
    pub fn units_in_c(&self) -> Vec<String> {
        let is_standard = |name: &str| crate::standard::names().any(|it| it == name);
        let in_c = |it: &&Unit| !it.is_implemented && !it.is_abstract && !is_standard(&it.name);
        self.units
            .iter()
            .filter(in_c)
            .map(|it| it.name.clone())
            .collect()
    }
}

use std::collections::HashMap;

use super::{ComponentId, SignatureId, TypeId};

/// A type. Any two rows of the table differ.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of something with an error. It fits everywhere, so that one mistake gives one
    /// message. A program that runs does not contain it.
    Wrong,
    /// No value: a statement, or an operation without a result.
    Nothing,
    /// The type of `null` until it is converted.
    Null,
    /// The type of `noop` until it is converted.
    Noop,
    /// `bool`.
    Bool,
    /// `char`: a byte.
    Char,
    /// `int`: 32 bits that wrap around.
    Int,
    /// `real`: 64 bits.
    Real,
    /// `file`.
    File,
    /// An enumeration, known by its number among those of the program.
    Enum(u32),
    /// `string[n]`; values other than variables have [`Extent::Any`].
    Text(Extent),
    /// `ptr type`; none for `ptr any`.
    Pointer(Option<TypeId>),
    /// A record (or union), known by its number among those of the program.
    Record(u32),
    /// An array. The element may be an array itself.
    Array(Vec<Dimension>, TypeId),
    /// A capability for an operation; `cap sem` is one for an operation without parameters.
    Operation(SignatureId),
    /// A capability for a resource.
    Resource(ComponentId),
    /// A capability for a virtual machine.
    Machine,
}

/// A dimension of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// The type of subscripts: integers, characters, booleans or an enumeration.
    pub index: TypeId,
    /// The lower bound.
    pub low: Extent,
    /// The upper bound.
    pub high: Extent,
}

/// A bound of a dimension, or the maximum length of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Known to the compiler.
    Known(i32),
    /// Computed where the variable is declared: see [`Shape`](super::Shape).
    Computed,
    /// That of the value: `*`, and values other than variables.
    Any,
}

/// An enumeration.
#[derive(Debug, Clone)]
pub struct Enumeration {
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// Its literals.
    pub literals: Vec<String>,
}

/// A record. Its fields' extents are all known.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// Its fields: name and type. They are filled in later, because a field may point to the
    /// record.
    pub fields: Vec<(String, TypeId)>,
}

/// The types of a program.
#[derive(Debug, Clone, Default)]
pub struct Types {
    rows: Vec<Type>,
    numbers: HashMap<Type, TypeId>,
    /// Enumerations, by their numbers.
    pub enumerations: Vec<Enumeration>,
    /// Records, by their numbers.
    pub records: Vec<Record>,
}

impl Types {
    /// Returns the number of a type, which gets a row if it has none.
    pub fn number(&mut self, of: Type) -> TypeId {
        if let Some(&number) = self.numbers.get(&of) {
            return number;
        }
        let number = TypeId(self.rows.len() as u32);
        self.rows.push(of.clone());
        self.numbers.insert(of, number);
        number
    }

    /// Returns a type.
    pub fn get(&self, number: TypeId) -> &Type {
        &self.rows[number.index()]
    }

    /// Returns all dimensions of an array and of its elements that are arrays, outermost first,
    /// with the innermost element.
    pub fn flat(&self, number: TypeId) -> (Vec<Dimension>, TypeId) {
        let (mut dimensions, mut element) = (Vec::new(), number);
        while let Type::Array(outer, inner) = self.get(element) {
            dimensions.extend(outer);
            element = *inner;
        }
        (dimensions, element)
    }

    /// Whether all bounds and lengths in it are known to the compiler.
    pub fn is_static(&self, number: TypeId) -> bool {
        match self.get(number) {
            Type::Text(most) => matches!(most, Extent::Known(_)),
            Type::Array(dimensions, element) => {
                let is_known = |extent| matches!(extent, Extent::Known(_));
                dimensions
                    .iter()
                    .all(|d| is_known(d.low) && is_known(d.high))
                    && self.is_static(*element)
            }
            _ => true,
        }
    }
}

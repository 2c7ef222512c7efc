//! SR types in C.

use std::collections::BTreeSet;

use antiphon_lang::c::Writer;

use super::unit::Unit;
use crate::program::*;

/// How values of a type are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// By a C value: numbers, pointers, capabilities, records.
    Plain,
    /// As `sr_text`; variables are seen as `sr_string`.
    Text,
    /// By a [`View`](super::views::View) with that many dimensions.
    Array(usize),
}

impl Unit<'_> {
    /// Returns how values of a type are handled.
    pub(super) fn class(&self, of: TypeId) -> Class {
        match self.program.types.get(of) {
            Type::Text(_) => Class::Text,
            Type::Array(..) => Class::Array(self.program.types.flat(of).0.len()),
            _ => Class::Plain,
        }
    }

    /// Returns the C type of a plain value.
    pub(super) fn plain_type(&self, of: TypeId) -> String {
        match self.program.types.get(of) {
            Type::Bool => "sr_bool".into(),
            Type::Char => "sr_char".into(),
            Type::Int | Type::Enum(_) => "sr_int".into(),
            Type::Real => "sr_real".into(),
            Type::File => "sr_file".into(),
            Type::Record(number) => format!("struct {}", self.record_name(*number)),
            Type::Operation(_) => "sr_cap".into(),
            Type::Resource(_) if self.has_slots() => "struct resource".into(),
            Type::Resource(_) | Type::Machine => "sr_resource".into(),
            _ => "void *".into(),
        }
    }

    /// Returns `type name`, with the star where it belongs.
    pub(super) fn declare(&self, c_type: &str, name: &str) -> String {
        match c_type.strip_suffix('*') {
            Some(_) => format!("{c_type}{name}"),
            None => format!("{c_type} {name}"),
        }
    }

    /// Returns the C type of a value or view of any type.
    pub(super) fn value_type(&self, of: TypeId) -> String {
        match self.class(of) {
            Class::Plain => self.plain_type(of),
            Class::Text => "sr_text".into(),
            Class::Array(dimensions) => format!("struct sr_array{dimensions}"),
        }
    }

    /// Returns the C type for access to a place of any type: a pointer, or a view.
    pub(super) fn place_type(&self, of: TypeId) -> String {
        match self.class(of) {
            Class::Plain => pointer_to(&self.plain_type(of)),
            Class::Text => "sr_string".into(),
            Class::Array(dimensions) => format!("struct sr_array{dimensions}"),
        }
    }

    /// Returns the first record with the same types of fields; in SR they are one type.
    pub(super) fn record_alike(&self, number: u32) -> u32 {
        let records = &self.program.types.records;
        let fields = &records[number as usize].fields;
        let is_alike = |other: &u32| {
            let others = &records[*other as usize].fields;
            others.len() == fields.len()
                && others
                    .iter()
                    .zip(fields)
                    .all(|(a, b)| self.is_alike(a.1, b.1))
        };
        (0..number).find(is_alike).unwrap_or(number)
    }

    /// Whether fields of two types have the same layout.
    fn is_alike(&self, a: TypeId, b: TypeId) -> bool {
        match (self.program.types.get(a), self.program.types.get(b)) {
            (Type::Record(a), Type::Record(b)) => self.record_alike(*a) == self.record_alike(*b),
            (Type::Text(_), Type::Text(_)) => a == b,
            (Type::Array(..), Type::Array(..)) => {
                let elements = (self.program.types.flat(a).1, self.program.types.flat(b).1);
                self.known_count(a) == self.known_count(b) && self.is_alike(elements.0, elements.1)
            }
            (Type::Record(_) | Type::Text(_) | Type::Array(..), _)
            | (_, Type::Record(_) | Type::Text(_) | Type::Array(..)) => false,
            _ => self.plain_type(a) == self.plain_type(b),
        }
    }

    fn record_name(&self, number: u32) -> String {
        let number = self.record_alike(number);
        match &self.program.types.records[number as usize].name {
            Some(name) => format!("r_{name}_{number}"),
            None => format!("r_{number}"),
        }
    }

    /// Returns the C struct of a string with known maximum.
    pub(super) fn string_type(&self, most: i32) -> String {
        self.shared.borrow_mut().strings.insert(most);
        format!("struct string_{}", most.max(0))
    }

    /// Returns each dimension's bounds if all are known.
    pub(super) fn known_bounds(&self, of: TypeId) -> Option<Vec<(i32, i32)>> {
        if !self.program.types.is_static(of) {
            return None;
        }
        let (dimensions, _) = self.program.types.flat(of);
        let known = dimensions.iter().map(|d| match (d.low, d.high) {
            (Extent::Known(low), Extent::Known(high)) => Some((low, high)),
            _ => None,
        });
        known.collect()
    }

    /// Returns the C type of an element, if its size is known.
    pub(super) fn element_type(&self, element: TypeId) -> Option<String> {
        match self.program.types.get(element) {
            Type::Text(Extent::Known(most)) => Some(self.string_type(*most)),
            Type::Text(_) => None,
            _ => Some(self.plain_type(element)),
        }
    }

    /// Returns the number of elements, if the bounds are known.
    pub(super) fn known_count(&self, of: TypeId) -> Option<i64> {
        let bounds = self.known_bounds(of)?;
        let lengths = bounds
            .iter()
            .map(|(low, high)| (i64::from(*high) - i64::from(*low) + 1).max(0));
        lengths
            .into_iter()
            .try_fold(1i64, |count, length| count.checked_mul(length))
    }

    /// Returns roughly the bytes of a value that is laid out in place.
    pub(super) fn rough_bytes(&self, of: TypeId) -> i64 {
        match self.program.types.get(of) {
            Type::Text(Extent::Known(most)) => i64::from(*most) + 8,
            Type::Array(..) => {
                let (_, element) = self.program.types.flat(of);
                let count = self.known_count(of).unwrap_or(i64::MAX);
                count.saturating_mul(self.rough_bytes(element))
            }
            Type::Record(number) => {
                let fields = &self.program.types.records[*number as usize].fields;
                fields.iter().fold(0i64, |sum, (_, of)| {
                    sum.saturating_add(self.rough_bytes(*of))
                })
            }
            _ => 8,
        }
    }

    /// Returns a declaration of storage in place: a field, or a variable whose type is completely
    /// known.
    pub(super) fn declare_storage(&self, of: TypeId, name: &str) -> String {
        match self.class(of) {
            Class::Plain => self.declare(&self.plain_type(of), name),
            Class::Text => {
                let c_type = self.element_type(of);
                format!("{} {name}", c_type.unwrap_or_else(|| "sr_string".into()))
            }
            Class::Array(dimensions) => {
                let (_, element) = self.program.types.flat(of);
                match (self.known_count(of), self.element_type(element)) {
                    (Some(count), Some(c_type)) => {
                        self.declare(&c_type, &format!("{name}[{count}]"))
                    }
                    _ => format!("struct sr_array{dimensions} {name}"),
                }
            }
        }
    }

    /// Writes the structs of strings and records, contained ones first.
    pub(super) fn write_types(&self, out: &mut Writer) {
        self.write_slots(out);
        let mut records = Writer::default();
        let mut done = BTreeSet::new();
        for number in 0..self.program.types.records.len() as u32 {
            self.write_record(number, &mut done, &mut records);
        }
        for most in &self.shared.borrow().strings {
            let most = (*most).max(0);
            out.open(format!("struct string_{most} {{"));
            out.line("int32_t length;");
            out.line(format!("char data[{most}];"));
            out.close("};");
        }
        out.append(&records.finish());
    }

    fn write_record(&self, number: u32, done: &mut BTreeSet<u32>, out: &mut Writer) {
        let number = self.record_alike(number);
        if !done.insert(number) {
            return;
        }
        let record = &self.program.types.records[number as usize];
        for (_, of) in &record.fields {
            let (_, element) = self.program.types.flat(*of);
            if let Type::Record(inner) = self.program.types.get(element) {
                self.write_record(*inner, done, out);
            }
        }
        out.open(format!("struct {} {{", self.record_name(number)));
        for (name, of) in &record.fields {
            out.line(format!(
                "{};",
                self.declare_storage(*of, &format!("f_{name}"))
            ));
        }
        if record.fields.is_empty() {
            out.line("char f_nothing;");
        }
        out.close("};");
    }
}

/// Returns `type *`.
pub(super) fn pointer_to(c_type: &str) -> String {
    match c_type.strip_suffix('*') {
        Some(_) => format!("{c_type}*"),
        None => format!("{c_type} *"),
    }
}

//! Type expressions, with their bounds and lengths.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax::{Bound, Name, ObjectGroup, Path, TypeExpression, TypeKind};

use super::Checker;
use super::bounds::extent;
use super::scope::{LaterType, Meaning};

impl Checker<'_> {
    /// Checks a type expression, with its bounds and lengths.
    pub(super) fn type_expression(&mut self, of: &TypeExpression) -> (TypeId, Shape) {
        let basic = match &of.kind {
            TypeKind::Bool => Type::Bool,
            TypeKind::Char => Type::Char,
            TypeKind::Int => Type::Int,
            TypeKind::Real => Type::Real,
            TypeKind::File => Type::File,
            TypeKind::CapabilityMachine => Type::Machine,
            TypeKind::Text(most) => return self.text_type(most),
            TypeKind::Enum(literals) => self.enumeration(literals),
            TypeKind::Pointer(None) => Type::Pointer(None),
            TypeKind::Pointer(Some(to)) => Type::Pointer(Some(self.pointed_at(to))),
            TypeKind::Record(fields) => {
                let number = self.new_record();
                self.fields(number, fields);
                Type::Record(number)
            }
            TypeKind::CapabilityFor(path) => self.capability_for(path),
            TypeKind::CapabilityLike(prototype) => Type::Operation(self.prototype(prototype)),
            TypeKind::CapabilitySemaphore => Type::Operation(self.bare_signature()),
            TypeKind::Array(dimensions, element) => {
                let element = self.type_expression(element);
                return self.with_dimensions(dimensions, element);
            }
            TypeKind::Named(path) => return self.named_type(path, of.span),
        };
        (self.number(basic), Shape::default())
    }

    pub(super) fn wrong_type(&mut self) -> (TypeId, Shape) {
        (self.number(Type::Wrong), Shape::default())
    }

    fn text_type(&mut self, most: &Bound) -> (TypeId, Shape) {
        let Bound::Value(most) = most else {
            let of = self.number(Type::Text(Extent::Any));
            return (of, Shape::default());
        };
        let most = self.integer(most);
        let most = self.folded(most);
        let extent = extent(&most);
        if let Extent::Known(n) = extent
            && n < 0
        {
            self.error(
                most.span,
                format!("a string cannot have {n} characters at most"),
            );
        }
        let shape = Shape {
            bounds: Vec::new(),
            most: Some(Box::new(most)),
        };
        (self.number(Type::Text(extent)), shape)
    }

    fn enumeration(&mut self, literals: &[Name]) -> Type {
        let number = self.program.types.enumerations.len() as u32;
        self.program.types.enumerations.push(Enumeration {
            name: None,
            literals: literals.iter().map(|name| name.text.clone()).collect(),
        });
        let of = self.number(Type::Enum(number));
        for (ordinal, name) in literals.iter().enumerate() {
            let value = Expression {
                kind: ExpressionKind::Constant(Constant::Ordinal(ordinal as i32)),
                of,
                span: name.span,
            };
            self.define_literal(name, value);
        }
        Type::Enum(number)
    }

    fn new_record(&mut self) -> u32 {
        let records = &mut self.program.types.records;
        records.push(Record {
            name: None,
            fields: Vec::new(),
        });
        records.len() as u32 - 1
    }

    fn fields(&mut self, number: u32, groups: &[ObjectGroup]) {
        let mut fields: Vec<(String, TypeId)> = Vec::new();
        for group in groups {
            let Some(of) = &group.of else {
                let span = group.declarators[0].name.span;
                self.error(span, "a field needs a type");
                continue;
            };
            if let Some(value) = &group.value {
                self.error_with(
                    value.span,
                    "a field has no initial value",
                    "give the variables of the record's type one",
                );
            }
            let element = self.type_expression(of);
            for declarator in &group.declarators {
                let (of, shape) = self.with_dimensions(&declarator.dimensions, element.clone());
                let of = self.known_only(of, &shape, declarator.name.span);
                if fields.iter().any(|(name, _)| *name == declarator.name.text) {
                    let message = format!("the record has two fields \"{}\"", declarator.name.text);
                    self.error(declarator.name.span, message);
                    continue;
                }
                if self.holds(of, number) {
                    self.error_with(
                        declarator.name.span,
                        "the record contains itself",
                        "let the field be a pointer: ptr and the record's type",
                    );
                    continue;
                }
                fields.push((declarator.name.text.clone(), of));
            }
        }
        self.program.types.records[number as usize].fields = fields;
    }

    /// Whether a type contains the record with that number, except behind a pointer.
    fn holds(&self, of: TypeId, number: u32) -> bool {
        match self.kind(of) {
            Type::Record(other) => {
                let fields = &self.program.types.records[*other as usize].fields;
                *other == number || fields.iter().any(|(_, of)| self.holds(*of, number))
            }
            Type::Array(_, element) => self.holds(*element, number),
            _ => false,
        }
    }

    /// Returns the type that a pointer points to, which may be declared later.
    fn pointed_at(&mut self, to: &TypeExpression) -> TypeId {
        if let TypeKind::Named(Path {
            component: None,
            name,
        }) = &to.kind
            && self.lookup(&name.text, name.span).is_none()
            && let Some(of) = self.needed_early(name)
        {
            return of;
        }
        self.type_expression(to).0
    }

    /// Returns a type that is declared later. A record only gets its number; another type is
    /// checked now.
    fn needed_early(&mut self, name: &Name) -> Option<TypeId> {
        let later = self.scopes.later_type(&name.text)?;
        let written = match std::mem::replace(later, LaterType::Busy) {
            LaterType::Needed(of, shape) => {
                *later = LaterType::Needed(of, shape);
                return Some(of);
            }
            LaterType::Busy => {
                self.error(
                    name.span,
                    format!("the type \"{}\" is made of itself", name.text),
                );
                return Some(self.number(Type::Wrong));
            }
            LaterType::Written(written) => written,
        };
        let (of, shape) = if let TypeKind::Record(_) = &written.kind {
            let number = self.new_record();
            (self.number(Type::Record(number)), Shape::default())
        } else {
            self.type_expression(&written)
        };
        if let Some(later) = self.scopes.later_type(&name.text) {
            *later = LaterType::Needed(of, shape);
        }
        Some(of)
    }

    /// `type name = of`.
    pub(super) fn type_declaration(&mut self, name: &Name, of: &TypeExpression) {
        let needed = match self.scopes.reached_type(&name.text) {
            Some(LaterType::Needed(of, shape)) => Some((of, shape)),
            _ => None,
        };
        let (checked, shape) = match (&of.kind, needed) {
            (TypeKind::Record(fields), needed) => {
                let number = match needed.map(|(of, _)| self.kind(of).clone()) {
                    Some(Type::Record(number)) => number,
                    _ => self.new_record(),
                };
                self.program.types.records[number as usize].name = Some(name.text.clone());
                let of = self.number(Type::Record(number));
                // The record's fields may point to it, so it is defined before them.
                self.define(name, Meaning::Type(of, Shape::default()));
                self.fields(number, fields);
                return;
            }
            (_, Some(needed)) => needed,
            (_, None) => self.type_expression(of),
        };
        if let (TypeKind::Enum(_), Type::Enum(number)) = (&of.kind, self.kind(checked).clone()) {
            self.program.types.enumerations[number as usize].name = Some(name.text.clone());
        }
        let meaning = match self.kind(checked) {
            Type::Wrong => Meaning::Wrong,
            _ => Meaning::Type(checked, shape),
        };
        self.define(name, meaning);
    }

    fn named_type(&mut self, path: &Path, span: Span) -> (TypeId, Shape) {
        let name = &path.name.text;
        match self.meaning_of_path(path) {
            Some(Meaning::Type(of, shape)) => (of, shape),
            Some(Meaning::Wrong) => self.wrong_type(),
            Some(Meaning::Optype(_)) => {
                self.error_with(
                    span,
                    format!("\"{name}\" is an optype, not a type"),
                    format!("a capability for such an operation is of type: cap {name}"),
                );
                self.wrong_type()
            }
            Some(Meaning::Component(_)) => {
                self.error_with(
                    span,
                    format!("\"{name}\" is a component, not a type"),
                    format!("a capability for it is of type: cap {name}"),
                );
                self.wrong_type()
            }
            Some(_) => {
                self.error(span, format!("\"{name}\" is not a type"));
                self.wrong_type()
            }
            None => {
                if let Some(of) = self.predefined_type(name) {
                    return (of, Shape::default());
                }
                self.undeclared(name, path.name.span);
                self.wrong_type()
            }
        }
    }

    /// `cap path`.
    fn capability_for(&mut self, path: &Path) -> Type {
        let (name, span) = (path.name.text.clone(), path.name.span);
        match self.meaning_of_path(path) {
            Some(Meaning::Component(component)) => {
                let component_row = &self.program.components[component.index()];
                if component_row.is_global {
                    self.error_with(
                        span,
                        format!("\"{name}\" is a global, which needs no capability"),
                        format!("import it, and name what it exports: {name}.name"),
                    );
                    return Type::Wrong;
                }
                Type::Resource(component)
            }
            Some(Meaning::Operation(operation)) => {
                Type::Operation(self.program.operations[operation.index()].signature)
            }
            Some(Meaning::Optype(signature)) => Type::Operation(signature),
            Some(Meaning::Wrong) => Type::Wrong,
            Some(_) => {
                self.error_with(
                    span,
                    format!("there are no capabilities for \"{name}\""),
                    "a capability is for a resource, an operation or an optype",
                );
                Type::Wrong
            }
            None => {
                self.undeclared(&name, span);
                Type::Wrong
            }
        }
    }
}

//! Types as they are written, with the bounds and lengths that are evaluated.

use crate::program::*;
use crate::source::Span;
use crate::syntax;
use crate::syntax::{Bound, Bounds, Name, ObjectGroup, Path, TypeExpression, TypeKind};

use super::Checker;
use super::scope::{LaterType, Meaning};

impl Checker<'_> {
    /// A type as it is written, with its bounds and lengths.
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

    fn wrong_type(&mut self) -> (TypeId, Shape) {
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

    /// Whether a type has a record of that number in it, other than behind a pointer.
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

    /// The type of a field, unless a bound or length in it is not known.
    fn known_only(&mut self, of: TypeId, shape: &Shape, span: Span) -> TypeId {
        if self.program.types.is_static(of) {
            return of;
        }
        let bounds = shape.bounds.iter().flat_map(|(low, high)| [low, high]);
        let computed = bounds
            .chain(shape.most.as_deref())
            .find(|bound| !matches!(bound.kind, ExpressionKind::Constant(_)));
        self.error_with(
            computed.map_or(span, |bound| bound.span),
            "bounds and lengths in a record must be known to the compiler",
            "use numbers, or constants that have numbers for values",
        );
        self.number(Type::Wrong)
    }

    /// The type, unless it has a bound or length `*`.
    pub(super) fn no_stars(&mut self, of: TypeId, span: Span) -> TypeId {
        let is_any = |extent: Extent| extent == Extent::Any;
        let (dimensions, element) = self.program.types.flat(of);
        let in_bounds = dimensions.iter().any(|d| is_any(d.low) || is_any(d.high));
        let in_text = matches!(self.kind(element), Type::Text(Extent::Any));
        if !in_bounds && !in_text {
            return of;
        }
        self.error_with(
            span,
            "\"*\" leaves the size open, and here it must be known",
            "write the bounds; only parameters take theirs from the argument",
        );
        self.number(Type::Wrong)
    }

    /// An array of elements of a type.
    pub(super) fn with_dimensions(
        &mut self,
        dimensions: &[Bounds],
        element: (TypeId, Shape),
    ) -> (TypeId, Shape) {
        if dimensions.is_empty() {
            return element;
        }
        let mut all = Vec::new();
        let mut shape = Shape::default();
        for bounds in dimensions {
            let Some((dimension, low, high)) = self.bounds(bounds) else {
                return self.wrong_type();
            };
            all.push(dimension);
            shape.bounds.push((low, high));
        }
        // An array of arrays is one of more dimensions.
        let (inner, base) = self.program.types.flat(element.0);
        if matches!(self.kind(base), Type::Wrong | Type::Nothing) {
            return self.wrong_type();
        }
        all.extend(inner);
        shape.bounds.extend(element.1.bounds);
        shape.most = element.1.most;
        (self.number(Type::Array(all, base)), shape)
    }

    /// A dimension with its bounds; none if an error was found. The expression of a bound `*` means nothing.
    pub(super) fn bounds(
        &mut self,
        bounds: &Bounds,
    ) -> Option<(Dimension, Expression, Expression)> {
        let high = self.bound(&bounds.upper);
        let Some(lower) = &bounds.lower else {
            let span = bound_span(&bounds.upper);
            let low = self.made(
                ExpressionKind::Constant(Constant::Ordinal(1)),
                Type::Int,
                span,
            );
            let high = match high {
                Some(high) => {
                    let int = self.number(Type::Int);
                    self.convert_to(high, int)
                }
                None => low.clone(),
            };
            return self.dimension(low, high, Extent::Known(1), &bounds.upper);
        };
        let low = self.bound(lower);
        let (low, high) = match (low, high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low.clone(), low),
            (None, Some(high)) => (high.clone(), high),
            (None, None) => {
                self.error_with(
                    bound_span(lower).to(bound_span(&bounds.upper)),
                    "both bounds are \"*\"",
                    "write [*], which is [1:*]",
                );
                return None;
            }
        };
        if self.is_wrong(&low) || self.is_wrong(&high) {
            return None;
        }
        if !self.is_alike(low.of, high.of) {
            let (a, b) = (self.type_name(low.of), self.type_name(high.of));
            self.error(
                low.span.to(high.span),
                format!("the bounds are of two types, {a} and {b}"),
            );
            return None;
        }
        let extent = match lower {
            Bound::Any(_) => Extent::Any,
            Bound::Value(_) => extent(&low),
        };
        self.dimension(low, high, extent, &bounds.upper)
    }

    fn dimension(
        &mut self,
        low: Expression,
        high: Expression,
        low_extent: Extent,
        upper: &Bound,
    ) -> Option<(Dimension, Expression, Expression)> {
        if self.is_wrong(&low) || self.is_wrong(&high) {
            return None;
        }
        if !self.is_ordinal(high.of) {
            let name = self.type_name(high.of);
            self.error(
                high.span,
                format!("bounds are integers, characters, truth values or of an enumeration, and this is {name}"),
            );
            return None;
        }
        let dimension = Dimension {
            index: high.of,
            low: low_extent,
            high: match upper {
                Bound::Any(_) => Extent::Any,
                Bound::Value(_) => extent(&high),
            },
        };
        Some((dimension, low, high))
    }

    fn bound(&mut self, bound: &Bound) -> Option<Expression> {
        let Bound::Value(value) = bound else {
            return None;
        };
        let value = self.expression(value);
        Some(self.folded(value))
    }

    /// Whether values of a type are counted: bool, char, int and enumerations.
    pub(super) fn is_ordinal(&self, of: TypeId) -> bool {
        self.is_ordered(of) && *self.kind(of) != Type::Real
    }

    /// What a pointer points at, which may be declared further down.
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

    /// A type that is declared further down. A record is only numbered; another is checked now.
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
                // The record's fields may point at it, so it is known before them.
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

    /// Parameters, result and restriction.
    pub(super) fn prototype(&mut self, prototype: &syntax::Prototype) -> SignatureId {
        let signature = self.bare_signature();
        self.fill_signature(signature, prototype);
        signature
    }

    /// Gives a signature, whose number is known already, its parameters, result and restriction.
    pub(super) fn fill_signature(&mut self, signature: SignatureId, prototype: &syntax::Prototype) {
        self.scopes.open();
        let is_block = std::mem::replace(&mut self.place.is_block, true);
        let mut parameters = Vec::new();
        for parameter in &prototype.parameters {
            parameters.push(self.parameter(parameter));
            if let Some(declarator) = &parameter.declarator {
                self.scopes.formal(&declarator.name.text);
            }
        }
        let result = prototype.result.as_ref().map(|result| {
            let checked = self.parameter(result);
            let of = self.no_stars(checked.of, result.of.span);
            Parameter { of, ..checked }
        });
        self.place.is_block = is_block;
        self.scopes.close();
        self.program.signatures[signature.index()] = Signature {
            parameters,
            result,
            restriction: prototype.restriction,
        };
    }

    /// A parameter, or a result.
    pub(super) fn parameter(&mut self, parameter: &syntax::Parameter) -> Parameter {
        let element = self.type_expression(&parameter.of);
        let dimensions = parameter.declarator.as_ref().map(|d| &*d.dimensions);
        let (of, shape) = self.with_dimensions(dimensions.unwrap_or_default(), element);
        Parameter {
            passing: parameter.passing,
            of,
            shape: self.has_bounds(of).then_some(shape),
        }
    }

    /// Whether a type has a bound or length other than `*` and the 1 that `[*]` begins with.
    fn has_bounds(&self, of: TypeId) -> bool {
        let (dimensions, element) = self.program.types.flat(of);
        let in_dimensions = dimensions.iter().any(|d| {
            let is_open = matches!(d.low, Extent::Any | Extent::Known(1)) && d.high == Extent::Any;
            !is_open
        });
        in_dimensions || matches!(self.kind(element), Type::Text(most) if *most != Extent::Any)
    }

    /// A new signature.
    pub(super) fn signature(&mut self, signature: Signature) -> SignatureId {
        self.program.signatures.push(signature);
        SignatureId(self.program.signatures.len() as u32 - 1)
    }

    /// The signature of semaphores.
    pub(super) fn bare_signature(&mut self) -> SignatureId {
        self.signature(Signature {
            parameters: Vec::new(),
            result: None,
            restriction: Restriction::Send,
        })
    }
}

fn extent(bound: &Expression) -> Extent {
    match bound.kind {
        ExpressionKind::Constant(Constant::Ordinal(n)) => Extent::Known(n),
        _ => Extent::Computed,
    }
}

fn bound_span(bound: &Bound) -> Span {
    match bound {
        Bound::Value(value) => value.span,
        Bound::Any(span) => *span,
    }
}

//! Expressions: names, places and literals. Operators, conversions, invocations and predefined functions have files of their own.

use crate::program::*;
use crate::source::Span;
use crate::syntax;
use crate::syntax::{BasicType, Literal, UnaryOperator};

use super::Checker;
use super::pair::MISSING;
use super::scope::Meaning;

impl Checker<'_> {
    /// A checked expression.
    pub(super) fn expression(&mut self, e: &syntax::Expression) -> Expression {
        use syntax::ExpressionKind as K;
        match &e.kind {
            K::Name(name) => self.name(name, e.span),
            K::Literal(literal) => self.literal(literal, e.span),
            K::Invoke(invocation) => self.invoke(invocation, e.span),
            K::Array(elements) => self.array_of(elements, e.span),
            K::Binary(operator, a, b) => self.binary(*operator, a, b, e.span),
            K::Assign(place, value) => self.assign(place, value, e.span),
            K::Augment(operator, place, value) => self.augment(*operator, place, value, e.span),
            K::Swap(a, b) => self.swap(a, b, e.span),
            K::Unary(operator, operand) => self.unary(*operator, operand, e.span),
            K::Convert(to, value) => self.convert_to_basic(*to, value, e.span),
            K::Low(of) => self.limit(of, false, e.span),
            K::High(of) => self.limit(of, true, e.span),
            K::New(of) => self.new_object(of, e.span),
            K::NewOperation(bounds, prototype) => {
                self.new_operation(bounds, prototype.as_deref(), e.span)
            }
            K::Field(of, name) => self.field(of, name, e.span),
            K::Index(of, subscripts) => self.index(of, subscripts, e.span),
            K::Create(creation) => self.create(creation, e.span),
        }
    }

    /// What stands for an expression in which an error was found.
    pub(super) fn wrong(&mut self, span: Span) -> Expression {
        self.made(
            ExpressionKind::Constant(Constant::Ordinal(1)),
            Type::Wrong,
            span,
        )
    }

    /// An expression of a type.
    pub(super) fn made(&mut self, kind: ExpressionKind, of: Type, span: Span) -> Expression {
        let of = self.number(of);
        Expression { kind, of, span }
    }

    /// Reports an error in an expression and gives what stands for it.
    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>) -> Expression {
        self.error(span, message);
        self.wrong(span)
    }

    /// A place that may be assigned.
    pub(super) fn place(&mut self, e: &syntax::Expression) -> Expression {
        let place = self.expression(e);
        if self.is_wrong(&place) {
            return place;
        }
        if let syntax::ExpressionKind::Name(name) = &e.kind
            && let ExpressionKind::Constant(_) = place.kind
        {
            return self.refuse(
                e.span,
                format!("\"{name}\" is a constant and cannot be assigned"),
            );
        }
        if let ExpressionKind::Capability(_) = place.kind {
            self.error_with(
                e.span,
                "an operation cannot be replaced by another",
                "declare a variable of type cap for the operation, and assign that",
            );
            return self.wrong(e.span);
        }
        if !place.is_place() {
            return self.refuse(e.span, "this cannot be assigned: it is not a variable");
        }
        if let Some(constant) = self.constant_at_root(&place) {
            let name = self.program.variables[constant.index()].name.clone();
            return self.refuse(
                e.span,
                format!("\"{name}\" is a constant and cannot be assigned"),
            );
        }
        place
    }

    /// A place other than a slice: one that has an address.
    pub(super) fn addressable(&mut self, e: &syntax::Expression) -> Expression {
        let place = self.place(e);
        if matches!(
            place.kind,
            ExpressionKind::Slice(..) | ExpressionKind::TextSlice(..)
        ) {
            return self.refuse(
                e.span,
                "a slice cannot be used here: a variable or an element is needed",
            );
        }
        self.mark_address(&place);
        place
    }

    /// Notes that the address of the variable which a place is a part of is taken.
    pub(super) fn mark_address(&mut self, place: &Expression) {
        if let Some(variable) = root(place) {
            self.program.variables[variable.index()].has_address = true;
        }
    }

    fn constant_at_root(&self, place: &Expression) -> Option<VariableId> {
        root(place).filter(|v| self.program.variables[v.index()].is_constant)
    }

    /// Whether an error was found in it.
    pub(super) fn is_wrong(&self, e: &Expression) -> bool {
        *self.kind(e.of) == Type::Wrong
    }

    /// What a name means; an error is reported if it means nothing.
    fn name(&mut self, name: &str, span: Span) -> Expression {
        let Some(meaning) = self.lookup(name, span) else {
            return match self.predeclared_value(name, span) {
                Some(value) => value,
                None if Self::is_predefined(name) => self.refuse(
                    span,
                    format!("\"{name}\" is a predefined function: it needs its arguments, ()"),
                ),
                None => {
                    self.undeclared(name, span);
                    self.wrong(span)
                }
            };
        };
        self.meant(meaning, name, span)
    }

    /// What a meaning is as an expression.
    pub(super) fn meant(&mut self, meaning: Meaning, name: &str, span: Span) -> Expression {
        match meaning {
            Meaning::Variable(variable) => {
                let of = self.program.variables[variable.index()].of;
                Expression {
                    kind: ExpressionKind::Variable(variable),
                    of,
                    span,
                }
            }
            Meaning::Value(value) => Expression { span, ..*value },
            Meaning::Operation(operation) if self.is_foreign(operation, span) => self.wrong(span),
            Meaning::Operation(operation) => {
                self.capability(Target::Declared(operation, Vec::new()), span)
            }
            Meaning::Type(..) => self.refuse(span, format!("\"{name}\" is a type, not a value")),
            Meaning::Optype(_) => {
                self.refuse(span, format!("\"{name}\" is an optype, not a value"))
            }
            Meaning::Component(_) => self.refuse(
                span,
                format!(
                    "\"{name}\" is a component, not a value; name something of it: {name}.name"
                ),
            ),
            Meaning::Wrong => self.wrong(span),
        }
    }

    fn literal(&mut self, literal: &Literal, span: Span) -> Expression {
        let (constant, of) = match literal {
            Literal::Integer(n) => (Constant::Ordinal(*n), Type::Int),
            Literal::Real(x) => (Constant::Real(*x), Type::Real),
            Literal::Bool(b) => (Constant::Ordinal(i32::from(*b)), Type::Bool),
            Literal::Character(c) => (Constant::Ordinal(i32::from(*c)), Type::Char),
            Literal::Text(text) => (Constant::Text(text.clone()), Type::Text(Extent::Any)),
            Literal::Null => (Constant::Null, Type::Null),
            Literal::Noop => (Constant::Noop, Type::Noop),
            Literal::Stdin => (Constant::Stdin, Type::File),
            Literal::Stdout => (Constant::Stdout, Type::File),
            Literal::Stderr => (Constant::Stderr, Type::File),
        };
        self.made(ExpressionKind::Constant(constant), of, span)
    }

    fn unary(
        &mut self,
        operator: UnaryOperator,
        operand: &syntax::Expression,
        span: Span,
    ) -> Expression {
        match operator {
            UnaryOperator::Not | UnaryOperator::Plus | UnaryOperator::Minus => {
                self.sign(operator, operand, span)
            }
            UnaryOperator::Address => {
                let place = self.addressable(operand);
                let pointer = Type::Pointer(Some(place.of));
                self.made(ExpressionKind::Address(Box::new(place)), pointer, span)
            }
            UnaryOperator::Pending => match self.target(operand) {
                Some((target, _)) => self.made(ExpressionKind::Pending(target), Type::Int, span),
                None => self.wrong(span),
            },
            UnaryOperator::IncrementBefore => self.step(operand, 1, false, span),
            UnaryOperator::DecrementBefore => self.step(operand, -1, false, span),
            UnaryOperator::IncrementAfter => self.step(operand, 1, true, span),
            UnaryOperator::DecrementAfter => self.step(operand, -1, true, span),
            UnaryOperator::Dereference => self.dereference(operand, span),
        }
    }

    fn dereference(&mut self, operand: &syntax::Expression, span: Span) -> Expression {
        let pointer = self.expression(operand);
        match *self.kind(pointer.of) {
            Type::Wrong => pointer,
            Type::Pointer(Some(of)) => Expression {
                kind: ExpressionKind::Dereference(Box::new(pointer)),
                of,
                span,
            },
            Type::Pointer(None) => self.refuse(
                span,
                "a \"ptr any\" points at nothing known; assign it to a pointer of a type first",
            ),
            _ => {
                let name = self.type_name(pointer.of);
                self.refuse(span, format!("^ follows a pointer, and this is {name}"))
            }
        }
    }

    /// `(a, b, [n] c)`.
    fn array_of(&mut self, elements: &[syntax::Element], span: Span) -> Expression {
        let mut checked: Vec<(Option<Expression>, Expression)> = Vec::new();
        for element in elements {
            let times = element.times.as_ref().map(|n| self.integer(n));
            let value = self.expression(&element.value);
            checked.push((times, value));
        }
        let Some(of) = self.element_type(&checked) else {
            return self.wrong(span);
        };
        let values = checked
            .into_iter()
            .map(|(times, value)| (times, self.convert_to(value, of)))
            .collect();
        let index = self.number(Type::Int);
        let dimension = Dimension {
            index,
            low: Extent::Known(1),
            high: Extent::Any,
        };
        self.made(
            ExpressionKind::Array(values),
            Type::Array(vec![dimension], of),
            span,
        )
    }

    /// The type of the elements of an array's constructor: the first's, but real if another is.
    fn element_type(&mut self, values: &[(Option<Expression>, Expression)]) -> Option<TypeId> {
        let first = &values.first()?.1;
        match self.kind(first.of) {
            Type::Wrong => return None,
            Type::Null | Type::Noop => {
                let message = "it is not known of which type this is; convert it: type(null)";
                self.error(first.span, message);
                return None;
            }
            Type::Nothing => {
                self.error(first.span, "this has no value");
                return None;
            }
            Type::Int => {
                let real = self.number(Type::Real);
                if values.iter().any(|(_, v)| v.of == real) {
                    return Some(real);
                }
            }
            _ => {}
        }
        Some(first.of)
    }

    fn limit(&mut self, of: &syntax::TypeExpression, is_high: bool, span: Span) -> Expression {
        let (of, _) = self.type_expression(of);
        let constant = match self.kind(of) {
            Type::Wrong => return self.wrong(span),
            Type::Real if is_high => Constant::Real(f64::MAX),
            Type::Real => Constant::Real(f64::MIN_POSITIVE),
            Type::Int if is_high => Constant::Ordinal(i32::MAX),
            Type::Int => Constant::Ordinal(i32::MIN),
            Type::Bool => Constant::Ordinal(i32::from(is_high)),
            Type::Char => Constant::Ordinal(if is_high { 255 } else { 0 }),
            Type::Enum(number) if is_high => {
                let literals = &self.program.types.enumerations[*number as usize].literals;
                Constant::Ordinal(literals.len() as i32 - 1)
            }
            Type::Enum(_) => Constant::Ordinal(0),
            _ => {
                let name = self.type_name(of);
                return self.refuse(
                    span,
                    format!("low and high are of ordered types, and this is {name}"),
                );
            }
        };
        Expression {
            kind: ExpressionKind::Constant(constant),
            of,
            span,
        }
    }

    fn new_object(&mut self, of: &syntax::TypeExpression, span: Span) -> Expression {
        if let Some((signature, bounds)) = self.optype_in(of) {
            return self.new_of_signature(signature, &bounds, span);
        }
        let (of, shape) = self.type_expression(of);
        let of = self.no_stars(of, span);
        self.made(
            ExpressionKind::New(of, shape),
            Type::Pointer(Some(of)),
            span,
        )
    }

    /// If a type is an optype's name, perhaps with subscripts, its signature and the subscripts.
    fn optype_in(
        &mut self,
        of: &syntax::TypeExpression,
    ) -> Option<(SignatureId, Vec<syntax::Bounds>)> {
        match &of.kind {
            syntax::TypeKind::Array(bounds, element) => {
                let (signature, inner) = self.optype_in(element)?;
                Some((signature, bounds.iter().cloned().chain(inner).collect()))
            }
            syntax::TypeKind::Named(path) => match self.meaning_of_path(path)? {
                Meaning::Optype(signature) => Some((signature, Vec::new())),
                _ => None,
            },
            _ => None,
        }
    }

    fn new_operation(
        &mut self,
        bounds: &[syntax::Bounds],
        prototype: Option<&syntax::Prototype>,
        span: Span,
    ) -> Expression {
        let signature = match prototype {
            Some(prototype) => self.prototype(prototype),
            None => self.bare_signature(),
        };
        self.new_of_signature(signature, bounds, span)
    }

    fn new_of_signature(
        &mut self,
        signature: SignatureId,
        bounds: &[syntax::Bounds],
        span: Span,
    ) -> Expression {
        let capability = self.number(Type::Operation(signature));
        let mut dimensions = Vec::new();
        let mut values = Vec::new();
        for bound in bounds {
            let Some((dimension, low, high)) = self.bounds(bound) else {
                return self.wrong(span);
            };
            dimensions.push(dimension);
            values.push((low, high));
        }
        let of = if dimensions.is_empty() {
            capability
        } else {
            self.number(Type::Array(dimensions, capability))
        };
        Expression {
            kind: ExpressionKind::NewOperation(signature, values),
            of,
            span,
        }
    }

    /// `record.field`, `component.name`, or an operation of a resource's instance.
    fn field(&mut self, of: &syntax::Expression, name: &syntax::Name, span: Span) -> Expression {
        if let Some(component) = self.component_named(of) {
            let meaning = self.lookup_in(component, name);
            return self.meant(meaning, &name.text, span);
        }
        let record = self.expression(of);
        match *self.kind(record.of) {
            Type::Wrong => record,
            Type::Record(number) => self.record_field(record, number, name, span),
            Type::Resource(_) => match self.operation_of(record, name) {
                Some(target) => self.capability(target, span),
                None => self.wrong(span),
            },
            _ => {
                let what = self.type_name(record.of);
                self.refuse(
                    span,
                    format!("{what} has no fields, so it has no \"{}\"", name.text),
                )
            }
        }
    }

    fn record_field(
        &mut self,
        record: Expression,
        number: u32,
        name: &syntax::Name,
        span: Span,
    ) -> Expression {
        let fields = &self.program.types.records[number as usize].fields;
        let found = fields.iter().position(|(field, _)| *field == name.text);
        let Some(at) = found else {
            let known: Vec<String> = fields.iter().map(|(f, _)| f.clone()).collect();
            self.error_with(
                name.span,
                format!("the record has no field \"{}\"", name.text),
                format!("it has {}", known.join(", ")),
            );
            return self.wrong(span);
        };
        let of = fields[at].1;
        Expression {
            kind: ExpressionKind::Field(Box::new(record), at),
            of,
            span,
        }
    }

    /// The component that an expression names, if it does.
    pub(super) fn component_named(&mut self, e: &syntax::Expression) -> Option<ComponentId> {
        let syntax::ExpressionKind::Name(name) = &e.kind else {
            return None;
        };
        match self.lookup(name, e.span)? {
            Meaning::Component(component) => Some(component),
            _ => None,
        }
    }

    /// An integer.
    pub(super) fn integer(&mut self, e: &syntax::Expression) -> Expression {
        self.of_type(e, Type::Int)
    }

    /// A truth value.
    pub(super) fn boolean(&mut self, e: &syntax::Expression) -> Expression {
        self.of_type(e, Type::Bool)
    }

    /// A value that converts to a type by itself.
    pub(super) fn of_type(&mut self, e: &syntax::Expression, of: Type) -> Expression {
        let value = self.expression(e);
        let of = self.number(of);
        self.convert_to(value, of)
    }

    /// A value of an ordered type: bool, char, int, an enumeration, or real.
    pub(super) fn ordered(&mut self, e: &syntax::Expression) -> Expression {
        let value = self.expression(e);
        if self.is_ordered(value.of) || self.is_wrong(&value) {
            return value;
        }
        let name = self.type_name(value.of);
        self.refuse(
            e.span,
            format!("a value of an ordered type is needed, and this is {name}"),
        )
    }

    fn convert_to_basic(
        &mut self,
        to: BasicType,
        value: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let to = match to {
            BasicType::Bool => Type::Bool,
            BasicType::Char => Type::Char,
            BasicType::Int => Type::Int,
            BasicType::Real => Type::Real,
            BasicType::File => Type::File,
            BasicType::Text => Type::Text(Extent::Any),
        };
        let to = self.number(to);
        let value = self.expression(value);
        self.explicit(value, to, span)
    }

    fn create(&mut self, creation: &syntax::Creation, span: Span) -> Expression {
        let Some(name) = &creation.resource else {
            return self.no_machines(span);
        };
        if creation.machine.is_some() {
            return self.no_machines(span);
        }
        let component = match self.lookup(&name.text, name.span) {
            Some(Meaning::Component(component))
                if !self.program.components[component.index()].is_global =>
            {
                component
            }
            Some(Meaning::Wrong) => return self.wrong(span),
            Some(_) => {
                return self.refuse(name.span, format!("\"{}\" is not a resource", name.text));
            }
            None => {
                self.undeclared(&name.text, name.span);
                return self.wrong(span);
            }
        };
        if self.units[component.index()].is_incomplete() {
            self.error_with(
                name.span,
                format!("the body of {} is missing", name.text),
                MISSING,
            );
            return self.wrong(span);
        }
        if self.program.components[component.index()].is_abstract {
            return self.refuse(
                name.span,
                format!("\"{}\" has no body: it is there to be extended", name.text),
            );
        }
        let arguments = self.creation_arguments(component, &creation.arguments, span);
        let region = creation
            .region
            .as_ref()
            .map(|region| Box::new(self.integer(region)));
        let kind = ExpressionKind::Create {
            component,
            arguments,
            region,
        };
        self.made(kind, Type::Resource(component), span)
    }

    /// Virtual machines are for later.
    pub(super) fn no_machines(&mut self, span: Span) -> Expression {
        self.error_with(
            span,
            "virtual machines are not supported yet",
            "create the resource on this machine: leave out \"on\" and \"create vm()\"",
        );
        self.wrong(span)
    }
}

/// The variable that a place is a part of; none for what a pointer points at.
pub(super) fn root(place: &Expression) -> Option<VariableId> {
    match &place.kind {
        ExpressionKind::Variable(variable) => Some(*variable),
        ExpressionKind::Field(of, _)
        | ExpressionKind::Index(of, _)
        | ExpressionKind::Slice(of, _)
        | ExpressionKind::TextIndex(of, _)
        | ExpressionKind::TextSlice(of, ..) => root(of),
        _ => None,
    }
}

//! Expressions: names, literals, and checks where a value of a certain type is needed. Each other
//! kind of expression has a file of its own.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::{BasicType, Literal, UnaryOperator};

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// Checks an expression.
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

    /// Returns the placeholder for an expression with an error.
    pub(super) fn wrong(&mut self, span: Span) -> Expression {
        self.made(
            ExpressionKind::Constant(Constant::Ordinal(1)),
            Type::Wrong,
            span,
        )
    }

    /// Returns an expression of a type.
    pub(super) fn made(&mut self, kind: ExpressionKind, of: Type, span: Span) -> Expression {
        let of = self.number(of);
        Expression { kind, of, span }
    }

    /// Reports an error in an expression and returns the placeholder for it.
    pub(super) fn refuse(&mut self, span: Span, message: impl Into<String>) -> Expression {
        self.error(span, message);
        self.wrong(span)
    }

    /// Whether an error was found in an expression.
    pub(super) fn is_wrong(&self, e: &Expression) -> bool {
        *self.kind(e.of) == Type::Wrong
    }

    /// Checks a name; reports an error if it has no meaning.
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

    /// Returns a meaning as an expression.
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

    /// Checks an integer.
    pub(super) fn integer(&mut self, e: &syntax::Expression) -> Expression {
        self.of_type(e, Type::Int)
    }

    /// Checks a truth value.
    pub(super) fn boolean(&mut self, e: &syntax::Expression) -> Expression {
        self.of_type(e, Type::Bool)
    }

    /// Checks a value that converts to a type implicitly.
    pub(super) fn of_type(&mut self, e: &syntax::Expression, of: Type) -> Expression {
        let value = self.expression(e);
        let of = self.number(of);
        self.convert_to(value, of)
    }

    /// Checks a value of an ordered type: bool, char, int, an enumeration, or real.
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
}

//! Operators, except those that assign.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::UnaryOperator;

use super::Checker;

impl Checker<'_> {
    /// `not`, `+` and `-` before an operand.
    pub(super) fn sign(
        &mut self,
        operator: UnaryOperator,
        operand: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let value = self.expression(operand);
        let is_not = operator == UnaryOperator::Not;
        let fits = match self.kind(value.of) {
            Type::Wrong => return value,
            Type::Bool => is_not,
            Type::Int => true,
            Type::Real => !is_not,
            _ => false,
        };
        if !fits {
            let name = self.type_name(value.of);
            let needs = if is_not {
                "a bool or an int"
            } else {
                "a number"
            };
            return self.refuse(span, format!("{needs} is needed, and this is {name}"));
        }
        let of = value.of;
        let kind = match operator {
            UnaryOperator::Plus => return Expression { span, ..value },
            UnaryOperator::Not => ExpressionKind::Not(Box::new(value)),
            _ => ExpressionKind::Negate(Box::new(value)),
        };
        Expression { kind, of, span }
    }

    /// Two operands.
    pub(super) fn binary(
        &mut self,
        operator: BinaryOperator,
        a: &syntax::Expression,
        b: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let (a, b) = (self.expression(a), self.expression(b));
        if self.is_wrong(&a) || self.is_wrong(&b) {
            return self.wrong(span);
        }
        use BinaryOperator as Op;
        match operator {
            Op::Or | Op::Xor | Op::And => self.logical(operator, a, b, span),
            Op::Equal
            | Op::NotEqual
            | Op::Less
            | Op::LessEqual
            | Op::Greater
            | Op::GreaterEqual => self.comparison(operator, a, b, span),
            Op::ShiftLeft | Op::ShiftRight => self.shift(operator, a, b, span),
            Op::Concatenate => self.concatenation(a, b, span),
            Op::Add
            | Op::Subtract
            | Op::Multiply
            | Op::Divide
            | Op::Mod
            | Op::Remainder
            | Op::Power => self.arithmetic(operator, a, b, span),
        }
    }

    fn joined(
        &mut self,
        operator: BinaryOperator,
        a: Expression,
        b: Expression,
        of: TypeId,
        span: Span,
    ) -> Expression {
        let kind = ExpressionKind::Binary(operator, Box::new(a), Box::new(b));
        Expression { kind, of, span }
    }

    /// Reports operands that do not fit an operator.
    fn misfit(
        &mut self,
        operator: BinaryOperator,
        a: &Expression,
        b: &Expression,
        needs: &str,
        span: Span,
    ) -> Expression {
        let (left, right) = (self.type_name(a.of), self.type_name(b.of));
        let sign = spelled(operator);
        self.refuse(
            span,
            format!("\"{sign}\" is for {needs}, and here it has {left} and {right}"),
        )
    }

    pub(super) fn logical(
        &mut self,
        operator: BinaryOperator,
        a: Expression,
        b: Expression,
        span: Span,
    ) -> Expression {
        let fits = a.of == b.of && matches!(self.kind(a.of), Type::Bool | Type::Int);
        if !fits {
            return self.misfit(operator, &a, &b, "two bools or two ints", span);
        }
        let of = a.of;
        self.joined(operator, a, b, of, span)
    }

    pub(super) fn shift(
        &mut self,
        operator: BinaryOperator,
        a: Expression,
        b: Expression,
        span: Span,
    ) -> Expression {
        let int = self.number(Type::Int);
        if a.of != int || b.of != int {
            return self.misfit(operator, &a, &b, "ints", span);
        }
        self.joined(operator, a, b, int, span)
    }

    pub(super) fn concatenation(&mut self, a: Expression, b: Expression, span: Span) -> Expression {
        let operator = BinaryOperator::Concatenate;
        if !self.is_textual(a.of) || !self.is_textual(b.of) {
            return self.misfit(operator, &a, &b, "strings and characters", span);
        }
        let text = self.number(Type::Text(Extent::Any));
        let (a, b) = (self.as_text(a), self.as_text(b));
        self.joined(operator, a, b, text, span)
    }

    /// Whether a type is a string or a character.
    fn is_textual(&self, of: TypeId) -> bool {
        matches!(self.kind(of), Type::Text(_) | Type::Char)
    }

    /// Converts a character to a string; leaves a string unchanged.
    fn as_text(&mut self, value: Expression) -> Expression {
        if *self.kind(value.of) == Type::Char {
            return self.converted(value, Type::Text(Extent::Any));
        }
        value
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        a: Expression,
        b: Expression,
        span: Span,
    ) -> Expression {
        use BinaryOperator as Op;
        if let Some(of) = self.pointer_arithmetic(operator, &a, &b) {
            return self.joined(operator, a, b, of, span);
        }
        match (self.kind(a.of), self.kind(b.of)) {
            (Type::Int, Type::Int) | (Type::Real, Type::Real) => {
                let of = a.of;
                self.joined(operator, a, b, of, span)
            }
            // A power of a real with an int exponent is computed by multiplication, not by
            // logarithms.
            (Type::Real, Type::Int) if operator == Op::Power => {
                let of = a.of;
                self.joined(operator, a, b, of, span)
            }
            (Type::Real, Type::Int) | (Type::Int, Type::Real) => {
                let (a, b) = (self.as_real(a), self.as_real(b));
                let of = a.of;
                self.joined(operator, a, b, of, span)
            }
            _ => self.misfit(operator, &a, &b, "numbers", span),
        }
    }

    /// Pointer and int: a pointer that many objects further. Two pointers: the number of objects
    /// between them.
    fn pointer_arithmetic(
        &mut self,
        operator: BinaryOperator,
        a: &Expression,
        b: &Expression,
    ) -> Option<TypeId> {
        let is_pointer = |of| matches!(self.kind(of), Type::Pointer(Some(_)));
        let is_int = |of| *self.kind(of) == Type::Int;
        match operator {
            BinaryOperator::Add if is_pointer(a.of) && is_int(b.of) => Some(a.of),
            BinaryOperator::Add if is_int(a.of) && is_pointer(b.of) => Some(b.of),
            BinaryOperator::Subtract if is_pointer(a.of) && is_int(b.of) => Some(a.of),
            BinaryOperator::Subtract if self.points_alike(a.of, b.of) => {
                Some(self.number(Type::Int))
            }
            _ => None,
        }
    }

    /// Whether two pointers lead to objects of one type. If one leads to `any`, the distance counts
    /// objects of the other.
    fn points_alike(&self, a: TypeId, b: TypeId) -> bool {
        match (self.kind(a), self.kind(b)) {
            (Type::Pointer(Some(a)), Type::Pointer(Some(b))) => self.is_alike(*a, *b),
            (Type::Pointer(a), Type::Pointer(b)) => a.is_some() || b.is_some(),
            _ => false,
        }
    }

    /// Converts an int to a real; leaves a real unchanged.
    fn as_real(&mut self, value: Expression) -> Expression {
        let real = self.number(Type::Real);
        self.convert_to(value, real)
    }

    fn comparison(
        &mut self,
        operator: BinaryOperator,
        a: Expression,
        b: Expression,
        span: Span,
    ) -> Expression {
        use BinaryOperator as Op;
        let bool = self.number(Type::Bool);
        let is_equality = matches!(operator, Op::Equal | Op::NotEqual);
        let (a, b) = match (self.kind(a.of), self.kind(b.of)) {
            (Type::Int, Type::Real) | (Type::Real, Type::Int) => (self.as_real(a), self.as_real(b)),
            (Type::Text(_), Type::Char) | (Type::Char, Type::Text(_)) => {
                (self.as_text(a), self.as_text(b))
            }
            (Type::Null | Type::Noop, Type::Null | Type::Noop) => (a, b),
            (Type::Null | Type::Noop, _) => {
                let of = b.of;
                (self.convert_to(a, of), b)
            }
            (_, Type::Null | Type::Noop) => {
                let of = a.of;
                let b = self.convert_to(b, of);
                (a, b)
            }
            _ => (a, b),
        };
        if self.is_wrong(&a) || self.is_wrong(&b) {
            return self.wrong(span);
        }
        let is_ordered = self.is_ordered(a.of) || matches!(self.kind(a.of), Type::Text(_));
        if !is_equality && !is_ordered {
            return self.misfit(
                operator,
                &a,
                &b,
                "values of an ordered type, or strings",
                span,
            );
        }
        if matches!(
            self.kind(a.of),
            Type::Array(..) | Type::Record(_) | Type::Nothing
        ) {
            let needs = "values other than arrays and records";
            return self.misfit(operator, &a, &b, needs, span);
        }
        if !self.is_comparable(a.of, b.of) {
            return self.misfit(operator, &a, &b, "two values of one type", span);
        }
        self.joined(operator, a, b, bool, span)
    }

    /// Whether values of two types can be compared.
    fn is_comparable(&self, a: TypeId, b: TypeId) -> bool {
        match (self.kind(a), self.kind(b)) {
            (Type::Text(_), Type::Text(_)) => true,
            (Type::Pointer(x), Type::Pointer(y)) if x.is_none() || y.is_none() => true,
            _ => self.is_alike(a, b),
        }
    }
}

/// Returns an operator as it is written.
fn spelled(operator: BinaryOperator) -> &'static str {
    use BinaryOperator as Op;
    match operator {
        Op::Or => "or",
        Op::Xor => "xor",
        Op::And => "and",
        Op::Equal => "=",
        Op::NotEqual => "!=",
        Op::Less => "<",
        Op::LessEqual => "<=",
        Op::Greater => ">",
        Op::GreaterEqual => ">=",
        Op::ShiftLeft => "<<",
        Op::ShiftRight => ">>",
        Op::Add => "+",
        Op::Subtract => "-",
        Op::Concatenate => "||",
        Op::Multiply => "*",
        Op::Divide => "/",
        Op::Mod => "mod",
        Op::Remainder => "%",
        Op::Power => "**",
    }
}

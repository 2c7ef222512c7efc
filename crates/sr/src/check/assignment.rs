//! Assignments: of a value, of a value combined with the old one, steps and swaps.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;

impl Checker<'_> {
    /// `place := value`.
    pub(super) fn assign(
        &mut self,
        place: &syntax::Expression,
        value: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let place = self.place(place);
        let value = self.expression(value);
        let of = place.of;
        let value = self.convert_to(value, of);
        if self.is_wrong(&place) || self.is_wrong(&value) {
            return self.wrong(span);
        }
        let kind = ExpressionKind::Assign(Box::new(place), Box::new(value));
        Expression { kind, of, span }
    }

    /// `place op:= value`.
    pub(super) fn augment(
        &mut self,
        operator: BinaryOperator,
        place: &syntax::Expression,
        value: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let place = self.place(place);
        let value = self.expression(value);
        if self.is_wrong(&place) || self.is_wrong(&value) {
            return self.wrong(span);
        }
        let of = place.of;
        let result = self.combined(operator, &place, value, span);
        let ExpressionKind::Binary(operator, _, value) = result.kind else {
            return self.wrong(span);
        };
        if !self.is_assignable(of, result.of) {
            let (has, needs) = (self.type_name(result.of), self.type_name(of));
            return self.refuse(
                span,
                format!("the result is {has}, which cannot be assigned to {needs}"),
            );
        }
        let kind = ExpressionKind::Augment(operator, Box::new(place), value);
        Expression { kind, of, span }
    }

    /// Returns the combination of a place's value and another value.
    fn combined(
        &mut self,
        operator: BinaryOperator,
        place: &Expression,
        value: Expression,
        span: Span,
    ) -> Expression {
        use BinaryOperator as Op;
        let place = place.clone();
        match operator {
            Op::Or | Op::And | Op::Xor => self.logical(operator, place, value, span),
            Op::ShiftLeft | Op::ShiftRight => self.shift(operator, place, value, span),
            Op::Concatenate => self.concatenation(place, value, span),
            _ => self.arithmetic(operator, place, value, span),
        }
    }

    /// `++` and `--`.
    pub(super) fn step(
        &mut self,
        operand: &syntax::Expression,
        by: i32,
        is_value_before: bool,
        span: Span,
    ) -> Expression {
        let place = self.place(operand);
        if self.is_wrong(&place) {
            return place;
        }
        let is_pointer = matches!(self.kind(place.of), Type::Pointer(Some(_)));
        if !is_pointer && !self.is_ordered(place.of) {
            let name = self.type_name(place.of);
            return self.refuse(
                span,
                format!("++ and -- need a variable of an ordered type, and this is {name}"),
            );
        }
        let of = place.of;
        let kind = ExpressionKind::Step {
            place: Box::new(place),
            by,
            is_value_before,
        };
        Expression { kind, of, span }
    }

    /// `a :=: b`.
    pub(super) fn swap(
        &mut self,
        a: &syntax::Expression,
        b: &syntax::Expression,
        span: Span,
    ) -> Expression {
        let (a, b) = (self.place(a), self.place(b));
        if self.is_wrong(&a) || self.is_wrong(&b) {
            return self.wrong(span);
        }
        let is_slice = |e: &Expression| {
            matches!(
                e.kind,
                ExpressionKind::Slice(..) | ExpressionKind::TextSlice(..)
            )
        };
        if is_slice(&a) || is_slice(&b) {
            return self.refuse(span, "slices cannot be swapped");
        }
        if !self.is_assignable(a.of, b.of) || !self.is_assignable(b.of, a.of) {
            let (left, right) = (self.type_name(a.of), self.type_name(b.of));
            return self.refuse(span, format!("{left} and {right} cannot be swapped"));
        }
        let of = a.of;
        let kind = ExpressionKind::Swap(Box::new(a), Box::new(b));
        Expression { kind, of, span }
    }
}

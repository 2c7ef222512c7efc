//! Arguments of functions on values: arrays, ordered values, strings and numbers.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::{Checker, text};

impl Checker<'_> {
    /// `lb(array, dimension)` and the like; the dimension is a constant.
    pub(super) fn bound_of(
        &mut self,
        name: &str,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let array = self.expression(&arguments[0]);
        let dimension = match arguments.get(1) {
            Some(given) => self.integer(given),
            None => {
                let n = if name.ends_with('2') { 2 } else { 1 };
                self.made(
                    ExpressionKind::Constant(Constant::Ordinal(n)),
                    Type::Int,
                    span,
                )
            }
        };
        if self.is_wrong(&array) || self.is_wrong(&dimension) {
            return (vec![self.wrong(span)], Type::Wrong);
        }
        let dimensions = self.program.types.flat(array.of).0;
        if dimensions.is_empty() {
            let has = self.type_name(array.of);
            let wrong = self.refuse(
                array.span,
                format!("{name} is of arrays, and this is {has}"),
            );
            return (vec![wrong], Type::Wrong);
        }
        let Some(Constant::Ordinal(n)) = self.fold(&dimension) else {
            let wrong = self.refuse(dimension.span, "the dimension must be a constant");
            return (vec![wrong], Type::Wrong);
        };
        let at = usize::try_from(n).unwrap_or(0).wrapping_sub(1);
        let Some(chosen) = dimensions.get(at) else {
            let count = dimensions.len();
            let wrong = self.refuse(
                dimension.span,
                format!("there is no dimension {n}: the array has {count}"),
            );
            return (vec![wrong], Type::Wrong);
        };
        let of = self.kind(chosen.index).clone();
        let dimension = Expression {
            kind: ExpressionKind::Constant(Constant::Ordinal(n)),
            ..dimension
        };
        (vec![array, dimension], of)
    }

    /// `pred` and `succ`.
    pub(super) fn neighbour(&mut self, argument: &syntax::Expression) -> (Vec<Expression>, Type) {
        let value = self.ordered(argument);
        let of = self.kind(value.of).clone();
        if of == Type::Real {
            let wrong = self.refuse(argument.span, "a real has no neighbour");
            return (vec![wrong], Type::Wrong);
        }
        (vec![value], of)
    }

    /// `chars`.
    pub(super) fn characters(&mut self, argument: &syntax::Expression) -> (Vec<Expression>, Type) {
        let value = self.expression(argument);
        let text = self.number(text());
        let value = if matches!(self.kind(value.of), Type::Text(_)) {
            value
        } else {
            let span = value.span;
            self.explicit(value, text, span)
        };
        let of = self.character_array();
        (vec![value], of)
    }

    /// Returns the type of an array of characters, from 1.
    fn character_array(&mut self) -> Type {
        let (index, element) = (self.number(Type::Int), self.number(Type::Char));
        let dimension = Dimension {
            index,
            low: Extent::Known(1),
            high: Extent::Any,
        };
        Type::Array(vec![dimension], element)
    }

    /// `min` and `max`: all arguments become real if one is real.
    pub(super) fn extreme(&mut self, arguments: &[syntax::Expression]) -> (Vec<Expression>, Type) {
        let values: Vec<Expression> = arguments.iter().map(|a| self.ordered(a)).collect();
        let real = self.number(Type::Real);
        let of = if values.iter().any(|v| v.of == real) {
            real
        } else {
            values[0].of
        };
        let values = values
            .into_iter()
            .map(|value| self.convert_to(value, of))
            .collect();
        let of = self.kind(of).clone();
        (values, of)
    }

    /// `abs`.
    pub(super) fn absolute(&mut self, argument: &syntax::Expression) -> (Vec<Expression>, Type) {
        let value = self.expression(argument);
        if *self.kind(value.of) == Type::Real {
            return (vec![value], Type::Real);
        }
        let int = self.number(Type::Int);
        (vec![self.convert_to(value, int)], Type::Int)
    }
}

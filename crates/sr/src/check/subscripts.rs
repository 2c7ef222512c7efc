//! Subscripts and slices of arrays, strings and arrays of operations.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::Bound;

use super::Checker;

impl Checker<'_> {
    /// `of[subscripts]`.
    pub(super) fn index(
        &mut self,
        of: &syntax::Expression,
        subscripts: &[syntax::Bounds],
        span: Span,
    ) -> Expression {
        if let Some(target) = self.operation_element(of, subscripts) {
            return match target {
                Ok(target) => self.capability(target, span),
                Err(()) => self.wrong(span),
            };
        }
        let array = self.expression(of);
        match self.kind(array.of).clone() {
            Type::Wrong => array,
            Type::Text(_) => self.text_part(array, subscripts, span),
            Type::Array(..) => self.array_part(array, subscripts, span),
            _ => {
                let name = self.type_name(array.of);
                self.refuse(
                    span,
                    format!("subscripts follow an array or a string, and this is {name}"),
                )
            }
        }
    }

    fn text_part(
        &mut self,
        text: Expression,
        subscripts: &[syntax::Bounds],
        span: Span,
    ) -> Expression {
        let [subscript] = subscripts else {
            return self.refuse(span, "a string has one dimension");
        };
        let text = Box::new(text);
        match (&subscript.lower, &subscript.upper) {
            (None, Bound::Value(at)) => {
                let at = Box::new(self.integer(at));
                self.made(ExpressionKind::TextIndex(text, at), Type::Char, span)
            }
            (low, high) => {
                let low = low.as_ref().and_then(|low| self.text_bound(low));
                let high = self.text_bound(high);
                self.made(
                    ExpressionKind::TextSlice(text, low, high),
                    Type::Text(Extent::Any),
                    span,
                )
            }
        }
    }

    fn text_bound(&mut self, bound: &Bound) -> Option<Box<Expression>> {
        match bound {
            Bound::Value(value) => Some(Box::new(self.integer(value))),
            Bound::Any(_) => None,
        }
    }

    fn array_part(
        &mut self,
        array: Expression,
        subscripts: &[syntax::Bounds],
        span: Span,
    ) -> Expression {
        let (dimensions, element) = self.program.types.flat(array.of);
        // The last subscript may be one of the strings in the array.
        if subscripts.len() == dimensions.len() + 1 && matches!(self.kind(element), Type::Text(_)) {
            let (own, rest) = subscripts.split_at(dimensions.len());
            let text = self.array_part(array, own, span);
            return match self.kind(text.of) {
                Type::Text(_) => self.text_part(text, rest, span),
                Type::Wrong => text,
                _ => self.refuse(span, "a slice of an array of strings has no characters"),
            };
        }
        if subscripts.len() > dimensions.len() {
            let n = dimensions.len();
            let s = if n == 1 { "" } else { "s" };
            return self.refuse(
                span,
                format!("too many subscripts: the array has {n} dimension{s}"),
            );
        }
        // A subarray of an element: `a[1][2:3]` has the subscripts of both parts.
        let checked: Vec<Subscript> = subscripts
            .iter()
            .zip(&dimensions)
            .map(|(subscript, dimension)| self.subscript(subscript, dimension.index))
            .collect();
        self.part(array, checked, &dimensions, element, span)
    }

    fn subscript(&mut self, subscript: &syntax::Bounds, index: TypeId) -> Subscript {
        match (&subscript.lower, &subscript.upper) {
            (None, Bound::Value(at)) => Subscript::At(self.subscript_value(at, index)),
            (low, high) => {
                let low = low.as_ref().and_then(|low| self.range_end(low, index));
                let high = self.range_end(high, index);
                Subscript::Range(low, high)
            }
        }
    }

    fn range_end(&mut self, bound: &Bound, index: TypeId) -> Option<Expression> {
        match bound {
            Bound::Value(value) => Some(self.subscript_value(value, index)),
            Bound::Any(_) => None,
        }
    }

    /// Checks a subscript's value, which must have the type of the bounds.
    fn subscript_value(&mut self, e: &syntax::Expression, index: TypeId) -> Expression {
        let value = self.expression(e);
        if self.is_wrong(&value) || self.is_alike(value.of, index) {
            return value;
        }
        let (has, needs) = (self.type_name(value.of), self.type_name(index));
        self.refuse(
            e.span,
            format!("the subscript is {has}, and the array's bounds are {needs}"),
        )
    }

    /// Returns the element, the array of the remaining dimensions, or the slice.
    fn part(
        &mut self,
        array: Expression,
        subscripts: Vec<Subscript>,
        dimensions: &[Dimension],
        element: TypeId,
        span: Span,
    ) -> Expression {
        let (array, mut subscripts) = merged(array, subscripts);
        let whole = self.program.types.flat(array.of).0;
        let missing = whole.len().saturating_sub(subscripts.len());
        let is_element = missing == 0 && subscripts.iter().all(is_single);
        if is_element {
            let singles = singles(subscripts);
            return Expression {
                kind: ExpressionKind::Index(Box::new(array), singles),
                of: element,
                span,
            };
        }
        let mut left = Vec::new();
        for (subscript, dimension) in subscripts.iter().zip(&whole) {
            if !is_single(subscript) {
                left.push(Dimension {
                    index: dimension.index,
                    low: Extent::Any,
                    high: Extent::Any,
                });
            }
        }
        left.extend_from_slice(&dimensions[dimensions.len() - missing..]);
        let of = self.number(Type::Array(left, element));
        let kind = if subscripts.iter().all(is_single) {
            ExpressionKind::Index(Box::new(array), singles(subscripts))
        } else {
            subscripts.extend((0..missing).map(|_| Subscript::Range(None, None)));
            ExpressionKind::Slice(Box::new(array), subscripts)
        };
        Expression { kind, of, span }
    }
}

/// Combines subscripts of a subarray with those of the whole array: `a[1][2]` is `a[1,2]`.
fn merged(array: Expression, subscripts: Vec<Subscript>) -> (Expression, Vec<Subscript>) {
    match array.kind {
        ExpressionKind::Index(whole, before) => {
            let before = before.into_iter().map(Subscript::At);
            (*whole, before.chain(subscripts).collect())
        }
        _ => (array, subscripts),
    }
}

fn is_single(subscript: &Subscript) -> bool {
    matches!(subscript, Subscript::At(_))
}

fn singles(subscripts: Vec<Subscript>) -> Vec<Expression> {
    subscripts
        .into_iter()
        .filter_map(|subscript| match subscript {
            Subscript::At(at) => Some(at),
            Subscript::Range(..) => None,
        })
        .collect()
}

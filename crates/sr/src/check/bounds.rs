//! Bounds of arrays and lengths of strings: known, computed, or open.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax::{Bound, Bounds};

use super::Checker;

impl Checker<'_> {
    /// Returns the type of a field. Reports a bound or length that is not known.
    pub(super) fn known_only(&mut self, of: TypeId, shape: &Shape, span: Span) -> TypeId {
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

    /// Returns the type. Reports a bound or length `*`.
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

    /// Returns the type of an array with elements of a type.
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

    /// Checks a dimension with its bounds; none if an error was found. The expression of a bound
    /// `*` has no meaning.
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

    /// Whether a type is ordinal: bool, char, int and enumerations.
    fn is_ordinal(&self, of: TypeId) -> bool {
        self.is_ordered(of) && *self.kind(of) != Type::Real
    }
}

/// Returns what the compiler knows of a bound or length.
pub(super) fn extent(bound: &Expression) -> Extent {
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

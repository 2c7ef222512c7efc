//! Aggregates: records, arrays, sets and unions by their members.

use antiphon_lang::Span;

use super::Checker;
use super::scope::Symbol;
use crate::program::{Expr, ExprKind, TypeId, TypeKind, Value};
use crate::syntax::{Expression, Row};

impl Checker<'_> {
    fn aggregate_type(&mut self, ty: &Expression) -> Option<TypeId> {
        match self.symbol_of(ty) {
            Some(Symbol::Type(ty)) => Some(ty),
            Some(Symbol::Wrong) => None,
            _ => {
                self.error_help(
                    ty.span,
                    "an aggregate begins with its type",
                    "write type:[..] or type:{..}",
                );
                None
            }
        }
    }

    pub(super) fn members(&mut self, ty: &Expression, members: &[Expression], span: Span) -> Expr {
        let Some(ty) = self.aggregate_type(ty) else {
            self.values(members);
            return self.wrong(span);
        };
        let members = match self.program.kind(ty).clone() {
            TypeKind::Set(of) | TypeKind::Bag(of) => members
                .iter()
                .map(|it| self.value_of(it, of, "an aggregate"))
                .collect(),
            TypeKind::Record(fields) => {
                if fields.len() != members.len() {
                    let many = if members.len() < fields.len() {
                        "few"
                    } else {
                        "many"
                    };
                    let message = format!("the record aggregate has too {many} members");
                    let help = format!("{} has {} fields", self.name_of(ty), fields.len());
                    self.error_help(span, message, help);
                    self.values(members);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                }
                let pairs = members.iter().zip(&fields);
                pairs
                    .map(|(it, field)| self.value_of(it, field.of.ty, "a record aggregate"))
                    .collect()
            }
            TypeKind::Union { tag, alternatives } => {
                let [label, value] = members else {
                    let help = "write type:{tag, value}";
                    self.error_help(span, "a union aggregate has a tag and a value", help);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                };
                let number = self.discrete_constant(label, tag.of.ty);
                let found = alternatives.iter().find(|(it, _)| Some(*it) == number);
                let Some((number, field)) = found else {
                    if number.is_some() {
                        let message =
                            format!("{} has no alternative for this tag", self.name_of(ty));
                        self.error(label.span, message);
                    }
                    self.expression(value);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                };
                let value = self.value_of(value, field.of.ty, "a union aggregate");
                let label = self.constant_expr(Value::Integer(*number), tag.of.ty, label.span);
                vec![label, value]
            }
            TypeKind::Error => return self.wrong(span),
            TypeKind::Array { .. } => {
                self.error_help(
                    span,
                    "the elements of an array stand in brackets",
                    "write type:[..]",
                );
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
            _ => {
                let message = format!("there are no aggregates of {}", self.name_of(ty));
                self.error(span, message);
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
        };
        Expr {
            kind: ExprKind::Members(members),
            ty,
            span,
        }
    }

    pub(super) fn rows(&mut self, ty: &Expression, rows: &[Row], span: Span) -> Expr {
        let Some(ty) = self.aggregate_type(ty) else {
            return self.wrong(span);
        };
        let (dimensions, element) = match self.program.kind(ty).clone() {
            TypeKind::Array {
                indices,
                element,
                bounds,
            } => {
                let is_known = |it: &Expr| matches!(it.kind, ExprKind::Constant(_));
                if bounds
                    .iter()
                    .any(|(low, high)| !is_known(low) || !is_known(high))
                {
                    let message = format!("the bounds of {} are not constant", self.name_of(ty));
                    self.error_help(span, message, "such a type has no aggregates");
                }
                (indices.len(), element)
            }
            TypeKind::Error => return self.wrong(span),
            _ => {
                let message = format!("{} is no array", self.name_of(ty));
                self.error_help(
                    span,
                    message,
                    "members of others stand in braces: type:{..}",
                );
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
        };
        let mut sizes = vec![None; dimensions];
        let mut elements = Vec::new();
        self.row(rows, span, &mut sizes, 0, element, &mut elements);
        let sizes: Vec<usize> = sizes.into_iter().map(Option::unwrap_or_default).collect();
        self.check_sizes(ty, &sizes, span);
        Expr {
            kind: ExprKind::Elements(sizes, elements),
            ty,
            span,
        }
    }

    fn row(
        &mut self,
        rows: &[Row],
        span: Span,
        sizes: &mut [Option<usize>],
        depth: usize,
        element: TypeId,
        elements: &mut Vec<Expr>,
    ) {
        match sizes[depth] {
            Some(size) if size != rows.len() => {
                let message = format!(
                    "this row has {} elements, the one before {size}",
                    rows.len()
                );
                self.error(span, message);
            }
            _ => sizes[depth] = Some(rows.len()),
        }
        let is_last = depth + 1 == sizes.len();
        for row in rows {
            match row {
                Row::Element(value) if is_last => {
                    elements.push(self.value_of(value, element, "an array aggregate"));
                }
                Row::Row(rows, span) if !is_last => {
                    self.row(rows, *span, sizes, depth + 1, element, elements);
                }
                Row::Element(value) => {
                    let help = format!("the array has {} dimensions", sizes.len());
                    self.error_help(value.span, "a row in brackets is expected", help);
                    return;
                }
                Row::Row(_, span) => {
                    let help = "an element that is an array begins with its type";
                    self.error_help(*span, "an element is expected", help);
                    return;
                }
            }
        }
    }

    /// Checks that an aggregate of a type with bounds has as many elements as those say.
    fn check_sizes(&mut self, ty: TypeId, sizes: &[usize], span: Span) {
        let TypeKind::Array { bounds, .. } = self.program.kind(ty) else {
            return;
        };
        for ((low, high), size) in bounds.iter().zip(sizes) {
            if let (
                ExprKind::Constant(Value::Integer(low)),
                ExprKind::Constant(Value::Integer(high)),
            ) = (&low.kind, &high.kind)
                && high - low + 1 != *size as i64
            {
                let message = format!("{size} elements for {} places", high - low + 1);
                self.error(span, message);
                return;
            }
        }
    }
}

//! Constructors of arrays and records.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;

impl Checker<'_> {
    /// `(a, b, [n] c)`.
    pub(super) fn array_of(&mut self, elements: &[syntax::Element], span: Span) -> Expression {
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

    /// Returns the element type of an array's constructor: that of the first element, but real if
    /// another element is real.
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

    /// `record(values)`: as many values as the record has fields.
    pub(super) fn record_of(
        &mut self,
        of: TypeId,
        number: u32,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> Expression {
        let fields = self.program.types.records[number as usize].fields.clone();
        if fields.len() != arguments.len() {
            let (has, needs) = (arguments.len(), fields.len());
            return self.refuse(
                span,
                format!("the record has {needs} fields, and {has} are given"),
            );
        }
        let mut values = Vec::new();
        for (argument, (_, field)) in arguments.iter().zip(fields) {
            let value = self.expression(argument);
            values.push(self.convert_to(value, field));
        }
        Expression {
            kind: ExpressionKind::Record(values),
            of,
            span,
        }
    }
}

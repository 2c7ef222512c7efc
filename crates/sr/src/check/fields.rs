//! Names after a dot: fields of records, exports of components, and operations of resources.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// `record.field`, `component.name`, or an operation of a resource's instance.
    pub(super) fn field(
        &mut self,
        of: &syntax::Expression,
        name: &syntax::Name,
        span: Span,
    ) -> Expression {
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

    /// Returns the component that an expression names, if any.
    pub(super) fn component_named(&mut self, e: &syntax::Expression) -> Option<ComponentId> {
        let syntax::ExpressionKind::Name(name) = &e.kind else {
            return None;
        };
        match self.lookup(name, e.span)? {
            Meaning::Component(component) => Some(component),
            _ => None,
        }
    }
}

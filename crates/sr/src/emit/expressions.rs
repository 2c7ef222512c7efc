//! Expressions. Parts with effects are written as statements, in order; the rest is returned as a C
//! expression.

use antiphon_lang::Span;
use antiphon_lang::c::{self, bare};

use super::function::{Access, Function};
use super::names::instance_of;
use super::places::Place;
use super::types::Class;
use super::views::{View, constant};
use crate::lower::has_effects;
use crate::program::*;

/// A value of some class.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A C expression of a plain type.
    Plain(String),
    /// A C expression of type `sr_text`.
    Text(String),
    /// An array.
    Array(View),
}

impl Function<'_> {
    /// Returns a value of any class.
    pub(super) fn value(&mut self, e: &Expression) -> Value {
        match self.unit.class(e.of) {
            Class::Plain => Value::Plain(self.plain(e)),
            Class::Text => Value::Text(self.text(e)),
            Class::Array(_) => Value::Array(self.array(e)),
        }
    }

    /// Returns values, evaluated from left to right. A value that a later expression may change is
    /// kept in a temporary.
    pub(super) fn values(&mut self, expressions: &[&Expression]) -> Vec<Value> {
        let last_effect = expressions.iter().rposition(|e| has_effects(e));
        let mut values = Vec::new();
        for (n, e) in expressions.iter().enumerate() {
            let value = self.value(e);
            let is_kept = last_effect.is_some_and(|last| n < last);
            values.push(match value {
                Value::Plain(text) if is_kept && !self.is_steady(e) => {
                    Value::Plain(self.keep(&self.unit.plain_type(e.of), &text))
                }
                Value::Text(text) if is_kept => Value::Text(self.keep("sr_text", &text)),
                value => value,
            });
        }
        values
    }

    /// The same for plain values.
    pub(super) fn plains(&mut self, expressions: &[&Expression]) -> Vec<String> {
        let values = self.values(expressions);
        let plain = values.into_iter().map(|value| match value {
            Value::Plain(text) | Value::Text(text) => text,
            Value::Array(view) => self.view_value(&view),
        });
        plain.collect()
    }

    /// Whether nothing can change the expression's value.
    fn is_steady(&self, e: &Expression) -> bool {
        match &e.kind {
            ExpressionKind::Constant(_) => true,
            ExpressionKind::Variable(variable) => {
                !self.unit.facts.is_assigned(*variable)
                    && instance_of(self.unit.program, *variable).is_none()
            }
            _ => false,
        }
    }

    /// Returns a plain value.
    pub(super) fn plain(&mut self, e: &Expression) -> String {
        use ExpressionKind as K;
        match &e.kind {
            K::Constant(value) => self.constant(value, e.of),
            K::Variable(_) | K::Index(..) | K::Dereference(_) => self.plain_place(e),
            K::TextIndex(of, at) => match of.is_place() {
                true => self.plain_place(e),
                false => self.character(of, at, e.span),
            },
            K::Field(of, number) if !of.is_place() => {
                let record = self.plain(of);
                format!("{record}.{}", self.field(of.of, *number))
            }
            K::Field(..) => self.plain_place(e),
            K::Binary(operator, a, b) => self.binary(*operator, a, b, e),
            K::Negate(of) => self.negate(of, e),
            K::Not(of) => {
                let value = self.plain(of);
                match self.types().get(of.of) {
                    Type::Bool => format!("(!{value})"),
                    _ => format!("(~{value})"),
                }
            }
            K::Address(of) => self.address(of),
            K::Step {
                place,
                by,
                is_value_before,
            } => self.step(place, *by, *is_value_before),
            K::Assign(..) | K::Augment(..) | K::Swap(..) => match self.changed_value(e) {
                Some(Value::Plain(value)) => value,
                _ => "0".into(),
            },
            K::Convert(of) => self.convert_plain(of, e),
            K::Record(values) => self.record(values, e.of),
            K::New(of, shape) => self.new_object(*of, shape, e.span),
            K::NewOperation(signature, _) => self.new_operation(*signature, e.span),
            K::Call(invocation) => match self.call(invocation) {
                Some(Value::Plain(value)) => value,
                _ => "0".into(),
            },
            K::Capability(target) => self.capability(target, e.span),
            K::Pending(target) => self.pending(target, e.span),
            K::Predefined(function, arguments) => self.predefined(*function, arguments, e),
            K::Create {
                component,
                arguments,
                region,
                machine,
            } => {
                let region = region.as_deref();
                let made = self.create(*component, arguments, region, machine.as_deref(), e.span);
                self.unit.with_slots(*component, made)
            }
            K::Slice(..) | K::TextSlice(..) | K::Array(_) => "0".into(),
        }
    }

    fn plain_place(&mut self, e: &Expression) -> String {
        match self.place(e) {
            Place::Plain(lvalue) => lvalue,
            // Reached only in programs with errors.
            _ => "0".into(),
        }
    }

    fn constant(&self, value: &Constant, of: TypeId) -> String {
        let by_type = |null: &str, operation: &str, resource: &str, file: &str| {
            match self.types().get(of) {
                Type::Operation(_) => operation,
                Type::Resource(_) => return self.unit.constant_resource(resource),
                Type::Machine => resource,
                Type::File => file,
                _ => null,
            }
            .to_string()
        };
        match value {
            Constant::Ordinal(value) => match self.types().get(of) {
                Type::Char => character_literal(*value),
                _ => constant(*value),
            },
            Constant::Real(value) => real_literal(*value),
            Constant::Text(bytes) => format!("SR_TEXT({})", c::string(bytes)),
            Constant::Null => by_type(
                "((void *)0)",
                "SR_NULL_CAP",
                "SR_NULL_RESOURCE",
                "SR_NULL_FILE",
            ),
            Constant::Noop => by_type(
                "((void *)0)",
                "SR_NOOP_CAP",
                "SR_NOOP_RESOURCE",
                "SR_NOOP_FILE",
            ),
            Constant::Stdin => "SR_STDIN".into(),
            Constant::Stdout => "SR_STDOUT".into(),
            Constant::Stderr => "SR_STDERR".into(),
        }
    }

    fn address(&mut self, of: &Expression) -> String {
        match self.place(of) {
            Place::Plain(lvalue) => format!("((void *)&{lvalue})"),
            // Pointers to strings and arrays lead to a descriptor.
            Place::Text(string) => self.described("sr_string", &string, of.span),
            Place::Part(string, ..) => self.described("sr_string", &string, of.span),
            Place::Array(view) => {
                let value = self.view_value(&view);
                self.described(
                    &format!("struct sr_array{}", view.dims.len()),
                    &value,
                    of.span,
                )
            }
        }
    }

    fn described(&mut self, c_type: &str, value: &str, span: Span) -> String {
        let at = self.at(span);
        let place = self.temp(
            &format!("{c_type} *"),
            &format!("sr_new({at}, sizeof({c_type}))"),
        );
        self.line(format!("*{place} = {value};"));
        format!("((void *){place})")
    }

    fn step(&mut self, place: &Expression, by: i32, is_value_before: bool) -> String {
        let lvalue = self.plain_place(place);
        let c_type = self.unit.plain_type(place.of);
        let before = is_value_before.then(|| self.temp(&c_type, &lvalue));
        self.step_place(place, &lvalue, by);
        match before {
            Some(before) => before,
            None => self.temp(&c_type, &lvalue),
        }
    }

    fn step_place(&mut self, place: &Expression, lvalue: &str, by: i32) {
        let by = match self.types().get(place.of) {
            Type::Pointer(Some(to)) => {
                let bytes = format!("(intptr_t){}", self.pointed_bytes(*to));
                self.line(format!(
                    "{lvalue} = (char *){lvalue} {} {bytes};",
                    if by < 0 { "-" } else { "+" }
                ));
                return;
            }
            _ => by,
        };
        match by {
            1 => self.line(format!("{lvalue}++;")),
            -1 => self.line(format!("{lvalue}--;")),
            by => self.line(format!("{lvalue} += {by};")),
        }
    }

    fn record(&mut self, values: &[Expression], of: TypeId) -> String {
        let c_type = self.unit.plain_type(of);
        let name = format!("t{}", self.number());
        let places = match self.types().get(of) {
            Type::Record(number) => {
                let number = self.unit.record_alike(*number);
                self.types().records[number as usize].fields.clone()
            }
            _ => Vec::new(),
        };
        let all = values.iter().collect::<Vec<_>>();
        let values_c = self.values(&all);
        self.line(format!("{c_type} {name};"));
        for (((n, of), value), e) in places.iter().zip(values_c).zip(values) {
            let lvalue = format!("{name}.f_{n}");
            let access = self.access_to(&lvalue, *of);
            self.store_access(access, *of, &value, e.span);
        }
        name
    }

    /// Writes an expression for its effect alone.
    pub(super) fn effect(&mut self, e: &Expression) {
        use ExpressionKind as K;
        match &e.kind {
            K::Assign(place, value) => {
                self.assign_from(place, value);
            }
            K::Augment(operator, place, value) => {
                self.augment(*operator, place, value, e);
            }
            K::Step { place, by, .. } => {
                let lvalue = self.plain_place(place);
                self.step_place(place, &lvalue, *by);
            }
            K::Swap(a, b) => {
                self.swap(a, b);
            }
            K::Call(invocation) => {
                self.call(invocation);
            }
            K::Predefined(function, arguments)
                if matches!(self.types().get(e.of), Type::Nothing) =>
            {
                let value = self.predefined(*function, arguments, e);
                if !value.is_empty() {
                    self.line(format!("{};", bare(&value)));
                }
            }
            _ => match self.value(e) {
                Value::Plain(text) | Value::Text(text) if !is_name(&text) => {
                    self.line(format!("(void){text};"));
                }
                _ => {}
            },
        }
    }

    /// Stores a value in a new variable or a field.
    pub(super) fn store_access(&mut self, access: Access, of: TypeId, value: &Value, span: Span) {
        let place = match (access, self.unit.class(of)) {
            (Access::Place(lvalue), Class::Text) => Place::Text(format!("SR_STRING({lvalue})")),
            (Access::Place(lvalue), _) => Place::Plain(lvalue),
            (Access::String(string), _) => Place::Text(string),
            (Access::View(view), _) => Place::Array(view),
        };
        self.store(&place, value, span);
    }
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns a character literal in C.
fn character_literal(value: i32) -> String {
    match u8::try_from(value) {
        Ok(byte @ b' '..=b'~') if byte != b'\'' && byte != b'\\' => {
            format!("'{}'", char::from(byte))
        }
        _ => constant(value),
    }
}

/// Returns a real in C, with all its digits.
fn real_literal(value: f64) -> String {
    if value.is_nan() {
        return "(0.0 / 0.0)".into();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "(1.0 / 0.0)"
        } else {
            "(-1.0 / 0.0)"
        }
        .into();
    }
    let text = format!("{value:?}");
    if value.is_sign_negative() {
        format!("({text})")
    } else {
        text
    }
}

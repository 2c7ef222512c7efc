//! Operators.

use antiphon_lang::{Span, c::bare};

use super::expressions::Value;
use super::function::Function;
use super::places::Place;
use super::text::value_of;
use super::types::Class;
use crate::lower::has_effects;
use crate::program::*;

use BinaryOperator as O;

/// The kind of operands, which determines how an operator works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Ordinal,
    Real,
    Text,
    Pointer,
    Operation,
    Resource,
    Machine,
}

impl Function<'_> {
    fn kind(&self, of: TypeId) -> Kind {
        match self.types().get(of) {
            Type::Bool => Kind::Bool,
            Type::Real => Kind::Real,
            Type::Text(_) => Kind::Text,
            Type::Pointer(_) | Type::File | Type::Null | Type::Noop => Kind::Pointer,
            Type::Operation(_) => Kind::Operation,
            Type::Resource(_) => Kind::Resource,
            Type::Machine => Kind::Machine,
            _ => Kind::Ordinal,
        }
    }

    /// Returns the value of an operator with two operands.
    pub(super) fn binary(
        &mut self,
        operator: O,
        a: &Expression,
        b: &Expression,
        e: &Expression,
    ) -> String {
        let kind = self.kind(a.of);
        if kind == Kind::Bool && matches!(operator, O::And | O::Or) {
            return self.short_circuit(operator == O::And, a, b);
        }
        let is_mixed_power =
            operator == O::Power && kind == Kind::Real && self.kind(b.of) == Kind::Ordinal;
        let values = self.plains(&[a, b]);
        if is_mixed_power {
            let at = self.at(e.span);
            return format!("sr_power_real_int({at}, {}, {})", values[0], values[1]);
        }
        // As in the original, a capability is null whatever its operations were replaced by.
        let is_constant = [a, b].iter().any(|e| is_null_or_noop(e));
        if kind == Kind::Resource && is_constant {
            let [a, b] = [0, 1].map(|n| format!("{}{}", values[n], self.unit.instance_member()));
            return self.operate(operator, Kind::Machine, &a, &b, e.span);
        }
        let is_pointer = [a, b].iter().any(|e| self.kind(e.of) == Kind::Pointer);
        if is_pointer && matches!(operator, O::Add | O::Subtract) {
            return self.pointer_arithmetic(operator, (a.of, &values[0]), (b.of, &values[1]));
        }
        self.operate(operator, kind, &values[0], &values[1], e.span)
    }

    /// Pointer and number of objects, or the number of objects between two pointers.
    fn pointer_arithmetic(&self, operator: O, a: (TypeId, &str), b: (TypeId, &str)) -> String {
        if self.kind(a.0) != Kind::Pointer {
            return self.pointer_arithmetic(operator, b, a);
        }
        // One of the two may be a pointer to `any`.
        let pointed = [a.0, b.0]
            .into_iter()
            .find_map(|of| match self.types().get(of) {
                Type::Pointer(to) => *to,
                _ => None,
            });
        let bytes = pointed.map_or_else(|| "1".into(), |to| self.pointed_bytes(to));
        let (first, second) = (a.1, b.1);
        if self.kind(b.0) == Kind::Pointer {
            return format!("((sr_int)(((char *){first} - (char *){second}) / (intptr_t){bytes}))");
        }
        let sign = plain_symbol(operator);
        format!("((void *)((char *){first} {sign} (intptr_t){second} * (intptr_t){bytes}))")
    }

    /// Returns the bytes of the object behind a pointer.
    pub(super) fn pointed_bytes(&self, to: TypeId) -> String {
        match self.unit.class(to) {
            Class::Plain => format!("sizeof({})", self.unit.plain_type(to)),
            Class::Text => "sizeof(sr_string)".into(),
            Class::Array(dimensions) => format!("sizeof(struct sr_array{dimensions})"),
        }
    }

    /// `and`, `or` of bools. The second operand is not evaluated if the first decides.
    fn short_circuit(&mut self, is_and: bool, a: &Expression, b: &Expression) -> String {
        let first = self.plain(a);
        let (written, second) = self.aside(|f| f.deeper(|f| f.plain(b)));
        if written.is_empty() && !has_effects(b) {
            return format!("({first} {} {second})", if is_and { "&&" } else { "||" });
        }
        let result = self.temp("sr_bool", &first);
        let not = if is_and { "" } else { "!" };
        self.out.open(format!("if ({not}{result}) {{"));
        self.out.append(&written);
        self.line(format!("{result} = {};", bare(&second)));
        self.out.close("}");
        result
    }

    /// Applies an operator to values of one kind.
    fn operate(&mut self, operator: O, kind: Kind, a: &str, b: &str, span: Span) -> String {
        let at = || self.at(span);
        match (operator, kind) {
            (O::Equal | O::NotEqual, Kind::Text) => {
                format!("({}sr_text_equal({a}, {b}))", negation(operator))
            }
            (O::Equal | O::NotEqual, Kind::Operation) => {
                format!("({}sr_cap_equal({a}, {b}))", negation(operator))
            }
            (O::Equal | O::NotEqual, Kind::Resource | Kind::Machine) => {
                let equal = match kind == Kind::Resource && self.unit.has_slots() {
                    true => "resource_equal",
                    false => "sr_resource_equal",
                };
                format!("({}{equal}({a}, {b}))", negation(operator))
            }
            (O::Less | O::LessEqual | O::Greater | O::GreaterEqual, Kind::Text) => {
                format!("(sr_text_compare({a}, {b}) {} 0)", plain_symbol(operator))
            }
            (O::Divide, Kind::Ordinal) => format!("sr_divide({}, {a}, {b})", at()),
            (O::Remainder, Kind::Ordinal) => format!("sr_remainder({}, {a}, {b})", at()),
            (O::Mod, Kind::Ordinal) => format!("sr_mod({}, {a}, {b})", at()),
            (O::Power, Kind::Ordinal) => format!("sr_power_int({}, {a}, {b})", at()),
            (O::Remainder, Kind::Real) => format!("fmod({a}, {b})"),
            (O::Mod, Kind::Real) => format!("sr_mod_real({}, {a}, {b})", at()),
            (O::Power, Kind::Real) => format!("sr_power_real({}, {a}, {b})", at()),
            // C leaves large shifts undefined; as on the machine, only the last five bits of the
            // count matter.
            (O::ShiftLeft, _) => format!("((sr_int)((uint32_t){a} << ({b} & 31)))"),
            (O::ShiftRight, _) => format!("({a} >> ({b} & 31))"),
            (O::Xor, Kind::Bool) => format!("({a} != {b})"),
            _ => format!("({a} {} {b})", plain_symbol(operator)),
        }
    }

    pub(super) fn negate(&mut self, of: &Expression, _: &Expression) -> String {
        let value = self.plain(of);
        format!("(-{value})")
    }

    /// `place op:= value`. Returns the place, which is evaluated once.
    pub(super) fn augment(
        &mut self,
        operator: O,
        place: &Expression,
        value: &Expression,
        e: &Expression,
    ) -> Place {
        if operator == O::Concatenate || self.kind(place.of) == Kind::Text {
            return self.append(place, value, e.span);
        }
        let lvalue = match self.place(place) {
            Place::Plain(lvalue) => lvalue,
            other => return other,
        };
        let is_simple = !has_effects(value) && is_simple_lvalue(&lvalue);
        let lvalue = match is_simple {
            true => lvalue,
            false => {
                let c_type = super::types::pointer_to(&self.unit.plain_type(place.of));
                format!("(*{})", self.temp(&c_type, &format!("&{lvalue}")))
            }
        };
        let kind = self.kind(place.of);
        let value_kind = self.kind(value.of);
        let second = self.plain(value);
        let symbol = plain_symbol(operator);
        let is_direct = kind == value_kind
            && match operator {
                O::Add | O::Subtract | O::Multiply => true,
                O::Divide => kind == Kind::Real,
                _ => false,
            };
        if is_direct {
            self.line(format!("{lvalue} {symbol}= {};", bare(&second)));
            return Place::Plain(lvalue);
        }
        let result = match (operator, kind, value_kind) {
            (O::Add | O::Subtract, Kind::Pointer, _) => {
                self.pointer_arithmetic(operator, (place.of, &lvalue), (value.of, &second))
            }
            (O::Power, Kind::Real, Kind::Ordinal) => {
                format!("sr_power_real_int({}, {lvalue}, {second})", self.at(e.span))
            }
            _ => self.operate(operator, kind, &lvalue, &second, e.span),
        };
        self.line(format!("{lvalue} = {};", bare(&result)));
        Place::Plain(lvalue)
    }

    /// `place ||:= value`.
    fn append(&mut self, place: &Expression, value: &Expression, span: Span) -> Place {
        let to = self.place(place);
        let first = match &to {
            Place::Text(string) => self.string_value(string),
            _ => self.text(place),
        };
        let second = self.text(value);
        let at = self.at(span);
        self.allocates = true;
        let both = self.temp("sr_text", &format!("sr_text_cat({at}, {first}, {second})"));
        self.store(&to, &Value::Text(both), span);
        to
    }

    /// Returns the value of a place that was evaluated before.
    pub(super) fn value_in(&mut self, place: Place, span: Span) -> Value {
        match place {
            Place::Plain(lvalue) => Value::Plain(lvalue),
            Place::Text(string) => Value::Text(self.string_value(&string)),
            Place::Part(string, from, to) => {
                let at = self.at(span);
                Value::Text(format!(
                    "sr_text_slice({at}, sr_string_value({string}), {string}.maximum, {from}, {to})"
                ))
            }
            Place::Array(view) => Value::Array(view),
        }
    }

    /// Returns the value of an expression that changes a place and has the place's value.
    pub(super) fn changed_value(&mut self, e: &Expression) -> Option<Value> {
        let place = match &e.kind {
            ExpressionKind::Assign(place, value) => self.assign_from(place, value),
            ExpressionKind::Augment(operator, place, value) => {
                self.augment(*operator, place, value, e)
            }
            ExpressionKind::Swap(a, b) => self.swap(a, b),
            _ => return None,
        };
        Some(self.value_in(place, e.span))
    }

    /// `place := value`. Returns the place, which is evaluated once.
    pub(super) fn assign_from(&mut self, place: &Expression, value: &Expression) -> Place {
        let span = place.span.to(value.span);
        // The place comes first if one of the two could change the other.
        let early = match (has_effects(place), has_effects(value)) {
            (_, true) => Some(self.fixed_place(place)),
            (true, false) => Some(self.place(place)),
            (false, false) => None,
        };
        let value = self.value(value);
        let place = match early {
            Some(place) => place,
            None => self.place(place),
        };
        self.store(&place, &value, span);
        place
    }

    /// Stores a value in a place.
    pub(super) fn store(&mut self, place: &Place, value: &Value, span: Span) {
        let at = self.at(span);
        match (place, value) {
            (Place::Plain(lvalue), Value::Plain(value)) => {
                self.line(format!("{lvalue} = {};", bare(value)));
            }
            (Place::Text(string), Value::Text(text)) => {
                self.line(format!("sr_string_set({at}, {string}, {text});"));
            }
            (Place::Part(string, from, to), Value::Text(text)) => {
                self.line(format!(
                    "sr_string_set_slice({at}, {string}, {from}, {to}, {text});"
                ));
            }
            (Place::Array(to), Value::Array(from)) => self.copy_array(to, from, span),
            // Conversions between strings and arrays of characters were made explicit before.
            _ => {}
        }
    }

    /// `a :=: b`. Returns the first place.
    pub(super) fn swap(&mut self, a: &Expression, b: &Expression) -> Place {
        let (first, second) = (self.place(a), self.place(b));
        let at = self.at(a.span.to(b.span));
        match (first, second) {
            (Place::Plain(first), Place::Plain(second)) => {
                let c_type = self.unit.plain_type(a.of);
                let pointer = super::types::pointer_to(&c_type);
                let first = self.temp(&pointer, &format!("&{first}"));
                let second = self.temp(&pointer, &format!("&{second}"));
                let kept = self.temp(&c_type, &format!("*{first}"));
                self.line(format!("*{first} = *{second};"));
                self.line(format!("*{second} = {kept};"));
                Place::Plain(format!("(*{first})"))
            }
            (Place::Text(first), Place::Text(second)) => {
                self.line(format!("sr_string_swap({at}, {first}, {second});"));
                Place::Text(first)
            }
            (Place::Array(first), Place::Array(second)) => {
                let bytes = self.element_bytes(&first);
                let dimensions = first.dims.len();
                let place = Place::Array(first.clone());
                let (first, second) = (self.view_name(&first), self.view_name(&second));
                self.line(format!(
                    "sr_array_swap({at}, {dimensions}, {bytes}, {first}.data, {first}.d, {second}.data, {second}.d);"
                ));
                place
            }
            (first, second) => {
                // Parts of strings are swapped through copies.
                self.allocates = true;
                let keep = |f: &mut Self, e: &Expression| {
                    let text = f.text(e);
                    f.temp("sr_text", &format!("sr_text_keep({at}, {text})"))
                };
                let (x, y) = (keep(self, a), keep(self, b));
                self.store(&first, &Value::Text(y), a.span);
                self.store(&second, &Value::Text(x), b.span);
                first
            }
        }
    }

    /// Returns the value of a place of type `sr_string`.
    pub(super) fn string_value(&self, string: &str) -> String {
        value_of(string)
    }
}

fn negation(operator: O) -> &'static str {
    match operator {
        O::Equal => "",
        _ => "!",
    }
}

fn is_simple_lvalue(lvalue: &str) -> bool {
    lvalue
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'>' | b'.'))
}

/// Returns the C operator with the same meaning on numbers.
fn plain_symbol(operator: O) -> &'static str {
    match operator {
        O::Or => "|",
        O::Xor => "^",
        O::And => "&",
        O::Equal => "==",
        O::NotEqual => "!=",
        O::Less => "<",
        O::LessEqual => "<=",
        O::Greater => ">",
        O::GreaterEqual => ">=",
        O::ShiftLeft => "<<",
        O::ShiftRight => ">>",
        O::Add | O::Concatenate => "+",
        O::Subtract => "-",
        O::Multiply => "*",
        O::Divide => "/",
        O::Mod | O::Remainder => "%",
        O::Power => "**",
    }
}

fn is_null_or_noop(e: &Expression) -> bool {
    match &e.kind {
        ExpressionKind::Convert(of) => is_null_or_noop(of),
        kind => matches!(
            kind,
            ExpressionKind::Constant(Constant::Null | Constant::Noop)
        ),
    }
}

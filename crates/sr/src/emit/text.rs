//! Strings.

use antiphon_lang::{Span, c};

use super::expressions::Value;
use super::function::Function;
use super::places::Place;
use crate::program::*;

impl Function<'_> {
    /// Returns a string's value: a C expression of type `sr_text`.
    pub(super) fn text(&mut self, e: &Expression) -> String {
        use ExpressionKind as K;
        if let Some(name) = self.prepared.get(&address(e)) {
            return name.clone();
        }
        match &e.kind {
            K::Constant(Constant::Text(bytes)) => {
                format!("SR_TEXT({})", c::string(bytes))
            }
            K::Binary(BinaryOperator::Concatenate, ..) => self.concatenation(e),
            K::Convert(of) => self.convert_text(of, e),
            K::Call(invocation) => match self.call(invocation) {
                Some(Value::Text(text)) => text,
                _ => "SR_TEXT(\"\")".into(),
            },
            K::Assign(..) | K::Augment(..) | K::Swap(..) => match self.changed_value(e) {
                Some(Value::Text(text)) => text,
                _ => "SR_TEXT(\"\")".into(),
            },
            K::TextSlice(of, from, to) => self.text_slice(of, from, to, e.span),
            K::Predefined(function, arguments) => self.predefined(*function, arguments, e),
            _ => match self.place(e) {
                Place::Text(string) => value_of(&string),
                Place::Part(string, from, to) => {
                    let at = self.at(e.span);
                    format!(
                        "sr_text_slice({at}, sr_string_value({string}), {string}.maximum, {from}, {to})"
                    )
                }
                // An array of characters, or part of a program with errors.
                _ => "SR_TEXT(\"\")".into(),
            },
        }
    }

    /// Returns a value in a form that can be used twice.
    pub(super) fn text_name(&mut self, e: &Expression) -> String {
        let text = self.text(e);
        self.keep("sr_text", &text)
    }

    fn concatenation(&mut self, e: &Expression) -> String {
        let mut parts = Vec::new();
        collect(e, &mut parts);
        let values = self.plains(&parts);
        let at = self.at(e.span);
        self.allocates = true;
        match values.as_slice() {
            [a, b] => self.temp("sr_text", &format!("sr_text_cat({at}, {a}, {b})")),
            _ => {
                let count = values.len();
                let values = values.join(", ");
                self.temp(
                    "sr_text",
                    &format!("sr_text_join({at}, {count}, (sr_text[]){{{values}}})"),
                )
            }
        }
    }

    fn text_slice(
        &mut self,
        of: &Expression,
        from: &Option<Box<Expression>>,
        to: &Option<Box<Expression>>,
        span: Span,
    ) -> String {
        let maximum = match of.is_place() {
            true => match self.place(of) {
                Place::Text(string) => Some(self.temp("sr_string", &string)),
                _ => None,
            },
            false => None,
        };
        let (text, maximum) = match maximum {
            Some(string) => (value_of(&string), format!("{string}.maximum")),
            None => {
                let text = self.text_name(of);
                (text.clone(), format!("{text}.length"))
            }
        };
        let (from, to) = self.text_range(from, to, &format!("{text}.length"));
        let at = self.at(span);
        format!("sr_text_slice({at}, {text}, {maximum}, {from}, {to})")
    }

    /// Returns the bounds of a part of a string.
    pub(super) fn text_range(
        &mut self,
        from: &Option<Box<Expression>>,
        to: &Option<Box<Expression>>,
        length: &str,
    ) -> (String, String) {
        let all = [from, to];
        let written = all.iter().filter_map(|e| e.as_deref()).collect::<Vec<_>>();
        let mut values = self.plains(&written).into_iter();
        let from = from.as_ref().and_then(|_| values.next());
        let to = to.as_ref().and_then(|_| values.next());
        (
            from.unwrap_or_else(|| "1".into()),
            to.unwrap_or_else(|| length.into()),
        )
    }

    /// Returns a character of a string that is no variable.
    pub(super) fn character(
        &mut self,
        of: &Expression,
        subscript: &Expression,
        span: Span,
    ) -> String {
        let text = self.text_name(of);
        let subscript = self.plain(subscript);
        let at = self.at(span);
        format!(
            "(*(sr_char *)sr_string_at({at}, {}, {subscript}))",
            self.string_around(&text)
        )
    }

    /// Returns a view of type `sr_string` of a text in a variable.
    pub(super) fn string_around(&mut self, text: &str) -> String {
        let text = match text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            true => text.to_string(),
            false => self.temp("sr_text", text),
        };
        format!("((sr_string){{&{text}.length, (char *){text}.data, {text}.length}})")
    }
}

/// Returns the value of an expression of type `sr_string`.
pub(super) fn value_of(string: &str) -> String {
    match string.strip_prefix("SR_STRING(") {
        Some(variable) => format!("SR_STRING_VALUE({variable}"),
        None => format!("sr_string_value({string})"),
    }
}

/// Collects the operands of a concatenation, from left to right.
fn collect<'e>(e: &'e Expression, parts: &mut Vec<&'e Expression>) {
    match &e.kind {
        ExpressionKind::Binary(BinaryOperator::Concatenate, a, b) => {
            collect(a, parts);
            collect(b, parts);
        }
        _ => parts.push(e),
    }
}

/// Returns a key that identifies an expression while the program is written.
pub(super) fn address(e: &Expression) -> usize {
    std::ptr::from_ref(e) as usize
}

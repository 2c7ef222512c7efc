//! Conversions.

use antiphon_lang::c;

use super::function::Function;
use super::types::Class;
use super::views::View;
use crate::program::*;

impl Function<'_> {
    /// Converts a value to a plain type.
    pub(super) fn convert_plain(&mut self, of: &Expression, e: &Expression) -> String {
        if let ExpressionKind::Constant(Constant::Null | Constant::Noop) = &of.kind {
            let retyped = Expression {
                of: e.of,
                ..of.clone()
            };
            return self.plain(&retyped);
        }
        let at = self.at(e.span);
        match self.unit.class(of.of) {
            Class::Text => {
                let text = self.text(of);
                return self.text_as(&text, e.of, &at);
            }
            Class::Array(_) => {
                let text = self.text_of_chars(of);
                return self.text_as(&text, e.of, &at);
            }
            Class::Plain => {}
        }
        let value = self.plain(of);
        let (from, to) = (self.types().get(of.of), self.types().get(e.of));
        if from == to {
            return value;
        }
        // Types that are unlike convert by way of int.
        let ordinal = match from {
            Type::Real => format!("sr_int_of_real({at}, {value})"),
            Type::Pointer(_) => format!("((sr_int)(intptr_t){value})"),
            _ => value.clone(),
        };
        match (from, to) {
            (Type::Pointer(_), Type::Bool) => format!("({value} != 0)"),
            (_, Type::Int) => format!("((sr_int){ordinal})"),
            (_, Type::Real) => format!("((sr_real){ordinal})"),
            (Type::Bool, Type::Char) => value,
            (_, Type::Char) => format!("sr_char_of_int({at}, {ordinal})"),
            (_, Type::Bool) => format!("({ordinal} != 0)"),
            (_, Type::Enum(number)) => self.enumerated(&ordinal, *number, &at),
            (
                Type::Int | Type::Char | Type::Bool | Type::Real | Type::Enum(_),
                Type::Pointer(_),
            ) => format!("((void *)(intptr_t){ordinal})"),
            _ => value,
        }
    }

    /// Returns the value of an enumeration that has a number, which is checked.
    fn enumerated(&self, ordinal: &str, number: u32, at: &str) -> String {
        let enumeration = &self.types().enumerations[number as usize];
        let last = enumeration.literals.len() as i32 - 1;
        let name = enumeration.name.as_deref().unwrap_or("enum");
        let name = c::string(name.as_bytes());
        format!("sr_ordinal_within({at}, {name}, {ordinal}, 0, {last})")
    }

    fn text_as(&mut self, text: &str, to: TypeId, at: &str) -> String {
        match self.types().get(to) {
            Type::Real => format!("sr_real_of_text({at}, {text})"),
            Type::Bool => format!("sr_bool_of_text({at}, {text})"),
            Type::Char => format!("sr_char_of_text({text})"),
            Type::Pointer(_) => format!("sr_pointer_of_text({at}, {text})"),
            Type::Enum(number) => {
                let ordinal = format!("sr_int_of_text({at}, {text})");
                self.enumerated(&ordinal, *number, at)
            }
            _ => format!("sr_int_of_text({at}, {text})"),
        }
    }

    /// Converts a value to a string.
    pub(super) fn convert_text(&mut self, of: &Expression, e: &Expression) -> String {
        match self.unit.class(of.of) {
            Class::Text => return self.text(of),
            Class::Array(_) => return self.text_of_chars(of),
            Class::Plain => {}
        }
        let value = self.plain(of);
        let at = self.at(e.span);
        self.allocates = true;
        match self.types().get(of.of) {
            Type::Bool => format!("sr_text_of_bool({value})"),
            Type::Char => self.temp("sr_text", &format!("sr_text_of_char({at}, {value})")),
            Type::Real => self.temp("sr_text", &format!("sr_text_of_real({at}, {value})")),
            Type::Int | Type::Enum(_) => {
                self.temp("sr_text", &format!("sr_text_of_int({at}, {value})"))
            }
            _ => self.temp("sr_text", &format!("sr_text_of_pointer({at}, {value})")),
        }
    }

    /// Converts a value to an array: a string to its characters, or an array to one with other
    /// bounds.
    pub(super) fn convert_array(&mut self, of: &Expression, e: &Expression) -> View {
        match self.unit.class(of.of) {
            Class::Array(_) => self.array(of),
            Class::Text => self.chars(of, e.of),
            // A character becomes an array of one.
            Class::Plain => {
                let character = self.plain(of);
                let at = self.at(e.span);
                self.allocates = true;
                let text = self.temp("sr_text", &format!("sr_text_of_char({at}, {character})"));
                let whole = self.temp("struct sr_array1", &format!("sr_chars_of_text({text})"));
                self.view_of(&whole, e.of, false)
            }
        }
    }
}

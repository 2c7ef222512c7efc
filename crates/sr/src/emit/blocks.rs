//! The blocks of invocations: filled in before, read afterwards.

use antiphon_lang::{Span, c::bare};

use super::expressions::Value;
use super::function::Function;
use super::places::Place;
use super::types::Class;
use super::views::View;
use crate::lower::has_effects;
use crate::program::*;

/// Where to store results that are passed back.
pub(super) struct Return {
    /// The number of the parameter.
    number: usize,
    place: Place,
    of: TypeId,
}

/// An argument, before the block exists.
enum BlockArgument {
    Plain(String),
    /// A text and its room.
    Text(String, String),
    Array(View, bool),
    /// By reference: a C expression of the field's type.
    Reference(String),
}

impl Function<'_> {
    /// Makes the block of an invocation. Returns the C variable that points to it, and where the
    /// results go.
    pub(super) fn make_block(
        &mut self,
        invocation: &Invocation,
        is_local: bool,
    ) -> (String, Vec<Return>) {
        let signature = self.unit.program.signatures[invocation.signature.index()].clone();
        let c_type = self.unit.block_type(invocation.signature);
        let relocation = self.unit.relocation(invocation.signature);
        let last_effect = invocation.arguments.iter().rposition(has_effects);
        let mut arguments = Vec::new();
        let mut returns = Vec::new();
        for (n, (parameter, e)) in signature
            .parameters
            .iter()
            .zip(&invocation.arguments)
            .enumerate()
        {
            let is_kept = last_effect.is_some_and(|last| n < last);
            arguments.push(self.block_argument(n + 1, parameter, e, is_kept, &mut returns));
        }
        let at = self.at(invocation.span);
        if is_local && relocation.is_none() {
            let block = format!("t{}", self.number());
            self.line(format!("{c_type} {block};"));
            self.line(format!(
                "sr_invocation_local(&{block}.head, sizeof {block});"
            ));
            let q = self.temp(&format!("{c_type} *"), &format!("&{block}"));
            self.note_reach(&q, invocation.signature);
            self.clear_result(&q, &signature);
            self.store_arguments(&q, &arguments, &at);
            return (q, returns);
        }
        let mut bytes = format!("sizeof({c_type})");
        for argument in &mut arguments {
            if let Some(room) = self.room(argument) {
                bytes.push_str(" + ");
                bytes.push_str(&room);
            }
        }
        let q = self.temp(
            &format!("{c_type} *"),
            &format!("({c_type} *)sr_invocation_new({at}, {bytes})"),
        );
        self.note_reach(&q, invocation.signature);
        self.clear_result(&q, &signature);
        if let Some(relocation) = relocation {
            self.line(format!("{q}->head.relocate = {relocation};"));
            self.line(format!("char *{q}_rest = (char *)({q} + 1);"));
        }
        self.store_arguments(&q, &arguments, &at);
        (q, returns)
    }

    /// Writes what a message to another virtual machine needs to know of a block.
    fn note_reach(&mut self, q: &str, signature: SignatureId) {
        if let Some(description) = self.unit.reach(signature) {
            self.line(format!("{q}->head.signature = {description};"));
        }
    }

    /// Makes a result empty that lies outside of the block: nobody stores one if the operation ends
    /// before it serves the invocation.
    fn clear_result(&mut self, q: &str, signature: &Signature) {
        let Some(result) = &signature.result else {
            return;
        };
        match self.unit.class(result.of) {
            Class::Plain => {}
            Class::Text => self.line(format!("{q}->result = (sr_text){{0, 0}};")),
            Class::Array(dimensions) => {
                self.line(format!("{q}->result.data = 0;"));
                for n in 0..dimensions {
                    self.line(format!(
                        "{q}->result.d[{n}] = (struct sr_dimension){{1, 0, 0}};"
                    ));
                }
            }
        }
    }

    fn block_argument(
        &mut self,
        number: usize,
        parameter: &Parameter,
        e: &Expression,
        is_kept: bool,
        returns: &mut Vec<Return>,
    ) -> BlockArgument {
        if parameter.passing == Passing::Reference {
            return BlockArgument::Reference(self.place_argument(e).text);
        }
        if parameter.passing == Passing::Value {
            return match self.value(e) {
                Value::Plain(text) if is_kept => {
                    BlockArgument::Plain(self.keep(&self.unit.plain_type(e.of), &text))
                }
                Value::Plain(text) => BlockArgument::Plain(text),
                Value::Text(text) => {
                    let text = self.keep("sr_text", &text);
                    let room = match self.maximum_of(e) {
                        Some(maximum) => maximum,
                        None => format!("{text}.length"),
                    };
                    BlockArgument::Text(text, room)
                }
                Value::Array(view) => BlockArgument::Array(view, true),
            };
        }
        let is_copied = parameter.passing == Passing::Var;
        let place = self.fixed_place(e);
        let argument = match &place {
            Place::Plain(lvalue) => BlockArgument::Plain(match is_copied {
                true => lvalue.clone(),
                false => String::new(),
            }),
            Place::Text(string) => {
                let text = match is_copied {
                    true => self.string_value(string),
                    false => "SR_TEXT(\"\")".into(),
                };
                BlockArgument::Text(text, format!("{string}.maximum"))
            }
            Place::Part(string, from, to) => {
                let at = self.at(e.span);
                let text = format!(
                    "sr_text_slice({at}, sr_string_value({string}), {string}.maximum, {from}, {to})"
                );
                let text = self.temp("sr_text", &text);
                BlockArgument::Text(text.clone(), format!("{text}.length"))
            }
            Place::Array(view) => BlockArgument::Array(view.clone(), is_copied),
        };
        returns.push(Return {
            number,
            place,
            of: e.of,
        });
        argument
    }

    /// Returns the maximum of a string variable.
    pub(super) fn maximum_of(&mut self, e: &Expression) -> Option<String> {
        let is_variable = matches!(
            e.kind,
            ExpressionKind::Variable(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..)
        );
        if !is_variable || !e.is_place() || has_effects(e) {
            return None;
        }
        match self.place(e) {
            Place::Text(string) => Some(format!("{string}.maximum")),
            _ => None,
        }
    }

    /// Returns a place that does not change if its subscripts change later.
    pub(super) fn fixed_place(&mut self, e: &Expression) -> Place {
        match self.place(e) {
            Place::Plain(lvalue) if matches!(e.kind, ExpressionKind::Variable(_)) => {
                Place::Plain(lvalue)
            }
            Place::Plain(lvalue) => {
                let pointer = super::types::pointer_to(&self.unit.plain_type(e.of));
                let name = self.temp(&pointer, &format!("&{lvalue}"));
                Place::Plain(format!("(*{name})"))
            }
            Place::Text(string) => Place::Text(self.temp("sr_string", &string)),
            Place::Part(string, from, to) => {
                let from = self.temp("sr_int", &from);
                let to = self.temp("sr_int", &to);
                Place::Part(string, from, to)
            }
            Place::Array(view) => {
                let name = self.view_name(&view);
                let mut fixed = self.view_of(&name, e.of, false);
                fixed.most = view.most;
                Place::Array(fixed)
            }
        }
    }

    /// Returns the bytes that a parameter needs behind the struct.
    fn room(&mut self, argument: &mut BlockArgument) -> Option<String> {
        match argument {
            BlockArgument::Text(_, room) => Some(format!("SR_ROOM(SR_STRING_BYTES({room}))")),
            BlockArgument::Array(view, _) => {
                let bytes = self.element_bytes(view);
                let name = self.view_name(view);
                let count = view.dims.len();
                *view = View {
                    whole: Some(name.clone()),
                    ..view.clone()
                };
                Some(format!("SR_ROOM(sr_elements({count}, {name}.d) * {bytes})"))
            }
            _ => None,
        }
    }

    fn store_arguments(&mut self, q: &str, arguments: &[BlockArgument], at: &str) {
        for (n, argument) in arguments.iter().enumerate() {
            let field = format!("{q}->a{}", n + 1);
            match argument {
                BlockArgument::Plain(text) if text.is_empty() => {
                    self.line(format!("memset(&{field}, 0, sizeof {field});"));
                }
                BlockArgument::Plain(text) | BlockArgument::Reference(text) => {
                    self.line(format!("{field} = {};", bare(text)));
                }
                BlockArgument::Text(text, room) => self.line(format!(
                    "{field} = sr_put_string({at}, &{q}_rest, {text}, {room});"
                )),
                BlockArgument::Array(view, is_copied) => {
                    let name = view.whole.clone().unwrap_or_default();
                    let bytes = self.element_bytes(view);
                    let count = view.dims.len();
                    self.line(format!(
                        "{field}.data = sr_put_array({at}, &{q}_rest, {count}, {bytes}, {field}.d, {name}.data, {name}.d, {});",
                        u8::from(*is_copied)
                    ));
                    if self.unit.element_type(view.element).is_none() {
                        self.line(format!("{field}.most = {};", view.most));
                    }
                }
            }
        }
    }

    /// Copies the results in an answered block to their places.
    pub(super) fn take_returns(&mut self, q: &str, returns: &[Return], span: Span) {
        for given in returns {
            let field = format!("{q}->a{}", given.number);
            let value = match self.unit.class(given.of) {
                Class::Plain => Value::Plain(field),
                Class::Text => Value::Text(self.string_value(&field)),
                Class::Array(_) => Value::Array(self.view_of(&field, given.of, false)),
            };
            self.store(&given.place, &value, span);
        }
    }

    /// Returns the result in an answered block, as a value that outlives the block.
    pub(super) fn take_result(
        &mut self,
        q: &str,
        signature: SignatureId,
        span: Span,
    ) -> Option<Value> {
        let result = self.unit.program.signatures[signature.index()]
            .result
            .clone()?;
        let field = format!("{q}->result");
        let at = self.at(span);
        let name = match self.unit.class(result.of) {
            Class::Plain => self.temp(&self.unit.plain_type(result.of), &field),
            Class::Text => {
                self.allocates = true;
                self.temp("sr_text", &format!("sr_take_text({at}, {field})"))
            }
            Class::Array(count) => {
                self.allocates = true;
                let c_type = format!("struct sr_array{count}");
                let view = self.view_of(&field, result.of, false);
                let bytes = self.packed_bytes(&view);
                let name = self.temp(&c_type, &field);
                self.line(format!(
                    "{name}.data = sr_take_array({at}, {count}, {bytes}, {name}.data, {name}.d);"
                ));
                name
            }
        };
        Some(self.named_value(&name, result.of))
    }
}

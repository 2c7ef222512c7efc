//! Input and output of values, and creation of objects.

use antiphon_lang::{Span, c::bare};

use super::function::Function;
use super::places::Place;
use super::types::{Class, pointer_to};
use super::views::View;
use crate::lower::has_effects;
use crate::program::*;

use Predefined as P;

impl Function<'_> {
    /// Writes functions that take lists of values or places.
    pub(super) fn transfer(
        &mut self,
        function: P,
        arguments: &[Expression],
        e: &Expression,
    ) -> String {
        let at = self.at(e.span);
        match function {
            P::Write | P::Writes => {
                let (file, rest) = self.first_and_values(arguments, 1);
                let is_line = u8::from(function == P::Write);
                format!("sr_write({at}, {}, {is_line}, {rest})", file[0])
            }
            P::Put => {
                let (file, rest) = self.first_and_values(arguments, 1);
                format!("sr_write({at}, {}, 0, {rest})", file[0])
            }
            P::Printf => {
                let (first, rest) = self.first_and_values(arguments, 2);
                format!("sr_printf({at}, {}, {}, {rest})", first[0], first[1])
            }
            P::Sprintf => {
                let (first, rest) = self.first_and_values(&arguments[1..], 1);
                let to = self.place_argument(&arguments[0]);
                let call = format!("sr_sprintf({at}, {}, {}, {rest})", to.text, first[0]);
                if to.home.is_none() {
                    return call;
                }
                self.line(format!("{call};"));
                self.bring_home(vec![to], e.span);
                String::new()
            }
            P::Read => {
                let (file, rest) = self.first_and_targets(arguments, 1);
                format!("sr_read({at}, {}, {rest})", file[0])
            }
            P::Scanf => {
                let (first, rest) = self.first_and_targets(arguments, 2);
                format!("sr_scanf({at}, {}, {}, {rest})", first[0], first[1])
            }
            P::Sscanf => {
                let (first, rest) = self.first_and_targets(arguments, 2);
                format!("sr_sscanf({at}, {}, {}, {rest})", first[0], first[1])
            }
            P::Get => {
                let file = self.plain(&arguments[0]);
                let target = self.target_of(&arguments[1]);
                format!("sr_get({at}, {file}, {target})")
            }
            _ => {
                let number = self.plain(&arguments[0]);
                let target = self.target_of(&arguments[1]);
                format!("sr_getarg({}, {target})", bare(&number))
            }
        }
    }

    /// Returns the first arguments as C values, the others as a list of `struct sr_value`.
    fn first_and_values(
        &mut self,
        arguments: &[Expression],
        first: usize,
    ) -> (Vec<String>, String) {
        let last_effect = arguments.iter().rposition(has_effects);
        let mut texts = Vec::new();
        for (n, e) in arguments.iter().enumerate() {
            let is_kept = last_effect.is_some_and(|last| n < last);
            let text = self.value_text(e, n >= first);
            texts.push(
                match is_kept && !matches!(e.kind, ExpressionKind::Constant(_)) {
                    true if n >= first => self.temp("struct sr_value", &text),
                    true => self.keep(&self.unit.value_type(e.of), &text),
                    false => text,
                },
            );
        }
        let rest = texts.split_off(first);
        (texts, list("sr_value", &rest))
    }

    /// Returns a value directly, or as a `struct sr_value`.
    fn value_text(&mut self, e: &Expression, is_wrapped: bool) -> String {
        let value = match self.unit.class(e.of) {
            Class::Array(_) => {
                let text = self.text_of_chars(e);
                return format!("sr_vs({text})");
            }
            Class::Text => self.text(e),
            Class::Plain => self.plain(e),
        };
        if !is_wrapped {
            return value;
        }
        let inner = bare(&value);
        match self.types().get(e.of) {
            Type::Text(_) => format!("sr_vs({value})"),
            Type::Bool => format!("SR_VB({inner})"),
            Type::Char => format!("SR_VC({inner})"),
            Type::Int | Type::Enum(_) => format!("SR_VI({inner})"),
            Type::Real => format!("SR_VR({inner})"),
            _ => format!("SR_VP({inner})"),
        }
    }

    /// Returns the first arguments as C values, the others as a list of places.
    fn first_and_targets(
        &mut self,
        arguments: &[Expression],
        first: usize,
    ) -> (Vec<String>, String) {
        let (values, places) = arguments.split_at(first);
        let all = values.iter().collect::<Vec<_>>();
        let firsts = self.plains(&all);
        let targets = places.iter().map(|e| self.target_of(e)).collect::<Vec<_>>();
        (firsts, list("sr_target", &targets))
    }

    /// Returns a place to read into.
    fn target_of(&mut self, e: &Expression) -> String {
        match self.place(e) {
            Place::Plain(lvalue) => {
                let kind = match self.types().get(e.of) {
                    Type::Bool => 'b',
                    Type::Char => 'c',
                    Type::Enum(_) => 'e',
                    Type::Real => 'r',
                    Type::Pointer(_) => 'p',
                    _ => 'i',
                };
                format!("sr_target_of('{kind}', &{lvalue})")
            }
            Place::Text(string) | Place::Part(string, ..) => format!("sr_target_string({string})"),
            Place::Array(view) => format!("sr_target_chars({})", self.view_value(&view)),
        }
    }

    /// `new(type)`: allocates an object. One of run-time size, and every array or string, begins
    /// with its descriptor.
    pub(super) fn new_object(&mut self, of: TypeId, shape: &Shape, span: Span) -> String {
        let at = self.at(span);
        match self.unit.class(of) {
            Class::Plain => {
                let c_type = self.unit.plain_type(of);
                self.temp("void *", &format!("sr_new({at}, sizeof({c_type}))"))
            }
            Class::Text => {
                let resolved = self.resolve(of, Some(shape), None);
                self.temp("void *", &format!("sr_new_string({at}, {})", resolved.most))
            }
            Class::Array(count) => {
                let resolved = self.resolve(of, Some(shape), None);
                let (_, element) = self.types().flat(of);
                let dims = resolved
                    .bounds
                    .iter()
                    .map(|(low, high)| format!("{{{low}, {high}, 0}}"));
                let dims = dims.collect::<Vec<_>>().join(", ");
                let bytes = match self.unit.element_type(element) {
                    Some(c_type) => format!("sizeof({c_type})"),
                    None => format!("SR_STRING_BYTES({})", resolved.most),
                };
                let c_type = format!("struct sr_array{count}");
                let made = format!("t{}", self.number());
                let most = &resolved.most;
                self.line(format!("{c_type} {made} = {{0, {{{dims}}}, {most}}};"));
                let object = self.temp(
                    &pointer_to(&c_type),
                    &format!("sr_new({at}, SR_ROOM(sizeof {made}) + sr_array_layout({at}, {made}.d, {count}, {bytes}))"),
                );
                self.line(format!(
                    "{made}.data = (char *){object} + SR_ROOM(sizeof {made});"
                ));
                self.line(format!("*{object} = {made};"));
                format!("((void *){object})")
            }
        }
    }

    /// `new(op …)`.
    pub(super) fn new_operation(&mut self, _: SignatureId, span: Span) -> String {
        let make = self.make_operation(span);
        self.temp("sr_cap", &make)
    }

    /// Makes one operation, in the class that it shares with others or in its own.
    fn make_operation(&mut self, span: Span) -> String {
        let at = self.at(span);
        let class = self.dynamic_class().unwrap_or_else(|| "0".into());
        format!("sr_op_create({at}, &self->head, \"new op\", {class})")
    }

    /// `new([bounds] op …)`: an array of capabilities.
    pub(super) fn new_operations(
        &mut self,
        _: SignatureId,
        bounds: &[(Expression, Expression)],
        e: &Expression,
    ) -> View {
        let mut resolved = Vec::new();
        for (low, high) in bounds {
            let values = self.plains(&[low, high]);
            let low = self.temp("sr_int", &values[0]);
            let high = self.temp("sr_int", &values[1]);
            resolved.push((low, high));
        }
        let make = self.make_operation(e.span);
        self.capability_array(&resolved, e, |_| make.clone())
    }

    /// Returns an array of operations as an array of capabilities.
    pub(super) fn capabilities(&mut self, target: &Target, e: &Expression) -> View {
        let Target::Declared(operation, _) = target else {
            return self.capability_array(&[("1".into(), "0".into())], e, |_| "SR_NULL_CAP".into());
        };
        let storage = self.operation_storage(*operation);
        let count = self.unit.operation(*operation).dimensions.len();
        let bounds = (0..count).map(|n| {
            (
                format!("{storage}_d[{n}].low"),
                format!("{storage}_d[{n}].high"),
            )
        });
        let bounds = bounds.collect::<Vec<_>>();
        self.capability_array(&bounds, e, |counter| {
            format!("sr_cap_of({storage} + {counter})")
        })
    }

    fn capability_array(
        &mut self,
        bounds: &[(String, String)],
        e: &Expression,
        one: impl Fn(&str) -> String,
    ) -> View {
        let (_, element) = self.types().flat(e.of);
        let view = self.new_array(bounds, element, "0", e.span);
        let name = self.view_name(&view);
        let counter = format!("i{}", self.number());
        let count = bounds.len();
        self.out.open(format!(
            "for (int64_t {counter} = 0; {counter} < sr_elements({count}, {name}.d); {counter}++)"
        ));
        self.line(format!(
            "((sr_cap *){name}.data)[{counter}] = {};",
            one(&counter)
        ));
        self.out.outdent();
        view
    }
}

/// Returns `count, array` as two C arguments.
fn list(name: &str, entries: &[String]) -> String {
    match entries.is_empty() {
        true => "0, 0".into(),
        false => format!("SR_LIST(struct {name}, {})", entries.join(", ")),
    }
}

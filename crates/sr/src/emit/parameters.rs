//! Parameters as variables: copies in and out.

use antiphon_lang::Span;

use super::declarations::zero;
use super::expressions::Value;
use super::function::{Access, Function};
use super::places::Place;
use super::procs::outside;
use super::types::Class;
use crate::program::*;

/// How long the value of a parameter must last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// While a condition is evaluated: the invocation's own memory suffices.
    Peek,
    /// While code runs that may change it, but does not release the invocation.
    Keep,
    /// While code runs that may release the invocation: arrays are copied, too.
    Copy,
}

impl Function<'_> {
    /// Binds a parameter of a C function. Returns the code that copies it back.
    pub(super) fn bind_c_parameter(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        span: Span,
    ) -> (String, ()) {
        let name = self.unit.names.variable(variable).to_string();
        let outside = outside(&name);
        let is_value = parameter.passing == Passing::Value;
        let source = match self.unit.class(parameter.of) {
            Class::Plain if is_value => return (String::new(), ()),
            Class::Plain => format!("(*{outside})"),
            _ => outside,
        };
        (
            self.bind(variable, parameter, &source, Binding::Copy, span),
            (),
        )
    }

    /// Binds all parameters and the result of an invocation in the C variable `q`. Keeps the code
    /// that copies them back.
    pub(super) fn bind_all(
        &mut self,
        signature: &Signature,
        parameters: &[VariableId],
        result: Option<VariableId>,
        q: &str,
        binding: Binding,
        span: Span,
    ) {
        let mut give_back = String::new();
        for (n, (parameter, variable)) in signature.parameters.iter().zip(parameters).enumerate() {
            let field = format!("{q}->a{}", n + 1);
            let is_plain = self.unit.class(parameter.of) == Class::Plain;
            let source = match parameter.passing {
                Passing::Reference if is_plain => format!("(*{field})"),
                Passing::Value
                    if self.unit.class(parameter.of) == Class::Text
                        && !self.unit.is_open_text(parameter.of) =>
                {
                    format!("sr_string_value({field})")
                }
                _ => field,
            };
            give_back.push_str(&self.bind(*variable, parameter, &source, binding, span));
        }
        if let (Some(declared), Some(variable)) = (&signature.result, result)
            && binding != Binding::Peek
        {
            give_back.push_str(&self.bind_result(variable, declared, q, span));
        }
        self.give_back = give_back;
    }

    /// Binds one parameter to a C expression: the value if it is passed by value, otherwise the
    /// place. Returns the code that copies it back.
    fn bind(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        match self.unit.class(parameter.of) {
            Class::Plain => self.bind_plain(variable, parameter, source),
            Class::Text => self.bind_text(variable, parameter, source, binding, span),
            Class::Array(_) => {
                let lines = self.bind_array(variable, parameter, source, binding, span);
                self.bracketed(&lines)
            }
        }
    }

    /// Returns lines that may be written several times although they declare temporaries.
    pub(super) fn bracketed(&mut self, lines: &str) -> String {
        if lines.is_empty() {
            return String::new();
        }
        self.aside(|f| {
            f.out.open("{");
            f.write_lines(lines);
            f.out.close("}");
        })
        .0
    }

    fn bind_plain(&mut self, variable: VariableId, parameter: &Parameter, source: &str) -> String {
        let name = self.unit.names.variable(variable).to_string();
        let c_type = self.unit.plain_type(parameter.of);
        let declaration = self.unit.declare(&c_type, &name);
        match parameter.passing {
            Passing::Reference => {
                self.access.insert(variable, Access::Place(source.into()));
                return String::new();
            }
            Passing::Value => {
                self.line(format!("{declaration} = {source};"));
                return String::new();
            }
            Passing::Var => self.line(format!("{declaration} = {source};")),
            Passing::Result => self.line(format!("{declaration} = {};", zero(&c_type))),
        }
        self.aside(|f| f.line(format!("{source} = {name};"))).0
    }

    fn bind_text(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        let name = self.unit.names.variable(variable).to_string();
        let is_value = parameter.passing == Passing::Value;
        if parameter.passing == Passing::Reference || (binding == Binding::Peek && !is_value) {
            self.access.insert(variable, Access::String(source.into()));
            return String::new();
        }
        if binding == Binding::Peek && self.unit.is_open_text(parameter.of) {
            self.access.insert(variable, Access::String(source.into()));
            return String::new();
        }
        if binding == Binding::Peek {
            let text = self.temp("sr_text", source);
            let string = self.string_around(&text);
            self.access.insert(variable, Access::String(string));
            return String::new();
        }
        let is_open = self.unit.is_open_text(parameter.of);
        let text = match is_value && !is_open {
            true => source.to_string(),
            false => self.string_value(source),
        };
        let at = self.at(span);
        let place = match self.unit.element_type(parameter.of) {
            Some(c_type) => {
                self.line(format!("{c_type} {name};"));
                self.line(format!("{name}.length = 0;"));
                self.access.insert(variable, Access::Place(name.clone()));
                format!("SR_STRING({name})")
            }
            None => {
                let mut resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                if is_open {
                    resolved.most = format!("{source}.maximum");
                }
                self.allocates = true;
                self.line(format!(
                    "sr_string {name} = sr_string_make({at}, 0, {});",
                    resolved.most
                ));
                self.access.insert(variable, Access::String(name.clone()));
                name
            }
        };
        if parameter.passing != Passing::Result {
            self.line(format!("sr_string_set({at}, {place}, {text});"));
        }
        if is_value {
            return String::new();
        }
        let value = self.string_value(&place);
        self.aside(|f| f.line(format!("sr_string_set({at}, {source}, {value});")))
            .0
    }

    fn bind_array(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        let outer = self.view_of(source, parameter.of, false);
        if parameter.passing == Passing::Reference {
            // The parameter is the argument itself, with the argument's bounds.
            self.access.insert(variable, Access::View(outer));
            return String::new();
        }
        let resolved = self.resolve(
            parameter.of,
            parameter.shape.as_ref(),
            Some(&Value::Array(outer.clone())),
        );
        let is_alias = binding != Binding::Copy;
        let name = self.unit.names.variable(variable).to_string();
        if is_alias {
            let dims = resolved
                .bounds
                .iter()
                .enumerate()
                .map(|(n, (low, high))| format!("{{{low}, {high}, {source}.d[{n}].stride}}"));
            let dims = dims.collect::<Vec<_>>().join(", ");
            let count = resolved.bounds.len();
            if parameter.shape.is_some() && binding != Binding::Peek {
                let at = self.at(span);
                for (n, (low, high)) in resolved.bounds.iter().enumerate() {
                    self.line(format!(
                        "sr_check_sizes({at}, {low}, {high}, {source}.d[{n}].low, {source}.d[{n}].high);"
                    ));
                }
            }
            self.line(format!(
                "const struct sr_array{count} {name} = {{{source}.data, {{{dims}}}, {source}.most}};"
            ));
            let view = self.view_of(&name, parameter.of, false);
            self.access.insert(variable, Access::View(view));
            return String::new();
        }
        let view = self.make_parameter(&name, parameter.of, &resolved, span);
        self.access.insert(variable, Access::View(view.clone()));
        if parameter.passing != Passing::Result {
            self.copy_array(&view, &outer, span);
        }
        if parameter.passing == Passing::Value {
            return String::new();
        }
        self.aside(|f| f.copy_array(&outer, &view, span)).0
    }

    /// Makes a new array for a parameter.
    fn make_parameter(
        &mut self,
        name: &str,
        of: TypeId,
        resolved: &super::declarations::Resolved,
        span: Span,
    ) -> super::views::View {
        let (_, element) = self.types().flat(of);
        let made = self.new_array(&resolved.bounds, element, &resolved.most, span);
        let whole = self.view_value(&made);
        let count = resolved.bounds.len();
        self.line(format!("const struct sr_array{count} {name} = {whole};"));
        self.view_of(name, of, true)
    }

    /// Stores the value of a C expression in a place of a type.
    pub(super) fn store_from(&mut self, place: &Place, of: TypeId, source: &str, span: Span) {
        let value = match self.unit.class(of) {
            Class::Plain => Value::Plain(source.into()),
            Class::Text => Value::Text(source.into()),
            Class::Array(_) => Value::Array(self.view_of(source, of, false)),
        };
        self.store(place, &value, span);
    }
}

//! Calls. If the proc is known and runs in the caller's process, a call is a C function call,
//! otherwise an invocation.

use antiphon_lang::{Span, c::bare};

use super::expressions::Value;
use super::function::Function;
use super::places::Place;
use super::types::{Class, pointer_to};
use crate::lower::has_effects;
use crate::notation::reports;
use crate::program::*;

/// How a place is passed to a function, and how changes are copied back.
pub(super) struct Argument {
    /// A C expression.
    pub(super) text: String,
    /// For a part of a string, which is passed as a copy: the place and the copy.
    pub(super) home: Option<(Place, String)>,
}

impl Function<'_> {
    /// Calls an operation and waits. Returns the result, if it has one.
    pub(super) fn call(&mut self, invocation: &Invocation) -> Option<Value> {
        if let Target::Declared(operation, subscripts) = &invocation.target
            && subscripts.is_empty()
        {
            match self.unit.operation(*operation).service {
                Service::External => return self.call_external(*operation, invocation),
                Service::Proc(code) if !self.unit.facts.is_separate(code) => {
                    return self.call_proc(code, invocation);
                }
                _ => {}
            }
        }
        self.call_block(invocation)
    }

    fn call_proc(&mut self, code: CodeId, invocation: &Invocation) -> Option<Value> {
        let row = &self.unit.program.codes[code.index()];
        let arguments = self.arguments(invocation);
        let mut all = vec![self.instance(row.component)];
        all.extend(arguments.iter().map(|a| a.text.clone()));
        let call = format!("p_{}({})", self.unit.names.code(code), all.join(", "));
        if self.unit.is_helper(row.span) && !self.unit.is_helper(invocation.span) {
            let here = self.location_of_wait(invocation.span);
            self.line(format!("SR_HERE({here});"));
        }
        if self.unit.options.points {
            self.line("SR_POINT();");
        }
        let value = self.keep_result(invocation.signature, &call);
        self.bring_home(arguments, invocation.span);
        value
    }

    /// Returns the location of a construct of another notation at which a process may wait.
    fn location_of_wait(&self, span: Span) -> String {
        let component = &self.unit.program.components[self.component.index()].name;
        // A call through a component's name begins with a copy of that name.
        let last = Span {
            start: span.end.saturating_sub(1),
            ..span
        };
        let construct = self
            .unit
            .construct(span)
            .or_else(|| self.unit.construct(last));
        let what = construct.map(|construct| reports::waits_for(construct, component));
        self.unit.location(span, &what.unwrap_or_default())
    }

    /// Writes a call whose result is a C value, and keeps the result in a variable.
    fn keep_result(&mut self, signature: SignatureId, call: &str) -> Option<Value> {
        let result = self.unit.program.signatures[signature.index()]
            .result
            .clone();
        let Some(result) = result else {
            self.line(format!("{call};"));
            return None;
        };
        let name = self.temp(&self.unit.value_type(result.of), call);
        self.allocates |= self.unit.class(result.of) != Class::Plain;
        Some(self.named_value(&name, result.of))
    }

    /// Returns the value that a C variable holds.
    pub(super) fn named_value(&self, name: &str, of: TypeId) -> Value {
        match self.unit.class(of) {
            Class::Plain => Value::Plain(name.into()),
            Class::Text => Value::Text(name.into()),
            Class::Array(_) => Value::Array(self.view_of(name, of, false)),
        }
    }

    /// Writes the arguments of a C function.
    fn arguments(&mut self, invocation: &Invocation) -> Vec<Argument> {
        let signature = &self.unit.program.signatures[invocation.signature.index()];
        let passings = signature.parameters.iter().map(|p| p.passing);
        let pairs = passings.zip(&invocation.arguments).collect::<Vec<_>>();
        let last_effect = invocation.arguments.iter().rposition(has_effects);
        let mut arguments = Vec::new();
        for (n, (passing, e)) in pairs.iter().enumerate() {
            let is_kept = last_effect.is_some_and(|last| n < last);
            let of = signature.parameters[n].of;
            arguments.push(match passing {
                Passing::Value if self.unit.is_open_text(of) => self.open_argument(e, is_kept),
                Passing::Value => self.value_argument(e, is_kept),
                _ => self.place_argument(e),
            });
        }
        arguments
    }

    fn value_argument(&mut self, e: &Expression, is_kept: bool) -> Argument {
        let text = match self.value(e) {
            Value::Plain(text) => match is_kept {
                true => self.keep(&self.unit.plain_type(e.of), &text),
                false => bare(&text).to_string(),
            },
            Value::Text(text) => match is_kept {
                true => self.keep("sr_text", &text),
                false => text,
            },
            Value::Array(view) => self.view_value(&view),
        };
        Argument { text, home: None }
    }

    /// Writes a string with its maximum.
    fn open_argument(&mut self, e: &Expression, is_kept: bool) -> Argument {
        let text = match self.unit.class(e.of) {
            Class::Text if e.is_place() && !is_kept && !has_effects(e) => match self.place(e) {
                Place::Text(string) => string,
                _ => {
                    let text = self.text_name(e);
                    self.string_around(&text)
                }
            },
            _ => {
                let text = self.text_name(e);
                self.string_around(&text)
            }
        };
        Argument { text, home: None }
    }

    /// Writes a place: a pointer, or a view.
    pub(super) fn place_argument(&mut self, e: &Expression) -> Argument {
        let text = match self.place(e) {
            Place::Plain(lvalue) => match lvalue.strip_prefix("(*") {
                // The address of a dereferenced pointer is the pointer.
                Some(pointer) if is_name(pointer.trim_end_matches(')')) => {
                    pointer.trim_end_matches(')').to_string()
                }
                _ => format!("&{lvalue}"),
            },
            Place::Text(string) => string,
            Place::Part(string, from, to) => {
                let at = self.at(e.span);
                self.allocates = true;
                let from = self.temp("sr_int", &from);
                let to = self.temp("sr_int", &to);
                let copy = self.temp(
                    "sr_string",
                    &format!("sr_string_make({at}, 0, sr_text_slice({at}, sr_string_value({string}), {string}.maximum, {from}, {to}).length)"),
                );
                self.line(format!(
                    "sr_string_set({at}, {copy}, sr_text_slice({at}, sr_string_value({string}), {string}.maximum, {from}, {to}));"
                ));
                return Argument {
                    text: copy.clone(),
                    home: Some((Place::Part(string, from, to), copy)),
                };
            }
            Place::Array(view) => self.view_value(&view),
        };
        Argument { text, home: None }
    }

    pub(super) fn bring_home(&mut self, arguments: Vec<Argument>, span: Span) {
        for argument in arguments {
            if let Some((place, copy)) = argument.home {
                let value = Value::Text(self.string_value(&copy));
                self.store(&place, &value, span);
            }
        }
    }

    /// Calls a C function. Numbers are passed by value, strings as `char *` ended by a zero, arrays
    /// as the address of their first element, places as addresses.
    fn call_external(&mut self, operation: OperationId, invocation: &Invocation) -> Option<Value> {
        let signature = self.unit.program.signatures[invocation.signature.index()].clone();
        let name = self.unit.names.operation(operation).to_string();
        let mut types = Vec::new();
        let mut values = Vec::new();
        let mut strings = Vec::new();
        for (parameter, e) in signature.parameters.iter().zip(&invocation.arguments) {
            let is_value = parameter.passing == Passing::Value;
            match self.unit.class(parameter.of) {
                Class::Plain if is_value && *self.types().get(parameter.of) == Type::File => {
                    let at = self.at(e.span);
                    let value = self.plain(e);
                    let file = format!("sr_c_file({at}, {})", bare(&value));
                    values.push(self.temp("void *", &file));
                    types.push("void *".into());
                }
                Class::Plain if is_value => {
                    let value = self.plain(e);
                    let c_type = self.unit.plain_type(parameter.of);
                    values.push(self.temp(&c_type, &value));
                    types.push(c_type);
                }
                Class::Plain => {
                    let argument = self.place_argument(e);
                    values.push(argument.text);
                    types.push(pointer_to(&self.unit.plain_type(parameter.of)));
                }
                Class::Text => {
                    let at = self.at(e.span);
                    self.allocates = true;
                    let (text, room) = match is_value {
                        true => {
                            let text = self.text_name(e);
                            (text.clone(), format!("{text}.length"))
                        }
                        false => {
                            let string = self.place_argument(e).text;
                            let string = self.temp("sr_string", &string);
                            strings.push((string.clone(), values.len()));
                            (
                                format!("sr_string_value({string})"),
                                format!("{string}.maximum"),
                            )
                        }
                    };
                    values.push(self.temp("char *", &format!("sr_c_string({at}, {text}, {room})")));
                    types.push("char *".into());
                }
                Class::Array(_) => {
                    let view = self.array(e);
                    let view = match view.is_packed || !is_value {
                        true => view,
                        false => self.array_kept(&view, e.span),
                    };
                    values.push(self.temp("void *", &format!("(void *){}", view.data)));
                    types.push("void *".into());
                }
            }
        }
        let result = signature.result.as_ref().map(|r| r.of);
        let c_result = match result {
            Some(of) if self.unit.class(of) == Class::Plain => self.unit.plain_type(of),
            Some(_) => "char *".into(),
            None => "void".into(),
        };
        let number = self.declare_external(&name, &c_result, &types);
        let call = format!("t{}", self.number());
        let first = match values.is_empty() && result.is_none() {
            true => "0".to_string(),
            false => values.join(", "),
        };
        self.line(format!("struct e_{number} {call} = {{{first}}};"));
        let at = self.at(invocation.span);
        self.line(format!("sr_external({at}, e_call_{number}, &{call});"));
        for (string, n) in strings {
            let at = self.at(invocation.span);
            self.line(format!(
                "sr_string_set({at}, {string}, sr_text_of_c({}));",
                values[n]
            ));
        }
        let of = result?;
        let kept = self.temp(&c_result, &format!("{call}.result"));
        Some(match self.unit.class(of) {
            Class::Plain => Value::Plain(kept),
            _ => Value::Text(self.temp("sr_text", &format!("sr_text_of_c({kept})"))),
        })
    }

    /// Declares the function under a name of our own, so that its type need not match the system's
    /// headers, and the function through which the run-time calls it. Returns the number in their
    /// names, because operations with one name may have parameters of different types.
    fn declare_external(&mut self, name: &str, result: &str, types: &[String]) -> usize {
        let list = match types.is_empty() {
            true => "void".to_string(),
            false => types.join(", "),
        };
        let mut shared = self.unit.shared.borrow_mut();
        let key = format!("{result} {name}({list})");
        if let Some((number, _)) = shared.externals.get(&key) {
            return *number;
        }
        let number = shared.externals.len() + 1;
        let declare = |c_type: &str, name: &str| self.unit.declare(c_type, name);
        let mut fields = (1..)
            .zip(types)
            .map(|(n, c_type)| format!("    {};\n", declare(c_type, &format!("a{n}"))))
            .collect::<String>();
        let assign = match result {
            "void" => String::new(),
            _ => {
                fields += &format!("    {};\n", declare(result, "result"));
                "e->result = ".to_string()
            }
        };
        if fields.is_empty() {
            fields = "    int nothing;\n".into();
        }
        let arguments = (1..=types.len()).map(|n| format!("e->a{n}"));
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let head = declare(result, &format!("x_c_{number}"));
        let text = format!(
            "extern {head}({list}) __asm__(\"{name}\");\n\
             struct e_{number} {{\n{fields}}};\n\
             static void e_call_{number}(void *call) {{\n    \
             struct e_{number} *e = (struct e_{number} *)call;\n    \
             {assign}x_c_{number}({arguments});\n}}"
        );
        shared.externals.insert(key, (number, text));
        number
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

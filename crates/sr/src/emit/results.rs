//! Results of procs and of arms.

use antiphon_lang::Span;

use super::declarations::zero;
use super::function::{Access, Function};
use super::types::Class;
use crate::program::*;

impl Function<'_> {
    /// Declares a proc's result, in memory that outlives the function's own.
    pub(super) fn declare_result(
        &mut self,
        signature: &Signature,
        result: Option<VariableId>,
        span: Span,
    ) {
        let (Some(result), Some(parameter)) = (result, &signature.result) else {
            return;
        };
        let name = self.unit.names.variable(result).to_string();
        match self.unit.class(parameter.of) {
            Class::Plain => {
                let c_type = self.unit.plain_type(parameter.of);
                let declaration = self.unit.declare(&c_type, &name);
                self.line(format!("{declaration} = {};", zero(&c_type)));
            }
            Class::Text => {
                let resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                let at = self.at(span);
                self.line(format!(
                    "sr_string {name} = sr_string_make({at}, 0, {});",
                    resolved.most
                ));
                self.access.insert(result, Access::String(name));
            }
            Class::Array(_) => {
                let resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                let (_, element) = self.types().flat(parameter.of);
                let view = self.new_array(&resolved.bounds, element, &resolved.most, span);
                self.access.insert(result, Access::View(view));
            }
        }
        self.allocates = false;
    }

    /// Returns the value of a variable.
    pub(super) fn variable_value(&mut self, variable: VariableId, of: TypeId) -> String {
        match (self.access_of(variable), self.unit.class(of)) {
            (Access::Place(lvalue), Class::Text) => format!("SR_STRING_VALUE({lvalue})"),
            (Access::Place(lvalue), _) => lvalue,
            (Access::String(string), _) => self.string_value(&string),
            (Access::View(view), _) => self.view_value(&view),
        }
    }

    pub(super) fn bind_result(
        &mut self,
        variable: VariableId,
        declared: &Parameter,
        q: &str,
        span: Span,
    ) -> String {
        let allocates = self.allocates;
        let name = self.unit.names.variable(variable).to_string();
        match self.unit.class(declared.of) {
            Class::Plain => {
                let c_type = self.unit.plain_type(declared.of);
                let declaration = self.unit.declare(&c_type, &name);
                self.line(format!("{declaration} = {};", zero(&c_type)));
            }
            _ => self.declare_result(
                &Signature {
                    parameters: Vec::new(),
                    result: Some(declared.clone()),
                    restriction: Restriction::None,
                },
                Some(variable),
                span,
            ),
        }
        self.allocates = allocates || self.unit.class(declared.of) != Class::Plain;
        let (lines, ()) = self.aside(|f| {
            let value = f.variable_value(variable, declared.of);
            f.give_result_to(q, declared.of, &value, span);
        });
        match self.unit.class(declared.of) {
            Class::Array(_) => self.bracketed(&lines),
            _ => lines,
        }
    }

    /// Stores a call's value in the block as its result.
    pub(super) fn give_result(&mut self, of: TypeId, call: &str, span: Span) {
        match self.unit.class(of) {
            Class::Plain => self.line(format!("q->result = {call};")),
            _ => {
                let value = self.temp(&self.unit.value_type(of), call);
                self.give_result_to("q", of, &value, span);
            }
        }
    }

    /// Stores a result; strings and arrays get memory that the caller frees.
    pub(super) fn give_result_to(&mut self, q: &str, of: TypeId, value: &str, span: Span) {
        let at = self.at(span);
        match self.unit.class(of) {
            Class::Plain => self.line(format!("{q}->result = {value};")),
            Class::Text => self.line(format!("{q}->result = sr_result_text({at}, {value});")),
            Class::Array(dimensions) => {
                let whole = match value.starts_with('(') {
                    true => self.temp(&format!("struct sr_array{dimensions}"), value),
                    false => value.to_string(),
                };
                let view = self.view_of(&whole, of, false);
                let bytes = self.packed_bytes(&view);
                if self.unit.element_type(view.element).is_none() {
                    self.line(format!("{q}->result.most = {};", view.most));
                }
                self.line(format!(
                    "{q}->result.data = sr_result_array({at}, {dimensions}, {bytes}, {q}->result.d, {whole}.data, {whole}.d);"
                ));
            }
        }
    }

    /// Returns the bytes of an element of an array that is known to be a whole one.
    pub(super) fn packed_bytes(&self, view: &super::views::View) -> String {
        match self.unit.element_type(view.element) {
            Some(c_type) => format!("sizeof({c_type})"),
            None => view.dims.last().map_or("1".into(), |d| d.stride.clone()),
        }
    }
}

//! Declarations of variables: their storage, bounds and first values.

use antiphon_lang::{Span, c::bare};

use super::expressions::Value;
use super::function::{Access, Function};
use super::names::instance_of;
use super::places::Place;
use super::types::{Class, pointer_to};
use super::views::{View, constant};
use crate::program::*;

/// Bounds of all dimensions, and the maximum of strings, as C constants or temporaries.
#[derive(Debug, Clone, Default)]
pub(super) struct Resolved {
    pub(super) bounds: Vec<(String, String)>,
    pub(super) most: String,
}

impl Function<'_> {
    /// Evaluates bounds and lengths. Those written as `*` come from a value.
    pub(super) fn resolve(
        &mut self,
        of: TypeId,
        shape: Option<&Shape>,
        from: Option<&Value>,
    ) -> Resolved {
        let (dimensions, element) = self.types().flat(of);
        let mut resolved = Resolved::default();
        for (n, dimension) in dimensions.iter().enumerate() {
            let written = shape.and_then(|s| s.bounds.get(n));
            let own = match from {
                Some(Value::Array(view)) => {
                    view.dims.get(n).map(|d| (d.low.clone(), d.high.clone()))
                }
                _ => None,
            };
            let (own_low, own_high) = own.unwrap_or_else(|| ("1".into(), "0".into()));
            let low = self.extent(dimension.low, written.map(|(low, _)| low));
            let high = self.extent(dimension.high, written.map(|(_, high)| high));
            resolved.bounds.push(match (low, high) {
                (Some(low), Some(high)) => (low, high),
                (None, None) => (own_low, own_high),
                (Some(low), None) if low == own_low => (low, own_high),
                (Some(low), None) => {
                    let high = format!("({low} + {own_high} - {own_low})");
                    (low, self.temp("sr_int", &high))
                }
                (None, Some(high)) => {
                    let low = format!("({high} - {own_high} + {own_low})");
                    (self.temp("sr_int", &low), high)
                }
            });
        }
        resolved.most = match self.types().get(element) {
            Type::Text(most) => {
                let written = shape.and_then(|s| s.most.as_deref());
                match (self.extent(*most, written), from) {
                    (Some(most), _) => most,
                    (None, Some(Value::Text(text))) => {
                        self.temp("sr_int", &format!("{text}.length"))
                    }
                    (None, Some(Value::Array(view))) => view.most.clone(),
                    (None, _) => "0".into(),
                }
            }
            _ => "0".into(),
        };
        resolved
    }

    /// Returns a bound or length: a constant, or a temporary with the written expression; none if
    /// it is `*`.
    fn extent(&mut self, extent: Extent, written: Option<&Expression>) -> Option<String> {
        match (extent, written) {
            (Extent::Known(value), _) => Some(constant(value)),
            (Extent::Computed, Some(e)) => {
                let value = self.plain(e);
                Some(self.temp("sr_int", &value))
            }
            _ => None,
        }
    }

    /// Declares a variable.
    pub(super) fn declare(
        &mut self,
        variable: VariableId,
        shape: Option<&Shape>,
        value: Option<&Expression>,
        span: Span,
    ) {
        let of = self.unit.program.variables[variable.index()].of;
        let is_open = shape.is_none() && !self.types().is_static(of);
        match self.unit.class(of) {
            Class::Plain => self.declare_plain(variable, value),
            Class::Text => self.declare_text(variable, shape, value, is_open, span),
            Class::Array(_) => self.declare_array(variable, shape, value, is_open, span),
        }
    }

    fn declare_plain(&mut self, variable: VariableId, value: Option<&Expression>) {
        let of = self.unit.program.variables[variable.index()].of;
        let storage = self.storage(variable);
        let is_local = instance_of(self.unit.program, variable).is_none();
        let value = value.map(|value| self.plain(value));
        match (is_local, value) {
            (true, value) => {
                let c_type = self.unit.plain_type(of);
                let value = value.unwrap_or_else(|| zero(&c_type).into());
                let declaration = self.unit.declare(&c_type, &storage);
                self.line(format!("{declaration} = {};", bare(&value)));
            }
            (false, Some(value)) => self.line(format!("{storage} = {};", bare(&value))),
            (false, None) => {}
        }
    }

    fn declare_text(
        &mut self,
        variable: VariableId,
        shape: Option<&Shape>,
        value: Option<&Expression>,
        is_open: bool,
        span: Span,
    ) {
        let of = self.unit.program.variables[variable.index()].of;
        let storage = self.storage(variable);
        let is_local = instance_of(self.unit.program, variable).is_none();
        let early = is_open.then(|| value.map(|v| self.text_name(v))).flatten();
        let known = self.unit.element_type(of);
        match &known {
            Some(c_type) if is_local => {
                self.line(format!("{c_type} {storage};"));
                self.line(format!("{storage}.length = 0;"));
            }
            Some(_) => {}
            None => {
                let from = early.clone().map(Value::Text);
                let resolved = self.resolve(of, shape, from.as_ref());
                self.make_string(&storage, is_local, &resolved.most, span);
            }
        }
        if let Some(value) = value {
            let text = match early {
                Some(text) => text,
                None => self.text(value),
            };
            let place = match known {
                Some(_) => format!("SR_STRING({storage})"),
                None => storage,
            };
            self.store(&Place::Text(place), &Value::Text(text), span);
        }
    }

    /// Makes a string variable whose maximum is known at run time.
    fn make_string(&mut self, storage: &str, is_local: bool, most: &str, span: Span) {
        let at = self.at(span);
        if is_local {
            self.allocates = true;
            self.line(format!(
                "sr_string {storage} = sr_string_make({at}, 0, {most});"
            ));
        } else {
            self.line(format!(
                "{storage} = sr_string_make({at}, &self->head, {most});"
            ));
        }
    }

    fn declare_array(
        &mut self,
        variable: VariableId,
        shape: Option<&Shape>,
        value: Option<&Expression>,
        is_open: bool,
        span: Span,
    ) {
        let of = self.unit.program.variables[variable.index()].of;
        let is_local = instance_of(self.unit.program, variable).is_none();
        let early = is_open
            .then(|| value.map(|v| Value::Array(self.array(v))))
            .flatten();
        let resolved = self.resolve(of, shape, early.as_ref());
        let view = self.make_variable(variable, is_local, &resolved, span);
        match (value, early) {
            (_, Some(Value::Array(from))) => self.copy_array(&view, &from, span),
            (Some(value), _) => {
                if let ExpressionKind::Array(parts) = &value.kind {
                    self.fill(&view, parts, value.span);
                } else {
                    let from = self.array(value);
                    self.copy_array(&view, &from, value.span);
                }
            }
            _ => {}
        }
    }

    /// Makes a zeroed array variable and returns its view.
    pub(super) fn make_variable(
        &mut self,
        variable: VariableId,
        is_local: bool,
        resolved: &Resolved,
        span: Span,
    ) -> View {
        let of = self.unit.program.variables[variable.index()].of;
        let (_, element) = self.types().flat(of);
        let storage = self.storage(variable);
        if self.unit.known_count(of).is_some() {
            self.make_static(variable, is_local, &storage, resolved, span);
            return self.view_in_place(&storage, of);
        }
        let made = format!("t{}", self.number());
        let instance = if is_local { "0" } else { "&self->head" };
        self.make_array(
            &made,
            instance,
            &resolved.bounds,
            element,
            &resolved.most,
            span,
        );
        let count = resolved.bounds.len();
        if is_local {
            self.line(format!("const struct sr_array{count} {storage} = {made};"));
        } else {
            self.line(format!("{storage} = {made};"));
            self.hoist(variable);
        }
        match self.access_of(variable) {
            Access::View(view) => view,
            _ => self.view_of(&storage, of, true),
        }
    }

    fn make_static(
        &mut self,
        variable: VariableId,
        is_local: bool,
        storage: &str,
        resolved: &Resolved,
        span: Span,
    ) {
        let of = self.unit.program.variables[variable.index()].of;
        let (_, element) = self.types().flat(of);
        let is_in_place = self.is_in_place(variable);
        let Some(c_type) = self.unit.element_type(element) else {
            return;
        };
        match (is_in_place, is_local) {
            (true, true) => {
                self.line(format!("{};", self.unit.declare_storage(of, storage)));
                self.line(format!("memset({storage}, 0, sizeof {storage});"));
            }
            (true, false) => {}
            (false, _) => {
                let made = format!("t{}", self.number());
                let instance = if is_local { "0" } else { "&self->head" };
                self.make_array(
                    &made,
                    instance,
                    &resolved.bounds,
                    element,
                    &resolved.most,
                    span,
                );
                let pointer = pointer_to(&c_type);
                let value = format!("({pointer}){made}.data");
                self.line(match is_local {
                    true => format!("{pointer}const {storage} = {value};"),
                    false => format!("{storage} = {value};"),
                });
            }
        }
    }
}

/// Returns the initial value of a variable without a written one.
pub(super) fn zero(c_type: &str) -> &'static str {
    match c_type {
        "sr_int" | "sr_char" | "sr_bool" | "sr_real" | "sr_file" => "0",
        _ if c_type.ends_with('*') => "0",
        _ => "{0}",
    }
}

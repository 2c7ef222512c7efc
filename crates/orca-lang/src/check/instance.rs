//! Generic units: checked on their own, and their instances.

use std::collections::BTreeMap;

use super::Checker;
use super::scope::Symbol;
use crate::program::{Effects, Mode, Routine, RoutineId, TypeKind, UnitId, Value, VariableKind};
use crate::syntax::{
    Expression, ExpressionKind, Formal, GenericParameter, Name, Qualified, RoutineKind, UnitKind,
};

/// The greatest depth of instances within instances. Deeper ones would have no end.
const DEEPEST: u32 = 30;

/// The greatest number of units of a program, for the same reason: implementations make instances,
/// too.
const MOST_UNITS: usize = 2000;

impl Checker<'_> {
    /// Checks each generic unit on its own. Of its parameters only the headings are known.
    pub(super) fn generic_units(&mut self) {
        let loaded = self.loaded;
        for (name, halves) in &loaded.units {
            let Some(specification) = &halves.specification else {
                continue;
            };
            if !specification.is_generic {
                continue;
            }
            let mut bindings = BTreeMap::new();
            for parameter in &specification.parameters {
                let (name, symbol) = self.formal_parameter(parameter, &bindings);
                if bindings.insert(name.text.clone(), symbol).is_some() {
                    self.error(name.span, format!("\"{}\" is already declared", name.text));
                }
            }
            self.begin_unit(name.clone(), halves, bindings, true);
        }
    }

    fn formal_parameter<'p>(
        &mut self,
        parameter: &'p GenericParameter,
        before: &BTreeMap<String, Symbol>,
    ) -> (&'p Name, Symbol) {
        match parameter {
            GenericParameter::Type(name, restriction) => {
                let ty = self.add_type(&name.text, TypeKind::Parameter(*restriction));
                (name, Symbol::Type(ty))
            }
            GenericParameter::Function(name, formals, result) => {
                let routine = self.parameter_function(name, formals, result.as_ref(), before);
                (name, Symbol::Routine(routine))
            }
            GenericParameter::Const(name, of) => {
                let ty = self.parameter_type(of, before);
                let value = match self.program.kind(ty) {
                    TypeKind::Real(_) => Value::Real(1.0),
                    TypeKind::Array { .. } => Value::Text(Vec::new()),
                    _ => Value::Integer(1),
                };
                (name, Symbol::Constant(value, ty))
            }
        }
    }

    /// Returns a type that may be an earlier parameter.
    fn parameter_type(
        &mut self,
        of: &Qualified,
        before: &BTreeMap<String, Symbol>,
    ) -> crate::program::TypeId {
        match before.get(&of[0].text) {
            Some(Symbol::Type(ty)) => *ty,
            _ => self.type_named(of),
        }
    }

    /// Makes the heading of a function parameter of a generic unit.
    fn parameter_function(
        &mut self,
        name: &Name,
        formals: &[Formal],
        result: Option<&Qualified>,
        before: &BTreeMap<String, Symbol>,
    ) -> RoutineId {
        let mut parameters = Vec::new();
        for formal in formals {
            let ty = match &formal.of.ty.kind {
                crate::syntax::TypeKind::Named(parts) => self.parameter_type(parts, before),
                _ => self.known.error,
            };
            for name in &formal.names {
                let kind = VariableKind::Parameter(formal.mode);
                parameters.push(self.add_variable(name, kind, Self::plain(ty)));
            }
        }
        let result = result.map(|of| (self.parameter_type(of, before), None));
        let id = RoutineId(self.program.routines.len() as u32);
        self.program.routines.push(Routine {
            name: name.text.clone(),
            span: name.span,
            kind: RoutineKind::Function,
            unit: self.here.unit.unwrap_or(UnitId(0)),
            combinations: vec![None; parameters.len()],
            parameters,
            result,
            indices: None,
            locals: Vec::new(),
            body: None,
            dependencies: None,
            effects: Effects::default(),
            end: name.span,
        });
        id
    }

    /// Instantiates a generic unit.
    pub(super) fn instance(
        &mut self,
        kind: UnitKind,
        name: &Name,
        generic: &Name,
        arguments: &[Expression],
    ) {
        let symbol = self.instance_unit(kind, name, generic, arguments);
        self.declare(name, symbol.unwrap_or(Symbol::Wrong));
    }

    fn instance_unit(
        &mut self,
        kind: UnitKind,
        name: &Name,
        generic: &Name,
        arguments: &[Expression],
    ) -> Option<Symbol> {
        let loaded = self.loaded;
        let halves = loaded.units.get(&generic.text)?;
        let text = halves.specification.as_ref()?;
        if !text.is_generic {
            let message = format!("unit \"{}\" is not generic", generic.text);
            self.error_help(
                generic.span,
                message,
                format!("write IMPORT {};", generic.text),
            );
            return None;
        }
        if text.kind != kind {
            let message = format!("\"{}\" is a generic {}", generic.text, text.kind.name());
            self.error(generic.span, message);
        }
        if text.parameters.len() != arguments.len() {
            let message = format!(
                "generic unit {} has {} parameters, not {}",
                generic.text,
                text.parameters.len(),
                arguments.len()
            );
            self.error(generic.span, message);
            return None;
        }
        if self.instances >= DEEPEST || self.program.units.len() >= MOST_UNITS {
            let message = format!(
                "generic unit {} makes instances of itself without end",
                generic.text
            );
            // Later instances hit the same limit, so it is reported once.
            if self.diagnostics.iter().all(|one| one.message != message) {
                self.error(generic.span, message);
            }
            return None;
        }
        let errors = self.error_count();
        let mut bindings = BTreeMap::new();
        for (parameter, argument) in text.parameters.iter().zip(arguments) {
            let (formal, symbol) = self.actual_parameter(parameter, argument, &bindings);
            bindings.insert(formal.text.clone(), symbol?);
        }
        if self.error_count() > errors {
            return None;
        }
        // An instance in a generic unit that is checked on its own is not part of the program
        // either.
        let is_abstract = self
            .here
            .unit
            .is_some_and(|unit| self.program.unit(unit).is_abstract);
        self.instances += 1;
        let unit = self.begin_unit(name.text.clone(), halves, bindings, is_abstract);
        self.instances -= 1;
        let unit = unit?;
        if let Some(here) = self.here.unit {
            self.program.units[here.0 as usize].imports.push(unit);
        }
        Some(Symbol::Unit(unit))
    }

    fn actual_parameter<'p>(
        &mut self,
        parameter: &'p GenericParameter,
        argument: &Expression,
        before: &BTreeMap<String, Symbol>,
    ) -> (&'p Name, Option<Symbol>) {
        match parameter {
            GenericParameter::Type(name, restriction) => {
                let parts = parts_of(argument);
                let Some(parts) = parts else {
                    let message = format!("parameter \"{}\" is a type", name.text);
                    self.error(argument.span, message);
                    return (name, None);
                };
                let ty = self.type_named(&parts);
                if !self.program.fulfils(ty, *restriction) {
                    let message = format!(
                        "parameter \"{}\" has to be a {}, and {} is none",
                        name.text,
                        Self::restriction_words(*restriction),
                        self.name_of(ty)
                    );
                    self.error(argument.span, message);
                }
                (name, Some(Symbol::Type(ty)))
            }
            GenericParameter::Function(name, formals, result) => {
                let wanted = self.parameter_function(name, formals, result.as_ref(), before);
                let given = self.symbol_of(argument);
                let Some(Symbol::Routine(given)) = given else {
                    if !matches!(given, Some(Symbol::Wrong)) {
                        let message = format!("parameter \"{}\" is a function", name.text);
                        self.error(argument.span, message);
                    }
                    return (name, None);
                };
                let is_function = self.program.routine(given).kind == RoutineKind::Function;
                let (wanted, actual) = (self.type_of_routine(wanted), self.type_of_routine(given));
                if !is_function || !self.program.is_same(wanted, actual) {
                    let message = format!(
                        "parameter \"{}\" is a {}, and the argument a {}",
                        name.text,
                        self.name_of(wanted),
                        self.name_of(actual)
                    );
                    self.error(argument.span, message);
                }
                (name, Some(Symbol::Routine(given)))
            }
            GenericParameter::Const(name, of) => {
                let ty = self.parameter_type(of, before);
                let value = self.constant(argument);
                let Some((value, actual)) = value else {
                    return (name, None);
                };
                if !self.program.fits(ty, actual) {
                    let message = format!(
                        "parameter \"{}\" is {}, and the argument {}",
                        name.text,
                        self.name_of(ty),
                        self.name_of(actual)
                    );
                    self.error(argument.span, message);
                }
                (name, Some(Symbol::Constant(value, ty)))
            }
        }
    }

    /// Returns the function type of a routine.
    pub(super) fn type_of_routine(&mut self, id: RoutineId) -> crate::program::TypeId {
        if let Some(ty) = self.function_types.get(&id) {
            return *ty;
        }
        let parameters: Vec<_> = self
            .headings(id)
            .iter()
            .map(|it| (it.mode, it.ty))
            .collect();
        let result = self.program.routine(id).result.map(|(ty, _)| ty);
        let ty = self.function_type(parameters, result);
        self.function_types.insert(id, ty);
        ty
    }

    /// Returns modes, types and names of a routine's parameters.
    pub(super) fn headings(&self, id: RoutineId) -> Vec<super::call::Heading> {
        let of = |id: &crate::program::VariableId| {
            let variable = self.program.variable(*id);
            let mode = match variable.kind {
                VariableKind::Parameter(mode) => mode,
                _ => Mode::In,
            };
            super::call::Heading {
                mode,
                ty: variable.of.ty,
                name: variable.name.clone(),
            }
        };
        self.program.routine(id).parameters.iter().map(of).collect()
    }
}

/// Returns the parts of a name, if the expression is one.
fn parts_of(expression: &Expression) -> Option<Vec<Name>> {
    match &expression.kind {
        ExpressionKind::Name(text) => Some(vec![Name {
            text: text.clone(),
            span: expression.span,
        }]),
        ExpressionKind::Select(base, name) => {
            let mut parts = parts_of(base)?;
            parts.push(name.clone());
            Some(parts)
        }
        _ => None,
    }
}

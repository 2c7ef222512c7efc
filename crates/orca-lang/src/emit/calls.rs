//! Calls of functions and operations.
//!
//! IN parameters without structure are passed by value, others as pointers to values that the
//! callee does not change. SHARED and OUT are pointers. Results are values.

use super::Emitter;
use super::expressions::has_effect;
use crate::check::{is_apart, may_overlap};
use crate::program::{Expr, ExprKind, Mode, RoutineId, TypeId, TypeKind, VariableId, VariableKind};

/// Arguments in C, and the statements after the call.
#[derive(Default)]
pub(super) struct Passed {
    pub texts: Vec<String>,
    behind: Vec<String>,
}

impl Emitter<'_> {
    pub(super) fn parameters(&self, id: RoutineId) -> Vec<(Mode, TypeId)> {
        let parameters = self.program.routine(id).parameters.iter();
        parameters
            .map(|it| (self.mode(*it), self.program.variable(*it).of.ty))
            .collect()
    }

    pub(super) fn mode(&self, id: VariableId) -> Mode {
        match self.program.variable(id).kind {
            VariableKind::Parameter(mode) => mode,
            _ => Mode::In,
        }
    }

    /// Returns the C type of a parameter.
    pub(super) fn parameter_type(&mut self, mode: Mode, ty: TypeId) -> String {
        let c_type = self.c_type(ty);
        match mode {
            Mode::In if self.is_scalar(ty) => c_type,
            Mode::In if self.program.may_be_reference(ty) => format!("{c_type} *"),
            Mode::In => format!("const {c_type} *"),
            Mode::Out | Mode::Shared => format!("{c_type} *"),
        }
    }

    pub(super) fn result_type(&mut self, result: Option<TypeId>) -> String {
        result.map_or("void".into(), |ty| self.c_type(ty))
    }

    pub(super) fn call(&mut self, id: RoutineId, arguments: &[Expr], whole: &Expr) -> String {
        let parameters = self.parameters(id);
        let routine = self.program.routine(id);
        let changed = routine.effects.writes_data.then_some(VariableKind::Data);
        let passed = self.pass(&parameters, arguments, &[], changed);
        if routine.body.is_none() {
            let at = self.at(whole.span);
            self.line(format!("ORCA_HERE({at});"));
        }
        let call = format!("{}({})", self.routine_name(id), passed.texts.join(", "));
        self.result(&call, routine.result.map(|(ty, _)| ty), passed)
    }

    pub(super) fn call_value(&mut self, callee: &Expr, arguments: &[Expr], whole: &Expr) -> String {
        let program = self.program;
        let TypeKind::Function { parameters, result } = program.kind(callee.ty) else {
            return "0".into();
        };
        let value = self.value(callee);
        let function = self.temporary(callee.ty, &value);
        let passed = self.pass(parameters, arguments, &[], Some(VariableKind::Data));
        let mut types = Vec::new();
        for (mode, ty) in parameters {
            types.push(self.parameter_type(*mode, *ty));
        }
        if types.is_empty() {
            types.push("void".into());
        }
        let (result_type, types) = (self.result_type(*result), types.join(", "));
        let (at, texts) = (self.at(whole.span), passed.texts.join(", "));
        let call = format!("(({result_type} (*)({types}))orca_code({at}, {function}))({texts})");
        self.result(&call, *result, passed)
    }

    pub(super) fn invoke(
        &mut self,
        object: &Expr,
        id: RoutineId,
        arguments: &[Expr],
        whole: &Expr,
    ) -> String {
        let parameters = self.parameters(id);
        let is_own = matches!(object.kind, ExprKind::Itself);
        let routine = self.program.routine(id);
        let roots: Vec<VariableId> = object.root().into_iter().collect();
        let changes_state = is_own && routine.effects.writes_state;
        let changed = changes_state.then_some(VariableKind::State);
        let mut passed = self.pass(&parameters, arguments, &roots, changed);
        let at = self.at(whole.span);
        let name = self.routine_name(id);
        let (first, name) = match is_own {
            true if self.is_in_view() => ("view".to_owned(), name),
            true => ("self".to_owned(), name),
            false => (self.place(object), format!("k{name}")),
        };
        passed.texts.insert(0, first);
        passed.texts.push(at);
        let call = format!("{name}({})", passed.texts.join(", "));
        self.result(&call, routine.result.map(|(ty, _)| ty), passed)
    }

    /// Writes a call, keeps its result, and copies values back where necessary.
    pub(super) fn result(&mut self, call: &str, result: Option<TypeId>, passed: Passed) -> String {
        let name = match result {
            Some(ty) => self.temporary(ty, call),
            None => {
                self.line(format!("{call};"));
                String::new()
            }
        };
        for line in passed.behind {
            self.line(line);
        }
        name
    }

    /// Returns which arguments are passed as places: those that are SHARED, OUT, or IN by
    /// reference. An object that another argument names, too, is copied, as in the original.
    fn are_places(&self, pairs: &[(&(Mode, TypeId), &Expr)]) -> Vec<bool> {
        let is_reference = |argument: &Expr| {
            let mut others = pairs.iter().filter(|((mode, _), _)| *mode != Mode::In);
            let caller = self.here.map(|here| here.routine);
            caller.is_some_and(|it| self.program.passes_reference(it, argument))
                && others.all(|(_, other)| is_apart(argument, other))
        };
        let are_places = pairs.iter();
        are_places
            .map(|((mode, _), argument)| *mode != Mode::In || is_reference(argument))
            .collect()
    }

    /// Passes arguments. `roots` are other variables that the callee changes, `kind` those that it
    /// reaches without parameters.
    pub(super) fn pass(
        &mut self,
        parameters: &[(Mode, TypeId)],
        arguments: &[Expr],
        roots: &[VariableId],
        kind: Option<VariableKind>,
    ) -> Passed {
        let pairs: Vec<_> = parameters.iter().zip(arguments).collect();
        let mut changed = roots.to_vec();
        let places = pairs.iter().filter(|((mode, _), _)| *mode != Mode::In);
        changed.extend(places.filter_map(|(_, argument)| argument.root()));
        let are_places = self.are_places(&pairs);
        let mut texts = vec![String::new(); pairs.len()];
        for (index, ((_, ty), argument)) in pairs.iter().enumerate() {
            if are_places[index] {
                continue;
            }
            let is_early = has_effect_after(&pairs, index);
            let value = self.value(argument);
            if self.is_scalar(*ty) {
                texts[index] = if is_early {
                    self.kept(value, argument)
                } else {
                    value
                };
                continue;
            }
            // Others may change a shared object, but not the callee's copy.
            let overlaps = argument.root().is_some_and(|it| {
                changed.contains(&it) || kind == Some(self.program.variable(it).kind)
            }) || self.program.has_objects(*ty);
            let is_copied = (is_early || overlaps) && !self.is_fresh(argument);
            let value = match is_copied && argument.root().is_some() {
                true => self.copied(&value, *ty),
                false => value,
            };
            texts[index] = format!("&{value}");
        }
        let mut passed = Passed::default();
        // A place without effects could be moved by the evaluation of another one.
        let mut later: Vec<_> = pairs.iter().enumerate().collect();
        later.sort_by_key(|(_, (_, argument))| !has_effect(argument));
        for (index, ((_, ty), argument)) in later {
            if are_places[index] {
                texts[index] = self.pass_place(*ty, argument, &mut passed.behind);
            }
        }
        self.check_aliases(parameters, arguments, &texts);
        passed.texts = texts;
        passed
    }

    /// Passes a place. A place of another width gets its value after the call.
    fn pass_place(&mut self, ty: TypeId, argument: &Expr, behind: &mut Vec<String>) -> String {
        let place = self.target(argument);
        let (wanted, is) = (self.c_type(ty), self.c_type(argument.ty));
        if wanted == is {
            return format!("&{place}");
        }
        let pointer = self.fresh();
        self.line(format!("{is} *const {pointer} = &{place};"));
        let name = self.temporary(ty, "{0}");
        behind.push(format!("*{pointer} = {name};"));
        format!("&{name}")
    }

    /// Checks at run time the places for which the compiler cannot decide whether they have a part
    /// in common.
    fn check_aliases(
        &mut self,
        parameters: &[(Mode, TypeId)],
        arguments: &[Expr],
        texts: &[String],
    ) {
        let places: Vec<usize> = (0..texts.len().min(parameters.len()))
            .filter(|index| parameters[*index].0 != Mode::In)
            .collect();
        for (count, one) in places.iter().enumerate() {
            for other in &places[..count] {
                if !may_overlap(&arguments[*one], &arguments[*other]) {
                    continue;
                }
                let at = self.at(arguments[*one].span);
                let first = self.descriptor(arguments[*other].ty);
                let second = self.descriptor(arguments[*one].ty);
                self.line(format!(
                    "orca_check_alias({at}, {first}, {}, {second}, {});",
                    texts[*other], texts[*one]
                ));
            }
        }
    }
}

/// Returns whether the evaluation of a later argument may change a variable. Places are evaluated
/// after values.
fn has_effect_after(pairs: &[(&(Mode, TypeId), &Expr)], index: usize) -> bool {
    let mut others = pairs.iter().enumerate();
    others.any(|(other, ((mode, _), argument))| {
        (other > index || *mode != Mode::In) && has_effect(argument)
    })
}

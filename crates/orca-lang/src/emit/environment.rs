//! Parameters that bounds within the types of a routine use.
//!
//! An initial value is made by a function of the type, which knows no routine. So a routine stores
//! the addresses of such parameters in a struct `e` of its thread before each initial value.

use std::collections::BTreeMap;

use antiphon_lang::Span;

use super::Emitter;
use crate::effects::parts;
use crate::program::{
    Expr, ExprKind, Program, RoutineId, SizedType, TypeId, TypeKind, VariableId, VariableKind,
};

/// The parameters in bounds of types, with their routines.
pub(super) struct Environments {
    routines: BTreeMap<VariableId, RoutineId>,
}

impl Environments {
    pub(super) fn of(program: &Program) -> Self {
        let mut used = Vec::new();
        for index in 0..program.types.len() as u32 {
            for bound in bounds_in(program, TypeId(index)) {
                variables(bound, &mut used);
            }
        }
        let mut routines = BTreeMap::new();
        for (index, routine) in program.routines.iter().enumerate() {
            let parameters = routine.parameters.iter().filter(|it| used.contains(it));
            routines.extend(parameters.map(|it| (*it, RoutineId(index as u32))));
        }
        Self { routines }
    }

    fn parameters(&self, routine: RoutineId) -> Vec<VariableId> {
        let of = self.routines.iter().filter(|(_, of)| **of == routine);
        of.map(|(id, _)| *id).collect()
    }
}

/// Returns the bounds of a type and of its fields.
fn bounds_in(program: &Program, ty: TypeId) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut sized: Vec<&SizedType> = Vec::new();
    match program.kind(ty) {
        TypeKind::Array { bounds, .. } => {
            found.extend(bounds.iter().flat_map(|(low, high)| [low, high]));
        }
        TypeKind::Record(fields) => sized.extend(fields.iter().map(|it| &it.of)),
        TypeKind::Union { alternatives, .. } => {
            sized.extend(alternatives.iter().map(|(_, it)| &it.of));
        }
        TypeKind::Graph { fields, nodes } => {
            sized.extend(fields.iter().chain(nodes).map(|it| &it.of));
        }
        _ => {}
    }
    let inner = sized.into_iter().flat_map(|it| it.bounds.iter().flatten());
    found.extend(inner.flat_map(|(low, high)| [low, high]));
    found
}

fn variables(expr: &Expr, found: &mut Vec<VariableId>) {
    if let ExprKind::Variable(id) = expr.kind {
        found.push(id);
    }
    for part in parts(expr) {
        variables(part, found);
    }
}

impl Emitter<'_> {
    /// Returns a parameter in a function that makes initial values.
    pub(super) fn parameter_of_environment(&self, id: VariableId) -> String {
        let name = self.variable_name(id);
        match self.environments.routines.get(&id) {
            Some(routine) => format!("(*e{}.{name})", routine.0),
            None => name,
        }
    }

    /// Declares the struct with the parameters of a routine, if bounds of its types use any.
    pub(super) fn declare_environment(&mut self, routine: RoutineId) {
        let parameters = self.environments.parameters(routine);
        if parameters.is_empty() {
            return;
        }
        let mut members = String::new();
        for id in parameters {
            let c_type = self.c_type(self.program.variable(id).of.ty);
            members += &format!("    const {c_type} *{};\n", self.variable_name(id));
        }
        let n = routine.0;
        self.announced += &format!("static _Thread_local struct {{\n{members}}} e{n};\n");
    }

    /// Stores the addresses of the current routine's parameters, if bounds of its types use any.
    pub(super) fn enter_environment(&mut self) {
        let Some(here) = self.here else { return };
        for id in self.environments.parameters(here.routine) {
            let (name, place) = (self.variable_name(id), self.variable(id));
            self.line(format!("e{}.{name} = &{place};", here.routine.0));
        }
    }

    /// Checks that bounds of a type's parts use nothing but parameters, data modules and constants.
    pub(super) fn check_global_bounds(&mut self, of: &SizedType) {
        let own = match self.program.kind(of.ty) {
            TypeKind::Array { bounds, .. } => bounds.clone(),
            _ => Vec::new(),
        };
        for (low, high) in of.bounds.iter().flatten().chain(&own) {
            for bound in [low, high] {
                self.check_global_bound(bound, bound.span);
            }
        }
    }

    fn check_global_bound(&mut self, bound: &Expr, whole: Span) {
        if let ExprKind::Variable(id) = bound.kind {
            let what = match self.program.variable(id).kind {
                VariableKind::Data | VariableKind::Parameter(_) => "",
                VariableKind::State => "the state of an object",
                VariableKind::Index => "the bounds of a data-parallel object",
                VariableKind::Local | VariableKind::Loop => "a local variable",
            };
            if !what.is_empty() {
                self.refuse(whole, &format!("bounds in a type cannot depend on {what}"));
            }
        }
        for part in parts(bound) {
            self.check_global_bound(part, whole);
        }
    }
}

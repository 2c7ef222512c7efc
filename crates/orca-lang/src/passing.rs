//! The choice between a copy and a reference for objects that are passed IN.
//!
//! The report has copies. The original compiler passes a reference to an object that it takes for
//! local. Programs that count on this set `objects_by_reference`.

use crate::program::{
    Expr, Mode, Program, RoutineId, RoutineKind, TypeId, TypeKind, VariableId, VariableKind,
};

impl Program {
    /// Returns whether the original compiler lets a routine change its caller's object by an IN
    /// parameter. An operation that may block is tried again, so it changes a copy.
    pub(crate) fn original_refers(&self, routine: RoutineId, parameter: VariableId) -> bool {
        let of = self.routine(routine);
        let is_reference = match of.kind {
            RoutineKind::Function => true,
            RoutineKind::Operation => !of.effects.blocks && self.unit(of.unit).shape.is_none(),
            RoutineKind::Process => false,
        };
        is_reference && self.has_objects(self.variable(parameter).of.ty)
    }

    /// Returns whether a routine may change its caller's object by an IN parameter.
    pub(crate) fn is_reference(&self, routine: RoutineId, parameter: VariableId) -> bool {
        self.may_be_reference(self.variable(parameter).of.ty)
            && self.original_refers(routine, parameter)
    }

    /// Returns whether an IN parameter of a type may be its caller's.
    pub(crate) fn may_be_reference(&self, ty: TypeId) -> bool {
        self.objects_by_reference && self.has_objects(ty)
    }

    /// Returns whether a routine passes an argument IN by reference: a place within local objects.
    pub(crate) fn passes_reference(&self, caller: RoutineId, argument: &Expr) -> bool {
        let is_partitioned = matches!(self.kind(argument.ty),
            TypeKind::Object(unit) if self.unit(*unit).shape.is_some());
        let root = argument.root().filter(|_| !is_partitioned);
        self.may_be_reference(argument.ty) && root.is_some_and(|it| self.is_local(caller, it))
    }

    /// Returns whether the original compiler takes the objects in a variable for local. SHARED
    /// parameters are not, nor are the variables that a process shares.
    fn is_local(&self, user: RoutineId, variable: VariableId) -> bool {
        let is_shared = self.variable(variable).kind == VariableKind::Parameter(Mode::Shared);
        match self.routine(user).kind {
            RoutineKind::Operation => true,
            RoutineKind::Function => !is_shared,
            RoutineKind::Process => !is_shared && !self.shared.contains(&variable),
        }
    }
}

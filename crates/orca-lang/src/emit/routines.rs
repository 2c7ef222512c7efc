//! Functions and processes.

use super::calls::Passed;
use super::{Emitter, Here};
use crate::program::{
    Expr, Mode, RoutineId, RoutineKind, TypeId, UnitKind, VariableId, VariableKind,
};
use antiphon_lang::Span;
use antiphon_lang::c::string;

impl Emitter<'_> {
    /// Returns the declaration of a routine, for those that call it.
    pub(super) fn heading(&mut self, id: RoutineId) -> String {
        let unit = self.unit_of(id);
        let is_initial = unit.initial == Some(id);
        match self.program.routine(id).kind {
            RoutineKind::Operation if is_initial => {
                let own = self.own_formal(self.program.routine(id).unit);
                format!("static void b{}({own});\n", id.0)
            }
            RoutineKind::Operation => self.operation_heading(id),
            RoutineKind::Process => {
                let name = self.routine_name(id);
                format!("static void {name}(struct orca_reader *arguments);\n")
            }
            RoutineKind::Function => format!("static {};\n", self.function_heading(id)),
        }
    }

    pub(super) fn function_heading(&mut self, id: RoutineId) -> String {
        let result = self.result_type(self.result_of(id));
        let formals = self.formals(id);
        let formals = if formals.is_empty() {
            "void".into()
        } else {
            formals.join(", ")
        };
        format!("{result} {}({formals})", self.routine_name(id))
    }

    /// Returns the parameters of a routine in C.
    pub(super) fn formals(&mut self, id: RoutineId) -> Vec<String> {
        let before = self.here.replace(Here {
            routine: id,
            is_operation: false,
        });
        let mut formals = Vec::new();
        for parameter in &self.program.routine(id).parameters {
            let (mode, ty) = (
                self.mode(*parameter),
                self.program.variable(*parameter).of.ty,
            );
            let c_type = self.parameter_type(mode, ty);
            let name = self.formal_name(*parameter);
            formals.push(format!("{c_type} {name}"));
        }
        self.here = before;
        formals
    }

    /// Returns the C name of a parameter. If the routine copies it, the name differs from the
    /// variable's.
    pub(super) fn formal_name(&self, id: VariableId) -> String {
        let is_structured = !self.is_scalar(self.program.variable(id).of.ty);
        let is_copied = match self.mode(id) {
            Mode::In => is_structured && !self.is_borrowed(id),
            Mode::Out => true,
            Mode::Shared => false,
        };
        match is_copied {
            true => format!("a{}", id.0),
            false => self.variable_name(id),
        }
    }

    /// Returns a routine with its body.
    pub(super) fn routine(&mut self, id: RoutineId) -> String {
        let unit = self.unit_of(id);
        let is_initial = unit.initial == Some(id);
        if is_initial {
            return self.initial_code(id);
        }
        match self.program.routine(id).kind {
            RoutineKind::Operation => self.operation(id),
            RoutineKind::Process => self.process(id),
            RoutineKind::Function => self.function(id),
        }
    }

    fn function(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let Some(body) = &routine.body else {
            return self.c_function(id);
        };
        let heading = self.function_heading(id);
        let body = self.body(id, false, |it| {
            it.copy_parameters();
            it.locals();
            for alternative in body {
                it.statements(&alternative.statements);
            }
            it.end(false);
        });
        let for_c = self.function_for_c(id);
        format!("static {heading}\n{{\n{body}}}\n{for_c}")
    }

    /// Writes the statements of a routine.
    pub(super) fn body(
        &mut self,
        id: RoutineId,
        is_operation: bool,
        write: impl FnOnce(&mut Self),
    ) -> String {
        let before = self.here.replace(Here {
            routine: id,
            is_operation,
        });
        let (text, ()) = self.apart(1, write);
        self.here = before;
        text
    }

    /// Copies parameters that the routine changes or gives back.
    fn copy_parameters(&mut self) {
        let Some(here) = self.here else { return };
        for id in &self.program.routine(here.routine).parameters {
            let formal = self.formal_name(*id);
            let name = self.variable_name(*id);
            if formal != name {
                self.own_parameter(*id, &formal);
            }
        }
    }

    /// Declares a parameter as a variable of its own: a copy of the value at `formal`, or OUT.
    pub(super) fn own_parameter(&mut self, id: VariableId, formal: &str) {
        let of = &self.program.variable(id).of;
        self.declare(id);
        if self.mode(id) == Mode::Out {
            return;
        }
        let name = self.variable_name(id);
        if self.is_plain(of.ty) {
            return self.line(format!("{name} = *{formal};"));
        }
        let descriptor = self.descriptor(of.ty);
        self.line(format!("orca_copy({descriptor}, &{name}, {formal});"));
    }

    /// Declares the local variables.
    pub(super) fn locals(&mut self) {
        let Some(here) = self.here else { return };
        for id in &self.program.routine(here.routine).locals {
            if self.program.variable(*id).kind == VariableKind::Local {
                self.declare(*id);
            }
        }
    }

    /// Declares a variable with its initial value. A copied IN parameter begins as zeros.
    fn declare(&mut self, id: VariableId) {
        let of = &self.program.variable(id).of;
        let (c_type, owned) = (self.c_type(of.ty), self.cleanup(of.ty));
        let name = self.variable_name(id);
        self.line(format!("{c_type} {name}{owned} = {{0}};"));
        let is_copy = self.program.variable(id).kind == VariableKind::Parameter(Mode::In);
        if !is_copy && self.sized_has_init(of) {
            self.init(&name, of);
        }
    }

    /// Ends a body without a RETURN.
    pub(super) fn end(&mut self, is_operation: bool) {
        let Some(here) = self.here else { return };
        let routine = self.program.routine(here.routine);
        if routine.result.is_some() {
            let (at, name) = (self.at(routine.end), string(routine.name.as_bytes()));
            return self.line(format!("orca_no_return({at}, {name}, {is_operation});"));
        }
        self.deliver();
        if is_operation {
            self.line("return ORCA_DONE;");
        }
    }

    /// Stores OUT parameters for the caller.
    pub(super) fn deliver(&mut self) {
        let Some(here) = self.here else { return };
        for id in &self.program.routine(here.routine).parameters {
            if self.mode(*id) != Mode::Out {
                continue;
            }
            let ty = self.program.variable(*id).of.ty;
            let name = self.variable_name(*id);
            let target = match here.is_operation {
                true => format!("call->{name}"),
                false => format!("(*a{})", id.0),
            };
            if self.is_plain(ty) {
                self.line(format!("{target} = {name};"));
            } else {
                let descriptor = self.descriptor(ty);
                self.line(format!("orca_move({descriptor}, &{target}, &{name});"));
            }
        }
    }

    /// Writes the initial code of an object or a data module.
    fn initial_code(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let body = self.body(id, false, |it| {
            it.bounds(routine.unit);
            it.locals();
            for alternative in routine.body.iter().flatten() {
                it.statements(&alternative.statements);
            }
        });
        let parameter = match self.program.unit(routine.unit).kind {
            UnitKind::Object => self.own_formal(routine.unit),
            _ => "void".into(),
        };
        format!("static void b{}({parameter})\n{{\n{body}}}\n", id.0)
    }

    fn process(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let body = self.body(id, false, |it| {
            for parameter in &routine.parameters {
                it.process_parameter(*parameter);
            }
            it.locals();
            for alternative in routine.body.iter().flatten() {
                it.statements(&alternative.statements);
            }
        });
        let name = self.routine_name(id);
        format!("static void {name}(struct orca_reader *arguments)\n{{\n{body}}}\n")
    }

    /// Reads a parameter from the bytes that FORK has sent.
    fn process_parameter(&mut self, id: VariableId) {
        let ty = self.program.variable(id).of.ty;
        let (c_type, owned) = (self.c_type(ty), self.cleanup(ty));
        let (name, descriptor) = (self.variable_name(id), self.descriptor(ty));
        if self.mode(id) == Mode::Shared {
            self.line(format!("{c_type} s{}{owned} = {{0}};", id.0));
            self.line(format!(
                "orca_get_shared({descriptor}, &s{}, arguments);",
                id.0
            ));
            return self.line(format!("{c_type} *const {name} = &s{};", id.0));
        }
        self.line(format!("{c_type} {name}{owned} = {{0}};"));
        self.line(format!(
            "orca_get_argument({descriptor}, &{name}, arguments);"
        ));
    }

    pub(super) fn fork(
        &mut self,
        process: RoutineId,
        arguments: &[Expr],
        on: Option<&Expr>,
        span: Span,
    ) {
        let parameters = self.parameters(process);
        let name = self.fresh();
        self.line(format!("struct orca_fork {name} = {{0}};"));
        let mut places = Vec::new();
        for ((mode, ty), argument) in parameters.iter().zip(arguments) {
            let descriptor = self.descriptor(*ty);
            if *mode == Mode::Shared {
                let place = self.place(argument);
                self.line(format!(
                    "orca_fork_shared(&{name}, {descriptor}, &{place});"
                ));
                places.push(format!("&{place}"));
            } else {
                let value = self.addressed(argument, *ty);
                self.line(format!(
                    "orca_put({descriptor}, &{value}, &{name}.arguments);"
                ));
            }
        }
        let cpu = on.map_or("-1".into(), |on| self.value(on));
        let has_cpu = u8::from(on.is_some());
        let (at, number) = (self.at(span), self.process_number(process));
        self.result(
            &format!("orca_fork_start({at}, &{name}, {number}, {has_cpu}, {cpu})"),
            None,
            Passed::default(),
        );
    }

    /// Returns the processes of the program, in the order of their numbers.
    pub(super) fn processes(&self) -> Vec<RoutineId> {
        let all = (0..self.program.routines.len() as u32).map(RoutineId);
        all.filter(|id| {
            let routine = self.program.routine(*id);
            routine.kind == RoutineKind::Process && !self.program.unit(routine.unit).is_abstract
        })
        .collect()
    }

    fn process_number(&self, id: RoutineId) -> usize {
        let processes = self.processes();
        processes
            .iter()
            .position(|it| *it == id)
            .unwrap_or_default()
    }

    /// Returns the C type of a result, or nothing.
    pub(super) fn result_of(&self, id: RoutineId) -> Option<TypeId> {
        self.program.routine(id).result.map(|(ty, _)| ty)
    }
}

//! Parts of the language that are not supported yet.

use antiphon_lang::{Diagnostic, Span};

use super::MOST_SHAPE;
use crate::effects::{for_each_expr, parts};
use crate::program::{
    Combination, Expr, ExprKind, Mode, Predefined, Program, Routine, RoutineKind, TypeId, TypeKind,
    Unit, UnitId, UnitKind, VariableId, VariableKind,
};

/// Returns the unsupported parts of a program.
pub(super) fn refused(program: &Program) -> Vec<Diagnostic> {
    let mut search = Search {
        program,
        found: Vec::new(),
    };
    for unit in program.units.iter().filter(|unit| !unit.is_abstract) {
        search.unit(unit);
    }
    for routine in &program.routines {
        if !program.unit(routine.unit).is_abstract {
            search.routine(routine);
        }
    }
    search.found
}

struct Search<'p> {
    program: &'p Program,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn refuse(&mut self, span: Span, message: &str, help: &str) {
        self.found.push(Diagnostic::error(span, message).help(help));
    }

    fn is_partitioned(&self, unit: UnitId) -> bool {
        self.program.unit(unit).shape.is_some()
    }

    fn has_partitioned(&self, ty: TypeId) -> bool {
        let is_one =
            |kind: &TypeKind| matches!(kind, TypeKind::Object(unit) if self.is_partitioned(*unit));
        self.program.has_part(ty, &is_one)
    }

    fn unit(&mut self, unit: &Unit) {
        if unit.shape.as_ref().is_some_and(|it| it.len() > MOST_SHAPE) {
            let message = "partitioned objects of more than three dimensions do not run yet";
            let help = "make the last dimensions an array within each element";
            self.refuse(unit.span, message, help);
        }
        let is_element = unit.shape.is_some();
        for id in &unit.variables {
            let variable = self.program.variable(*id);
            if is_element && self.program.has_objects(variable.of.ty) {
                let message = "objects within the elements of a partitioned object do not run yet";
                let help = "let the element have the number of an object in an array";
                self.refuse(variable.span, message, help);
            } else if self.has_partitioned(variable.of.ty) {
                let message = match unit.kind {
                    UnitKind::Data => "a partitioned object in a data module does not run yet",
                    _ => "a partitioned object within another object does not run yet",
                };
                let help = "declare it in a process or a function, and pass it as SHARED";
                self.refuse(variable.span, message, help);
            }
        }
    }

    fn routine(&mut self, routine: &Routine) {
        let variables = routine.parameters.iter().chain(&routine.locals);
        for id in variables {
            self.variable(routine, *id);
        }
        if routine.indices.is_some() {
            self.parallel(routine);
        }
        for alternative in routine.body.iter().flatten() {
            for_each_expr(&alternative.statements, &mut |expr| self.expr(expr));
        }
    }

    fn variable(&mut self, routine: &Routine, id: VariableId) {
        let variable = self.program.variable(id);
        if routine.kind == RoutineKind::Operation && self.has_partitioned(variable.of.ty) {
            let message = "a partitioned object in an operation does not run yet";
            let help = "declare it in a process or a function, and pass it as SHARED";
            self.refuse(variable.span, message, help);
        }
        let is_array = matches!(self.program.kind(variable.of.ty), TypeKind::Array { .. });
        if is_array && self.has_partitioned(variable.of.ty) && variable.of.bounds.len() > 1 {
            let message = "bounds of partitioned objects in an array do not run yet";
            let help = "leave them out, and assign an object with bounds to each element";
            self.refuse(variable.span, message, help);
        }
    }

    fn parallel(&mut self, routine: &Routine) {
        for (parameter, combination) in routine.parameters.iter().zip(&routine.combinations) {
            let variable = self.program.variable(*parameter);
            let is_out = variable.kind == VariableKind::Parameter(Mode::Out);
            match combination {
                Some(Combination::Gather) => {
                    let help = "make it the result of the operation: f(): GATHER type";
                    self.refuse(
                        variable.span,
                        "GATHER of an OUT parameter does not run yet",
                        help,
                    );
                }
                None if is_out => self.uncombined(variable.span),
                _ => {}
            }
        }
        if let Some((_, None)) = routine.result {
            self.uncombined(routine.span);
        }
    }

    fn uncombined(&mut self, span: Span) {
        let message = "each element gives a result, and nothing says how to combine them";
        self.refuse(
            span,
            message,
            "write REDUCE type WITH function, or GATHER type",
        );
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::State(base, _) if self.has_partitioned(base.ty) => {
                let message = "the state of another partitioned object is not reached by its name";
                self.refuse(expr.span, message, "call an operation that returns it");
            }
            ExprKind::Predefined(Predefined::Strategy, arguments)
                if self.has_partitioned(arguments[0].ty) =>
            {
                let message = "a partitioned object has no strategy";
                self.refuse(
                    expr.span,
                    message,
                    "distribute it: object$$distribute_on_n(..)",
                );
            }
            // The implementation tells, which may be checked after the directive.
            ExprKind::Direct(_, _, Some(id), _) if self.program.routine(*id).indices.is_none() => {
                let message = "a directive about dependencies names no parallel operation";
                let help = "sequential operations need none";
                self.refuse(expr.span, message, help);
            }
            ExprKind::Direct(_, name, ..) if name == "statistics" => {
                let message = "statistics of a partitioned object are not kept yet";
                self.refuse(expr.span, message, "leave the directive out");
            }
            _ => {}
        }
        for part in parts(expr) {
            self.expr(part);
        }
    }
}

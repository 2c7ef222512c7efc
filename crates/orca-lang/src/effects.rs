//! Effects of routines over the whole program: whether they write their object, may block, or do
//! input and output.
//!
//! Effects flow from callees to callers until nothing changes. So they do not depend on the order
//! in which units are checked.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_lang::Diagnostic;

use crate::program::{
    Effects, Expr, ExprKind, Mode, Predefined, Program, RoutineId, RoutineKind, Stat, StatKind,
    TypeId, UnitKind, VariableId, VariableKind,
};

/// Standard modules in C that do not read or write anything outside.
const PURE: [&str; 2] = ["Math", "conversions"];

/// Finds the effects of all routines.
pub(crate) fn analyse(program: &mut Program, diagnostics: &mut Vec<Diagnostic>) {
    let values = functions_as_values(program);
    for id in ids(program) {
        let routine = program.routine(id);
        let unit = program.unit(routine.unit);
        let is_outside = routine.body.is_none()
            && !unit.is_implemented
            && !unit.is_abstract
            && !PURE.contains(&unit.name.as_str());
        let writes_parameter = parameters(program, id)
            .map(|(_, mode)| mode == Mode::Out || (is_outside && mode == Mode::Shared))
            .collect();
        let effects = Effects {
            writes_parameter,
            does_io: is_outside,
            ..Effects::default()
        };
        program.routines[id.0 as usize].effects = effects;
    }
    loop {
        let mut has_changed = false;
        for id in ids(program) {
            let mut found = Walk::new(program, &values, id);
            found.routine();
            let (effects, alternatives) = (found.effects, found.alternatives);
            let routine = &mut program.routines[id.0 as usize];
            has_changed |= routine.effects != effects;
            routine.effects = effects;
            for (alternative, (writes, may_block)) in
                routine.body.iter_mut().flatten().zip(alternatives)
            {
                alternative.writes = writes;
                alternative.may_block = may_block;
            }
        }
        if !has_changed {
            break;
        }
    }
    warn_of_io(program, diagnostics);
    warn_of_copies(program, diagnostics);
}

fn ids(program: &Program) -> impl Iterator<Item = RoutineId> + use<> {
    (0..program.routines.len() as u32).map(RoutineId)
}

fn parameters(program: &Program, id: RoutineId) -> impl Iterator<Item = (VariableId, Mode)> {
    program.routine(id).parameters.iter().map(|id| {
        let mode = match program.variable(*id).kind {
            VariableKind::Parameter(mode) => mode,
            _ => Mode::In,
        };
        (*id, mode)
    })
}

/// Warns that objects whose operations do input or output have one copy.
fn warn_of_io(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    for id in ids(program) {
        let routine = program.routine(id);
        let unit = program.unit(routine.unit);
        let is_operation = routine.kind == RoutineKind::Operation
            && unit.kind == UnitKind::Object
            && unit.shape.is_none()
            && unit.initial != Some(id);
        if is_operation && routine.effects.does_io && routine.body.is_some() && !unit.is_abstract {
            let message = format!(
                "operation \"{}\" does input or output, or depends on its machine",
                routine.name
            );
            let help = format!(
                "objects of {} have one copy and are not replicated",
                unit.name
            );
            diagnostics.push(Diagnostic::warning(routine.span, message).help(help));
        }
    }
}

/// Warns of IN parameters with objects that a function or operation changes. The original's
/// compiler does not copy all of them, and old programs count on that.
fn warn_of_copies(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    if program.objects_by_reference {
        return;
    }
    for id in ids(program) {
        let writes = &program.routine(id).effects.writes_parameter;
        let written = parameters(program, id).zip(writes);
        for ((parameter, mode), is_written) in written {
            if *is_written && mode == Mode::In && program.original_refers(id, parameter) {
                let variable = program.variable(parameter);
                let message = format!(
                    "\"{}\" is a copy, and the caller's object does not change with it",
                    variable.name
                );
                let help = "pass it SHARED to a function, or give --objects-by-reference";
                diagnostics.push(Diagnostic::warning(variable.span, message).help(help));
            }
        }
    }
}

/// Returns the functions that are used as values, by their types. A call of a value may call each
/// of them.
fn functions_as_values(program: &Program) -> BTreeMap<RoutineId, TypeId> {
    let mut found = BTreeMap::new();
    for routine in &program.routines {
        for alternative in routine.body.iter().flatten() {
            alternative
                .guard
                .iter()
                .for_each(|guard| values_in(guard, &mut found));
            for_each_expr(&alternative.statements, &mut |expr| {
                values_in(expr, &mut found)
            });
        }
    }
    found
}

fn values_in(expr: &Expr, found: &mut BTreeMap<RoutineId, TypeId>) {
    if let ExprKind::Function(id) = expr.kind {
        found.insert(id, expr.ty);
    }
    for part in parts(expr) {
        values_in(part, found);
    }
}

/// Returns the direct subexpressions of an expression.
pub(crate) fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Field(base, _)
        | ExprKind::Tag(base)
        | ExprKind::State(base, _)
        | ExprKind::Unary(_, base) => vec![base],
        ExprKind::Element(base, rest)
        | ExprKind::CallValue(base, rest)
        | ExprKind::Invoke(base, _, rest)
        | ExprKind::Direct(base, _, _, rest) => std::iter::once(&**base).chain(rest).collect(),
        ExprKind::Node(one, other, _) | ExprKind::Binary(_, one, other) => vec![one, other],
        ExprKind::Call(_, all)
        | ExprKind::Predefined(_, all)
        | ExprKind::Members(all)
        | ExprKind::Elements(_, all) => all.iter().collect(),
        _ => Vec::new(),
    }
}

/// Adds to expressions all of their subexpressions.
pub(crate) fn with_parts(mut all: Vec<&Expr>) -> Vec<&Expr> {
    let mut next = 0;
    while next < all.len() {
        all.extend(parts(all[next]));
        next += 1;
    }
    all
}

/// Visits the outermost expressions of statements.
pub(crate) fn for_each_expr<'p>(statements: &'p [Stat], visit: &mut dyn FnMut(&'p Expr)) {
    for statement in statements {
        match &statement.kind {
            StatKind::Call(expr) => visit(expr),
            StatKind::Assign(target, _, value) => {
                visit(target);
                visit(value);
            }
            StatKind::Fork(_, arguments, on) => arguments.iter().chain(on).for_each(&mut *visit),
            StatKind::Exit => {}
            StatKind::Return(value) => value.iter().for_each(&mut *visit),
            StatKind::If(arms, otherwise) => {
                for (condition, statements) in arms {
                    visit(condition);
                    for_each_expr(statements, visit);
                }
                for_each_expr(otherwise, visit);
            }
            StatKind::Case(value, arms, otherwise) => {
                visit(value);
                arms.iter()
                    .for_each(|arm| for_each_expr(&arm.statements, visit));
                for_each_expr(otherwise.as_deref().unwrap_or_default(), visit);
            }
            StatKind::Repeat(statements, condition) => {
                for_each_expr(statements, visit);
                visit(condition);
            }
            StatKind::While(condition, statements) => {
                condition.iter().for_each(&mut *visit);
                for_each_expr(statements, visit);
            }
            StatKind::ForRange(_, low, high, statements) => {
                visit(low);
                visit(high);
                for_each_expr(statements, visit);
            }
            StatKind::ForEach(_, set, statements) => {
                visit(set);
                for_each_expr(statements, visit);
            }
            StatKind::Access(indices) => indices.iter().for_each(&mut *visit),
        }
    }
}

/// A walk through a routine.
struct Walk<'p> {
    program: &'p Program,
    values: &'p BTreeMap<RoutineId, TypeId>,
    id: RoutineId,
    effects: Effects,
    /// For each alternative: whether it writes, whether it may block.
    alternatives: Vec<(bool, bool)>,
    writes: bool,
    may_block: bool,
}

impl<'p> Walk<'p> {
    fn new(
        program: &'p Program,
        values: &'p BTreeMap<RoutineId, TypeId>,
        id: RoutineId,
    ) -> Walk<'p> {
        Walk {
            program,
            values,
            id,
            effects: program.routine(id).effects.clone(),
            alternatives: Vec::new(),
            writes: false,
            may_block: false,
        }
    }

    fn routine(&mut self) {
        let routine = self.program.routine(self.id);
        for alternative in routine.body.iter().flatten() {
            (self.writes, self.may_block) = (false, false);
            if let Some(guard) = &alternative.guard {
                self.expr(guard);
                self.effects.blocks = true;
            }
            self.statements(&alternative.statements);
            self.alternatives.push((self.writes, self.may_block));
            self.effects.writes_state |= self.writes;
            self.effects.blocks |= self.may_block;
        }
    }

    fn statements(&mut self, statements: &'p [Stat]) {
        let mut exprs = Vec::new();
        for_each_expr(statements, &mut |expr| exprs.push(expr));
        for expr in exprs {
            self.expr(expr);
        }
        let mut targets = Vec::new();
        assigned(statements, &mut targets);
        for target in targets {
            self.write(target);
        }
    }

    /// Records that a place is written.
    fn write(&mut self, place: &Expr) {
        let mut root = place;
        loop {
            root = match &root.kind {
                ExprKind::Field(base, _)
                | ExprKind::Element(base, _)
                | ExprKind::Node(base, ..)
                | ExprKind::State(base, _) => base,
                ExprKind::Itself => {
                    self.writes = true;
                    return;
                }
                _ => break,
            };
        }
        let ExprKind::Variable(id) = root.kind else {
            return;
        };
        match self.program.variable(id).kind {
            VariableKind::State => self.writes = true,
            VariableKind::Data => self.effects.writes_data = true,
            _ => {}
        }
        let parameter = self
            .program
            .routine(self.id)
            .parameters
            .iter()
            .position(|it| *it == id);
        let flag = parameter.and_then(|index| self.effects.writes_parameter.get_mut(index));
        if let Some(flag) = flag {
            *flag = true;
            // A read of a shared object would reach the caller's argument on some machines only.
            let is_operation = self.program.routine(self.id).kind == RoutineKind::Operation;
            self.writes |= is_operation && self.program.is_reference(self.id, id);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        for part in parts(expr) {
            self.expr(part);
        }
        match &expr.kind {
            ExprKind::Call(callee, arguments) => self.calls(*callee, arguments),
            ExprKind::CallValue(callee, arguments) => {
                self.effects.invokes = true;
                let values: BTreeSet<RoutineId> = self
                    .values
                    .iter()
                    .filter(|(_, ty)| self.program.is_same(**ty, callee.ty))
                    .map(|(id, _)| *id)
                    .collect();
                for id in values {
                    self.calls(id, arguments);
                }
            }
            ExprKind::Invoke(object, operation, arguments) => {
                self.effects.invokes = true;
                let effects = self.program.routine(*operation).effects.clone();
                self.may_block |= effects.blocks;
                self.effects.does_io |= effects.does_io;
                self.effects.writes_data |= effects.writes_data;
                if effects.writes_state {
                    self.write(object);
                }
                self.write_arguments(*operation, arguments);
            }
            ExprKind::Direct(object, ..) => self.write(object),
            ExprKind::Predefined(which, arguments) => self.predefined(*which, arguments),
            _ => {}
        }
    }

    fn predefined(&mut self, which: Predefined, arguments: &[Expr]) {
        match which {
            Predefined::Insert | Predefined::Delete => self.write(&arguments[1]),
            Predefined::From | Predefined::AddNode | Predefined::DeleteNode => {
                self.write(&arguments[0]);
            }
            Predefined::Read => {
                self.effects.does_io = true;
                arguments.iter().for_each(|it| self.write(it));
            }
            Predefined::Write | Predefined::WriteLine | Predefined::Mycpu => {
                self.effects.does_io = true;
            }
            _ => {}
        }
    }

    fn calls(&mut self, callee: RoutineId, arguments: &[Expr]) {
        let effects = self.program.routine(callee).effects.clone();
        self.may_block |= effects.blocks;
        self.effects.does_io |= effects.does_io;
        self.effects.writes_data |= effects.writes_data;
        self.effects.invokes |= effects.invokes;
        self.write_arguments(callee, arguments);
    }

    /// Records that a call writes its arguments.
    fn write_arguments(&mut self, callee: RoutineId, arguments: &[Expr]) {
        let writes = &self.program.routine(callee).effects.writes_parameter;
        let parameters = parameters(self.program, callee).zip(writes);
        for (argument, ((parameter, mode), writes)) in arguments.iter().zip(parameters) {
            // Else an IN parameter is the callee's own.
            let is_callers = mode != Mode::In
                || (self.program.is_reference(callee, parameter)
                    && self.program.passes_reference(self.id, argument));
            if *writes && is_callers {
                self.write(argument);
            }
        }
    }
}

/// Collects the targets of assignments.
fn assigned<'p>(statements: &'p [Stat], targets: &mut Vec<&'p Expr>) {
    for statement in statements {
        match &statement.kind {
            StatKind::Assign(target, ..) => targets.push(target),
            StatKind::If(arms, otherwise) => {
                arms.iter()
                    .for_each(|(_, statements)| assigned(statements, targets));
                assigned(otherwise, targets);
            }
            StatKind::Case(_, arms, otherwise) => {
                arms.iter()
                    .for_each(|arm| assigned(&arm.statements, targets));
                assigned(otherwise.as_deref().unwrap_or_default(), targets);
            }
            StatKind::Repeat(statements, _)
            | StatKind::While(_, statements)
            | StatKind::ForRange(_, _, _, statements)
            | StatKind::ForEach(_, _, statements) => assigned(statements, targets),
            _ => {}
        }
    }
}

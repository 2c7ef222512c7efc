//! Statements.

use antiphon_lang::Span;

use super::Checker;
use super::scope::{Scope, Symbol};
use crate::program::{
    Binary, CaseArm, Expr, ExprKind, Mode, Stat, StatKind, TypeKind, Value, VariableKind,
};
use crate::syntax::{
    Arm, Expression, ExpressionKind, Name, Qualified, RoutineKind, Statement, StatementKind,
};

impl Checker<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Vec<Stat> {
        statements
            .iter()
            .filter_map(|it| self.statement(it))
            .collect()
    }

    fn statement(&mut self, statement: &Statement) -> Option<Stat> {
        let span = statement.span;
        let kind = match &statement.kind {
            StatementKind::Call(call) => self.call_statement(call)?,
            StatementKind::Assign(target, operator, value) => {
                self.assign(target, *operator, value, span)
            }
            StatementKind::Fork(process, arguments, on) => {
                self.fork(process, arguments, on.as_ref(), span)?
            }
            StatementKind::Exit => {
                if self.here.loops == 0 {
                    let help = "EXIT ends a loop; RETURN ends the routine";
                    self.error_help(span, "EXIT is not in a loop", help);
                }
                StatKind::Exit
            }
            StatementKind::Return(value) => self.return_statement(value.as_ref(), span),
            StatementKind::If(arms, otherwise) => {
                let arms = arms.iter().map(|(condition, statements)| {
                    (self.condition(condition), self.statements(statements))
                });
                let arms = arms.collect();
                StatKind::If(
                    arms,
                    self.statements(otherwise.as_deref().unwrap_or_default()),
                )
            }
            StatementKind::Case(value, arms, otherwise) => {
                self.case(value, arms, otherwise.as_deref())
            }
            StatementKind::Repeat(statements, condition) => {
                let statements = self.looped(statements);
                StatKind::Repeat(statements, self.condition(condition))
            }
            StatementKind::While(condition, statements) => {
                let condition = condition.as_ref().map(|it| self.condition(it));
                StatKind::While(condition, self.looped(statements))
            }
            StatementKind::For(name, low, high, statements) => {
                self.for_statement(name, low, high.as_ref(), statements)
            }
            StatementKind::Access(indices) => StatKind::Access(self.access(indices, span)),
        };
        Some(Stat { kind, span })
    }

    fn looped(&mut self, statements: &[Statement]) -> Vec<Stat> {
        self.here.loops += 1;
        let checked = self.statements(statements);
        self.here.loops -= 1;
        checked
    }

    fn call_statement(&mut self, call: &Expression) -> Option<StatKind> {
        let span = call.span;
        let (checked, has_result, what) = match &call.kind {
            ExpressionKind::Call(callee, arguments) => {
                let (call, has_result) = self.call(callee, arguments, span);
                (call, has_result, "function")
            }
            ExpressionKind::Invoke(object, operation, arguments) => {
                let (call, has_result) = self.invoke(object, operation, arguments, span);
                (call, has_result, "operation")
            }
            ExpressionKind::Direct(object, directive, arguments) => (
                self.direct(object, directive, arguments, span),
                false,
                "directive",
            ),
            _ => (self.expression(call), true, "function"),
        };
        if has_result && !matches!(checked.kind, ExprKind::Wrong) {
            let message = format!("unexpected {what} result: nothing is done with it");
            self.error_help(span, message, "assign it to a variable");
            return None;
        }
        Some(StatKind::Call(checked))
    }

    fn assign(
        &mut self,
        target: &Expression,
        operator: Option<Binary>,
        value: &Expression,
        span: Span,
    ) -> StatKind {
        let errors = self.error_count();
        let target = self.place(target);
        let value = self.expression(value);
        if self.error_count() > errors {
            return StatKind::Assign(target, operator, value);
        }
        let given = match operator {
            Some(operator) => self.combine(operator, target.clone(), value.clone(), span),
            None => value.clone(),
        };
        if self.error_count() == errors && !self.program.fits(target.ty, given.ty) {
            let message = format!(
                "type incompatibility in assignment: the target is {}, the value {}",
                self.name_of(target.ty),
                self.name_of(given.ty)
            );
            self.mismatch(span, message, target.ty, given.ty);
        }
        StatKind::Assign(target, operator, value)
    }

    fn fork(
        &mut self,
        process: &Qualified,
        arguments: &[Expression],
        on: Option<&Expression>,
        span: Span,
    ) -> Option<StatKind> {
        let kind = self.here.routine.map(|id| self.program.routine(id).kind);
        if kind != Some(RoutineKind::Process) {
            let help = "functions and operations start no processes";
            self.error_help(span, "FORK is only allowed within a process", help);
            return None;
        }
        let symbol = self.qualified_symbol(process);
        let last = &process[process.len() - 1];
        let id = match symbol {
            Symbol::Routine(id) if self.program.routine(id).kind == RoutineKind::Process => id,
            Symbol::Wrong => return None,
            other => {
                let message = format!(
                    "a process is expected, and \"{}\" is {}",
                    last.text,
                    self.words(&other)
                );
                self.error(last.span, message);
                return None;
            }
        };
        let headings = self.headings(id);
        let arguments = self.arguments(&last.text, &headings, arguments, span);
        let shared = headings.iter().zip(&arguments);
        let shared = shared.filter(|(heading, _)| heading.mode == Mode::Shared);
        self.program
            .shared
            .extend(shared.filter_map(|(_, it)| it.root()));
        let on = on.map(|on| {
            let checked = self.expression(on);
            if !self.program.is_integer(checked.ty) {
                let message = "an integer expression is expected behind ON";
                self.error(on.span, message);
            }
            checked
        });
        Some(StatKind::Fork(id, arguments, on))
    }

    fn return_statement(&mut self, value: Option<&Expression>, span: Span) -> StatKind {
        self.here.returns += 1;
        let routine = self.here.routine.map(|id| self.program.routine(id));
        let result = routine.and_then(|routine| routine.result);
        let name = routine
            .map(|routine| routine.name.clone())
            .unwrap_or_default();
        match (value, result) {
            (Some(value), Some((ty, combination))) => {
                use crate::program::Combination;
                let ty = match (combination, self.program.kind(ty)) {
                    (Some(Combination::Gather), TypeKind::Array { element, .. }) => *element,
                    _ => ty,
                };
                StatKind::Return(Some(self.value_of(value, ty, "RETURN")))
            }
            (None, Some(_)) => {
                self.error(span, format!("\"{name}\" must return a value"));
                StatKind::Return(None)
            }
            (Some(value), None) => {
                self.expression(value);
                let message = format!("\"{name}\" has no result, and returns a value");
                self.error_help(
                    span,
                    message,
                    "write the type of the result behind the parameters",
                );
                StatKind::Return(None)
            }
            (None, None) => StatKind::Return(None),
        }
    }

    fn case(
        &mut self,
        value: &Expression,
        arms: &[Arm],
        otherwise: Option<&[Statement]>,
    ) -> StatKind {
        let mut value = self.expression(value);
        if !self.program.is_discrete(value.ty) {
            let message = format!("values of {} do not select in CASE", self.name_of(value.ty));
            self.error(value.span, message);
            value.ty = self.known.error;
        }
        let mut seen: Vec<(i64, i64)> = Vec::new();
        let mut checked = Vec::new();
        for arm in arms {
            let mut labels = Vec::new();
            for (low, high) in &arm.labels {
                let span = low.span;
                let low = self.discrete_constant(low, value.ty);
                let high = match high {
                    Some(high) => self.discrete_constant(high, value.ty),
                    None => low,
                };
                let (Some(low), Some(high)) = (low, high) else {
                    continue;
                };
                if low > high {
                    let message = format!("the range {low}..{high} is empty");
                    self.warn(span, message, "write the smaller value first");
                }
                if let Some(twice) = seen.iter().find(|(l, h)| low <= *h && *l <= high) {
                    let number = low.max(twice.0);
                    self.error(span, format!("multiple case entry for value {number}"));
                }
                seen.push((low, high));
                labels.push((low, high));
            }
            let statements = self.statements(&arm.statements);
            checked.push(CaseArm { labels, statements });
        }
        StatKind::Case(
            value,
            checked,
            otherwise.map(|statements| self.statements(statements)),
        )
    }

    fn for_statement(
        &mut self,
        name: &Name,
        low: &Expression,
        high: Option<&Expression>,
        statements: &[Statement],
    ) -> StatKind {
        let low = self.expression(low);
        let high = high.map(|high| self.expression(high));
        let ty = match &high {
            None => match *self.program.kind(low.ty) {
                TypeKind::Set(of) | TypeKind::Bag(of) => of,
                TypeKind::Error => self.known.error,
                _ => {
                    let message = format!(
                        "FOR runs over ranges, sets and bags, not over {}",
                        self.name_of(low.ty)
                    );
                    self.error(low.span, message);
                    self.known.error
                }
            },
            Some(high) => {
                let (a, b) = (low.ty, high.ty);
                let fits = self.program.fits(a, b) && self.program.is_discrete(a);
                if !fits {
                    let message = format!(
                        "FOR runs from and to a value of one type: {} and {}",
                        self.name_of(a),
                        self.name_of(b)
                    );
                    self.error(low.span, message);
                }
                if let (
                    ExprKind::Constant(Value::Integer(first)),
                    ExprKind::Constant(Value::Integer(last)),
                ) = (&low.kind, &high.kind)
                    && first > last
                {
                    let help = "the loop is never entered";
                    self.warn(
                        low.span,
                        format!("the range {first}..{last} is empty"),
                        help,
                    );
                }
                match (self.program.kind(a), self.program.kind(b)) {
                    _ if !fits => self.known.error,
                    // The variable has all values up to the last one.
                    (TypeKind::Integer(one), TypeKind::Integer(other)) if other > one => b,
                    _ => a,
                }
            }
        };
        let hidden = self
            .scopes
            .iter()
            .skip(3)
            .find_map(|scope| scope.names.get(&name.text));
        if let Some(Symbol::Variable(_)) = hidden.map(|named| &named.symbol) {
            let message = format!("loop variable \"{}\" hides another variable", name.text);
            self.warn(name.span, message, "the loop has a variable of its own");
        }
        let id = self.add_variable(name, VariableKind::Loop, Self::plain(ty));
        if let Some(routine) = self.here.routine {
            self.program.routines[routine.0 as usize].locals.push(id);
        }
        self.scopes.push(Scope::default());
        self.declare(name, Symbol::Variable(id));
        let statements = self.looped(statements);
        self.scopes.pop();
        match high {
            Some(high) => StatKind::ForRange(id, low, high, statements),
            None => StatKind::ForEach(id, low, statements),
        }
    }

    fn access(&mut self, indices: &[Expression], span: Span) -> Vec<Expr> {
        let unit = self.here.unit.map(|unit| self.program.unit(unit));
        let shape = unit.and_then(|unit| unit.shape.clone()).unwrap_or_default();
        if shape.len() != indices.len() {
            let message = format!("{} indices for {} dimensions", indices.len(), shape.len());
            self.error(span, message);
            return self.values(indices);
        }
        let pairs = indices.iter().zip(shape);
        pairs
            .map(|(index, ty)| self.value_of(index, ty, "ACCESS"))
            .collect()
    }
}

//! Expressions and designators.

use antiphon_lang::Span;

use super::Checker;
use super::scope::Symbol;
use crate::program::{
    Expr, ExprKind, Predefined, TypeId, TypeKind, Value, VariableId, VariableKind,
};
use crate::syntax::{Expression, ExpressionKind, RoutineKind};

impl Checker<'_> {
    pub(super) fn wrong(&self, span: Span) -> Expr {
        Expr {
            kind: ExprKind::Wrong,
            ty: self.known.error,
            span,
        }
    }

    pub(super) fn constant_expr(&self, value: Value, ty: TypeId, span: Span) -> Expr {
        Expr {
            kind: ExprKind::Constant(value),
            ty,
            span,
        }
    }

    /// Checks an expression that must have a value.
    pub(super) fn expression(&mut self, expression: &Expression) -> Expr {
        let span = expression.span;
        let known = &self.known;
        match &expression.kind {
            ExpressionKind::Integer(value) => {
                self.constant_expr(Value::Integer(i64::from(*value)), known.integer, span)
            }
            ExpressionKind::Real(value) => {
                self.constant_expr(Value::Real(*value), known.real, span)
            }
            ExpressionKind::Character(value) => {
                self.constant_expr(Value::Integer(i64::from(*value)), known.char, span)
            }
            ExpressionKind::Text(text) => {
                self.constant_expr(Value::Text(text.clone()), known.string, span)
            }
            ExpressionKind::Name(_)
            | ExpressionKind::Select(..)
            | ExpressionKind::Index(..)
            | ExpressionKind::Follow(..) => {
                let designator = self.designator(expression);
                self.check_indexed(&designator);
                designator
            }
            ExpressionKind::Call(callee, arguments) => {
                let (call, has_result) = self.call(callee, arguments, span);
                self.needs_result(call, has_result, "function")
            }
            ExpressionKind::Invoke(object, operation, arguments) => {
                let (call, has_result) = self.invoke(object, operation, arguments, span);
                self.needs_result(call, has_result, "operation")
            }
            ExpressionKind::Direct(object, directive, arguments) => {
                self.direct(object, directive, arguments, span);
                self.error(span, "a directive has no result");
                self.wrong(span)
            }
            ExpressionKind::From(arguments) => {
                self.predefined(Predefined::From, arguments, span, span).0
            }
            ExpressionKind::Members(ty, members) => self.members(ty, members, span),
            ExpressionKind::Rows(ty, rows) => self.rows(ty, rows, span),
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand, span),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, span)
            }
        }
    }

    fn needs_result(&mut self, call: Expr, has_result: bool, what: &str) -> Expr {
        if has_result {
            return call;
        }
        let message = format!("a value is expected, and this {what} has no result");
        self.error_help(call.span, message, "call it as a statement");
        self.wrong(call.span)
    }

    /// Checks an expression that is assigned to a place of a type.
    pub(super) fn value_of(&mut self, value: &Expression, ty: TypeId, what: &str) -> Expr {
        let checked = self.expression(value);
        if !self.program.fits(ty, checked.ty) {
            let message = format!(
                "type incompatibility in {what}: {} is expected, this is {}",
                self.name_of(ty),
                self.name_of(checked.ty)
            );
            self.mismatch(value.span, message, ty, checked.ty);
        }
        checked
    }

    /// Checks a condition.
    pub(super) fn condition(&mut self, condition: &Expression) -> Expr {
        let checked = self.expression(condition);
        if !matches!(
            self.program.kind(checked.ty),
            TypeKind::Boolean | TypeKind::Error
        ) {
            let message = format!(
                "a boolean expression is expected, this is {}",
                self.name_of(checked.ty)
            );
            self.error(condition.span, message);
        }
        checked
    }

    pub(super) fn designator(&mut self, expression: &Expression) -> Expr {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Name(_) => {
                let symbol = self.symbol_of(expression).unwrap_or(Symbol::Wrong);
                self.symbol_value(symbol, span)
            }
            ExpressionKind::Select(base, field) => {
                if let ExpressionKind::Name(name) = &base.kind
                    && let Some(Symbol::Unit(unit)) = self.find(name)
                {
                    let symbol = self.exported(unit, field);
                    return self.symbol_value(symbol, span);
                }
                self.field(base, field, span)
            }
            ExpressionKind::Index(base, indices) => {
                let base = self.designator(base);
                self.element(base, indices, span)
            }
            ExpressionKind::Follow(..) => {
                self.error_help(
                    span,
                    "a node is no value",
                    "select a field of it: graph!name.field",
                );
                self.wrong(span)
            }
            _ => self.expression(expression),
        }
    }

    fn symbol_value(&mut self, symbol: Symbol, span: Span) -> Expr {
        match symbol {
            Symbol::Constant(value, ty) => self.constant_expr(value, ty, span),
            Symbol::Variable(id) => self.variable(id, span),
            Symbol::Routine(id) => {
                let routine = self.program.routine(id);
                if routine.kind == RoutineKind::Process {
                    self.error(span, "a process is no value");
                    return self.wrong(span);
                }
                if self.program.unit(routine.unit).kind == crate::syntax::UnitKind::Data {
                    self.error(span, "a function of a data module is no value");
                }
                let ty = self.type_of_routine(id);
                Expr {
                    kind: ExprKind::Function(id),
                    ty,
                    span,
                }
            }
            Symbol::Nil => Expr {
                kind: ExprKind::Nil,
                ty: self.known.nil,
                span,
            },
            Symbol::Predefined(predefined) => {
                let name = predefined.name();
                let message = format!("\"{name}\" is called with parentheses");
                self.error_help(span, message, format!("write {name}(..)"));
                self.wrong(span)
            }
            Symbol::Itself => {
                let help = "SELF$operation(..) calls another operation of the object";
                self.error_help(span, "SELF is no value", help);
                self.wrong(span)
            }
            Symbol::Type(_) | Symbol::Unit(_) => {
                let message = format!("this is {}, and a value is expected", self.words(&symbol));
                self.error(span, message);
                self.wrong(span)
            }
            Symbol::Wrong => self.wrong(span),
        }
    }

    pub(super) fn variable(&mut self, id: VariableId, span: Span) -> Expr {
        let variable = self.program.variable(id);
        let ty = variable.of.ty;
        let is_hidden = match variable.kind {
            VariableKind::State => !self.sees_state(),
            VariableKind::Index => self.here.routine.is_some() && !self.sees_state(),
            _ => false,
        };
        if is_hidden {
            let message = format!("\"{}\" is a part of the object's state", variable.name);
            let help = "only operations and initial code see it: pass it as a parameter";
            self.error_help(span, message, help);
        }
        Expr {
            kind: ExprKind::Variable(id),
            ty,
            span,
        }
    }
}

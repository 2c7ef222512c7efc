//! Constants: expressions with a value at compile time.

use antiphon_lang::Span;

use super::Checker;
use crate::program::{Binary, Expr, ExprKind, TypeId, TypeKind, Unary, Value, Width};
use crate::syntax::Expression;

impl Checker<'_> {
    /// Returns value and type of a constant expression.
    pub(super) fn constant(&mut self, expression: &Expression) -> Option<(Value, TypeId)> {
        let expr = self.expression(expression);
        if self.program.is_error(expr.ty) {
            return None;
        }
        match expr.kind {
            ExprKind::Constant(value) => Some((value, expr.ty)),
            _ => {
                self.error(expression.span, "a constant expression is expected");
                None
            }
        }
    }

    pub(super) fn constant_declaration(&mut self, value: &Expression) -> (Option<Value>, TypeId) {
        match self.constant(value) {
            Some((value, ty)) => (Some(value), ty),
            None => (None, self.known.error),
        }
    }

    /// Returns the number of a constant in a label or tag.
    pub(super) fn discrete_constant(&mut self, value: &Expression, of: TypeId) -> Option<i64> {
        let (constant, ty) = self.constant(value)?;
        if !self.program.fits(of, ty) {
            let message = format!(
                "type incompatibility: a value of {} is expected, this is {}",
                self.name_of(of),
                self.name_of(ty)
            );
            self.mismatch(value.span, message, of, ty);
            return None;
        }
        match constant {
            Value::Integer(value) => Some(value),
            _ => None,
        }
    }

    /// Returns an integer wrapped to the width of a type.
    pub(super) fn wrap(&self, value: i64, ty: TypeId) -> i64 {
        match self.program.kind(ty) {
            TypeKind::Integer(Width::Short) => i64::from(value as i16),
            TypeKind::Integer(Width::Normal) => i64::from(value as i32),
            _ => value,
        }
    }

    /// Computes an operator on a constant.
    pub(super) fn fold_unary(&self, operator: Unary, operand: &Expr, ty: TypeId) -> Option<Value> {
        let ExprKind::Constant(value) = &operand.kind else {
            return None;
        };
        Some(match (operator, value) {
            (Unary::Plus, value) => value.clone(),
            (Unary::Minus, Value::Integer(value)) => {
                Value::Integer(self.wrap(value.wrapping_neg(), ty))
            }
            (Unary::Minus, Value::Real(value)) => Value::Real(-value),
            (Unary::Not, Value::Integer(value)) => Value::Integer(1 - value),
            (Unary::Complement, Value::Integer(value)) => Value::Integer(!value),
            _ => return None,
        })
    }

    /// Computes an operator on constants. A division by zero is left to the run-time, but one of
    /// real numbers is reported.
    pub(super) fn fold_binary(
        &mut self,
        operator: Binary,
        (left, right): (&Expr, &Expr),
        ty: TypeId,
        span: Span,
    ) -> Option<Value> {
        let (ExprKind::Constant(left), ExprKind::Constant(right)) = (&left.kind, &right.kind)
        else {
            return None;
        };
        match (left, right) {
            (Value::Integer(a), Value::Integer(b)) => {
                self.fold_integers(operator, *a, *b, ty, span)
            }
            (Value::Real(a), Value::Real(b)) => {
                if operator == Binary::Divide && *b == 0.0 {
                    self.error(span, "division by 0.0");
                    return None;
                }
                fold_reals(operator, *a, *b)
            }
            (Value::Text(a), Value::Text(b)) => match operator {
                Binary::Equal => Some(Value::Integer(i64::from(a == b))),
                Binary::NotEqual => Some(Value::Integer(i64::from(a != b))),
                _ => None,
            },
            _ => None,
        }
    }

    fn fold_integers(
        &mut self,
        operator: Binary,
        a: i64,
        b: i64,
        ty: TypeId,
        span: Span,
    ) -> Option<Value> {
        let is = |holds: bool| Some(Value::Integer(i64::from(holds)));
        // Only the low bits of a shift count matter, as at run time.
        let mask = match self.program.kind(ty) {
            TypeKind::Integer(Width::Long) => 63,
            _ => 31,
        };
        let value = match operator {
            Binary::Add => a.wrapping_add(b),
            Binary::Subtract => a.wrapping_sub(b),
            Binary::Multiply => a.wrapping_mul(b),
            Binary::Divide if b != 0 => a.wrapping_div(b),
            Binary::Modulo if b > 0 => a % b,
            Binary::BitOr | Binary::Or => a | b,
            Binary::BitAnd | Binary::And => a & b,
            Binary::BitXor => a ^ b,
            Binary::ShiftLeft => a.wrapping_shl(b as u32 & mask),
            Binary::ShiftRight => a.wrapping_shr(b as u32 & mask),
            Binary::Equal => return is(a == b),
            Binary::NotEqual => return is(a != b),
            Binary::Less => return is(a < b),
            Binary::LessEqual => return is(a <= b),
            Binary::Greater => return is(a > b),
            Binary::GreaterEqual => return is(a >= b),
            Binary::Divide | Binary::Modulo | Binary::In => return None,
        };
        let wrapped = self.wrap(value, ty);
        let is_arithmetic = matches!(operator, Binary::Add | Binary::Subtract | Binary::Multiply);
        if wrapped != value && is_arithmetic {
            let help = "integers have 32 bits; a longint variable makes the sum one of 64";
            self.warn(
                span,
                format!("overflow in a constant: this becomes {wrapped}"),
                help,
            );
        }
        Some(Value::Integer(wrapped))
    }
}

fn fold_reals(operator: Binary, a: f64, b: f64) -> Option<Value> {
    let is = |holds: bool| Some(Value::Integer(i64::from(holds)));
    Some(Value::Real(match operator {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Equal => return is(a == b),
        Binary::NotEqual => return is(a != b),
        Binary::Less => return is(a < b),
        Binary::LessEqual => return is(a <= b),
        Binary::Greater => return is(a > b),
        Binary::GreaterEqual => return is(a >= b),
        _ => return None,
    }))
}

//! Operators and the types of their results.

use antiphon_lang::Span;

use super::Checker;
use crate::program::{Binary, Expr, ExprKind, Restriction, TypeId, TypeKind, Unary, Width};
use crate::syntax::Expression;

impl Checker<'_> {
    pub(super) fn unary(&mut self, operator: Unary, operand: &Expression, span: Span) -> Expr {
        let checked = self.expression(operand);
        let kind = self.program.kind(checked.ty).clone();
        let (fits, sign) = match operator {
            Unary::Plus | Unary::Minus => (self.program.is_numeric(checked.ty), "a sign"),
            Unary::Not => (matches!(kind, TypeKind::Boolean | TypeKind::Error), "NOT"),
            Unary::Complement => (self.program.is_integer(checked.ty), "~"),
        };
        if !fits {
            let message = format!(
                "illegal operand type in {sign}: {}",
                self.name_of(checked.ty)
            );
            self.error(span, message);
            return self.wrong(span);
        }
        let ty = match kind {
            TypeKind::Integer(Width::Short) => self.known.integer,
            _ => checked.ty,
        };
        let kind = match self.fold_unary(operator, &checked, ty) {
            Some(value) => ExprKind::Constant(value),
            None => ExprKind::Unary(operator, Box::new(checked)),
        };
        Expr { kind, ty, span }
    }

    /// Checks an operator between its operands.
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Expr {
        let left = self.expression(left);
        let right = self.expression(right);
        self.combine(operator, left, right, span)
    }

    /// Combines checked operands.
    pub(super) fn combine(
        &mut self,
        operator: Binary,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if self.program.is_error(left.ty) || self.program.is_error(right.ty) {
            return self.wrong_result(operator, span);
        }
        let Some(ty) = self.result_type(operator, left.ty, right.ty) else {
            let message = format!(
                "illegal operand type(s) in {}: {} and {}",
                operator.text(),
                self.name_of(left.ty),
                self.name_of(right.ty)
            );
            match self.operand_help(operator, left.ty, right.ty) {
                Some(help) => self.error_help(span, message, help),
                None => self.error(span, message),
            }
            return self.wrong_result(operator, span);
        };
        let kind = match self.fold_binary(operator, (&left, &right), ty, span) {
            Some(value) => ExprKind::Constant(value),
            None => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
        };
        Expr { kind, ty, span }
    }

    /// Returns a faulty operation. Relations are boolean whatever their operands.
    fn wrong_result(&self, operator: Binary, span: Span) -> Expr {
        let wrong = self.wrong(span);
        match operator.is_relation() {
            true => Expr {
                ty: self.known.boolean,
                ..wrong
            },
            false => wrong,
        }
    }

    fn operand_help(&self, operator: Binary, left: TypeId, right: TypeId) -> Option<&'static str> {
        let kinds = (self.program.kind(left), self.program.kind(right));
        match (operator, kinds) {
            (Binary::And | Binary::Or, _) => {
                Some("AND and OR bind tighter than relations: write (a = b) AND c")
            }
            (_, (TypeKind::Integer(_), TypeKind::Real(_)))
            | (_, (TypeKind::Real(_), TypeKind::Integer(_))) => {
                Some("integers and reals do not mix: write FLOAT(n), 1.0 or TRUNC(x)")
            }
            (_, (TypeKind::Object(_), _)) => Some("objects are compared by what operations tell"),
            (Binary::Add, (TypeKind::Array { .. }, _)) => {
                Some("there is no operator that joins strings")
            }
            _ => None,
        }
    }

    /// Returns the type of an operator's result; `None` if it is not defined for these operands.
    fn result_type(&self, operator: Binary, left: TypeId, right: TypeId) -> Option<TypeId> {
        use Binary::{
            Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterEqual, In, Less,
            LessEqual, Modulo, Multiply, NotEqual, Or, ShiftLeft, ShiftRight, Subtract,
        };
        let program = &self.program;
        let (a, b) = (program.kind(left), program.kind(right));
        let boolean = self.known.boolean;
        let is_same = program.is_same(left, right);
        match operator {
            Add | Subtract | Multiply | Divide => match (a, b) {
                (TypeKind::Integer(a), TypeKind::Integer(b)) => Some(self.integer(*a.max(b))),
                (TypeKind::Real(Width::Short), TypeKind::Real(Width::Short)) => Some(left),
                (TypeKind::Real(_), TypeKind::Real(_)) => Some(self.known.real),
                (TypeKind::Set(_), TypeKind::Set(_)) | (TypeKind::Bag(_), TypeKind::Bag(_)) => {
                    is_same.then_some(left)
                }
                (TypeKind::Parameter(Restriction::Numeric), _) => is_same.then_some(left),
                _ => None,
            },
            Modulo | BitOr | BitAnd | BitXor | ShiftLeft | ShiftRight => match (a, b) {
                (TypeKind::Integer(a), TypeKind::Integer(b)) => Some(self.integer(*a.max(b))),
                _ => None,
            },
            And | Or => {
                let are_booleans = matches!((a, b), (TypeKind::Boolean, TypeKind::Boolean));
                are_booleans.then_some(boolean)
            }
            Equal | NotEqual => {
                let fits = program.fits(left, right) || program.fits(right, left);
                let here = self.here.unit;
                let are_equal =
                    program.has_equality(left, here) && program.has_equality(right, here);
                (fits && are_equal).then_some(boolean)
            }
            Less | LessEqual | Greater | GreaterEqual => {
                let fits = program.fits(left, right) && program.fulfils(left, Restriction::Scalar);
                fits.then_some(boolean)
            }
            In => match b {
                TypeKind::Set(of) | TypeKind::Bag(of) => program.fits(*of, left).then_some(boolean),
                _ => None,
            },
        }
    }

    /// Returns the type of an integer result, which is computed in 32 bits at least.
    fn integer(&self, width: Width) -> TypeId {
        match width {
            Width::Long => self.known.longint,
            _ => self.known.integer,
        }
    }
}

//! Operators on values with known C types.

use super::Emitter;
use crate::program::{Binary, TypeId, TypeKind, Width};

impl Emitter<'_> {
    /// Returns an operator applied to two values, each with its type.
    pub(super) fn operator(
        &mut self,
        operator: Binary,
        (left, of): (&str, TypeId),
        (right, other): (&str, TypeId),
        result: TypeId,
        at: &str,
    ) -> String {
        use Binary::{
            Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterEqual, In, Less,
            LessEqual, Modulo, Multiply, NotEqual, Or, ShiftLeft, ShiftRight, Subtract,
        };
        let program = self.program;
        if matches!(program.kind(of), TypeKind::Set(_) | TypeKind::Bag(_))
            && matches!(operator, Add | Subtract | Multiply | Divide)
        {
            return self.combined(operator, left, right, of, at);
        }
        let bits = match program.kind(result) {
            TypeKind::Integer(Width::Long) => 64,
            _ => 32,
        };
        let is_real = matches!(program.kind(result), TypeKind::Real(_));
        let is_short_real = matches!(program.kind(result), TypeKind::Real(Width::Short));
        match operator {
            // Two long integers of different widths are computed in the wider one.
            Add | Subtract | Multiply | BitAnd | BitOr | BitXor => {
                format!("({left} {} {right})", operator.text())
            }
            Divide if is_short_real => format!("((float)orca_divide({at}, {left}, {right}))"),
            Divide if is_real => format!("orca_divide({at}, {left}, {right})"),
            Divide => format!("orca_div{bits}({at}, {left}, {right})"),
            Modulo => format!("orca_mod{bits}({at}, {left}, {right})"),
            ShiftLeft => format!("orca_shl{bits}({left}, {right})"),
            ShiftRight => format!("orca_shr{bits}({left}, {right})"),
            And => format!("({left} && {right})"),
            Or => format!("({left} || {right})"),
            Equal => self.equality(left, right, of),
            NotEqual => format!("(!{})", self.equality(left, right, of)),
            Less | LessEqual | Greater | GreaterEqual => {
                format!("({left} {} {right})", operator.text())
            }
            In => self.membership(left, of, right, other),
        }
    }

    fn equality(&mut self, left: &str, right: &str, of: TypeId) -> String {
        match self.program.kind(of) {
            TypeKind::NodeName { .. } | TypeKind::Nil => {
                let one = self.temporary(of, left);
                let other = self.temporary(of, right);
                format!("ORCA_SAME_NODE({one}, {other})")
            }
            _ if self.is_scalar(of) => format!("({left} == {right})"),
            _ => {
                let descriptor = self.descriptor(of);
                format!("orca_equal({descriptor}, &{left}, &{right})")
            }
        }
    }

    fn membership(&mut self, member: &str, of: TypeId, set: &str, ty: TypeId) -> String {
        let descriptor = self.descriptor(ty);
        let element = match self.program.kind(ty) {
            TypeKind::Set(element) | TypeKind::Bag(element) => *element,
            _ => of,
        };
        let member = match self.is_scalar(element) {
            true => self.temporary(element, member),
            false => member.to_owned(),
        };
        format!("orca_set_has({descriptor}, &{set}, &{member})")
    }

    /// Combines two sets or bags.
    fn combined(
        &mut self,
        operator: Binary,
        left: &str,
        right: &str,
        of: TypeId,
        at: &str,
    ) -> String {
        let name = self.temporary(of, "{0}");
        let (descriptor, sign) = (self.descriptor(of), operator.text());
        self.line(format!(
            "orca_set_combine({at}, {descriptor}, '{sign}', &{name}, &{left}, &{right});"
        ));
        name
    }
}

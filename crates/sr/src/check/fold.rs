//! Constant folding: values that the compiler knows.

use crate::program::*;

use super::Checker;

impl Checker<'_> {
    /// Returns the value of an expression, if the compiler knows it.
    pub(super) fn fold(&self, e: &Expression) -> Option<Constant> {
        match &e.kind {
            ExpressionKind::Constant(constant) => Some(constant.clone()),
            ExpressionKind::Negate(of) => match self.fold(of)? {
                Constant::Ordinal(n) => Some(Constant::Ordinal(n.wrapping_neg())),
                Constant::Real(x) => Some(Constant::Real(-x)),
                _ => None,
            },
            ExpressionKind::Not(of) => {
                let Constant::Ordinal(n) = self.fold(of)? else {
                    return None;
                };
                let is_bool = *self.kind(e.of) == Type::Bool;
                Some(Constant::Ordinal(if is_bool {
                    i32::from(n == 0)
                } else {
                    !n
                }))
            }
            ExpressionKind::Convert(of) => self.fold_conversion(e.of, self.fold(of)?),
            ExpressionKind::Binary(operator, a, b) => {
                fold_binary(*operator, self.fold(a)?, self.fold(b)?)
            }
            ExpressionKind::Predefined(Predefined::Pred, of) => self.fold_step(of, -1),
            ExpressionKind::Predefined(Predefined::Succ, of) => self.fold_step(of, 1),
            _ => None,
        }
    }

    /// Replaces an expression by its value, if the compiler knows it.
    pub(super) fn folded(&self, e: Expression) -> Expression {
        match self.fold(&e) {
            Some(constant) => Expression {
                kind: ExpressionKind::Constant(constant),
                ..e
            },
            None => e,
        }
    }

    fn fold_step(&self, arguments: &[Expression], by: i32) -> Option<Constant> {
        match self.fold(arguments.first()?)? {
            Constant::Ordinal(n) => Some(Constant::Ordinal(n.wrapping_add(by))),
            _ => None,
        }
    }

    fn fold_conversion(&self, to: TypeId, value: Constant) -> Option<Constant> {
        match (self.kind(to), value) {
            (Type::Bool, Constant::Ordinal(n)) => Some(Constant::Ordinal(i32::from(n != 0))),
            (Type::Bool, Constant::Real(x)) => Some(Constant::Ordinal(i32::from(x != 0.0))),
            (Type::Char, Constant::Ordinal(n)) if u8::try_from(n).is_ok() => {
                Some(Constant::Ordinal(n))
            }
            (Type::Char, Constant::Real(x)) if (0.0..256.0).contains(&x) => {
                Some(Constant::Ordinal(x as i32))
            }
            (Type::Enum(number), value @ (Constant::Ordinal(_) | Constant::Real(_))) => {
                let ordinal = match value {
                    Constant::Real(x) => x as i32,
                    Constant::Ordinal(n) => n,
                    _ => return None,
                };
                let literals = &self.program.types.enumerations[*number as usize].literals;
                let is_there = usize::try_from(ordinal).is_ok_and(|n| n < literals.len());
                is_there.then_some(Constant::Ordinal(ordinal))
            }
            (Type::Real, Constant::Ordinal(n)) => Some(Constant::Real(f64::from(n))),
            (Type::Real, real @ Constant::Real(_)) => Some(real),
            (Type::Int, Constant::Real(x)) if x.abs() < f64::from(i32::MAX) => {
                Some(Constant::Ordinal(x as i32))
            }
            (Type::Int, value @ Constant::Ordinal(_)) => Some(value),
            _ => None,
        }
    }
}

fn fold_binary(operator: BinaryOperator, a: Constant, b: Constant) -> Option<Constant> {
    match (a, b) {
        (Constant::Ordinal(a), Constant::Ordinal(b)) => {
            fold_ordinals(operator, a, b).map(Constant::Ordinal)
        }
        (Constant::Real(a), Constant::Real(b)) => fold_reals(operator, a, b),
        _ => None,
    }
}

fn fold_ordinals(operator: BinaryOperator, a: i32, b: i32) -> Option<i32> {
    use BinaryOperator as Op;
    Some(match operator {
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::And => a & b,
        Op::Equal => i32::from(a == b),
        Op::NotEqual => i32::from(a != b),
        Op::Less => i32::from(a < b),
        Op::LessEqual => i32::from(a <= b),
        Op::Greater => i32::from(a > b),
        Op::GreaterEqual => i32::from(a >= b),
        Op::ShiftLeft => a.checked_shl(u32::try_from(b).ok()?)?,
        Op::ShiftRight => a.checked_shr(u32::try_from(b).ok()?)?,
        Op::Add => a.wrapping_add(b),
        Op::Subtract => a.wrapping_sub(b),
        Op::Multiply => a.wrapping_mul(b),
        Op::Divide => a.checked_div(b)?,
        Op::Remainder => a.checked_rem(b)?,
        Op::Mod => {
            let remainder = a.checked_rem(b)?;
            if remainder != 0 && (remainder < 0) != (b < 0) {
                remainder + b
            } else {
                remainder
            }
        }
        Op::Power => a.wrapping_pow(u32::try_from(b).ok()?),
        Op::Concatenate => return None,
    })
}

fn fold_reals(operator: BinaryOperator, a: f64, b: f64) -> Option<Constant> {
    use BinaryOperator as Op;
    let truth = |is_so: bool| Some(Constant::Ordinal(i32::from(is_so)));
    match operator {
        Op::Add => Some(Constant::Real(a + b)),
        Op::Subtract => Some(Constant::Real(a - b)),
        Op::Multiply => Some(Constant::Real(a * b)),
        Op::Divide => Some(Constant::Real(a / b)),
        Op::Less => truth(a < b),
        Op::LessEqual => truth(a <= b),
        Op::Greater => truth(a > b),
        Op::GreaterEqual => truth(a >= b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mod_has_the_sign_of_the_divisor_and_remainder_that_of_the_dividend() {
        use BinaryOperator as Op;
        assert_eq!(fold_ordinals(Op::Mod, -7, 3), Some(2));
        assert_eq!(fold_ordinals(Op::Mod, 7, -3), Some(-2));
        assert_eq!(fold_ordinals(Op::Mod, 6, -3), Some(0));
        assert_eq!(fold_ordinals(Op::Remainder, -7, 3), Some(-1));
    }

    #[test]
    fn what_has_no_value_is_left_to_the_program() {
        use BinaryOperator as Op;
        assert_eq!(fold_ordinals(Op::Divide, 1, 0), None);
        assert_eq!(fold_ordinals(Op::Divide, i32::MIN, -1), None);
        assert_eq!(fold_ordinals(Op::Power, 2, -1), None);
        assert_eq!(fold_ordinals(Op::Add, i32::MAX, 1), Some(i32::MIN));
    }
}

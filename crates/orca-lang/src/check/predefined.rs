//! Predefined functions and procedures.

use antiphon_lang::Span;

use super::Checker;
use super::scope::Symbol;
use crate::program::{Expr, ExprKind, Predefined, Restriction, TypeId, TypeKind, Value, Width};
use crate::syntax::Expression;

impl Checker<'_> {
    /// Checks a call of a predefined function or procedure. Returns whether it has a result.
    pub(super) fn predefined(
        &mut self,
        which: Predefined,
        arguments: &[Expression],
        callee: Span,
        span: Span,
    ) -> (Expr, bool) {
        let (least, most) = which.arity();
        if !(least..=most).contains(&arguments.len()) {
            let count = if least == most {
                least.to_string()
            } else {
                format!("{least} or {most}")
            };
            let message = format!(
                "\"{}\" has {count} parameters, not {}",
                which.name(),
                arguments.len()
            );
            self.error(callee, message);
            return (self.wrong(span), true);
        }
        let errors = self.error_count();
        let checked = self.predefined_arguments(which, arguments, span);
        if self.error_count() > errors {
            let has_result = !is_procedure(which);
            return (self.wrong(span), has_result);
        }
        let (ty, arguments) = checked;
        let kind = match self.fold_predefined(which, ty, &arguments) {
            Some(value) => ExprKind::Constant(value),
            None => ExprKind::Predefined(which, arguments),
        };
        let ty_or_error = ty.unwrap_or(self.known.error);
        (
            Expr {
                kind,
                ty: ty_or_error,
                span,
            },
            ty.is_some(),
        )
    }

    fn refuse(&mut self, which: Predefined, argument: &Expr) -> Option<TypeId> {
        if !self.program.is_error(argument.ty) {
            let message = format!(
                "\"{}\": unexpected parameter type {}",
                which.name(),
                self.name_of(argument.ty)
            );
            self.error(argument.span, message);
        }
        None
    }

    /// Checks arguments. Returns the type of the result, if there is one.
    fn predefined_arguments(
        &mut self,
        which: Predefined,
        arguments: &[Expression],
        span: Span,
    ) -> (Option<TypeId>, Vec<Expr>) {
        let known_integer = self.known.integer;
        match which {
            Predefined::Max | Predefined::Min => {
                let ty = self.type_argument(which, &arguments[0]);
                let kind = ExprKind::Wrong;
                (
                    ty,
                    vec![Expr {
                        kind,
                        ty: ty.unwrap_or(self.known.error),
                        span,
                    }],
                )
            }
            Predefined::Val => {
                let ty = self.type_argument(which, &arguments[0]);
                let number = self.value_of(&arguments[1], known_integer, "VAL");
                (ty, vec![number])
            }
            Predefined::Lb | Predefined::Ub => self.bound_argument(which, arguments),
            Predefined::Insert | Predefined::Delete => {
                let set = self.place(&arguments[1]);
                let member = self.expression(&arguments[0]);
                match *self.program.kind(set.ty) {
                    TypeKind::Set(of) | TypeKind::Bag(of) => {
                        if !self.program.fits(of, member.ty) {
                            let message = format!(
                                "type incompatibility in \"{}\": {} is expected, this is {}",
                                which.name(),
                                self.name_of(of),
                                self.name_of(member.ty)
                            );
                            self.mismatch(member.span, message, of, member.ty);
                        }
                    }
                    _ => {
                        self.refuse(which, &set);
                    }
                }
                (None, vec![member, set])
            }
            Predefined::From => {
                let set = self.place(&arguments[0]);
                let ty = match *self.program.kind(set.ty) {
                    TypeKind::Set(of) | TypeKind::Bag(of) => Some(of),
                    _ => self.refuse(which, &set),
                };
                (ty, vec![set])
            }
            Predefined::AddNode => {
                let graph = self.place(&arguments[0]);
                let ty = match self.program.kind(graph.ty) {
                    TypeKind::Graph { .. } => Some(self.node_name_type(graph.ty)),
                    _ => self.refuse(which, &graph),
                };
                (ty, vec![graph])
            }
            Predefined::DeleteNode => {
                let graph = self.place(&arguments[0]);
                let node = self.expression(&arguments[1]);
                match self.program.kind(graph.ty) {
                    TypeKind::Graph { .. } => self.check_node_name(&node, graph.ty),
                    _ => {
                        self.refuse(which, &graph);
                    }
                }
                (None, vec![graph, node])
            }
            Predefined::Assert => {
                let condition = self.condition(&arguments[0]);
                (None, vec![condition])
            }
            Predefined::Ncpus | Predefined::Mycpu => (Some(known_integer), Vec::new()),
            Predefined::Read => {
                let places: Vec<Expr> = arguments.iter().map(|it| self.place(it)).collect();
                self.check_text(which, &places);
                (None, places)
            }
            Predefined::Write | Predefined::WriteLine => {
                let values = self.values(arguments);
                self.check_text(which, &values);
                (None, values)
            }
            Predefined::Strategy => {
                let object = self.place(&arguments[0]);
                if !matches!(
                    self.program.kind(object.ty),
                    TypeKind::Object(_) | TypeKind::Error
                ) {
                    self.refuse(which, &object);
                }
                self.program.shared.extend(object.root());
                let replicate = self.expression(&arguments[1]);
                let is_fine = self.program.is_integer(replicate.ty)
                    || matches!(self.program.kind(replicate.ty), TypeKind::Boolean);
                if !is_fine {
                    self.refuse(which, &replicate);
                }
                let cpu = self.value_of(&arguments[2], known_integer, "Strategy");
                (None, vec![object, replicate, cpu])
            }
            _ => {
                let value = self.expression(&arguments[0]);
                (self.unary_result(which, &value), vec![value])
            }
        }
    }

    /// Returns the type of the result for one argument.
    fn unary_result(&mut self, which: Predefined, value: &Expr) -> Option<TypeId> {
        let kind = self.program.kind(value.ty).clone();
        let known = &self.known;
        let (integer, real, char, boolean) = (known.integer, known.real, known.char, known.boolean);
        match (which, kind) {
            (_, TypeKind::Error) => Some(self.known.error),
            (Predefined::Abs, TypeKind::Integer(Width::Short)) => Some(integer),
            (Predefined::Abs, _) if self.program.is_numeric(value.ty) => Some(value.ty),
            (Predefined::Cap, TypeKind::Char) => Some(char),
            (Predefined::Chr, TypeKind::Integer(_)) => Some(char),
            (Predefined::Float, TypeKind::Integer(_)) => Some(real),
            (Predefined::Odd, TypeKind::Integer(_)) => Some(boolean),
            (Predefined::Trunc, TypeKind::Real(_)) => Some(integer),
            (Predefined::Ord, _) if self.program.is_discrete(value.ty) => Some(integer),
            (Predefined::Size, TypeKind::Array { .. } | TypeKind::Set(_) | TypeKind::Bag(_)) => {
                Some(integer)
            }
            _ => self.refuse(which, value),
        }
    }

    fn type_argument(&mut self, which: Predefined, argument: &Expression) -> Option<TypeId> {
        match self.symbol_of(argument) {
            Some(Symbol::Type(ty)) => {
                let fits = match which {
                    Predefined::Val => self.program.is_discrete(ty),
                    _ => self.program.fulfils(ty, Restriction::Scalar),
                };
                if !fits {
                    let message =
                        format!("\"{}\": unexpected type {}", which.name(), self.name_of(ty));
                    self.error(argument.span, message);
                }
                fits.then_some(ty)
            }
            Some(Symbol::Wrong) => None,
            _ => {
                let message = format!("\"{}\" has a type as its parameter", which.name());
                self.error(argument.span, message);
                None
            }
        }
    }

    fn bound_argument(
        &mut self,
        which: Predefined,
        arguments: &[Expression],
    ) -> (Option<TypeId>, Vec<Expr>) {
        let array = self.expression(&arguments[0]);
        let indices = match self.program.kind(array.ty).clone() {
            TypeKind::Array { indices, .. } => indices,
            TypeKind::Object(unit) if self.program.unit(unit).shape.is_some() => {
                self.program.unit(unit).shape.clone().unwrap_or_default()
            }
            _ => return (self.refuse(which, &array), vec![array]),
        };
        let mut dimension = 1;
        if let Some(given) = arguments.get(1) {
            let number = self.discrete_constant(given, self.known.integer);
            let Some(number) = number else {
                return (None, vec![array]);
            };
            if number < 1 || number as usize > indices.len() {
                let message = format!(
                    "\"{}\": illegal second argument: the array has {} dimensions",
                    which.name(),
                    indices.len()
                );
                self.error(given.span, message);
                return (None, vec![array]);
            }
            dimension = number;
        }
        let kind = ExprKind::Constant(Value::Integer(dimension));
        let number = Expr {
            kind,
            ty: self.known.integer,
            span: array.span,
        };
        (Some(indices[dimension as usize - 1]), vec![array, number])
    }

    /// Returns the type of the node name that ADDNODE returns for a graph.
    fn node_name_type(&mut self, graph: TypeId) -> TypeId {
        let found = self.program.types.iter().position(|ty| {
            matches!(ty.kind, TypeKind::NodeName { graph: Some(of), opaque: None } if of == graph)
        });
        match found {
            Some(index) => TypeId(index as u32),
            None => {
                let name = format!("NODENAME OF {}", self.name_of(graph));
                self.add_type(
                    name,
                    TypeKind::NodeName {
                        graph: Some(graph),
                        opaque: None,
                    },
                )
            }
        }
    }

    /// Checks that values can be written as text.
    fn check_text(&mut self, which: Predefined, values: &[Expr]) {
        for value in values {
            let is_string = self.program.is_same(value.ty, self.known.string);
            let kind = self.program.kind(value.ty);
            let is_scalar = matches!(
                kind,
                TypeKind::Integer(_) | TypeKind::Real(_) | TypeKind::Char | TypeKind::Error
            );
            if !is_scalar && !is_string {
                let has_number = self.program.is_discrete(value.ty);
                let message = format!(
                    "\"{}\": unexpected parameter type {}",
                    which.name(),
                    self.name_of(value.ty)
                );
                match has_number && which != Predefined::Read {
                    true => self.error_help(value.span, message, "write its number: ORD(x)"),
                    false => {
                        let help = "integers, reals, characters and strings have a form as text";
                        self.error_help(value.span, message, help);
                    }
                }
            }
        }
    }

    fn fold_predefined(
        &self,
        which: Predefined,
        ty: Option<TypeId>,
        arguments: &[Expr],
    ) -> Option<Value> {
        let ty = ty?;
        if let Predefined::Max | Predefined::Min = which {
            return self.limit(ty, which == Predefined::Max);
        }
        let ExprKind::Constant(value) = &arguments.first()?.kind else {
            return None;
        };
        Some(match (which, value) {
            (Predefined::Abs, Value::Integer(n)) => Value::Integer(self.wrap(n.wrapping_abs(), ty)),
            (Predefined::Abs, Value::Real(x)) => Value::Real(x.abs()),
            (Predefined::Cap, Value::Integer(n)) => {
                Value::Integer(i64::from((*n as u8).to_ascii_uppercase()))
            }
            (Predefined::Chr, Value::Integer(n)) if (0..256).contains(n) => Value::Integer(*n),
            (Predefined::Float, Value::Integer(n)) => Value::Real(*n as f64),
            (Predefined::Odd, Value::Integer(n)) => Value::Integer(n & 1),
            (Predefined::Ord, Value::Integer(n)) => Value::Integer(self.wrap(*n, ty)),
            (Predefined::Trunc, Value::Real(x)) => Value::Integer(truncated(*x)),
            (Predefined::Val, Value::Integer(n)) if self.is_value(*n, ty) => {
                Value::Integer(self.wrap(*n, ty))
            }
            _ => return None,
        })
    }

    fn is_value(&self, number: i64, ty: TypeId) -> bool {
        match self.limit(ty, true) {
            Some(Value::Integer(most))
                if !matches!(self.program.kind(ty), TypeKind::Integer(_)) =>
            {
                (0..=most).contains(&number)
            }
            _ => true,
        }
    }

    /// Returns the largest or smallest value of a type.
    fn limit(&self, ty: TypeId, is_largest: bool) -> Option<Value> {
        let pick = |low: i64, high: i64| Some(Value::Integer(if is_largest { high } else { low }));
        match self.program.kind(ty) {
            TypeKind::Integer(Width::Short) => pick(i16::MIN.into(), i16::MAX.into()),
            TypeKind::Integer(Width::Normal) => pick(i32::MIN.into(), i32::MAX.into()),
            TypeKind::Integer(Width::Long) => pick(i64::MIN, i64::MAX),
            TypeKind::Char => pick(0, 255),
            TypeKind::Boolean => pick(0, 1),
            TypeKind::Enumeration(names) => pick(0, names.len() as i64 - 1),
            TypeKind::Real(Width::Short) => Some(Value::Real(f64::from(if is_largest {
                f32::MAX
            } else {
                f32::MIN
            }))),
            TypeKind::Real(_) => Some(Value::Real(if is_largest { f64::MAX } else { f64::MIN })),
            _ => None,
        }
    }
}

fn is_procedure(which: Predefined) -> bool {
    use Predefined::{Assert, Delete, DeleteNode, Insert, Read, Strategy, Write, WriteLine};
    matches!(
        which,
        Assert | Delete | DeleteNode | Insert | Read | Strategy | Write | WriteLine
    )
}

/// Returns a real number without its fraction. The least integer if it does not fit, as at run time.
fn truncated(number: f64) -> i64 {
    let whole = number.trunc();
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole);
    if fits { whole as i64 } else { i32::MIN.into() }
}

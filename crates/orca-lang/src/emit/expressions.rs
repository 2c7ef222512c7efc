//! Values: scalars as C expressions without effects, others as places or temporaries.

use antiphon_lang::c::string;

use super::Emitter;
use super::types::field_name;
use crate::effects::parts;
use crate::program::{Binary, Expr, ExprKind, Predefined, TypeId, TypeKind, Unary, Value, Width};

impl Emitter<'_> {
    /// Returns the value of an expression. A part with an effect is written as a statement before.
    pub(super) fn value(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Constant(value) => self.constant(value, expr.ty),
            ExprKind::Nil => "ORCA_NIL".into(),
            ExprKind::Variable(_)
            | ExprKind::Field(..)
            | ExprKind::Tag(_)
            | ExprKind::State(..)
            | ExprKind::Element(..)
            | ExprKind::Node(..) => self.place(expr),
            ExprKind::Function(id) => {
                self.values.insert(*id);
                format!("(&y{})", id.0)
            }
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, expr),
            ExprKind::Call(id, arguments) => self.call(*id, arguments, expr),
            ExprKind::CallValue(callee, arguments) => self.call_value(callee, arguments, expr),
            ExprKind::Invoke(object, id, arguments) => self.invoke(object, *id, arguments, expr),
            ExprKind::Predefined(which, arguments) => self.predefined(*which, arguments, expr),
            ExprKind::Members(members) => self.aggregate(members, expr),
            ExprKind::Elements(sizes, elements) => self.array_aggregate(sizes, elements, expr),
            ExprKind::Direct(object, name, _, arguments) => {
                self.direct(object, name, arguments, expr);
                String::new()
            }
            ExprKind::Wrong | ExprKind::Itself => "0".into(),
        }
    }

    fn constant(&mut self, value: &Value, ty: TypeId) -> String {
        match value {
            Value::Integer(i64::MIN) => "INT64_MIN".into(),
            Value::Integer(number) => match self.program.kind(ty) {
                TypeKind::Integer(Width::Long) if *number < 0 => format!("(INT64_C({number}))"),
                TypeKind::Integer(Width::Long) => format!("INT64_C({number})"),
                _ if *number == i64::from(i32::MIN) => "INT32_MIN".into(),
                _ if *number < 0 => format!("({number})"),
                _ => number.to_string(),
            },
            Value::Real(number) if number.is_infinite() => {
                let sign = if *number < 0.0 { "-" } else { "" };
                format!("({sign}__builtin_inf())")
            }
            Value::Real(number) if number.is_nan() => "__builtin_nan(\"\")".into(),
            Value::Real(number) => match self.program.kind(ty) {
                TypeKind::Real(Width::Short) => format!("((float){number:?})"),
                _ if number.is_sign_negative() => format!("({number:?})"),
                _ => format!("{number:?}"),
            },
            Value::Text(text) => {
                let name = format!("text{}", self.text_count);
                self.text_count += 1;
                let literal = string(text);
                self.texts += &format!("static const orca_array1 {name} = ORCA_TEXT({literal});\n");
                name
            }
        }
    }

    /// Evaluates expressions from left to right.
    pub(super) fn values_in_order(&mut self, exprs: &[Expr]) -> Vec<String> {
        let mut values = Vec::new();
        for (index, expr) in exprs.iter().enumerate() {
            let value = self.value(expr);
            let is_early = exprs[index + 1..].iter().any(has_effect);
            values.push(match is_early {
                true => self.kept(value, expr),
                false => value,
            });
        }
        values
    }

    /// Returns a value. It is stored if the evaluation of the other expression could change it.
    pub(super) fn value_before(&mut self, expr: &Expr, other: &Expr) -> String {
        let value = self.value(expr);
        match has_effect(other) {
            true => self.kept(value, expr),
            false => value,
        }
    }

    /// Stores a value that later code could change.
    pub(super) fn kept(&mut self, value: String, expr: &Expr) -> String {
        if matches!(expr.kind, ExprKind::Constant(_) | ExprKind::Nil) {
            return value;
        }
        if self.is_scalar(expr.ty) {
            return self.temporary(expr.ty, &value);
        }
        match expr.root() {
            Some(_) => self.copied(&value, expr.ty),
            None => value,
        }
    }

    /// Writes a variable that owns a value. Returns its name.
    pub(super) fn temporary(&mut self, ty: TypeId, value: &str) -> String {
        let (name, c_type, owned) = (self.fresh(), self.c_type(ty), self.cleanup(ty));
        self.line(format!("{c_type} {name}{owned} = {value};"));
        name
    }

    /// Writes a copy of a value.
    pub(super) fn copied(&mut self, value: &str, ty: TypeId) -> String {
        if self.is_plain(ty) {
            return self.temporary(ty, value);
        }
        let name = self.temporary(ty, "{0}");
        let descriptor = self.descriptor(ty);
        self.line(format!("orca_copy({descriptor}, &{name}, &{value});"));
        name
    }

    /// Initializes a place that holds no value.
    pub(super) fn put(&mut self, place: &str, ty: TypeId, value: &Expr) {
        let text = self.value(value);
        self.put_value(place, ty, &text, value);
    }

    pub(super) fn put_value(&mut self, place: &str, ty: TypeId, text: &str, value: &Expr) {
        if self.is_plain(ty) {
            return self.line(format!("{place} = {text};"));
        }
        if self.is_fresh(value) {
            let c_type = self.c_type(ty);
            self.line(format!("{place} = {text};"));
            return self.line(format!("{text} = ({c_type}){{0}};"));
        }
        let descriptor = self.descriptor(ty);
        self.line(format!("orca_copy({descriptor}, &{place}, &{text});"));
    }

    /// Returns whether the value of an expression is a temporary without another owner.
    pub(super) fn is_fresh(&self, value: &Expr) -> bool {
        value.root().is_none() && !matches!(value.kind, ExprKind::Constant(_))
    }

    /// Assigns a value to a variable.
    pub(super) fn assign_value(&mut self, place: &str, ty: TypeId, text: &str, value: &Expr) {
        if self.is_plain(ty) {
            return self.line(format!("{place} = {text};"));
        }
        let descriptor = self.descriptor(ty);
        let verb = match self.is_fresh(value) {
            true => "orca_move",
            false => "orca_assign",
        };
        self.line(format!("{verb}({descriptor}, &{place}, (void *)&{text});"));
    }

    fn unary(&mut self, operator: Unary, operand: &Expr) -> String {
        let value = self.value(operand);
        match operator {
            Unary::Plus => value,
            Unary::Minus => format!("(-{value})"),
            Unary::Not => format!("(!{value})"),
            Unary::Complement => format!("(~{value})"),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr, whole: &Expr) -> String {
        if matches!(operator, Binary::And | Binary::Or) {
            return self.short_circuit(operator, left, right, whole);
        }
        let first = self.value_before(left, right);
        let second = self.value(right);
        let at = self.at(whole.span);
        self.operator(
            operator,
            (&first, left.ty),
            (&second, right.ty),
            whole.ty,
            &at,
        )
    }

    /// Evaluates the right operand only if the left one does not decide.
    fn short_circuit(
        &mut self,
        operator: Binary,
        left: &Expr,
        right: &Expr,
        whole: &Expr,
    ) -> String {
        let first = self.value(left);
        let depth = self.out.depth() + 1;
        let (statements, second) = self.apart(depth, |it| it.value(right));
        let sign = if operator == Binary::And { "&&" } else { "||" };
        if statements.is_empty() {
            return format!("({first} {sign} {second})");
        }
        let name = self.temporary(whole.ty, &first);
        let not = if operator == Binary::And { "" } else { "!" };
        self.out.open(format!("if ({not}{name}) {{"));
        self.out.append(&statements);
        self.line(format!("{name} = {second};"));
        self.out.close("}");
        name
    }

    fn aggregate(&mut self, members: &[Expr], whole: &Expr) -> String {
        let program = self.program;
        let name = self.temporary(whole.ty, "{0}");
        match program.kind(whole.ty) {
            TypeKind::Record(fields) => {
                for (index, (field, member)) in fields.iter().zip(members).enumerate() {
                    let place = format!("{name}.{}", field_name(index, field));
                    self.put(&place, field.of.ty, member);
                }
            }
            TypeKind::Union { alternatives, .. } => {
                let ExprKind::Constant(Value::Integer(tag)) = members[0].kind else {
                    return name;
                };
                let found = alternatives.iter().position(|(it, _)| *it == tag);
                let index = found.unwrap_or_default();
                let field = &alternatives[index].1;
                let place = format!("{name}.as.{}", field_name(index, field));
                self.put(&place, field.of.ty, &members[1]);
                self.line(format!("{name}.tag = (orca_tag){{{tag}, true}};"));
            }
            TypeKind::Set(of) | TypeKind::Bag(of) => {
                let descriptor = self.descriptor(whole.ty);
                for member in members {
                    let value = self.addressed(member, *of);
                    let at = self.at(member.span);
                    self.line(format!(
                        "orca_set_insert({at}, {descriptor}, &{name}, &{value});"
                    ));
                }
            }
            _ => {}
        }
        name
    }

    /// Returns a value of a type as an expression with an address.
    pub(super) fn addressed(&mut self, value: &Expr, ty: TypeId) -> String {
        let text = self.value(value);
        match self.is_scalar(ty) {
            true => self.temporary(ty, &text),
            false => text,
        }
    }

    fn array_aggregate(&mut self, sizes: &[usize], elements: &[Expr], whole: &Expr) -> String {
        let program = self.program;
        let TypeKind::Array { element, .. } = program.kind(whole.ty) else {
            return "0".into();
        };
        let name = self.temporary(whole.ty, "{0}");
        let mut bounds = Vec::new();
        for (dimension, size) in sizes.iter().enumerate() {
            let low = self.first_index(whole.ty, dimension);
            bounds.push(low.to_string());
            bounds.push((low + *size as i64 - 1).to_string());
        }
        let (at, descriptor) = (self.at(whole.span), self.descriptor(whole.ty));
        let bounds = bounds.join(", ");
        self.line(format!(
            "orca_array_init({at}, {descriptor}, &{name}, 1, (const long long[]){{{bounds}}});"
        ));
        let c_type = self.c_type(*element);
        let is_table = self.is_scalar(*element)
            && elements
                .iter()
                .all(|it| matches!(it.kind, ExprKind::Constant(_)));
        if is_table && !elements.is_empty() {
            let values: Vec<String> = elements.iter().map(|it| self.value(it)).collect();
            let (table, values) = (self.fresh(), values.join(", "));
            self.line(format!("static const {c_type} {table}[] = {{{values}}};"));
            self.line(format!("memcpy({name}.data, {table}, sizeof {table});"));
            return name;
        }
        for (index, value) in elements.iter().enumerate() {
            let text = self.value(value);
            let place = format!("(({c_type} *){name}.data)[{index}]");
            self.assign_value(&place, *element, &text, value);
        }
        name
    }
}

/// Returns whether the evaluation of an expression may change a variable.
pub(super) fn has_effect(expr: &Expr) -> bool {
    use Predefined::{AddNode, From, Read};
    let is_one = match &expr.kind {
        ExprKind::Call(..) | ExprKind::CallValue(..) | ExprKind::Invoke(..) => true,
        ExprKind::Predefined(which, _) => matches!(which, AddNode | From | Read),
        _ => false,
    };
    is_one || parts(expr).into_iter().any(has_effect)
}

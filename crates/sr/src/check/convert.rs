//! Compatibility of types, and conversions.

use antiphon_lang::Span;

use crate::program::*;

use super::Checker;

/// How deep types that refer to themselves are compared.
pub(super) const DEPTH: usize = 8;

impl Checker<'_> {
    /// Converts a value for an assignment to a type. Reports an error if that is impossible.
    pub(super) fn convert_to(&mut self, value: Expression, to: TypeId) -> Expression {
        if self.is_wrong(&value) || *self.kind(to) == Type::Wrong {
            return self.wrong(value.span);
        }
        if !self.is_assignable(to, value.of) {
            let (has, needs) = (self.type_name(value.of), self.type_name(to));
            return self.unfit(value.span, &has, &needs, value.of, to);
        }
        let needs_conversion = match (self.kind(to), self.kind(value.of)) {
            (Type::Real, Type::Int) => true,
            (Type::Null | Type::Noop, _) => false,
            (_, Type::Null | Type::Noop) => true,
            (Type::Resource(a), Type::Resource(b)) => a != b,
            _ => false,
        };
        if !needs_conversion {
            return value;
        }
        let (of, span) = (to, value.span);
        let kind = ExpressionKind::Convert(Box::new(value));
        Expression { kind, of, span }
    }

    /// Reports a value that does not fit, with the conversion that would help, if there is one.
    fn unfit(
        &mut self,
        span: Span,
        has: &str,
        needs: &str,
        value: TypeId,
        to: TypeId,
    ) -> Expression {
        let message = format!("{needs} is needed here, and this is {has}");
        let help = match self.kind(to) {
            Type::Int => Some("int(…)"),
            Type::Char => Some("char(…)"),
            Type::Bool => Some("bool(…)"),
            Type::Text(_) => Some("string(…)"),
            Type::Array(_, element) if *self.kind(*element) == Type::Char => Some("chars(…)"),
            _ => None,
        };
        match help.filter(|_| self.is_convertible(value) && self.is_convertible(to)) {
            Some(help) => self.error_with(span, message, format!("convert it: {help}")),
            None => self.error(span, message),
        }
        self.wrong(span)
    }

    /// Returns a value as one of another type, without a check.
    pub(super) fn converted(&mut self, value: Expression, to: Type) -> Expression {
        let span = value.span;
        self.made(ExpressionKind::Convert(Box::new(value)), to, span)
    }

    /// Checks an explicit conversion by a type's name.
    pub(super) fn explicit(&mut self, value: Expression, to: TypeId, span: Span) -> Expression {
        if self.is_wrong(&value) || *self.kind(to) == Type::Wrong {
            return self.wrong(span);
        }
        if matches!(self.kind(value.of), Type::Null | Type::Noop)
            && self.is_assignable(to, value.of)
        {
            return self.convert_to(value, to);
        }
        if value.of == to {
            return Expression { span, ..value };
        }
        if !self.is_convertible(value.of) || !self.is_convertible(to) {
            let (has, needs) = (self.type_name(value.of), self.type_name(to));
            return self.refuse(span, format!("{has} cannot be converted to {needs}"));
        }
        let kind = ExpressionKind::Convert(Box::new(value));
        Expression { kind, of: to, span }
    }

    /// Whether values of a type convert to strings and between one another: ordered types,
    /// pointers, strings and arrays of characters.
    pub(super) fn is_convertible(&self, of: TypeId) -> bool {
        match self.kind(of) {
            Type::Text(_) | Type::Pointer(_) => true,
            Type::Array(dimensions, element) => {
                dimensions.len() == 1 && *self.kind(*element) == Type::Char
            }
            _ => self.is_ordered(of),
        }
    }

    /// Whether values of a type have an order: bool, char, int, real and enumerations.
    pub(super) fn is_ordered(&self, of: TypeId) -> bool {
        matches!(
            self.kind(of),
            Type::Bool | Type::Char | Type::Int | Type::Real | Type::Enum(_)
        )
    }

    /// Whether a value of one type can be assigned to a variable of another. Sizes of arrays are
    /// compared at run time.
    pub(super) fn is_assignable(&self, to: TypeId, value: TypeId) -> bool {
        match (self.kind(to), self.kind(value)) {
            (Type::Wrong, _) | (_, Type::Wrong) => true,
            (Type::Nothing, _) | (_, Type::Nothing) => false,
            (Type::Real, Type::Int) => true,
            (Type::Text(_), Type::Text(_)) => true,
            (Type::Null, other) | (other, Type::Null) => takes_null(other),
            // Pointers have a null value but no noop value.
            (Type::Noop, other) | (other, Type::Noop) => {
                takes_null(other) && !matches!(other, Type::Pointer(_))
            }
            (Type::Array(..), Type::Array(..)) => self.is_array_alike(to, value, true, DEPTH),
            (Type::Resource(a), Type::Resource(b)) => self.offers(*b, *a),
            (Type::Pointer(a), Type::Pointer(b)) if a.is_none() || b.is_none() => true,
            _ => self.is_alike(to, value),
        }
    }

    /// Whether two types are the same apart from bounds and lengths. As in the original, records
    /// are compared by their fields, and enumerations by their number of literals.
    pub(super) fn is_alike(&self, a: TypeId, b: TypeId) -> bool {
        self.is_alike_to(a, b, DEPTH)
    }

    fn is_alike_to(&self, a: TypeId, b: TypeId, depth: usize) -> bool {
        if a == b || depth == 0 {
            return true;
        }
        let depth = depth - 1;
        match (self.kind(a), self.kind(b)) {
            (Type::Wrong, _) | (_, Type::Wrong) => true,
            (Type::Text(Extent::Known(x)), Type::Text(Extent::Known(y))) => x == y,
            (Type::Text(_), Type::Text(_)) => true,
            (Type::Array(..), Type::Array(..)) => self.is_array_alike(a, b, false, depth),
            (Type::Pointer(Some(x)), Type::Pointer(Some(y))) => self.is_alike_to(*x, *y, depth),
            (Type::Enum(x), Type::Enum(y)) => {
                let literals =
                    |n: &u32| self.program.types.enumerations[*n as usize].literals.len();
                literals(x) == literals(y)
            }
            (Type::Record(x), Type::Record(y)) => {
                let fields = |n: &u32| &self.program.types.records[*n as usize].fields;
                let (x, y) = (fields(x), fields(y));
                x.len() == y.len()
                    && x.iter()
                        .zip(y)
                        .all(|(f, g)| self.is_alike_to(f.1, g.1, depth))
            }
            (Type::Operation(x), Type::Operation(y)) => self.is_signature_alike(*x, *y, depth),
            (Type::Resource(x), Type::Resource(y)) => self.offers(*x, *y) && self.offers(*y, *x),
            _ => false,
        }
    }

    fn is_array_alike(&self, a: TypeId, b: TypeId, takes_any_text: bool, depth: usize) -> bool {
        let ((x, of_x), (y, of_y)) = (self.program.types.flat(a), self.program.types.flat(b));
        let both_text = matches!(
            (self.kind(of_x), self.kind(of_y)),
            (Type::Text(_), Type::Text(_))
        );
        x.len() == y.len() && ((takes_any_text && both_text) || self.is_alike_to(of_x, of_y, depth))
    }

    /// Whether two signatures have the same parameters, result and restriction.
    pub(super) fn is_signature_alike(&self, a: SignatureId, b: SignatureId, depth: usize) -> bool {
        let (a, b) = (
            &self.program.signatures[a.index()],
            &self.program.signatures[b.index()],
        );
        let is_same = |p: &Parameter, q: &Parameter| self.is_alike_to(p.of, q.of, depth);
        let results = match (&a.result, &b.result) {
            (None, None) => true,
            (Some(p), Some(q)) => is_same(p, q),
            _ => false,
        };
        results
            && a.restriction == b.restriction
            && a.parameters.len() == b.parameters.len()
            && a.parameters
                .iter()
                .zip(&b.parameters)
                .all(|(p, q)| is_same(p, q))
    }

    /// Returns a type as it is shown in messages.
    pub(super) fn type_name(&self, of: TypeId) -> String {
        self.type_name_to(of, DEPTH)
    }

    fn type_name_to(&self, of: TypeId, depth: usize) -> String {
        if depth == 0 {
            return "…".into();
        }
        let depth = depth - 1;
        let types = &self.program.types;
        match self.kind(of) {
            Type::Wrong | Type::Nothing => "nothing".into(),
            Type::Null => "null".into(),
            Type::Noop => "noop".into(),
            Type::Bool => "bool".into(),
            Type::Char => "char".into(),
            Type::Int => "int".into(),
            Type::Real => "real".into(),
            Type::File => "file".into(),
            Type::Machine => "cap vm".into(),
            Type::Text(Extent::Known(most)) => format!("string[{most}]"),
            Type::Text(_) => "string".into(),
            Type::Enum(number) => {
                let it = &types.enumerations[*number as usize];
                match &it.name {
                    Some(name) => name.clone(),
                    None => format!("enum({})", it.literals.join(", ")),
                }
            }
            Type::Record(number) => match &types.records[*number as usize].name {
                Some(name) => name.clone(),
                None => "rec".into(),
            },
            Type::Pointer(None) => "ptr any".into(),
            Type::Pointer(Some(to)) => format!("ptr {}", self.type_name_to(*to, depth)),
            Type::Array(..) => {
                let (dimensions, element) = types.flat(of);
                let bounds: Vec<String> = dimensions.iter().map(bounds_text).collect();
                let element = self.type_name_to(element, depth);
                format!("[{}] {element}", bounds.join(", "))
            }
            Type::Resource(component) => {
                format!("cap {}", self.program.components[component.index()].name)
            }
            Type::Operation(signature) => self.signature_name(*signature, depth),
        }
    }

    fn signature_name(&self, signature: SignatureId, depth: usize) -> String {
        let it = &self.program.signatures[signature.index()];
        let parameters: Vec<String> = it
            .parameters
            .iter()
            .map(|p| self.type_name_to(p.of, depth))
            .collect();
        let mut text = format!("cap ({})", parameters.join("; "));
        if let Some(result) = &it.result {
            text += &format!(" returns {}", self.type_name_to(result.of, depth));
        }
        text += match it.restriction {
            Restriction::None => "",
            Restriction::Call => " {call}",
            Restriction::Send => " {send}",
        };
        text
    }
}

/// Whether variables of a type can be null.
fn takes_null(of: &Type) -> bool {
    matches!(
        of,
        Type::Null
            | Type::Noop
            | Type::File
            | Type::Pointer(_)
            | Type::Operation(_)
            | Type::Resource(_)
            | Type::Machine
    )
}

fn bounds_text(dimension: &Dimension) -> String {
    let text = |extent| match extent {
        Extent::Known(n) => n.to_string(),
        Extent::Computed | Extent::Any => "*".into(),
    };
    format!("{}:{}", text(dimension.low), text(dimension.high))
}

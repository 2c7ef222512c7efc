//! Places: variables and parts of them.

use antiphon_lang::{Span, c::bare};

use super::function::{Access, Function};
use super::names::instance_of;
use super::types::{Class, pointer_to};
use super::views::{Element, View, cast, constant};
use crate::program::*;

/// Limit for arrays that are laid out in place. Larger ones get memory of their own in an instance,
/// and memory of the process's arena in a process.
const IN_PLACE_INSTANCE_BYTES_MAX: i64 = 64 * 1024;
const IN_PLACE_LOCAL_BYTES_MAX: i64 = 1024;

/// A place that can be assigned.
pub(super) enum Place {
    /// An lvalue.
    Plain(String),
    /// An expression of type `sr_string`.
    Text(String),
    /// A part of a string: `sr_string`, from, to.
    Part(String, String, String),
    /// An array.
    Array(View),
}

impl Function<'_> {
    /// Returns an instance's struct: `self`, or a global's.
    pub(super) fn instance(&self, component: ComponentId) -> String {
        match component == self.component {
            true => "self".into(),
            false => format!("g_{}", self.unit.names.component(component)),
        }
    }

    /// Returns the C lvalue of a variable's storage.
    pub(super) fn storage(&self, variable: VariableId) -> String {
        let name = self.unit.names.variable(variable);
        match instance_of(self.unit.program, variable) {
            Some(component) => format!("{}->{name}", self.instance(component)),
            None => name.into(),
        }
    }

    /// Whether a variable's array is laid out in place. If not, and its bounds are known, the
    /// variable is a pointer to its elements.
    pub(super) fn is_in_place(&self, variable: VariableId) -> bool {
        let of = self.unit.program.variables[variable.index()].of;
        let most = match instance_of(self.unit.program, variable) {
            Some(_) => IN_PLACE_INSTANCE_BYTES_MAX,
            None => IN_PLACE_LOCAL_BYTES_MAX,
        };
        self.unit.known_count(of).is_some() && self.unit.rough_bytes(of) <= most
    }

    /// Returns the access to storage of a type.
    pub(super) fn access_to(&self, storage: &str, of: TypeId) -> Access {
        match self.unit.class(of) {
            Class::Plain => Access::Place(storage.into()),
            Class::Text if self.types().is_static(of) => Access::Place(storage.into()),
            Class::Text => Access::String(storage.into()),
            Class::Array(_) if self.unit.known_count(of).is_some() => {
                Access::View(self.view_in_place(storage, of))
            }
            Class::Array(_) => Access::View(self.view_of(storage, of, true)),
        }
    }

    /// Returns the access to a variable.
    pub(super) fn access_of(&self, variable: VariableId) -> Access {
        if let Some(access) = self.access.get(&variable) {
            return access.clone();
        }
        let storage = self.storage(variable);
        let of = self.unit.program.variables[variable.index()].of;
        self.access_to(&storage, of)
    }

    fn place_to(&self, access: Access, of: TypeId) -> Place {
        match (access, self.unit.class(of)) {
            (Access::Place(lvalue), Class::Text) => Place::Text(format!("SR_STRING({lvalue})")),
            (Access::Place(lvalue), _) => Place::Plain(lvalue),
            (Access::String(string), _) => Place::Text(string),
            (Access::View(view), _) => Place::Array(view),
        }
    }

    fn place_of_element(&self, element: Element, of: TypeId) -> Place {
        match element {
            Element::Lvalue(lvalue) => self.place_to(Access::Place(lvalue), of),
            Element::String(string) => Place::Text(string),
        }
    }

    /// Returns a place. Statements that compute it are written before.
    pub(super) fn place(&mut self, e: &Expression) -> Place {
        use ExpressionKind as K;
        match &e.kind {
            K::Variable(variable) => self.place_to(self.access_of(*variable), e.of),
            K::Field(of, number) => {
                let lvalue = format!("{}.{}", self.plain(of), self.field(of.of, *number));
                self.place_to(self.access_to(&lvalue, e.of), e.of)
            }
            K::Index(of, subscripts) => self.index(of, subscripts, e),
            K::Slice(of, subscripts) => Place::Array(self.slice(of, subscripts, e.span)),
            K::TextIndex(of, at) => {
                let Place::Text(string) = self.place(of) else {
                    return Place::Plain(self.character(of, at, e.span));
                };
                let subscript = self.plain(at);
                let here = self.at(e.span);
                Place::Plain(match self.unit.options.checks {
                    true => format!("(*(sr_char *)sr_string_at({here}, {string}, {subscript}))"),
                    false => format!("(*(sr_char *)({string}.data + ({subscript} - 1)))"),
                })
            }
            K::TextSlice(of, from, to) => {
                let Place::Text(string) = self.place(of) else {
                    let text = self.text(e);
                    return Place::Text(text);
                };
                let string = self.temp("sr_string", &string);
                let (from, to) = self.text_range(from, to, &format!("*{string}.length"));
                Place::Part(string, from, to)
            }
            K::Dereference(pointer) => self.dereference(pointer, e),
            K::Capability(Target::Of(resource, operation, _))
                if self.unit.slot(*operation).is_some() =>
            {
                Place::Plain(self.in_slot(resource, *operation))
            }
            // Not a place, but its value can be accessed in the same way.
            _ => match self.unit.class(e.of) {
                Class::Plain => Place::Plain(self.plain(e)),
                Class::Text => {
                    let text = self.text(e);
                    Place::Text(self.string_around(&text))
                }
                Class::Array(_) => Place::Array(self.array(e)),
            },
        }
    }

    /// Returns `f_name` for a record's field.
    pub(super) fn field(&self, record: TypeId, number: usize) -> String {
        match self.types().get(record) {
            Type::Record(record) => {
                let record = &self.unit.record_alike(*record);
                let (name, _) = &self.types().records[*record as usize].fields[number];
                format!("f_{name}")
            }
            _ => "f_wrong".into(),
        }
    }

    /// Returns a pointer's value, checked for null.
    pub(super) fn pointer(&mut self, pointer: &Expression) -> String {
        let value = self.plain(pointer);
        match self.unit.options.checks {
            true => format!("sr_not_null({}, {value})", self.at(pointer.span)),
            false => value,
        }
    }

    fn dereference(&mut self, pointer: &Expression, e: &Expression) -> Place {
        let value = self.pointer(pointer);
        match self.unit.class(e.of) {
            Class::Plain => {
                let c_type = pointer_to(&self.unit.plain_type(e.of));
                Place::Plain(format!("(*{}{value})", cast(&c_type)))
            }
            Class::Text => Place::Text(format!("(*(sr_string *){value})")),
            Class::Array(dimensions) => {
                let c_type = format!("struct sr_array{dimensions}");
                let whole = self.temp(&c_type, &format!("*({c_type} *){value}"));
                Place::Array(self.view_of(&whole, e.of, false))
            }
        }
    }

    fn index(&mut self, of: &Expression, subscripts: &[Expression], e: &Expression) -> Place {
        // Elements that are arrays are laid out flat: a[1][2] is a[1, 2].
        let mut all = Vec::new();
        let mut root = of;
        while let ExpressionKind::Index(inner, outer) = &root.kind {
            all.splice(0..0, outer.iter());
            root = inner;
        }
        all.extend(subscripts);
        let view = self.array(root);
        let values = self.plains(&all);
        let array = match root.kind {
            ExpressionKind::Variable(array) => Some(array),
            _ => None,
        };
        let offset = self.offset(&view, array, &all, &values, e.span);
        if all.len() >= view.dims.len() {
            let element = self.element_at(&view, &offset);
            self.place_of_element(element, e.of)
        } else {
            Place::Array(self.rest(&view, &offset, all.len()))
        }
    }

    /// Returns the offset of subscripts in a view, in elements or bytes like the view's strides.
    fn offset(
        &mut self,
        view: &View,
        array: Option<VariableId>,
        subscripts: &[&Expression],
        values: &[String],
        span: Span,
    ) -> String {
        let mut sum = Vec::new();
        let all = subscripts.iter().zip(values).zip(&view.dims);
        for (n, ((subscript, value), dim)) in all.enumerate() {
            let is_sure = self.is_bounded(subscript, array, n) || self.is_within(subscript, dim);
            let offset = self.offset_in(dim, is_sure, value, span);
            match dim.stride.as_str() {
                "1" => sum.push(offset),
                stride => sum.push(format!("{offset} * {stride}")),
            }
        }
        match sum.len() {
            1 => sum.remove(0),
            _ => format!("({})", sum.join(" + ")),
        }
    }

    /// Returns the distance of a subscript from the low bound; checked unless it is known to be
    /// right.
    fn offset_in(
        &mut self,
        dim: &super::views::Dim,
        is_sure: bool,
        value: &str,
        span: Span,
    ) -> String {
        if !self.unit.options.checks || is_sure {
            if let (Ok(value), Ok(low)) = (value.parse::<i64>(), dim.low.parse::<i64>()) {
                return (value - low).to_string();
            }
            return match dim.low.as_str() {
                "0" => format!("(int64_t){value}"),
                low => format!("((int64_t){value} - {low})"),
            };
        }
        let at = self.at(span);
        format!(
            "sr_offset({at}, {}, {}, {})",
            bare(value),
            dim.low,
            dim.high
        )
    }

    /// Whether a subscript is the variable of a loop over exactly this dimension.
    fn is_bounded(&self, subscript: &Expression, array: Option<VariableId>, n: usize) -> bool {
        match (&subscript.kind, array) {
            (ExpressionKind::Variable(variable), Some(array)) => {
                self.within.get(variable) == Some(&(array, n))
            }
            _ => false,
        }
    }

    fn is_within(&self, subscript: &Expression, dim: &super::views::Dim) -> bool {
        let (Ok(low), Ok(high)) = (dim.low.parse::<i64>(), dim.high.parse::<i64>()) else {
            return false;
        };
        self.range_of(subscript)
            .is_some_and(|(least, most)| least >= low && most <= high)
    }

    /// Returns the possible values of an ordinal expression, if they are known.
    pub(super) fn range_of(&self, e: &Expression) -> Option<(i64, i64)> {
        match &e.kind {
            ExpressionKind::Constant(Constant::Ordinal(value)) => {
                Some((i64::from(*value), i64::from(*value)))
            }
            ExpressionKind::Variable(variable) => self.ranges.get(variable).copied(),
            ExpressionKind::Binary(operator, a, b) => {
                let ((a, b), (c, d)) = (self.range_of(a)?, self.range_of(b)?);
                let range = match operator {
                    BinaryOperator::Add => (a + c, b + d),
                    BinaryOperator::Subtract => (a - d, b - c),
                    _ => return None,
                };
                let fits = |n: i64| i32::try_from(n).is_ok();
                (fits(range.0) && fits(range.1)).then_some(range)
            }
            _ => None,
        }
    }

    fn slice(&mut self, of: &Expression, subscripts: &[Subscript], span: Span) -> View {
        let view = self.array(of);
        let at = self.at(span);
        let mut dims = Vec::new();
        let mut sum = Vec::new();
        for (subscript, dim) in subscripts.iter().zip(&view.dims) {
            match subscript {
                Subscript::At(e) => {
                    let value = self.plain(e);
                    let is_sure = self.is_within(e, dim);
                    let offset = self.offset_in(dim, is_sure, &value, span);
                    sum.push(format!("{offset} * {}", dim.stride));
                }
                Subscript::Range(from, to) => {
                    let from = self.bound(from, &dim.low);
                    let to = self.bound(to, &dim.high);
                    self.line(format!(
                        "sr_check_slice({at}, {from}, {to}, {}, {});",
                        dim.low, dim.high
                    ));
                    if from != dim.low {
                        sum.push(format!("((int64_t){from} - {}) * {}", dim.low, dim.stride));
                    }
                    dims.push(super::views::Dim {
                        low: "1".into(),
                        high: match from.as_str() {
                            "1" => to,
                            _ => format!("({to} - {from} + 1)"),
                        },
                        stride: dim.stride.clone(),
                    });
                }
            }
        }
        dims.extend(view.dims.iter().skip(subscripts.len()).cloned());
        let offset = match sum.is_empty() {
            true => "0".into(),
            false => format!("({})", sum.join(" + ")),
        };
        View {
            data: self.moved(&view, &offset),
            dims,
            whole: None,
            is_packed: false,
            ..view
        }
    }

    /// Returns a bound of a slice as a constant or temporary; the array's own bound if none is
    /// written.
    fn bound(&mut self, bound: &Option<Expression>, own: &str) -> String {
        match bound {
            None => own.into(),
            Some(Expression {
                kind: ExpressionKind::Constant(Constant::Ordinal(value)),
                ..
            }) => constant(*value),
            Some(e) => {
                let value = self.plain(e);
                self.temp("sr_int", &value)
            }
        }
    }
}

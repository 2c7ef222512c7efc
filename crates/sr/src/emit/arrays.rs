//! Arrays: values, constructors and copies.

use antiphon_lang::{Span, c};

use super::expressions::Value;
use super::function::{Access, Function};
use super::places::Place;
use super::text::address;
use super::types::Class;
use super::views::{Dim, View};
use crate::lower::has_effects;
use crate::program::*;

/// Lengths of the strings of a constructor.
#[derive(Default)]
struct Lengths {
    /// The greatest length among strings in the text.
    known: usize,
    /// Computed texts.
    computed: Vec<String>,
}

type Parts = [(Option<Expression>, Expression)];

/// Number of elements from which on a table needs less C than an assignment for each.
const FEWEST_IN_TABLE: usize = 16;

/// Returns the bytes of a string that is a literal.
fn constant_text(e: &Expression) -> Option<&[u8]> {
    match &e.kind {
        ExpressionKind::Constant(Constant::Text(bytes)) => Some(bytes),
        _ => None,
    }
}

/// Whether an expression is a literal number, or a similar value.
fn is_number(e: &Expression) -> bool {
    match &e.kind {
        ExpressionKind::Constant(Constant::Ordinal(_) | Constant::Real(_)) => true,
        ExpressionKind::Negate(of) | ExpressionKind::Convert(of) => is_number(of),
        _ => false,
    }
}

impl Function<'_> {
    /// Writes an array's value.
    pub(super) fn array(&mut self, e: &Expression) -> View {
        use ExpressionKind as K;
        match &e.kind {
            K::Array(parts) => self.constructed(parts, e),
            K::Convert(of) => self.convert_array(of, e),
            K::Call(invocation) => match self.call(invocation) {
                Some(Value::Array(view)) => view,
                _ => self.no_view(e.of),
            },
            K::Predefined(Predefined::Chars, arguments) => self.chars(&arguments[0], e.of),
            K::Assign(..) | K::Swap(..) => match self.changed_value(e) {
                Some(Value::Array(view)) => view,
                _ => self.no_view(e.of),
            },
            K::Capability(target) => self.capabilities(target, e),
            K::NewOperation(signature, bounds) => self.new_operations(*signature, bounds, e),
            K::Slice(..) | K::Variable(_) | K::Index(..) | K::Dereference(_) => self.array_place(e),
            K::Field(of, number) if !of.is_place() => {
                let record = self.plain(of);
                let lvalue = format!("{record}.{}", self.field(of.of, *number));
                match self.access_to(&lvalue, e.of) {
                    Access::View(view) => view,
                    _ => self.no_view(e.of),
                }
            }
            K::Field(..) => self.array_place(e),
            _ => self.no_view(e.of),
        }
    }

    fn array_place(&mut self, e: &Expression) -> View {
        match self.place(e) {
            Place::Array(view) => view,
            _ => self.no_view(e.of),
        }
    }

    /// Returns a placeholder for the array of a program with errors.
    fn no_view(&mut self, of: TypeId) -> View {
        let (dimensions, _) = self.types().flat(of);
        let whole = self.temp(
            &format!("struct sr_array{}", dimensions.len().max(1)),
            "{0}",
        );
        self.view_of(&whole, of, false)
    }

    /// `chars(text)`, and a string as an array of characters.
    pub(super) fn chars(&mut self, text: &Expression, of: TypeId) -> View {
        let text = self.text(text);
        let whole = self.temp("struct sr_array1", &format!("sr_chars_of_text({text})"));
        self.view_of(&whole, of, false)
    }

    /// Returns an array of characters as a text.
    pub(super) fn text_of_chars(&mut self, e: &Expression) -> String {
        let view = self.array(e);
        let name = self.view_name(&view);
        self.allocates = true;
        format!(
            "sr_text_of_chars({}, {name}.data, {name}.d)",
            self.at(e.span)
        )
    }

    /// `to := from`: the sizes must agree, the bounds need not.
    pub(super) fn copy_array(&mut self, to: &View, from: &View, span: Span) {
        let at = self.at(span);
        let dimensions = to.dims.len();
        let strings = matches!(self.types().get(to.element), Type::Text(_));
        let (bytes, most) = (self.element_bytes(to), to.most.clone());
        let (to, from) = (self.view_name(to), self.view_name(from));
        self.line(match strings {
            true => format!(
                "sr_array_copy_strings({at}, {dimensions}, {to}.data, {to}.d, {most}, {from}.data, {from}.d);"
            ),
            false => format!(
                "sr_array_copy({at}, {dimensions}, {bytes}, {to}.data, {to}.d, {from}.data, {from}.d);"
            ),
        });
    }

    /// Allocates a zeroed array of these bounds in the process's arena.
    pub(super) fn new_array(
        &mut self,
        bounds: &[(String, String)],
        element: TypeId,
        most: &str,
        span: Span,
    ) -> View {
        let name = format!("t{}", self.number());
        self.make_array(&name, "0", bounds, element, most, span);
        self.view_with_most(&name, bounds, element, most)
    }

    /// Declares a C variable that holds a new array.
    pub(super) fn make_array(
        &mut self,
        name: &str,
        instance: &str,
        bounds: &[(String, String)],
        element: TypeId,
        most: &str,
        span: Span,
    ) {
        let at = self.at(span);
        let dims = bounds
            .iter()
            .map(|(low, high)| format!("{{{low}, {high}, 0}}"));
        let dims = dims.collect::<Vec<_>>().join(", ");
        let count = bounds.len();
        let bytes = match self.unit.element_type(element) {
            Some(c_type) => format!("sizeof({c_type})"),
            None => format!("SR_STRING_BYTES({most})"),
        };
        self.allocates |= instance == "0";
        let most = match self.unit.element_type(element) {
            Some(_) => String::new(),
            None => format!(", {most}"),
        };
        self.line(format!(
            "struct sr_array{count} {name} = {{0, {{{dims}}}{most}}};"
        ));
        self.line(format!(
            "{name}.data = sr_array_make({at}, {instance}, {name}.d, {count}, {bytes});"
        ));
    }

    /// Returns the view of an array that was just made.
    fn view_with_most(
        &self,
        name: &str,
        bounds: &[(String, String)],
        element: TypeId,
        most: &str,
    ) -> View {
        let last = bounds.len() - 1;
        let mut view = View {
            data: format!("{name}.data"),
            is_typed: false,
            dims: Vec::new(),
            element,
            most: most.into(),
            whole: Some(name.into()),
            is_packed: true,
        };
        let bytes = self.element_bytes(&view);
        for (n, (low, high)) in bounds.iter().enumerate() {
            view.dims.push(Dim {
                low: low.clone(),
                high: high.clone(),
                stride: match n == last {
                    true => bytes.clone(),
                    false => format!("{name}.d[{n}].stride"),
                },
            });
        }
        view
    }

    /// Copies an array to the process's arena.
    pub(super) fn array_kept(&mut self, view: &View, span: Span) -> View {
        let bounds = view.dims.iter().map(|d| (d.low.clone(), d.high.clone()));
        let bounds = bounds.collect::<Vec<_>>();
        let copy = self.new_array(&bounds, view.element, &view.most, span);
        self.copy_array(&copy, view, span);
        copy
    }

    fn constructed(&mut self, parts: &Parts, e: &Expression) -> View {
        let (dimensions, element) = self.types().flat(e.of);
        let mut lengths = Vec::new();
        self.measure(parts, dimensions.len(), &mut lengths);
        let mut texts = Lengths::default();
        let most = match self.types().get(element) {
            Type::Text(_) => {
                self.prepare_texts(parts, &mut texts);
                self.greatest(&texts)
            }
            _ => "0".into(),
        };
        let bounds = lengths.into_iter().map(|length| ("1".to_string(), length));
        let bounds = bounds.collect::<Vec<_>>();
        let view = self.new_array(&bounds, element, &most, e.span);
        self.fill(&view, parts, e.span);
        view
    }

    /// Returns the greatest of some lengths.
    fn greatest(&mut self, texts: &Lengths) -> String {
        let greatest = self.temp("sr_int", &texts.known.to_string());
        for text in &texts.computed {
            self.line(format!(
                "{greatest} = sr_max_int({greatest}, {text}.length);"
            ));
        }
        greatest
    }

    /// Evaluates the strings among the parts, each only once.
    fn prepare_texts(&mut self, parts: &Parts, texts: &mut Lengths) {
        for (_, value) in parts {
            match (&value.kind, self.unit.class(value.of)) {
                (ExpressionKind::Array(inner), Class::Array(_)) => self.prepare_texts(inner, texts),
                (ExpressionKind::Constant(Constant::Text(bytes)), Class::Text) => {
                    texts.known = texts.known.max(bytes.len());
                }
                (_, Class::Text) => {
                    let name = self.text_name(value);
                    self.prepared.insert(address(value), name.clone());
                    texts.computed.push(name);
                }
                // For whole arrays: the maximum of their strings.
                _ => {
                    let view = self.array(value);
                    let name = format!("t{}", self.number());
                    self.line(format!("sr_text {name} = {{0, {}}};", view.most));
                    texts.computed.push(name);
                }
            }
        }
    }

    /// Determines the number of elements in each dimension. Repetition counts are evaluated here,
    /// once.
    fn measure(&mut self, parts: &Parts, dimensions: usize, lengths: &mut Vec<String>) {
        let length = self.count(parts);
        lengths.push(length);
        if dimensions == 1 {
            return;
        }
        match parts.first() {
            Some((_, value)) => match &value.kind {
                ExpressionKind::Array(inner) => self.measure(inner, dimensions - 1, lengths),
                _ => {
                    let view = self.array(value);
                    lengths.extend(view.dims.iter().map(|d| match d.low.as_str() {
                        "1" => d.high.clone(),
                        low => format!("({} - {low} + 1)", d.high),
                    }));
                }
            },
            None => lengths.extend(std::iter::repeat_n("0".to_string(), dimensions - 1)),
        }
    }

    /// Returns the number of elements of some parts.
    fn count(&mut self, parts: &Parts) -> String {
        let mut singles = 0;
        let mut terms = Vec::new();
        for (times, _) in parts {
            match times {
                None => singles += 1,
                Some(times) => terms.push(self.times(times)),
            }
        }
        if singles > 0 || terms.is_empty() {
            terms.push(singles.to_string());
        }
        match terms.len() {
            1 => terms.remove(0),
            _ => format!("({})", terms.join(" + ")),
        }
    }

    /// Returns a repetition count, checked.
    fn times(&mut self, e: &Expression) -> String {
        if let Some(name) = self.prepared.get(&address(e)) {
            return name.clone();
        }
        if let ExpressionKind::Constant(Constant::Ordinal(value)) = &e.kind
            && *value >= 0
        {
            return value.to_string();
        }
        let value = self.plain(e);
        let name = self.temp("sr_int", &value);
        let at = self.at(e.span);
        self.line(format!("if ({name} < 0)"));
        self.line(format!("    sr_bad_repetition({at}, {name});"));
        self.prepared.insert(address(e), name.clone());
        name
    }

    /// Stores a constructor's elements in an array, whose size must be right.
    pub(super) fn fill(&mut self, view: &View, parts: &Parts, span: Span) {
        let at = self.at(span);
        let count = self.count(parts);
        let dim = view.dims[0].clone();
        if dim.low != "1" || dim.high != count {
            self.line(format!(
                "sr_check_sizes({at}, {}, {}, 1, {count});",
                dim.low, dim.high
            ));
        }
        let next = format!("n{}", self.number());
        self.line(format!("int64_t {next} = 0;"));
        let mut rest = parts.iter();
        while let Some((times, value)) = rest.as_slice().first() {
            let known = self.known_values(view, rest.as_slice());
            if !known.is_empty() {
                self.fill_known(view, &dim, &next, value, &known);
                rest.nth(known.len() - 1);
                continue;
            }
            rest.next();
            let Some(times) = times else {
                self.fill_one(view, &dim, &next, value);
                self.line(format!("{next}++;"));
                continue;
            };
            let times = self.times(times);
            let is_guarded = has_effects(value);
            if is_guarded {
                self.out.open(format!("if ({times} > 0) {{"));
            }
            self.prepare(value);
            let end = format!("n{}", self.number());
            self.out.open(format!(
                "for (int64_t {end} = {next} + {times}; {next} < {end}; {next}++) {{"
            ));
            self.fill_one(view, &dim, &next, value);
            self.out.close("}");
            if is_guarded {
                self.out.close("}");
            }
        }
        for (times, value) in parts {
            self.prepared.remove(&address(value));
            times.iter().for_each(|t| {
                self.prepared.remove(&address(t));
            });
        }
    }

    /// Returns C constants for the single elements at the start of the parts. They must be numbers
    /// or strings, and enough to be worth a table.
    fn known_values(&mut self, view: &View, parts: &Parts) -> Vec<String> {
        let is_single = view.dims.len() == 1;
        let class = self.unit.class(view.element);
        let known = parts.iter().take_while(|(times, value)| {
            let is_known = match class {
                Class::Plain => is_number(value) && value.of == parts[0].1.of,
                Class::Text => constant_text(value).is_some(),
                Class::Array(_) => false,
            };
            is_single && times.is_none() && is_known
        });
        let count = known.count();
        if count < FEWEST_IN_TABLE {
            return Vec::new();
        }
        let parts = &parts[..count];
        let (written, values) = self.aside(|f| {
            let values = parts.iter().map(|(_, value)| match constant_text(value) {
                Some(text) => format!("{{{}, {}}}", c::string(text), text.len()),
                None => f.plain(value),
            });
            values.collect::<Vec<_>>()
        });
        match written.is_empty() {
            true => values,
            false => Vec::new(),
        }
    }

    /// Stores known elements from a table; `first` is the first one.
    fn fill_known(
        &mut self,
        view: &View,
        dim: &Dim,
        next: &str,
        first: &Expression,
        known: &[String],
    ) {
        let table = format!("t{}", self.number());
        let place = format!("n{}", self.number());
        let c_type = match constant_text(first) {
            Some(_) => "sr_text".to_string(),
            None => self.unit.plain_type(first.of),
        };
        self.line(format!("static const {c_type} {table}[] = {{"));
        for line in known.chunks(16) {
            self.line(format!("    {},", line.join(", ")));
        }
        self.line("};");
        let count = known.len();
        self.out.open(format!(
            "for (int64_t {place} = 0; {place} < {count}; {place}++, {next}++) {{"
        ));
        self.prepared
            .insert(address(first), format!("{table}[{place}]"));
        self.fill_one(view, dim, next, first);
        self.prepared.remove(&address(first));
        self.out.close("}");
    }

    /// Evaluates a value that is stored repeatedly once, if that makes a difference.
    fn prepare(&mut self, value: &Expression) {
        let is_simple = !has_effects(value);
        match self.unit.class(value.of) {
            Class::Plain => {
                let text = self.plain(value);
                let c_type = self.unit.plain_type(value.of);
                let name = self.temp(&c_type, &text);
                self.prepared.insert(address(value), name);
            }
            Class::Text if !self.prepared.contains_key(&address(value)) => {
                let name = self.text_name(value);
                self.prepared.insert(address(value), name);
            }
            Class::Array(_) if !is_simple => {
                let view = self.array(value);
                let name = self.view_name(&view);
                self.prepared.insert(address(value), name);
            }
            _ => {}
        }
    }

    fn fill_one(&mut self, view: &View, dim: &Dim, next: &str, value: &Expression) {
        let offset = match dim.stride.as_str() {
            "1" => next.to_string(),
            stride => format!("{next} * {stride}"),
        };
        let value_here = match (
            self.prepared.get(&address(value)).cloned(),
            self.unit.class(value.of),
        ) {
            (Some(name), Class::Plain) => Value::Plain(name),
            (Some(name), Class::Text) => Value::Text(name),
            (Some(name), Class::Array(_)) => Value::Array(self.view_of(&name, value.of, false)),
            (None, _) => {
                if let (ExpressionKind::Array(inner), true) = (&value.kind, view.dims.len() > 1) {
                    let rest = self.rest(view, &format!("({offset})"), 1);
                    self.out.open("{");
                    self.fill(&rest, inner, value.span);
                    self.out.close("}");
                    return;
                }
                self.value(value)
            }
        };
        let place = if view.dims.len() > 1 {
            Place::Array(self.rest(view, &format!("({offset})"), 1))
        } else {
            match self.element_at(view, &offset) {
                super::views::Element::Lvalue(lvalue) => match self.unit.class(view.element) {
                    Class::Text => Place::Text(format!("SR_STRING({lvalue})")),
                    _ => Place::Plain(lvalue),
                },
                super::views::Element::String(string) => Place::Text(string),
            }
        };
        self.store(&place, &value_here, value.span);
    }
}

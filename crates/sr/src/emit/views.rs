//! Arrays as C expressions: the place of the data, and the bounds.

use super::function::Function;
use crate::program::*;

/// A dimension: C expressions without effects.
#[derive(Debug, Clone)]
pub(super) struct Dim {
    pub(super) low: String,
    pub(super) high: String,
    /// The distance between elements: in elements if [`View::is_typed`], otherwise in bytes.
    pub(super) stride: String,
}

/// An array, or a part of one.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// The address of the first element.
    pub(super) data: String,
    /// Whether `data` has the element's C type and strides count elements. Otherwise it is a `char
    /// *` and they count bytes.
    pub(super) is_typed: bool,
    /// The dimensions.
    pub(super) dims: Vec<Dim>,
    /// The type of elements.
    pub(super) element: TypeId,
    /// If elements are strings, their maximum.
    pub(super) most: String,
    /// A C variable of type `struct sr_arrayN` that holds exactly this view.
    pub(super) whole: Option<String>,
    /// Whether the elements lie side by side.
    pub(super) is_packed: bool,
}

/// The object under a subscript.
pub(super) enum Element {
    /// An lvalue of a C type.
    Lvalue(String),
    /// A string of computed maximum: a C expression of type `sr_string`.
    String(String),
}

impl Function<'_> {
    /// Returns the distance in bytes between elements of a dense array.
    pub(super) fn element_bytes(&self, view: &View) -> String {
        match self.unit.element_type(view.element) {
            Some(c_type) => format!("(int64_t)sizeof({c_type})"),
            None => format!("SR_STRING_BYTES({})", view.most),
        }
    }

    /// Returns the maximum of strings in arrays that are only seen from outside.
    pub(super) fn element_most(&self, element: TypeId, whole: &str) -> String {
        match self.unit.program.types.get(element) {
            Type::Text(Extent::Known(most)) => most.to_string(),
            Type::Text(_) => format!("{whole}.most"),
            _ => "0".into(),
        }
    }

    /// Returns the view that a C variable of type `struct sr_arrayN` holds. `is_packed` says that
    /// its elements are known to lie side by side.
    pub(super) fn view_of(&self, whole: &str, of: TypeId, is_packed: bool) -> View {
        let (dimensions, element) = self.unit.program.types.flat(of);
        let last = dimensions.len() - 1;
        let most = self.element_most(element, whole);
        let mut view = View {
            data: format!("{whole}.data"),
            is_typed: false,
            dims: Vec::new(),
            element,
            most,
            whole: Some(whole.to_string()),
            is_packed,
        };
        let bytes = self.element_bytes(&view);
        for (n, dimension) in dimensions.iter().enumerate() {
            let known = |extent: Extent, field: &str| match extent {
                // The variable's own declaration fixed them, or a parameter was made to agree.
                Extent::Known(value) if is_packed => constant(value),
                _ => format!("{whole}.d[{n}].{field}"),
            };
            view.dims.push(Dim {
                low: known(dimension.low, "low"),
                high: known(dimension.high, "high"),
                stride: match is_packed && n == last {
                    true => bytes.clone(),
                    false => format!("{whole}.d[{n}].stride"),
                },
            });
        }
        view
    }

    /// Returns the view of storage in place, or of memory behind a pointer of the element's type.
    pub(super) fn view_in_place(&self, data: &str, of: TypeId) -> View {
        let bounds = self.unit.known_bounds(of).unwrap_or_default();
        let (_, element) = self.unit.program.types.flat(of);
        let mut dims = Vec::new();
        let mut stride = 1i64;
        for (low, high) in bounds.iter().rev() {
            dims.push(Dim {
                low: constant(*low),
                high: constant(*high),
                stride: stride.to_string(),
            });
            stride *= (i64::from(*high) - i64::from(*low) + 1).max(0);
        }
        dims.reverse();
        View {
            data: data.to_string(),
            is_typed: true,
            dims,
            element,
            most: self.element_most(element, data),
            whole: None,
            is_packed: true,
        }
    }

    /// Returns `view.data + offset`.
    pub(super) fn moved(&self, view: &View, offset: &str) -> String {
        match offset {
            "0" => view.data.clone(),
            _ => format!("({} + {offset})", view.data),
        }
    }

    /// Returns the object at an offset.
    pub(super) fn element_at(&self, view: &View, offset: &str) -> Element {
        match self.unit.element_type(view.element) {
            Some(_) if view.is_typed => Element::Lvalue(format!("{}[{offset}]", view.data)),
            Some(c_type) => Element::Lvalue(format!(
                "(*{}{})",
                cast(&super::types::pointer_to(&c_type)),
                self.moved(view, offset)
            )),
            None => Element::String(format!(
                "sr_string_in({}, {})",
                self.moved(view, offset),
                view.most
            )),
        }
    }

    /// Returns the part of a view that remains when the first dimensions have subscripts.
    pub(super) fn rest(&self, view: &View, offset: &str, taken: usize) -> View {
        View {
            data: self.moved(view, offset),
            dims: view.dims[taken..].to_vec(),
            whole: None,
            ..view.clone()
        }
    }

    /// Returns the view as a value of type `struct sr_arrayN`.
    pub(super) fn view_value(&self, view: &View) -> String {
        if let Some(whole) = &view.whole {
            return whole.clone();
        }
        let bytes = self.element_bytes(view);
        let dims = view.dims.iter().map(|d| match view.is_typed {
            true if d.stride == "1" => format!("{{{}, {}, {bytes}}}", d.low, d.high),
            true => format!("{{{}, {}, {} * {bytes}}}", d.low, d.high, d.stride),
            false => format!("{{{}, {}, {}}}", d.low, d.high, d.stride),
        });
        let dims = dims.collect::<Vec<_>>().join(", ");
        let data = match view.is_typed {
            true => format!("(char *){}", view.data),
            false => view.data.clone(),
        };
        let most = match view.most.as_str() {
            "0" => String::new(),
            most => format!(", {most}"),
        };
        format!(
            "((struct sr_array{}){{{data}, {{{dims}}}{most}}})",
            view.dims.len()
        )
    }

    /// Returns the name of a C variable that holds the view, for functions that need its address. A
    /// variable of the program is copied, so that its bounds stay in registers.
    pub(super) fn view_name(&mut self, view: &View) -> String {
        if let Some(whole) = &view.whole
            && whole.starts_with('t')
        {
            return whole.clone();
        }
        let value = self.view_value(view);
        self.temp(&format!("struct sr_array{}", view.dims.len()), &value)
    }
}

/// Returns `(type)`.
pub(super) fn cast(c_type: &str) -> String {
    format!("({c_type})")
}

/// Returns an integer in C.
pub(super) fn constant(value: i32) -> String {
    match value {
        i32::MIN => "(-2147483647 - 1)".into(),
        value if value < 0 => format!("({value})"),
        value => value.to_string(),
    }
}

//! Specifications and their separate bodies.

use std::collections::HashMap;

use antiphon_lang::Diagnostic;

use crate::syntax::{Body, Component, ComponentKind, Item};

/// A component with its body, wherever the body is.
pub(super) struct Unit<'a> {
    /// Name, kind, parameters and specification.
    pub(super) head: &'a Component,
    /// The body's items; none for an abstract resource. A global always has a body.
    pub(super) body: Option<&'a [Item]>,
    /// The position, among all components, of the specification or the body, whichever comes later;
    /// none if there is no body.
    pub(super) order: Option<usize>,
    /// The position of the specification.
    head_order: usize,
}

impl Unit<'_> {
    /// Whether a body was announced as separate but is missing.
    pub(super) fn is_incomplete(&self) -> bool {
        self.body.is_none() && self.head.body == Body::Separate
    }
}

/// The help for something that is in none of the files.
pub(super) const MISSING: &str = "name the file that has it on the command line, too";

/// Finds each component's body. Errors include a component with two specifications, and a body
/// without specification.
pub(super) fn pair(files: &[Vec<Component>]) -> (Vec<Unit<'_>>, Vec<Diagnostic>) {
    let mut units: Vec<Unit<'_>> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let all = || files.iter().flatten().enumerate();
    for (order, component) in all() {
        if component.kind == ComponentKind::SeparateBody {
            continue;
        }
        if numbers.contains_key(component.name.text.as_str()) {
            diagnostics.push(twice(component));
            continue;
        }
        numbers.insert(&component.name.text, units.len());
        units.push(unit(component, order));
    }
    for (order, component) in all() {
        let Body::Items(items) = &component.body else {
            continue;
        };
        if component.kind != ComponentKind::SeparateBody {
            continue;
        }
        let Some(&number) = numbers.get(component.name.text.as_str()) else {
            let message = format!("there is no specification of {}", component.name.text);
            diagnostics.push(Diagnostic::error(component.name.span, message).help(MISSING));
            continue;
        };
        let unit = &mut units[number];
        if unit.order.is_some() && !is_implied(unit) {
            diagnostics.push(twice(component));
            continue;
        }
        unit.body = Some(items);
        unit.order = Some(order.max(unit.head_order));
    }
    // A resource without its body is reported where the resource is created, a global always.
    for unit in &units {
        if unit.is_incomplete() && unit.head.kind == ComponentKind::Global {
            let message = format!("the body of {} is missing", unit.head.name.text);
            diagnostics.push(Diagnostic::error(unit.head.name.span, message).help(MISSING));
        }
    }
    (units, diagnostics)
}

fn unit(component: &Component, order: usize) -> Unit<'_> {
    let body: Option<&[Item]> = match &component.body {
        Body::Items(items) => Some(items),
        Body::None if component.kind == ComponentKind::Global => Some(&[]),
        Body::None | Body::Separate => None,
    };
    Unit {
        head: component,
        body,
        order: body.map(|_| order),
        head_order: order,
    }
}

/// Whether a global has no written body.
fn is_implied(unit: &Unit<'_>) -> bool {
    unit.head.body == Body::None
}

fn twice(component: &Component) -> Diagnostic {
    let message = format!("{} is there twice", component.name.text);
    let help = "give one of them another name, or leave one of the files out";
    Diagnostic::error(component.name.span, message).help(help)
}

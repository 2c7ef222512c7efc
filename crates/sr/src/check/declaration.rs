//! Variables and constants.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax::{Declarator, ObjectGroup};

use super::Checker;
use super::scope::Meaning;

/// Looks for variables of a component's instance.
struct OfInstance<'v> {
    variables: &'v [Variable],
    component: ComponentId,
    is_met: bool,
}

impl Visitor for OfInstance<'_> {
    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Variable(variable) = expression.kind {
            let storage = self.variables[variable.index()].storage;
            self.is_met |= storage == Storage::Component(self.component);
        }
    }
}

impl Checker<'_> {
    /// Checks `var` or `const` with its objects.
    pub(super) fn objects(&mut self, is_constant: bool, groups: &[ObjectGroup], span: Span) {
        for group in groups {
            let of = group.of.as_ref().map(|of| self.type_expression(of));
            for declarator in &group.declarators {
                self.object(is_constant, declarator, of.clone(), group, span);
            }
        }
    }

    /// Checks one name of a group, with the group's type if it has one.
    pub(super) fn object(
        &mut self,
        is_constant: bool,
        declarator: &Declarator,
        of: Option<(TypeId, Shape)>,
        group: &ObjectGroup,
        span: Span,
    ) {
        let name = &declarator.name;
        let is_typed = of.is_some() || !declarator.dimensions.is_empty();
        let (of, shape, value) = match (of, &group.value) {
            (Some(of), value) => {
                let (of, shape) = self.with_dimensions(&declarator.dimensions, of);
                let of = self.no_stars(of, name.span);
                let value = value.as_ref().map(|value| {
                    let value = self.expression(value);
                    self.convert_to(value, of)
                });
                (of, Some(shape), value)
            }
            (None, Some(value)) => {
                let value = self.expression(value);
                let (of, shape) = self.inferred(declarator, &value);
                let value = match &shape {
                    Some(_) => self.convert_to(value, of),
                    None => value,
                };
                (of, shape, Some(value))
            }
            (None, None) => (self.number(Type::Wrong), None, None),
        };
        if is_constant && value.is_none() {
            self.error_with(
                name.span,
                format!("the constant \"{}\" has no value", name.text),
                "give it one, with :=",
            );
        }
        let is_wrong = value.as_ref().is_some_and(|value| self.is_wrong(value));
        if *self.kind(of) == Type::Wrong || (is_wrong && !is_typed) {
            self.define(name, Meaning::Wrong);
            return;
        }
        if is_constant
            && let Some(value) = &value
            && let Some(value) = self.known_value(value, of, is_typed)
        {
            self.define(name, Meaning::Value(Box::new(value)));
            return;
        }
        self.declare(is_constant, declarator, of, shape, value, span);
    }

    /// Returns the type of a variable that takes it from its value, and a shape if its name has
    /// subscripts.
    fn inferred(&mut self, declarator: &Declarator, value: &Expression) -> (TypeId, Option<Shape>) {
        match self.kind(value.of) {
            Type::Null | Type::Noop => {
                self.error_with(
                    value.span,
                    "it is not known of which type this is",
                    format!("write the type: {}: type", declarator.name.text),
                );
                return (self.number(Type::Wrong), None);
            }
            Type::Nothing => {
                self.error(value.span, "this has no value");
                return (self.number(Type::Wrong), None);
            }
            Type::Wrong => return (value.of, None),
            _ => {}
        }
        if declarator.dimensions.is_empty() {
            return (self.of_value(value.of), None);
        }
        let (_, element) = self.program.types.flat(value.of);
        let (of, shape) = self.with_dimensions(&declarator.dimensions, (element, Shape::default()));
        (of, Some(shape))
    }

    /// Returns a value's type without the bounds that another variable's declaration computed.
    fn of_value(&mut self, of: TypeId) -> TypeId {
        let open = |extent: Extent| match extent {
            Extent::Computed => Extent::Any,
            known => known,
        };
        let opened = match self.kind(of).clone() {
            Type::Text(most) => Type::Text(open(most)),
            Type::Array(dimensions, element) => {
                let element = self.of_value(element);
                let dimensions = dimensions.into_iter().map(|d| Dimension {
                    low: open(d.low),
                    high: open(d.high),
                    ..d
                });
                Type::Array(dimensions.collect(), element)
            }
            other => other,
        };
        self.number(opened)
    }

    /// Returns the value of a constant, if the compiler knows it and it is simple enough to replace
    /// the constant.
    fn known_value(
        &mut self,
        value: &Expression,
        of: TypeId,
        is_typed: bool,
    ) -> Option<Expression> {
        let is_simple =
            self.is_ordered(of) || (matches!(self.kind(of), Type::Text(_)) && !is_typed);
        if !is_simple {
            return None;
        }
        let constant = self.fold(value)?;
        Some(Expression {
            kind: ExpressionKind::Constant(constant),
            of,
            span: value.span,
        })
    }

    fn declare(
        &mut self,
        is_constant: bool,
        declarator: &Declarator,
        of: TypeId,
        shape: Option<Shape>,
        value: Option<Expression>,
        span: Span,
    ) {
        let name = &declarator.name;
        let variable = self.variable(Variable {
            name: name.text.clone(),
            span: name.span,
            of,
            storage: self.storage(),
            is_constant,
            has_address: false,
        });
        if !self.place.is_block {
            let component = &mut self.program.components[self.component.index()];
            component.variables.push(variable);
        }
        self.define(name, Meaning::Variable(variable));
        self.export_value(name.text.as_str(), value.as_ref());
        let shape = shape.filter(|shape| !shape.bounds.is_empty() || shape.most.is_some());
        let kind = StatementKind::Declare {
            variable,
            shape,
            value,
        };
        self.push(kind, span);
    }

    /// Returns the storage of a variable that is declared here.
    pub(super) fn storage(&self) -> Storage {
        if self.place.is_block {
            Storage::Local(self.code)
        } else {
            Storage::Component(self.component)
        }
    }

    /// Exports the value of a resource's constant: other components see only that, as they have no
    /// instance.
    fn export_value(&mut self, name: &str, value: Option<&Expression>) {
        let is_global = self.program.components[self.component.index()].is_global;
        if !self.place.is_specification || self.place.is_block || is_global {
            return;
        }
        let Some(value) = value else {
            return;
        };
        let mut instance = OfInstance {
            variables: &self.program.variables,
            component: self.component,
            is_met: false,
        };
        walk_expression(value, &mut instance);
        if instance.is_met {
            self.error_with(
                value.span,
                "others cannot see this value: it is made of constants that each instance computes",
                "declare it in the body, or in a global",
            );
        }
        let meaning = Meaning::Value(Box::new(value.clone()));
        let exports = &mut self.states[self.component.index()].exports;
        if let Some((exported, seen)) = exports.last_mut()
            && exported == name
        {
            *seen = meaning;
        }
    }
}

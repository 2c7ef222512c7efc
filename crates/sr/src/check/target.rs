//! Targets: the operation that is invoked, serviced, queried, or made a capability.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::bounds::extent;
use super::scope::Meaning;

impl Checker<'_> {
    /// Returns the target of an invocation, input or query, with its signature; none if an error
    /// was found. This makes no capability.
    pub(super) fn target(&mut self, e: &syntax::Expression) -> Option<(Target, SignatureId)> {
        if let Some(target) = self.operation_named(e, &[]) {
            let target = target.ok()?;
            return self.with_signature(target, e.span);
        }
        if let syntax::ExpressionKind::Index(of, subscripts) = &e.kind
            && let Some(target) = self.operation_element(of, subscripts)
        {
            return self.with_signature(target.ok()?, e.span);
        }
        if let syntax::ExpressionKind::Name(name) = &e.kind
            && Self::is_predefined(name)
            && self.lookup(name, e.span).is_none()
        {
            self.error(
                e.span,
                format!("\"{name}\" is a predefined function: it can only be called"),
            );
            return None;
        }
        let value = self.expression(e);
        match *self.kind(value.of) {
            Type::Wrong => None,
            Type::Operation(signature) => match value.kind {
                ExpressionKind::Capability(target @ Target::Of(..)) => Some((target, signature)),
                _ => Some((Target::Value(Box::new(value)), signature)),
            },
            _ => {
                let name = self.type_name(value.of);
                self.error(
                    e.span,
                    format!("an operation is needed here, and this is {name}"),
                );
                None
            }
        }
    }

    /// Returns a target with its signature; reports missing subscripts.
    fn with_signature(&mut self, target: Target, span: Span) -> Option<(Target, SignatureId)> {
        let (operation, given) = match &target {
            Target::Declared(operation, subscripts) | Target::Of(_, operation, subscripts) => {
                (*operation, subscripts.len())
            }
            Target::Value(_) => return None,
        };
        let it = &self.program.operations[operation.index()];
        if it.dimensions.len() != given {
            let message = format!(
                "\"{}\" is an array of operations: one is needed, with its {} subscripts",
                it.name,
                it.dimensions.len()
            );
            self.error(span, message);
            return None;
        }
        Some((target, it.signature))
    }

    /// Returns the operation for a name, or for a component's name and one of its own. `Err` if an
    /// error was reported.
    fn operation_named(
        &mut self,
        e: &syntax::Expression,
        subscripts: &[syntax::Bounds],
    ) -> Option<Result<Target, ()>> {
        let meaning = match &e.kind {
            syntax::ExpressionKind::Name(name) => self.lookup(name, e.span)?,
            syntax::ExpressionKind::Field(of, name) => {
                if let Some(component) = self.component_named(of) {
                    self.lookup_in(component, name)
                } else {
                    return None;
                }
            }
            _ => return None,
        };
        match meaning {
            Meaning::Operation(operation) => {
                if self.is_foreign(operation, e.span) {
                    return Some(Err(()));
                }
                Some(self.subscribed(subscripts, operation, |at| Target::Declared(operation, at)))
            }
            _ => None,
        }
    }

    /// Checks an element of an array of operations, given by name or through a resource capability.
    pub(super) fn operation_element(
        &mut self,
        of: &syntax::Expression,
        subscripts: &[syntax::Bounds],
    ) -> Option<Result<Target, ()>> {
        // `a[1][2]` is `a[1,2]`.
        if let syntax::ExpressionKind::Index(inner, before) = &of.kind {
            let all: Vec<syntax::Bounds> = before.iter().chain(subscripts).cloned().collect();
            return self.operation_element(inner, &all);
        }
        if let Some(target) = self.operation_named(of, subscripts) {
            return Some(target);
        }
        let syntax::ExpressionKind::Field(resource, name) = &of.kind else {
            return None;
        };
        if self.component_named(resource).is_some() || !self.could_be_resource(resource) {
            return None;
        }
        let errors = self.diagnostics.len();
        let resource = self.expression(resource);
        if !matches!(self.kind(resource.of), Type::Resource(_)) {
            // It is checked again, as another kind of expression.
            self.diagnostics.truncate(errors);
            return None;
        }
        let Some(Target::Of(resource, operation, _)) = self.operation_of(resource, name) else {
            return Some(Err(()));
        };
        Some(self.subscribed(subscripts, operation, |at| {
            Target::Of(resource, operation, at)
        }))
    }

    /// Whether an expression might be a capability for a resource. This check is cheap.
    fn could_be_resource(&self, e: &syntax::Expression) -> bool {
        matches!(
            e.kind,
            syntax::ExpressionKind::Name(_)
                | syntax::ExpressionKind::Field(..)
                | syntax::ExpressionKind::Index(..)
                | syntax::ExpressionKind::Unary(syntax::UnaryOperator::Dereference, _)
        )
    }

    /// Adds subscripts to a target; each must be a single value.
    fn subscribed(
        &mut self,
        subscripts: &[syntax::Bounds],
        operation: OperationId,
        target: impl FnOnce(Vec<Expression>) -> Target,
    ) -> Result<Target, ()> {
        let bounds: Vec<TypeId> = self.program.operations[operation.index()]
            .dimensions
            .iter()
            .map(|(low, _)| low.of)
            .collect();
        if subscripts.len() > bounds.len() {
            let span = subscripts_span(subscripts);
            let name = self.program.operations[operation.index()].name.clone();
            let message = if bounds.is_empty() {
                format!("\"{name}\" is one operation, not an array of them")
            } else {
                format!("too many subscripts for \"{name}\"")
            };
            self.error(span, message);
            return Err(());
        }
        let mut values = Vec::new();
        for (subscript, &bound) in subscripts.iter().zip(&bounds) {
            let syntax::Bounds {
                lower: None,
                upper: syntax::Bound::Value(value),
            } = subscript
            else {
                let span = subscripts_span(subscripts);
                self.error(span, "an operation is needed, not a slice of them");
                return Err(());
            };
            let value = self.expression(value);
            if !self.is_wrong(&value) && !self.is_alike(value.of, bound) {
                let (has, needs) = (self.type_name(value.of), self.type_name(bound));
                self.error(
                    value.span,
                    format!("the subscript is {has}, and the bounds are {needs}"),
                );
                return Err(());
            }
            values.push(value);
        }
        Ok(target(values))
    }

    /// Returns the operation with a name of the resource that a capability is for.
    pub(super) fn operation_of(
        &mut self,
        resource: Expression,
        name: &syntax::Name,
    ) -> Option<Target> {
        let Type::Resource(component) = *self.kind(resource.of) else {
            return None;
        };
        let it = &self.program.components[component.index()];
        let found = it.operations.iter().copied().find(|o| {
            let operation = &self.program.operations[o.index()];
            operation.is_exported && operation.name == name.text
        });
        if let Some(operation) = found {
            return Some(Target::Of(Box::new(resource), operation, Vec::new()));
        }
        let known: Vec<&str> = self
            .exports(component)
            .map(|o| self.program.operations[o.index()].name.as_str())
            .collect();
        let message = format!(
            "resource \"{}\" exports no operation \"{}\"",
            it.name, name.text
        );
        if known.is_empty() {
            self.error(name.span, message);
        } else {
            let help = format!("it exports {}", known.join(", "));
            self.error_with(name.span, message, help);
        }
        None
    }

    /// Returns a target as a value: a capability, or an array of them if subscripts are missing.
    pub(super) fn capability(&mut self, target: Target, span: Span) -> Expression {
        let (operation, given) = match &target {
            Target::Declared(operation, subscripts) | Target::Of(_, operation, subscripts) => {
                (*operation, subscripts.len())
            }
            Target::Value(value) => return (**value).clone(),
        };
        let it = &mut self.program.operations[operation.index()];
        it.has_capability = true;
        let signature = it.signature;
        let rest: Vec<Dimension> = it.dimensions[given..]
            .iter()
            .map(|(low, high)| Dimension {
                index: low.of,
                low: extent(low),
                high: extent(high),
            })
            .collect();
        let one = self.number(Type::Operation(signature));
        let of = if rest.is_empty() {
            one
        } else {
            self.number(Type::Array(rest, one))
        };
        Expression {
            kind: ExpressionKind::Capability(target),
            of,
            span,
        }
    }
}

fn subscripts_span(subscripts: &[syntax::Bounds]) -> Span {
    let of = |bounds: &syntax::Bounds| match &bounds.upper {
        syntax::Bound::Value(value) => value.span,
        syntax::Bound::Any(span) => *span,
    };
    match (subscripts.first(), subscripts.last()) {
        (Some(first), Some(last)) => of(first).to(of(last)),
        _ => Span {
            file: 0,
            start: 0,
            end: 0,
        },
    }
}

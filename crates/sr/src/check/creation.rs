//! What is made at run time: objects, operations, and instances of resources.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::pair::MISSING;
use super::scope::Meaning;

impl Checker<'_> {
    /// `new(type)`, or `new(optype)`, which makes operations.
    pub(super) fn new_object(&mut self, of: &syntax::TypeExpression, span: Span) -> Expression {
        if let Some((signature, bounds)) = self.optype_in(of) {
            return self.new_of_signature(signature, &bounds, span);
        }
        let (of, shape) = self.type_expression(of);
        let of = self.no_stars(of, span);
        self.made(
            ExpressionKind::New(of, shape),
            Type::Pointer(Some(of)),
            span,
        )
    }

    /// If a type is an optype's name, perhaps with subscripts, its signature and the subscripts.
    fn optype_in(
        &mut self,
        of: &syntax::TypeExpression,
    ) -> Option<(SignatureId, Vec<syntax::Bounds>)> {
        match &of.kind {
            syntax::TypeKind::Array(bounds, element) => {
                let (signature, inner) = self.optype_in(element)?;
                Some((signature, bounds.iter().cloned().chain(inner).collect()))
            }
            syntax::TypeKind::Named(path) => match self.meaning_of_path(path)? {
                Meaning::Optype(signature) => Some((signature, Vec::new())),
                _ => None,
            },
            _ => None,
        }
    }

    /// `new(op prototype)` or `new(sem)`, perhaps with subscripts.
    pub(super) fn new_operation(
        &mut self,
        bounds: &[syntax::Bounds],
        prototype: Option<&syntax::Prototype>,
        span: Span,
    ) -> Expression {
        let signature = match prototype {
            Some(prototype) => self.prototype(prototype),
            None => self.bare_signature(),
        };
        self.new_of_signature(signature, bounds, span)
    }

    fn new_of_signature(
        &mut self,
        signature: SignatureId,
        bounds: &[syntax::Bounds],
        span: Span,
    ) -> Expression {
        let capability = self.number(Type::Operation(signature));
        let mut dimensions = Vec::new();
        let mut values = Vec::new();
        for bound in bounds {
            let Some((dimension, low, high)) = self.bounds(bound) else {
                return self.wrong(span);
            };
            dimensions.push(dimension);
            values.push((low, high));
        }
        let of = if dimensions.is_empty() {
            capability
        } else {
            self.number(Type::Array(dimensions, capability))
        };
        Expression {
            kind: ExpressionKind::NewOperation(signature, values),
            of,
            span,
        }
    }

    /// `create resource(arguments)`.
    pub(super) fn create(&mut self, creation: &syntax::Creation, span: Span) -> Expression {
        let Some(name) = &creation.resource else {
            return self.no_machines(span);
        };
        if creation.machine.is_some() {
            return self.no_machines(span);
        }
        let Some(component) = self.creatable(name) else {
            return self.wrong(span);
        };
        let arguments = self.creation_arguments(component, &creation.arguments, span);
        let region = creation
            .region
            .as_ref()
            .map(|region| Box::new(self.integer(region)));
        let kind = ExpressionKind::Create {
            component,
            arguments,
            region,
        };
        self.made(kind, Type::Resource(component), span)
    }

    /// The resource of a name, if instances of it can be created; an error is reported if not.
    fn creatable(&mut self, name: &syntax::Name) -> Option<ComponentId> {
        let component = match self.lookup(&name.text, name.span) {
            Some(Meaning::Component(component))
                if !self.program.components[component.index()].is_global =>
            {
                component
            }
            Some(Meaning::Wrong) => return None,
            Some(_) => {
                self.error(name.span, format!("\"{}\" is not a resource", name.text));
                return None;
            }
            None => {
                self.undeclared(&name.text, name.span);
                return None;
            }
        };
        if self.units[component.index()].is_incomplete() {
            let message = format!("the body of {} is missing", name.text);
            self.error_with(name.span, message, MISSING);
            return None;
        }
        if self.program.components[component.index()].is_abstract {
            let message = format!("\"{}\" has no body: it is there to be extended", name.text);
            self.error(name.span, message);
            return None;
        }
        Some(component)
    }

    /// The arguments of a resource's creation.
    fn creation_arguments(
        &mut self,
        component: ComponentId,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> Vec<Expression> {
        let parameters: Vec<Parameter> = self.program.components[component.index()]
            .parameters
            .iter()
            .map(|v| Parameter {
                passing: Passing::Value,
                of: self.program.variables[v.index()].of,
                shape: None,
            })
            .collect();
        self.arguments(&parameters, arguments, span)
            .unwrap_or_default()
    }

    /// Virtual machines are for later.
    pub(super) fn no_machines(&mut self, span: Span) -> Expression {
        self.error_with(
            span,
            "virtual machines are not supported yet",
            "create the resource on this machine: leave out \"on\" and \"create vm()\"",
        );
        self.wrong(span)
    }
}

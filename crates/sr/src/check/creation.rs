//! Creation at run time: objects, operations, and instances of resources.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::pair::MISSING;
use super::scope::Meaning;

impl Checker<'_> {
    /// `new(type)`, or `new(optype)`, which creates operations.
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

    /// If a type is an optype's name, perhaps with subscripts, returns its signature and the
    /// subscripts.
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
            return self.create_machine(creation, span);
        };
        let Some(component) = self.creatable(name) else {
            return self.wrong(span);
        };
        let arguments = self.creation_arguments(component, &creation.arguments, span);
        let region = creation
            .region
            .as_ref()
            .map(|region| Box::new(self.integer(region)));
        let machine = (creation.machine.as_ref())
            .map(|machine| Box::new(self.of_type(machine, Type::Machine)));
        let kind = ExpressionKind::Create {
            component,
            arguments,
            region,
            machine,
        };
        self.made(kind, Type::Resource(component), span)
    }

    /// Returns the resource with a name, if instances of it can be created; otherwise reports an
    /// error.
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

    /// Checks the arguments of a resource's creation.
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

    /// `create vm()`, perhaps on a machine: a number or the name of a host.
    fn create_machine(&mut self, creation: &syntax::Creation, span: Span) -> Expression {
        if !creation.arguments.is_empty() {
            self.error_with(
                span,
                "a virtual machine has no parameters",
                "write create vm(), and where it is to be behind on",
            );
            return self.wrong(span);
        }
        let mut place = Vec::new();
        if let Some(machine) = &creation.machine {
            let value = self.expression(machine);
            place.push(match self.kind(value.of) {
                Type::Text(_) | Type::Array(..) => self.of_type(machine, Type::Text(Extent::Any)),
                _ => self.integer(machine),
            });
        }
        let kind = ExpressionKind::Predefined(Predefined::CreateMachine, place);
        self.made(kind, Type::Machine, span)
    }
}

//! Invocations: the meaning of a name with arguments, and whether the arguments fit the parameters.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// `name(arguments)` as an expression.
    pub(super) fn invoke(&mut self, invocation: &syntax::Invocation, span: Span) -> Expression {
        if let syntax::ExpressionKind::Name(name) = &invocation.operation.kind {
            match self.lookup(name, invocation.operation.span) {
                Some(Meaning::Type(of, _)) => {
                    return self.type_invoked(of, &invocation.arguments, span);
                }
                None if Self::is_predefined(name) => {
                    return self.predefined(name, &invocation.arguments, span);
                }
                _ => {}
            }
        }
        if let Some(of) = self.type_of_component(&invocation.operation) {
            return self.type_invoked(of, &invocation.arguments, span);
        }
        let Some(call) = self.invocation(invocation, span) else {
            return self.wrong(span);
        };
        self.forbid(&call, Restriction::Send, "called");
        let of = match &self.program.signatures[call.signature.index()].result {
            Some(result) => result.of,
            None => self.number(Type::Nothing),
        };
        Expression {
            kind: ExpressionKind::Call(Box::new(call)),
            of,
            span,
        }
    }

    /// Returns the type if the expression is `component.type`.
    fn type_of_component(&mut self, e: &syntax::Expression) -> Option<TypeId> {
        let syntax::ExpressionKind::Field(of, name) = &e.kind else {
            return None;
        };
        let component = self.component_named(of)?;
        match self.lookup_in(component, name) {
            Meaning::Type(of, _) => Some(of),
            _ => None,
        }
    }

    /// Checks a type's name with arguments: a record's constructor, or a conversion.
    fn type_invoked(
        &mut self,
        of: TypeId,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> Expression {
        if let Type::Record(number) = *self.kind(of) {
            return self.record_of(of, number, arguments, span);
        }
        let [argument] = arguments else {
            return self.refuse(span, "a conversion has one argument");
        };
        let value = self.expression(argument);
        self.explicit(value, of, span)
    }

    /// Checks an invocation with its arguments; none if an error was found.
    pub(super) fn invocation(
        &mut self,
        invocation: &syntax::Invocation,
        span: Span,
    ) -> Option<Invocation> {
        let Some((target, signature)) = self.target(&invocation.operation) else {
            for argument in &invocation.arguments {
                self.expression(argument);
            }
            return None;
        };
        let parameters = self.program.signatures[signature.index()]
            .parameters
            .clone();
        let arguments = self.arguments(&parameters, &invocation.arguments, span)?;
        Some(Invocation {
            target,
            signature,
            arguments,
            span,
        })
    }

    /// Checks arguments against parameters.
    pub(super) fn arguments(
        &mut self,
        parameters: &[Parameter],
        arguments: &[syntax::Expression],
        span: Span,
    ) -> Option<Vec<Expression>> {
        if parameters.len() != arguments.len() {
            let (has, needs) = (arguments.len(), parameters.len());
            let s = if needs == 1 { "" } else { "s" };
            self.error(span, format!("{needs} argument{s} needed, and {has} given"));
            return None;
        }
        let mut checked = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let value = self.argument(parameter, argument);
            if self.is_wrong(&value) {
                return None;
            }
            checked.push(value);
        }
        Some(checked)
    }

    fn argument(&mut self, parameter: &Parameter, argument: &syntax::Expression) -> Expression {
        if parameter.passing == Passing::Value {
            let value = self.expression(argument);
            return self.convert_to(value, parameter.of);
        }
        let place = if parameter.passing == Passing::Reference {
            self.addressable(argument)
        } else {
            self.place(argument)
        };
        if self.is_wrong(&place) {
            return place;
        }
        let comes_back = self.is_assignable(place.of, parameter.of);
        let fits = match parameter.passing {
            Passing::Result => comes_back,
            Passing::Var => comes_back && self.is_assignable(parameter.of, place.of),
            _ => self.is_alike(parameter.of, place.of),
        };
        if !fits {
            let (has, needs) = (self.type_name(place.of), self.type_name(parameter.of));
            return self.refuse(
                argument.span,
                format!("a variable of type {needs} is needed here, and this is {has}"),
            );
        }
        place
    }

    /// Reports an invocation that the operation's restriction forbids.
    pub(super) fn forbid(&mut self, invocation: &Invocation, only: Restriction, done: &str) {
        let restriction = self.program.signatures[invocation.signature.index()].restriction;
        if restriction == only {
            let allowed = if only == Restriction::Send {
                "send"
            } else {
                "call"
            };
            self.error(
                invocation.span,
                format!("the operation is restricted to {{{allowed}}}: it cannot be {done}"),
            );
        }
    }
}

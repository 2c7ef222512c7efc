//! Input statements: `in`, `receive` and `P`.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    pub(super) fn input(
        &mut self,
        arms: &[syntax::Arm],
        other: Option<&syntax::Block>,
    ) -> StatementKind {
        let checked = arms.iter().filter_map(|arm| self.arm(arm)).collect();
        StatementKind::Input(checked, other.map(|block| self.block(block)))
    }

    /// Checks an arm; none if its operation is wrong.
    fn arm(&mut self, arm: &syntax::Arm) -> Option<Arm> {
        self.scopes.open();
        let quantifiers = self.quantifiers(&arm.quantifiers);
        let span = arm.operation.span;
        let target = self.target(&arm.operation);
        let target = target.filter(|(target, _)| self.is_serviceable(target, span));
        let signature = target.as_ref().map(|(_, signature)| *signature);
        let (parameters, result) = self.arm_parameters(arm, signature);
        let synchronization = arm.synchronization.as_ref().map(|e| self.boolean(e));
        let scheduling = arm.scheduling.as_ref().map(|e| self.ordered(e));
        self.place.serviced.push(signature);
        let block = self.block(&arm.block);
        self.place.serviced.pop();
        self.scopes.close();
        target.map(|(target, _)| Arm {
            quantifiers,
            target,
            parameters,
            result,
            synchronization,
            scheduling,
            block,
            span,
        })
    }

    /// Declares the names of an invocation's parameters in an arm.
    fn arm_parameters(
        &mut self,
        arm: &syntax::Arm,
        signature: Option<SignatureId>,
    ) -> (Vec<VariableId>, Option<VariableId>) {
        let Some(signature) = signature else {
            for name in arm.parameters.iter().chain(&arm.result) {
                self.define(name, Meaning::Wrong);
            }
            return (Vec::new(), None);
        };
        let declared = self.program.signatures[signature.index()].clone();
        let span = arm.operation.span;
        let (needed, given) = (declared.parameters.len(), arm.parameters.len());
        if needed != given {
            let s = if needed == 1 { "" } else { "s" };
            self.error(
                span,
                format!("the operation has {needed} parameter{s}, and {given} are named here"),
            );
        }
        self.check_result(signature, arm.result.as_ref(), span);
        let mut parameters = Vec::new();
        for (at, parameter) in declared.parameters.iter().enumerate() {
            let name = arm.parameters.get(at);
            parameters.push(self.parameter_variable(name, parameter, span, true));
        }
        for extra in arm.parameters.iter().skip(needed) {
            self.define(extra, Meaning::Wrong);
        }
        let result = declared.result.as_ref();
        let result = result
            .map(|parameter| self.parameter_variable(arm.result.as_ref(), parameter, span, true));
        (parameters, result)
    }

    /// Reports an error if an input statement here cannot service an operation. Returns whether it
    /// can.
    fn is_serviceable(&mut self, target: &Target, span: Span) -> bool {
        let Target::Declared(operation, _) = target else {
            return true;
        };
        let row = &self.program.operations[operation.index()];
        let name = row.name.clone();
        match row.service {
            Service::External => {
                let message = format!("\"{name}\" is a C function: it is serviced already");
                self.error(span, message);
                false
            }
            Service::Proc(code) => {
                let other = self.program.codes[code.index()].span;
                self.serviced_by_proc(&name, other, span);
                false
            }
            _ => true,
        }
    }

    /// Reports an operation that both a proc and an input statement service.
    pub(super) fn serviced_by_proc(&mut self, name: &str, proc: Span, input: Span) {
        let line = self.sources.file(proc.file).position(proc.start).0;
        self.error_with(
            input,
            format!("\"{name}\" is implemented twice: by a proc, and by this"),
            format!("the proc begins in line {line}: service the operation in one way"),
        );
    }

    /// `receive operation(places)`, or P.
    pub(super) fn receive(
        &mut self,
        operation: &syntax::Expression,
        places: &[syntax::Expression],
        word: &str,
        span: Span,
    ) -> Option<StatementKind> {
        let target = self.target(operation);
        let places: Vec<Expression> = places.iter().map(|place| self.place(place)).collect();
        let (target, signature) = target?;
        if !self.is_serviceable(&target, operation.span) {
            return None;
        }
        let declared = self.program.signatures[signature.index()].clone();
        if declared.result.is_some() {
            self.error_with(
                span,
                format!("{word} cannot take an invocation that waits for a result"),
                "write in … ni, and assign the result there",
            );
            return None;
        }
        let (needed, given) = (declared.parameters.len(), places.len());
        if needed != given {
            let s = if needed == 1 { "" } else { "s" };
            self.error(
                span,
                format!("the operation has {needed} parameter{s}, and {word} takes {given}"),
            );
            return None;
        }
        for (parameter, place) in declared.parameters.iter().zip(&places) {
            self.received(parameter, place, word);
        }
        Some(StatementKind::Receive(target, places))
    }

    fn received(&mut self, parameter: &Parameter, place: &Expression, word: &str) {
        if matches!(parameter.passing, Passing::Var | Passing::Result) {
            self.error_with(
                place.span,
                format!("{word} cannot take a parameter that is passed back"),
                "write in … ni, and assign the parameter there",
            );
        } else if !self.is_wrong(place) && !self.is_assignable(place.of, parameter.of) {
            let (has, gets) = (self.type_name(place.of), self.type_name(parameter.of));
            self.error(
                place.span,
                format!("the parameter is {gets}, and this is a variable of type {has}"),
            );
        }
    }
}

//! Implementations of operations: procs, procedures and processes; and the final part.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::{Name, Proc, Prototype};

use super::scope::Meaning;
use super::{Checker, Place};

/// A parameter's name, if it has one that is not left out.
type Named<'n> = Option<&'n Name>;

impl Checker<'_> {
    /// `proc name (parameters) returns name … end`.
    pub(super) fn proc(&mut self, proc: &Proc, span: Span) {
        let Some(operation) = self.implemented(&proc.name) else {
            // Its code is checked all the same.
            let parameters: Vec<Named<'_>> = proc.parameters.iter().map(Some).collect();
            self.unattached(&parameters, proc.result.as_ref(), &proc.block);
            return;
        };
        let signature = self.program.operations[operation.index()].signature;
        let parameters: Vec<Named<'_>> = proc.parameters.iter().map(Some).collect();
        self.count_parameters(&proc.name, signature, parameters.len(), proc.name.span);
        self.check_result(signature, proc.result.as_ref(), proc.name.span);
        self.implement(
            operation,
            &parameters,
            proc.result.as_ref(),
            &proc.block,
            span,
        );
    }

    /// Returns the operation that a proc implements; none if it cannot implement one.
    fn implemented(&mut self, name: &Name) -> Option<OperationId> {
        let meaning = self.lookup(&name.text, name.span);
        let operation = match meaning {
            Some(Meaning::Operation(operation)) => operation,
            Some(Meaning::Wrong) => return None,
            Some(_) => {
                self.error(name.span, format!("\"{}\" is not an operation", name.text));
                return None;
            }
            None => {
                self.error_with(
                    name.span,
                    format!("no operation \"{}\" is declared", name.text),
                    format!(
                        "declare it: op {0}(…); or write procedure {0}(…), which does that, too",
                        name.text
                    ),
                );
                return None;
            }
        };
        let row = &self.program.operations[operation.index()];
        let wrong = if row.component != self.component {
            Some("it belongs to another component")
        } else if !row.dimensions.is_empty() {
            Some("it is an array of operations, which only \"in\" and \"receive\" service")
        } else if row.home == Home::External {
            Some("it is a C function")
        } else {
            None
        };
        if let Some(why) = wrong {
            let message = format!("a proc cannot implement \"{}\": {why}", name.text);
            self.error(name.span, message);
            return None;
        }
        if let Service::Proc(other) = row.service {
            self.twice_implemented(name, self.program.codes[other.index()].span);
            return None;
        }
        Some(operation)
    }

    fn twice_implemented(&mut self, name: &Name, other: Span) {
        let line = self.sources.file(other.file).position(other.start).0;
        self.error_with(
            name.span,
            format!("\"{}\" is implemented twice", name.text),
            format!("the other proc begins in line {line}: remove one of the two"),
        );
    }

    /// Checks that an operation's parameters are all named.
    fn count_parameters(&mut self, name: &Name, signature: SignatureId, given: usize, span: Span) {
        let needed = self.program.signatures[signature.index()].parameters.len();
        if needed != given {
            let s = if needed == 1 { "" } else { "s" };
            self.error(
                span,
                format!(
                    "\"{}\" has {needed} parameter{s}, and {given} are named here",
                    name.text
                ),
            );
        }
    }

    /// Checks that a result has a name.
    pub(super) fn check_result(
        &mut self,
        signature: SignatureId,
        result: Option<&Name>,
        span: Span,
    ) {
        let has_result = self.program.signatures[signature.index()].result.is_some();
        match result {
            Some(name) if !has_result => {
                self.error_with(
                    name.span,
                    "the operation has no result",
                    "leave out \"returns\" here, or write it in the operation's declaration",
                );
            }
            None if has_result => {
                self.error_with(
                    span,
                    "the operation has a result, and it has no name here",
                    "write \"returns\" and a name after the parameters; the result is assigned to it",
                );
            }
            _ => {}
        }
    }

    /// `procedure name prototype … end`.
    pub(super) fn procedure(
        &mut self,
        name: &Name,
        prototype: &Prototype,
        block: &syntax::Block,
        span: Span,
    ) {
        let declared = self.bare_signature();
        let operation = self.operation_row(self.plain_operation(&name.text, name.span, declared));
        self.define(name, Meaning::Operation(operation));
        self.fill_signature(declared, prototype);
        if prototype.restriction != Restriction::None {
            self.error_with(
                name.span,
                "a procedure can only be called",
                "remove the restriction, or declare it with op and proc",
            );
        }
        self.program.signatures[declared.index()].restriction = Restriction::Call;
        self.begin_operation(operation, None, name.span);
        let parameters: Vec<Named<'_>> = prototype.parameters.iter().map(named).collect();
        for (parameter, named) in prototype.parameters.iter().zip(&parameters) {
            if named.is_none() {
                self.warn(
                    parameter.of.span,
                    "the parameter has no name, so nothing can be done with it",
                    "write a name and a colon before the type",
                );
            }
        }
        let result = prototype.result.as_ref().and_then(named);
        self.check_result(declared, result, name.span);
        self.implement(operation, &parameters, result, block, span);
    }

    /// `process name (quantifiers) … end`.
    pub(super) fn process(
        &mut self,
        name: &Name,
        quantifiers: &[syntax::Quantifier],
        block: &syntax::Block,
        region: Option<&syntax::Expression>,
        span: Span,
    ) {
        self.scopes.open();
        let is_block = std::mem::replace(&mut self.place.is_block, true);
        let checked: Vec<Quantifier> = quantifiers.iter().map(|q| self.quantifier(q)).collect();
        let region = region.map(|region| self.integer(region));
        self.place.is_block = is_block;
        self.scopes.close();

        let parameters = checked.iter().map(|quantifier| Parameter {
            passing: Passing::Value,
            of: self.program.variables[quantifier.variable.index()].of,
            shape: None,
        });
        let signature = Signature {
            parameters: parameters.collect(),
            result: None,
            restriction: Restriction::Send,
        };
        let signature = self.signature(signature);
        let process = self.operation_row(Operation {
            is_process: true,
            ..self.plain_operation(&name.text, name.span, signature)
        });
        self.define(name, Meaning::Operation(process));
        self.begin_operation(process, None, name.span);
        let names: Vec<Named<'_>> = quantifiers.iter().map(|q| Some(&q.name)).collect();
        self.implement(process, &names, None, block, span);
        let kind = StatementKind::Start {
            process,
            quantifiers: checked,
            region,
        };
        self.push(kind, name.span);
    }

    /// Checks a proc's code.
    fn implement(
        &mut self,
        operation: OperationId,
        parameters: &[Named<'_>],
        result: Named<'_>,
        block: &syntax::Block,
        span: Span,
    ) {
        let row = &self.program.operations[operation.index()];
        let (name, signature) = (row.name.clone(), row.signature);
        let code = self.new_code(self.component, CodeKind::Proc(operation), &name, span);
        self.program.operations[operation.index()].service = Service::Proc(code);
        let component = &mut self.program.components[self.component.index()];
        component.procs.push(code);
        let declared = self.program.signatures[signature.index()].clone();
        self.inside(code, |checker| {
            checker.place.serviced.push(Some(signature));
            let mut variables = Vec::new();
            for (at, parameter) in declared.parameters.iter().enumerate() {
                let named = parameters.get(at).copied().flatten();
                variables.push(checker.parameter_variable(named, parameter, span, false));
            }
            for extra in parameters.iter().skip(variables.len()).flatten() {
                checker.define(extra, Meaning::Wrong);
            }
            let returned = declared
                .result
                .as_ref()
                .map(|parameter| checker.parameter_variable(result, parameter, span, false));
            if let (Some(name), None) = (result, returned) {
                checker.define(name, Meaning::Wrong);
            }
            let row = &mut checker.program.codes[code.index()];
            row.parameters = variables;
            row.result = returned;
            checker.items(&block.items);
        });
    }

    /// Checks a proc of no known operation.
    fn unattached(&mut self, parameters: &[Named<'_>], result: Named<'_>, block: &syntax::Block) {
        self.inside(self.code, |checker| {
            checker.place.serviced.push(None);
            for name in parameters.iter().flatten() {
                checker.define(name, Meaning::Wrong);
            }
            if let Some(name) = result {
                checker.define(name, Meaning::Wrong);
            }
            checker.items(&block.items);
        });
    }

    /// Checks code with a scope and statements of its own. The statements become its block, except
    /// in a component's body.
    fn inside(&mut self, code: CodeId, check: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.code, code);
        let inner = Place {
            is_block: true,
            ..Place::default()
        };
        let place = std::mem::replace(&mut self.place, inner);
        self.scopes.open();
        check(self);
        self.scopes.close();
        let inner = std::mem::replace(&mut self.place, place);
        self.code = outer;
        if code != outer {
            self.program.codes[code.index()].block = Block {
                statements: inner.statements,
            };
        }
    }

    /// Declares a variable for a parameter of a proc or, with `is_arm`, of an invocation that an
    /// input statement takes.
    pub(super) fn parameter_variable(
        &mut self,
        name: Named<'_>,
        parameter: &Parameter,
        span: Span,
        is_arm: bool,
    ) -> VariableId {
        let storage = if is_arm {
            Storage::Arm(self.code, parameter.passing)
        } else {
            Storage::Parameter(self.code, parameter.passing)
        };
        let variable = self.variable(Variable {
            name: name.map(|name| name.text.clone()).unwrap_or_default(),
            span: name.map_or(span, |name| name.span),
            of: parameter.of,
            storage,
            is_constant: false,
            has_address: false,
        });
        if let Some(name) = name {
            self.define(name, Meaning::Variable(variable));
        }
        variable
    }

    /// `final … end`.
    pub(super) fn last(&mut self, block: &syntax::Block, span: Span) {
        if self.program.components[self.component.index()]
            .last
            .is_some()
        {
            self.error_with(
                span,
                "there are two final parts",
                "put the statements of both into one",
            );
        }
        let code = self.new_code(self.component, CodeKind::Final, "final", span);
        self.program.components[self.component.index()].last = Some(code);
        self.inside(code, |checker| checker.items(&block.items));
    }
}

fn named(parameter: &syntax::Parameter) -> Named<'_> {
    let declarator = parameter.declarator.as_ref();
    declarator.map(|declarator| &declarator.name)
}

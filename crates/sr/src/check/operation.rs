//! Declarations of operations, semaphores and C functions.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::{Declarator, OperationGroup, OperationKind, Path};

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// Checks `op` or `external` with its declarations.
    pub(super) fn operations(&mut self, is_external: bool, groups: &[OperationGroup], span: Span) {
        for group in groups {
            let signature = match &group.of {
                OperationKind::Prototype(_) => Some(self.bare_signature()),
                OperationKind::Named(path) => self.optype(path),
            };
            let mut declared = Vec::new();
            for declarator in &group.declarators {
                let Some(signature) = signature else {
                    self.define(&declarator.name, Meaning::Wrong);
                    continue;
                };
                if is_external {
                    self.external(declarator, signature);
                } else {
                    declared.extend(self.operation(declarator, signature));
                }
            }
            // A parameter may be a capability for the operation itself, so the signature is known
            // before.
            if let (OperationKind::Prototype(prototype), Some(signature)) = (&group.of, signature) {
                self.fill_signature(signature, prototype);
            }
            if is_external {
                self.check_external(&group.declarators, signature);
            }
            for operation in declared {
                self.begin_operation(operation, None, span);
            }
        }
    }

    fn optype(&mut self, path: &Path) -> Option<SignatureId> {
        match self.meaning_of_path(path) {
            Some(Meaning::Optype(signature)) => return Some(signature),
            Some(Meaning::Wrong) => {}
            Some(_) => self.error_with(
                path.name.span,
                format!("\"{}\" is not an optype", path.name.text),
                "write the parameters in parentheses, () if there are none",
            ),
            None => self.undeclared(&path.name.text, path.name.span),
        }
        None
    }

    fn external(&mut self, declarator: &Declarator, signature: SignatureId) {
        let name = &declarator.name;
        if !declarator.dimensions.is_empty() {
            self.error(name.span, "a C function has no subscripts");
        }
        if self.place.is_block {
            self.error_with(
                name.span,
                "a C function is declared in a block",
                "declare it in the component, outside of blocks and procs",
            );
        }
        let operation = self.operation_row(Operation {
            home: Home::External,
            service: Service::External,
            ..self.plain_operation(&name.text, name.span, signature)
        });
        self.define(name, Meaning::Operation(operation));
    }

    /// Checks that a C function can have such a signature.
    fn check_external(&mut self, declarators: &[Declarator], signature: Option<SignatureId>) {
        let (Some(declarator), Some(signature)) = (declarators.first(), signature) else {
            return;
        };
        let signature = self.program.signatures[signature.index()].clone();
        let span = declarator.name.span;
        if signature.restriction != Restriction::None {
            self.error(span, "a C function is not restricted");
        }
        if let Some(result) = &signature.result
            && !self.is_of_c(result.of, true)
        {
            let name = self.type_name(result.of);
            self.error_with(
                span,
                format!("a C function cannot give {name}"),
                "it gives bool, char, int, real, an enumeration, a pointer or a string",
            );
        }
        for (at, parameter) in signature.parameters.iter().enumerate() {
            let is_value = parameter.passing == Passing::Value;
            let is_file = *self.kind(parameter.of) == Type::File;
            let is_of_c = self.is_of_c(parameter.of, false) || is_file && is_value;
            if !is_of_c {
                let name = self.type_name(parameter.of);
                self.error_with(
                    span,
                    format!("a C function cannot take {name}"),
                    match is_file {
                        true => "C reads and writes files of its own kind: pass the file by value",
                        false => "there are no capabilities in C, and its files are others: pass numbers, strings, arrays, records or pointers",
                    },
                );
            }
            let comes_back = matches!(parameter.passing, Passing::Var | Passing::Result);
            let is_big = matches!(
                self.kind(parameter.of),
                Type::Text(_) | Type::Array(..) | Type::Record(_) | Type::Wrong
            );
            if comes_back && !is_big {
                self.warn(
                    span,
                    format!("parameter {} cannot bring back a result", at + 1),
                    "pass it by ref",
                );
            }
        }
    }

    /// Whether a C function can have a parameter, or a result, of a type.
    fn is_of_c(&self, of: TypeId, is_result: bool) -> bool {
        match self.kind(of) {
            Type::Operation(_) | Type::Resource(_) | Type::Machine | Type::File => false,
            Type::Array(_, element) => !is_result && self.is_of_c(*element, false),
            Type::Record(number) => {
                let fields = &self.program.types.records[*number as usize].fields;
                let are_of_c = fields.iter().all(|(_, field)| self.is_of_c(*field, false));
                !is_result && are_of_c
            }
            _ => true,
        }
    }

    /// Declares an operation or an array of them.
    fn operation(
        &mut self,
        declarator: &Declarator,
        signature: SignatureId,
    ) -> Option<OperationId> {
        let mut dimensions = Vec::new();
        for bounds in &declarator.dimensions {
            let Some((dimension, low, high)) = self.bounds(bounds) else {
                self.define(&declarator.name, Meaning::Wrong);
                return None;
            };
            if dimension.low == Extent::Any || dimension.high == Extent::Any {
                self.error(
                    declarator.name.span,
                    "the bounds of an array of operations cannot be \"*\"",
                );
            }
            dimensions.push((low, high));
        }
        let operation = self.operation_row(Operation {
            dimensions,
            ..self.plain_operation(&declarator.name.text, declarator.name.span, signature)
        });
        self.define(&declarator.name, Meaning::Operation(operation));
        Some(operation)
    }

    /// Begins an operation here; a semaphore with its first value.
    pub(super) fn begin_operation(
        &mut self,
        operation: OperationId,
        value: Option<Expression>,
        span: Span,
    ) {
        self.push(StatementKind::DeclareOperation { operation, value }, span);
    }

    /// Returns an operation that is declared here and not serviced yet.
    pub(super) fn plain_operation(
        &self,
        name: &str,
        span: Span,
        signature: SignatureId,
    ) -> Operation {
        let is_exported = self.place.is_specification && !self.place.is_block;
        Operation {
            name: name.to_string(),
            span,
            component: self.component,
            signature,
            dimensions: Vec::new(),
            home: if self.place.is_block {
                Home::Block(self.code)
            } else {
                Home::Component
            },
            is_exported,
            inherits: None,
            service: Service::Nobody,
            is_process: false,
            has_capability: is_exported,
        }
    }

    /// Adds a row for an operation. If the operation lives in its component's instance, the
    /// component lists it.
    pub(super) fn operation_row(&mut self, operation: Operation) -> OperationId {
        let id = OperationId(self.program.operations.len() as u32);
        if !matches!(operation.home, Home::Block(_)) {
            let component = &mut self.program.components[operation.component.index()];
            component.operations.push(id);
        }
        self.program.operations.push(operation);
        id
    }

    /// `sem` with names, bounds and first values.
    pub(super) fn semaphores(
        &mut self,
        declared: &[(Declarator, Option<syntax::Expression>)],
        span: Span,
    ) {
        for (declarator, value) in declared {
            let value = value.as_ref().map(|value| self.expression(value));
            let int = self.number(Type::Int);
            let value = value.map(|value| self.first_values(declarator, value, int));
            let signature = self.bare_signature();
            if let Some(operation) = self.operation(declarator, signature) {
                self.begin_operation(operation, value, span);
            }
        }
    }

    fn first_values(
        &mut self,
        declarator: &Declarator,
        value: Expression,
        int: TypeId,
    ) -> Expression {
        if declarator.dimensions.is_empty() {
            return self.convert_to(value, int);
        }
        if self.is_wrong(&value) {
            return value;
        }
        let (dimensions, element) = self.program.types.flat(value.of);
        if dimensions.len() != declarator.dimensions.len() || element != int {
            let name = self.type_name(value.of);
            self.error_with(
                value.span,
                format!(
                    "an array of semaphores begins with an array of integers, and this is {name}"
                ),
                "write ([n] 0) for n semaphores that begin with 0",
            );
            return self.wrong(value.span);
        }
        value
    }
}

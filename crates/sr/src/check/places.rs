//! Places: expressions that may be assigned, or have an address.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;

impl Checker<'_> {
    /// Checks a place that may be assigned.
    pub(super) fn place(&mut self, e: &syntax::Expression) -> Expression {
        let place = self.expression(e);
        if self.is_wrong(&place) {
            return place;
        }
        if let syntax::ExpressionKind::Name(name) = &e.kind
            && let ExpressionKind::Constant(_) = place.kind
        {
            return self.refuse(
                e.span,
                format!("\"{name}\" is a constant and cannot be assigned"),
            );
        }
        let is_replaced = self.replaces_operation(&place);
        if let (ExpressionKind::Capability(_), false) = (&place.kind, is_replaced) {
            self.error_with(
                e.span,
                "an operation cannot be replaced by another",
                "declare a variable of type cap for the operation, and assign that",
            );
            return self.wrong(e.span);
        }
        if !place.is_place() && !is_replaced {
            return self.refuse(e.span, "this cannot be assigned: it is not a variable");
        }
        if let Some(constant) = self.constant_at_root(&place) {
            let name = self.program.variables[constant.index()].name.clone();
            return self.refuse(
                e.span,
                format!("\"{name}\" is a constant and cannot be assigned"),
            );
        }
        place
    }

    /// Whether a place is an operation of a resource capability in a variable. Notes that it is
    /// replaced there.
    fn replaces_operation(&mut self, place: &Expression) -> bool {
        let ExpressionKind::Capability(Target::Of(resource, operation, _)) = &place.kind else {
            return false;
        };
        let is_array = !(self.program.operations[operation.index()].dimensions).is_empty();
        if is_array || !resource.is_place() {
            return false;
        }
        self.replaced.push(*operation);
        true
    }

    /// Checks a place that has an address: any but a slice.
    pub(super) fn addressable(&mut self, e: &syntax::Expression) -> Expression {
        let place = self.place(e);
        if matches!(
            place.kind,
            ExpressionKind::Slice(..) | ExpressionKind::TextSlice(..)
        ) {
            return self.refuse(
                e.span,
                "a slice cannot be used here: a variable or an element is needed",
            );
        }
        self.mark_address(&place);
        place
    }

    /// Notes that the address of a place's variable is taken.
    fn mark_address(&mut self, place: &Expression) {
        if let Some(variable) = root(place) {
            self.program.variables[variable.index()].has_address = true;
        }
    }

    fn constant_at_root(&self, place: &Expression) -> Option<VariableId> {
        root(place).filter(|v| self.program.variables[v.index()].is_constant)
    }

    /// `pointer^`.
    pub(super) fn dereference(&mut self, operand: &syntax::Expression, span: Span) -> Expression {
        let pointer = self.expression(operand);
        match *self.kind(pointer.of) {
            Type::Wrong => pointer,
            Type::Pointer(Some(of)) => Expression {
                kind: ExpressionKind::Dereference(Box::new(pointer)),
                of,
                span,
            },
            Type::Pointer(None) => self.refuse(
                span,
                "a \"ptr any\" points at nothing known; assign it to a pointer of a type first",
            ),
            _ => {
                let name = self.type_name(pointer.of);
                self.refuse(span, format!("^ follows a pointer, and this is {name}"))
            }
        }
    }
}

/// Returns the variable that a place is part of; none behind a pointer.
fn root(place: &Expression) -> Option<VariableId> {
    match &place.kind {
        ExpressionKind::Variable(variable) => Some(*variable),
        ExpressionKind::Field(of, _)
        | ExpressionKind::Index(of, _)
        | ExpressionKind::Slice(of, _)
        | ExpressionKind::TextIndex(of, _)
        | ExpressionKind::TextSlice(of, ..)
        | ExpressionKind::Capability(Target::Of(of, ..)) => root(of),
        _ => None,
    }
}

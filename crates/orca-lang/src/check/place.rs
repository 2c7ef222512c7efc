//! Places: designators that are assigned, or passed OUT or SHARED.

use super::Checker;
use super::scope::Symbol;
use crate::program::{Expr, ExprKind, VariableId, VariableKind};
use crate::syntax::{Expression, ExpressionKind};

impl Checker<'_> {
    /// Returns whether an expression designates a variable or a part of one.
    pub(super) fn is_place(expr: &Expr) -> bool {
        matches!(
            expr.kind,
            ExprKind::Variable(_)
                | ExprKind::Field(..)
                | ExprKind::State(..)
                | ExprKind::Element(..)
                | ExprKind::Node(..)
                | ExprKind::Wrong
        )
    }

    /// Checks a designator that is written to.
    pub(super) fn place(&mut self, expression: &Expression) -> Expr {
        let errors = self.error_count();
        let place = self.expression(expression);
        if self.error_count() > errors {
            return place;
        }
        if matches!(place.kind, ExprKind::Tag(_)) {
            let help = "assign a whole value, such as type:{tag, value}";
            self.error_help(
                place.span,
                "assignment to a union tag field is illegal",
                help,
            );
            return place;
        }
        if !Self::is_place(&place) {
            let what = match self.symbol_quietly(expression) {
                Some(symbol) => format!(", and this is {}", self.words(&symbol)),
                None => String::new(),
            };
            self.error(place.span, format!("a designator is expected{what}"));
            return place;
        }
        self.check_writable(&place);
        place
    }

    fn symbol_quietly(&mut self, expression: &Expression) -> Option<Symbol> {
        match &expression.kind {
            ExpressionKind::Name(name) => self.find(name),
            _ => None,
        }
    }

    fn check_writable(&mut self, place: &Expr) {
        let mut root = place;
        let mut own_element = None;
        loop {
            root = match &root.kind {
                ExprKind::Field(base, _) | ExprKind::State(base, _) | ExprKind::Node(base, ..) => {
                    base
                }
                ExprKind::Element(base, indices) => {
                    if let ExprKind::Variable(id) = base.kind
                        && self.is_partitioned(id)
                    {
                        own_element = Some(self.is_own(indices));
                    }
                    base
                }
                _ => break,
            };
        }
        let ExprKind::Variable(id) = root.kind else {
            return;
        };
        let variable = self.program.variable(id);
        let name = variable.name.clone();
        match variable.kind {
            VariableKind::Loop => {
                let message = format!("assignment to loop variable \"{name}\" is illegal");
                self.error_help(place.span, message, "copy it into a variable of its own");
            }
            VariableKind::Index => {
                let message = format!("assignment to partition index \"{name}\" is illegal");
                self.error(place.span, message);
            }
            VariableKind::Data if !self.is_data_module() => {
                let message = format!("assignment to data-module field \"{name}\" is illegal");
                let help = "only the initial code of its data module writes it";
                self.error_help(place.span, message, help);
            }
            VariableKind::State if own_element == Some(false) && self.in_parallel() => {
                let message = "assignment to a non-owned object field is illegal";
                let help = "a parallel operation writes the element at its own indices";
                self.error_help(place.span, message, help);
            }
            _ => {}
        }
    }

    fn in_parallel(&self) -> bool {
        self.here
            .routine
            .is_some_and(|id| self.program.routine(id).indices.is_some())
    }

    /// Returns whether indices are those of the parallel operation.
    fn is_own(&self, indices: &[Expr]) -> bool {
        let own = self
            .here
            .routine
            .and_then(|id| self.program.routine(id).indices.as_ref());
        own.is_some_and(|own| {
            own.len() == indices.len()
                && own
                    .iter()
                    .zip(indices)
                    .all(|(own, index)| matches!(index.kind, ExprKind::Variable(id) if id == *own))
        })
    }

    /// Returns whether a variable is a field of each element of a partitioned object.
    pub(super) fn is_partitioned(&self, id: VariableId) -> bool {
        let Some(unit) = self.here.unit.map(|unit| self.program.unit(unit)) else {
            return false;
        };
        unit.shape.is_some() && unit.variables.contains(&id)
    }

    /// Checks that an unindexed element stands in a parallel operation, because elsewhere there is
    /// no own element.
    pub(super) fn check_indexed(&mut self, designator: &Expr) {
        let mut root = designator;
        while let ExprKind::Field(base, _) | ExprKind::Node(base, ..) = &root.kind {
            root = base;
        }
        if let ExprKind::Variable(id) = root.kind
            && self.is_partitioned(id)
            && !self.in_parallel()
        {
            let name = &self.program.variable(id).name;
            let message = format!("\"{name}\" needs the indices of an element here");
            let help = "only a parallel operation has an element of its own";
            self.error_help(root.span, message, help);
        }
    }
}

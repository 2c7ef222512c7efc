//! Whether an expression keeps its value while a loop runs.

use std::collections::HashSet;

use super::{Facts, has_effects_itself};
use crate::program::*;

/// The changes that a loop makes to values outside of it.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The variables that are changed in it.
    pub(crate) variables: HashSet<VariableId>,
    /// Whether other code, of this process or of others, may run during the loop.
    pub(crate) lets_others_run: bool,
}

#[derive(Default)]
struct Finder {
    lets_others_run: bool,
}

impl Visitor for Finder {
    fn expression(&mut self, e: &Expression) {
        self.lets_others_run |= match &e.kind {
            ExpressionKind::Call(_) | ExpressionKind::Create { .. } => true,
            ExpressionKind::Predefined(function, _) => has_effects_itself(*function),
            _ => false,
        };
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind as K;
        self.lets_others_run |= !matches!(
            statement.kind,
            K::Declare { .. }
                | K::Expression(_)
                | K::Exit
                | K::Next
                | K::Return
                | K::Block(_)
                | K::If(..)
                | K::Do(..)
                | K::ForAll(..)
        );
    }
}

impl Changes {
    /// Returns the changes of a `fa` with this body.
    pub(crate) fn of(block: &Block, quantifiers: &[Quantifier], program: &Program) -> Changes {
        let mut finder = Finder::default();
        walk_block(block, &mut finder);
        for quantifier in quantifiers {
            let parts = [&quantifier.first, &quantifier.last];
            for e in parts
                .into_iter()
                .chain(&quantifier.test)
                .chain(&quantifier.step)
            {
                walk_expression(e, &mut finder);
            }
        }
        Changes {
            variables: super::assigned_in(block, program),
            lets_others_run: finder.lets_others_run,
        }
    }

    /// Returns changes that may be anything.
    pub(crate) fn any() -> Changes {
        Changes {
            variables: HashSet::new(),
            lets_others_run: true,
        }
    }
}

impl Facts {
    /// Whether an expression of constants and variables has the same value at every evaluation in a
    /// loop. With `switches`, heads of loops may let other processes run. Then a variable of an
    /// instance is steady only if no proc ever changes it.
    pub(crate) fn is_steady(
        &self,
        e: &Expression,
        changes: &Changes,
        switches: bool,
        program: &Program,
    ) -> bool {
        match &e.kind {
            ExpressionKind::Constant(_) => true,
            ExpressionKind::Variable(variable) => {
                if changes.variables.contains(variable) {
                    return false;
                }
                match program.variables[variable.index()].storage {
                    Storage::Component(_) => {
                        !changes.lets_others_run
                            && (!switches || !self.assigned_in_procs.contains(variable))
                    }
                    Storage::Parameter(_, Passing::Reference) => false,
                    _ => !self.addressed.contains(variable) || !changes.lets_others_run,
                }
            }
            // An array's bounds never change.
            ExpressionKind::Predefined(Predefined::Lb | Predefined::Ub, arguments) => {
                matches!(arguments[0].kind, ExpressionKind::Variable(_))
            }
            ExpressionKind::Binary(operator, a, b) => {
                matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract)
                    && self.is_steady(a, changes, switches, program)
                    && self.is_steady(b, changes, switches, program)
            }
            _ => false,
        }
    }
}

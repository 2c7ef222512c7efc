//! The operations that a program may invoke. Others are not written, which spares the C compiler
//! most of a standard unit.

use std::collections::BTreeSet;

use super::Emitter;
use crate::effects::{for_each_expr, with_parts};
use crate::program::{Expr, ExprKind, Program, RoutineId, UnitId};

/// Returns the operations that any routine invokes.
pub(super) fn invoked(program: &Program) -> BTreeSet<RoutineId> {
    let mut found = BTreeSet::new();
    for routine in &program.routines {
        for alternative in routine.body.iter().flatten() {
            let mut exprs: Vec<&Expr> = alternative.guard.iter().collect();
            for_each_expr(&alternative.statements, &mut |expr| exprs.push(expr));
            for expr in with_parts(exprs) {
                if let ExprKind::Invoke(_, id, _) = expr.kind {
                    found.insert(id);
                }
            }
        }
    }
    found
}

impl Emitter<'_> {
    /// Returns the operations of an object that are written, in the order of their numbers.
    pub(super) fn operations(&self, unit: UnitId) -> Vec<RoutineId> {
        let all = self.program.unit(unit).operations.iter().copied();
        let is_partitioned = self.shape(unit).is_some();
        all.filter(|id| is_partitioned || self.invoked.contains(id))
            .collect()
    }
}

//! Indices that a FOR loop makes of its variable: they are checked once for all rounds.
//!
//! ```text
//! FOR j IN 1..n DO               const bool x3 = ORCA_WITHIN(&a, x1, x2);
//!   s +:= a[j];            ─▶    for (..) {
//! OD;                                .. ORCA_AT_IF(double, &a, j, at, x3, 0)
//! ```
//!
//! If an index of any round is wrong, each round checks its own, and the error comes where it
//! would. The C compiler makes two loops of this, one of them without checks.

use std::collections::BTreeSet;

use super::Emitter;
use super::rows::exprs_of;
use crate::program::{Binary, Expr, ExprKind, Stat, Value, VariableId};

/// The farthest that an index may be from the variable.
const FAR: i64 = 1 << 30;

/// The elements that the loops around the statement have checked together.
pub(super) struct Range {
    /// The C variable that says whether all indices are right.
    name: String,
    /// The arrays and indices in C.
    elements: BTreeSet<(String, String)>,
}

impl Emitter<'_> {
    /// Checks the indices of a loop over `from..to`, whose variable no statement changes.
    pub(super) fn check_range(
        &mut self,
        variable: VariableId,
        (from, to): (&str, &str),
        body: &[Stat],
    ) {
        let Some(changed) = self.changed_by(body) else {
            return;
        };
        if self.is_long(self.program.variable(variable).of.ty) {
            return;
        }
        let (mut elements, mut checks) = (BTreeSet::new(), Vec::new());
        for expr in exprs_of(body) {
            let ExprKind::Element(base, indices) = &expr.kind else {
                continue;
            };
            let [index] = &indices[..] else { continue };
            let Some(by) = distance(index, variable) else {
                continue;
            };
            if !self.is_constant_array(base, &changed) {
                continue;
            }
            let Some(array) = self.list(base) else {
                continue;
            };
            if elements.insert((array.clone(), self.value(index))) {
                checks.push(format!("ORCA_WITHIN(&{array}, {from} + {by}, {to} + {by})"));
            }
        }
        if elements.is_empty() {
            return;
        }
        let (name, checks) = (self.fresh(), checks.join(" && "));
        self.line(format!("const bool {name} = {checks};"));
        self.ranges.push(Range { name, elements });
    }

    /// Returns the C variable that says whether an index is right, if there is one.
    pub(super) fn range(&self, array: &str, index: &str) -> Option<&str> {
        let element = (array.to_owned(), index.to_owned());
        let mut ranges = self.ranges.iter();
        let found = ranges.find(|range| range.elements.contains(&element))?;
        Some(&found.name)
    }
}

/// Returns how far an index is from a variable.
fn distance(index: &Expr, variable: VariableId) -> Option<i64> {
    let is_it = |expr: &Expr| matches!(expr.kind, ExprKind::Variable(id) if id == variable);
    let by = match &index.kind {
        ExprKind::Variable(_) if is_it(index) => 0,
        ExprKind::Binary(Binary::Add, left, right) if is_it(left) => constant(right)?,
        ExprKind::Binary(Binary::Add, left, right) if is_it(right) => constant(left)?,
        ExprKind::Binary(Binary::Subtract, left, right) if is_it(left) => -constant(right)?,
        _ => return None,
    };
    Some(by)
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Constant(Value::Integer(number)) if (-FAR..=FAR).contains(&number) => {
            Some(number)
        }
        _ => None,
    }
}

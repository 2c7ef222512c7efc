//! Rows of arrays that a loop does not change: they are looked up once, before the loop.
//!
//! ```text
//! WHILE .. DO                    const orca_array1 x1 = ORCA_ROW(orca_array1, &g, i);
//!   s +:= g[i][j];         ─▶    for (;;) {
//! OD;                                .. ORCA_AT_IF(double, &x1, j, at, 0, (..))
//! ```
//!
//! A row that is not there has no elements. So the loop checks `j` alone. If that fails, the rows
//! are checked first, and the error is that of `g[i][j]`.

use std::collections::BTreeSet;

use super::Emitter;
use super::expressions::has_effect;
use crate::effects::{for_each_expr, parts, with_parts};
use crate::program::{Binary, Expr, ExprKind, Stat, StatKind, TypeKind, Unary, VariableId};

/// A row that a loop around the statement has looked up.
pub(super) struct Row {
    /// The C variable that holds it.
    name: String,
    /// The array and the index that it was looked up by.
    key: (String, String),
}

/// The variables that statements change, which change no array otherwise than by its elements.
pub(super) type Changed = BTreeSet<VariableId>;

impl Emitter<'_> {
    /// Looks up the rows that a loop uses and does not change.
    pub(super) fn look_up_rows(&mut self, of: &Stat) {
        let whole = std::slice::from_ref(of);
        let Some(changed) = self.changed_by(whole) else {
            return;
        };
        for expr in exprs_of(whole) {
            if let ExprKind::Element(base, indices) = &expr.kind
                && indices.len() == 1
            {
                self.look_up(base, &changed);
            }
        }
    }

    /// Returns the variables that statements change, or nothing if they may change an array or
    /// call code that may.
    pub(super) fn changed_by(&self, statements: &[Stat]) -> Option<Changed> {
        let mut changed = Changed::new();
        let is_still = self.only_elements_change(statements, &mut changed)
            && !exprs_of(statements).into_iter().any(has_effect);
        is_still.then_some(changed)
    }

    /// Returns the checks of the indices of a row that a loop has looked up.
    pub(super) fn row_checks(&mut self, row: &Expr, at: &str) -> Option<String> {
        let ExprKind::Element(outer, _) = &row.kind else {
            return None;
        };
        let before = self.row_checks(outer, at);
        let (outer, index) = self.row_key(row)?;
        let check = format!("orca_place1(&{outer}, {index}, {at})");
        Some(before.map_or(String::new(), |it| it + ", ") + &check)
    }

    fn look_up(&mut self, array: &Expr, changed: &Changed) {
        let ExprKind::Element(outer, indices) = &array.kind else {
            return;
        };
        self.look_up(outer, changed);
        let is_constant = indices.iter().all(|it| self.is_constant(it, changed))
            && self.is_constant_array(outer, changed)
            && self.is_list(array);
        let key = match is_constant {
            true => self.row_key(array),
            false => None,
        };
        let Some(key) = key.filter(|key| self.rows.iter().all(|row| row.key != *key)) else {
            return;
        };
        let (name, (outer, index)) = (self.fresh(), &key);
        self.line(format!(
            "const orca_array1 {name} = ORCA_ROW(orca_array1, &{outer}, {index});"
        ));
        self.rows.push(Row { name, key });
    }

    /// Returns the C text of the array and the index of an element.
    fn row_key(&mut self, element: &Expr) -> Option<(String, String)> {
        let ExprKind::Element(outer, indices) = &element.kind else {
            return None;
        };
        let [index] = &indices[..] else { return None };
        let outer = self.list(outer).filter(|_| is_sum(index))?;
        Some((outer, self.value(index)))
    }

    /// Returns the C text of an array of one dimension: a variable, or a row that is looked up
    /// already.
    pub(super) fn list(&mut self, array: &Expr) -> Option<String> {
        if !self.is_list(array) {
            return None;
        }
        if let ExprKind::Element(..) = array.kind {
            let key = self.row_key(array)?;
            let found = self.rows.iter().find(|row| row.key == key)?;
            return Some(found.name.clone());
        }
        self.is_variable(array).then(|| self.place(array))
    }

    /// Returns whether an array has one dimension.
    fn is_list(&self, array: &Expr) -> bool {
        match self.program.kind(array.ty) {
            TypeKind::Array { indices, .. } => indices.len() == 1,
            _ => false,
        }
    }

    /// Returns whether a place is a variable, or a field of a record that is one.
    fn is_variable(&self, place: &Expr) -> bool {
        match &place.kind {
            ExprKind::Variable(id) => self.element_of(*id).is_none(),
            ExprKind::Field(base, _) => {
                matches!(self.program.kind(base.ty), TypeKind::Record(_)) && self.is_variable(base)
            }
            _ => false,
        }
    }

    pub(super) fn is_constant_array(&self, array: &Expr, changed: &Changed) -> bool {
        match &array.kind {
            ExprKind::Variable(id) => !changed.contains(id),
            ExprKind::Field(base, _) => self.is_constant_array(base, changed),
            ExprKind::Element(base, indices) => {
                indices.iter().all(|it| self.is_constant(it, changed))
                    && self.is_constant_array(base, changed)
            }
            _ => false,
        }
    }

    fn is_constant(&self, index: &Expr, changed: &Changed) -> bool {
        match &index.kind {
            ExprKind::Variable(id) => !changed.contains(id),
            _ => parts(index).iter().all(|it| self.is_constant(it, changed)),
        }
    }

    /// Collects the variables that statements change. Returns whether nothing else changes than
    /// values without arrays.
    fn only_elements_change(&self, statements: &[Stat], changed: &mut Changed) -> bool {
        let mut all = statements.iter();
        all.all(|statement| match &statement.kind {
            StatKind::Assign(target, ..) => {
                if let ExprKind::Variable(id) = target.kind {
                    changed.insert(id);
                }
                self.is_plain(target.ty)
            }
            StatKind::If(arms, otherwise) => {
                arms.iter()
                    .all(|(_, then)| self.only_elements_change(then, changed))
                    && self.only_elements_change(otherwise, changed)
            }
            StatKind::Case(_, arms, otherwise) => {
                arms.iter()
                    .all(|arm| self.only_elements_change(&arm.statements, changed))
                    && self.only_elements_change(otherwise.as_deref().unwrap_or_default(), changed)
            }
            StatKind::Repeat(body, _) | StatKind::While(_, body) => {
                self.only_elements_change(body, changed)
            }
            StatKind::ForRange(variable, _, _, body) | StatKind::ForEach(variable, _, body) => {
                changed.insert(*variable);
                self.only_elements_change(body, changed)
            }
            StatKind::Exit | StatKind::Return(_) => true,
            StatKind::Call(_) | StatKind::Fork(..) | StatKind::Access(_) => false,
        })
    }
}

/// Returns all expressions of statements, with their parts.
pub(super) fn exprs_of(statements: &[Stat]) -> Vec<&Expr> {
    let mut all = Vec::new();
    for_each_expr(statements, &mut |expr| all.push(expr));
    with_parts(all)
}

/// Returns whether an index is made of variables and constants by `+`, `-` and `*`. It cannot fail.
fn is_sum(index: &Expr) -> bool {
    match &index.kind {
        ExprKind::Variable(_) | ExprKind::Constant(_) => true,
        ExprKind::Unary(Unary::Plus | Unary::Minus, of) => is_sum(of),
        ExprKind::Binary(Binary::Add | Binary::Subtract | Binary::Multiply, left, right) => {
            is_sum(left) && is_sum(right)
        }
        _ => false,
    }
}

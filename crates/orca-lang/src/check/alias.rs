//! The rule against aliases: an argument that is passed SHARED or OUT has no part in common with
//! another such argument.

use super::Checker;
use crate::program::{Expr, ExprKind, Mode, Value, VariableId};

/// A step from a variable to a part of it.
enum Step<'e> {
    Field(usize),
    Element(&'e [Expr]),
    Node(&'e Expr, usize),
}

/// How two places relate.
#[derive(PartialEq)]
enum Overlap {
    No,
    Perhaps,
    Yes,
}

impl Checker<'_> {
    /// Checks each pair of arguments that are passed by reference.
    pub(super) fn check_aliases(&mut self, modes: &[Mode], arguments: &[Expr]) {
        let places: Vec<&Expr> = modes
            .iter()
            .zip(arguments)
            .filter(|(mode, _)| **mode != Mode::In)
            .map(|(_, argument)| argument)
            .collect();
        for (index, one) in places.iter().enumerate() {
            for other in &places[..index] {
                match overlap(one, other) {
                    Overlap::No => {}
                    Overlap::Perhaps => self.warn(
                        one.span,
                        "this may be the same variable as another argument",
                        "an illegal alias is found when the program runs",
                    ),
                    Overlap::Yes => {
                        let message = "illegal alias: this is or is part of another argument";
                        let help = "no two SHARED or OUT arguments have a part in common";
                        self.error_help(one.span, message, help);
                    }
                }
            }
        }
    }
}

/// Returns whether only a running program can decide if two places have a part in common.
pub(crate) fn may_overlap(one: &Expr, other: &Expr) -> bool {
    overlap(one, other) == Overlap::Perhaps
}

/// Returns whether two places surely have no part in common.
pub(crate) fn is_apart(one: &Expr, other: &Expr) -> bool {
    overlap(one, other) == Overlap::No
}

fn overlap(one: &Expr, other: &Expr) -> Overlap {
    let (Some((a, one)), Some((b, other))) = (path(one), path(other)) else {
        return Overlap::No;
    };
    if a != b {
        return Overlap::No;
    }
    let mut is_known = true;
    for pair in one.iter().zip(&other) {
        match pair {
            (Step::Field(a), Step::Field(b)) if a != b => return Overlap::No,
            (Step::Node(_, a), Step::Node(_, b)) if a != b => return Overlap::No,
            (Step::Node(..), Step::Field(_)) | (Step::Field(_), Step::Node(..)) => {
                return Overlap::No;
            }
            (Step::Element(a), Step::Element(b)) => {
                for (a, b) in a.iter().zip(b.iter()) {
                    match (constant(a), constant(b)) {
                        (Some(a), Some(b)) if a != b => return Overlap::No,
                        (Some(_), Some(_)) => {}
                        _ => is_known &= is_same_variable(a, b),
                    }
                }
            }
            (Step::Node(a, _), Step::Node(b, _)) => is_known &= is_same_variable(a, b),
            _ => {}
        }
    }
    if is_known {
        Overlap::Yes
    } else {
        Overlap::Perhaps
    }
}

fn constant(index: &Expr) -> Option<i64> {
    match index.kind {
        ExprKind::Constant(Value::Integer(value)) => Some(value),
        _ => None,
    }
}

fn is_same_variable(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Variable(a), ExprKind::Variable(b)) => a == b,
        _ => false,
    }
}

/// Returns the variable of a place, and the steps to its part.
fn path(place: &Expr) -> Option<(VariableId, Vec<Step<'_>>)> {
    Some(match &place.kind {
        ExprKind::Variable(id) => (*id, Vec::new()),
        ExprKind::Field(base, index) => with(path(base)?, Step::Field(*index)),
        ExprKind::Element(base, indices) => with(path(base)?, Step::Element(indices)),
        ExprKind::Node(graph, name, field) => with(path(graph)?, Step::Node(name, *field)),
        ExprKind::State(base, id) => with(path(base)?, Step::Field(id.0 as usize)),
        _ => return None,
    })
}

fn with<'e>(
    (id, mut steps): (VariableId, Vec<Step<'e>>),
    step: Step<'e>,
) -> (VariableId, Vec<Step<'e>>) {
    steps.push(step);
    (id, steps)
}

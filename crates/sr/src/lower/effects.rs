//! Effects of expressions besides their values.

use crate::program::*;

#[derive(Default)]
struct Finder {
    found: bool,
}

impl Visitor for Finder {
    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind as K;
        self.found |= match &expression.kind {
            K::Step { .. }
            | K::Assign(..)
            | K::Augment(..)
            | K::Swap(..)
            | K::New(..)
            | K::NewOperation(..)
            | K::Call(_)
            | K::Create { .. } => true,
            K::Predefined(function, _) => has_effects_itself(*function),
            _ => false,
        };
    }
}

/// Whether evaluating the expression may change a variable, or let another process run. Such
/// expressions become statements, because C does not define an order of evaluation.
pub(crate) fn has_effects(expression: &Expression) -> bool {
    let mut finder = Finder::default();
    walk_expression(expression, &mut finder);
    finder.found
}

/// Whether a predefined function does more than compute a value from its arguments.
pub(crate) fn has_effects_itself(function: Predefined) -> bool {
    use Predefined as P;
    matches!(
        function,
        P::Random
            | P::Seed
            | P::Getarg
            | P::Nap
            | P::Age
            | P::Locate
            | P::CreateMachine
            | P::Setpriority
            | P::Free
            | P::Open
            | P::Flush
            | P::Close
            | P::Remove
            | P::Get
            | P::Put
            | P::Seek
            | P::Where
            | P::Read
            | P::Scanf
            | P::Sscanf
            | P::Write
            | P::Writes
            | P::Printf
            | P::Sprintf
    )
}

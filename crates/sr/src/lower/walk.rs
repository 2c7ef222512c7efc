//! The walk over checked code that collects the facts.

use std::collections::HashSet;

use crate::program::*;

/// Collects the parts of [`Facts`](super::Facts).
pub(super) struct Finder<'a> {
    program: &'a Program,
    /// Number of enclosing arms of input statements.
    arms: usize,
    pub(super) replies_outside: bool,
    pub(super) replies_inside: bool,
    pub(super) assigned: HashSet<VariableId>,
    pub(super) addressed: HashSet<VariableId>,
    pub(super) reified: HashSet<OperationId>,
    pub(super) in_regions: HashSet<ComponentId>,
    pub(super) sets_priority: bool,
    pub(super) scanned: HashSet<OperationId>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(program: &'a Program) -> Finder<'a> {
        Finder {
            program,
            arms: 0,
            replies_outside: false,
            replies_inside: false,
            assigned: HashSet::new(),
            addressed: HashSet::new(),
            reified: HashSet::new(),
            in_regions: HashSet::new(),
            sets_priority: false,
            scanned: HashSet::new(),
        }
    }

    /// Notes that a place is changed, or known elsewhere from now on.
    fn changes(&mut self, place: &Expression) {
        use ExpressionKind as K;
        match &place.kind {
            K::Variable(variable) => {
                self.assigned.insert(*variable);
            }
            K::Field(of, _)
            | K::Index(of, _)
            | K::Slice(of, _)
            | K::TextIndex(of, _)
            | K::TextSlice(of, ..)
            | K::Capability(Target::Of(of, ..)) => self.changes(of),
            _ => {}
        }
    }

    /// Notes that the variable in a place can be changed through a pointer.
    fn addresses(&mut self, place: &Expression) {
        use ExpressionKind as K;
        match &place.kind {
            K::Variable(variable) => {
                self.addressed.insert(*variable);
            }
            K::Field(of, _) | K::Index(of, _) | K::Capability(Target::Of(of, ..)) => {
                self.addresses(of)
            }
            _ => {}
        }
    }

    fn invokes(&mut self, invocation: &Invocation, is_plain_call: bool) {
        let signature = &self.program.signatures[invocation.signature.index()];
        for (parameter, argument) in signature.parameters.iter().zip(&invocation.arguments) {
            if parameter.passing != Passing::Value {
                self.changes(argument);
                self.addresses(argument);
            }
        }
        if !is_plain_call {
            self.uses(&invocation.target);
        }
    }

    fn uses(&mut self, target: &Target) {
        if let Target::Declared(operation, _) = target {
            self.reified.insert(*operation);
        }
    }

    fn replies(&mut self) {
        if self.arms > 0 {
            self.replies_inside = true;
        } else {
            self.replies_outside = true;
        }
    }
}

impl Visitor for Finder<'_> {
    fn expression(&mut self, expression: &Expression) {
        use ExpressionKind as K;
        match &expression.kind {
            K::Assign(place, _) | K::Augment(_, place, _) | K::Step { place, .. } => {
                self.changes(place)
            }
            K::Address(place) => {
                self.changes(place);
                self.addresses(place);
            }
            K::Swap(a, b) => {
                self.changes(a);
                self.changes(b);
            }
            K::Call(invocation) => self.invokes(invocation, true),
            K::Capability(target) | K::Pending(target) => self.uses(target),
            K::Create {
                component,
                region: Some(_),
                ..
            } => {
                self.in_regions.insert(*component);
            }
            // Some functions read into places, or free a pointer; for these any place among the
            // arguments counts.
            K::Predefined(function, arguments) => {
                use Predefined as P;
                self.sets_priority |= *function == P::Setpriority;
                if matches!(
                    function,
                    P::Getarg | P::Get | P::Read | P::Scanf | P::Sscanf | P::Sprintf | P::Free
                ) {
                    arguments.iter().for_each(|a| self.changes(a));
                }
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &Statement) {
        use StatementKind as K;
        match &statement.kind {
            K::Reply => self.replies(),
            K::Forward(invocation) => {
                self.replies();
                self.invokes(invocation, false);
            }
            K::Send(invocation) => self.invokes(invocation, false),
            K::Call(invocation) => self.invokes(invocation, true),
            K::Start { process, .. } => {
                self.reified.insert(*process);
            }
            K::Receive(target, places) => {
                self.uses(target);
                places.iter().for_each(|p| self.changes(p));
            }
            K::V(target) => self.uses(target),
            K::Input(arms, _) => {
                let is_scan = arms.len() > 1 || arms.iter().any(|arm| !arm.is_plain());
                for arm in arms {
                    self.uses(&arm.target);
                    if let (true, Target::Declared(operation, _)) = (is_scan, &arm.target) {
                        self.scanned.insert(*operation);
                    }
                }
            }
            K::Concurrent(arms) => {
                for arm in arms {
                    self.invokes(&arm.invocation, false);
                    arm.result_to.iter().for_each(|p| self.changes(p));
                }
            }
            _ => {}
        }
    }

    fn arm(&mut self, begins: bool) {
        if begins {
            self.arms += 1;
        } else {
            self.arms -= 1;
        }
    }
}

//! The co statement.

use crate::program::*;
use crate::syntax;
use crate::syntax::Statement as S;

use super::Checker;

impl Checker<'_> {
    pub(super) fn concurrent(&mut self, arms: &[syntax::ConcurrentArm]) -> StatementKind {
        let checked = arms.iter().filter_map(|arm| self.concurrent_arm(arm));
        StatementKind::Concurrent(checked.collect())
    }

    /// Checks an arm; none if its invocation is wrong.
    fn concurrent_arm(&mut self, arm: &syntax::ConcurrentArm) -> Option<ConcurrentArm> {
        self.scopes.open();
        let quantifiers = self.quantifiers(&arm.quantifiers);
        let started = self.started(arm);
        let block = arm
            .block
            .as_ref()
            .map(|block| self.looped(|checker| checker.block(block)));
        self.scopes.close();
        let (invocation, is_send, result_to) = started?;
        Some(ConcurrentArm {
            quantifiers,
            invocation,
            is_send,
            result_to,
            block,
            span: arm.span,
        })
    }

    /// Returns the invocation, whether it is sent, and the place for the result.
    fn started(
        &mut self,
        arm: &syntax::ConcurrentArm,
    ) -> Option<(Invocation, bool, Option<Expression>)> {
        match &*arm.invocation {
            S::Send(invocation) => {
                let send = self.invocation(invocation, arm.span)?;
                self.forbid(&send, Restriction::Call, "sent to");
                Some((send, true, None))
            }
            S::Call(invocation) => Some((self.co_call(invocation, arm)?, false, None)),
            S::Expression(expression) => match &expression.kind {
                syntax::ExpressionKind::Invoke(invocation) => {
                    Some((self.co_call(invocation, arm)?, false, None))
                }
                syntax::ExpressionKind::Assign(place, value) => {
                    let syntax::ExpressionKind::Invoke(invocation) = &value.kind else {
                        self.not_invoked(arm);
                        return None;
                    };
                    let place = self.place(place);
                    let call = self.co_call(invocation, arm)?;
                    self.result_fits(&call, &place)
                        .then_some((call, false, Some(place)))
                }
                _ => {
                    self.not_invoked(arm);
                    None
                }
            },
            _ => {
                self.not_invoked(arm);
                None
            }
        }
    }

    fn not_invoked(&mut self, arm: &syntax::ConcurrentArm) {
        self.error_with(
            arm.span,
            "an arm of co begins with an invocation",
            "call or send an operation, or assign the result of calling one",
        );
    }

    fn co_call(
        &mut self,
        invocation: &syntax::Invocation,
        arm: &syntax::ConcurrentArm,
    ) -> Option<Invocation> {
        if let syntax::ExpressionKind::Name(name) = &invocation.operation.kind
            && Self::is_predefined(name)
            && self.lookup(name, arm.span).is_none()
        {
            self.error_with(
                arm.span,
                format!("the predefined function \"{name}\" cannot be called by co"),
                "call it from a procedure, and that by co",
            );
            return None;
        }
        let call = self.invocation(invocation, arm.span)?;
        self.forbid(&call, Restriction::Send, "called");
        Some(call)
    }

    fn result_fits(&mut self, call: &Invocation, place: &Expression) -> bool {
        let signature = &self.program.signatures[call.signature.index()];
        let Some(result) = signature.result.as_ref().map(|result| result.of) else {
            self.error(call.span, "the operation has no result");
            return false;
        };
        if self.is_wrong(place) {
            return false;
        }
        if !self.is_assignable(place.of, result) {
            let (has, gets) = (self.type_name(place.of), self.type_name(result));
            self.error(
                place.span,
                format!("the result is {gets}, and this is a variable of type {has}"),
            );
            return false;
        }
        true
    }
}

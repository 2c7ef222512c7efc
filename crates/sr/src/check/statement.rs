//! Statements other than input and co.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;
use crate::syntax::Statement as S;

use super::Checker;
use super::scope::Meaning;

impl Checker<'_> {
    /// Checks items with a scope of their own.
    pub(super) fn block(&mut self, block: &syntax::Block) -> Block {
        self.scopes.open();
        let block = self.open_block(block);
        self.scopes.close();
        block
    }

    /// Checks items in the innermost scope, as the block of a statement that has opened it.
    fn open_block(&mut self, block: &syntax::Block) -> Block {
        let is_block = std::mem::replace(&mut self.place.is_block, true);
        let outer = std::mem::take(&mut self.place.statements);
        self.items(&block.items);
        self.place.is_block = is_block;
        let statements = std::mem::replace(&mut self.place.statements, outer);
        Block { statements }
    }

    /// Checks a block in which exit and next are allowed.
    pub(super) fn looped(&mut self, check: impl FnOnce(&mut Self) -> Block) -> Block {
        self.place.loops += 1;
        let block = check(self);
        self.place.loops -= 1;
        block
    }

    pub(super) fn statement(&mut self, statement: &S, span: Span) {
        if let Some(kind) = self.statement_kind(statement, span) {
            self.push(kind, span);
        }
    }

    /// Checks a statement; none if it does nothing, or an error was found.
    fn statement_kind(&mut self, statement: &S, span: Span) -> Option<StatementKind> {
        Some(match statement {
            S::Skip => return None,
            S::Stop(code) => StatementKind::Stop(code.as_ref().map(|code| self.integer(code))),
            S::Exit => {
                self.in_loop("exit", span);
                StatementKind::Exit
            }
            S::Next => {
                self.in_loop("next", span);
                StatementKind::Next
            }
            S::Return => StatementKind::Return,
            S::Reply => {
                self.check_reply(span);
                StatementKind::Reply
            }
            S::Forward(invocation) => StatementKind::Forward(self.forward(invocation, span)?),
            S::Send(invocation) => {
                let send = self.invocation(invocation, span)?;
                self.forbid(&send, Restriction::Call, "sent to");
                StatementKind::Send(send)
            }
            S::Call(invocation) => self.call(invocation, span)?,
            S::Destroy(capability) => StatementKind::Destroy(self.destroyed(capability)),
            S::V(semaphore) => self.v(semaphore, span)?,
            S::P(semaphore) => self.receive(semaphore, &[], "P", span)?,
            S::Receive(operation, places) => self.receive(operation, places, "receive", span)?,
            S::Block(block) => StatementKind::Block(self.block(block)),
            S::If(arms, other) => {
                let arms = self.guarded(arms);
                StatementKind::If(arms, other.as_ref().map(|block| self.block(block)))
            }
            S::Do(arms, other) => {
                self.place.loops += 1;
                let arms = self.guarded(arms);
                let other = other.as_ref().map(|block| self.block(block));
                self.place.loops -= 1;
                StatementKind::Do(arms, other)
            }
            S::ForAll(quantifiers, block) => {
                self.scopes.open();
                let quantifiers = self.quantifiers(quantifiers);
                let block = self.looped(|checker| checker.open_block(block));
                self.scopes.close();
                StatementKind::ForAll(quantifiers, block)
            }
            S::Input(arms, other) => self.input(arms, other.as_ref()),
            S::Concurrent(arms) => self.concurrent(arms),
            S::Expression(expression) => return self.for_effect(expression, span),
        })
    }

    fn check_reply(&mut self, span: Span) {
        if let Some(Some(serviced)) = self.place.serviced.last()
            && self.program.signatures[serviced.index()].restriction == Restriction::Send
        {
            self.warn(
                span,
                "nobody waits for this reply: the operation is only sent to",
                "remove it",
            );
        }
        let code = self.program.codes.get(self.code.index());
        let is_final = code.is_some_and(|code| code.kind == CodeKind::Final);
        if is_final && self.place.serviced.is_empty() {
            self.warn(
                span,
                "nobody waits for a reply from a final part",
                "remove it",
            );
        }
    }

    fn in_loop(&mut self, word: &str, span: Span) {
        if self.place.loops == 0 {
            self.error_with(
                span,
                format!("there is no loop around \"{word}\""),
                "it belongs into do, fa or co; \"return\" leaves a proc",
            );
        }
    }

    /// `call operation(arguments)`; also allowed for a predefined function.
    fn call(&mut self, invocation: &syntax::Invocation, span: Span) -> Option<StatementKind> {
        let call = self.invoke(invocation, span);
        match call.kind {
            ExpressionKind::Call(call) => Some(StatementKind::Call(*call)),
            _ if self.is_wrong(&call) => None,
            _ => Some(StatementKind::Expression(call)),
        }
    }

    fn for_effect(&mut self, expression: &syntax::Expression, span: Span) -> Option<StatementKind> {
        let checked = self.expression(expression);
        if self.is_wrong(&checked) {
            return None;
        }
        match checked.kind {
            ExpressionKind::Call(call) => return Some(StatementKind::Call(*call)),
            ExpressionKind::Binary(BinaryOperator::Equal, ..) => self.warn(
                span,
                "this compares, and nothing is done with the result",
                "\":=\" assigns",
            ),
            ExpressionKind::Capability(_) => self.warn(
                span,
                "this names an operation and does not call it",
                "write its arguments in parentheses, () if there are none",
            ),
            _ if !has_effect(&checked) => self.warn(
                span,
                "this does nothing: its value is not used",
                "remove it, or assign the value to a variable",
            ),
            _ => {}
        }
        Some(StatementKind::Expression(checked))
    }

    fn guarded(
        &mut self,
        arms: &[(syntax::Expression, syntax::Block)],
    ) -> Vec<(Expression, Block)> {
        let checked = arms.iter().map(|(guard, block)| {
            if let syntax::ExpressionKind::Assign(..) = guard.kind {
                self.warn(
                    guard.span,
                    "this guard assigns",
                    "\"=\" compares; put parentheses around what is meant to assign, and compare that",
                );
            }
            let guard = self.boolean(guard);
            (guard, self.block(block))
        });
        checked.collect()
    }

    /// Checks quantifiers in the innermost scope, where their variables live.
    pub(super) fn quantifiers(&mut self, quantifiers: &[syntax::Quantifier]) -> Vec<Quantifier> {
        let is_block = std::mem::replace(&mut self.place.is_block, true);
        let checked = quantifiers.iter().map(|q| self.quantifier(q)).collect();
        self.place.is_block = is_block;
        checked
    }

    /// Checks one quantifier. Its variable is visible in all parts except the first value.
    pub(super) fn quantifier(&mut self, quantifier: &syntax::Quantifier) -> Quantifier {
        let first = self.ordered(&quantifier.first);
        let variable = self.variable(Variable {
            name: quantifier.name.text.clone(),
            span: quantifier.name.span,
            of: first.of,
            storage: Storage::Local(self.code),
            is_constant: false,
            has_address: false,
        });
        self.define(&quantifier.name, Meaning::Variable(variable));
        let last = self.expression(&quantifier.last);
        let last = self.limit_of(last, first.of);
        let is_real = *self.kind(first.of) == Type::Real;
        let step = quantifier.step.as_ref().map(|step| {
            let of = if is_real { Type::Real } else { Type::Int };
            self.of_type(step, of)
        });
        let test = quantifier.test.as_ref().map(|test| self.boolean(test));
        Quantifier {
            variable,
            first,
            is_down: quantifier.is_down,
            last,
            step,
            test,
        }
    }

    /// Checks a limit. As it is only compared with the variable, an integer variable may have a
    /// real limit.
    fn limit_of(&mut self, last: Expression, of: TypeId) -> Expression {
        let is_mixed = *self.kind(of) == Type::Int && *self.kind(last.of) == Type::Real;
        if is_mixed {
            return last;
        }
        self.convert_to(last, of)
    }

    fn forward(&mut self, invocation: &syntax::Invocation, span: Span) -> Option<Invocation> {
        let forward = self.invocation(invocation, span)?;
        self.forbid(&forward, Restriction::Call, "forwarded to");
        match self.place.serviced.last() {
            None => self.error_with(
                span,
                "there is no invocation here that could be forwarded",
                "\"forward\" belongs into a proc or an arm of \"in\"",
            ),
            Some(Some(serviced)) => {
                let (to, from) = (
                    self.program.signatures[forward.signature.index()].clone(),
                    self.program.signatures[serviced.index()].clone(),
                );
                if !self.may_forward(&from, &to) {
                    self.error_with(
                        span,
                        "the operation that this is forwarded to has other parameters or another result",
                        "both must be alike, since the result goes back to the first caller",
                    );
                }
            }
            Some(None) => {}
        }
        Some(forward)
    }

    /// Whether invocations of one signature can be forwarded to another: both must have the same
    /// parameters and results.
    fn may_forward(&self, from: &Signature, to: &Signature) -> bool {
        let is_same = |a: &Parameter, b: &Parameter| self.is_alike(a.of, b.of);
        let results = match (&from.result, &to.result) {
            (Some(a), Some(b)) => is_same(a, b),
            (None, None) => true,
            _ => false,
        };
        let (a, b) = (&from.parameters, &to.parameters);
        results && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
    }

    fn destroyed(&mut self, capability: &syntax::Expression) -> Expression {
        let capability = self.expression(capability);
        let (_, element) = self.program.types.flat(capability.of);
        let is_good = match self.kind(capability.of) {
            Type::Wrong | Type::Resource(_) | Type::Machine | Type::Null => true,
            _ => matches!(self.kind(element), Type::Operation(_)),
        };
        if !is_good {
            let name = self.type_name(capability.of);
            return self.refuse(
                capability.span,
                format!("what is destroyed is named by a capability, and this is {name}"),
            );
        }
        capability
    }

    fn v(&mut self, semaphore: &syntax::Expression, span: Span) -> Option<StatementKind> {
        let (target, signature) = self.target(semaphore)?;
        let row = &self.program.signatures[signature.index()];
        let (count, restriction) = (row.parameters.len(), row.restriction);
        if count > 0 {
            self.error_with(
                span,
                format!("V is for semaphores, and this operation has {count} parameters"),
                "write send, with the arguments",
            );
        }
        if restriction == Restriction::Call {
            self.error(span, "V sends, and the operation can only be called");
        }
        Some(StatementKind::V(target))
    }
}

/// Whether an expression has an effect besides its value.
fn has_effect(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Step { .. }
        | ExpressionKind::Assign(..)
        | ExpressionKind::Augment(..)
        | ExpressionKind::Swap(..)
        | ExpressionKind::New(..)
        | ExpressionKind::NewOperation(..)
        | ExpressionKind::Call(_)
        | ExpressionKind::Create { .. }
        | ExpressionKind::Predefined(..) => true,
        ExpressionKind::Convert(of)
        | ExpressionKind::Negate(of)
        | ExpressionKind::Not(of)
        | ExpressionKind::Field(of, _)
        | ExpressionKind::Dereference(of) => has_effect(of),
        ExpressionKind::Binary(_, a, b) => has_effect(a) || has_effect(b),
        _ => false,
    }
}

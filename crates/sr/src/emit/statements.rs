//! Statements.

use std::collections::HashSet;

use antiphon_lang::c::bare;

use super::function::Function;
use super::jumps::Frame;
use super::places::Place;
use super::views::constant;
use crate::program::*;

/// Returns the values that guards compare with one common variable, if they do nothing else.
fn compared(arms: &[(Expression, Block)]) -> Option<Vec<i32>> {
    let mut subject = None;
    let values = arms.iter().map(|(guard, _)| {
        let ExpressionKind::Binary(BinaryOperator::Equal, a, b) = &guard.kind else {
            return None;
        };
        match (&a.kind, &b.kind) {
            (
                ExpressionKind::Variable(variable),
                ExpressionKind::Constant(Constant::Ordinal(value)),
            ) if *subject.get_or_insert(*variable) == *variable => Some(*value),
            _ => None,
        }
    });
    values.collect()
}

/// Limit of arms in a chain of `else if`.
const MOST_NESTED: usize = 32;

impl Function<'_> {
    /// Writes the statements of a block, without brackets around them.
    pub(super) fn block(&mut self, block: &Block) {
        self.frames.push(Frame::Block(Vec::new()));
        for statement in &block.statements {
            self.statement(statement);
        }
        self.end_block();
    }

    /// Writes a statement.
    pub(super) fn statement(&mut self, statement: &Statement) {
        use StatementKind as K;
        if self.unit.options.lines {
            let line = self.unit.line_of(statement.span);
            let file = self.unit.file_literal(statement.span.file);
            self.out.directive(&format!("#line {line} {file}"));
        }
        let span = statement.span;
        match &statement.kind {
            K::Declare {
                variable,
                shape,
                value,
            } => self.declare(*variable, shape.as_ref(), value.as_ref(), span),
            K::DeclareOperation { operation, value } => {
                self.declare_operation(*operation, value.as_ref(), span);
            }
            K::Import(global) => {
                let at = self.at(span);
                let name = self.unit.names.component(*global);
                self.line(format!("sr_need_global({at}, &component_{name});"));
                self.hoist_of(*global);
            }
            K::Start {
                process,
                quantifiers,
                region,
            } => self.start(*process, quantifiers, region.as_ref(), span),
            K::Expression(e) => self.effect(e),
            K::Stop(code) => {
                let code = match code {
                    Some(code) => self.plain(code),
                    None => "0".into(),
                };
                let at = self.at(span);
                self.line(format!("sr_stop({at}, {});", bare(&code)));
            }
            K::Exit => self.jump_in_loop(true),
            K::Next => self.jump_in_loop(false),
            K::Return => self.jump_out(),
            K::Reply => self.reply(span),
            K::Forward(invocation) => self.forward(invocation, span),
            K::Send(invocation) => self.send(invocation),
            K::Call(invocation) => {
                self.call(invocation);
            }
            K::Destroy(e) => self.destroy(e, span),
            K::Receive(target, places) => self.receive(target, places, span),
            K::V(target) => self.v(target, span),
            K::Block(block) => {
                self.out.open("{");
                self.block(block);
                self.out.close("}");
            }
            K::If(arms, other) => self.if_statement(arms, other.as_ref()),
            K::Do(arms, other) => self.do_statement(arms, other.as_ref()),
            K::ForAll(quantifiers, block) => self.for_all(quantifiers, block),
            K::Input(arms, other) => self.input(arms, other.as_ref(), span),
            K::Concurrent(arms) => self.concurrent(arms, span),
        }
    }

    /// Writes guards in textual order; `none` writes what happens if none holds.
    pub(super) fn guarded(
        &mut self,
        arms: &[(Expression, Block)],
        none: impl FnOnce(&mut Self) -> bool,
    ) {
        if arms.len() > MOST_NESTED {
            return self.guarded_flatly(arms, none);
        }
        // Guards that need statements before them are nested in the else parts of earlier ones.
        let mut nested = 0;
        for (n, (guard, block)) in arms.iter().enumerate() {
            if n == 0 {
                let guard = self.plain(guard);
                self.out.open(format!("if ({}) {{", bare(&guard)));
            } else {
                let (written, text) = self.aside(|f| f.plain(guard));
                if written.is_empty() {
                    self.out.reopen(format!("}} else if ({}) {{", bare(&text)));
                } else {
                    self.out.reopen("} else {");
                    // The guard is written again, now at its depth. The first time only wrote text.
                    let text = self.plain(guard);
                    self.out.open(format!("if ({}) {{", bare(&text)));
                    nested += 1;
                }
            }
            self.block(block);
        }
        let depth_before = self.out.depth();
        let (written, is_anything) = self.aside(none);
        if is_anything {
            debug_assert_eq!(self.out.depth(), depth_before);
            self.out.reopen("} else {");
            self.out.append(&written);
        }
        for _ in 0..=nested {
            self.out.close("}");
        }
    }

    /// The same without nesting, because C compilers are slow on chains of thousands of arms.
    fn guarded_flatly(
        &mut self,
        arms: &[(Expression, Block)],
        none: impl FnOnce(&mut Self) -> bool,
    ) {
        if let Some(values) = compared(arms) {
            return self.guarded_by_value(arms, &values, none);
        }
        let done = format!("done_{}", self.number());
        self.out.open("{");
        for (guard, block) in arms {
            let guard = self.plain(guard);
            self.out.open(format!("if ({}) {{", bare(&guard)));
            self.block(block);
            self.line(format!("goto {done};"));
            self.out.close("}");
        }
        none(self);
        self.out.label(&done);
        self.out.close("}");
    }

    /// The same where each guard compares one variable with a known value.
    fn guarded_by_value(
        &mut self,
        arms: &[(Expression, Block)],
        values: &[i32],
        none: impl FnOnce(&mut Self) -> bool,
    ) {
        let ExpressionKind::Binary(_, variable, _) = &arms[0].0.kind else {
            return;
        };
        let variable = self.plain(variable);
        self.line(format!("switch ({}) {{", bare(&variable)));
        let mut seen = HashSet::new();
        for ((_, block), value) in arms.iter().zip(values) {
            // The first guard that holds counts.
            if seen.insert(*value) {
                self.out.open(format!("case {}: {{", constant(*value)));
                self.block(block);
                self.line("break;");
                self.out.close("}");
            }
        }
        self.out.open("default: {");
        none(self);
        self.out.close("}");
        self.line("}");
    }

    fn if_statement(&mut self, arms: &[(Expression, Block)], other: Option<&Block>) {
        self.guarded(arms, |f| match other {
            Some(block) => {
                f.block(block);
                true
            }
            None => false,
        });
    }

    /// Returns the place into which `receive` copies a parameter.
    pub(super) fn destination(&mut self, e: &Expression) -> Place {
        self.place(e)
    }
}

//! The execution of operations on the copy of a machine.

use std::sync::atomic::Ordering;
use std::time::Instant;

use antiphon_panda::Rank;
use bytes::Bytes;

use super::Machine;
use crate::cell::Outcome;
use crate::entry::{Answer, Copy, Effect, Entry, Executed, Invocation, Ticket, completed};
use crate::event::{EventKind, operation_of};
use crate::fault::Mutant;
use crate::statistics::count;

impl Machine {
    /// Executes an invocation on the copy here, or blocks it. Then executes those that it unblocks.
    pub fn execute(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        (operation, arguments, ticket): (usize, Bytes, Ticket),
        answer: Option<Answer>,
        is_ordered: bool,
    ) -> Vec<Effect> {
        let waits = !copy.returning.is_empty()
            && copy.state.is_some()
            && entry.object_type.operations()[operation].may_block();
        if waits && let Some(answer) = answer {
            let invocation = Invocation {
                operation,
                arguments,
                answer,
                ticket,
            };
            return self.wait_for_turn(entry, copy, invocation, is_ordered);
        }
        let Some(state) = copy.state.as_mut() else {
            return Vec::new();
        };
        let began = self.observed();
        let attempt = entry
            .object_type
            .attempt(operation, state, &arguments, self.fault);
        let mut effects = Vec::new();
        match completed(attempt) {
            Ok(Some((result, has_written))) => {
                self.record(entry, operation, &arguments, &result, is_ordered);
                self.observe_execution(entry, operation, ticket, began, is_ordered);
                if self.fault.is(Mutant::ExecutesTwice) && !is_ordered && has_written {
                    let _ = entry
                        .object_type
                        .attempt(operation, state, &arguments, self.fault);
                }
                effects.extend(self.answered(answer, result));
                if has_written {
                    effects.extend(self.retry(entry, copy, is_ordered));
                }
            }
            Ok(None) => {
                // A write without a waiting process never blocks.
                if let Some(answer) = answer {
                    if answer.concerns(self.rank) {
                        count(&entry.counts.blocked);
                        effects.extend(answer.blocks().map(Effect::Block));
                    }
                    copy.blocked.push_back(Invocation {
                        operation,
                        arguments,
                        answer,
                        ticket,
                    });
                }
            }
            Err(why) => {
                let failed = Outcome::Failed(entry.failed(operation, &why));
                effects.extend(answer.map(|it| Effect::Answer(it, failed)));
                effects.extend(entry.break_it(copy, operation, &why));
            }
        }
        effects
    }

    /// Returns the answer of an operation, unless it is the task of another machine.
    fn answered(&self, answer: Option<Answer>, result: Vec<u8>) -> Option<Effect> {
        let answer = answer.filter(|it| it.concerns(self.rank))?;
        Some(Effect::Answer(answer, Outcome::Done(result.into())))
    }

    /// Lets an invocation wait for those that were blocked before the object came here.
    fn wait_for_turn(
        &self,
        entry: &Entry,
        copy: &mut Copy,
        invocation: Invocation,
        is_ordered: bool,
    ) -> Vec<Effect> {
        let mut effects: Vec<_> = invocation
            .answer
            .blocks()
            .map(Effect::Block)
            .into_iter()
            .collect();
        let mut returning = copy.returning.iter_mut();
        match returning.find(|(ticket, _)| *ticket == invocation.ticket) {
            Some((_, place)) => *place = Some(invocation),
            None => copy.blocked.push_back(invocation),
        }
        if copy.let_return() {
            effects.extend(self.retry(entry, copy, is_ordered));
        }
        effects
    }

    /// Tries blocked invocations again, first come first, until none can go on.
    pub fn retry(&self, entry: &Entry, copy: &mut Copy, is_ordered: bool) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut at = 0;
        if self.fault.is(Mutant::DropsWakeUp) || !copy.returning.is_empty() {
            return effects;
        }
        while at < copy.blocked.len() {
            let index = match self.fault.is(Mutant::WakesLastFirst) {
                true => copy.blocked.len() - 1 - at,
                false => at,
            };
            let Some(state) = copy.state.as_mut() else {
                break;
            };
            let it = &copy.blocked[index];
            let operation = it.operation;
            count(&entry.counts.retries);
            let began = self.observed();
            let attempt = entry
                .object_type
                .attempt(operation, state, &it.arguments, self.fault);
            match completed(attempt) {
                Ok(Some((result, has_written))) => {
                    let Some(it) = copy.blocked.remove(index) else {
                        break;
                    };
                    let is_ordered = is_ordered && matches!(it.answer, Answer::Origin(..));
                    self.record(entry, operation, &it.arguments, &result, is_ordered);
                    self.observe_execution(entry, operation, it.ticket, began, is_ordered);
                    effects.extend(self.answered(Some(it.answer), result));
                    if has_written {
                        at = 0;
                    }
                }
                Ok(None) if self.fault.is(Mutant::WakesFirstOnly) => break,
                Ok(None) => at += 1,
                Err(why) => {
                    if let Some(it) = copy.blocked.remove(index) {
                        let failed = Outcome::Failed(entry.failed(operation, &why));
                        effects.push(Effect::Answer(it.answer, failed));
                    }
                    effects.extend(entry.break_it(copy, operation, &why));
                }
            }
        }
        effects
    }

    pub(super) fn record(
        &self,
        entry: &Entry,
        operation: usize,
        arguments: &[u8],
        result: &[u8],
        is_ordered: bool,
    ) {
        if let Some(trace) = &self.trace {
            let executed = Executed {
                object: entry.id,
                operation: &entry.object_type.operations()[operation].name,
                arguments,
                result,
            };
            trace(
                executed,
                self.rank,
                self.begun.load(Ordering::Acquire),
                is_ordered,
            );
        }
    }

    /// Reports an execution for another machine, or of a write at its place in the order.
    fn observe_execution(
        &self,
        entry: &Entry,
        operation: usize,
        ticket: Ticket,
        began: Option<Instant>,
        is_ordered: bool,
    ) {
        let began = began.filter(|_| is_ordered || ticket.0 != self.rank);
        let name = || operation_of(entry, operation);
        self.observe(began, EventKind::Execution, Some(ticket), name);
    }
}

impl Answer {
    /// Returns whether this machine answers it, and counts it if it blocks: it does for its own
    /// processes, and as an owner for callers.
    fn concerns(&self, machine: Rank) -> bool {
        match self {
            Self::Here(_) | Self::Caller(..) => true,
            Self::Origin(rank, _) => *rank == machine,
        }
    }

    /// Returns the process that learns that it blocks, unless it belongs to a caller.
    fn blocks(&self) -> Option<Self> {
        match self {
            Self::Here(cell) => Some(Self::Here(cell.clone())),
            Self::Origin(rank, number) => Some(Self::Origin(*rank, *number)),
            Self::Caller(..) => None,
        }
    }
}

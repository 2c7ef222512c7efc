//! The path of an invocation from its process to the object.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::{Machine, Waiting};
use crate::cell::{Cell, Outcome};
use crate::entry::{Answer, Copy, Entry, Invocation, Ticket, completed};
use crate::error::Error;
use crate::event::{EventKind, operation_of};
use crate::fault::Mutant;
use crate::object::Body;
use crate::order::Order;
use crate::placement::Location;
use crate::statistics::count;

/// Removes a process from the waiting ones when it is dropped.
struct Waits<'a>(&'a Machine, Option<u64>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.1 {
            self.0.own.lock().waiting.remove(&number);
        }
    }
}

impl Machine {
    /// Executes an operation on an object, wherever its copies are, and waits for the result.
    pub fn invoke(
        &self,
        entry: &Arc<Entry>,
        operation: usize,
        arguments: Bytes,
        process: &Arc<str>,
    ) -> Result<Bytes, Error> {
        let ticket = (self.rank, self.next.fetch_add(1, Ordering::Relaxed));
        let (mut has_waited, mut way) = (false, EventKind::Invocation);
        let began = self.observed();
        loop {
            self.check()?;
            let invocation = (operation, &arguments, ticket, has_waited);
            match self.invoke_once(entry, invocation, process, &mut way) {
                Ok(Outcome::Done(result)) => {
                    let is_short = way == EventKind::Invocation
                        && !entry.object_type.operations()[operation].may_block();
                    let began = began.filter(|_| !is_short);
                    self.observe(began, way, Some(ticket), || operation_of(entry, operation));
                    return Ok(result);
                }
                Ok(Outcome::Again) => has_waited = true,
                Ok(Outcome::Failed(error)) | Err(error) => return Err(self.or_finished(error)),
            }
        }
    }

    /// Returns the error of an operation. In a finished program that is `Finished`, since machines
    /// leave then and take their objects with them.
    fn or_finished(&self, error: Error) -> Error {
        match self.check() {
            Err(Error::Finished) => Error::Finished,
            _ => error,
        }
    }

    fn invoke_once(
        &self,
        entry: &Arc<Entry>,
        (index, arguments, ticket, has_waited): (usize, &Bytes, Ticket, bool),
        process: &Arc<str>,
        way: &mut EventKind,
    ) -> Result<Outcome, Error> {
        let operation = &entry.object_type.operations()[index];
        let is_pure = operation.is_pure_write();
        let is_replicated = matches!(entry.copy.read().location, Location::Replicated);
        if !(is_pure && is_replicated) {
            self.settle()?;
        }
        // A clone allocates, which calls of other machines do without.
        let invocation = || (index, arguments.clone(), ticket);
        let mut copy = entry.copy.write();
        if let Some(error) = entry.unusable(&copy) {
            return Ok(Outcome::Failed(error));
        }
        match copy.location {
            Location::Replicated => {
                let reads = |body: &Body| matches!(body, Body::Reads(_));
                // An invocation that comes again goes through the order, even if it could read
                // here: others may wait for its turn.
                let may_read = operation.only_reads() || !has_waited;
                if may_read
                    && operation.alternatives.iter().any(|it| reads(&it.body))
                    && let Some(outcome) = self.read_copy(entry, &copy, index, arguments)
                {
                    return Ok(outcome);
                }
                if operation.only_reads() {
                    let cell = Cell::new();
                    copy.blocked.push_back(Invocation {
                        operation: index,
                        arguments: arguments.clone(),
                        answer: Answer::Here(cell.clone()),
                        ticket,
                    });
                    drop(copy);
                    count(&entry.counts.blocked);
                    let outcome = self.wait_blocked(entry, index, process, &cell);
                    if matches!(outcome, Outcome::Done(_)) {
                        count(&entry.counts.other_reads);
                    }
                    return Ok(outcome);
                }
                let is_early = is_pure && self.fault.is(Mutant::AppliesBeforePlace);
                let effects = match is_early {
                    true => self.execute(entry, &mut copy, invocation(), None, false),
                    false => Vec::new(),
                };
                drop(copy);
                self.perform_here(effects);
                *way = EventKind::Write;
                self.write_replicas(entry, (index, arguments, ticket.1), process)
            }
            Location::Owned(owner) if owner == self.rank => {
                let cell = Cell::new();
                if copy.is_moving
                    && !operation.only_reads()
                    && !self.fault.is(Mutant::DoesNotFreeze)
                {
                    copy.held.push(Answer::Here(cell.clone()));
                    drop(copy);
                    return Ok(self.wait_blocked(entry, index, process, &cell));
                }
                let (reads, writes) = if operation.only_reads() {
                    count(&entry.counts.other_reads);
                    (1, 0)
                } else {
                    count(&entry.counts.local_writes);
                    (0, 1)
                };
                copy.usage.note(self.rank, reads, writes);
                let answer = Some(Answer::Here(cell.clone()));
                let waits = self.waits(entry, index, process);
                let effects = self.execute(entry, &mut copy, invocation(), answer, false);
                drop(copy);
                self.perform_here(effects);
                let outcome = self.await_outcome(&cell);
                drop(waits);
                Ok(outcome)
            }
            Location::Owned(owner) => {
                drop(copy);
                *way = EventKind::Call;
                count(&entry.counts.remote_calls);
                let waits = self.waits(entry, index, process);
                let outcome = self.call_owner(entry, owner, (index, arguments, ticket.1));
                drop(waits);
                outcome
            }
            Location::Lost(_) => Ok(Outcome::Again),
        }
    }

    /// Makes all machines write their copies.
    fn write_replicas(
        &self,
        entry: &Arc<Entry>,
        (index, arguments, ticket): (usize, &Bytes, u64),
        process: &Arc<str>,
    ) -> Result<Outcome, Error> {
        count(&entry.counts.ordered_writes);
        let reads = entry.take_reads();
        let order = |number| Order::Write {
            number,
            object: entry.id,
            operation: index as u32,
            ticket,
            reads,
        };
        if entry.object_type.operations()[index].is_pure_write() {
            self.issued.fetch_add(1, Ordering::AcqRel);
            let sent = self.send(&order(0), arguments.clone());
            sent.inspect_err(|_| {
                self.landed.fetch_add(1, Ordering::AcqRel);
            })?;
            return Ok(Outcome::Done(Bytes::new()));
        }
        let waits = self.waits(entry, index, process);
        let outcome = self.ask(order, arguments.clone());
        drop(waits);
        outcome
    }

    /// Tries the alternatives that only read on the copy here; `None` if none is open.
    fn read_copy(
        &self,
        entry: &Entry,
        copy: &Copy,
        index: usize,
        arguments: &Bytes,
    ) -> Option<Outcome> {
        let state = copy.state.as_deref()?;
        entry.reads.fetch_add(1, Ordering::Relaxed);
        match completed(entry.object_type.attempt_reads(index, state, arguments)) {
            Ok(Some((result, _))) => {
                self.record(entry, index, arguments, &result, false);
                Some(Outcome::Done(result.into()))
            }
            Ok(None) => {
                count(&entry.counts.closed_reads);
                None
            }
            Err(why) => Some(Outcome::Failed(entry.failed(index, &why))),
        }
    }

    /// Waits for an invocation that is blocked here already.
    fn wait_blocked(
        &self,
        entry: &Arc<Entry>,
        index: usize,
        process: &Arc<str>,
        cell: &Arc<Cell>,
    ) -> Outcome {
        let _waits = self.waits(entry, index, process);
        if cell.block() {
            self.pause();
        }
        self.await_outcome(cell)
    }

    /// Adds a process that may block to the waiting ones.
    fn waits(&self, entry: &Arc<Entry>, index: usize, process: &Arc<str>) -> Waits<'_> {
        let operation = &entry.object_type.operations()[index];
        if !operation.may_block() {
            return Waits(self, None);
        }
        let waiting = Waiting {
            process: process.clone(),
            entry: entry.clone(),
            operation: index,
        };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.own.lock().waiting.insert(number, waiting);
        Waits(self, Some(number))
    }
}

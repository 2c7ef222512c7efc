//! The check of a history against the specification.
//!
//! The run-time claims an order of all operations: by the places of their machines. At one place
//! the ordered write comes first, and the others in the order of their execution. The check
//! executes all operations one after the other in that order. A history is sequentially consistent
//! if each result is that which its process got, and each process's operations come in its own
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use antiphon_panda::Rank;
use antiphon_panda::message::value_in;

use super::register::{Model, Token};
use crate::entry::{Executed, ObjectId};
use crate::machine::Machine;
use crate::placement::Location;

/// An execution on one machine.
#[derive(Debug, Clone)]
struct Entry {
    object: ObjectId,
    operation: String,
    token: Token,
    value: i64,
    result: Option<i64>,
    machine: Rank,
    place: u64,
    is_ordered: bool,
}

/// The executions, and the results that processes got.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Vec<Entry>,
    /// Results of finished operations, by their invokers. Writes without a result have none.
    pub told: BTreeMap<Token, Option<i64>>,
    /// The number of executions when an operation was invoked, and when it ended.
    spans: BTreeMap<Token, (usize, usize)>,
    /// The states of replicated objects, by machine, where its part ended well.
    ends: BTreeMap<Rank, BTreeMap<ObjectId, Vec<u8>>>,
    /// Machines that crash. Other machines need not know their last executions.
    pub crashed: BTreeSet<Rank>,
    /// Faults that processes found themselves.
    pub faults: Vec<String>,
}

impl Ledger {
    pub fn enter(&mut self, executed: &Executed<'_>, machine: Rank, place: u64, is_ordered: bool) {
        // Operations of other types are not part of the history.
        let Ok((token, value)) = value_in::<(Token, i64)>(executed.arguments) else {
            return;
        };
        self.entries.push(Entry {
            object: executed.object,
            operation: executed.operation.to_owned(),
            token,
            value,
            result: value_in::<i64>(executed.result).ok(),
            machine,
            place,
            is_ordered,
        });
    }

    /// Records that an operation is invoked.
    pub fn invoked(&mut self, token: Token) {
        self.spans.insert(token, (self.entries.len(), usize::MAX));
    }

    /// Records the result that its process got.
    pub fn ended(&mut self, token: Token, result: Option<i64>) {
        self.told.insert(token, result);
        if let Some(span) = self.spans.get_mut(&token) {
            span.1 = self.entries.len();
        }
    }

    pub fn close(&mut self, machine: &Machine) {
        let entries = machine.all_entries();
        let states = entries.iter().filter_map(|entry| {
            let copy = entry.copy.read();
            let is_copy = copy.location == Location::Replicated;
            let state = copy.state.as_deref().filter(|_| is_copy)?;
            Some((entry.id, entry.object_type.encode(state).ok()?))
        });
        self.ends.insert(machine.rank, states.collect());
    }

    /// Forgets a machine that did not end well.
    pub fn forget(&mut self, machine: Rank) {
        self.ends.remove(&machine);
    }

    /// Checks the history.
    ///
    /// # Errors
    /// The fault of the history.
    pub fn check(&self) -> Result<(), String> {
        if let Some(fault) = self.faults.first() {
            return Err(fault.clone());
        }
        self.check_copies()?;
        let order = self.claimed_order()?;
        self.check_programs(&order)?;
        self.check_results(&order)
    }

    /// Checks that all copies are equal where all is quiescent.
    fn check_copies(&self) -> Result<(), String> {
        let mut ends = self.ends.iter();
        let Some((first, states)) = ends.next() else {
            return Ok(());
        };
        for (machine, others) in ends {
            for (object, state) in states {
                if others.get(object).is_some_and(|other| other != state) {
                    return Err(format!(
                        "machines {first} and {machine} have different copies of object {object}: {state:?} and {:?}",
                        others[object]
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns one execution of each operation, in the order that the run-time claims.
    fn claimed_order(&self) -> Result<Vec<&Entry>, String> {
        let mut first: BTreeMap<Token, (usize, &Entry)> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let Entry { token, machine, .. } = entry;
            if !seen.insert((*token, *machine)) {
                return Err(format!("machine {machine} executed {} twice", words(entry)));
            }
            let Some((_, before)) = first.get(token) else {
                first.insert(*token, (at, entry));
                continue;
            };
            let is_same = before.place == entry.place
                && before.result == entry.result
                && before.object == entry.object
                && before.is_ordered
                && entry.is_ordered;
            if !is_same {
                return Err(format!(
                    "{} and {} are one operation",
                    words(before),
                    words(entry)
                ));
            }
        }
        self.check_times(first.values())?;
        let mut order: Vec<_> = first.into_values().collect();
        order.sort_by_key(|(at, entry)| (entry.place, !entry.is_ordered, *at));
        Ok(order.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Checks that an operation outside of the order happens between its invocation and its end. An
    /// owned object has one copy, so it is then linearizable.
    fn check_times<'a>(
        &self,
        mut all: impl Iterator<Item = &'a (usize, &'a Entry)>,
    ) -> Result<(), String> {
        let is_outside = |(at, entry): &&(usize, &Entry)| {
            let span = self.spans.get(&entry.token);
            let (began, ended) = span.copied().unwrap_or((0, usize::MAX));
            !entry.is_ordered && !(began..ended).contains(at)
        };
        match all.find(is_outside) {
            Some((_, entry)) => Err(format!("{} was executed out of its time", words(entry))),
            None => Ok(()),
        }
    }

    /// Checks that each process's operations come in its own order, and that all its results are
    /// explained.
    fn check_programs(&self, order: &[&Entry]) -> Result<(), String> {
        let mut last: BTreeMap<u32, &Entry> = BTreeMap::new();
        for entry in order {
            if let Some(before) = last.insert(entry.token.process, entry)
                && before.token > entry.token
            {
                let (before, entry) = (words(before), words(entry));
                return Err(format!("{entry} is claimed to come after {before}"));
            }
        }
        let there: BTreeMap<_, _> = order.iter().map(|it| (it.token, it)).collect();
        for (token, told) in &self.told {
            match there.get(token) {
                Some(entry) if entry.result == *told => {}
                Some(entry) => return Err(format!("{} was told {told:?}", words(entry))),
                // If its only executor crashed, its record may be gone.
                None if !self.crashed.is_empty() => {}
                None => return Err(format!("{token:?} was never executed")),
            }
        }
        Ok(())
    }

    fn check_results(&self, order: &[&Entry]) -> Result<(), String> {
        let mut objects: BTreeMap<ObjectId, Model> = BTreeMap::new();
        let mut tail = Vec::new();
        for entry in order {
            let object = objects.entry(entry.object).or_default();
            tail.push(words(entry));
            let executed = catch_unwind(AssertUnwindSafe(|| {
                object.execute(&entry.operation, entry.token, entry.value)
            }));
            let wanted = executed.map_err(|_| format!("{} should block", words(entry)))?;
            if wanted != entry.result {
                let from = tail.len().saturating_sub(12);
                return Err(format!(
                    "{} should return {wanted:?}. Before it:\n  {}",
                    words(entry),
                    tail[from..].join("\n  ")
                ));
            }
        }
        Ok(())
    }

    /// Returns the processes that have taken from an object, in the order of the machine with the
    /// first record.
    pub fn log_of(&self, object: ObjectId) -> Vec<u32> {
        let mut seen = BTreeSet::new();
        let takes = self
            .entries
            .iter()
            .filter(|it| it.object == object && it.operation == "take");
        let new = takes.filter(|it| seen.insert(it.token));
        new.map(|it| it.token.process).collect()
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

fn words(entry: &Entry) -> String {
    let Entry {
        object,
        operation,
        token,
        value,
        result,
        machine,
        place,
        is_ordered,
    } = entry;
    let how = if *is_ordered { "ordered at" } else { "at" };
    let Token { process, number } = token;
    format!(
        "process {process}, {number}: object {object} {operation}({value}) = {result:?}, {how} place {place} on machine {machine}"
    )
}

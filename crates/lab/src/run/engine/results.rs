//! Results of items: they are stored, then reported, and decide whether an item is still due.

use super::{Engine, Failure};
use crate::record::{ResultRecord, WarmUp};
use crate::run::attempts::Around;
use crate::run::measured::{self, Beside, Measured};
use crate::run::{Event, RunError};
use crate::store::Raw;
use antiphon_measure::Stopped;

impl Engine<'_, '_> {
    /// Checks whether an item is still to be measured in a process start. An absence is tried
    /// again, because its cause may be gone.
    pub(in crate::run) fn is_due(&self, position: usize, start: u32) -> bool {
        if self.had_turn.contains(&position) {
            return false;
        }
        let repeated = self.items[position].task.is_repeated();
        if start > 0 && !repeated {
            return false;
        }
        match &self.results[position] {
            None => true,
            Some(result) if result.outcome.is_absent() => true,
            Some(result) if repeated => {
                let of_start = result.starts.get(start as usize);
                of_start.is_none_or(|estimate| estimate.stopped == Stopped::Interrupted)
            }
            Some(_) => false,
        }
    }

    /// Stores the result of an item and reports it.
    pub(super) fn keep(
        &mut self,
        position: usize,
        start: u32,
        measured: Measured,
        around: Around,
    ) -> Result<(), RunError> {
        let identity = self.items[position].identity.clone();
        let beside = Beside {
            findings: std::mem::take(&mut self.reported.findings),
            foreign: around.foreign,
            warm_up: self.warm_up.take(),
            core_to_core_ns: around.core_to_core_ns,
        };
        let earlier = self.results[position].take();
        match measured::result(identity, earlier, start, measured, beside) {
            Some(result) => self.replace(position, result),
            None => Ok(()),
        }
    }

    /// Stores a result in place of an earlier one, then reports it. In this order a reported result
    /// survives a kill.
    pub(in crate::run) fn replace(
        &mut self,
        position: usize,
        result: ResultRecord,
    ) -> Result<(), RunError> {
        self.amend(position, result)?;
        if let Some(result) = &self.results[position] {
            self.lab.observer.event(Event::Finished {
                item: &self.items[position],
                result,
                seconds_left: self.budget.seconds_left(),
            });
        }
        Ok(())
    }

    /// Stores a result that has more than its earlier report.
    pub(in crate::run) fn amend(
        &mut self,
        position: usize,
        result: ResultRecord,
    ) -> Result<(), RunError> {
        self.lab.store.result(self.run, position, &result)?;
        self.results[position] = Some(result);
        Ok(())
    }

    /// Keeps how the process of an item became warm, for turns alone.
    pub(in crate::run) fn add_warm_up(
        &mut self,
        position: usize,
        warm_up: WarmUp,
    ) -> Result<(), RunError> {
        match self.results[position].clone() {
            Some(mut result) => {
                result.warm_ups.push(warm_up);
                self.amend(position, result)
            }
            None => Ok(()),
        }
    }

    /// Returns the newest result of an item.
    pub(in crate::run) fn result(&self, position: usize) -> Option<&ResultRecord> {
        self.results[position].as_ref()
    }

    /// Stores a reading of an item.
    pub(in crate::run) fn append(
        &mut self,
        position: usize,
        start: u32,
        raw: &Raw,
    ) -> Result<(), Failure> {
        Ok(self.lab.store.append(self.run, position, start, raw)?)
    }
}

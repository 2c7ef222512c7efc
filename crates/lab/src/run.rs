//! The engine: plans what is measured, measures it item by item, and stores every reading as it arrives and every result as it is made.
//!
//! A subject that crashes, hangs, or answers rubbish costs its item a figure and nothing else: its process is started again, and given up
//! on by name when it fails three times in a row. An interrupted run keeps what was measured and can be resumed.

mod account;
mod analysis;
mod attempts;
mod budget;
mod busy;
mod compilers;
mod conditions;
mod costs;
mod counted;
mod delays;
mod engine;
mod event;
mod first;
mod foreign;
mod frames;
mod gate;
mod idle_prevention;
mod instruction_counts;
mod load;
mod measured;
mod placement_check;
mod plan;
#[cfg(test)]
#[path = "../tests/common/powers.rs"]
mod powers;
mod prepare;
mod process_pool;
mod programs;
mod readings;
pub(crate) mod realtime;
mod selection;
mod sequence;
mod shown;
mod starts;
mod suspend;
mod tasks;
mod tree;
#[cfg(test)]
#[path = "../tests/common/waiting.rs"]
mod waiting;
mod warm;
mod work;

pub use event::{Event, Observer};
pub use plan::{Item, Task};

pub(crate) use analysis::clock_facts;
pub(crate) use load::sweep_servers;
pub(crate) use placement_check::broken;
pub(crate) use process_pool::{Processors, launch, program_launch};

use crate::build::Cache;
use crate::patterns::PatternError;
use crate::store::{Store, StoreError};
use crate::subject::{Subject, SubjectError};
use crate::suite::Suite;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// What the user asks of a run. With the suite and the subjects it decides the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Use the quick sizes.
    pub quick: bool,
    /// Time budget of the whole run after building, s; without one the suite's own counts.
    pub time_budget_s: Option<f64>,
    /// Patterns such as `call.*` of the tests to measure, or names of groups; empty: all.
    pub only: Vec<String>,
    /// Subjects as `name` or `name/variant`; empty: the suite's own.
    pub subjects: Vec<String>,
    /// Decides everything that is random, such as the starting times of delays.
    pub seed: u64,
    /// How many times each subject's process is started afresh; without it the suite's own number.
    pub starts: Option<u64>,
    /// Time after which a subject that does not answer counts as hanging, beyond what its answer should take, s.
    pub hang_limit_s: f64,
    /// Count instructions: of every frame where the processor's counters can be read, else by callgrind of costs that cannot be told from
    /// their control's.
    pub count_instructions: bool,
    /// Count them by callgrind of every frame that has no count, whatever its cost.
    #[serde(default)]
    pub instructions_of_all: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            quick: false,
            time_budget_s: None,
            only: Vec::new(),
            subjects: Vec::new(),
            seed: 1,
            starts: None,
            hang_limit_s: 20.0,
            count_instructions: true,
            instructions_of_all: false,
        }
    }
}

/// What a run needs beside its options.
pub struct Laboratory<'l> {
    /// All subjects that may be asked for.
    pub subjects: &'l [Subject],
    /// Where builds are kept.
    pub cache: &'l Cache,
    /// Where results go.
    pub store: &'l mut Store,
    /// Who is told of progress.
    pub observer: &'l mut dyn Observer,
    /// Set from outside to end the run early; what was measured is kept.
    pub stop: &'l AtomicBool,
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A subject or variant is not known.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The store did not do what was asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored suite cannot be read by this version.
    #[error("the suite of run {run} cannot be read: {faults}")]
    Suite {
        /// The run.
        run: i64,
        /// Its faults.
        faults: crate::Faults,
    },
    /// A pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The user stopped it before anything was measured.
    #[error("interrupted before measuring began; builds that were whole are kept")]
    Interrupted,
    /// Nothing is left to measure.
    #[error("there is nothing to measure: {why}; {mend}")]
    Nothing {
        /// Why.
        why: String,
        /// What to do.
        mend: String,
    },
    /// A resumed run no longer is what it was.
    #[error("run {run} cannot be resumed: {why}; start a new run")]
    Changed {
        /// The run.
        run: i64,
        /// What changed.
        why: String,
    },
}

impl Laboratory<'_> {
    /// Measures a suite and gives the number of the run.
    ///
    /// # Errors
    /// [`RunError`], if the run could not begin, or the store failed. A subject's failure is a result, not an error.
    pub fn measure(
        &mut self,
        suite: &Suite,
        suite_toml: &str,
        options: &Options,
    ) -> Result<i64, RunError> {
        let options = &Options {
            // A resumed run has as many as it began with.
            starts: Some(options.starts.unwrap_or(suite.sizes(options.quick).runs)),
            ..options.clone()
        };
        let prepared = prepare::prepare(self, suite, options)?;
        let run = prepare::begin(self, &prepared, suite, suite_toml, options)?;
        let _lease = self.store.hold(run)?;
        engine::execute(self, run, suite, options, prepared, None)?;
        Ok(run)
    }

    /// Goes on with an interrupted run, and gives its number. Items with a figure are kept; what was read of an item in progress is used.
    ///
    /// # Errors
    /// As [`measure`](Self::measure); also if the subjects have changed since, or if another process measures it now.
    pub fn resume(&mut self, run: i64) -> Result<i64, RunError> {
        self.store.exists(run)?;
        let _lease = self.store.hold(run)?;
        let saved = self.store.resume(run)?;
        let faults = |faults| RunError::Suite { run, faults };
        let suite = Suite::parse(&saved.record.suite, &saved.record.suite_toml).map_err(faults)?;
        let changed = |why: String| RunError::Changed { run, why };
        let options: Options = serde_json::from_str(&saved.options)
            .map_err(|why| changed(format!("its options cannot be read ({why})")))?;
        let prepared = prepare::prepare_again(self, &suite, &options, &saved)?;
        engine::execute(self, run, &suite, &options, prepared, Some(saved))?;
        Ok(run)
    }
}

//! The engine: it plans a run, measures it item by item, and stores every reading and result as it
//! arrives.
//!
//! A subject that crashes, hangs or answers nonsense costs only the figure of its item. Its process
//! is started again, and given up by name after three failures in a row. An interrupted run keeps
//! its results and can be resumed.

mod account;
mod analysis;
mod attempts;
mod budget;
mod busy;
mod compilers;
mod conditions;
mod contention;
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

/// The user's options for a run. Together with suite and subjects they decide the plan.
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
    /// Starts of each subject's process; without it the suite's own number.
    pub starts: Option<u64>,
    /// Time beyond an answer's expected duration after which a silent subject counts as hanging, s.
    pub hang_limit_s: f64,
    /// Counts instructions. The processor's counters are used for every frame if they are readable.
    /// Otherwise callgrind counts costs that their control hides.
    pub count_instructions: bool,
    /// Count them by callgrind for every frame without a count, at any cost.
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

/// Environment of a run beside its options.
pub struct Laboratory<'l> {
    /// All available subjects.
    pub subjects: &'l [Subject],
    /// Cache of builds.
    pub cache: &'l Cache,
    /// Store of results.
    pub store: &'l mut Store,
    /// Receiver of progress events.
    pub observer: &'l mut dyn Observer,
    /// Flag set from outside to end the run early; the measurements are kept.
    pub stop: &'l AtomicBool,
}

/// Reason for a missing run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A subject or variant is not known.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The store failed.
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
    #[error("there is nothing to measure: {why}; {help}")]
    Nothing {
        /// Cause.
        why: String,
        /// Advice to the user.
        help: String,
    },
    /// The conditions of a resumed run have changed.
    #[error("run {run} cannot be resumed: {why}; start a new run")]
    Changed {
        /// The run.
        run: i64,
        /// Description of the change.
        why: String,
    },
}

impl Laboratory<'_> {
    /// Measures a suite and returns the number of the run.
    ///
    /// # Errors
    /// [`RunError`], if the run could not begin, or the store failed. A subject's failure is a
    /// result, not an error.
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

    /// Resumes an interrupted run and returns its number. Items with a figure are kept; stored
    /// readings of an item in progress are used.
    ///
    /// # Errors
    /// As [`measure`](Self::measure); also if the subjects have changed since, or if another
    /// process measures it now.
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

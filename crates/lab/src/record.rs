//! The record of a run, as the report and the comparison read it back: subjects, conditions and
//! results.

pub(crate) mod calm;
pub(crate) mod core_distance;
mod costs;
mod load;
mod ratio;

pub use core_distance::{Apart, CoreToCore};
pub use costs::{CostRound, Costs, Foreign, Held, HeldAfter, ServerHeld, mostly_disturbed};
pub(crate) use load::is_limited;
pub use load::{
    ClosedLoop, ContextSwitches, Freeze, Generator, Latencies, LoadOutcome, LoadRound, LoadTask,
    WarmSlice, WarmUp,
};
pub use ratio::{Starts, typical};

use crate::run::Options;
use antiphon_measure::{
    ClockEstimate, DelayCurve, Estimate, Finding, Interference, Interval, LatencyEstimate,
    StorageEstimate, WholeRun,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of one suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Number of the run in its store.
    pub id: i64,
    /// The suite's name.
    pub suite: String,
    /// Text of the suite's file at the beginning of the run; its tables and published figures are
    /// read from it.
    pub suite_toml: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339; `None` while the run goes on or after a crash.
    pub ended: Option<String>,
    /// Whether the quick sizes were used.
    pub quick: bool,
    /// What was asked for, such as the tests and subjects that were chosen; `None` where the store
    /// has it in a form of another version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Options>,
    /// The machine.
    pub machine: Machine,
    /// The subjects that were started, by name and variant.
    pub subjects: Vec<SubjectRecord>,
    /// Results, in the order of the plan.
    pub results: Vec<ResultRecord>,
    /// Refusals and doubts that make the run's figures less exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RunRecord {
    /// Returns the processor time due to a slice of a subject's turns, ms, if its file sets it
    /// (`slice_ms`); `None` for the default.
    pub fn slice_ms(&self, subject: &str) -> Option<u64> {
        let own = self.results.iter();
        let mut own = own.filter(|result| result.identity.subject == subject);
        own.find_map(|result| result.costs.as_ref()?.slice_ms)
    }

    /// Returns the distance of the run's processors under `across`; `None` if it was not read.
    pub fn apart(&self) -> Option<Apart> {
        Apart::of(self.results.iter().flat_map(ResultRecord::distances))
    }

    /// Checks whether processors were kept awake while turns waited.
    pub fn is_awake(&self) -> bool {
        let mut costs = self.results.iter().filter_map(|of| of.costs.as_ref());
        costs.any(|costs| costs.awake)
    }
}

/// The machine a run was on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Processor model.
    pub processor: String,
    /// Number of processors.
    pub processors: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Kernel release and version.
    pub kernel: String,
    /// Distribution.
    pub system: String,
    /// Frequency governor, or why it is unknown.
    pub governor: String,
    /// Clock source of the kernel.
    pub clock_source: String,
    /// Hypervisor, if one is seen.
    pub virtualization: Option<String>,
    /// Load average of one minute when the run began.
    pub load: f64,
    /// State of hardware counters: readable, or the reason why not.
    pub counters: String,
    /// State of FIFO scheduling: permitted, or how to permit it.
    pub fifo: String,
}

/// A subject in one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectRecord {
    /// `name/variant`, such as `ada/O2`.
    pub id: String,
    /// Language.
    pub language: String,
    /// First line of the compiler's version output.
    pub compiler: String,
    /// Flags of the variant.
    pub flags: String,
    /// Hash of the content that was built.
    pub content: String,
}

/// Name of a result: subject, test, argument, policy and placement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// The test's name in the protocol, or a clock's name, or `interference`.
    pub test: String,
    /// The argument, if the test takes one.
    pub arg: Option<u64>,
    /// `name/variant`.
    pub subject: String,
    /// `other` or `fifo`.
    pub policy: String,
    /// `same`, `across` or `free`.
    pub placement: String,
}

impl Identity {
    /// Checks whether another result is of the same operation under the same policy and placement,
    /// of any subject.
    pub fn is_beside(&self, other: &Identity) -> bool {
        (&self.test, self.arg, &self.policy, &self.placement)
            == (&other.test, other.arg, &other.policy, &other.placement)
    }
}

/// Suffix of a twin's name.
const TWIN: &str = " (again)";

/// Returns the name of a subject's second measurement.
pub fn twin_of(subject: &str) -> String {
    format!("{subject}{TWIN}")
}

/// Returns the original of a twin; `None` if the subject is no twin.
pub fn original_of(twin: &str) -> Option<&str> {
    twin.strip_suffix(TWIN)
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Name of the result.
    pub identity: Identity,
    /// Measured outcome.
    pub outcome: Outcome,
    /// Estimates of each start of the subject's process, in order; empty unless it is a frame.
    /// `outcome` sums them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Estimate>,
    /// Remarks for the reader beside the outcome. Empty for a frame, whose estimate has its own
    /// findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Costs of the test beside its time, if its suite asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// Use of the processors by other programs, for each start of the subject's process. Empty for
    /// load, whose rounds have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Foreign>,
    /// Warm-up of the process, for each start. Empty for subjects that need none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_ups: Vec<WarmUp>,
    /// Core distance of the two processors, for each start of a frame under `across`. Empty for all
    /// else, and with one processor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_to_core_ns: Vec<CoreToCore>,
}

impl ResultRecord {
    /// Creates a result with nothing beside its outcome.
    pub fn new(identity: Identity, outcome: Outcome) -> ResultRecord {
        ResultRecord {
            identity,
            outcome,
            starts: Vec::new(),
            findings: Vec::new(),
            costs: None,
            foreign: Vec::new(),
            warm_ups: Vec::new(),
            core_to_core_ns: Vec::new(),
        }
    }

    /// Returns the outcome of a server under load; `None` of all else.
    pub fn load(&self) -> Option<&LoadOutcome> {
        match &self.outcome {
            Outcome::Load(load) => Some(load),
            _ => None,
        }
    }

    /// Returns the distance of its processors; `None` if it was not read.
    pub fn apart(&self) -> Option<Apart> {
        Apart::of(self.distances())
    }

    /// Returns the core distances in this run and a later one, if they differ. `None` also if a run
    /// did not read them.
    pub(crate) fn moved_until(&self, later: &ResultRecord) -> Option<(Apart, Apart)> {
        let (before, after) = (self.apart()?, later.apart()?);
        after.differs_from(&before).then_some((before, after))
    }

    /// Returns all readings of the core distance, ns.
    fn distances(&self) -> Vec<f64> {
        match &self.outcome {
            Outcome::Load(load) => load.distances().collect(),
            _ => self
                .core_to_core_ns
                .iter()
                .flat_map(CoreToCore::readings)
                .collect(),
        }
    }

    /// Returns the time of an operation, ns; `None` for anything but a frame.
    ///
    /// It is that of the turns for processor time, if they kept it. Otherwise it is that of the
    /// frame's slices.
    ///
    /// A frame's slices are as short as its clock allows, to fit between interruptions. For
    /// operations of some µs a slice holds only one or a few. Its caller has just served another
    /// request: its caches are cold, and its run-time rarely collects garbage. A turn's slices last
    /// for milliseconds and follow others of the same test.
    pub fn time(&self) -> Option<Interval> {
        let Outcome::Frame(estimate) = &self.outcome else {
            return None;
        };
        Some(self.time_of_turns().unwrap_or(estimate.cost_ns))
    }

    /// Returns the time of an operation in its turns, ns; `None` without turns that kept it.
    pub fn time_of_turns(&self) -> Option<Interval> {
        self.costs.as_ref()?.time()
    }

    /// Removes the limits from costs that rest on one block. Records of earlier versions have
    /// limits there.
    pub(crate) fn open_if_one_block(&mut self) {
        self.starts.iter_mut().for_each(Estimate::open_if_one_block);
        // The differences of several starts give limits.
        if let (Outcome::Frame(estimate), 0 | 1) = (&mut self.outcome, self.starts.len()) {
            estimate.open_if_one_block();
        }
    }
}

/// Result of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// A cost per operation.
    Frame(Box<Estimate>),
    /// A distribution of latencies.
    Latency(LatencyEstimate),
    /// A delay curve.
    DelayCurve(DelayCurve),
    /// A storage loop.
    Storage(StorageEstimate),
    /// A clock.
    Clock {
        /// `ns` or `ticks`.
        unit: String,
        /// Estimate from its readings.
        estimate: ClockEstimate,
    },
    /// The system's interference with this subject.
    Interference(Interference),
    /// Whole runs of a program.
    Program {
        /// Output of the program without its accounts, the same in every run.
        answer: String,
        /// Its runs, in the order of time.
        runs: Vec<WholeRun>,
        /// Counters by name, from a separate run whose time is not kept, because counting takes
        /// time.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        counted: BTreeMap<String, u64>,
    },
    /// Load on a server.
    Load(Box<LoadOutcome>),
    /// No figure, and the cause: it crashed, hung, or a need is missing.
    Absent {
        /// Cause of the absence.
        reason: String,
        /// Advice to the user.
        #[serde(rename = "mend")]
        help: String,
        /// The subject's last words, if it spoke.
        last_words: String,
        /// Whether the absence is intended: the subject lists the test as missing, as for a feature
        /// its language lacks. A suite may also exclude the test for the subject. Any other absence
        /// is a failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        listed: bool,
    },
}

/// Reason for a missing figure: the content of a later [`Outcome::Absent`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// Cause of the absence.
    pub reason: String,
    /// Advice to the user.
    #[serde(rename = "mend")]
    pub help: String,
    /// The subject's last words, if it spoke.
    pub last_words: String,
    /// Whether the subject lists the test as missing, or the suite does not intend it for the
    /// subject.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

impl Absence {
    /// Creates an absence with its cause and advice, without output of the subject.
    pub(crate) fn new(reason: impl Into<String>, help: impl Into<String>) -> Absence {
        Absence {
            reason: reason.into(),
            help: help.into(),
            last_words: String::new(),
            listed: false,
        }
    }

    /// Adds the subject's last output.
    pub(crate) fn with_last_words(mut self, words: impl Into<String>) -> Absence {
        self.last_words = words.into();
        self
    }

    /// Creates an absence from a message, whose part after the last semicolon is the advice.
    pub(crate) fn of_message(error: impl std::fmt::Display) -> Absence {
        let text = error.to_string();
        let (reason, help) = text.rsplit_once("; ").unwrap_or((&text, ""));
        Absence::new(reason, help)
    }

    /// Creates an absence for a test that the subject lists as missing or the suite does not intend
    /// for it.
    pub(crate) fn not_meant(because: &str) -> Absence {
        Absence {
            listed: true,
            ..Absence::new(because, "")
        }
    }

    /// Creates an absence from a subject's failure.
    pub(crate) fn of_session(error: &crate::session::SessionError) -> Absence {
        Absence::new(error.reason(), error.help()).with_last_words(error.last_words())
    }
}

impl From<Absence> for Outcome {
    fn from(absence: Absence) -> Self {
        Outcome::Absent {
            reason: absence.reason,
            help: absence.help,
            last_words: absence.last_words,
            listed: absence.listed,
        }
    }
}

impl Outcome {
    /// Checks for an outcome without a figure.
    pub fn is_absent(&self) -> bool {
        matches!(self, Outcome::Absent { .. })
    }
}

//! A run as it is read back: what was measured, on what, and what came out. What the report and the comparison read.

pub(crate) mod calm;
pub(crate) mod core_distance;
mod costs;
mod load;
mod ratio;

pub use core_distance::{Apart, CoreToCore};
pub use costs::{CostRound, Costs, Foreign, Held, HeldAfter, ServerHeld, mostly_disturbed};
pub use load::{
    ClosedLoop, ContextSwitches, Freeze, Generator, Latencies, LoadOutcome, LoadRound, LoadTask,
    WarmSlice, WarmUp,
};
pub use ratio::{Starts, typical};

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
    /// The suite's file as it was when the run began; its tables and published figures are read from it.
    pub suite_toml: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, RFC 3339; `None` while the run goes on or after a crash.
    pub ended: Option<String>,
    /// Whether the quick sizes were used.
    pub quick: bool,
    /// The machine.
    pub machine: Machine,
    /// The subjects that were started, by name and variant.
    pub subjects: Vec<SubjectRecord>,
    /// Results, in the order of the plan.
    pub results: Vec<ResultRecord>,
    /// What was not granted while it was measured, and makes its figures less exact or doubtful.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl RunRecord {
    /// How much of a processor the slices of a subject's turns were to use, ms, where its file said it (`slice_ms`); `None` where they were as in most subjects.
    pub fn slice_ms(&self, subject: &str) -> Option<u64> {
        let own = self.results.iter();
        let mut own = own.filter(|result| result.identity.subject == subject);
        own.find_map(|result| result.costs.as_ref()?.slice_ms)
    }

    /// How far apart its processors were in what was measured under `across`; `None` where that was not read.
    pub fn apart(&self) -> Option<Apart> {
        Apart::of(self.results.iter().flat_map(ResultRecord::distances))
    }

    /// Whether processors were kept awake while turns waited.
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
    /// Whether hardware counters can be read, and if not, why.
    pub counters: String,
    /// Whether FIFO scheduling is permitted, and if not, how to permit it.
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

/// What was measured: with its policy and placement, the result's name.
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
    /// Whether another result is of the same operation, under the same policy and placement, whatever its subject.
    pub fn is_beside(&self, other: &Identity) -> bool {
        (&self.test, self.arg, &self.policy, &self.placement)
            == (&other.test, other.arg, &other.policy, &other.placement)
    }
}

/// What the name of a subject's twin ends with.
const TWIN: &str = " (again)";

/// The name of a subject that is measured twice, for the second time.
pub fn twin_of(subject: &str) -> String {
    format!("{subject}{TWIN}")
}

/// The subject that a twin is a second measurement of; `None` if it is no twin.
pub fn original_of(twin: &str) -> Option<&str> {
    twin.strip_suffix(TWIN)
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// What it is a result of.
    pub identity: Identity,
    /// What came out.
    pub outcome: Outcome,
    /// For a frame, the estimate of each start of the subject's process, in order; `outcome` sums them up. Empty for all else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<Estimate>,
    /// What a reader must be told beside the outcome. Empty for a frame, whose estimate has findings of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What the test cost beside its time, where its suite asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// What others used of the processors meanwhile, for each start of the subject's process. Empty for load, whose rounds tell it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Foreign>,
    /// How the process became warm, for each start. Empty for subjects that need not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_ups: Vec<WarmUp>,
    /// How far apart the two processors were, for each start of a frame under `across`. Empty for all else, and where there is one processor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_to_core_ns: Vec<CoreToCore>,
}

impl ResultRecord {
    /// A result with nothing beside its outcome.
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

    /// What a server did under a load; `None` of all else.
    pub fn load(&self) -> Option<&LoadOutcome> {
        match &self.outcome {
            Outcome::Load(load) => Some(load),
            _ => None,
        }
    }

    /// How far apart its processors were; `None` where that was not read.
    pub fn apart(&self) -> Option<Apart> {
        Apart::of(self.distances())
    }

    /// How far apart they were in this run and in a later one, where that differs; `None` also where a run did not read it.
    pub(crate) fn moved_until(&self, later: &ResultRecord) -> Option<(Apart, Apart)> {
        let (before, after) = (self.apart()?, later.apart()?);
        after.differs_from(&before).then_some((before, after))
    }

    /// All that was read of that, ns.
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

    /// Time of an operation, ns: that of the turns that measure its processor time, where they kept it, and else that of its frames; `None` of what is no frame.
    ///
    /// A frame's slices are as short as its clock allows, so that they fit between interruptions. Of operations of some µs they hold one or a few, which a caller makes who has just
    /// been asked for something else: with cold caches, and without what his run-time collects now and then. A turn's slices last for milliseconds, and follow others of the same test.
    pub fn time(&self) -> Option<Interval> {
        let Outcome::Frame(estimate) = &self.outcome else {
            return None;
        };
        Some(self.time_of_turns().unwrap_or(estimate.cost_ns))
    }

    /// The time of an operation in its turns, ns; `None` without turns that kept it.
    pub fn time_of_turns(&self) -> Option<Interval> {
        self.costs.as_ref()?.time()
    }

    /// Takes the limits from costs that rest on one block: runs of earlier versions have some there.
    pub(crate) fn open_if_one_block(&mut self) {
        self.starts.iter_mut().for_each(Estimate::open_if_one_block);
        // Several starts tell limits by what they differ by.
        if let (Outcome::Frame(estimate), 0 | 1) = (&mut self.outcome, self.starts.len()) {
            estimate.open_if_one_block();
        }
    }
}

/// What came out.
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
        /// What its readings told.
        estimate: ClockEstimate,
    },
    /// The system's interference with this subject.
    Interference(Interference),
    /// Whole runs of a program.
    Program {
        /// What it printed, its own accounts left out: the same in every run.
        answer: String,
        /// Its runs, in the order of time.
        runs: Vec<WholeRun>,
        /// What was counted in a run of its own, whose time is not kept as counting takes time; by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        counted: BTreeMap<String, u64>,
    },
    /// Load on a server.
    Load(Box<LoadOutcome>),
    /// No figure, and why: it crashed, hung, or what it needs is missing.
    Absent {
        /// What happened, by name.
        reason: String,
        /// What the user can do.
        mend: String,
        /// The subject's last words, if it spoke.
        last_words: String,
        /// Whether the subject lists the test as one that it does not have, such as for a feature that its language lacks, or the suite
        /// does not mean it for the subject. All else is a failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        listed: bool,
    },
}

/// Why there is no figure: what [`Outcome::Absent`] holds, on its way there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// What happened, by name.
    pub reason: String,
    /// What the user can do.
    pub mend: String,
    /// The subject's last words, if it spoke.
    pub last_words: String,
    /// Whether the subject lists the test as one that it does not have, or the suite does not mean it for the subject.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listed: bool,
}

impl Absence {
    /// What happened, and what the user can do, of a subject that said nothing.
    pub(crate) fn new(reason: impl Into<String>, mend: impl Into<String>) -> Absence {
        Absence {
            reason: reason.into(),
            mend: mend.into(),
            last_words: String::new(),
            listed: false,
        }
    }

    /// The same with what the subject said last.
    pub(crate) fn with_last_words(mut self, words: impl Into<String>) -> Absence {
        self.last_words = words.into();
        self
    }

    /// The absence that a message is whose part after the last semicolon says what mends it.
    pub(crate) fn of_message(error: impl std::fmt::Display) -> Absence {
        let text = error.to_string();
        let (reason, mend) = text.rsplit_once("; ").unwrap_or((&text, ""));
        Absence::new(reason, mend)
    }

    /// A test that a subject lists as one that it does not have, or that the suite does not mean for it.
    pub(crate) fn not_meant(because: &str) -> Absence {
        Absence {
            listed: true,
            ..Absence::new(because, "")
        }
    }

    /// A subject's failure.
    pub(crate) fn of_session(error: &crate::session::SessionError) -> Absence {
        Absence::new(error.reason(), error.mend()).with_last_words(error.last_words())
    }
}

impl From<Absence> for Outcome {
    fn from(absence: Absence) -> Self {
        Outcome::Absent {
            reason: absence.reason,
            mend: absence.mend,
            last_words: absence.last_words,
            listed: absence.listed,
        }
    }
}

impl Outcome {
    /// Whether there is no figure.
    pub fn is_absent(&self) -> bool {
        matches!(self, Outcome::Absent { .. })
    }
}

//! Suites: tests, their presentation, and published figures beside them. Each is one TOML file;
//! docs/reference/suites.md describes it.

mod compare;
mod curve;
mod except;
mod first_look;
mod headline;
mod load;
mod matrix;
mod models;
mod profile;
mod published;
mod read;
mod savings;

pub use compare::Compare;
pub use curve::{Curve, CurveColumn, CurveUnit, Rate};
pub use except::Exception;
pub use first_look::FirstLook;
pub use headline::{Basis, ClaimSets, Headline, HeadlineQuantity, HeadlineRow};
pub use load::{ServerClaim, ServerQuantity, Servers};
pub use matrix::{Instance, Matrix, fill};
pub use models::{Model, ModelClaim, ModelColumn, Models};
pub use profile::{Part, Profile};
pub use published::{Column, Figures, Published, PublishedRow, PublishedValue};
pub use savings::{Claim, Program, PublishedVariant, Quantity, Savings};

use crate::document::{Faults, did_you_mean};
use crate::record::Generator;
use std::collections::HashSet;
use std::path::Path;

/// The most bytes of a file with a suite or a subject. The longest of ours has 30 000.
pub(crate) const FILE_MAX: u64 = 4 << 20;

/// A suite as its file says it, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// The name that the command line knows it by.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Summary in a sentence or two.
    pub text: String,
    /// The subjects that are measured unless others are asked for, as `name/variant`.
    pub subjects: Vec<String>,
    /// Subjects measured twice, as two: the difference of their figures is an error of the
    /// measurement.
    pub twins: Vec<String>,
    /// Further ones that are measured twice in full runs alone, because a quick one has no time for
    /// them.
    pub full_twins: Vec<String>,
    /// Subjects among them that a quick run leaves out.
    pub only_full: Vec<String>,
    /// Whether processor time and memory, the database's included, are measured beside frames.
    pub costs: bool,
    /// Base of a subject's costs.
    pub compare: Compare,
    /// Sizes of a quick run.
    pub quick: Sizes,
    /// Sizes of a full run.
    pub full: Sizes,
    /// What a first look takes of it; `None`: nothing.
    pub first_look: Option<FirstLook>,
    /// The groups, in the order in which they are shown.
    pub groups: Vec<Group>,
    /// Tables published elsewhere, to be read beside today's figures.
    pub published: Vec<Published>,
    /// Variants of programs, and their savings.
    pub savings: Vec<Savings>,
    /// Execution models compared.
    pub models: Vec<Models>,
    /// Profiles of programs by part.
    pub profiles: Vec<Profile>,
    /// Costs against a number, and as multiples of others.
    pub curves: Vec<Curve>,
    /// Claims about servers under load.
    pub servers: Vec<Servers>,
    /// Claims about subjects that speak the protocol.
    pub findings: Vec<Servers>,
    /// Sentences that its reports open with.
    pub headlines: Vec<Headline>,
}

/// Duration and precision of a row's measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Time budget of a row in one process, s.
    pub seconds_per_row: f64,
    /// Half width of the interval at which a row is done, as a fraction of the cost.
    pub relative_half_width: f64,
    /// Starts of each subject's process.
    pub runs: u64,
    /// Time budget of the whole run, s, for any number of rows and subjects; `None`: as long as the
    /// rows take.
    pub seconds: Option<f64>,
}

/// Rows that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Short name, unique.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Common text of the rows.
    pub text: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A template of tests that are measured and shown alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Template of the tests' names; `*` in a row of kind `clock` stands for every clock that the
    /// subject names.
    pub test: String,
    /// Template of their labels.
    pub label: String,
    /// The values of the templates' placeholders.
    pub each: Matrix,
    /// Values of a quick run; placeholders without an entry keep all of theirs.
    pub quick: Matrix,
    /// Method of measurement.
    pub kind: RowKind,
    /// Policies and placements of a full run.
    pub runs: Vec<Placed>,
    /// Policies and placements of a quick run.
    pub quick_runs: Vec<Placed>,
    /// Whether its operations mostly wait for a disk.
    pub waits_for_disk: bool,
    /// The argument given to the tests that take one.
    pub arg: Option<Argument>,
    /// Patterns of the subjects that it is measured in, as `name/variant`; empty: all.
    pub subjects: Vec<String>,
    /// Exceptions: combinations that the row does not intend.
    pub except: Vec<Exception>,
    /// Placeholder whose slope of the cost separates passing by copy from passing by reference.
    pub passing: Option<String>,
    /// Look for steps of the cost along this placeholder.
    pub steps: Option<String>,
    /// Put a straight line through the costs along this placeholder.
    pub line: Option<String>,
}

/// The argument of a row's tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// One number for all tests.
    Number(u64),
    /// The value of this placeholder.
    Of(String),
}

/// A scheduling policy and a placement.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Placed {
    /// `other` or `fifo`.
    pub policy: String,
    /// `same`, `across` or `free`.
    pub placement: String,
}

/// Method of a row's measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum RowKind {
    /// Control and test frames: a cost per operation.
    Frame,
    /// A distribution of latencies.
    Latency {
        /// Operations.
        count: u64,
        /// Intended distance of their starts, ns; 0: each when the one before has ended.
        interval_ns: u64,
    },
    /// A storage loop with a clock reading after each turn.
    Series {
        /// Turns at most.
        count: u64,
        /// Limit of the subject's memory, MiB.
        memory_limit_mib: Option<u64>,
    },
    /// Readings of a clock.
    Clock {
        /// Readings.
        count: u64,
    },
    /// Gaps in a long series of readings of the subject's own clock.
    Interference {
        /// Length in a full run, s.
        seconds: f64,
        /// Length in a quick run, s.
        quick_seconds: f64,
    },
    /// The actual against the requested delay.
    DelayCurve(DelaySweep),
    /// Whole runs of a program.
    Program(ProgramRow),
    /// Load on a server.
    Load(LoadRow),
}

/// Load that is put on a server.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRow {
    /// Requested path, from the slash on.
    pub path: String,
    /// The body that every answer must have.
    pub body: String,
    /// Template of how many connections are used at a time.
    pub connections: String,
    /// Whether a connection is used for many requests.
    pub keep_alive: bool,
    /// Requests due each second; closed loop if neither rate is given.
    pub per_second: Option<f64>,
    /// Template of the requests due as a percentage of the server's latest rate in closed loop.
    pub percent_of_closed: Option<String>,
    /// Time for which the server is stopped in the middle, ms: a test of the generator.
    pub freeze_ms: Option<u64>,
    /// Generator of the load.
    pub by: Generator,
    /// Whether the generator sleeps during its waits, also on a processor of its own.
    pub sleeps: bool,
    /// Sending time in a round of a full run, s.
    pub seconds: f64,
    /// Sending time in a round of a quick run, s.
    pub quick_seconds: f64,
}

/// A program that is run whole, with its arguments. Both are templates over the row's placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRow {
    /// Template of the program's name in its subject.
    pub program: String,
    /// Templates of its arguments in a full run. Programs of a group with the same arguments take
    /// turns, and must print the same.
    pub arguments: Vec<String>,
    /// Templates of its arguments in a quick run.
    pub quick_arguments: Vec<String>,
    /// Time after which a run counts as hanging, s.
    pub limit_s: u64,
    /// Number of rounds, for programs whose figures do not change from run to run; as many as the
    /// time permits if not given.
    pub rounds: Option<u64>,
}

/// The points of a delay curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelaySweep {
    /// The shortest requested delay, ns.
    pub from_ns: u64,
    /// The longest requested delay, ns.
    pub to_ns: u64,
    /// Points in each factor of ten, in a full run.
    pub points_per_decade: u64,
    /// Points in each factor of ten, in a quick run.
    pub quick_points_per_decade: u64,
    /// Time for the whole curve in a full run, s.
    pub seconds: f64,
    /// Time for the whole curve in a quick run, s.
    pub quick_seconds: f64,
}

impl RowKind {
    /// Returns its word in suite files.
    pub fn name(&self) -> &'static str {
        match self {
            RowKind::Frame => "frame",
            RowKind::Latency { .. } => "latency",
            RowKind::Series { .. } => "series",
            RowKind::Clock { .. } => "clock",
            RowKind::Interference { .. } => "interference",
            RowKind::DelayCurve(_) => "delay_curve",
            RowKind::Program(_) => "program",
            RowKind::Load(_) => "load",
        }
    }
}

impl Row {
    /// Returns the tests of the row, in the order of its matrix; the last placeholder changes
    /// fastest.
    pub fn instances(&self, quick: bool) -> Vec<Instance> {
        let matrix = if quick {
            self.each.restricted(&self.quick)
        } else {
            self.each.clone()
        };
        matrix.instances(&self.test, &self.label)
    }

    /// Returns the argument of one of its tests; `None` if there is none.
    pub fn arg_of(&self, instance: &Instance) -> Option<u64> {
        match self.arg.as_ref()? {
            Argument::Number(number) => Some(*number),
            Argument::Of(placeholder) => instance.value(placeholder)?.parse().ok(),
        }
    }

    /// Returns the policies and placements of its measurements.
    pub fn runs(&self, quick: bool) -> &[Placed] {
        if quick { &self.quick_runs } else { &self.runs }
    }
}

impl Suite {
    /// Subjects that a run of this kind measures twice.
    pub fn measured_twice(&self, quick: bool) -> Vec<String> {
        let further: &[String] = if quick { &[] } else { &self.full_twins };
        self.twins.iter().chain(further).cloned().collect()
    }

    /// Returns the tests whose operations mostly wait for a disk.
    pub fn waits_for_disk(&self) -> HashSet<String> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        let waits = rows.filter(|row| row.waits_for_disk);
        waits
            .flat_map(|row| row.instances(false))
            .map(|instance| instance.test)
            .collect()
    }

    /// Reads a suite from its text. `file` is named in the faults.
    pub fn parse(file: &str, text: &str) -> Result<Suite, Faults> {
        read::suite(file, text)
    }

    /// Reads a suite from its file, and gives the file's text with it (a run keeps it).
    pub fn load(path: &Path) -> Result<(Suite, String), SuiteError> {
        let text = antiphon_outside::read_text(path, FILE_MAX).map_err(|source| {
            SuiteError::Unreadable {
                file: path.display().to_string(),
                source,
            }
        })?;
        let suite = Suite::parse(&path.display().to_string(), &text)?;
        Ok((suite, text))
    }

    /// Reads the suite that a user named: a path if it has a slash or ends in `.toml`, else a name
    /// in the folder of suites.
    pub fn named(folder: &Path, name: &str) -> Result<(Suite, String), SuiteError> {
        if name.contains('/') || name.ends_with(".toml") {
            return Suite::load(Path::new(name));
        }
        let path = folder.join(format!("{name}.toml"));
        if path.exists() {
            return Suite::load(&path);
        }
        let known = names(folder);
        Err(SuiteError::Unknown {
            name: name.to_owned(),
            folder: folder.display().to_string(),
            help: did_you_mean(name, known.iter().map(String::as_str)),
        })
    }

    /// Returns the default subjects of a quick or full run.
    pub fn subjects(&self, quick: bool) -> Vec<String> {
        let is_left_out = |name: &&String| quick && self.only_full.contains(name);
        let subjects = self.subjects.iter();
        subjects
            .filter(|name| !is_left_out(name))
            .cloned()
            .collect()
    }

    /// Returns the sizes of a quick or full run.
    pub fn sizes(&self, quick: bool) -> Sizes {
        if quick { self.quick } else { self.full }
    }

    /// Finds the row and the label of a test, including tests of full runs alone.
    pub fn find(&self, test: &str) -> Option<(&Group, &Row, Instance)> {
        self.groups.iter().find_map(|group| {
            group.rows.iter().find_map(|row| {
                let mut instances = row.instances(false).into_iter();
                let instance = instances.find(|instance| instance.test == test)?;
                Some((group, row, instance))
            })
        })
    }
}

/// Returns the names of the suites in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut names: Vec<_> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Reason why a suite is not available.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// Its file could not be read.
    #[error("{file}: {source}; give the name of a suite in `suites/` or a path to a file")]
    Unreadable {
        /// The file.
        file: String,
        /// Cause.
        source: std::io::Error,
    },
    /// No suite has this name.
    #[error("there is no suite `{name}` in {folder}; {help}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The folder of suites.
        folder: String,
        /// The nearest known name, or all of them.
        help: String,
    },
    /// The file has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
}

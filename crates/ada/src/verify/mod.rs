//! The check of a translation. Original and translation are built with GNAT and run many times
//! under several schedules, and their outputs are compared. This is a test and not a proof: it can
//! show a difference, but not that there is none.
//!
//! The output order of concurrent programs is often a matter of chance. So the original's own runs,
//! under all schedules together, decide the form of comparison. If they all print the same text,
//! the translation must print it, too. If they print the same lines in different orders, lines are
//! compared as a multiset. If even the lines differ, the translation must print those that all runs
//! of the original have in common. Before a difference is reported, the original runs again, so
//! that chance in a few runs is not taken for its behaviour. An original that does not end is
//! compared up to a stated time. Its translation may end (RM 9.3: the task waited for calls that
//! could not come any more).

mod build;
mod compare;
mod noise;
mod perturb;
mod schedule;
mod trial;
mod witness;

use std::path::PathBuf;
use std::time::Duration;

use antiphon_runner::Output;

use crate::edit::Edited;
use crate::source::Program;

pub use build::Toolchain;
pub use compare::{Agreement, Comparison};
pub use schedule::Schedule;
use trial::{CONFIRMATIONS, Trial, compare_all, confirm};

/// Options of a check.
#[derive(Debug, Clone)]
pub struct Options {
    /// The main subprogram's file; not needed if the program has only one.
    pub main: Option<PathBuf>,
    /// Runs of each program under each schedule.
    pub runs: usize,
    /// Time limit of one run; a program that exceeds it counts as one that does not end.
    pub time_limit: Duration,
    /// Standard input of each run.
    pub input: Vec<u8>,
    /// Further switches for the compiler.
    pub switches: Vec<String>,
    /// The schedules. Those that are not possible on this machine are left out and reported.
    pub schedules: Vec<Schedule>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            main: None,
            runs: 5,
            time_limit: Duration::from_secs(10),
            input: Vec::new(),
            switches: Vec::new(),
            schedules: Schedule::all().to_vec(),
        }
    }
}

/// The reason why a translation could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// GNAT is not there.
    #[error(
        "gnatmake was not found; install GNAT (Debian: apt install gnat) to check translations"
    )]
    NoCompiler,
    /// No main subprogram, or several.
    #[error("{0}")]
    Main(String),
    /// The original does not compile, so there is nothing to compare with.
    #[error("the original does not compile; GNAT says:\n{0}")]
    Original(String),
    /// A run could not be started.
    #[error("a program could not be run: {0}")]
    Run(#[from] antiphon_runner::Error),
    /// The scratch directory could not be used.
    #[error("{}: {cause}", path.display())]
    Scratch {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
}

/// Times and switches of one program, summed over all runs that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Runs that count.
    pub runs: u64,
    /// Voluntary context switches, of all runs.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Processor time in nanoseconds.
    pub cpu_ns: u64,
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
}

impl Cost {
    /// Returns the mean of one run, rounded down.
    pub fn per_run(self) -> Cost {
        let runs = self.runs.max(1);
        Cost {
            runs: self.runs.min(1),
            voluntary_switches: self.voluntary_switches / runs,
            involuntary_switches: self.involuntary_switches / runs,
            cpu_ns: self.cpu_ns / runs,
            wall_ns: self.wall_ns / runs,
        }
    }

    fn add(&mut self, output: &Output) {
        let ns = |d: Duration| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX);
        self.runs += 1;
        self.voluntary_switches += output.usage.voluntary_switches;
        self.involuntary_switches += output.usage.involuntary_switches;
        self.cpu_ns += ns(output.usage.user + output.usage.system);
        self.wall_ns += ns(output.usage.wall);
    }
}

/// The finding under one schedule.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The schedule.
    pub schedule: Schedule,
    /// The reason why the schedule was skipped, if it was.
    pub skipped: Option<String>,
    /// The comparison of the outputs.
    pub comparison: Comparison,
    /// The cost of the original.
    pub original: Cost,
    /// The cost of the translation.
    pub translation: Cost,
}

/// The result of a check.
#[derive(Debug, Clone)]
pub struct Report {
    /// GNAT's messages about the translation that it does not give for the original.
    pub new_warnings: Vec<String>,
    /// GNAT's messages, if the translation does not compile.
    pub build_failure: Option<String>,
    /// One for each schedule.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether no difference was found.
    pub fn agrees(&self) -> bool {
        self.build_failure.is_none()
            && self.new_warnings.is_empty()
            && self
                .findings
                .iter()
                .all(|f| f.comparison.differences.is_empty())
    }

    /// Returns the whole cost of original and translation, over the schedules that ran.
    pub fn costs(&self) -> (Cost, Cost) {
        let sum = |mut total: Cost, one: Cost| {
            total.runs += one.runs;
            total.voluntary_switches += one.voluntary_switches;
            total.involuntary_switches += one.involuntary_switches;
            total.cpu_ns += one.cpu_ns;
            total.wall_ns += one.wall_ns;
            total
        };
        let original = self
            .findings
            .iter()
            .map(|f| f.original)
            .fold(Cost::default(), sum);
        let translation = self
            .findings
            .iter()
            .map(|f| f.translation)
            .fold(Cost::default(), sum);
        (original, translation)
    }

    /// Returns the report as text, with savings and limitations.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(failure) = &self.build_failure {
            return format!("the translation does not compile; GNAT says:\n{failure}\n");
        }
        for warning in &self.new_warnings {
            out.push_str(&format!("new warning: {warning}\n"));
        }
        for finding in &self.findings {
            out.push_str(&format!("{}: ", finding.schedule.words()));
            match &finding.skipped {
                Some(why) => out.push_str(&format!("left out: {why}\n")),
                None => out.push_str(&finding.comparison.text()),
            }
        }
        let (before, after) = self.costs();
        // The programs may have run a different number of times, so the costs of one run are
        // compared.
        let (before, after) = (before.per_run(), after.per_run());
        out.push_str(&saved(
            "voluntary context switches a run",
            before.voluntary_switches,
            after.voluntary_switches,
            1.0,
            "",
        ));
        out.push_str(&saved(
            "processor time a run",
            before.cpu_ns,
            after.cpu_ns,
            1e6,
            " ms",
        ));
        out.push_str(
            "This was a test and not a proof: schedules that did not come up were not seen.\n",
        );
        out
    }
}

fn saved(what: &str, before: u64, after: u64, unit: f64, name: &str) -> String {
    let change = if before == 0 {
        String::new()
    } else {
        format!(
            " ({:+.1} %)",
            (after as f64 - before as f64) / before as f64 * 100.0
        )
    };
    format!(
        "{what}: {:.0}{name} before, {:.0}{name} after{change}\n",
        before as f64 / unit,
        after as f64 / unit
    )
}

/// Builds both programs, runs them, and compares.
///
/// # Errors
/// A missing compiler or main subprogram, an original that does not compile, or a program that
/// cannot be started. A translation that does not compile, or behaves differently, is a finding and
/// no error.
pub fn verify(program: &Program, edited: &[Edited], options: &Options) -> Result<Report, Error> {
    let tools = Toolchain::find().ok_or(Error::NoCompiler)?;
    let main = build::main_unit(program, options.main.as_deref())?;
    let scratch = tempfile::tempdir().map_err(|cause| Error::Scratch {
        path: std::env::temp_dir(),
        cause,
    })?;
    let original = tools.build(
        program,
        &[],
        &main,
        &scratch.path().join("original"),
        false,
        &options.switches,
    )?;
    let original = original.map_err(|said| Error::Original(said.join("\n")))?;
    let translation = tools.build(
        program,
        edited,
        &main,
        &scratch.path().join("translation"),
        false,
        &options.switches,
    )?;
    let translation = match translation {
        Ok(built) => built,
        Err(said) => {
            return Ok(Report {
                new_warnings: vec![],
                build_failure: Some(said.join("\n")),
                findings: vec![],
            });
        }
    };
    let new_warnings = build::new_warnings(program, &original.said, &translation);
    let watched = if options.schedules.contains(&Schedule::DetectBlocking) {
        tools
            .build(
                program,
                edited,
                &main,
                &scratch.path().join("detect"),
                true,
                &options.switches,
            )?
            .ok()
    } else {
        None
    };
    let shaken = if options.schedules.contains(&Schedule::Perturbed) {
        let build = |edited: &[Edited], name: &str| -> Result<Option<build::Built>, Error> {
            let Some((program, edits)) = perturb::perturb(program, edited) else {
                return Ok(None);
            };
            Ok(tools
                .build(
                    &program,
                    &edits,
                    &main,
                    &scratch.path().join(name),
                    false,
                    &options.switches,
                )?
                .ok())
        };
        build(&[], "perturbed-original")?.zip(build(edited, "perturbed-translation")?)
    } else {
        None
    };
    let pair_of = |schedule| match schedule {
        // Detect_Blocking checks protected actions of the translation; the original has none.
        Schedule::DetectBlocking => watched.as_ref().map(|w| (&original, w)),
        Schedule::Perturbed => Some(
            shaken
                .as_ref()
                .map_or((&original, &translation), |(o, t)| (o, t)),
        ),
        _ => Some((&original, &translation)),
    };
    let mut trials = Vec::new();
    for &schedule in &options.schedules {
        let skipped = schedule.unavailable();
        trials.push(match pair_of(schedule) {
            None => Trial::skipped(
                schedule,
                "the program does not compile under pragma Detect_Blocking".into(),
            ),
            Some(_) if skipped.is_some() => Trial::skipped(schedule, skipped.unwrap_or_default()),
            Some((before, after)) => {
                Trial::of(schedule, &before.executable, &after.executable, options)?
            }
        });
    }
    compare_all(&mut trials);
    for _ in 0..CONFIRMATIONS {
        if !confirm(&mut trials, options)? {
            break;
        }
        compare_all(&mut trials);
    }
    if trials.iter().any(Trial::fails_alone) {
        let directory = scratch.path().join("witness");
        let raised = witness::exception(&tools, program, &main, &directory, options)?;
        if let Some(exception) = raised {
            trials.iter_mut().for_each(|t| t.excuse(&exception));
        }
    }
    Ok(Report {
        new_warnings,
        build_failure: None,
        findings: trials.into_iter().map(|t| t.finding).collect(),
    })
}

//! The command line: every verb, option, default and help text stands here; the man page and the completions are generated from it.

use crate::load::Rate;
use antiphon_lab::LiveOptions;
use antiphon_load::Load;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A laboratory for concurrent programs.
///
/// Measures what concurrency costs on this machine, by control and test loops in one interleaved run, and says how far
/// each figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "antiphon", version, propagate_version = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// Folder that holds `suites/` and `subjects/` [default: the current folder if it holds them and
    /// is your own, else those that the command brings]
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "ANTIPHON_HOME", value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// The store of results [default: antiphon/results.db in the user's data folder]
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "ANTIPHON_STORE", value_name = "FILE")]
    pub store: Option<PathBuf>,

    /// What to do [default: say what can be done next]
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

const EXIT_CODES: &str = "\
Exit codes:
    0  done
    1  the answer is no: a check failed, a regression was found
    2  misuse: bad arguments, a broken suite
    3  something needed is missing or cannot be read or written
    4  cannot tell: what was measured is too uncertain for an answer
  130  interrupted; what was measured is kept
of launch, pvm run and sr run: those of the program";

/// Heading of the options that every verb has.
const EVERYWHERE: &str = "Options of every verb";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Say what this machine can do: toolchains, clocks, interference, and what to change for steadier numbers
    Doctor(Doctor),
    /// List suites, subjects and rows, what is missing here, and the command that installs it
    List(List),
    /// Build the subjects, measure, store a run and print the tables
    Measure(Measure),
    /// Show runs as a page, a workbook or text
    Report(Report),
    /// Compare two runs, or two builds interleaved in one run
    Compare(Compare),
    /// List the runs in the store
    Runs(Runs),
    /// Show a subject's heap, instructions and cache misses by valgrind, before and after a change
    Profile(crate::profile::Options),
    /// Turn Ada tasks that only serve rendezvous into protected objects, and check that the program behaves the same
    Translate(crate::translate::Translate),
    /// Run, build or check programs in the language SR
    #[command(subcommand)]
    Sr(crate::sr::Sr),
    /// Run, build or check programs in the language Orca
    #[command(subcommand)]
    Orca(crate::orca::Orca),
    /// Start a program as several processes that communicate over a platform
    Launch(crate::launch::Launch),
    /// Run or compile programs that were written for PVM, or be the console of a virtual machine
    Pvm(crate::pvm::Pvm),
    /// Load an HTTP server of this machine, and tell rates, latencies and fairness
    Load(crate::load::Load),
    /// Write the man pages or the shell completions
    #[command(hide = true)]
    Generate(Generate),
    /// Be a subject that is part of this command, for the laboratory to talk to
    #[command(hide = true)]
    Subject(Subject),
}

/// `antiphon doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon doctor
  antiphon doctor --subject subjects/c      check a subject against the subject protocol

Exit code 3: a first look (`antiphon measure`) lacks something. 1: the subject breaks a rule.")]
pub struct Doctor {
    /// Build this subject and check it against the subject protocol
    #[arg(long, value_name = "DIR")]
    pub subject: Option<PathBuf>,

    /// Variant of the subject to check [default: its first]
    #[arg(long, requires = "subject")]
    pub variant: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `antiphon list`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon list                             all suites and subjects
  antiphon list features                    the groups and tests of a suite, as --only takes them")]
pub struct List {
    /// Suites by name, or by path to a file, whose rows are listed [default: all suites and subjects]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `antiphon measure`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon measure                          a first look: half a minute of each suite that has one
  antiphon measure features --quick
  antiphon measure features rendezvous --quick
  antiphon measure features --subjects ada/O0,ada/O2 --only 'call.*'
  antiphon measure features --time-budget 600
  antiphon measure layer --with-sr ~/sr     beside the original SR 2.3.3
  antiphon measure --resume                 go on with the run that was interrupted last
  antiphon measure my-suite.toml --check    validate a suite and stop")]
pub struct Measure {
    /// Suites by name, or by path to a file [default: a first look at those that have one, in quick sizes]
    #[arg(value_name = "SUITE")]
    pub suites: Vec<String>,

    /// Small sizes: a figure for every row, mostly in one to three minutes a suite once all is built
    #[arg(long)]
    pub quick: bool,

    /// Stop after this many seconds of measuring; what was measured is kept. Servers under load, and languages whose costs are compared, go on for all of it, unless their figures are narrow before
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub time_budget: Option<f64>,

    /// Only tests that match one of these patterns (`*` stands for anything), or groups of the suite by their ids
    #[arg(long, value_delimiter = ',', value_name = "PATTERN", value_parser = word)]
    pub only: Vec<String>,

    /// Subjects as NAME or NAME/VARIANT [default: the suite's]
    #[arg(long, value_delimiter = ',', value_name = "SUBJECT", value_parser = word)]
    pub subjects: Vec<String>,

    /// Folder of the original SR 2.3.3 (its `sr`, or `bin/sr`), for the rows of the suite `layer` that it has [default: the `sr` of PATH]
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    pub with_sr: Option<PathBuf>,

    /// How many times each subject is started anew, for the variance between process starts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,

    /// Count the instructions of every test by callgrind, after all timing: a second opinion that no other program disturbs. It is slow, seconds a test, so
    /// choose some by --only; in a quick run Java and JavaScript have none. Needs valgrind, unless the processor's counters can be read: those count every test anyway
    #[arg(long)]
    pub instructions: bool,

    /// Go on with an unfinished run [default: the last]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", conflicts_with_all = ["suites", "quick", "time_budget", "only", "subjects", "repetitions", "instructions", "check"])]
    pub resume: Option<String>,

    /// Validate the suites and subjects and stop
    #[arg(long, conflicts_with = "json")]
    pub check: bool,

    /// Print the finished run as JSON instead of tables, one document a suite
    #[arg(long)]
    pub json: bool,

    /// Write the page of all runs, antiphon-report.html, and show it in a browser
    #[arg(long, conflicts_with = "check")]
    pub open: bool,
}

/// `antiphon report`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon report                           the last run as antiphon-report.html
  antiphon report 12 --xlsx run12.xlsx --csv run12.csv
  antiphon report features rendezvous       the last run of each suite on one page
  antiphon report --markdown -              to standard output")]
pub struct Report {
    /// Runs by number, or suites, whose last run is meant [default: the last run]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,

    /// Write one self-contained page (`-`: standard output) [default: antiphon-report.html if no format is given]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write an Excel workbook
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,

    /// Write comma-separated values (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Write JSON (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write Markdown (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// Show the page in the browser that `$BROWSER` names, or else by xdg-open
    #[arg(long)]
    pub open: bool,
}

/// `antiphon compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  antiphon compare 11 12                    two runs, by ratios to the reference measured in each
  antiphon compare --live c/O0 c/O2 --only 'call.*'
  antiphon compare --live old/c new/c       two builds of a subject from two folders
  antiphon compare --live c c --only self.same   the A/A check
  antiphon compare 11 12 --ratios --threshold 3   whether two runs say the same of languages

Each row is slower, faster, the same within so much, or it cannot be told, with what it would take. Exit code 1: a row is slower. 0: all are the
same or faster. 4: none is slower, and of some it cannot be told. 3: nothing could be compared, or a row has no figure on a side of --live. One process
start is one draw of addresses and places in memory: without three of each side nothing is told, so measure runs that are to be compared with
--repetitions. A difference within 0.5 ns, which the placement of loops in memory makes, counts as none (docs/explanation/comparing.md). What differs between
runs whose processors were at another distance from each other, as a virtual machine's may be, is not comparable, and no regression. With --ratios,
exit code 1 says that more than one in ten of the ratios that count differ by more than the threshold. Gate continuous integration on --live.")]
pub struct Compare {
    /// Run, or with --live a subject (NAME, NAME/VARIANT, DIR or DIR/VARIANT)
    pub a: String,

    /// Run or subject that is compared with A
    pub b: String,

    /// Interleave two subjects in one run instead of comparing stored runs
    #[arg(long)]
    pub live: bool,

    /// Compare what both runs say of languages: ratios of processor time an operation, where nine in ten must agree within the threshold
    #[arg(long, conflicts_with_all = ["live", "json"])]
    pub ratios: bool,

    /// Only tests that match one of these patterns
    #[arg(long, value_delimiter = ',', value_name = "PATTERN", value_parser = word)]
    pub only: Vec<String>,

    /// Smallest slow-down that counts as a regression, in per cent
    #[arg(long, default_value_t = 2.0, value_name = "PER CENT", allow_negative_numbers = true, value_parser = not_negative)]
    pub threshold: f64,

    /// With --live: how often each side is started, with other addresses each time
    #[arg(long, default_value_t = LiveOptions::STARTS, requires = "live", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub starts: u32,

    /// With --live: seconds for each test, in all starts together
    #[arg(long, default_value_t = 0.5, requires = "live", value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    pub seconds: f64,

    /// With --live: scheduling policy
    #[arg(long, value_enum, default_value_t = Policy::Other, requires = "live")]
    pub policy: Policy,

    /// With --live: where threads run
    #[arg(long, value_enum, default_value_t = Placement::Same, requires = "live")]
    pub placement: Placement,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Write the result as one self-contained page too (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Write the page, antiphon-compare.html unless --html names it, and show it in a browser
    #[arg(long)]
    pub open: bool,
}

/// Scheduling policy.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Policy {
    /// SCHED_OTHER
    Other,
    /// SCHED_FIFO
    Fifo,
}

/// Placement of threads.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Placement {
    /// All on one processor
    Same,
    /// Partners on another processor than the main thread
    Across,
    /// Wherever the system puts them
    Free,
}

/// `antiphon runs`
#[derive(Debug, Args)]
pub struct Runs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `antiphon subject`
#[derive(Debug, Args)]
pub struct Subject {
    /// Which
    #[command(subcommand)]
    pub which: OwnSubject,
}

/// The subjects that are part of the command, so that an installed one needs nothing built.
#[derive(Debug, Subcommand)]
pub enum OwnSubject {
    /// Panda and the platforms beneath it; ANTIPHON_LAYER says which
    Layer,
    /// What panda's protocols cost against members, counted in the simulator
    LayerSim {
        /// streams or datagrams
        network: String,
        /// How many
        members: u32,
    },
    /// Print what decides the builds that this command makes as a compiler
    Identity,
}

/// `antiphon generate`
#[derive(Debug, Args)]
pub struct Generate {
    /// What to write
    pub what: Generated,
    /// Folder to write into: a man1 folder for `man`, a share folder for `completions`
    pub directory: PathBuf,
}

/// What can be generated from the command line's definition.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Generated {
    /// One page a verb
    Man,
    /// For bash, zsh and fish, in the folders where they look
    Completions,
}

// --- Values ----------------------------------------------------------------------------------------------------------------

/// A number of seconds that a clock can count: above 0, and not above ten years.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match number(text)? {
        seconds if seconds > 0.0 && seconds <= 3.2e8 => Ok(seconds),
        _ => Err("give a number of seconds above 0, and at most 320000000 (ten years)".to_owned()),
    }
}

/// A number of seconds for which a server may be loaded.
pub(crate) fn of_load(text: &str) -> Result<f64, String> {
    let most = Load::LONGEST.as_secs_f64();
    match number(text)? {
        seconds if seconds > 0.0 && seconds <= most => Ok(seconds),
        _ => Err(format!(
            "give a number of seconds above 0, and at most {most} (an hour)"
        )),
    }
}

/// Requests a second of an open schedule, or the part of what a closed loop gives.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    if let Some(percent) = text.strip_suffix('%') {
        return match number(percent)? {
            percent if percent > 0.0 && percent <= 100.0 => Ok(Rate::PercentOfClosed(percent)),
            _ => Err("give a percentage above 0, and at most 100%".to_owned()),
        };
    }
    match number(text)? {
        rate if rate > 0.0 && rate <= Load::RATE_MAX => Ok(Rate::PerSecond(rate)),
        _ => Err(format!(
            "give a number of requests a second above 0, and at most {}, or a percentage such as 80%",
            Load::RATE_MAX
        )),
    }
}

/// Seconds that an answer may take.
pub(crate) fn time_limit(text: &str) -> Result<f64, String> {
    let least = Load::TIME_LIMIT_LEAST.as_secs_f64();
    let most = Load::LONGEST.as_secs_f64();
    match number(text)? {
        seconds if (least..=most).contains(&seconds) => Ok(seconds),
        _ => Err(format!("give {least} to {most} seconds")),
    }
}

/// One of several words between commas.
fn word(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        false => Ok(text.to_owned()),
        true => Err(
            "a word between the commas is empty; name something there, or take out a comma"
                .to_owned(),
        ),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("give 0 or more".to_owned()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "this is no number".to_owned())
}

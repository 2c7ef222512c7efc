//! The options of `antiphon sr`.

use super::settings::{Model, Statistics};
use antiphon_sr::Notation;
use anyhow::{Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

/// `antiphon sr`
#[derive(Debug, Subcommand)]
pub enum Sr {
    /// Build a program, unless it is built already, and run it
    Run(Run),
    /// Build a program, or show what it becomes
    Build(Build),
    /// Say what is wrong with a program
    Check(Check),
}

/// `antiphon sr run`
#[derive(Debug, Args)]
#[command(after_help = "\
The words up to the first that does not end in .sr, .m, .ccr or .csp are source files; the rest, and all after --, are the program's arguments.
Options of this command stand anywhere before --. The exit code is the program's; 128 and the signal's number if a signal ended it.

Examples:
  antiphon sr run matrix.sr 200
  antiphon sr run buffer.sr main.sr -- --verbose
  antiphon sr run philosophers.sr --model counted=1000 --stats
  antiphon sr run jacobi.sr --servers 2 --regions --trace turns.json
  antiphon sr run readers.m --notation m2sr=sw
  antiphon sr run workers.sr --vms 5 --over tcp --hosts hosts
  antiphon sr run workers.sr --vms 3 --over mpi

Virtual machines that the program creates are processes of this host, or of those in the file of --hosts where the program names them (create vm() on \"node2\"). Other hosts are reached as `antiphon launch` reaches them, and need the program at the same place as here.")]
pub struct Run {
    /// Source files, and the program's arguments
    #[arg(required = true, value_name = "FILE|ARGUMENT")]
    words: Vec<OsString>,

    /// The program's arguments, whatever they look like
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,

    /// Hosts of virtual machines, one on each line as `HOST slots=N`; for tcp, udp and mpi
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,

    #[command(flatten)]
    pub program: Program,

    #[command(flatten)]
    pub execution: Execution,
}

/// `antiphon sr build`
#[derive(Debug, Args)]
#[command(after_help = "\
The executable takes the same settings as `antiphon sr run` in the environment variable ANTIPHON_SR, such as model=cooperative,stats=json.

Examples:
  antiphon sr build matrix.sr -o matrix
  antiphon sr build -O --model cooperative jacobi.sr
  antiphon sr build --emit c matrix.sr            the C that it becomes
  antiphon sr build --emit sr readers.m           the SR that a monitor becomes")]
pub struct Build {
    /// Source files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// The executable, or the file for what --emit writes [default: named after the last source file; standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Write what the program becomes on the way instead of building it
    #[arg(long, value_enum, value_name = "WHAT")]
    pub emit: Option<Emitted>,

    #[command(flatten)]
    pub program: Program,

    #[command(flatten)]
    pub execution: Execution,
}

/// `antiphon sr check`
#[derive(Debug, Args)]
pub struct Check {
    /// Source files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub program: Program,
}

/// An intermediate form of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emitted {
    /// The C that is compiled
    C,
    /// The SR that was made of another notation
    Sr,
}

/// The platform between virtual machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Platform {
    /// The fastest on this host
    Local,
    /// Shared memory of this host
    Shm,
    /// Connections
    Tcp,
    /// Datagrams
    Udp,
    /// Open MPI, whose mpirun starts as many as --vms says; without it they come one by one, over tcp
    Mpi,
}

impl Platform {
    /// Returns the name that the program reads.
    pub fn name(self) -> &'static str {
        match self {
            Platform::Local | Platform::Shm => "shm",
            Platform::Tcp => "tcp",
            Platform::Udp => "udp",
            Platform::Mpi => "mpi",
        }
    }
}

/// What the program is made of.
#[derive(Debug, Args)]
pub struct Program {
    /// The resource that is created first [default: the last in the files]
    #[arg(long, value_name = "RESOURCE")]
    pub main: Option<String>,

    /// Notation of the files: m2sr[=sc|sw|su|sx], ccr2sr, csp2sr[=ti|te] [default: by the ending .m, .ccr or .csp]
    #[arg(long, value_name = "NOTATION")]
    pub notation: Option<Notation>,

    /// Omit the checks of array bounds that the original compiler omits with -O
    #[arg(short = 'O', long = "omit-checks")]
    pub omit_checks: bool,

    /// C source, object or archive with the program's external operations
    #[arg(long, value_name = "FILE")]
    link: Vec<PathBuf>,

    /// C library with the program's external operations
    #[arg(short = 'l', value_name = "NAME")]
    library: Vec<String>,
}

/// How the program is run.
#[derive(Debug, Args)]
pub struct Execution {
    /// When a process gives way to another: sliced[=MS], counted[=LOOPS], sliced-deferred[=MS], cooperative
    #[arg(long, default_value = "sliced", value_name = "MODEL")]
    pub model: Model,

    /// Keep the regions that comments `#@ region` put processes into: one processor and one process at a time for each
    #[arg(long)]
    pub regions: bool,

    /// Processors
    #[arg(long, default_value = "1", value_name = "N")]
    pub servers: NonZeroU16,

    /// Print counters and delays to standard error at the end
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    stats: Option<Statistics>,

    /// Write a timeline of the processes' turns, for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Where random numbers begin, unless the program says that itself
    #[arg(long, value_name = "N")]
    seed: Option<f64>,

    /// Run in virtual time, with switches, the next process and random numbers drawn from this seed: the same seed gives the same run
    #[arg(long, value_name = "N", conflicts_with = "servers")]
    schedule: Option<u64>,

    /// Virtual machines that the program may have at once, the first included [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub vms: Option<u32>,

    /// What virtual machines reach each other over [default: local, which is shared memory; with --hosts tcp]
    #[arg(long, value_enum, value_name = "PLATFORM")]
    pub over: Option<Platform>,

    /// Bytes of each process's stack
    #[arg(long, value_name = "BYTES")]
    stack: Option<u64>,
}

/// Name endings of source files.
const ENDINGS: [&str; 4] = ["sr", "m", "ccr", "csp"];

fn is_source(word: &OsString) -> bool {
    let ending = Path::new(word).extension();
    ending.is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one))
}

impl Run {
    /// Splits source files from the program's arguments.
    pub fn files_and_arguments(&self) -> Result<(Vec<PathBuf>, Vec<&OsString>)> {
        let count = self.words.iter().take_while(|word| is_source(word)).count();
        let (files, arguments) = self.words.split_at(count);
        if files.is_empty() {
            bail!(
                "{} does not look like a source file; their names end in .sr, .m, .ccr or .csp",
                self.words[0].display()
            );
        }
        let arguments = arguments.iter().chain(&self.arguments).collect();
        Ok((files.iter().map(PathBuf::from).collect(), arguments))
    }
}

impl Program {
    /// Returns the files and libraries that are linked with the program.
    pub fn linked(&self) -> Vec<String> {
        let files = self.link.iter().map(|file| file.display().to_string());
        let libraries = self.library.iter().map(|name| format!("-l{name}"));
        files.chain(libraries).collect()
    }
}

impl Execution {
    /// Returns whether loop heads do any work.
    pub fn has_loop_checks(&self) -> bool {
        self.model.has_loop_checks() || self.has_points()
    }

    /// Returns whether a schedule may switch at operations on semaphores, sends, calls and inputs.
    pub fn has_points(&self) -> bool {
        self.schedule.is_some() && self.model != Model::Cooperative
    }

    /// Returns the settings in the form that the program reads.
    pub fn settings(&self) -> Vec<String> {
        let mut settings = vec![
            format!("model={}", self.model),
            format!("servers={}", self.servers),
        ];
        let mut add = |name: &str, value: Option<String>| {
            settings.extend(value.map(|value| format!("{name}={value}")))
        };
        add("stats", self.stats.map(|stats| stats.to_string()));
        add(
            "trace",
            self.trace.as_ref().map(|file| file.display().to_string()),
        );
        add("seed", self.seed.map(|seed| seed.to_string()));
        add("schedule", self.schedule.map(|seed| format!("seed:{seed}")));
        add("stack", self.stack.map(|bytes| bytes.to_string()));
        add("vms", self.vms.map(|machines| machines.to_string()));
        add("over", self.over.map(|over| over.name().to_owned()));
        settings
    }
}

//! `antiphon orca`: Orca programs, checked, built and run.

use crate::exit::Exit;
use crate::findings::{count, print_check, say_all};
use crate::launch::Platform;
use crate::output::{print_file, say};
use crate::sr::{Statistics, copy_executable};
use antiphon_lab::build::Cache;
use antiphon_lang::report;
use antiphon_runner::{End, Program as Child, signal_name};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use orca_lang::build::{BuildError, Executable, Job, Linking};
use orca_lang::{Dialect, EmitOptions, Keywords, Search, check, emit, load, main_of};
use std::ffi::OsString;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The environment variable that an Orca program takes its settings from.
const VARIABLE: &str = "ANTIPHON_ORCA";

/// `antiphon orca`
#[derive(Debug, Subcommand)]
pub enum Orca {
    /// Build a program, unless it is built already, and run it
    Run(Run),
    /// Build a program, or show the C that it becomes
    Build(Build),
    /// Say what is wrong with a program
    Check(Check),
}

/// `antiphon orca run`
#[derive(Debug, Args)]
#[command(after_help = "\
The program begins with OrcaMain of the unit. Machines are threads of one process, or processes with --over shm, tcp, udp or mpi.
The exit code is the program's: 134 after a run-time error, 1 after a deadlock.

Examples:
  antiphon orca run tsp.imp
  antiphon orca run tsp/ -n 4 -- 12          with the argument 12
  antiphon orca run tsp.imp -n 4 --over tcp
  antiphon orca run tsp.imp -n 4 --stats --trace tsp.json
  antiphon orca run tsp.imp -n 4 --over tcp --hosts hosts

Other hosts are reached as `antiphon launch` reaches them, and need the executable at the same place as here.")]
pub struct Run {
    /// The main unit (.imp), or a folder with a program
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,

    /// The program's arguments
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,

    /// How many machines
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    machines: u32,

    /// What they communicate over
    #[arg(long, value_enum, value_name = "PLATFORM", default_value_t = Platform::Local, hide_possible_values = true)]
    over: Platform,

    /// Hosts to start them on, one on each line as `HOST slots=N`; for tcp, udp and mpi
    #[arg(long, value_name = "FILE", requires = "over")]
    hosts: Option<PathBuf>,

    #[command(flatten)]
    execution: Execution,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    compilation: Compilation,
}

/// How a program is run.
#[derive(Debug, Args)]
pub struct Execution {
    /// What processes are: threads of the system, or cooperative fibers, which give way where they wait
    #[arg(long, default_value = "threads", value_name = "MODEL")]
    model: Model,

    /// Processors of each machine, or of all that are one process; for --model cooperative
    #[arg(long, value_name = "N")]
    servers: Option<NonZeroU16>,

    /// Print counts of operations and moves of objects to standard error at the end
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    stats: Option<Statistics>,

    /// Write a timeline of processes and operations on all machines, for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// What processes of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Model {
    Threads,
    Cooperative,
}

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split('=').next().unwrap_or_default() {
            "threads" if text == "threads" => Ok(Self::Threads),
            "cooperative" if text == "cooperative" => Ok(Self::Cooperative),
            "threads" | "cooperative" => Err(format!("write {text:?} without a number")),
            "sliced" => Err("the system slices threads by itself: write threads".into()),
            "counted" | "sliced-deferred" => Err(
                "a fiber cannot give way within an operation, which holds its object: write cooperative, or threads, which the system slices"
                    .into(),
            ),
            _ => Err("the models are threads and cooperative".into()),
        }
    }
}

impl Execution {
    /// Returns the settings in the form that the program reads.
    fn settings(&self) -> Result<Vec<String>> {
        if self.servers.is_some() && self.model == Model::Threads {
            bail!("--servers is for --model cooperative: threads use all processors");
        }
        let mut settings = Vec::new();
        if self.model == Model::Cooperative {
            settings.push("model=cooperative".to_owned());
        }
        settings.extend(self.servers.map(|count| format!("servers={count}")));
        settings.extend(self.stats.map(|format| format!("stats={format}")));
        let trace = self.trace.as_ref();
        settings.extend(trace.map(|file| format!("trace={}", file.display())));
        Ok(settings)
    }
}

/// `antiphon orca build`
#[derive(Debug, Args)]
#[command(after_help = "\
The executable takes settings in the environment variable ANTIPHON_ORCA, such as machines=4,report=plain,stats=json. `antiphon launch` starts it as several processes.

Examples:
  antiphon orca build tsp.imp -o tsp
  antiphon orca build --emit-c tsp.imp       the C that it becomes")]
pub struct Build {
    /// The main unit (.imp), or a folder with a program
    #[arg(value_name = "FILE|DIR")]
    file: PathBuf,

    /// The executable [default: named after the main unit]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write the C that the program becomes to standard output
    #[arg(long)]
    emit_c: bool,

    #[command(flatten)]
    program: Program,

    #[command(flatten)]
    compilation: Compilation,
}

/// How a program becomes an executable.
#[derive(Debug, Args)]
pub struct Compilation {
    /// Leave out checks of bounds and ranges
    #[arg(short = 'O')]
    omit_checks: bool,

    /// C source, object, archive or -l option with the functions behind a specification
    #[arg(long = "with", value_name = "FILE", allow_hyphen_values = true)]
    with: Vec<String>,
}

/// `antiphon orca check`
#[derive(Debug, Args)]
#[command(after_help = "\
The units that a unit imports are found by their names: beside it, in the folders of -I, among the standard units.
A folder stands for the implementation in it that defines OrcaMain.

Examples:
  antiphon orca check tsp.imp
  antiphon orca check tsp/                  the program in a folder
  antiphon orca check -I lib -D FAST tsp.imp
  antiphon orca check --json tsp.imp")]
pub struct Check {
    /// Units (.imp or .spf), or folders with a program
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    program: Program,
}

/// Where units are, and how they are read.
#[derive(Debug, Args)]
pub struct Program {
    /// Folder with units that the program imports
    #[arg(short = 'I', value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Name that is defined for .ifdef
    #[arg(short = 'D', value_name = "NAME")]
    defined: Vec<String>,

    /// Reserved words are written in small letters
    #[arg(short = 'k', conflicts_with = "both")]
    small: bool,

    /// Reserved words are written in small or in capital letters
    #[arg(short = 'K')]
    both: bool,

    /// Pass local objects IN by reference, as the original compiler does, instead of a copy
    #[arg(long)]
    objects_by_reference: bool,
}

impl Program {
    fn search(&self) -> Search {
        let keywords = match (self.small, self.both) {
            (true, _) => Keywords::Small,
            (_, true) => Keywords::Both,
            _ => Keywords::Capital,
        };
        let defined = self.defined.iter().cloned().collect();
        Search {
            folders: self.folders.clone(),
            dialect: Dialect {
                keywords,
                defined,
                objects_by_reference: self.objects_by_reference,
            },
        }
    }
}

/// Checks, builds or runs a program.
pub fn run(options: &Orca) -> Result<Exit> {
    match options {
        Orca::Run(options) => run_program(options),
        Orca::Build(options) => build(options),
        Orca::Check(options) => check_program(options),
    }
}

fn check_program(options: &Check) -> Result<Exit> {
    let files: Result<Vec<PathBuf>> = options.files.iter().map(|it| unit_file(it)).collect();
    let loaded = load(&files?, &options.program.search())?;
    let checked = check(&loaded, false);
    let is_sound = checked.program.is_some();
    let schema = options.json.then_some("antiphon.orca-check");
    print_check(schema, is_sound, &checked.diagnostics, &loaded.sources)?;
    Ok(Exit::of(is_sound))
}

/// A program in C, with its sources and warnings.
struct Translated {
    sources: antiphon_lang::Sources,
    text: String,
    warnings: String,
    /// The units whose functions are in C.
    units_in_c: Vec<String>,
}

/// Returns a program in C, or `None` if it has errors. All diagnostics are printed.
fn translated(
    file: &Path,
    program: &Program,
    compilation: &Compilation,
) -> Result<Option<Translated>> {
    let loaded = load(&[unit_file(file)?], &program.search())?;
    let checked = check(&loaded, true);
    let warnings = report(&checked.diagnostics, &loaded.sources);
    say_all(&warnings);
    let Some(checked_program) = checked.program else {
        say(format_args!("antiphon: {}", count(&checked.diagnostics)));
        return Ok(None);
    };
    let options = EmitOptions {
        checks: !compilation.omit_checks,
        for_c: !compilation.with.is_empty(),
    };
    match emit(&checked_program, &loaded.sources, &options) {
        Ok(text) => Ok(Some(Translated {
            sources: loaded.sources,
            text,
            warnings,
            units_in_c: checked_program.units_in_c(),
        })),
        Err(refused) => {
            say_all(&report(&refused, &loaded.sources));
            Ok(None)
        }
    }
}

fn built(of: &Translated, compilation: &Compilation) -> Result<Executable> {
    let cache = Cache::of_user();
    cache.ready().map_err(BuildError::NotOurs)?;
    let linking = Linking {
        with: compilation.with.clone(),
        units_in_c: of.units_in_c.clone(),
        ..Linking::default()
    };
    // The C is a part of the key.
    let job = Job::new(&cache.folder().join("orca"), &of.sources, &of.text, linking)?;
    match job.cached() {
        Some(found) => Ok(found),
        None => Ok(job.build(&of.text, &of.warnings)?),
    }
}

fn build(options: &Build) -> Result<Exit> {
    let translated = translated(&options.file, &options.program, &options.compilation)?;
    let Some(translated) = translated else {
        return Ok(Exit::No);
    };
    if options.emit_c {
        print_file(translated.text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let built = built(&translated, &options.compilation)?;
    let unit = unit_file(&options.file)?;
    let named = || PathBuf::from(unit.file_stem().unwrap_or("program".as_ref()));
    copy_executable(&built.path, &options.output.clone().unwrap_or_else(named))?;
    Ok(Exit::Done)
}

fn run_program(options: &Run) -> Result<Exit> {
    let mut settings = vec![std::env::var(VARIABLE).unwrap_or_default()];
    settings.extend(options.execution.settings()?);
    let translated = translated(&options.file, &options.program, &options.compilation)?;
    let Some(translated) = translated else {
        return Ok(Exit::No);
    };
    let built = built(&translated, &options.compilation)?;
    let child = match options.over {
        Platform::Local => {
            settings.push(format!("machines={}", options.machines));
            Child::new(&built.path)
        }
        _ => launched(&built, options)?,
    };
    settings.retain(|setting| !setting.is_empty());
    let child = child
        .args(&options.arguments)
        .env(VARIABLE, settings.join(","));
    Ok(match child.run_attached()? {
        End::Exited(code) => Exit::Program(code as u8),
        End::Signalled(number) => {
            let name = signal_name(number);
            say(format_args!("antiphon: the program was ended by {name}"));
            Exit::Program(128_u8.saturating_add(number as u8))
        }
        End::TimedOut { .. } => unreachable!("it was given no time limit"),
    })
}

/// Returns the command that starts a program as several processes.
fn launched(built: &Executable, options: &Run) -> Result<Child> {
    let own = std::env::current_exe().context("cannot find this command's own executable")?;
    let over = options.over.to_possible_value();
    let over = over.map(|it| it.get_name().to_owned()).unwrap_or_default();
    let count = options.machines.to_string();
    let launch = ["launch", "-n", &count, "--plain", "--over", &over];
    let mut child = Child::new(own).args(launch);
    if let Some(hosts) = &options.hosts {
        child = child.arg("--hosts").arg(hosts);
    }
    Ok(child.arg(&built.path))
}

/// Returns the file of a unit: the named one, or the main one of a folder.
fn unit_file(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut found = main_of(path)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => bail!("{}: no implementation defines OrcaMain", path.display()),
        _ => {
            let names = found.iter().filter_map(|it| it.file_name());
            let names: Vec<_> = names.map(|it| it.to_string_lossy()).collect();
            bail!(
                "{}: several units define OrcaMain: name one of {}",
                path.display(),
                names.join(", ")
            )
        }
    }
}

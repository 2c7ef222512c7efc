//! `antiphon sr`: SR programs, checked, built and run.

mod options;
mod settings;

pub use options::Sr;
pub use settings::Statistics;

use crate::exit::Exit;
use crate::findings::{count, print_check, say_all};
use crate::output::{print_file, say};
use antiphon_lab::build::Cache;
use antiphon_runner::{End, Program as Child, signal_name};
use antiphon_sr::build::{BuildError, Executable, Job, Linking};
use antiphon_sr::{EmitOptions, Input, emit};
use anyhow::{Context, Result, bail};
use options::{Build, Check, Emitted, Execution, Platform, Program, Run};
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable with the settings of an SR program.
const VARIABLE: &str = "ANTIPHON_SR";

/// Checks, builds or runs.
pub fn run(options: &Sr) -> Result<Exit> {
    match options {
        Sr::Run(options) => run_program(options),
        Sr::Build(options) => build(options),
        Sr::Check(options) => check(options),
    }
}

fn run_program(options: &Run) -> Result<Exit> {
    let (files, arguments) = options.files_and_arguments()?;
    let input = read(&files, &options.program, &options.execution)?;
    let Some(built) = built(&input, &options.program, &options.execution, String::new())? else {
        return Ok(Exit::No);
    };
    let mut settings = std::env::var(VARIABLE).unwrap_or_default();
    for setting in options.execution.settings() {
        if !settings.is_empty() {
            settings.push(',');
        }
        settings += &setting;
    }
    let needs_mpirun = options.execution.over == Some(Platform::Mpi) && input.creates_machines();
    let child = match options.hosts.is_some() || needs_mpirun {
        false => Child::new(&built.path),
        true => launched(&built.path, options)?,
    };
    let child = child.args(arguments).env(VARIABLE, settings);
    Ok(match child.run_attached()? {
        End::Exited(code) => Exit::Program(code as u8),
        End::Signalled(number) => {
            say(format_args!(
                "antiphon: the program was ended by {}{}",
                signal_name(number),
                explanation(number)
            ));
            Exit::Program(128_u8.saturating_add(number as u8))
        }
        End::TimedOut { .. } => unreachable!("it was given no time limit"),
    })
}

/// Has `antiphon launch` start the first machine of a program, and all that it creates. Only Open
/// MPI's processes start together.
fn launched(program: &Path, options: &Run) -> Result<Child> {
    let own = std::env::current_exe().context("cannot find this command's own executable")?;
    let over = options.execution.over.unwrap_or(Platform::Tcp);
    let count = match over {
        Platform::Mpi => options.execution.vms.unwrap_or(1),
        _ => 1,
    };
    let launch = [
        "launch",
        "--led",
        "--plain",
        "--quiet",
        "--over",
        over.name(),
        "-n",
    ];
    let mut child = Child::new(own).args(launch).arg(count.to_string());
    if let Some(hosts) = &options.hosts {
        child = child.arg("--hosts").arg(hosts);
    }
    Ok(child.arg(program))
}

fn read(files: &[PathBuf], program: &Program, execution: &Execution) -> Result<Input> {
    let mut input = Input::read(files, program.notation)?;
    if !execution.regions {
        input.ignore_regions();
    }
    Ok(input)
}

/// Returns the meaning of a signal that ended an SR program.
fn explanation(number: i32) -> &'static str {
    match number {
        libc::SIGSEGV | libc::SIGBUS => {
            ": it used memory that is not there, through a pointer or, with -O, a subscript that is out of bounds"
        }
        libc::SIGKILL => ": somebody killed it, or the system did for want of memory",
        _ => "",
    }
}

fn build(options: &Build) -> Result<Exit> {
    let input = read(&options.files, &options.program, &options.execution)?;
    let output = options.output.as_deref();
    match options.emit {
        Some(Emitted::Sr) => {
            let text = input.sources.iter().map(|source| source.text.as_str());
            write_text(&text.collect::<String>(), output)?;
            let wrong = input.wrong();
            say_all(&input.texts(wrong));
            Ok(Exit::of(wrong.is_empty()))
        }
        Some(Emitted::C) => {
            let Some((text, _)) = c(&input, &options.program, &options.execution) else {
                return Ok(Exit::No);
            };
            write_text(&text, output)?;
            Ok(Exit::Done)
        }
        None => {
            let settings = options.execution.settings().join(",");
            let built = built(&input, &options.program, &options.execution, settings)?;
            let Some(built) = built else {
                return Ok(Exit::No);
            };
            let output = output.map_or_else(|| named_after(&options.files), Path::to_owned);
            copy_executable(&built.path, &output)?;
            Ok(Exit::Done)
        }
    }
}

/// Returns the executable's name: that of the last file, which holds the main resource.
fn named_after(files: &[PathBuf]) -> PathBuf {
    let last = files.last().and_then(|file| file.file_stem());
    PathBuf::from(last.unwrap_or("program".as_ref()))
}

/// Replaces an executable instead of overwriting it, because the old one may be running.
pub fn copy_executable(from: &Path, to: &Path) -> Result<()> {
    let cannot = || format!("cannot write {}", to.display());
    if to.is_dir() {
        bail!(
            "cannot write {}: it is a folder; name the executable with -o",
            to.display()
        );
    }
    let executable = fs::read(from).with_context(cannot)?;
    antiphon_outside::write(to, &executable).with_context(cannot)?;
    let mode = fs::metadata(from).with_context(cannot)?.permissions();
    fs::set_permissions(to, mode).with_context(cannot)?;
    Ok(())
}

fn write_text(text: &str, output: Option<&Path>) -> Result<()> {
    match output {
        None => print_file(text.as_bytes()),
        Some(path) => antiphon_outside::write(path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display())),
    }
}

/// Returns the executable, from the cache or built now. Returns `None` if the program has errors,
/// which were printed.
fn built(
    input: &Input,
    program: &Program,
    execution: &Execution,
    settings: String,
) -> Result<Option<Executable>> {
    let linking = Linking {
        is_parallel: execution.servers.get() > 1,
        has_loop_checks: execution.has_loop_checks(),
        has_points: execution.has_points(),
        has_machines: input.creates_machines(),
        settings,
        with: program.linked(),
        flags: flags(),
    };
    let cache = Cache::of_user();
    cache.ready().map_err(BuildError::NotOurs)?;
    let cache = cache.folder().join("sr");
    let decisive = format!(
        "{:?} {} {}",
        program.main, program.omit_checks, execution.regions
    );
    let job = Job::new(&cache, &input.sources, &decisive, linking)?;
    if let Some(found) = job.cached() {
        say_all(&found.warnings);
        return Ok(Some(found));
    }
    let Some((text, warnings)) = c(input, program, execution) else {
        return Ok(None);
    };
    Ok(Some(job.build(&text, &warnings)?))
}

/// Returns more flags for the C compiler.
fn flags() -> Vec<String> {
    let given = std::env::var("ANTIPHON_SR_CFLAGS").unwrap_or_default();
    given.split_whitespace().map(str::to_owned).collect()
}

/// Returns the program in C, and the warnings as text. Returns `None` if the program has errors.
/// All diagnostics are printed.
fn c(input: &Input, program: &Program, execution: &Execution) -> Option<(String, String)> {
    let checked = input.analyse(program.main.as_deref());
    let texts = input.texts(&checked.diagnostics);
    say_all(&texts);
    let Some(checked) = checked.program else {
        say(format_args!("antiphon: {}", count(&checked.diagnostics)));
        return None;
    };
    let options = EmitOptions {
        checks: !program.omit_checks,
        loops: execution.has_loop_checks(),
        points: execution.has_points(),
        lines: true,
    };
    Some((emit(&checked, &input.sources, &options), texts))
}

fn check(options: &Check) -> Result<Exit> {
    let mut input = Input::read(&options.files, options.program.notation)?;
    if options.program.main.is_none() {
        input.expect_part();
    }
    let checked = input.analyse(options.program.main.as_deref());
    let is_sound = checked.program.is_some();
    let schema = options.json.then_some("antiphon.sr-check");
    print_check(schema, is_sound, &checked.diagnostics, &input.sources)?;
    Ok(Exit::of(is_sound))
}

//! `antiphon sr`: SR programs, checked, built and run.

mod options;
mod settings;

pub use options::Sr;

use crate::exit::Exit;
use crate::output::{print, print_line, say};
use antiphon_lab::build::Cache;
use antiphon_runner::{End, Program as Child, signal_name};
use antiphon_sr::build::{Executable, Job, Linking};
use antiphon_sr::{Diagnostic, EmitOptions, Input, Severity, Sources, emit};
use anyhow::{Context, Result, bail};
use options::{Build, Check, Emitted, Execution, Program, Run};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that an SR program takes its settings from.
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
    let child = Child::new(&built.path)
        .args(arguments)
        .env(VARIABLE, settings);
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

fn read(files: &[PathBuf], program: &Program, execution: &Execution) -> Result<Input> {
    let mut input = Input::read(files, program.notation)?;
    if !execution.regions {
        input.ignore_regions();
    }
    Ok(input)
}

/// What a signal tells of an SR program.
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
            copy(&built.path, &output)?;
            Ok(Exit::Done)
        }
    }
}

/// The executable is named after the last file, which holds the main resource.
fn named_after(files: &[PathBuf]) -> PathBuf {
    let last = files.last().and_then(|file| file.file_stem());
    PathBuf::from(last.unwrap_or("program".as_ref()))
}

/// An old executable may be running, so it is replaced and not overwritten.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let cannot = || format!("cannot write {}", to.display());
    if to.is_dir() {
        bail!(
            "cannot write {}: it is a folder; name the executable with -o",
            to.display()
        );
    }
    if to.exists() {
        fs::remove_file(to).with_context(cannot)?;
    }
    fs::copy(from, to).with_context(cannot)?;
    Ok(())
}

fn write_text(text: &str, output: Option<&Path>) -> Result<()> {
    match output {
        None => print(text),
        Some(path) => {
            fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
        }
    }
}

/// The executable, from the cache or built now; none if the program has errors, which were shown.
fn built(
    input: &Input,
    program: &Program,
    execution: &Execution,
    settings: String,
) -> Result<Option<Executable>> {
    let linking = Linking {
        is_parallel: execution.servers.get() > 1,
        has_loop_checks: execution.model.has_loop_checks(),
        settings,
        with: program.linked(),
        flags: flags(),
    };
    let cache = Cache::of_user().folder().join("sr");
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

/// More flags for the C compiler.
fn flags() -> Vec<String> {
    let given = std::env::var("ANTIPHON_SR_CFLAGS").unwrap_or_default();
    given.split_whitespace().map(str::to_owned).collect()
}

fn say_all(text: &str) {
    if !text.is_empty() {
        say(text.trim_end());
    }
}

/// The program in C, and the warnings as text; none if it has errors. All is shown.
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
        loops: execution.model.has_loop_checks(),
        lines: true,
    };
    Some((emit(&checked, &input.sources, &options), texts))
}

fn count(diagnostics: &[Diagnostic]) -> String {
    let number = |severity, name: &str| match diagnostics
        .iter()
        .filter(|one| one.severity == severity)
        .count()
    {
        0 => None,
        1 => Some(format!("1 {name}")),
        n => Some(format!("{n} {name}s")),
    };
    let numbers = [
        number(Severity::Error, "error"),
        number(Severity::Warning, "warning"),
    ];
    let numbers: Vec<String> = numbers.into_iter().flatten().collect();
    numbers.join(", ")
}

fn check(options: &Check) -> Result<Exit> {
    let input = Input::read(&options.files, options.program.notation)?;
    let checked = input.analyse(options.program.main.as_deref());
    let diagnostics = &checked.diagnostics;
    if options.json {
        let findings: Vec<Finding> = diagnostics
            .iter()
            .map(|one| Finding::of(one, &input.sources))
            .collect();
        print_line(serde_json::to_string_pretty(&findings)?)?;
    } else {
        say_all(&input.texts(diagnostics));
        say_all(&count(diagnostics));
    }
    Ok(Exit::of(checked.program.is_some()))
}

/// What is wrong, as JSON shows it.
#[derive(Serialize)]
struct Finding {
    severity: &'static str,
    file: String,
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    message: String,
    mend: Option<String>,
}

impl Finding {
    fn of(diagnostic: &Diagnostic, sources: &Sources) -> Finding {
        let source = sources.file(diagnostic.span.file);
        let (line, column) = source.position(diagnostic.span.start);
        Finding {
            severity: match diagnostic.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            file: source.path.display().to_string(),
            line,
            column,
            message: diagnostic.message.clone(),
            mend: diagnostic.mend.clone(),
        }
    }
}

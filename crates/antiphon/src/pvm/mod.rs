//! `antiphon pvm`: programs that were written for PVM.

mod compile;
mod console;

use crate::exit::{Exit, Missing};
use crate::output;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use pvm3::{Console, ConsoleError, FoundError};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `antiphon pvm`
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a subcommand this is a console: it makes a virtual machine, and takes commands such as `spawn -2 -> worker` and `ps` (`help` lists them).
A program that was written for PVM also runs by itself: the first one makes a virtual machine, and those that you start beside it join that.

Examples:
  antiphon pvm cc -O2 -o master1 master1.c
  antiphon pvm run ./master1
  antiphon pvm run -n 4 ./spmd
  LD_LIBRARY_PATH=/usr/local/lib/antiphon/pvm/lib ./master1    a program that was compiled for PVM's own library"
)]
pub struct Pvm {
    /// What to do
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What is done with PVM's programs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a virtual machine, start a program in it, and show what its tasks write until the last has ended
    Run(Run),
    /// Compile a C program (the compiler is `cc`, or what CC names)
    Cc(Compiler),
    /// Compile a Fortran program (the compiler is `gfortran -std=legacy`, or what FC names)
    Fc(Compiler),
}

/// `antiphon pvm run`
#[derive(Debug, Args)]
pub struct Run {
    /// How many tasks to start
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub count: u32,

    /// The program, by its path or by a name in PVM's folders or PATH, and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub command: Vec<OsString>,
}

/// `antiphon pvm cc` and `antiphon pvm fc`
#[derive(Debug, Args)]
pub struct Compiler {
    /// What the compiler is told besides the flags for PVM
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub args: Vec<OsString>,
}

/// Runs a program, compiles one, or runs the console.
pub fn run(options: &Pvm) -> Result<Exit> {
    match &options.verb {
        Some(Verb::Run(options)) => run_program(options),
        Some(Verb::Cc(options)) => compile::run("CC", "cc", options),
        // PVM packs values of any type by one subroutine, which only old Fortran allows.
        Some(Verb::Fc(options)) => compile::run("FC", "gfortran -std=legacy", options),
        None => console::run(),
    }
}

/// Makes a virtual machine. The user's programs find it, unless they already find another one.
fn machine(write: impl Fn(&str, &[u8]) + Clone + Send + Sync + 'static) -> Result<Console> {
    match Console::found(true, write.clone()) {
        Err(ConsoleError::Found(FoundError::Taken(_))) => Ok(Console::found(false, write)?),
        founded => Ok(founded?),
    }
}

fn run_program(options: &Run) -> Result<Exit> {
    let console = Arc::new(machine(show)?);
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
        .context("cannot wait for signals")?;
    let (ending, interrupted) = (console.clone(), is_interrupted.clone());
    std::thread::spawn(move || {
        for _ in signals.forever() {
            interrupted.store(true, Ordering::SeqCst);
            output::give_up();
            ending.end();
        }
    });
    let is_closed = end_with_reader(&console);
    // At least one is required.
    let (program, arguments) = options.command.split_at(1);
    let spawned = console.spawn(&program[0], arguments, options.count);
    let spawned = spawned.map_err(|error| match error {
        ConsoleError::NoProgram(_) => Missing(error.to_string()).into(),
        error => anyhow::Error::from(error),
    })?;
    let failed: Vec<&String> = spawned
        .iter()
        .filter_map(|task| task.as_ref().err())
        .collect();
    for why in &failed {
        output::say(format_args!("antiphon: {why}"));
    }
    console.wait();
    Ok(match console.exit_code() {
        _ if is_interrupted.load(Ordering::SeqCst) => Exit::Interrupted,
        _ if is_closed.load(Ordering::SeqCst) => Exit::Done,
        0 if failed.is_empty() => output::passed_on().map(|()| Exit::Done)?,
        0 => Exit::No,
        code => Exit::Program(code),
    })
}

/// Prints a line of a task. The reader may have closed the output, which is no error.
fn show(tid: &str, line: &[u8]) {
    output::pass_on(&[b"[", tid.as_bytes(), b"] ", line, b"\n"].concat());
}

/// Ends the tasks once the reader of standard output is gone. Returns whether that has happened.
fn end_with_reader(console: &Arc<Console>) -> Arc<AtomicBool> {
    let is_closed = Arc::new(AtomicBool::new(false));
    let (closed, ending) = (is_closed.clone(), console.clone());
    std::thread::spawn(move || {
        if output::await_closed() {
            closed.store(true, Ordering::SeqCst);
            ending.end();
        }
    });
    is_closed
}
